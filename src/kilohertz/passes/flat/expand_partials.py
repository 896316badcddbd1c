"""expand-partials: `function f_x = der(f, x)` gets its body (MLS 12.7.2).

  function f_x = der(f, x, y);
  ->  function f_x  inputs and Real outputs of f;
      algorithm  (outputs) := $D($D(f))(...)  with 1 for the rate of what it is derived by, 0 for the others

One step per name: `der(f, x, y)` derives `der(f, x)` by y.  Cost: linear in the bodies, for each name.  Gives up (B107)
where a function has no derivative that could be worked out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from kilohertz.base import Diagnostic, ModelError, Origin
from kilohertz.ir.expr import Call, Ref
from kilohertz.ir.flat import Assign, Flat, Function, TupleTarget
from kilohertz.ir.make import ONE, ZERO
from kilohertz.ir.types import TupleType, Type
from kilohertz.passes.contract import Fact, Log, Pass
from kilohertz.passes.derivative import NoDerivative, has_reals
from kilohertz.passes.function_derivative import FunctionDerivatives


@dataclass(frozen=True, slots=True)
class ExpandPartials(Pass):
    """Functions that are partial derivatives of others get a body."""

    name: ClassVar[str] = "expand-partials"
    needs: ClassVar[frozenset[Fact]] = frozenset({Fact.FLAT, Fact.VALUES})
    gives: ClassVar[frozenset[Fact]] = frozenset({Fact.BODIES})

    def run(self, model: Flat, log: Log) -> Flat:
        if not any(f.partial_of for f in model.functions.values()):
            return model
        table = FunctionDerivatives(dict(model.functions))
        for id in model.functions:
            _complete(id, table)
        return replace(model, functions=table.functions)


def _complete(id: str, table: FunctionDerivatives) -> None:
    f = table.functions[id]
    if not f.partial_of:
        return
    of, *names = f.partial_of
    for k, name in enumerate(names):
        last = k == len(names) - 1
        _complete(of, table)
        derivative = id if last else f"{id}.{name}"
        try:
            table.functions[derivative] = _derived(derivative, table.functions[of], name, table)
        except NoDerivative as failure:
            span = f.origin.spans[0] if f.origin.spans else None
            message = f"`{id}`: `{failure}` has no derivative that could be worked out"
            raise ModelError(Diagnostic("B107", message, span)) from failure
        of = derivative


def _derived(id: str, f: Function, by: str, table: FunctionDerivatives) -> Function:
    outputs = [x for x in f.outputs if has_reals(x.ty)]
    whole = f.outputs[0].ty if len(f.outputs) == 1 else Type(TupleType(tuple(x.ty for x in f.outputs)))
    call = Call(f.id, tuple(Ref(x.name, x.ty) for x in f.inputs), whole)
    derived = table.whole(call, [ONE if x.name == by else ZERO for x in f.inputs])
    places = tuple(Ref(x.name, x.ty) for x in outputs)
    target = places[0] if len(places) == 1 else TupleTarget(places)
    origin = Origin(f.origin.spans, f.origin.path, ("differentiate",))
    return Function(id, list(f.inputs), outputs, [], [Assign(target, derived, origin)], pure=f.pure, origin=origin)
