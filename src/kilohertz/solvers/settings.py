"""How a model is stepped: one record, and all that is known about each of its fields.

Every door reads this file: options of the commands, keys of a scenario, parameters of the block `Kilohertz.RealTime`,
keywords of the Python API, `khz_step_settings` in C, the cost bound and docs/reference/settings.md.  A new setting is a
line in `StepSettings`; `pytest --update-golden tests/solvers/test_doors.py` writes the texts generated from it.

Tables of methods are read when a solver is looked at: whoever wants the names of settings alone needs no numpy.
Codes: R721 no such solver, R723 a value or a combination that makes no sense, R738 the index-1 form is not possible,
R776 another number type is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal

from kilohertz.base import EXAMPLES, Diagnostic, ModelError, near, seconds
from kilohertz.runtime import words

if TYPE_CHECKING:
    from kilohertz.solvers.tableau import Method, Pair

AUTO = "auto"
VARIABLE_STEP = ("cvode", "ida")
NS = 1_000_000_000
Kind = Literal["solver", "choice", "time", "number", "count", "flag", "patterns", "counts"]


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: its name at every door, its default, what it may be, and a sentence about it."""

    name: str
    kind: Kind
    default: Any
    help: str
    low: float = 0.0
    high: float = 0.0
    choices: tuple[str, ...] = ()  # in the order of the enumeration in C; solvers: see `known`
    offline: str = ""  # what comes before the default off-line
    c: str = ""  # field of khz_step_settings; "": the model is built otherwise, or another solver takes it
    fixed: bool = True  # for fixed-step solvers alone
    variable: bool = False  # for solvers that choose their steps alone, and `auto`
    code: str = "R723"

    def understood(self, value: Any) -> Any:
        """A value as the doors have it (a text with a unit, a list), in the type of the field; else as it is."""
        if self.kind == "time" and isinstance(value, str):
            try:
                return seconds(value)
            except ValueError:
                return value
        if self.kind == "patterns":
            return (value,) if isinstance(value, str) else tuple(value) if isinstance(value, Iterable) else value
        if self.kind == "counts":
            return _counts(value)
        if self.kind in ("time", "number") and isinstance(value, Real) and not isinstance(value, bool):
            return float(value)
        if self.kind == "count" and isinstance(value, Integral) and not isinstance(value, bool):
            return int(value)  # numbers of NumPy are no int
        return value

    def problem(self, value: Any) -> Diagnostic | None:
        """What is wrong with a value, in the same words at every door."""
        if self._fits(value):
            return None
        is_name = isinstance(value, str) and bool(self.known)
        hint, shown = near(value, self.known) if is_name else "", f"`{value}`" if is_name else repr(value)
        return Diagnostic(self.code, f"`{self.name}` is {shown}, but must be {self.range}{hint}")

    def _fits(self, value: Any) -> bool:
        match self.kind:
            case "choice" | "solver":
                return value in self.known
            case "flag":
                return isinstance(value, bool)
            case "count":
                return isinstance(value, int) and not isinstance(value, bool) and self.low <= value <= self.high
            case "time" | "number":
                return isinstance(value, float) and self.low <= value <= self.high
            case "patterns":
                return isinstance(value, tuple) and all(isinstance(v, str) and v for v in value)
            case "counts":
                return isinstance(value, Mapping) and all(_is_count(k, n, self.high) for k, n in value.items())

    @property
    def known(self) -> tuple[str, ...]:
        """The names that a choice has."""
        if self.kind != "solver":
            return self.choices
        from kilohertz.solvers.methods import SOLVERS

        return (AUTO, *VARIABLE_STEP, *SOLVERS)

    @property
    def range(self) -> str:
        """What it may be, in words."""
        match self.kind:
            case "choice" | "solver":
                return f"one of {', '.join(self.known)}"
            case "flag":
                return "true or false"
            case "count":
                return f"an integer from {self.low:.12g} to {self.high:.12g}"
            case "time":
                return f"a time from {self.low:.12g} to {self.high:.12g} s such as {EXAMPLES}"
            case "number":
                return f"a number from {self.low:.12g} to {self.high:.12g}"
            case "patterns":
                return "patterns of states, such as `motor` or `motor.*`"
            case "counts":
                return f"a pattern of states and an integer from 1 to {self.high:.12g}, such as `motor` and 4"

    @property
    def default_text(self) -> str:
        """The default as a user would write it; empty where nothing is one."""
        match self.default:
            case bool(flag):
                text = "true" if flag else "false"
            case float(number):
                text = f"{1e3 * number:g} ms" if self.kind == "time" and number else f"{number:g}"
            case _:
                text = str(self.default or "")
        return f"{text}; off-line {self.offline}" if self.offline else text


