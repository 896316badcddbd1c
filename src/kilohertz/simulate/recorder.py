"""What is recorded: columns of the instance, and the names that read them; and who looks at the rows as they come."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from kilohertz.base import Diagnostic, ModelError
from kilohertz.ir.expr import Str
from kilohertz.ir.flat import Purpose
from kilohertz.ir.rules.limits import constant_value
from kilohertz.ir.step import Alias, Kind, Step, StepVariable
from kilohertz.ir.types import BOOLEAN
from kilohertz.results import Result, Selection, Signal
from kilohertz.simulate.outside import Bounds, Watch, as_refusals, bounds, follow_from, limited, not_compared
from kilohertz.simulate.program import Instance, Program
from kilohertz.simulate.rows import Rows, refuse_more_than_memory

Floats = NDArray[np.float64]
_VARYING = frozenset(
    {Kind.STATE, Kind.DERIVATIVE, Kind.ALGEBRAIC, Kind.DISCRETE, Kind.INT_DISCRETE, Kind.INPUT, Kind.INT_INPUT}
)
_FIXED = frozenset({Kind.PARAMETER, Kind.INT_PARAMETER})
NUMBERS = _VARYING | _FIXED
_ANYTHING = Bounds(None, None)
_LOOK_AT = 1 << 12  # rows, at least, that are looked at together


@dataclass(slots=True)
class Recorder:
    """Columns in the order of the C rows (time is column 0), signals by name, and the rows so far.

    Columns from `n_shown` on are of variables with a `min` or `max` that nobody asked for: looked at, and not kept.
    Without `looks` nobody is told what left its limits.  `listener` hears rows as they come, few at a time.
    """

    program: Program
    looks: bool = True
    columns: list[StepVariable] = field(default_factory=list)
    signals: dict[str, Signal] = field(default_factory=dict)
    negated: list[int] = field(default_factory=list)  # columns appended as `not`
    resting: list[str] = field(default_factory=list)  # variables that turned out constant: appended as columns
    n_shown: int = 0
    watched: dict[str, tuple[int, int]] = field(default_factory=dict)  # column and sign of what has a limit
    listener: Callable[[Floats], None] | None = None
    _watch: Watch | None = None
    _limits: dict[str, Bounds] = field(default_factory=dict)
    _kept: Rows = field(default_factory=lambda: Rows(1, 0))
    _n_seen: int = 0  # of what is kept: looked at
    _passing: Floats | None = None  # where C writes rows that are not kept as they are
    _unseen: list[Floats] = field(default_factory=list)  # such rows, not looked at so far
    _layout: tuple[NDArray[np.int64], NDArray[np.int32]] | None = None

    def again(self) -> Recorder:
        """The same columns and signals for another run of the program."""
        self.layout()
        return replace(self, _watch=None, _limits={}, _kept=Rows(1, 0), _n_seen=0, _passing=None, _unseen=[])

    @property
    def n_columns(self) -> int:
        return len(self.columns) + 1

    def begin(self, instance: Instance, expected: int) -> None:
        """Before the first of about so many rows, of an instance with its parameters; R723 where memory lacks."""
        n_resting = len({_value(self.signals[name], name, self.program, instance) for name in self.resting})
        width = 1 + self.n_shown + len(self.negated) + n_resting
        refuse_more_than_memory(expected, width)
        self._kept = Rows(width, expected)

    def room(self, most: int) -> Floats:
        """Where C writes the next rows, one to `most` of them."""
        if self.n_shown == len(self.columns):
            return self._kept.room(most)
        if self._passing is None:
            self._passing = np.empty((most, self.n_columns))
        return self._passing

    def take(self, n: int, instance: Instance) -> None:
        """So many rows are there."""
        if self._passing is not None:
            self._keep(self._passing[:n])
        else:
            self._kept.take(n)
        if self.looks and sum(map(len, self._unseen)) + self._kept.n - self._n_seen >= _LOOK_AT:
            self._look(instance)
        if self.listener is not None:
            self.listener(self._kept.written[-n:, : self.n_shown + 1])

    def _keep(self, rows: Floats) -> None:
        """What is shown of them."""
        if self.looks:
            self._unseen.append(rows.copy())
        self._n_seen += len(rows)
        at = 0
        while at < len(rows):
            room = self._kept.room(len(rows) - at)
            room[:, : self.n_shown + 1] = rows[at : at + len(room), : self.n_shown + 1]
            self._kept.take(len(room))
            at += len(room)

    def _look(self, instance: Instance) -> Watch:
        """Whether the rows since the last time are inside the limits that hold in this run."""
        if self._watch is None:
            self._limits = bounds(self.program.step, lambda name: _parameter(self.program, instance, name))
            self._watch = Watch(self.watched, self._limits)
        for rows in [np.concatenate(self._unseen)] if self._unseen else [self._kept.written[self._n_seen :]]:
            self._watch.look(rows[:, 0], rows[:, 1:])
        self._unseen.clear()
        self._n_seen = self._kept.n
        return self._watch

    def outside(self, instance: Instance, start: float) -> list[Diagnostic]:
        """What left its limits, recorded or not; parameters too, where the run came to have them."""
        if not self._kept.n or not self.looks:
            return []
        watch = self._look(instance)
        watch.fixed(self._resting_limited(instance), start)
        return [*watch.problems(), *not_compared(self._limits)]

    def refused(self, instance: Instance, start: float, settings: Collection[str]) -> list[Diagnostic]:
        """Parameters outside their limits by what was set, once all have their values."""
        if not self.looks:
            return []
        self._look(instance)
        changed = follow_from(self.program.step, settings)
        parameters = {n: v for n, v in self._resting_limited(instance).items() if n in changed}
        watch = Watch({}, self._limits)
        watch.fixed(parameters, start)
        return as_refusals(watch)

    def _resting_limited(self, instance: Instance) -> dict[str, float]:
        resting = [name for name in self._limits if name not in self.watched]
        return {name: _resting(self.program, instance, name) for name in resting}

    def layout(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Offset and kind of every column, time first."""
        if self._layout is None:
            offsets = [0, *(self.program.offset(v) for v in self.columns)]
            kinds = [0, *(int(self.program.is_int(v)) for v in self.columns)]
            self._layout = np.array(offsets, np.int64), np.array(kinds, np.int32)
        return self._layout

    def result(self, instance: Instance) -> Result:
        """Everything recorded, with parameters at the values they had."""
        if self.looks:
            self._look(instance)
        n, n_negated = self.n_shown, len(self.negated)
        signals, at_rest = self._signals_with_values(instance, n + n_negated)
        rows = self._kept.with_width(1 + n + n_negated + len(at_rest))
        data = rows[:, 1:]
        data[:, n : n + n_negated] = 1.0 - data[:, self.negated]
        data[:, n + n_negated :] = at_rest
        return Result(self.program.step.name, rows[:, 0].copy(), data, signals)

    def _signals_with_values(self, instance: Instance, first: int) -> tuple[dict[str, Signal], list[float]]:
        """Signals with their values and limits; the values that variables rest at are columns from `first` on.

        Equal values share one.
        """
        resting, at_rest = set(self.resting), dict[float, int]()
        signals: dict[str, Signal] = {}
        for name, s in self.signals.items():
            column, value, sign = s.column, s.value, s.sign
            allowed = self._limits.get(name, _ANYTHING)
            if column is None:
                value, sign = _value(s, name, self.program, instance), 1
            elif allowed is _ANYTHING:
                signals[name] = s
                continue
            if name in resting:
                column, value = at_rest.setdefault(value, first + len(at_rest)), 0.0
            signals[name] = Signal(column, sign, s.unit, s.description, value, allowed.min, allowed.max)
        return signals, list(at_rest)


