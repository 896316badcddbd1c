"""Choose which derivatives become dummies: columns of a constraint Jacobian, least wanted states first.

The Jacobian of the differentiated constraints by the candidate derivatives is evaluated near the start: state
candidates have their start values, moved a little so that a symmetric position does not hide what holds everywhere
else; other variables follow from the equations that give them.  Columns are taken in order of preference, and among
equals by the largest pivot, as long as they raise the rank.  Where that does not do, all values are pseudo-random.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kilohertz.base import Diagnostic, ModelError, Origin
from kilohertz.ir import build
from kilohertz.ir.dae import Dae, DaeVariable, Equation, Role, print_equation
from kilohertz.ir.expr import Call, Expr, Ref
from kilohertz.passes.algebra import Occurrence, linear_parts, simplify
from kilohertz.passes.derivative import Differentiator, NoDerivative
from kilohertz.passes.numeric import Numeric
from kilohertz.passes.parameter_values import parameter_values

CallRule = Callable[[Call, list[Expr], int | None], Expr]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A derivative by its name, and the variable it is the derivative of (None: itself a derivative)."""

    name: str
    integral: DaeVariable | None


@dataclass(frozen=True, slots=True)
class Explicit:
    """A row that computes `target` from other names, in a way that is not known here (a call)."""

    target: str
    names: tuple[str, ...]
    origin: Origin = Origin()


class Points:
    """Where Jacobians are evaluated: near the start, and anywhere."""

    def __init__(self, dae: Dae) -> None:
        self._dae = dae
        self._made: dict[int, Numeric] = {}

    def __getitem__(self, attempt: int) -> Numeric:
        if attempt not in self._made:
            values = near_start(self._dae) if attempt == 0 else parameter_values(self._dae)
            self._made[attempt] = Numeric(values, lambda r: _scatter(r.name))
        return self._made[attempt]


def choose(
    equations: list[Equation | Explicit], options: list[Candidate], points: Points, call_rule: CallRule | None
) -> list[int]:
    """Positions of the candidates that become dummies, as many as there are equations."""
    jacobian = _jacobian(equations, options, call_rule)
    groups = _groups(options)
    for attempt in range(2):
        values = points[attempt]
        numbers = [[_entry(e, values, i, j) for j, e in enumerate(row)] for i, row in enumerate(jacobian)]
        picked = _columns(numbers, groups, _weights(options))
        if len(picked) == len(equations):
            return sorted(picked)
    e = equations[0]
    span = e.origin.spans[0] if e.origin.spans else None
    shown = print_equation(e)[:200] if isinstance(e, Equation) else f"call for {e.target}"
    text = f"no states can be chosen for this constraint: {shown}"
    raise ModelError(Diagnostic("B208", text, span))


def _jacobian(
    equations: list[Equation | Explicit], options: list[Candidate], call_rule: CallRule | None
) -> list[list[Expr | None]]:
    occurrence = Occurrence()
    rows: list[list[Expr | None]] = []
    position = {o.name: j for j, o in enumerate(options)}
    for e in equations:
        if isinstance(e, Explicit):
            rows.append(
                [build.ONE if o.name == e.target else None if o.name in e.names else build.ZERO for o in options]
            )
            continue
        residual = build.sub(e.left, e.right)
        row: list[Expr | None] = [build.ZERO] * len(options)
        for name in occurrence.names(residual):
            j = position.get(name)
            if j is None:
                continue
            try:
                row[j] = simplify(Differentiator(_seed(name), call_rule)(residual))
            except NoDerivative:
                row[j] = None
        rows.append(row)
    return rows


def _seed(name: str) -> Callable[[Ref], Expr]:
    return lambda r: build.ONE if r.name == name else build.ZERO


def _groups(options: list[Candidate]) -> list[list[int]]:
    """Candidates by how little their integral is wanted as a state."""

    def key(j: int) -> tuple[int, bool]:
        v = options[j].integral
        return (0, False) if v is None else (v.select.value, v.fixed)

    by_key: dict[tuple[int, bool], list[int]] = {}
    for j in range(len(options)):
        by_key.setdefault(key(j), []).append(j)
    return [by_key[k] for k in sorted(by_key)]


