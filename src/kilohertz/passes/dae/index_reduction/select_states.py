"""Choose which derivatives become dummies: columns of a constraint Jacobian, least wanted states first.

The Jacobian of the differentiated constraints by the candidate derivatives is evaluated near the start: state
candidates have their start values, moved a little so that a symmetric position does not hide what holds everywhere
else; other variables follow from the equations that give them.  Columns are taken in order of preference, and among
equals by pivots that cannot vanish, then by the largest pivot, as long as they raise the rank (`pivots`).  Where that
does not do, all values are pseudo-random.

The choice is static where every pivot is safe, or where stateSelect alone decides.  Else the candidates of one rank
that the unsafe rows tie together are left to the run (`Dynamic`, see `dynamic_states`); of several ranks, in blocks
that do not depend on one another's choice (`blocks`).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kilohertz.base import Diagnostic, ModelError, Origin
from kilohertz.graphs import UnionFind
from kilohertz.ir import make
from kilohertz.ir.dae import Dae, DaeVariable, Equation, Role, Select, print_equation
from kilohertz.ir.expr import Call, Expr, Ref
from kilohertz.ir.types import REAL
from kilohertz.passes.algebra import Occurrence, linear_parts, simplify
from kilohertz.passes.dae.index_reduction.blocks import blocks
from kilohertz.passes.dae.index_reduction.pivots import Pivot, SparseRow, pivots, reduced
from kilohertz.passes.derivative import Differentiator, NoDerivative
from kilohertz.passes.numeric import Numeric
from kilohertz.passes.parameter_values import parameter_values

BARELY = 2 * Select.NEVER.value + 1  # how much a variable is wanted that the model does not differentiate
CallRule = Callable[[Call, list[Expr], int | None], Expr]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A derivative by its name, the variable it is the derivative of (None: it has no name of its own), and what that
    one is the derivative of in turn: its wishes count too, since position and velocity are chosen together."""

    name: str
    integral: DaeVariable | None
    below: tuple[DaeVariable, ...] = ()
    computed: bool = False  # by a call: it cannot be left to the integrator

    @property
    def _chain(self) -> tuple[DaeVariable, ...]:
        return self.below if self.integral is None else (self.integral, *self.below)

    @property
    def wanted(self) -> int:
        """How much its integral is wanted as a state; an `avoid` anywhere counts more than a `prefer`, an `always` of
        its own more than one of what it is the derivative of."""
        if self.computed or not self._chain:
            return 0
        values = [v.select.value for v in self._chain]
        least, most = min(values), max(values)
        value = least if least < Select.DEFAULT.value and most < Select.ALWAYS.value else most
        # MLS 4.8.8.1: what does not appear differentiated is a state only where it is preferred.
        appears = value > Select.DEFAULT.value or any(v.role is Role.STATE for v in self._chain)
        own = None if self.integral is None else self.integral.select
        borrowed = value == Select.ALWAYS.value and own is not Select.ALWAYS
        return 2 * value - borrowed if appears else min(2 * value, BARELY)

    @property
    def is_preferred(self) -> bool:
        return self.wanted >= 2 * Select.PREFER.value

    @property
    def fixed(self) -> bool:
        return any(v.fixed for v in self._chain)

    @property
    def given(self) -> bool:
        return any(v.start is not None for v in self._chain)


@dataclass(frozen=True, slots=True)
class Explicit:
    """A row that computes `target` from other names, in a way that is not known here (a call)."""

    target: str
    names: tuple[str, ...]
    origin: Origin = Origin()


@dataclass(frozen=True, slots=True)
class Dynamic:
    """Candidates of which some are states, which ones being decided in the run.

    `forced` are dummies for good, but with pivots that may vanish.  `jacobian` has the columns forced, then members.
    """

    forced: tuple[int, ...]
    members: tuple[int, ...]
    states: tuple[int, ...]  # of the members: those that start as states
    jacobian: tuple[tuple[Expr, ...], ...]


@dataclass(frozen=True, slots=True)
class Picked:
    """Positions of candidates: dummies for good (`forced` ones included), and what is left to the run."""

    dummies: tuple[int, ...]
    dynamic: tuple[Dynamic, ...] = ()


