"""Partial derivatives of functions: `function f_x = der(f, x)` gets its body (MLS 12.7.2).

  function f_x = der(f, x, y);
  ->  function f_x  inputs and Real outputs of f;
      algorithm  (outputs) := $D($D(f))(...)  with 1 for the rate of what it is derived by, 0 for the others

One step per name: `der(f, x, y)` derives `der(f, x)` by y.
"""

from __future__ import annotations

from kilohertz.base import Diagnostic, ModelError, Origin
from kilohertz.ir.build import ONE, ZERO
from kilohertz.ir.expr import Call, Ref
from kilohertz.ir.flat import Assign, Function, TupleTarget
from kilohertz.ir.types import TupleType, Type
from kilohertz.passes.derivative import NoDerivative
from kilohertz.passes.function_derivative import FunctionDerivatives, has_reals


def with_partials(functions: dict[str, Function]) -> dict[str, Function]:
    """The functions, those that are partial derivatives of others with a body."""
    found = dict(functions)
    if any(f.partial_of for f in functions.values()):
        table = FunctionDerivatives(found)
        for id in functions:
            _complete(id, table)
    return found


def _complete(id: str, table: FunctionDerivatives) -> None:
    f = table.functions[id]
    if not f.partial_of:
        return
    of, *names = f.partial_of
    for k, name in enumerate(names):
        last = k == len(names) - 1
        _complete(of, table)
        made = id if last else f"{id}.{name}"
        try:
            table.functions[made] = _derived(made, table.functions[of], name, table)
        except NoDerivative as failure:
            span = f.origin.spans[0] if f.origin.spans else None
            message = f"`{id}`: `{failure}` has no derivative that could be worked out"
            raise ModelError(Diagnostic("B107", message, span)) from failure
        of = made


def _derived(id: str, f: Function, by: str, table: FunctionDerivatives) -> Function:
    outputs = [x for x in f.outputs if has_reals(x.ty)]
    whole = f.outputs[0].ty if len(f.outputs) == 1 else Type(TupleType(tuple(x.ty for x in f.outputs)))
    call = Call(f.id, tuple(Ref(x.name, x.ty) for x in f.inputs), whole)
    derived = table.whole(call, [ONE if x.name == by else ZERO for x in f.inputs])
    places = tuple(Ref(x.name, x.ty) for x in outputs)
    target = places[0] if len(places) == 1 else TupleTarget(places)
    origin = Origin(f.origin.spans, f.origin.path, ("differentiate",))
    return Function(id, list(f.inputs), outputs, [], [Assign(target, derived, origin)], pure=f.pure, origin=origin)
