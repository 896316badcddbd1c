"""Which of several functions a call means: those of an operator, constructors of an operator record (MLS 14.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kilohertz.base import ModelError, Note
from kilohertz.ir.expr import Expr
from kilohertz.ir.types import RecordType
from kilohertz.semantics.classes.modifiers import Ctx
from kilohertz.semantics.classes.nodes import ClassNode
from kilohertz.semantics.wording import as_written, counted

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
    """The call of the first function that takes the arguments; a `record` with constructors has no other (MLS 14.3)."""
    problem: ModelError | None = None
    fitting: list[Expr] = []
    direct = [function for function in functions if _is_direct(calls, function, args)]
    for function in (*direct, *(f for f in functions if f not in direct)):
        try:
            constructed = calls.apply(function, args, named, node, ctx)
        except ModelError as error:
            problem = error
            continue
        if record is None:
            return constructed
        if function in direct or not fitting:
            fitting.append(constructed)
    # a vector goes to a function of vectors rather than element by element to one of scalars (MLS 12.4.6)
    fitting = [one for one in fitting if not one.ty.dims] or fitting
    if fitting:
        _check_constructors(calls, functions, len(fitting), node, ctx)
        return fitting[0]
    assert problem is not None
    if record is not None:
        text = f"no constructor of the operator record `{record.written_name}` takes these arguments"
        notes = (Note(problem.diagnostics[0].message),) if len(functions) == 1 else ()
        raise calls.elaborator.error("S336", text, node, ctx, *notes)
    raise problem


def _is_direct(calls: Calls, function: ClassNode, args: list[Any]) -> bool:
    """Whether no argument has to be converted to a record first: those functions come first (MLS 14.4)."""
    inputs = calls.elaborator.functions.header(function).inputs
    return not any(
        isinstance(x.ty.base, RecordType) and isinstance(arg, Expr) and not isinstance(arg.ty.base, RecordType)
        for x, arg in zip(inputs, args, strict=False)
    )


def _check_constructors(calls: Calls, functions: list[ClassNode], n_fitting: int, node: Any, ctx: Ctx) -> None:
    """S336: one constructor fits, and each has one output."""
    world = calls.elaborator.world
    if n_fitting > 1:
        world.refuse("S336", f"{n_fitting} constructors fit these arguments", ctx.span(node))
    for function in functions:
        header = calls.elaborator.functions.header(function)
        if len(header.outputs) != 1:
            text = (
                f"the constructor `{as_written(header.id)}` has {counted(len(header.outputs), 'output')} instead of one"
            )
            world.refuse("S336", text, header.origin.spans[0] if header.origin.spans else None)
