"""The variables of an FMU: what a Step keeps where, in the words of FMI.

Names, types, units and limits come from the Step's variables and aliases, as a recorder writes them; the value
reference of a variable is its position in the C table that `table.py` writes.  An alias that nobody may set shares the
reference of what it stands for.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

from kilohertz.fmi.exporting.arrays import Array, gathered
from kilohertz.ir.flat import Purpose
from kilohertz.ir.rules.limits import constant_value, limit
from kilohertz.ir.step import Alias, Kind, Slot, Step, StepVariable
from kilohertz.ir.traverse import refs
from kilohertz.ir.types import BOOLEAN, INTEGER, STRING, EnumType, Type

_PARAMETERS = frozenset({Kind.PARAMETER, Kind.INT_PARAMETER, Kind.STRING_PARAMETER})
_INPUTS = frozenset({Kind.INPUT, Kind.INT_INPUT})
_CONTINUOUS = frozenset({Kind.INPUT, Kind.STATE, Kind.DERIVATIVE, Kind.ALGEBRAIC})
_COMPUTED = frozenset(
    {Kind.STATE, Kind.DERIVATIVE, Kind.ALGEBRAIC, Kind.DISCRETE, Kind.INT_DISCRETE, Kind.STRING_DISCRETE}
)
_SHOWN = _PARAMETERS | _INPUTS | _COMPUTED
_PART = r"(?:[A-Za-z_]\w*|'(?:[^'\\]|\\.)+')(?:\[\d+(?:,\d+)*\])?"
_STRUCTURED = re.compile(rf"{_PART}(?:\.{_PART})*|der\({_PART}(?:\.{_PART})*(?:,\d+)?\)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Variable:
    """One name of an FMU."""

    name: str
    reference: int
    type: str  # Real, Integer, Boolean, Enumeration, String, Clock
    causality: str  # independent, parameter, calculatedParameter, input, output, local
    variability: str  # constant, fixed, tunable, discrete, continuous
    slot: Slot | None = None  # None: time, a constant, an event indicator, a clock
    sign: int = 1
    constant: float = math.nan
    indicator: int | None = None
    clock: int | None = None  # which sample it makes tick
    interval: tuple[float, float] = (math.nan, math.nan)  # of a clock: interval and shift where they are constants
    start: float | str | None = None
    unit: str = ""
    display_unit: str = ""
    description: str = ""
    min: float | None = None
    max: float | None = None
    nominal: float | None = None
    enumeration: EnumType | None = None
    source: str = ""  # its name in the Step
    state: str = ""  # the variable that this is the derivative of
    alias_of: str = ""  # shares the reference of this one

    @property
    def is_settable(self) -> bool:
        return self.causality in ("parameter", "input") and self.clock is None


@dataclass(frozen=True, slots=True)
class Variables:
    """All variables in order, and what some of them are for."""

    all: tuple[Variable, ...]
    states: tuple[str, ...]
    derivatives: tuple[str, ...]
    indicators: tuple[str, ...]
    arrays: tuple[Array, ...] = ()

    @property
    def has_clocks(self) -> bool:
        """Whether the importer makes samples tick."""
        return any(v.clock is not None for v in self.all)

    @property
    def stored(self) -> list[Variable]:
        """One for each value reference, in their order."""
        return [v for v in self.all if not v.alias_of]

    @property
    def known(self) -> list[Variable]:
        """Inputs and states: what an importer sets while the model runs."""
        states = set(self.states)
        return [v for v in self.all if (v.causality == "input" and v.is_settable) or v.name in states]

    @property
    def naming(self) -> str:
        """`structured` where every name is one of Modelica's, else `flat`."""
        return "structured" if all(_STRUCTURED.fullmatch(v.name) for v in self.all) else "flat"

    def started(self, values: dict[str, float | str]) -> Variables:
        """The same with start values."""
        return replace(self, all=tuple(replace(v, start=values.get(v.name, v.start)) for v in self.all))


def fmu_variables(step: Step, version: int, *, with_clocks: bool = False) -> Variables:
    """The variables of a model; in FMI 3 indicators have names, and there are arrays and, if asked for, clocks."""
    return _Collector(step).run(version, with_clocks)


def overwritten_inputs(step: Step) -> list[str]:
    """Inputs whose start follows from parameters: what is given before the initial equations does not reach them."""
    inputs = (v for v in step.variables.values() if v.slot.kind in _INPUTS)
    return [v.name for v in inputs if v.start is not None and refs(v.start)]


