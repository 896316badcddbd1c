"""What C needs to know of a block: which share a function, what it is called, where a failure counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from kilohertz.base import Dotted
from kilohertz.codegen.writing.spelling import comment
from kilohertz.cost import jacobian_rests, reads
from kilohertz.ir import step as s
from kilohertz.ir.expr import Call, Expr, Field, Index
from kilohertz.ir.flat import CallEquation, Purpose
from kilohertz.ir.scopes import may_fail
from kilohertz.ir.traverse import walk_all

_BEFORE = frozenset(kind for of, kind in s.TWINS.items() if of in s.DISCRETE_KINDS)


def is_system(block: s.Block) -> bool:
    """Several equations that are solved together."""
    return isinstance(block, s.LinearLoop) and len(block.unknowns) > 1


def system(block: s.Block) -> list[Expr]:
    """Matrix and right-hand side of a linear loop."""
    return [*(e.value for e in block.matrix), *block.rhs] if isinstance(block, s.LinearLoop) else []


def is_scalar(roots: Iterable[Expr]) -> bool:
    """Numbers throughout: no arrays, records or function calls."""
    return not any(e.ty.dims or isinstance(e, (Call, Field, Index)) for e in walk_all(roots))


def head(number: int, block: s.Block, place: str) -> str:
    """What stands over a block in C."""
    kind = ""
    if isinstance(block, (s.LinearLoop, s.NonlinearLoop)):
        torn = ", ".join(u.name for u in block.unknowns[:8]) + (", ..." if len(block.unknowns) > 8 else "")
        kind = f", {'linear' if isinstance(block, s.LinearLoop) else 'nonlinear'} in {torn}"
    elif isinstance(block, s.MixedLoop):
        kind = ", mixed"
    return comment(f"block {number}{kind}{f': {place}' if place else ''}")


def felt(step: s.Step) -> list[str] | None:
    """Discrete values that derivatives depend on, directly or through Reals that only events compute (some derivatives
    among them); None where that is more than numbers: texts, or what an impure function did in an event."""
    of_step = (part for b in step.in_partition(s.Partition.STEP) for part in _between_events(b))
    names = [v.name for v in step.of_kind(s.Kind.DERIVATIVE)]
    return _discrete(step, [*names, *(name for part in of_step for name in reads(part))])


def stirring(step: s.Step) -> list[str] | None:
    """Discrete values that a Jacobian which rests between events depends on, in the same way."""
    if step.directional is None or not jacobian_rests(step):
        return None
    return _discrete(step, [name for block in step.directional for name in reads(block)])


def _discrete(step: s.Step, names: list[str]) -> list[str] | None:
    """Those that named variables depend on."""
    if any(not f.pure for f in step.functions.values()) or any(_calls(b) for b in step.blocks):
        return None
    at_events = {t.name: b for b in step.in_partition(s.Partition.EVENT) for t in s.targets(b)}
    found: dict[str, s.Kind] = {}
    while names:
        name = names.pop()
        variable = step.variables.get(name)
        if variable is None or name in found:
            continue
        found[name] = variable.slot.kind
        if variable.slot.kind in _BEFORE:
            names.append(variable.of)
        elif variable.slot.kind not in s.DISCRETE_KINDS and name in at_events:
            names += reads(at_events[name])
    if s.Kind.STRING_DISCRETE in found.values():
        return None
    return sorted(name for name, kind in found.items() if kind in s.DISCRETE_KINDS)


def _between_events(block: s.Block) -> tuple[s.Block, ...]:
    return block.continuous if isinstance(block, s.MixedLoop) else (block,)


def _calls(block: s.Block) -> bool:
    """Whether an event may call a function for what it does."""
    return isinstance(block, s.WhenBlock) and any(isinstance(a, CallEquation) for a in block.actions)


class Failures:
    """Which blocks may fail."""

    def __init__(self) -> None:
        self._sound: set[Expr] = set()  # nothing in them may fail: looked at once for all blocks

    def may_fail(self, block: s.Block) -> bool:
        """Functions do not know where they are called from: the block is noted before."""
        if isinstance(block, (s.CallBlock, s.WhenBlock)):
            return True
        roots = tuple(s.expressions(block))
        if not any(may_fail(e) for e in walk_all(roots, self._sound)):
            return False
        self._sound.difference_update(walk_all(roots))
        return True


def _failing(block: s.Block) -> set[Expr]:
    """What in a block may fail."""
    return {e for e in walk_all(s.expressions(block)) if may_fail(e)}


@dataclass(frozen=True, slots=True)
class Lasting:
    """What of a phase stays when values that are still on their way have settled, and what that is computed from: a
    failure there counts at once, one elsewhere where the last pass of an event has it (khz_fail_settled)."""

    names: frozenset[str]
    failing: frozenset[Expr]  # in their blocks; another block that has one of these may be the one that computes it

    @classmethod
    def of_initial(cls, step: s.Step) -> Lasting:
        """Of the initial system: all that no event computes again."""
        again = {t.name for block in step.blocks for t in s.targets(block)}
        return cls._above(step.initial, {t.name for block in step.initial for t in s.targets(block)} - again)

    @classmethod
    def of_events(cls, step: s.Step) -> Lasting:
        """Of a pass of an event: values that the next one reads as those before it."""
        read = {name for block in step.blocks for name in reads(block)}
        names = {v.of for name in read if (v := step.variables.get(name)) is not None and v.slot.kind in _BEFORE}
        guarded = [b for b in step.blocks if isinstance(b, s.CallBlock) and b.guard is not None]
        return cls._above(step.blocks, names | {t.name for b in guarded for t in s.targets(b)})

    @classmethod
    def _above(cls, blocks: Sequence[s.Block], names: set[str]) -> Lasting:
        failing: set[Expr] = set()
        for block in reversed(blocks):
            targets = {t.name for t in s.targets(block)}
            if not targets or not names.isdisjoint(targets):
                names |= targets | reads(block)
                failing |= _failing(block)
        return cls(frozenset(names), frozenset(failing))

    def has(self, block: s.Block) -> bool:
        """Whether a failure of a block counts at once."""
        targets = s.targets(block)
        return not targets or any(t.name in self.names for t in targets) or not self.failing.isdisjoint(_failing(block))


def loop_subject(block: s.Block, variables: Mapping[str, s.StepVariable]) -> str:
    """What the function of a loop is named after: the instance all its unknowns belong to, else the first of them."""
    torn = block.unknowns if isinstance(block, (s.LinearLoop, s.NonlinearLoop)) else s.targets(block)
    unknowns = [t.name for t in torn]
    if len(unknowns) == 1:
        return unknowns[0]
    paths = [Dotted.read(variables[name].of or name).owner.parts for name in unknowns]
    shared = takewhile(lambda parts: len(set(parts)) == 1, zip(*paths, strict=False))
    instance = Dotted(tuple(parts[0] for parts in shared))
    return f"{instance if instance.parts else unknowns[0]}.loop"


def group_subject(blocks: Sequence[s.Block], variables: Mapping[str, s.StepVariable]) -> str:
    """The first variable of a run of blocks that the user knows; an instance where they set none."""
    written = [t.name for block in blocks for t in s.targets(block)]
    known = [name for name in written if variables[name].purpose is Purpose.DECLARED]
    return next(iter([*known, *written]), blocks[0].origin.path)
