"""What a series is: which cases, what is run for each, what is measured, and which values are exceptional."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import SupportsFloat, TypeAlias

from kilohertz.base import Diagnostic, ModelError, near
from kilohertz.simulate.stepper import COUNTS
from kilohertz.solvers import StepSettings

WAYS = ("grid", "list", "latin-hypercube", "sobol", "corners", "file")
DRAWN = ("latin-hypercube", "sobol")  # by chance, in the number asked for
MODEL, VARIANT, ERROR = "model", "variant", "error"
SIDES = (MODEL, VARIANT, ERROR)
KEPT = ("exceeding", "all", "none")
# what is taken of a signal over time; of an error in parts of the signal's range
OF_SIGNAL = ("largest", "max", "min", "final", "mean", "rms", "range")
OF_ERROR = ("largest", "rms", "mean", "final")
# what a run costs: processor time of a step in microseconds and of the run in seconds, and all that is counted
TIMES = ("step_us", "seconds")
COUNTED = ("steps", "rhs", "jacobians", "state_events", "time_events")  # by every solver
COSTS = (*TIMES, *COUNTED, *(n for n in COUNTS if n not in COUNTED))


@dataclass(frozen=True, slots=True)
class Range:
    """Values from `low` to `high`: `count` of them on a grid, any in between where cases are drawn."""

    low: float
    high: float
    count: int = 0
    log: bool = False


# texts are values of Strings, literals of enumerations, or numbers with units
Axis: TypeAlias = "Range | tuple[float, ...] | tuple[str, ...]"
Numbers: TypeAlias = "Range | tuple[float, ...]"


def axis_of(name: str, values: object) -> Axis:
    """A range, a value or a list of values as it is given; R742 where it is none."""
    if isinstance(values, Range):
        return values
    listed = list(values) if isinstance(values, Iterable) and not isinstance(values, str | Mapping) else [values]
    numbers = tuple(float(v) for v in listed if isinstance(v, SupportsFloat))
    texts = tuple(v for v in listed if isinstance(v, str))
    if listed and len(numbers) == len(listed):
        return numbers
    if listed and len(texts) == len(listed):
        return texts
    known = "a number or a text, a list of numbers or of texts, or { from = ..., to = ... }"
    raise ModelError(Diagnostic("R742", f"`{name}` is {values!r}, but must be {known}"))


@dataclass(frozen=True, slots=True)
class Cases:
    """How the cases are made of the parameters' values."""

    parameters: Mapping[str, Axis] = field(default_factory=dict)
    way: str = "grid"
    count: int = 0
    seed: int = 1
    corners: bool = False  # those besides what is drawn
    file: str = ""


@dataclass(frozen=True, slots=True)
class Side:
    """A model with all that it is simulated with; what is not given comes from the model."""

    model: str
    settings: Mapping[str, float | str] = field(default_factory=dict)
    stepping: StepSettings = field(default_factory=StepSettings)
    start: float | None = None
    stop: float | None = None
    intervals: int | None = None
    inputs: str = ""  # a result file
    interpolation: str = "hold"
    rename: Mapping[str, str] = field(default_factory=dict)  # parameters of the series that are called otherwise here
    formulas: Mapping[str, str] = field(default_factory=dict)  # of inputs, over time


@dataclass(frozen=True, slots=True)
class Measure:
    """A number of each case: a signal or an expression over time, an error, or what the run cost; with thresholds."""

    signal: str = ""
    take: str = "largest"
    of: str = MODEL
    cost: str = ""
    name: str = ""
    above: float | None = None
    below: float | None = None
    variant_signal: str = ""  # where the variant calls it otherwise
    path: tuple[str | int, ...] = ()  # where it stands in the TOML

    def __post_init__(self) -> None:
        problem = self.problem()
        if problem:
            raise ModelError(Diagnostic("R742", problem))

    def problem(self) -> str:
        """What is wrong with it; empty where nothing is."""
        if bool(self.signal) == bool(self.cost):
            return "a measure has a `signal` or a `cost`, one of them"
        if self.of not in SIDES:
            return f"`of` is `{self.of}`, but must be one of {', '.join(SIDES)}{near(self.of, SIDES)}"
        if self.cost:
            if self.cost not in COSTS:
                return f"`cost` is `{self.cost}`, but must be one of {', '.join(COSTS)}{near(self.cost, COSTS)}"
            return "a cost is that of the model or of the variant" if self.of == ERROR else ""
        known = OF_ERROR if self.of == ERROR else OF_SIGNAL
        if self.take not in known:
            return f"`take` is `{self.take}`, but must be one of {', '.join(known)}{near(self.take, known)}"
        return ""

    @property
    def title(self) -> str:
        """The name of its column."""
        if self.name:
            return self.name
        what = self.cost or f"{self.take} {self.signal}"
        return what if self.of == MODEL else f"{what} ({self.of})"

    @property
    def has_threshold(self) -> bool:
        return self.above is not None or self.below is not None

    @property
    def threshold(self) -> str:
        """In words."""
        above = f"above {self.above:g}" if self.above is not None else ""
        below = f"below {self.below:g}" if self.below is not None else ""
        return " or ".join(part for part in (above, below) if part)

    @property
    def sides(self) -> tuple[str, ...]:
        """The runs it needs."""
        return (MODEL, VARIANT) if self.of == ERROR else (self.of,)

    def expression(self, side: str) -> str:
        """What is looked at on a side."""
        return self.variant_signal if side == VARIANT and self.variant_signal else self.signal


@dataclass(frozen=True, slots=True)
class Series:
    """All of it; `name` heads the reports and names the folder of results."""

    name: str
    cases: Cases
    model: Side
    variant: Side | None = None
    measures: Sequence[Measure] = ()
    record: Sequence[str] = ()  # signals whose curves are kept
    keep: str = KEPT[0]  # of which cases
    timeout: float | None = None  # seconds for a case
    libraries: Sequence[str] = ()
    file: str = ""
    text: str = ""

    def __post_init__(self) -> None:
        problems = self._problems()
        if problems:
            raise ModelError(*(Diagnostic("R742", p) for p in problems))

    def _problems(self) -> list[str]:
        titles = [m.title for m in self.measures]
        doubled = sorted({t for t in titles if titles.count(t) > 1})
        out = [f"two measures are called `{t}`: give them a `name`" for t in doubled]
        out += [f"a measure is called `{t}` as a parameter is" for t in titles if t in self.cases.parameters]
        out += [f"a measure cannot be called `{t}`" for t in titles if t in RESERVED]
        if self.variant is None and any(VARIANT in m.sides for m in self.measures):
            out.append("a measure looks at the variant or at its error, and there is no `[variant]`")
        if self.keep not in KEPT:
            out.append(f"`keep` is `{self.keep}`, but must be one of {', '.join(KEPT)}{near(self.keep, KEPT)}")
        return out

    @property
    def sides(self) -> tuple[tuple[str, Side], ...]:
        """What is run for each case, in this order."""
        both = ((MODEL, self.model), (VARIANT, self.variant))
        return tuple((name, side) for name, side in both if side is not None)


RESERVED = ("case", "status", "message", "exceeds", "seconds_taken")  # columns of the index besides
