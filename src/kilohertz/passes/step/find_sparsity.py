"""find-sparsity: which states each derivative depends on, the pattern of the state Jacobian.

  y := 2*x1;  der(x1) := y;  der(x2) := x1*x2        ->   der(x1): x1;   der(x2): x1, x2

One sweep over the blocks of STEP with a set of states, as bits, for each variable; all targets of a loop depend on all
that it reads.  It never gives up: what it takes for an entry may be zero, what it leaves out is zero.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from kilohertz.ir import traverse
from kilohertz.ir.expr import Builtin, Expr, Ref
from kilohertz.ir.step import DISCRETE_KINDS, Block, Kind, Partition, Step, expressions, targets
from kilohertz.passes.algebra import Occurrence
from kilohertz.passes.contract import Fact, Log, Pass
from kilohertz.passes.step.partition_blocks import inputs

_LINES = {"delay": 2, "transport": 3}  # how many arguments are not what goes into the line


@dataclass(frozen=True, slots=True)
class FindSparsity(Pass):
    """The states each derivative depends on."""

    name: ClassVar[str] = "find-sparsity"
    needs: ClassVar[frozenset[Fact]] = frozenset({Fact.STEP, Fact.PARTITIONED})
    gives: ClassVar[frozenset[Fact]] = frozenset({Fact.SPARSITY})

    def run(self, model: Step, log: Log) -> Step:
        return replace(model, state_sparsity=_pattern(model, log.occurrence))


def _pattern(step: Step, occurrence: Occurrence) -> tuple[tuple[int, ...], ...]:
    masks: dict[str, int] = {v.name: 1 << v.slot.index for v in step.of_kind(Kind.STATE)}
    for b in step.in_partition(Partition.STEP):
        mask = 0
        for n in inputs(b, occurrence) if not _has_delays(b) else _moved_by(b):
            mask |= masks.get(n, 0)
        for t in targets(b):
            if step.variables[t.name].slot.kind not in DISCRETE_KINDS:
                masks[t.name] = masks.get(t.name, 0) | mask
    return tuple(bits(masks.get(v.name, 0)) for v in step.of_kind(Kind.DERIVATIVE))


def _has_delays(b: Block) -> bool:
    return any(isinstance(n, Builtin) and n.name in _LINES for n in traverse.walk_all(expressions(b)))


def _moved_by(b: Block) -> list[str]:
    """What a block reads, but what goes into a delay that lasts: derivatives leave it out, as `differentiate` does."""
    seen: dict[str, None] = {}
    stack: list[Expr] = list(expressions(b))
    while stack:
        e = stack.pop()
        if isinstance(e, Ref):
            seen[e.name] = None
        children = e.children()
        stack += children[: _LINES.get(e.name)] if isinstance(e, Builtin) else children
    return list(seen)


def bits(mask: int) -> tuple[int, ...]:
    """Positions of the ones, ascending."""
    positions = []
    while mask:
        low = mask & -mask
        positions.append(low.bit_length() - 1)
        mask ^= low
    return tuple(positions)
