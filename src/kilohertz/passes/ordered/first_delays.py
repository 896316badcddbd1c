"""What delays give in the initial system: what goes into them then (MLS 3.7.4.1).

  y = delay(x, T)   ->   y = x          solved in its place in the order, in a loop where x depends on y

Where that determines nothing (`y = delay(y, T) + u` is `0 = u` then; a line without losses between two given voltages),
the start value of what goes in stands for the past, also after the start, with a warning (B223).

Cost: one walk of each equation; of loops with delays a matrix of numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import replace

from kilohertz.base import Diagnostic, Severity
from kilohertz.ir import make, traverse
from kilohertz.ir.dae import Dae, DaeVariable, Delay, Equation, Role
from kilohertz.ir.expr import Expr
from kilohertz.ir.ordered import Component
from kilohertz.ir.types import REAL
from kilohertz.passes.algebra import Occurrence, substitute
from kilohertz.passes.flat.algorithms import default_start
from kilohertz.passes.numeric import Numeric
from kilohertz.passes.ordered.given_numbers import slope
from kilohertz.passes.ordered.present import line_of
from kilohertz.passes.ordered.solving_order import names_in
from kilohertz.passes.ordered.trial_point import is_regular, number_of

_LARGE = 400  # unknowns of a loop that is taken for a regular one: its matrix would take seconds
_KNOWN = (Role.PARAMETER, Role.CONSTANT, Role.INPUT, Role.OBJECT)


class FirstDelays:
    """Puts what delay lines record in place of what they give; for those in `past` its start value."""

    def __init__(self, dae: Dae, past: Container[int]) -> None:
        self._first = {d.index: _start(dae, d) if d.index in past else d.source for d in dae.delays}

    def of(self, e: Expr) -> Expr:
        if not self._first or not any(line_of(node) is not None for node in traverse.walk(e)):
            return e

        def f(node: Expr) -> Expr:
            line = line_of(node)
            return node if line is None else self._first[line]

        return traverse.map_expr(e, f)


def undetermined(
    dae: Dae, components: Iterable[Component], values: Mapping[str, float], occurrence: Occurrence
) -> list[Delay]:
    """The delays that stand in a loop of the initial system which has no solution, or many."""
    lines: dict[str, list[Delay]] = {}
    for d in dae.delays:
        lines.setdefault(d.source.name, []).append(d)
    numeric = Numeric(values, number_of)
    found: list[Delay] = []
    for c in components if lines else ():
        inside = [d for u in c.unknowns for d in lines.get(u.name, ())]
        if inside and not _is_regular(c, numeric, occurrence):
            found += inside
    return found


def with_past(dae: Dae, lost: Collection[Delay]) -> list[Delay]:
    """The delay lines of a model; those in `lost` give their start value until what went in at the start comes out."""
    return [replace(d, past=_start(dae, d)) if d in lost else d for d in dae.delays]


def warning(d: Delay) -> Diagnostic:
    text = "at the start a delay gives what goes into it, which determines nothing here: its start value is the past"
    return Diagnostic("B223", text, d.origin.spans[0] if d.origin.spans else None, severity=Severity.WARNING)


def _is_regular(c: Component, numeric: Numeric, occurrence: Occurrence) -> bool:
    """Also where too little is known to tell."""
    place = {u.name: k for k, u in enumerate(c.unknowns)}
    if len(place) > _LARGE or any(u.ty != REAL for u in c.unknowns):
        return True
    entries: list[tuple[int, int, float]] = []
    for k, row in enumerate(c.rows):
        e = row.equation
        if not isinstance(e, Equation):
            return True
        for name in (n for n in names_in(e, occurrence) if n in place):
            value = slope(e, name, numeric)
            if value is None:
                return True
            entries.append((k, place[name], value))
    return is_regular(len(place), entries)


def _start(dae: Dae, d: Delay) -> Expr:
    """The start of what goes in; of an expression its value with the starts of all in it that have one."""
    v = dae.variables[d.source.name]
    if v.start is None:
        whole = next((e.right for e in dae.equations if isinstance(e, Equation) and e.left is d.source), None)
        if whole is not None:
            read = {r.name: dae.variables[r.name] for r in traverse.refs(whole) if r.name in dae.variables}
            known = substitute(whole, {n: _own(u) for n, u in read.items() if u.role not in _KNOWN})
            return traverse.map_expr(
                known, lambda node: _own_of(dae, line) if (line := line_of(node)) is not None else node
            )
    return _own(v)


def _own_of(dae: Dae, line: int) -> Expr:
    return _own(dae.variables[dae.delays[line].source.name])


def _own(v: DaeVariable) -> Expr:
    start = v.start if v.start is not None else default_start(v.ty)
    return make.to_real(start) if v.ty == REAL else start
