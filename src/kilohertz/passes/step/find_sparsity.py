"""find-sparsity: which states each derivative depends on, the pattern of the state Jacobian.

  y := 2*x1;  der(x1) := y;  der(x2) := x1*x2        ->   der(x1): x1;   der(x2): x1, x2

One sweep over the blocks of STEP with a set of states, as bits, for each variable; all targets of a loop depend on all
that it reads.  It never gives up: what it takes for an entry may be zero, what it leaves out is zero.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from kilohertz.ir.step import DISCRETE_KINDS, Kind, Partition, Step, targets
from kilohertz.passes.algebra import Occurrence
from kilohertz.passes.contract import Fact, Log, Pass
from kilohertz.passes.step.partition_blocks import inputs


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
        for n in inputs(b, occurrence):
            mask |= masks.get(n, 0)
        for t in targets(b):
            if step.variables[t.name].slot.kind not in DISCRETE_KINDS:
                masks[t.name] = masks.get(t.name, 0) | mask
    return tuple(bits(masks.get(v.name, 0)) for v in step.of_kind(Kind.DERIVATIVE))


def bits(mask: int) -> tuple[int, ...]:
    """Positions of the ones, ascending."""
    positions = []
    while mask:
        low = mask & -mask
        positions.append(low.bit_length() - 1)
        mask ^= low
    return tuple(positions)
