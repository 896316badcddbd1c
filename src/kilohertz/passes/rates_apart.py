"""Calls of derivative functions are linear in the rates they are given (MLS 12.7.1): written so in the loops of rates.

  h_der(p, T, der(p), der(T))  ->  h_der(p, T, 1, 0)*der(p) + h_der(p, T, 0, 1)*der(T)      der(p), der(T) unknown

As one call it would make the loop nonlinear, and Newton's method would ask for the derivative of the derivative.  The
calls that are left depend on what is known: they are evaluated once, as entries of a matrix.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from kilohertz.ir import make, traverse
from kilohertz.ir.dae import AnyEquation, Equation
from kilohertz.ir.expr import Array, Call, Expr
from kilohertz.ir.flat import Function
from kilohertz.ir.ordered import Row
from kilohertz.ir.types import REAL
from kilohertz.passes.algebra import Occurrence
from kilohertz.passes.function_derivative import generated_from


def rates_apart(
    rows: Sequence[Row], names: Collection[str], functions: Mapping[str, Function], occurrence: Occurrence
) -> tuple[Row, ...]:
    """The rows of a loop with these unknowns; a row that has no such call stays the object it is."""
    splitting = _Splitting(frozenset(names), functions, occurrence)
    return tuple(splitting.row(r) for r in rows)


class _Splitting:
    def __init__(self, names: frozenset[str], functions: Mapping[str, Function], occurrence: Occurrence) -> None:
        self._names = names
        self._functions = functions
        self._occurrence = occurrence
        self._rates: dict[str, int] | None = None
        self._memo: dict[Expr, Expr] = {}

    def row(self, row: Row) -> Row:
        e: AnyEquation = row.equation
        if not isinstance(e, Equation) or e.directed:
            return row
        left, right = (traverse.map_expr(side, self._node, self._memo) for side in (e.left, e.right))
        if left is e.left and right is e.right:
            return row
        return replace(row, equation=replace(e, left=left, right=right))

    def _node(self, e: Expr) -> Expr:
        return self._split(e) if isinstance(e, Call) and e.ty == REAL else e

    def _split(self, call: Call) -> Expr:
        n_rates = self._n_rates(call)
        known, rates = call.args[: len(call.args) - n_rates], call.args[len(call.args) - n_rates :]
        if not n_rates or not any(map(self._moves, rates)) or any(map(self._moves, known)):
            return call
        numbers = [x for rate in rates for x in (rate.elements if isinstance(rate, Array) else (rate,))]
        if not all(x.ty == REAL for x in numbers):
            return call  # records, or arrays that are not written element by element
        moving = [k for k, x in enumerate(numbers) if self._moves(x)]
        resting = [make.ZERO if k in moving else x for k, x in enumerate(numbers)]
        terms: list[Expr] = [] if all(x is make.ZERO for x in resting) else [_with(call, known, rates, resting)]
        for k in moving:
            unit = [make.ONE if k == i else make.ZERO for i in range(len(numbers))]
            terms.append(make.mul(_with(call, known, rates, unit), numbers[k]))
        total = terms[0]
        for term in terms[1:]:
            total = make.add(total, term)
        return total

    def _moves(self, e: Expr) -> bool:
        return not self._names.isdisjoint(self._occurrence.names(e))

    def _n_rates(self, call: Call) -> int:
        """How many of the last arguments are rates in which the function is linear."""
        if self._rates is None:
            self._rates = _annotated(self._functions)
        f = self._functions.get(call.function)
        if f is None or len(call.args) != len(f.inputs):
            return 0
        base = self._functions.get(generated_from(f.id) or "")
        return len(f.inputs) - len(base.inputs) if base is not None else self._rates.get(f.id, 0)


def _annotated(functions: Mapping[str, Function]) -> dict[str, int]:
    """By derivative function: how many inputs it has more than the one it is the derivative of.

    A second derivative is linear in the newest rates alone: what it is the derivative of must be the first one, f(x,
    der(x)), of whose inputs they are at most half.
    """
    counts: dict[str, int] = {}
    for f in functions.values():
        first = next((functions[d.function] for d in f.derivatives if d.order == 1 and d.function in functions), None)
        for d in f.derivatives:
            g, base = functions.get(d.function), f if d.order == 1 or first is None else first
            if g is None:
                continue
            n_rates = len(g.inputs) - len(base.inputs)
            is_next = n_rates <= len(base.inputs) // (1 if d.order == 1 else 2)
            counts[g.id] = min(n_rates if is_next else 0, counts.get(g.id, n_rates))
    return counts


def _with(call: Call, known: Sequence[Expr], rates: Sequence[Expr], numbers: Sequence[Expr]) -> Call:
    """The call with other rates."""
    fresh: list[Expr] = []
    used = 0
    for rate in rates:
        n = len(rate.elements) if isinstance(rate, Array) else 1
        part = tuple(numbers[used : used + n])
        fresh.append(rate.rebuilt(part) if isinstance(rate, Array) else part[0])
        used += n
    return Call(call.function, (*known, *fresh), call.ty)
