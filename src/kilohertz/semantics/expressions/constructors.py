"""Which of several functions a call means: those of an operator, constructors of an operator record (MLS 14.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kilohertz.base import ModelError
from kilohertz.ir.expr import Expr
from kilohertz.semantics.classes.modifiers import Ctx
from kilohertz.semantics.classes.nodes import ClassNode
from kilohertz.semantics.wording import counted

if TYPE_CHECKING:
    from kilohertz.semantics.expressions.calls import Calls


def first_fitting(
    calls: Calls,
    functions: list[ClassNode],
    args: list[Any],
    named: dict[str, Any],
    node: Any,
    ctx: Ctx,
    record: ClassNode | None = None,
) -> Expr:
    """The call of the first function that takes the arguments; of `record`, else its fields themselves."""
    problem: ModelError | None = None
    fitting: list[Expr] = []
    for function in functions:
        try:
            fitting.append(calls.apply(function, args, named, node, ctx))
        except ModelError as error:
            problem = error
        if fitting and record is None:
            return fitting[0]
    if fitting:
        _check_constructors(calls, functions, len(fitting), node, ctx)
        return fitting[0]
    if record is not None:
        return calls.records.construct(record, args, named, node, ctx)
    assert problem is not None
    raise problem


def _check_constructors(calls: Calls, functions: list[ClassNode], n_fitting: int, node: Any, ctx: Ctx) -> None:
    """S336: one constructor fits, and each has one output."""
    world = calls.elaborator.world
    if n_fitting > 1:
        world.refuse("S336", f"{n_fitting} constructors fit these arguments", ctx.span(node))
    for function in functions:
        header = calls.elaborator.functions.header(function)
        if len(header.outputs) != 1:
            text = f"the constructor `{header.id}` has {counted(len(header.outputs), 'output')} instead of one"
            world.refuse("S336", text, header.origin.spans[0] if header.origin.spans else None)
