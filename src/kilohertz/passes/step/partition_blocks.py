"""partition-blocks: when each block is needed (see `ir/step.py`).

  y := 2*x;  der(x) := -x;  z := x - 1, crossing z > 0     ->   view y;  step der(x);  crossing z

The variables that follow from the unknowns of a linear loop are looked at one by one: those that the derivatives do not
need leave it.  What is CROSSING, OUTPUT or VIEW goes behind the blocks of STEP, so that those stand together.

A block moves where it reads time, a state, an input, a delay, or the result of a moving block.  Real blocks that do not
move, and all discrete ones, belong to EVENT, but for calls in whose discrete results crossings are looked for.  Among
the moving: what derivatives need is STEP, what crossing functions, delay lines and left limits need besides is
CROSSING.  Of the rest what declared outputs and assertions need is OUTPUT, and so is a block that may fail, or whose
result depends on what it gave before (loops, calls, delays), with all that it reads; what is left is VIEW: nobody
notices where it is not computed.  Three sweeps, linear.  It never gives up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, cast

from kilohertz.ir import traverse
from kilohertz.ir.builtins import BUILTINS, is_past
from kilohertz.ir.expr import Binary, Bool, Builtin, Enum, Expr, IfExp, Int, Real, Ref, Unary
from kilohertz.ir.flat import Purpose
from kilohertz.ir.step import (
    DISCRETE_KINDS,
    Assignment,
    Block,
    Inner,
    Kind,
    LinearLoop,
    MixedLoop,
    NonlinearLoop,
    Partition,
    Step,
    WhenBlock,
    expressions,
    targets,
)
from kilohertz.ir.types import INTEGER
from kilohertz.passes.algebra import Occurrence
from kilohertz.passes.contract import Fact, Log, Pass

MOVING_KINDS = frozenset({Kind.STATE, Kind.INPUT, Kind.INT_INPUT})
_LATE = frozenset({Partition.CROSSING, Partition.OUTPUT, Partition.VIEW})


def inputs(block: Block, occurrence: Occurrence) -> list[str]:
    """Names a block reads."""
    return occurrence.names_of(expressions(block))


@dataclass(frozen=True, slots=True)
class PartitionBlocks(Pass):
    """Each block goes to the partition that says when it is needed."""

    name: ClassVar[str] = "partition-blocks"
    needs: ClassVar[frozenset[Fact]] = frozenset({Fact.STEP})
    gives: ClassVar[frozenset[Fact]] = frozenset({Fact.PARTITIONED})

    def run(self, model: Step, log: Log) -> Step:
        return replace(model, blocks=tuple(_partitioned(model, log.occurrence)))


def _partitioned(step: Step, occurrence: Occurrence) -> list[Block]:
    blocks, owners = _taken_apart(step.blocks)
    reads = [inputs(b, occurrence) for b in blocks]
    sets = [[t.name for t in targets(b)] for b in blocks]
    moving = _moving(blocks, reads, sets, step)
    derivatives = {v.name for v in step.of_kind(Kind.DERIVATIVE)}
    for_step = _needed(reads, sets, derivatives)
    watched = {n for c in step.crossings for n in occurrence.names(c.function)}
    watched |= {d.source.name for d in step.delays} | {x.name for t in step.transports for x in t.sources}
    left = {n for n, v in step.variables.items() if v.purpose is Purpose.LEFT_LIMIT and not v.of}
    watched |= left
    for_crossing = _needed(reads, sets, watched)
    rests = [
        not moves or (_is_discrete(b, step) and not (crosses and _is_result(names, step)) and left.isdisjoint(names))
        for b, moves, names, crosses in zip(blocks, moving, sets, for_crossing, strict=True)
    ]
    acts = [not resting and not is_quiet(b) for b, resting in zip(blocks, rests, strict=True)]
    for_output = _needed(reads, sets, _shown(step, occurrence), acts)
    settled: list[Block] = []
    settle = Settle(step, occurrence)
    for i, b in enumerate(blocks):
        if rests[i]:
            settle.resting.update(sets[i])
            settled.append(settle(b, Partition.EVENT))
        elif for_step[i]:
            settled.append(settle(b, Partition.STEP))
        elif for_crossing[i]:
            settled.append(settle(b, Partition.CROSSING))
        else:
            settled.append(settle(b, Partition.OUTPUT if for_output[i] else Partition.VIEW))
    return _late_last(_put_together(settled, owners), occurrence)


def _taken_apart(blocks: Sequence[Block]) -> tuple[list[Block], list[int]]:
    """Linear loops followed by what was inside them; for each block the place of its loop, -1 for others."""
    apart: list[Block] = []
    owners: list[int] = []
    for b in blocks:
        owner = len(apart)
        inner = b.inner if isinstance(b, LinearLoop) else ()
        rest = b.cost - sum(x.cost for x in inner)
        apart.append(replace(b, inner=(), cost=max(rest, 1)) if isinstance(b, LinearLoop) and inner else b)
        apart += inner
        owners += [-1, *[owner] * len(inner)]
    return apart, owners


def _put_together(blocks: list[Block], owners: list[int]) -> list[Block]:
    """What is needed when its loop is goes back into it."""
    inside: dict[int, list[Assignment]] = {}
    apart: dict[int, int] = {}
    gone: set[int] = set()
    for i, (b, owner) in enumerate(zip(blocks, owners, strict=True)):
        if owner < 0:
            continue
        if isinstance(b, Assignment) and b.partition is blocks[owner].partition:
            inside.setdefault(owner, []).append(b)
            gone.add(i)
        else:
            apart[owner] = apart.get(owner, 0) + 1
    together: list[Block] = []
    for i, b in enumerate(blocks):
        if i in gone:
            continue
        if isinstance(b, LinearLoop) and (i in inside or i in apart):
            inner = inside.get(i, [])
            total = b.cost + sum(x.cost for x in inner)
            b = replace(b, inner=tuple(inner), cost=total, n_apart=apart.get(i, 0))
        together.append(b)
    return together


def _late_last(blocks: list[Block], occurrence: Occurrence) -> list[Block]:
    """CROSSING and OUTPUT behind STEP, VIEW behind both, but before blocks of events that read them."""
    sorted_blocks: list[Block] = []
    waiting: list[Block] = []
    theirs: set[str] = set()
    for b in blocks:
        if b.partition in _LATE:
            waiting.append(b)
            theirs.update(t.name for t in targets(b))
            continue
        if any(n in theirs for n in inputs(b, occurrence)):
            sorted_blocks += _views_last(waiting)
            waiting, theirs = [], set()
        sorted_blocks.append(b)
    return sorted_blocks + _views_last(waiting)


def _views_last(blocks: list[Block]) -> list[Block]:
    """No other block reads what a view gives."""
    return sorted(blocks, key=lambda b: b.partition is Partition.VIEW)


def _moving(blocks: Sequence[Block], reads: list[list[str]], sets: list[list[str]], step: Step) -> list[bool]:
    names: set[str] = {"time"}
    names |= {v.name for v in step.variables.values() if v.slot.kind in MOVING_KINDS}
    flags = []
    for b, read, set_here in zip(blocks, reads, sets, strict=True):
        inner = set(set_here)
        flag = any(n in names for n in read if n not in inner) or _delays(b)
        if flag:
            names.update(
                n for n in set_here if step.variables[n].slot.kind not in DISCRETE_KINDS or _is_result((n,), step)
            )
        flags.append(flag)
    return flags


def _is_result(names: Sequence[str], step: Step) -> bool:
    """What a call gives that was set aside: where events are looked for in it, it is no value of events itself."""
    return all(step.variables[n].purpose is Purpose.OUTPUT for n in names)


def _delays(b: Block) -> bool:
    return any(is_past(n) for n in traverse.walk_all(expressions(b)))


def _is_discrete(b: Block, step: Step) -> bool:
    if isinstance(b, WhenBlock):
        return True
    if isinstance(b, MixedLoop):
        return not b.continuous
    computed = targets(b)
    return bool(computed) and all(step.variables[t.name].slot.kind in DISCRETE_KINDS for t in computed)


def _shown(step: Step, occurrence: Occurrence) -> set[str]:
    """Names that assertions and those outside need at the end of every step."""
    shown = {n for n, v in step.variables.items() if v.causality == "output"}
    shown |= {a.target for a in step.aliases.values() if a.causality == "output" and a.target is not None}
    return shown | {n for a in step.asserts for e in (a.condition, a.message) for n in occurrence.names(e)}


def is_quiet(b: Block) -> bool:
    """A Real that cannot fail to be computed, and depends on nothing but what it reads."""
    return isinstance(b, Assignment) and all(is_quiet_part(e) for e in traverse.walk_all((b.value,)))


def is_quiet_part(e: Expr) -> bool:
    if isinstance(e, Binary | Unary | IfExp):
        return e.ty != INTEGER
    if isinstance(e, Builtin):
        known = BUILTINS.get(e.name)
        return known is not None and known.value is not None and e.ty != INTEGER and not is_past(e)
    return isinstance(e, Ref | Real | Int | Bool | Enum)


def _needed(reads: list[list[str]], sets: list[list[str]], wanted: set[str], kept: Sequence[bool] = ()) -> list[bool]:
    """Blocks that lead to the wanted names, or to blocks that are kept."""
    names = set(wanted)
    flags = [False] * len(reads)
    for i in range(len(reads) - 1, -1, -1):
        if (kept and kept[i]) or any(n in names for n in sets[i]):
            flags[i] = True
            names.update(reads[i])
    return flags


_FIXED = frozenset({Kind.PARAMETER, Kind.INT_PARAMETER, Kind.STRING_PARAMETER, Kind.OBJECT})
_STILL = _FIXED | DISCRETE_KINDS | {Kind.PRE_DISCRETE, Kind.PRE_INT_DISCRETE, Kind.PRE_STRING_DISCRETE, Kind.GAMMA_H}


@dataclass(slots=True)
class Settle:
    """Puts blocks into a partition, and matrices into the one they change in; `resting`: computed at events only."""

    step: Step
    occurrence: Occurrence
    resting: set[str] = field(default_factory=set)

    def __call__(self, b: Block, p: Partition) -> Block:
        match b:
            case LinearLoop():
                inner, through = (tuple(replace(x, partition=p) for x in each) for each in (b.inner, b.through))
                matrix = self._matrix_partition(b, p)
                if matrix is not p or p is Partition.EVENT:  # how the matrix moves is not asked
                    return replace(b, partition=p, inner=inner, matrix_partition=matrix, through=(), residuals=())
                return replace(b, partition=p, inner=inner, matrix_partition=matrix, through=through)
            case NonlinearLoop():
                inside = tuple(cast(Inner, self(x, p)) for x in b.inner)
                return replace(b, partition=p, inner=inside)
            case MixedLoop():
                continuous = tuple(self(x, p) for x in b.continuous)
                discrete = tuple(self(x, Partition.EVENT) for x in b.discrete)
                return replace(b, partition=p, continuous=continuous, discrete=discrete)
            case _:
                return replace(b, partition=p)

    def _matrix_partition(self, b: LinearLoop, p: Partition) -> Partition:
        names = self.occurrence.names_of(e.value for e in b.matrix)
        if "time" in names:
            return p
        variables = self.step.variables
        if all(variables[n].slot.kind in _FIXED for n in names):
            return Partition.ONCE
        rests = all(n in self.resting or variables[n].slot.kind in _STILL for n in names)
        return Partition.EVENT if rests else p