def _counts(value: Any) -> Any:
    """`{pattern: N}`, or texts `pattern=N`; what is neither stays as it is."""
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list | tuple) or not all(isinstance(t, str) and "=" in t for t in texts):
        return value
    pairs = [text.rpartition("=") for text in texts]
    return {p.strip(): int(n) if n.strip().isdigit() else n for p, _, n in pairs}


def _is_count(pattern: Any, n: Any, most: float) -> bool:
    return isinstance(pattern, str) and bool(pattern) and isinstance(n, int) and 1 <= n <= most


def _setting(kind: Kind, default: Any, help: str, **more: Any) -> Any:
    """A field of `StepSettings`; `name` is filled in from the class."""
    meta = {"setting": Setting("", kind, default, help, **more)}
    return field(default_factory=dict, metadata=meta) if kind == "counts" else field(default=default, metadata=meta)


def _count(default: int, most: int, c: str, help: str) -> Any:
    return _setting("count", default, help, low=1, high=most, c=c)


_OWN_STEPS = {"fixed": False, "variable": True}
_SOLVER = "a fixed-step method, or auto, which tries some; off-line also cvode and ida"
_TOLERANCE = "relative, of cvode and ida, and of the run that auto compares with"
_LONGEST = "longest step of cvode and ida, and of the run that auto compares with; 0: as they find"
_FIRST = "that of the experiment annotation first"
_EVENTS = "where an event inside a step is handled; none: at its end"
_IMPLICIT = "mixed mode (imex1, ars222, ars443): these states implicit, the others explicit; auto takes the fast ones"
_INTERNAL = "equal steps of the whole model in each step, inputs sampled once; with auto at most so many"
_EVERY = "renew the Jacobian every so many steps, or earlier where iterations by it diverge"
_SPREAD = "make the next Jacobian a few columns in each step, until it is due (jacobian_every)"
_NEWTON = "Newton iterations per stage of a diagonally implicit method (index-1 form: as many as it needs)"
_MODES = (
    "cap of turns in a step in which mixed loops search for a mode, beyond the first in each pass; "
    "each pass after the third takes five; 0: by the model"
)
_NUMBER = "what a step computes in; time is a double in both"
_INDEX1 = "index-1 form: the method keeps the unknowns of nonlinear loops, no loop is iterated on in a step"


