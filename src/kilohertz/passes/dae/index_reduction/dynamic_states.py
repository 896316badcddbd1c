"""Dynamic state selection: which of the candidates are states is decided in the run, by the constraint Jacobian.

  x^2 + y^2 = 1, states of the position: one of {x, y}
  ->  $state1[1] = pre($select1[1,1])*x + pre($select1[1,2])*y          $select1: a row of zeros with a single one
      der($state1[1]) = pre($select1[1,1])*der(x) + pre($select1[1,2])*der(y)
      $quality1 = how good the pivots of the present choice are, against the best ones: 1 good, 0 singular
      initial equation: pre($select1) = the first choice, or a better one where that is bad at the start
      when $quality1 < 0.2:  $select1 := columns without a pivot;  reinit($state1[1], $select1[1,:]*{x, y})

All candidates become algebraic: they follow from the constraints and the states, in one loop whose structure never
changes, and keep their names.  Only discrete values change, in an ordinary state event, so every solver and the
fixed-cost stepper can run it.  The choice enters as `pre`: in the event that changes it, the old one still gives the
candidates their values, from which the new states are read.  Positions and velocities with the same constraint
Jacobian share one choice.

Paper: Mattsson, Olsson, Elmqvist, Dynamic Selection of States in Dymola, Modelica Workshop 2000.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kilohertz.base import Origin
from kilohertz.ir import make
from kilohertz.ir.dae import (
    NOT_INITIAL,
    AnyEquation,
    CallEquation,
    Crossing,
    Dae,
    DaeVariable,
    Equation,
    Reinit,
    Role,
    Selection,
    When,
    der_name,
    pre_name,
)
from kilohertz.ir.expr import Array, Call, Expr, Real, Ref
from kilohertz.ir.flat import Purpose
from kilohertz.ir.types import BOOLEAN, REAL, TupleType, Type

WORST = 0.2  # quality at which another choice is made; a fresh one has about 1
ALWAYS = 2.0  # no choice is as good as that: what the event asks for is made


@dataclass(frozen=True, slots=True)
class Candidates:
    """One level of one choice: variables, their derivatives, and which of them are states at the start."""

    names: tuple[str, ...]
    rates: tuple[str, ...]
    states: tuple[int, ...]  # positions in `names`
    n_forced: int
    jacobian: tuple[tuple[Expr, ...], ...]


@dataclass(frozen=True, slots=True)
class _Choice:
    """The matrix that says which candidate is which state, and when it changes."""

    matrix: tuple[tuple[Ref, ...], ...]
    guard: Expr


class DynamicStates:
    """Adds choices to a Dae that is being built."""

    def __init__(self, dae: Dae, equations: list[AnyEquation]) -> None:
        self._dae = dae
        self._equations = equations
        self._choices: dict[tuple[str, ...], _Choice] = {}
        self._origin = Origin()

    def add(self, c: Candidates) -> tuple[str, ...]:
        """States for one set of candidates; their names."""
        known = (self._dae.variables.get(n) for n in c.names)
        self._origin = next((v.origin for v in known if v is not None), Origin())
        choice = self._choices.get(c.rates)
        if choice is None or len(choice.matrix) != len(c.states):
            choice = self._new_choice(c)
        self._choices[c.names] = choice
        states = self._new_states(c)
        old = [[Ref(pre_name(a.name), REAL) for a in row] for row in choice.matrix]
        for s, row in zip(states, old, strict=True):
            self._equations.append(Equation(Ref(s, REAL), _product(row, c.names), self._origin))
            self._equations.append(Equation(Ref(der_name(s), REAL), _product(row, c.rates), self._origin))
        actions = tuple(
            Reinit(Ref(s, REAL), _product(row, c.names), self._origin)
            for s, row in zip(states, choice.matrix, strict=True)
        )
        self._dae.whens.append(When(choice.guard, actions, self._origin))
        first = [c.names[j] for j in c.states]
        others = [n for n in c.names if n not in first]
        self._dae.selections.append(Selection((*first, *others), states))
        listed = ", ".join(c.names)
        self._dae.notes.append(f"{len(states)} of {{{listed}}} chosen as states in the run")
        return states

    def _new_states(self, c: Candidates) -> tuple[str, ...]:
        number = len(self._dae.selections) + 1
        names = tuple(f"$state{number}[{i + 1}]" for i in range(len(c.states)))
        for name, j in zip(names, c.states, strict=True):
            like = self._dae.variables.get(c.names[j])
            nominal = like.nominal if like is not None else None
            self._add(DaeVariable(name, REAL, Role.STATE, nominal=nominal, protected=True, origin=self._origin))
        return names

    def _add(self, v: DaeVariable) -> Ref:
        self._dae.variables[v.name] = replace(v, purpose=Purpose.MADE)
        return v.ref

    def _new_choice(self, c: Candidates) -> _Choice:
        number = len(self._dae.selections) + 1
        at = self._origin
        matrix: list[tuple[Ref, ...]] = []
        for i, selected in enumerate(c.states):
            row = []
            for j in range(len(c.names)):
                name = f"$select{number}[{i + 1},{j + 1}]"
                start = Real(1.0 if j == selected else 0.0)
                row.append(self._add(DaeVariable(name, REAL, Role.DISCRETE, start=start, protected=True, origin=at)))
            matrix.append(tuple(row))
        quality = self._add(DaeVariable(f"$quality{number}", REAL, Role.ALGEBRAIC, protected=True, origin=at))
        due = self._add(DaeVariable(f"$reselect{number}", BOOLEAN, Role.RELATION, protected=True, origin=at))
        guard = make.and_(due, NOT_INITIAL)
        before = [[Ref(pre_name(a.name), REAL) for a in row] for row in matrix]
        call = self._call(c, before, ALWAYS)
        dropped = (None,) * (len(c.states) * len(c.names))
        relation = make.relation("<", quality, Real(WORST))
        self._equations += [
            CallEquation(((quality,), dropped), call, at),
            Equation(due, relation, at, directed=True),
            CallEquation(((None,), tuple(a for row in matrix for a in row)), call, at, guard),
        ]
        self._dae.crossings.append(Crossing(len(self._dae.crossings), relation, at))
        first = [[Real(1.0 if j == selected else 0.0) for j in range(len(c.names))] for selected in c.states]
        at_start = self._call(c, first, WORST)
        self._dae.initial_equations.append(
            CallEquation(((None,), tuple(a for row in before for a in row)), at_start, at)
        )
        return _Choice(tuple(matrix), guard)

    def _call(self, c: Candidates, old: Sequence[Sequence[Expr]], enough: float) -> Call:
        n_rows, n_columns = len(c.jacobian), c.n_forced + len(c.names)
        k, n = len(c.states), len(c.names)
        name = f"$select_states_{n_rows}_{c.n_forced}_{n}"
        if name not in self._dae.functions:
            from kilohertz.ir import read_function  # in models with such states alone

            self._dae.functions[name] = read_function(function_text(name, n_rows, c.n_forced, n))
        out = Type(TupleType((REAL, REAL.array_of(k, n))))
        assert all(len(row) == n_columns for row in c.jacobian)
        return Call(name, (_matrix(c.jacobian), _matrix(old), Real(enough)), out)


def _matrix(rows: Sequence[Sequence[Expr]]) -> Expr:
    lines: list[Expr] = [Array(tuple(row), REAL.array_of(len(row))) for row in rows]
    return Array(tuple(lines), REAL.array_of(len(rows), len(rows[0])))


def _product(row: Sequence[Ref], names: Sequence[str]) -> Expr:
    total: Expr = make.ZERO
    for a, name in zip(row, names, strict=True):
        total = make.add(total, make.mul(a, Ref(name, REAL)))
    return total


def function_text(name: str, n_rows: int, n_forced: int, n: int) -> str:
    """The choice as a function: elimination with full pivoting, once on the dummies as they are, once on all columns.

    The first `n_forced` columns always give the first pivots.  Its result is the quality (the product of the pivots
    against that of the free choice) and the new selection, the old one where its quality is `enough`.  Where the
    Jacobian has no full rank, nothing is changed.
    """
    return _FUNCTION.format(name=name, m=n_rows, z=n_forced, n=n, c=n_forced + n, k=n - n_rows + n_forced)


_FUNCTION = """function {name}
  input Real[{m}, {c}] J;
  input Real[{k}, {n}] old;
  input Real enough;
  output Real quality;
  output Real[{k}, {n}] selected;