def make_recorder(program: Program, record: str | Sequence[str], *, looks: bool = True) -> Recorder:
    """Select variables: `all`, `outputs`, or patterns with `*` and `?`; ModelError where one names nothing."""
    step = program.step
    wanted = Selection(record)
    out = Recorder(program, looks)
    column_of: dict[str, int] = {}

    def column(v: StepVariable) -> int:
        if v.name not in column_of:
            column_of[v.name] = len(out.columns)
            out.columns.append(v)
        return column_of[v.name]

    late: list[tuple[str, Alias, int]] = []
    declared = list(_declared(step))
    numbers = [d for d in declared if _is_number(*d[1:])]
    for name, v, alias in numbers:
        causality = alias.causality if alias is not None else v.causality if v is not None else ""
        if not wanted.takes(name, is_output=causality == "output"):
            continue
        if alias is None:
            assert v is not None
            if v.slot.kind in _VARYING:
                out.signals[name] = Signal(column(v), 1, v.unit, v.description)
            elif v.slot.kind in _FIXED:
                out.signals[name] = Signal(None, 1, v.unit, v.description)
        elif v is None:
            out.signals[name] = Signal(None, 1, alias.unit, alias.description, constant_value(alias.value))
            out.resting.append(name)
        elif v.slot.kind in _FIXED:
            out.signals[name] = Signal(None, alias.sign, alias.unit, alias.description)
            out.resting.append(name)
        elif v.slot.kind in _VARYING and v.ty == BOOLEAN and alias.sign < 0:
            late.append((name, alias, column(v)))
            out.signals[name] = Signal(None)  # keeps its place in the order
        elif v.slot.kind in _VARYING:
            out.signals[name] = Signal(column(v), alias.sign, alias.unit, alias.description)
    for name, alias, source in late:
        out.signals[name] = Signal(len(out.columns) + len(out.negated), 1, alias.unit, alias.description)
        out.negated.append(source)
    out.n_shown = len(out.columns)
    for name, limits in limited(step) if looks else ():
        v = step.variables.get(name if not isinstance(limits, Alias) else limits.target or "")
        if v is not None and v.slot.kind in _VARYING and v.ty != BOOLEAN:
            out.watched[name] = (column(v), limits.sign if isinstance(limits, Alias) else 1)
    problems = wanted.problems([d[0] for d in numbers], others=[d[0] for d in declared])
    if problems:
        raise ModelError(*problems)
    return out


