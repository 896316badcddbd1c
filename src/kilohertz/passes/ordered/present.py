"""Delays that are shorter than a step give what goes into them now, or a moment ago within the step.

  y = delay(x, T)            ->   y = delay(k, T, x)             x is computed first: what is newer than the last point
                                                                 that was recorded lies between that and x
  y = delay(x, d, longest)   ->   y = past(k, d) + part(k, d)*x  where d may be zero: y may stand in a loop with x
  x = u - delay(x, T)        ->   x = u - delay(k, T)            x depends on what it was, no step ago at least
  transport(k, end, x)       ->   transport(k, end, x, in0, in1, positive)    likewise, of spatialDistribution

A delay is known to last where its time is a positive number as translated, or has a positive lower bound.  Of those in
a ring all that last longest give up the present, again and again until none is left in one.

Cost: one walk of each equation of a model with delays, and its strong components once for each such turn.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from kilohertz.ir import make, traverse
from kilohertz.ir.dae import AnyEquation, Dae, Equation, roots
from kilohertz.ir.expr import Builtin, Call, Expr, IfExp, Int, Ref
from kilohertz.ir.ordered import Component
from kilohertz.ir.types import REAL
from kilohertz.passes.algebra import Occurrence
from kilohertz.passes.numeric import Numeric
from kilohertz.passes.ordered.solving_order import Matched, Vanishing, components, matched

Line: TypeAlias = tuple[str, int]  # "delay" or "transport", and its number

_TURNS = 20  # then every delay in a ring gives up the present


def order_with_delays(
    dae: Dae,
    values: Mapping[str, float],
    equations: Sequence[AnyEquation],
    unknowns: Sequence[Ref],
    occurrence: Occurrence,
    vanishing: Vanishing,
) -> tuple[Component, ...]:
    """Components in order of computation, what goes into a delay before what it gives wherever that is possible."""
    system = matched(equations, unknowns, occurrence, vanishing)
    if not dae.delays and not dae.transports:
        return components(*system)
    return _Delays(dae, values, system).components()


def with_present(dae: Dae, e: Expr) -> Expr:
    """What is looked at when everything is computed."""
    if not (dae.delays or dae.transports) or not _lines_in((e,)):
        return e
    return traverse.map_expr(e, lambda node: node if _line(node) is None else _known(dae, node))


def line_of(node: Expr) -> int | None:
    """The number of the delay line that is read."""
    line = _line(node)
    return line[1] if line is not None and line[0] == "delay" else None


def _line(node: Expr) -> Line | None:
    if isinstance(node, Builtin) and node.name in ("delay", "transport") and isinstance(node.args[0], Int):
        return node.name, node.args[0].value
    return None


def _sources(dae: Dae, line: Line) -> tuple[Ref, ...]:
    """What goes into a line."""
    kind, number = line
    if kind == "delay":
        return (dae.delays[number].source,)
    at_zero, at_one, _, direction = dae.transports[number].sources
    return at_zero, at_one, direction


def _known(dae: Dae, node: Expr) -> Expr:
    line = _line(node)
    assert isinstance(node, Builtin) and line is not None
    return node.rebuilt((*node.args, *_sources(dae, line)))


def _lines_in(expressions: Iterable[Expr]) -> dict[Line, Expr]:
    """The lines that are read, with the time of each; of a transport no matter what."""
    nodes = ((_line(node), node) for node in traverse.walk_all(expressions))
    return {line: node.args[1] for line, node in nodes if line is not None and isinstance(node, Builtin)}


class _Delays:
    """The lines that a system reads, and which of them are known before what goes into them."""

    def __init__(self, dae: Dae, values: Mapping[str, float], system: Matched) -> None:
        self._dae, self._system = dae, system
        self._reads = [_lines_in(roots(row.equation)) for row in system.rows]
        least = _Least(dae, values)
        self._lasts = {
            line: least(time) if line[0] == "delay" else math.inf for read in self._reads for line, time in read.items()
        }
        self._past: set[tuple[int, Line]] = set()  # equations, by id, and lines that they read without the present

    def components(self) -> tuple[Component, ...]:
        for turn in range(_TURNS + 1):
            found = components(*self._system._replace(touched=self._touched()))
            rings = self._rings(found)
            if not rings:
                break
            longest = max(self._lasts[line] for _, line in rings)
            self._past |= {(e, line) for e, line in rings if self._lasts[line] == longest or turn == _TURNS - 1}
        rewritten = {id(row.equation): self._equation(row.equation) for row in self._system.rows}
        return tuple(_with_equations(c, rewritten) for c in found)

    def _touched(self) -> list[list[int]]:
        """The unknowns in each row, with what goes into delays."""
        touched = []
        for row, columns, read in zip(self._system.rows, self._system.touched, self._reads, strict=True):
            lines = [line for line in read if (id(row.equation), line) not in self._past]
            names = (source.name for line in lines for source in _sources(self._dae, line))
            touched.append([*columns, *(self._system.place[n] for n in names if n in self._system.place)])
        return touched

    def _rings(self, found: Sequence[Component]) -> list[tuple[int, Line]]:
        """Equations that read a lasting delay of what is computed with them."""
        rings = []
        for c in found:
            names = {u.name for u in c.unknowns}
            for row in c.rows:
                for line in _lines_in(roots(row.equation)):
                    key = (id(row.equation), line)
                    inside = any(source.name in names for source in _sources(self._dae, line))
                    if inside and self._lasts[line] > 0.0 and key not in self._past:
                        rings.append(key)
        return rings

    def _equation(self, e: AnyEquation) -> AnyEquation:
        lines = _lines_in(roots(e))
        if not lines:
            return e

        def f(node: Expr) -> Expr:
            line = _line(node)
            return node if line is None or (id(e), line) in self._past else self._given(line, node)

        def g(x: Expr) -> Expr:
            return traverse.map_expr(x, f)

        if isinstance(e, Equation):
            return replace(e, left=g(e.left), right=g(e.right))
        call = g(e.call)
        assert isinstance(call, Call)
        return replace(e, call=call, guard=e.guard and g(e.guard))

    def _given(self, line: Line, node: Expr) -> Expr:
        if self._lasts[line] > 0.0:
            return _known(self._dae, node)
        assert isinstance(node, Builtin)
        past, part = (Builtin(name, node.args[:2], REAL) for name in ("past", "part"))
        return make.add(past, make.mul(part, make.to_real(self._dae.delays[line[1]].source)))


def _with_equations(c: Component, rewritten: Mapping[int, AnyEquation]) -> Component:
    rows = tuple(replace(row, equation=rewritten[id(row.equation)]) for row in c.rows)
    return replace(c, rows=rows)


class _Least:
    """What an expression is at least; zero where that is not known."""

    def __init__(self, dae: Dae, values: Mapping[str, float]) -> None:
        self._dae, self._numeric = dae, Numeric(values)

    def __call__(self, e: Expr) -> float:
        value = self._numeric(e)
        if value is not None:
            return value
        match e:
            case Ref(name) if (v := self._dae.variables.get(name)) is not None and v.min is not None:
                return self._numeric(v.min) or 0.0
            case IfExp():
                return min(self(e.then), self(e.otherwise))
            case Builtin("max", args) if len(args) == 2:
                return max(map(self, args))
            case Builtin("min", args) if len(args) == 2:
                return min(map(self, args))
        return 0.0