class Points:
    """Where Jacobians are evaluated: near the start, and anywhere."""

    def __init__(self, dae: Dae) -> None:
        self._dae = dae
        self._made: dict[int, Numeric] = {}
        self._occurrence = Occurrence()

    def is_still(self, e: Expr | None) -> bool:
        """Made of numbers and parameters alone."""
        if e is None:
            return False
        variables = self._dae.variables
        read = (variables.get(n) for n in self._occurrence.names(e))
        return all(v is not None and v.role in (Role.PARAMETER, Role.CONSTANT) for v in read)

    def __getitem__(self, attempt: int) -> Numeric:
        if attempt not in self._made:
            values = near_start(self._dae) if attempt == 0 else parameter_values(self._dae)
            self._made[attempt] = Numeric(values, lambda r: _scatter(r.name))
        return self._made[attempt]


def choose(
    equations: list[Equation | Explicit], options: list[Candidate], points: Points, call_rule: CallRule | None
) -> Picked:
    """Which candidates become dummies, as many as there are equations, and which are left to the run."""
    jacobian = _jacobian(equations, options, call_rule)
    groups = _groups(options)
    n_unwanted = sum(options[group[0]].wanted < 2 * Select.DEFAULT.value for group in groups)
    for attempt in range(2):
        values = points[attempt]
        numbers = [
            {j: (_entry(e, values, i, j), points.is_still(e)) for j, e in row.items()} for i, row in enumerate(jacobian)
        ]
        picked = pivots(numbers, groups, _weights(options), n_unwanted)
        if len(picked) == len(equations):
            return _settled(jacobian, picked, options)
    e = equations[0]
    span = e.origin.spans[0] if e.origin.spans else None
    shown = print_equation(e)[:200] if isinstance(e, Equation) else f"call for {e.target}"
    text = f"no states can be chosen for this constraint: {shown}"
    raise ModelError(Diagnostic("B208", text, span))


def _settled(jacobian: list[SparseRow], picked: list[Pivot], options: list[Candidate]) -> Picked:
    """Static, except for the parts with pivots that may vanish and candidates of one rank."""
    columns = {p.column for p in picked}
    if all(p.safe for p in picked):
        return Picked(tuple(sorted(columns)))
    dynamic = _all_dynamic(jacobian, picked, [p for p in picked if p.safe], options)
    # Where dummies that are forced are worth nothing, an equal that follows from them may still be a state.
    ranks = {options[d.members[0]].wanted for d in dynamic if d.forced}
    if ranks:
        firm = [p for p in picked if p.safe and options[p.column].wanted not in ranks]
        dynamic = _all_dynamic(jacobian, picked, firm, options)
    for d in dynamic:
        columns -= set(d.members)
    return Picked(tuple(sorted(columns)), tuple(dynamic))


def _all_dynamic(
    jacobian: list[SparseRow], picked: list[Pivot], firm: list[Pivot], options: list[Candidate]
) -> list[Dynamic]:
    """The choices that are left when the firm pivots are eliminated."""
    unsafe = {p.column for p in picked if not p.safe}
    column_of = {p.row: p.column for p in picked}
    choices: list[Dynamic] = []
    for part in _parts(reduced(jacobian, firm), len(options)):
        columns = [column_of[i] for i in part]
        if not unsafe.isdisjoint(columns):
            choices += _choices(part, columns, unsafe, options)
    return choices


def _choices(
    part: dict[int, SparseRow], picked: list[int], unsafe: set[int], options: list[Candidate]
) -> list[Dynamic]:
    """The choice among the candidates that are wanted most; or one in each block, where some that are wanted less are
    equals too (the quaternion of a body whose joint has preferred states)."""
    top = max(options[c].wanted for c in picked)
    several: list[Dynamic] = []
    lower = False
    for rows, columns in blocks(part, picked, [o.wanted for o in options]):
        one = None if unsafe.isdisjoint(columns) else _dynamic(rows, columns, options)
        if one is None:
            continue
        is_lower = options[one.members[0]].wanted < top
        if is_lower and len({options[c].integral is None for c in one.members}) > 1:
            continue  # what has a name of its own (an angular velocity) is the state, not what it stands for
        lower = lower or is_lower
        several.append(one)
    if lower:
        return several
    whole = _dynamic(part, picked, options)
    return [] if whole is None else [whole]