def is_number(step: Step, name: str) -> bool:
    """Whether results can hold it: not a text, nor an external object."""
    alias = step.aliases.get(name)
    return _is_number(step.variables.get(name if alias is None else alias.target or ""), alias)


def _is_number(v: StepVariable | None, alias: Alias | None) -> bool:
    if v is None:
        return alias is not None and not isinstance(alias.value, Str)
    return v.slot.kind in NUMBERS


def _declared(step: Step) -> Iterator[tuple[str, StepVariable | None, Alias | None]]:
    """The variables of the user, those that are an alias of another last."""
    for name, variable in step.variables.items():
        if variable.purpose is Purpose.DECLARED:
            yield name, variable, None
    for name, alias in step.aliases.items():
        if alias.purpose is Purpose.DECLARED:
            yield name, step.variables.get(alias.target or ""), alias


def _value(signal: Signal, name: str, program: Program, instance: Instance) -> float:
    """Of a parameter as the instance has it; of a constant."""
    alias = program.step.aliases.get(name)
    v = program.step.variables.get(name if alias is None else alias.target or "")
    if v is None or v.slot.kind not in _FIXED:
        return signal.value
    value = float(instance.read(v))
    if signal.sign < 0:
        return 1.0 - value if v.ty == BOOLEAN else -value
    return value


def _resting(program: Program, instance: Instance, name: str) -> float:
    """The value of a parameter, or of what is one or a constant by another name; NaN where that is no number."""
    alias = program.step.aliases.get(name)
    if alias is not None and alias.target is None:
        return constant_value(alias.value)
    value = _parameter(program, instance, name if alias is None else alias.target or "")
    return math.nan if value is None else value if alias is None else alias.sign * value


def _parameter(program: Program, instance: Instance, name: str) -> float | None:
    v = program.step.variables[name]
    return float(instance.read(v)) if v.slot.kind in _FIXED else None