@dataclass(frozen=True, slots=True)
class StepSettings:
    """How a model is stepped.  `given` names what somebody asked for (`of`): the rest is open to choice (`auto`)."""

    solver: str = _setting("solver", AUTO, _SOLVER, offline="cvode", c="method", fixed=False, code="R721")
    step: float = _setting(
        "time", 1e-3, "period of fixed steps", low=1e-9, high=1e6, offline=_FIRST, c="period_ns", fixed=False
    )
    tolerance: float = _setting("number", 1e-6, _TOLERANCE, low=1e-16, high=1.0, offline=_FIRST, **_OWN_STEPS)
    max_step: float = _setting("time", 0.0, _LONGEST, high=1e8, **_OWN_STEPS)
    events: str = _setting("choice", "none", _EVENTS, choices=words("KHZ_EVENTS_"), c="events")
    newton: int = _count(2, 1000, "newton", _NEWTON)
    loop_newton: int = _count(6, 1000, "loop_newton", "cap of Newton iterations in each nonlinear loop of the model")
    event_cap: int = _count(16, 100_000, "event_cap", "cap of passes of an event iteration")
    mode_cap: int = _setting("count", 0, _MODES, high=100_000, c="mode_cap")
    events_per_step: int = _count(4, 1000, "events_per_step", "events located in one step by catch-up and exact")
    jacobian_every: int = _count(1, 1_000_000, "jacobian_every", _EVERY)
    jacobian_spread: bool = _setting("flag", False, _SPREAD, c="jacobian_spread")
    internal_steps: int = _count(1, 1000, "internal_steps", _INTERNAL)
    input_mode: str = _setting("choice", "held", "inputs over a step", choices=words("KHZ_INPUT_"), c="input_mode")
    inline: bool = _setting("flag", False, "join implicit stages with the equations of the model", c="inlined")
    index1: bool = _setting("flag", False, _INDEX1)
    implicit: tuple[str, ...] = _setting("patterns", (), _IMPLICIT)
    substeps: Mapping[str, int] = _setting(
        "counts", {}, "parts of a step for the states of a part of the model (imex1, ars222)", high=1000, c="substeps"
    )
    number: str = _setting("choice", "double", _NUMBER, choices=words("KHZ_NUMBER_"))
    given: frozenset[str] = field(default=frozenset(), compare=False)

    def __post_init__(self) -> None:
        values = {name: s.understood(getattr(self, name)) for name, s in SETTINGS.items()}
        problems = [p for name, s in SETTINGS.items() if (p := s.problem(values[name])) is not None]
        if problems:
            raise ModelError(*problems)
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @staticmethod
    def of(**values: Any) -> StepSettings:
        """From keywords; None is not given.  A value counts as given even where it is the default."""
        for name in values:
            if name not in SETTINGS:
                raise TypeError(f"there is no setting `{name}` of a step{near(name, SETTINGS)}")
        stated = {name: value for name, value in values.items() if value is not None}
        return StepSettings(**stated, given=frozenset(stated))

    def over(self, other: StepSettings) -> StepSettings:
        """These where they were given, else those of `other`."""
        mine = {name: getattr(self, name) for name in SETTINGS if name in self.given}
        return replace(other, **mine, given=self.given | other.given)

    def but(self, **values: Any) -> StepSettings:
        """The same with these values."""
        return StepSettings.of(**values).over(self)

    def or_else(self, **values: Any) -> StepSettings:
        """The same with these values where none was given; they count as chosen, not as given."""
        open_ones = {name: value for name, value in values.items() if name not in self.given}
        return replace(self, **open_ones, given=self.given)

    @property
    def period_ns(self) -> int:
        """The step in whole nanoseconds."""
        return round(self.step * NS)

    @property
    def n_substeps(self) -> int:
        """Parts of a step for what is stepped finer; 1 where nothing is."""
        return max(self.substeps.values(), default=1)

    @property
    def meets_events(self) -> bool:
        """Events inside a step are met where they are, `events_per_step` of them."""
        return self.events in ("catch-up", "exact")

    @property
    def is_fixed(self) -> bool:
        """Whether the solver has a fixed step."""
        return self.solver not in VARIABLE_STEP

    def c_values(self) -> dict[str, int | str]:
        """Fields of `khz_step_settings` in its order; the method by its name, since C alone knows its number."""
        return {s.c: self._c_value(s) for s in C_FIELDS}

    def _c_value(self, s: Setting) -> int | str:
        value = getattr(self, s.name)
        match s.kind:
            case "time":
                return self.period_ns
            case "solver":
                return str(value)
            case "choice":
                return s.choices.index(value)
            case "counts":
                return self.n_substeps
            case _:
                return int(value)

    # --------------------------------------------------------------------------------------------------- combinations

    def check(self) -> StepSettings:
        """The same, once it is decided what is run: ModelError where the settings do not fit each other."""
        if not self.is_fixed:
            wrong = [n for n, s in SETTINGS.items() if s.fixed and getattr(self, n) != s.default]
            if wrong:
                raise _wrong(f"`{', '.join(wrong)}` is for fixed-step solvers, not for `{self.solver}`")
            if "step" in self.given:
                message = f"`step` is for fixed-step solvers; `{self.solver}` chooses its own steps"
                raise _wrong(f"{message} (the solver `auto` takes fixed ones; the number of rows is `intervals`)")
            return self
        return self.check_fixed()

    def refuse_variable(self) -> None:
        """ModelError where something was given that a fixed-step method has no use for."""
        wrong = [name for name, s in SETTINGS.items() if s.variable and name in self.given]
        if wrong and self.is_fixed:
            raise _wrong(f"`{', '.join(wrong)}` is for solvers that choose their steps, not for `{self.solver}`")

    def check_fixed(self) -> StepSettings:
        """The same, for the bounded stepper."""
        from kilohertz.solvers.methods import SOLVERS
        from kilohertz.solvers.tableau import Pair, RungeKutta

        if self.solver not in SOLVERS:
            raise ModelError(not_fixed(self.solver))
        if self.period_ns % self.internal_steps:
            message = f"a step of {self.period_ns} ns cannot be divided into {self.internal_steps} internal steps"
            raise _wrong(f"{message} of whole nanoseconds each")
        if self.jacobian_spread and self.jacobian_every == 1:
            raise _wrong("`jacobian_spread` spreads a Jacobian over `jacobian_every` steps: these must be 2 at least")
        method = SOLVERS[self.solver]
        if isinstance(method, Pair):
            self._check_pair(method)
        elif self.inline and not (isinstance(method, RungeKutta) and method.n_implicit):
            raise _wrong(f"`{self.solver}` has no implicit stages that could be inlined")
        if self.index1:
            self._check_index1()
        return self

    def _check_pair(self, pair: Pair) -> None:
        if not self.inline:
            message = f"`{pair.name}` is a pair for mixed mode: the program must be built for it (--implicit PATTERN)"
            raise _wrong(message)
        if self.n_substeps > 1 and pair.order > 2:
            raise _wrong(f"sub-steps are of order 2 at most: `ars222`, not `{pair.name}`")

    def _check_index1(self) -> None:
        from kilohertz.solvers.methods import INDEX_1, METHODS
        from kilohertz.solvers.tableau import RungeKutta

        method = METHODS.get(self.solver)
        if method is None or self.solver not in INDEX_1:
            message = f"`{self.solver}` is not for the index-1 form ({_why_not(method)})"
            raise _wrong(f"{message}; those that are: {', '.join(INDEX_1)}", "R738")
        if isinstance(method, RungeKutta) and self.newton < method.index1_newton:
            needs = f"needs {method.index1_newton} Newton iterations per stage for its order, not {self.newton}"
            raise _wrong(f"`{self.solver}` in the index-1 form {needs}", "R738")


