"""Values outside `min` and `max` (MLS 4.8): looked for in the rows of a run, so that a step costs nothing.

Every name counts with its own limits: states, algebraic variables, inputs, and names that are an alias of another, with
their sign.  Limits that follow from parameters have the values of these parameters in the run; where that takes what an
external function gives, nobody knows them, and that is said.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kilohertz.base import Diagnostic, Note, Origin, Severity
from kilohertz.interp import EvaluationError, NotConstant
from kilohertz.ir.expr import Expr
from kilohertz.ir.flat import Purpose
from kilohertz.ir.rules.limits import limit, setting
from kilohertz.ir.step import Alias, Assignment, Kind, Step, StepVariable, expressions, targets
from kilohertz.ir.traverse import refs
from kilohertz.ir.types import BOOLEAN, INTEGER, EnumType
from kilohertz.results import Result

if TYPE_CHECKING:
    from kilohertz.interp import Evaluator, Value

Floats = NDArray[np.float64]
_MOST = 5  # signals named
_BYTES_AT_ONCE = 1 << 18  # of rows that are compared together
_SLACK = 1e-6  # of the largest value: solvers come so near to a limit
_PARAMETERS = (Kind.PARAMETER, Kind.INT_PARAMETER)


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a variable may come down and up to; None: anything, or (`unknown`) what nobody knows before the run."""

    min: float | None
    max: float | None
    origin: Origin = Origin()
    unknown: tuple[str, ...] = ()  # `min`, `max`

    @property
    def least(self) -> float:
        return -np.inf if self.min is None else self.min

    @property
    def most(self) -> float:
        return np.inf if self.max is None else self.max


def limited(step: Step) -> Iterator[tuple[str, StepVariable | Alias]]:
    """What the user declared with a `min` or a `max`, and enumerations that come from outside."""
    for declared in (step.variables, step.aliases):
        for name, v in declared.items():
            if (v.min is not None or v.max is not None or _literals(v)) and v.purpose is Purpose.DECLARED:
                yield name, v


def _literals(v: StepVariable | Alias) -> tuple[str, ...]:
    """Of an enumeration that an input is: whatever drives it may be no literal."""
    if not isinstance(v, StepVariable) or v.slot.kind is not Kind.INT_INPUT or not isinstance(v.ty.base, EnumType):
        return ()
    return v.ty.base.literals


def bounds(step: Step, parameter: Callable[[str], float | None]) -> dict[str, Bounds]:
    """The limits of a run as numbers; `parameter` has its parameters' values, None where there is none."""
    numbers = _Numbers(step, parameter)
    return {name: _bounds(v, numbers) for name, v in limited(step)}


def _bounds(v: StepVariable | Alias, numbers: _Numbers) -> Bounds:
    least, most = numbers(v.min), numbers(v.max)
    declared = (("min", v.min, least), ("max", v.max, most))
    if literals := _literals(v):
        least, most = 1.0 if least is None else least, float(len(literals)) if most is None else most
    unknown = tuple(which for which, e, number in declared if e is not None and number is None)
    return Bounds(least, most, v.origin, unknown)


def not_compared(limits: Mapping[str, Bounds]) -> list[Diagnostic]:
    """What has a limit that nobody knows: said once for all, at the first of them."""
    unknown = [(name, b) for name, b in limits.items() if b.unknown]
    if not unknown:
        return []
    (name, first), more = unknown[0], len(unknown) - 1
    others = f", and so {more} more" if more else ""
    text = f"`{name}` was not compared with its {' and '.join(first.unknown)}{others}"
    note = Note("that is computed by what only runs in the model, such as an external function")
    return [_said(text, first.origin, note, code="R797")]


def refused(step: Step, settings: Mapping[str, float | str]) -> list[Diagnostic]:
    """Parameters outside their limits by what is set, as far as their values are known before a run."""
    values = _before_a_run(step, settings) if settings else {}
    changed = follow_from(step, settings)
    numbers = _Numbers(step, values.get)
    limits = {name: _bounds(v, numbers) for name, v in limited(step) if name in changed}
    watch = Watch({}, limits)
    watch.fixed({name: value for name in limits if (value := numbers.named(name)) is not None}, 0.0)
    return as_refusals(watch)


def as_refusals(watch: Watch) -> list[Diagnostic]:
    """What left its limits because of a setting: a setting that cannot be."""
    return [replace(d, code="R720", severity=Severity.ERROR, notes=()) for d in watch.problems()]


