"""Variables for the results of calls that stay, and the equations that give them.

Results of parameters alone are parameters.  Where initialisation computes one of those, it computes the results too:
they are parameters with fixed=false, the call is an initial equation, and nobody makes it again at events.
"""

from __future__ import annotations

from kilohertz.base import Origin
from kilohertz.ir import traverse
from kilohertz.ir.expr import FALSE, TRUE, Expr
from kilohertz.ir.flat import CONSTANT, CONTINUOUS, PARAMETER, Equality, Function, Purpose, TupleTarget, Variable
from kilohertz.ir.flat import DISCRETE as DISCRETE_TIME
from kilohertz.ir.ticks import ScalarFlat
from kilohertz.ir.types import REAL, STRING
from kilohertz.passes.flat.calls import AuxiliaryCall
from kilohertz.passes.flat.guard_calls import guard_calls
from kilohertz.passes.flat.values import pack
from kilohertz.passes.numeric import free_names


def take_calls(calls: list[AuxiliaryCall], out: ScalarFlat, functions: dict[str, Function], made_by: str) -> None:
    """Put auxiliary variables and their call equations into the model."""
    guard_calls(calls, out, functions)
    parameters = [v for v in out.variables.values() if v.variability == PARAMETER]
    sources: dict[str, Expr | None] = {v.name: v.binding for v in parameters}
    sources |= {name: auxiliary.call for auxiliary in calls for name, _ in auxiliary.names}
    free = free_names(sources, {v.name for v in parameters if not is_fixed(v)})
    origin = Origin(passes=(made_by,))
    for auxiliary in calls:
        read = [r.name for r in traverse.refs(auxiliary.call)]
        variability = _variability(read, out)
        is_free = variability == PARAMETER and any(name in free for name in read)
        if is_free and any(ty == STRING for _, ty in auxiliary.names):
            variability, is_free = CONTINUOUS, False
        for name, ty in auxiliary.names:
            varies = variability if variability == PARAMETER or ty == REAL else DISCRETE_TIME
            result = Variable(name, ty, varies, protected=True, final=True, origin=origin, purpose=Purpose.OUTPUT)
            if is_free:
                result.attributes["fixed"] = FALSE
            out.variables[name] = result
        target = TupleTarget(tuple(pack(v) for v in auxiliary.outputs))
        (out.initial_equations if is_free else out.equations).append(Equality(target, auxiliary.call, origin))


def is_fixed(v: Variable) -> bool:
    return v.attributes.get("fixed", TRUE) is TRUE


def _variability(read: list[str], out: ScalarFlat) -> str:
    variables = (out.variables.get(name) for name in read)  # `time` is no variable
    still = all(v is not None and v.variability in (CONSTANT, PARAMETER) for v in variables)
    return PARAMETER if still else CONTINUOUS
