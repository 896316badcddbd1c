"""What the inlined stages of a Step compute, and what they are given."""

from __future__ import annotations

from kilohertz.ir.expr import Ref
from kilohertz.ir.step import DISCRETE_KINDS, Assignment, Kind, Partition, Step, targets


def inlined_is_all(step: Step) -> bool:
    """Whether an inlined stage computes every Real that derivatives need."""
    if step.inlined is None:
        return False
    computed = {t.name for b in step.inlined for t in targets(b)}
    needed = {t.name for b in step.in_partition(Partition.STEP) for t in targets(b)}
    return all(step.slot(name).kind in DISCRETE_KINDS for name in needed - computed)


def stage_roles(step: Step) -> list[str]:
    """Of each state in a stage: implicit (solved for), explicit (known), held (known, its derivative left out)."""
    computed = {t.name for b in step.inlined or () for t in targets(b)}
    moving = {t.name for b in step.in_partition(Partition.STEP) for t in targets(b)}
    bases = {v.slot.index: v.name for v in step.of_kind(Kind.BASE)}
    derivatives = {v.slot.index: v.name for v in step.of_kind(Kind.DERIVATIVE)}
    known = {b.target.name: b.value for b in step.inlined or () if isinstance(b, Assignment)}
    roles = []
    for state in step.of_kind(Kind.STATE):
        value, derivative = known.get(state.name), derivatives[state.slot.index]
        explicit = isinstance(value, Ref) and value.name == bases.get(state.slot.index)
        roles.append("implicit" if not explicit else "held" if derivative in moving - computed else "explicit")
    return roles