def _weights(options: list[Candidate]) -> list[float]:
    """A variable with a start given stays a state unless its pivot is ten times better."""
    return [0.1 if o.integral is not None and o.integral.start is not None else 1.0 for o in options]


def near_start(dae: Dae) -> dict[str, float]:
    """Numbers for variables near the start: parameters, state candidates, and what follows from them one by one."""
    values = parameter_values(dae)
    numeric = Numeric(values)
    found: dict[str, float] = {"time": 0.0}
    for v in dae.variables.values():
        if v.role not in (Role.STATE, Role.DISCRETE, Role.INPUT):
            continue
        start = 0.0 if v.start is None else numeric(v.start)
        if start is not None:
            moved = 1e-3 * (_scatter(v.name) - 1.0) * max(1.0, abs(start)) if v.role is Role.STATE else 0.0
            found[v.name] = start + moved
    values.update(found)
    _follow([e for e in dae.equations if isinstance(e, Equation)], values)
    return values


def _follow(equations: list[Equation], values: dict[str, float]) -> None:
    """Work out what an equation gives as soon as one name in it is left without a value; definitions first."""
    occurrence = Occurrence()
    open_names: list[set[str]] = []
    waiting: dict[str, list[int]] = {}
    ready: list[tuple[int, int]] = []
    for i, e in enumerate(equations):
        names = {n for n in (*occurrence.names(e.left), *occurrence.names(e.right)) if n not in values}
        open_names.append(names)
        for n in sorted(names):
            waiting.setdefault(n, []).append(i)
        if len(names) == 1:
            ready.append((_reluctance(e, names), i))
    heapq.heapify(ready)
    while ready:
        _, i = heapq.heappop(ready)
        if len(open_names[i]) != 1:
            continue
        (name,) = open_names[i]
        value = _given(equations[i], name, values)
        if value is None:
            continue
        values[name] = value
        for j in waiting[name]:
            open_names[j].discard(name)
            if len(open_names[j]) == 1:
                heapq.heappush(ready, (_reluctance(equations[j], open_names[j]), j))


def _reluctance(e: Equation, names: set[str]) -> int:
    """0: it defines the name as written, 1: read from right to left, 2: it has to be solved."""
    if isinstance(e.left, Ref) and e.left.name in names:
        return 0
    return 1 if isinstance(e.right, Ref) and e.right.name in names else 2


def _given(e: Equation, name: str, values: dict[str, float]) -> float | None:
    numeric = Numeric(values)
    if isinstance(e.left, Ref) and e.left.name == name:
        return numeric(e.right)
    if isinstance(e.right, Ref) and e.right.name == name:
        return numeric(e.left)
    parts = linear_parts(build.sub(e.left, e.right), name)
    if parts is None:
        return None
    a, b = numeric(parts[0]), numeric(parts[1])
    return None if not a or b is None else -b / a


def _scatter(name: str) -> float:
    """A number between 0.5 and 1.5 that depends on the name alone."""
    h = 2166136261
    for ch in name:
        h = (h ^ ord(ch)) * 16777619 & 0xFFFFFFFF
    return 0.5 + h / 0xFFFFFFFF


def _entry(e: Expr | None, values: Numeric, i: int, j: int) -> float:
    if e is None:
        return _scatter(f"{i},{j}")
    value = values(e)
    return _scatter(f"{i},{j}") if value is None else float(value)


def _columns(a: list[list[float]], groups: list[list[int]], weights: list[float]) -> list[int]:
    """Gaussian elimination that takes columns group by group, in each the largest pivot first."""
    m = np.array(a, dtype=float)
    scale = float(np.abs(m).max()) if m.size else 0.0
    weight = np.array(weights)
    open_rows = np.ones(len(a), dtype=bool)
    picked: list[int] = []
    for group in groups:
        left = list(group)
        while left and open_rows.any():
            rows = np.flatnonzero(open_rows)
            part = np.abs(m[rows][:, left]) * weight[left]
            at = int(part.argmax())  # the first of equals: ties go to the lower row, then column
            i, k = divmod(at, len(left))
            if part[i, k] <= 1e-9 * scale or part[i, k] == 0.0:
                break
            row, column = int(rows[i]), left.pop(k)
            open_rows[row] = False
            rest = np.flatnonzero(open_rows)
            m[rest] -= np.outer(m[rest, column] / m[row, column], m[row])
            picked.append(column)
    return picked
