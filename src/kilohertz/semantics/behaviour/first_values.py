"""First values of outputs and local variables of a function, in an order in which they are known (MLS 12.4.4)."""

from __future__ import annotations

from kilohertz.base import Diagnostic, ModelError
from kilohertz.graphs import strong_components
from kilohertz.ir import traverse
from kilohertz.ir.expr import Ref
from kilohertz.ir.flat import Assign, Function, Local


def order_values(function: Function, has_body: bool) -> list[Assign]:
    """Local variables come after those that they need.  Given back: values that are to be set where the body begins;
    without one, of an external function, the call itself sees to its outputs."""
    order = _by_need(function, [*function.outputs, *function.locals] if has_body else function.locals)
    late = _late_values(function, order) if has_body else []
    outputs = {x.name for x in function.outputs}
    function.locals = [x for x in order if x.name not in outputs]
    return late


def _by_need(function: Function, declared: list[Local]) -> list[Local]:
    """Variables in an order in which each one's value and sizes need those before it (MLS 12.4.4)."""
    needs = _needs(declared)
    ordered = []
    for members in strong_components(needs):
        if len(members) > 1 or members[0] in needs[members[0]]:
            names = ", ".join(f"`{declared[i].name}`" for i in members)
            text = f"in `{function.id}` the value of a local variable depends on itself: {names}"
            raise ModelError(Diagnostic("S234", text, function.origin.spans[0] if function.origin.spans else None))
        ordered.append(declared[members[0]])
    return ordered


def _needs(declared: list[Local]) -> list[list[int]]:
    """For each variable the places of those that its value and sizes read."""
    place = {local.name: i for i, local in enumerate(declared)}
    needs = []
    for local in declared:
        said = [e for e in (local.default, *local.dims) if e is not None]
        needs.append(list(dict.fromkeys(place[r.name] for e in said for r in traverse.refs(e) if r.name in place)))
    return needs


def _late_values(function: Function, order: list[Local]) -> list[Assign]:
    """Outputs have their first values before local variables do.  Those that read local ones, and all that read these
    outputs, are set where the body begins."""
    is_output = {x.name for x in function.outputs}
    late: list[Assign] = []
    late_names: set[str] = set()
    all_needs = _needs(order)
    for i, local in enumerate(order):
        needs = [order[k].name for k in all_needs[i]]
        reads_late = any(n in late_names or (local.name in is_output and n not in is_output) for n in needs)
        if reads_late and local.default is not None:
            late.append(Assign(Ref(local.name, local.ty), local.default, function.origin))
            late_names.add(local.name)
            local.default = None
    return late
