"""Reads clocked partitions and ticks as `flat_printer` prints them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from kilohertz.ir.expr import Str
from kilohertz.ir.flat import ClockPartition, Flat
from kilohertz.ir.text.expr_reader import ExprReader
from kilohertz.ir.ticks import ScalarFlat, Tick


def read_clocks(e: ExprReader, variable_name: Callable[[], str], flat: Flat) -> Flat:
    """The model with the clocks that stand here; with ticks it is scalar."""
    ticks: list[Tick] = []
    while e.at_clock():
        is_tick = e.take("name") == "tick"
        key = None if e.accept("continuous") else int(e.take("number"))
        parts = _parts(e, variable_name)
        e.expect(";")
        if is_tick and key is not None:
            ticks.append(_tick(key, parts))
        else:
            flat.clocks.append(_partition(key, parts))
    if not ticks:
        return flat
    fields = {name: getattr(flat, name) for name in Flat.__dataclass_fields__}
    return ScalarFlat(**fields, ticks=ticks)


def _parts(e: ExprReader, variable_name: Callable[[], str]) -> dict[str, Any]:
    parts: dict[str, Any] = {"every": Fraction(1), "from": Fraction(0)}
    while not e.peek(";"):
        word = e.take("name")
        if word in ("every", "from"):
            parts[word] = _fraction(e)
        elif word in ("equations", "algorithms"):
            parts[word] = _listed(e, lambda: int(e.take("number")))
        elif word == "variables":
            parts[word] = _listed(e, variable_name)
        else:
            parts[word] = e.expression()
    return parts


def _fraction(e: ExprReader) -> Fraction:
    sign = -1 if e.accept("-") else 1
    numerator = int(e.take("number"))
    e.expect("/")
    return Fraction(sign * numerator, int(e.take("number")))


def _listed(e: ExprReader, item: Callable[[], Any]) -> tuple[Any, ...]:
    items = [item()]
    while e.accept(","):
        items.append(item())
    return tuple(items)


def _tick(key: int, parts: dict[str, Any]) -> Tick:
    known = (parts.get("period"), parts.get("condition"), parts.get("first"))
    solver = parts.get("solver")
    method = solver.value if isinstance(solver, Str) else ""
    return Tick(key, parts["every"], parts["from"], *known, parts.get("variables", ()), method)


def _partition(base: int | None, parts: dict[str, Any]) -> ClockPartition:
    numbers = (parts.get("equations", ()), parts.get("algorithms", ()), parts.get("variables", ()))
    solver = parts.get("solver")
    clock = parts.get("by")
    return ClockPartition(base, clock, parts["every"], parts["from"], solver, *numbers)
