"""Small parts of making blocks: calls, loops in another partition, what cannot be solved, what is not zero."""

from __future__ import annotations

from dataclasses import replace

from kilohertz.base import Diagnostic
from kilohertz.ir.dae import AnyEquation, CallEquation
from kilohertz.ir.expr import Expr, Real, Ref
from kilohertz.ir.step import Block, CallBlock, Inner, LinearLoop, NonlinearLoop, Partition
from kilohertz.passes.algebra import cost
from kilohertz.passes.ordered.context import Context


def moved(b: Block, p: Partition) -> Block:
    """The same loop in another partition."""
    if isinstance(b, LinearLoop):
        inner, through = (tuple(replace(x, partition=p) for x in each) for each in (b.inner, b.through))
        return replace(b, partition=p, matrix_partition=p, inner=inner, through=through)
    if isinstance(b, NonlinearLoop):
        return replace(b, partition=p, inner=tuple(replace(x, partition=p) for x in b.inner))
    return replace(b, partition=p)


def iterated(b: Inner) -> int:
    """Unknowns of a nonlinear loop."""
    return len(b.unknowns) if isinstance(b, NonlinearLoop) else 0


def call_block(e: CallEquation, partition: Partition) -> CallBlock:
    targets = tuple(tuple(t if isinstance(t, Ref) else None for t in output) for output in e.targets)
    return CallBlock(targets, e.call, partition, e.guard, cost((e.call,)), e.origin)


def is_safe(a: Expr, context: Context) -> bool:
    """Not zero: a literal, or parameters with a value that is not."""
    if isinstance(a, Real):
        return a.value != 0.0
    if not all(context.is_parameter(n) for n in context.occurrence.names(a)):
        return False
    value = context.parameters(a)
    return value is not None and abs(value) > 1e-12


def unsolvable(e: AnyEquation, unknown: Ref) -> Diagnostic:
    span = e.origin.spans[0] if e.origin.spans else None
    return Diagnostic("B202", f"this equation cannot be solved for {unknown.name}", span)