def _parts(rows: dict[int, SparseRow], n_columns: int) -> list[dict[int, SparseRow]]:
    """Rows that share columns, together."""
    sets = UnionFind(n_columns)
    for row in rows.values():
        first = next(iter(row))
        for c in row:
            sets.union(first, c)
    parts: dict[int, dict[int, SparseRow]] = {}
    for i, row in rows.items():
        parts.setdefault(sets.find(next(iter(row))), {})[i] = row
    return list(parts.values())


def _dynamic(part: dict[int, SparseRow], picked: list[int], options: list[Candidate]) -> Dynamic | None:
    """The choice that is left in one part; None where there is none or it cannot be made in the run."""
    top = max(options[c].wanted for c in picked)
    inside = sorted({c for row in part.values() for c in row})
    rivals = [c for c in inside if c not in picked and options[c].wanted == top]
    if not rivals or top == 0:  # where all are `never`, some have to be all the same
        return None
    forced = tuple(c for c in sorted(picked) if options[c].wanted < top)
    members = tuple(sorted([*rivals, *(c for c in picked if options[c].wanted == top)]))
    rows: list[tuple[Expr, ...]] = []
    for row in part.values():
        entries = [_scaled(row.get(c, make.ZERO), options[c]) for c in (*forced, *members)]
        if any(e is None for e in entries):
            return None
        rows.append(tuple(e for e in entries if e is not None))
    return Dynamic(forced, members, tuple(rivals), tuple(rows))


def _scaled(e: Expr | None, option: Candidate) -> Expr | None:
    """In units of the candidate's nominal value, so that metres and radians compare."""
    nominal = option.integral.nominal if option.integral is not None else None
    return e if e is None or nominal is None else simplify(make.mul(e, nominal))


def _jacobian(
    equations: list[Equation | Explicit], options: list[Candidate], call_rule: CallRule | None
) -> list[SparseRow]:
    occurrence = Occurrence()
    rows: list[SparseRow] = []
    position = {o.name: j for j, o in enumerate(options)}
    for e in equations:
        row: SparseRow = {}
        rows.append(row)
        if isinstance(e, Explicit):
            row.update({position[n]: None for n in e.names if n in position})
            row.update({position[e.target]: make.ONE} if e.target in position else {})
            continue
        residual = make.sub(e.left, e.right)
        for name in occurrence.names(residual):
            j = position.get(name)
            if j is None:
                continue
            try:
                entry: Expr | None = simplify(Differentiator(_seed(name), call_rule)(residual))
            except NoDerivative:
                entry = None
            if entry is not make.ZERO:
                row[j] = entry
    return rows


def _seed(name: str) -> Callable[[Ref], Expr]:
    return lambda r: make.ONE if r.name == name else make.ZERO


def _groups(options: Sequence[Candidate]) -> list[list[int]]:
    """Candidates by how little their integral is wanted as a state."""
    by_key: dict[tuple[int, bool], list[int]] = {}
    for j, o in enumerate(options):
        by_key.setdefault((o.wanted, o.fixed), []).append(j)
    return [by_key[k] for k in sorted(by_key)]


def _weights(options: Sequence[Candidate]) -> list[float]:
    """A variable with a start given stays a state unless its pivot is ten times better."""
    return [0.1 if o.given else 1.0 for o in options]


def near_start(dae: Dae) -> dict[str, float]:
    """Numbers for variables near the start: parameters, state candidates, and what follows from them one by one."""
    values = parameter_values(dae)
    numeric = Numeric(values)
    numbers: dict[str, float] = {"time": 0.0}
    for v in dae.variables.values():
        if v.role not in (Role.STATE, Role.DISCRETE, Role.INPUT):
            continue
        start = 0.0 if v.start is None else numeric(v.start)
        if start is not None:
            moved = 1e-3 * (_scatter(v.name) - 1.0) * max(1.0, abs(start)) if v.role is Role.STATE else 0.0
            numbers[v.name] = start + moved
    values.update(numbers)
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
        value = _solved_for(equations[i], name, values)
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


def _solved_for(e: Equation, name: str, values: dict[str, float]) -> float | None:
    numeric = Numeric(values)
    if isinstance(e.left, Ref) and e.left.name == name:
        return numeric(e.right)
    if isinstance(e.right, Ref) and e.right.name == name:
        return numeric(e.left)
    parts = linear_parts(make.sub(e.left, e.right), name) if e.left.ty == REAL else None
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