def in_doubles(stepping: StepSettings, who: str) -> StepSettings:
    """The same; ModelError where it asks for another number type of what computes in doubles alone."""
    if stepping.number == SETTINGS["number"].default:
        return stepping
    raise _wrong(f"{who} in doubles; `number = {stepping.number}` is for simulate, build, run and profile", "R776")


def not_fixed(solver: str) -> Diagnostic:
    """A solver was named that a periodic task cannot have."""
    known = ", ".join(name for name in SETTINGS["solver"].known if name not in VARIABLE_STEP)
    return Diagnostic("R721", f"no fixed-step method is called `{solver}`; there are {known}")


def _wrong(message: str, code: str = "R723") -> ModelError:
    return ModelError(Diagnostic(code, message))


def _why_not(method: Method | None) -> str:
    """What keeps a method from the index-1 form."""
    from kilohertz.solvers.tableau import Rosenbrock

    if method is not None and method.index1_order:
        return f"it keeps order {method.index1_order} of {method.order}"
    if isinstance(method, Rosenbrock):
        rest = method.amplification_at_infinity
        return f"an error of the algebraic unknowns goes on with {rest:.2f} times its size in each step"
    return "no such form"


SETTINGS: dict[str, Setting] = {
    f.name: replace(f.metadata["setting"], name=f.name) for f in fields(StepSettings) if f.metadata
}
# The fields of khz_step_settings: the 64-bit one first, so that nothing is padded.
C_FIELDS = tuple(sorted((s for s in SETTINGS.values() if s.c), key=lambda s: s.kind != "time"))
EVENTS, INPUT_MODES = SETTINGS["events"].choices, SETTINGS["input_mode"].choices
