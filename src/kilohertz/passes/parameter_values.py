"""Numbers for parameters as the model is translated: they decide which coefficients vanish and which pivots are good.

Bindings are folded by `Numeric`; calls that set parameters (a record of device constants, say) are run by `interp`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kilohertz.interp import ArrayValue, EvaluationError, Evaluator, NotConstant
from kilohertz.ir.dae import AnyEquation, CallEquation, Dae, Role
from kilohertz.ir.expr import Expr, Ref
from kilohertz.ir.types import BOOLEAN, INTEGER
from kilohertz.passes.numeric import settled

_KNOWN = (Role.PARAMETER, Role.CONSTANT, Role.OBJECT)


def parameter_values(dae: Dae) -> dict[str, float]:
    """Values of parameters by name, as far as bindings and calls have them."""
    sources: dict[str, Expr] = {}
    for v in dae.variables.values():
        source = v.binding if v.binding is not None else v.start
        if v.role in (Role.PARAMETER, Role.CONSTANT) and source is not None:
            sources[v.name] = source
    values = settled(sources)
    calls = [e for e in dae.equations if isinstance(e, CallEquation) and is_parametric(e, dae)]
    evaluator = Evaluator(dict(dae.functions)) if calls else None
    while evaluator is not None:
        waiting = [e for e in calls if not _run(e, dae, evaluator, values)]
        if len(waiting) == len(calls):
            break
        calls = waiting
        values |= settled({n: e for n, e in sources.items() if n not in values}, values)
    return values


def is_parametric(e: AnyEquation, dae: Dae) -> bool:
    """A call that sets parameters."""
    if not isinstance(e, CallEquation):
        return False
    targets = [t for o in e.targets for t in o if isinstance(t, Ref)]
    return bool(targets) and all(t.name in dae.variables and dae.variables[t.name].role in _KNOWN for t in targets)


def _run(e: CallEquation, dae: Dae, evaluator: Evaluator, values: dict[str, float]) -> bool:
    """Run one call if all it needs is known; its results go into `values`."""

    def value(name: str) -> Any:
        number = values[name]
        ty = dae.variables[name].ty if name in dae.variables else None
        return int(number) if ty == INTEGER else bool(number) if ty == BOOLEAN else number

    try:
        result = evaluator.evaluate(e.call, value)
    except (NotConstant, EvaluationError):
        return False
    outputs = result if isinstance(result, tuple) else (result,)
    for targets, output in zip(e.targets, outputs, strict=False):
        for target, scalar in zip(targets, _scalars(output), strict=False):
            if isinstance(target, Ref) and isinstance(scalar, int | float):
                values[target.name] = float(scalar)
    return True


def _scalars(value: Any) -> Iterator[Any]:
    """Scalar by scalar, in the order of fields and rows."""
    if isinstance(value, dict):
        for field in value.values():
            yield from _scalars(field)
    elif isinstance(value, ArrayValue):
        for element in value.data:
            yield from _scalars(element)
    else:
        yield value
