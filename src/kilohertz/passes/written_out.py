"""A call written out as the expression it computes, where the function is a few scalar assignments.

  y := if u1 > u2 then u1_d else u2_d      ->  der(max(a, b)) is `if a > b then der(a) else der(b)`: linear in the rates

Functions are inlined when a model is made scalar; derivative functions come later, when equations are differentiated,
and as calls they would make every loop they stand in nonlinear.
"""

from __future__ import annotations

from kilohertz.ir import traverse
from kilohertz.ir.expr import Expr, Ref
from kilohertz.ir.flat import Assign, Function
from kilohertz.ir.types import Primitive, Type
from kilohertz.passes.algebra import cost, substitute

MOST_COST = 30  # operations of a function that does not ask to be inlined


def written_out(f: Function, args: tuple[Expr, ...]) -> Expr | None:
    """The only output for these arguments; None where a call is better, or all that is possible."""
    if not _is_plain(f) or len(args) != len(f.inputs):
        return None
    values: dict[str, Expr] = {local.name: arg for local, arg in zip(f.inputs, args, strict=True)}
    known = set(values)
    total = 0
    for statement in f.body:
        if not isinstance(statement, Assign) or not isinstance(statement.target, Ref):
            return None
        if not all(_is_scalar(e.ty) for e in traverse.walk(statement.value)):
            return None
        if any(r.name not in known for r in traverse.refs(statement.value)):
            return None  # read before it is set
        total += cost((statement.value,))
        values[statement.target.name] = substitute(statement.value, values)
        known.add(statement.target.name)
    if total > MOST_COST and not f.inline:
        return None
    return values.get(f.outputs[0].name)


def _is_plain(f: Function) -> bool:
    if f.external is not None or not f.pure or f.inline is False or f.generate_events or len(f.outputs) != 1:
        return False
    if f.derivatives and not f.inline:
        return False  # it knows its derivative, that of what it does would have to be made
    set_inside = [*f.outputs, *f.locals]
    return all(_is_scalar(v.ty) for v in (*f.inputs, *set_inside)) and all(v.default is None for v in set_inside)


def _is_scalar(ty: Type) -> bool:
    return not ty.dims and isinstance(ty.base, Primitive)
