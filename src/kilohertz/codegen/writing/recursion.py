"""Functions that call themselves, alone or round a circle: they count how deep they are (khz_enters)."""

from __future__ import annotations

from collections.abc import Mapping

from kilohertz.graphs import strong_components
from kilohertz.ir.expr import Call, FunctionRef
from kilohertz.ir.flat import Function
from kilohertz.ir.traverse import function_expressions, walk_all


def circles(functions: Mapping[str, Function]) -> dict[str, tuple[str, ...]]:
    """For each function that may call itself again: those of its circle, in the order of the table."""
    ids = list(functions)
    place = {id: k for k, id in enumerate(ids)}
    called = [
        [place[e.function] for e in walk_all(function_expressions(f)) if _names(e) and e.function in place]  # type: ignore[attr-defined]
        for f in functions.values()
    ]
    found: dict[str, tuple[str, ...]] = {}
    for members in strong_components(called):
        if len(members) > 1 or members[0] in called[members[0]]:
            names = tuple(ids[k] for k in members)
            found.update(dict.fromkeys(names, names))
    return found


def _names(e: object) -> bool:
    """Whether an expression calls a function, or hands one over to be called."""
    return isinstance(e, Call | FunctionRef)
