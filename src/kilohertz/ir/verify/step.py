"""Checks the contract that heads `ir/step.py`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kilohertz.base import InternalError
from kilohertz.ir import traverse
from kilohertz.ir.dae import der_name, pre_name
from kilohertz.ir.expr import Comprehension, Expr, Ref
from kilohertz.ir.step import TWINS, Block, Kind, LinearLoop, MixedLoop, Step, expressions, lists, targets
from kilohertz.ir.verify.scalar_expressions import LOWERED, Expressions

GONE = LOWERED | {"initial"}


def verify_step(step: Step) -> None:
    """Raise InternalError where a Step breaks its contract."""
    _places(step)
    check = Expressions({"time", *step.variables}, GONE).check
    for title, blocks in lists(step):
        for b in blocks:
            check(expressions(b), title)
        unplaced = [t.name for b in blocks for t in targets(b) if t.name not in step.variables]
        if unplaced:
            raise InternalError(f"{title}: {unplaced[0]} has no slot")
        verify_order(title, blocks)
        _symmetric(title, blocks)
    check(_of_events(step), "an event")
    for alias, entry in step.aliases.items():
        if entry.target is not None and entry.target not in step.variables:
            raise InternalError(f"alias {alias} of unknown {entry.target}")
    if step.state_sparsity and len(step.state_sparsity) != len(step.of_kind(Kind.STATE)) + len(step.algebraic):
        raise InternalError(f"a pattern of {len(step.state_sparsity)} rows")


def _places(step: Step) -> None:
    """No two variables in one slot, none left out; derivatives and pre values beside their variables."""
    places = {(v.slot.kind, v.slot.index): v.name for v in step.variables.values()}
    if len(places) != len(step.variables):
        twice = next(v for v in step.variables.values() if places[v.slot.kind, v.slot.index] != v.name)
        raise InternalError(f"two variables in slot {twice.slot}: {twice.name}")
    counts: dict[Kind, int] = {}
    for kind, _ in places:
        counts[kind] = counts.get(kind, 0) + 1
    for kind, n in counts.items():
        if any((kind, i) not in places for i in range(n)):
            raise InternalError(f"a gap in the slots of {kind.value}")
    for kind, twin in TWINS.items():
        named = der_name if kind is Kind.STATE else pre_name
        for i in range(counts.get(kind, 0)):
            if places.get((twin, i)) != named(places[kind, i]):
                raise InternalError(f"{places[kind, i]} without {named(places[kind, i])} in the same place")


def verify_order(title: str, blocks: Sequence[Block]) -> None:
    """No variable is set twice, and none is read before it is set; discrete steps of a mixed loop are iterated on."""
    owner: dict[str, int] = {}
    for i, b in enumerate(blocks):
        for t in targets(b):
            if t.name in owner:
                raise InternalError(f"{title}: {t.name} is set twice")
            owner[t.name] = i
    known: dict[Expr, int] = {}  # the last block that sets what an expression reads: of what they share found once
    for i, b in enumerate(blocks):
        for e in expressions(b):
            if traverse.bottom_up(e, lambda node, below: _last(node, below, owner), known) > i:
                late = next(r.name for r in traverse.refs(e) if owner.get(r.name, 0) > i)
                raise InternalError(f"{title}: block {i + 1} reads {late}, which is set after it")
        if isinstance(b, MixedLoop):
            verify_order(title, b.continuous)


def _symmetric(title: str, blocks: Iterable[Block]) -> None:
    """What is said to be symmetric is."""
    for b in blocks:
        if isinstance(b, MixedLoop):
            _symmetric(title, b.continuous)
        if isinstance(b, LinearLoop) and b.symmetric:
            entries = {(e.row, e.column): e.value for e in b.matrix}
            if any(entries.get((j, i)) is not e for (i, j), e in entries.items()):
                raise InternalError(f"{title}: the matrix of {b.unknowns[0].name} is not symmetric")


def _last(node: Expr, below: Sequence[int], owner: Mapping[str, int]) -> int:
    """Of one node, given that of its operands; names that it binds itself do not count."""
    if isinstance(node, Ref):
        return owner.get(node.name, 0)
    if isinstance(node, Comprehension):
        return max((owner.get(r.name, 0) for r in traverse.refs(node)), default=0)
    return max(below, default=0)


def _of_events(step: Step) -> Iterable[Expr]:
    yield from (x for c in step.crossings for x in (c.relation, c.function))
    yield from (t.at for t in step.time_events)
    yield from (x for s in step.samples for x in (s.start, s.interval))
    yield from (x for d in step.delays for x in (d.source, d.maximum, *(() if d.past is None else (d.past,))))
    yield from (x for t in step.transports for x in t.recorded())
    yield from (x for a in (*step.asserts, *step.initial_asserts) for x in (a.condition, a.message))
