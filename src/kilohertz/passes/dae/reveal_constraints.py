"""reveal-constraints: constraints between states that are hidden in several sums become equations.

  c1.v = p - n;  c2.v = n - p            ->   c1.v = p - n;  c2.v + c1.v = 0             (parallel capacitors)

Matching sees two equations for p and n and is content, but their matrix is singular; index reduction has to see the
constraint between the states.  Equations that are sums of variables with literal factors are taken; those that have an
unknown which stands in no other of them are peeled off (they determine it, so nothing is hidden in them), again and
again, and the rest is eliminated in fractions, exactly but for rounding errors of the literals.  A row that loses all
its unknowns but states and what is known from outside takes the place of the equation it came from.  Peeling is linear.
Gives up where more than MOST_ROWS are left, or a row gets more than MOST_TERMS: the equations stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from kilohertz.base import Origin
from kilohertz.ir import make, traverse
from kilohertz.ir.dae import AnyEquation, Dae, Equation, Role
from kilohertz.ir.expr import TIME, Binary, Expr, Real, Ref, Unary
from kilohertz.ir.types import REAL
from kilohertz.passes.contract import Fact, Log, Pass

MOST_ROWS = 3000  # of what is left after peeling
MOST_TERMS = 200  # of a row on the way
ROUNDING = Fraction(1, 10**14)  # of a factor: what is left of it is a rounding error of literals (2/3 - 1/3 - 1/3)
CONSTANT = ""  # stands for the number 1 in a row

Row = dict[str, Fraction]


@dataclass(frozen=True, slots=True)
class RevealConstraints(Pass):
    """Constraints between states that are hidden in several sums become equations."""

    name: ClassVar[str] = "reveal-constraints"
    needs: ClassVar[frozenset[Fact]] = frozenset({Fact.DAE, Fact.ALIAS_FREE, Fact.USED})
    gives: ClassVar[frozenset[Fact]] = frozenset({Fact.REVEALED})

    def run(self, model: Dae, log: Log) -> Dae:
        return _Revealer(model).run()


class _Revealer:
    def __init__(self, dae: Dae) -> None:
        self._dae = dae
        self._set_from_outside = _set_from_outside(dae)
        self._rows: dict[int, Row] = {}
        for i, e in enumerate(dae.equations):
            row = self._row(e)
            if row is not None:
                self._rows[i] = row

    def run(self) -> Dae:
        left = self._peeled()
        if len(left) < 2 or len(left) > MOST_ROWS:
            return self._dae
        equations = list(self._dae.equations)
        pivots: dict[str, Row] = {}
        for i in left:
            row = self._reduced(self._rows[i], pivots)
            if row is None:
                continue
            free = [name for name in row if self._is_free(name)]
            if free:
                scale = row[free[0]]
                pivots[free[0]] = {name: factor / scale for name, factor in row.items()}
            elif any(name != CONSTANT for name in row) and row != self._rows[i]:
                equations[i] = self._equation(row, equations[i].origin)
        return replace(self._dae, equations=equations)

    def _is_free(self, name: str) -> bool:
        """An unknown that equations have to determine at every instant, as they do not for states."""
        v = self._dae.variables.get(name)
        return v is not None and v.role is Role.ALGEBRAIC and name not in self._set_from_outside

    def _row(self, e: AnyEquation) -> Row | None:
        if not isinstance(e, Equation) or e.directed or e.left.ty != REAL:
            return None
        row: Row = {}
        if not _collect(e.left, Fraction(1), row) or not _collect(e.right, Fraction(-1), row):
            return None
        row = {name: factor for name, factor in row.items() if factor}
        return row if all(name == CONSTANT or name in self._dae.variables for name in row) else None

    def _peeled(self) -> list[int]:
        """Rows without an unknown of their own."""
        places: dict[str, set[int]] = {}
        for i, row in self._rows.items():
            for name in row:
                if self._is_free(name):
                    places.setdefault(name, set()).add(i)
        left = set(self._rows)
        waiting = [name for name, rows in places.items() if len(rows) == 1]
        while waiting:
            rows = places[waiting.pop()]
            if len(rows) != 1:
                continue
            i = next(iter(rows))
            left.discard(i)
            for name in self._rows[i]:
                if name in places:
                    places[name].discard(i)
                    if len(places[name]) == 1:
                        waiting.append(name)
        return sorted(left)

    def _reduced(self, row: Row, pivots: dict[str, Row]) -> Row | None:
        row = dict(row)
        waiting = [name for name in row if name in pivots]
        while waiting:
            name = waiting.pop()
            factor = row.get(name)
            if not factor:
                continue
            for other, amount in pivots[name].items():
                before, less = row.get(other, Fraction(0)), factor * amount
                row[other] = before - less
                if abs(row[other]) <= ROUNDING * abs(before):
                    del row[other]
                elif other in pivots:
                    waiting.append(other)
            if len(row) > MOST_TERMS:
                return None
        return row

    def _equation(self, row: Row, origin: Origin) -> Equation:
        total: Expr = make.ZERO
        for name, factor in row.items():
            term: Expr = Real(float(abs(factor)))
            if name != CONSTANT:
                ref = self._dae.variables[name].ref
                term = ref if abs(factor) == 1 else make.mul(term, ref)
            if total is make.ZERO:
                total = make.neg(term) if factor < 0 else term
            else:
                total = make.sub(total, term) if factor < 0 else make.add(total, term)
        return Equation(total, make.ZERO, Origin(origin.spans, origin.path, (*origin.passes, RevealConstraints.name)))


def _collect(e: Expr, factor: Fraction, row: Row) -> bool:
    """Add `factor*e` to a row; False where e is no sum of variables with literal factors."""
    stack = [(e, factor)]
    while stack:
        node, by = stack.pop()
        match node:
            case Ref(name) if node is not TIME:
                row[name] = row.get(name, Fraction(0)) + by
            case Real(value):
                row[CONSTANT] = row.get(CONSTANT, Fraction(0)) + by * Fraction(value)
            case Unary("-", operand):
                stack.append((operand, -by))
            case Binary("+", left, right):
                stack += [(left, by), (right, by)]
            case Binary("-", left, right):
                stack += [(left, by), (right, -by)]
            case Binary("*", Real(value), right):
                stack.append((right, by * Fraction(value)))
            case _:
                return False
    return True


def _set_from_outside(dae: Dae) -> set[str]:
    """Algebraic variables that an equation sets from time, inputs and parameters alone."""
    outside = (Role.PARAMETER, Role.CONSTANT, Role.INPUT)
    names: set[str] = set()
    for e in dae.equations:
        if not isinstance(e, Equation):
            continue
        variable = dae.variables.get(e.left.name) if isinstance(e.left, Ref) else None
        if variable is None or variable.role is not Role.ALGEBRAIC:
            continue
        refs = list(traverse.refs(e.right))
        if all(r is TIME or (r.name in dae.variables and dae.variables[r.name].role in outside) for r in refs):
            names.add(variable.name)
    return names