def _before_a_run(step: Step, settings: Mapping[str, float | str]) -> dict[str, float]:
    """The numbers of the parameters that can be evaluated, in the order that the model computes them in."""
    values: dict[str, float] = {}
    numbers = _Numbers(step, values.get)
    given = {_target(step, name): value for name, value in settings.items()}

    def know(name: str, value: float | None) -> None:
        if value is not None:
            values[name] = value

    for name, v in step.variables.items():
        if v.slot.kind in _PARAMETERS:
            know(name, setting(v.ty, v.unit, given[name]) if name in given else numbers(v.start))
    for block in step.once:
        for target in targets(block):
            values.pop(target.name, None)  # its start is only a guess
        if isinstance(block, Assignment):
            know(block.target.name, numbers(block.value))
    return values


def _target(step: Step, name: str) -> str:
    alias = step.aliases.get(name)
    return name if alias is None or alias.target is None else alias.target


def follow_from(step: Step, settings: Collection[str]) -> set[str]:
    """The parameters that have another value, or other limits, because some were set."""
    changed = {_target(step, name) for name in settings}
    for block in step.once:  # in order
        if any(r.name in changed for e in expressions(block) for r in refs(e)):
            changed.update(t.name for t in targets(block))
    limits = ((name, e) for name, v in limited(step) for e in (v.min, v.max) if e is not None)
    changed.update([name for name, e in limits if any(_target(step, r.name) in changed for r in refs(e))])
    return changed & step.variables.keys()


def outside(result: Result, step: Step, head: str = "") -> tuple[list[Diagnostic], list[str]]:
    """What left its limits in a recording, where the names of this model begin with `head`; and what is not in it."""
    signals = result.signals

    def parameter(name: str) -> float | None:
        signal = signals.get(head + name)
        return signal.value if signal is not None and signal.column is None else None

    limits = {head + name: b for name, b in bounds(step, parameter).items()}
    columns = {n: (s.column, s.sign) for n, s in signals.items() if n in limits and s.column is not None}
    watch = Watch(columns, limits)
    watch.look(result.time, result.data)
    if len(result.time):
        resting = {n: s.value for n, s in signals.items() if n in limits and s.column is None}
        watch.fixed(resting, float(result.time[0]))
    unseen = [n for n in limits if n not in signals and not _is_constant(step, n.removeprefix(head))]
    return [*watch.problems(), *not_compared(limits)], unseen


def _is_constant(step: Step, name: str) -> bool:
    """Its value never changes: it was looked at when the model was compiled, or started."""
    alias = step.aliases.get(name)
    v = step.variables.get(name if alias is None else alias.target or "")
    return v is None or v.slot.kind in _PARAMETERS


class _Numbers:
    """Values of expressions over parameters."""

    def __init__(self, step: Step, parameter: Callable[[str], float | None]) -> None:
        self._step, self._parameter = step, parameter

    @cached_property
    def _evaluator(self) -> Evaluator:
        from kilohertz.interp import Evaluator

        return Evaluator(self._step.functions)

    def __call__(self, e: Expr | None) -> float | None:
        number = limit(e)
        if number is not None or e is None:
            return number
        try:
            value = self._evaluator.evaluate(e, self._value)
        except (NotConstant, EvaluationError):
            return None  # what an external function gives, say
        return float(value) if isinstance(value, int | float) and value == value else None

    def named(self, name: str) -> float | None:
        """Of a parameter, or what is one by another name."""
        try:
            value = self._value(name)
        except (NotConstant, EvaluationError):
            return None
        return float(value) if isinstance(value, int | float) else None

    def _value(self, name: str) -> Value:
        alias = self._step.aliases.get(name)
        if alias is not None and alias.target is None and alias.value is not None:
            return self._evaluator.evaluate(alias.value, self._value)
        v = self._step.variables.get(name if alias is None else alias.target or "")
        number = self._parameter(v.name) if v is not None else None
        if v is None or number is None:
            raise NotConstant(name)
        if v.ty == BOOLEAN:
            return bool(number) if alias is None or alias.sign > 0 else not number
        number = number if alias is None else alias.sign * number
        return int(number) if v.ty == INTEGER else number


@dataclass(slots=True)
class _Left:
    """How a variable left its limits."""

    name: str
    time: float
    value: float
    rows: int = 0


