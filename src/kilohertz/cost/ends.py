"""Which algebraic values have to be looked at to know that none is NaN or infinite.

  a := sin(x);  b := a*p;  c := b - y;  d := if c > 0 then c else 0     ->   c, d

A value that is no number makes no number of a sum or a product that it is part of, and of a quotient whose numerator it
is: so what goes into another value that way, which is computed whenever it is and after it, need not be looked at.
Dividing by infinity, branches, calls and systems of equations may hide it: what goes nowhere else is an end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from kilohertz.ir import step as s
from kilohertz.ir.expr import Binary, Builtin, Expr, Ref, Unary
from kilohertz.ir.flat import Purpose
from kilohertz.ir.step import Kind, Partition

_MOST = 1000  # written out in one function
_PASSES_ON = ("sin", "cos", "sqrt", "abs")
_AT_END = (Partition.STEP, Partition.CROSSING, Partition.OUTPUT)  # computed at the end of every step


def ends(step: s.Step) -> tuple[s.StepVariable, ...] | None:
    """The values of w that tell for all; None where that are too many to be written out, or not much fewer than all."""
    looked_at = [v for v in step.of_kind(Kind.ALGEBRAIC) if v.purpose is not Purpose.PASSED]
    if len(looked_at) < 2:
        return None
    hidden = _hidden(step, step.blocks)
    if step.inlined is not None:
        early = [b for b in step.blocks if b.partition is Partition.EVENT]
        late = [b for b in step.blocks if b.partition not in (Partition.EVENT, Partition.STEP)]
        hidden &= _hidden(step, [*early, *step.inlined, *late])
    found = tuple(v for v in looked_at if v.name not in hidden)
    return found if len(found) <= min(_MOST, 3 * len(looked_at) // 4) else None


def _hidden(step: s.Step, blocks: Sequence[s.Block]) -> set[str]:
    """What goes into later values as it is."""
    order = _Order()
    for b in blocks:
        order.note(b, b.partition)
    hidden: set[str] = set()
    for target, partition, value in order.assigned:
        v = step.variables.get(target)
        if v is None or v.slot.kind not in (Kind.ALGEBRAIC, Kind.DERIVATIVE) or v.purpose is Purpose.PASSED:
            continue
        for name in _passed_on(value):
            own = order.first.get(name)
            if own is not None and own[0] < order.first[target][0] and partition in (*_AT_END, own[1]):
                hidden.add(name)
    return hidden


@dataclass(slots=True)
class _Order:
    """Where each variable is computed first, and in which partition; what is assigned."""

    first: dict[str, tuple[int, Partition]] = field(default_factory=dict)
    assigned: list[tuple[str, Partition, Expr]] = field(default_factory=list)

    def note(self, b: s.Block, partition: Partition) -> None:
        """A block; those in loops with the partition of the loop."""
        if isinstance(b, s.MixedLoop):
            for c in b.continuous:
                self.note(c, partition)
            return
        own = b.unknowns if isinstance(b, (s.LinearLoop, s.NonlinearLoop)) else s.targets(b)
        for ref in own:
            self.first.setdefault(ref.name, (len(self.first), partition))
        if isinstance(b, s.Assignment):
            self.assigned.append((b.target.name, partition, b.value))
        if isinstance(b, (s.LinearLoop, s.NonlinearLoop)):
            for c in b.inner:
                self.note(c, partition)


def _passed_on(value: Expr) -> Iterable[str]:
    stack, seen = [value], {value}
    while stack:
        e = stack.pop()
        if isinstance(e, Ref):
            yield e.name
        below = [child for child in _whole(e) if child not in seen]  # what is shared, once
        seen.update(below)
        stack += below


def _whole(e: Expr) -> tuple[Expr, ...]:
    """The operands that show in a value as they are."""
    if isinstance(e, Unary) and e.op == "-":
        return (e.operand,)
    if isinstance(e, Binary) and e.op in ("+", "-", "*"):
        return (e.left, e.right)
    if isinstance(e, Binary) and e.op == "/":
        return (e.left,)
    return (e.args[0],) if isinstance(e, Builtin) and e.name in _PASSES_ON else ()