class _Collector:
    def __init__(self, step: Step) -> None:
        self.step = step
        self.out: list[Variable] = []
        self.by_slot: dict[Slot, Variable] = {}
        self.count = 0
        # external objects are made from parameters once: nothing may change these then
        self.parameters = "fixed" if step.of_kind(Kind.OBJECT) else "tunable"

    def run(self, version: int, with_clocks: bool) -> Variables:
        self._put(Variable("time", 0, "Real", "independent", "continuous", unit="s", description="time"))
        states = {v.slot.index: self._state(v) for v in self.step.of_kind(Kind.STATE)}
        derivatives: dict[int, str] = {}
        for v in self.step.variables.values():
            index = v.slot.index
            if v.slot.kind is Kind.STATE:
                self._put(replace(self._declared(v), name=states[index]))
            elif v.slot.kind is Kind.DERIVATIVE:
                derivatives[index] = v.name if v.purpose is Purpose.DECLARED else f"der({states[index]})"
                self._put(replace(self._declared(v), name=derivatives[index], state=states[index]))
            elif v.slot.kind in _SHOWN and v.purpose is Purpose.DECLARED:
                self._put(self._declared(v))
        for name, alias in self.step.aliases.items():
            if alias.purpose is Purpose.DECLARED and name not in states.values():
                self._alias(name, alias)
        indicators = self._indicators() if version > 2 else ()
        clocks = self._clocks() if with_clocks else ()
        in_order, rates = (tuple(names[i] for i in sorted(names)) for names in (states, derivatives))
        arrays = gathered(self.out, (*in_order, *rates, *indicators, *clocks), self.count) if version > 2 else ()
        return Variables(tuple(self.out), in_order, rates, indicators, arrays)

    def _state(self, v: StepVariable) -> str:
        """What the user calls a state: of one that a pass made, the first name that stands for it."""
        if v.purpose is Purpose.DECLARED:
            return v.name
        aliases = self.step.aliases.items()
        told = (n for n, a in aliases if a.target == v.name and a.sign > 0 and a.purpose is Purpose.DECLARED)
        return next(told, v.name)

    def _put(self, v: Variable) -> None:
        if not v.alias_of:
            v = replace(v, reference=self.count)
            self.count += 1
        if v.slot is not None:
            self.by_slot.setdefault(v.slot, v)
        self.out.append(v)

    def _stem(self, stem: str) -> str:
        """Where the names of a vector begin that no variable has."""
        while any(v.name.startswith(f"{stem}[") for v in self.out):
            stem += "_"
        return stem

    def _clocks(self) -> tuple[str, ...]:
        """Each sample of the model as a periodic input clock."""
        stem, names = self._stem("clock"), list[str]()
        for sample in self.step.samples:
            times = constant_value(sample.interval), constant_value(sample.start)
            names.append(f"{stem}[{sample.index + 1}]")
            self._put(Variable(names[-1], 0, "Clock", "input", "discrete", clock=sample.index, interval=times))
        return tuple(names)

    def _indicators(self) -> tuple[str, ...]:
        stem = self._stem("eventIndicator")
        names = tuple(f"{stem}[{c.index + 1}]" for c in sorted(self.step.crossings, key=lambda c: c.index))
        for i, name in enumerate(names):
            self._put(Variable(name, 0, "Real", "local", "continuous", indicator=i))
        return names

    def _declared(self, v: StepVariable) -> Variable:
        causality, variability = self._role(v, v.causality == "output")
        return Variable(
            v.name,
            0,
            _type(v.ty),
            causality,
            variability,
            slot=v.slot,
            source=v.name,
            unit=v.unit,
            display_unit=v.display_unit,
            description=v.description,
            min=limit(v.min),
            max=limit(v.max),
            nominal=limit(v.nominal),
            enumeration=_enumeration(v.ty),
        )

    def _role(self, v: StepVariable, is_output: bool) -> tuple[str, str]:
        """Causality and variability."""
        kind = v.slot.kind
        if kind in _INPUTS and not is_output:
            return "input", "continuous" if kind is Kind.INPUT else "discrete"
        if kind in _PARAMETERS and not is_output:
            return "parameter" if v.tunable else "calculatedParameter", self.parameters
        # an output is never a parameter in FMI, but may rest
        return "output" if is_output else "local", "continuous" if kind in _CONTINUOUS else "discrete"

    def _alias(self, name: str, alias: Alias) -> None:
        is_output = alias.causality == "output"
        target = self.step.variables.get(alias.target or "")
        if target is None:
            value = constant_value(alias.value)
            if not math.isnan(value):  # texts are no signals
                self._put(_constant(name, alias, value))
            return
        if target.slot.kind not in _SHOWN:
            return
        _, variability = self._role(target, is_output)
        v = Variable(
            name,
            0,
            _type(target.ty),
            "output" if is_output else "local",
            variability,
            slot=target.slot,
            source=target.name,
            sign=alias.sign,
            unit=alias.unit,
            description=alias.description,
            enumeration=_enumeration(target.ty),
        )
        known = self.by_slot.get(target.slot)
        is_same = target.slot.kind in _COMPUTED and alias.sign > 0 and not is_output
        if known is not None and is_same and known.causality != "output":  # in FMI 3 an alias of an output is one too
            v = replace(v, reference=known.reference, alias_of=known.name, variability=known.variability)
        self._put(v)


def _constant(name: str, alias: Alias, value: float) -> Variable:
    assert alias.value is not None
    return Variable(
        name,
        0,
        _type(alias.value.ty),
        "output" if alias.causality == "output" else "local",
        "constant",
        constant=value,
        start=value,
        unit=alias.unit,
        description=alias.description,
        enumeration=_enumeration(alias.value.ty),
    )


def _enumeration(ty: Type) -> EnumType | None:
    return ty.base if isinstance(ty.base, EnumType) else None


def _type(ty: Type) -> str:
    if isinstance(ty.base, EnumType):
        return "Enumeration"
    return {BOOLEAN: "Boolean", INTEGER: "Integer", STRING: "String"}.get(ty, "Real")