class Watch:
    """Rows are shown to it as they come; it remembers which variables left their limits, when first, and how often.

    `columns`: of each name its column (after time) and sign.
    """

    def __init__(self, columns: Mapping[str, tuple[int, int]], limits: Mapping[str, Bounds]) -> None:
        self._limits = limits
        self._left: dict[str, _Left] = {}
        self._rows = 0
        self._names: dict[int, list[tuple[str, int]]] = {}
        for name, (column, sign) in columns.items():
            if name in limits:
                self._names.setdefault(column, []).append((name, sign))
        self._columns = np.array(list(self._names), dtype=np.intp)
        narrowest = [self._narrowest(names) for names in self._names.values()]
        self._least = np.array([n[0] for n in narrowest])
        self._most = np.array([n[1] for n in narrowest])
        self._largest = np.zeros(len(narrowest))

    def _narrowest(self, names: list[tuple[str, int]]) -> tuple[float, float]:
        """Of all names of a column, in its own sign."""
        both = [(self._limits[n], s) for n, s in names]
        least = max(b.least if s > 0 else -b.most for b, s in both)
        return least, min(b.most if s > 0 else -b.least for b, s in both)

    def look(self, time: Floats, rows: Floats) -> None:
        """Some more rows, without time."""
        self._rows += len(time)
        if not len(time) or not len(self._columns):
            return
        low, high = self._range(rows)
        self._largest = np.fmax(self._largest, np.fmax(np.abs(low), np.abs(high)))
        for i in np.flatnonzero((low < self._least) | (high > self._most)):
            for name, sign in self._names[int(self._columns[i])]:
                self._look_at(name, time, sign * rows[:, self._columns[i]], _SLACK * float(self._largest[i]))

    def _range(self, rows: Floats) -> tuple[Floats, Floats]:
        """The least and the largest value of each column, from rows that are near the processor together."""
        n_at_once = max(1, _BYTES_AT_ONCE // (8 * len(self._columns)))
        low, high = rows[0, self._columns], rows[0, self._columns]
        for at in range(0, len(rows), n_at_once):
            watched = rows[at : at + n_at_once, self._columns]
            np.fmin(low, np.fmin.reduce(watched, axis=0), out=low)
            np.fmax(high, np.fmax.reduce(watched, axis=0), out=high)
        return low, high

    def _look_at(self, name: str, time: Floats, values: Floats, slack: float) -> None:
        allowed = self._limits[name]
        where = np.flatnonzero((values < allowed.least - slack) | (values > allowed.most + slack))
        if len(where):
            k = int(where[0])
            left = self._left.setdefault(name, _Left(name, float(time[k]), float(values[k])))
            left.rows += len(where)

    def fixed(self, values: Mapping[str, float], time: float) -> None:
        """Parameters and names that rest at a value."""
        for name, value in values.items():
            allowed, slack = self._limits.get(name), _SLACK * abs(value)
            if allowed is None:
                continue
            if value < allowed.least - slack or value > allowed.most + slack:
                self._left.setdefault(name, _Left(name, time, value))
            if name in self._left:
                self._left[name].rows = 0

    def problems(self) -> list[Diagnostic]:
        """One warning for each name, those that left their limits first before the others."""
        left = sorted(self._left.values(), key=lambda f: (f.time, f.name))
        shown = [self._warning(f) for f in left[:_MOST]]
        if len(left) > _MOST:
            names = ", ".join(f"`{f.name}`" for f in left[_MOST : 2 * _MOST])
            more = ", ..." if len(left) > 2 * _MOST else ""
            shown.append(_said(f"{len(left) - _MOST} more were outside their limits: {names}{more}", Origin()))
        return shown

    def _warning(self, f: _Left) -> Diagnostic:
        allowed = self._limits[f.name]
        which = f"min is {allowed.min:g}" if f.value < allowed.least else f"max is {allowed.max:g}"
        often = f", in {f.rows} of {self._rows} rows" if f.rows else ""
        text = f"`{f.name}` was {f.value:g} although its {which}{often}"
        return _said(text, allowed.origin, Note(f"first at time = {f.time:g}"))


def _said(text: str, origin: Origin, *notes: Note, code: str = "R737") -> Diagnostic:
    span = origin.spans[0] if origin.spans else None
    return Diagnostic(code, text, span, notes=notes, severity=Severity.WARNING)