protected
  Real[{m}, {c}] L;
  Integer[{c}] open;
  Real most;
  Real factor;
  Real own;
  Real product;
  Integer row;
  Integer column;
  Integer last;
  Integer count;
algorithm
  own := 0.0;
  product := 0.0;
  for turn in 1:2 loop
    for i in 1:{m} loop
      most := 0.0;
      for j in 1:{c} loop
        most := max(most, abs(J[i, j]));
      end for;
      for j in 1:{c} loop
        L[i, j] := if most > 0.0 then J[i, j]/most else 0.0;
      end for;
    end for;
    for j in 1:{c} loop
      open[j] := 1;
      if turn == 1 and j > {z} then
        for i in 1:{k} loop
          open[j] := if old[i, j - {z}] > 0.5 then 0 else open[j];
        end for;
      end if;
    end for;
    product := 1.0;
    for i in 1:{m} loop
      most := 0.0;
      row := i;
      column := 1;
      last := if i <= {z} then {z} else {c};
      for r in i:{m} loop
        for j in 1:last loop
          if open[j] == 1 and abs(L[r, j]) > most then
            most := abs(L[r, j]);
            row := r;
            column := j;
          end if;
        end for;
      end for;
      product := if most > 1e-9 then product*most else 0.0;
      if most > 1e-9 then
        open[column] := 0;
        for j in 1:{c} loop
          factor := L[row, j];
          L[row, j] := L[i, j];
          L[i, j] := factor;
        end for;
        for r in (i + 1):{m} loop
          factor := L[r, column]/L[i, column];
          for j in 1:{c} loop
            L[r, j] := L[r, j] - factor*L[i, j];
          end for;
        end for;
      end if;
    end for;
    if turn == 1 then
      own := product;
    end if;
  end for;
  quality := if product > 0.0 then own/product else 1.0;
  for i in 1:{k} loop
    for j in 1:{n} loop
      selected[i, j] := 0.0;
    end for;
  end for;
  count := 0;
  for j in 1:{n} loop
    if open[j + {z}] == 1 and count < {k} then
      count := count + 1;
      selected[count, j] := 1.0;
    end if;
  end for;
  if quality >= enough then
    selected := old;
  end if;
end {name};
"""
