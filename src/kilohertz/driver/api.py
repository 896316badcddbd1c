"""The Python API: `kilohertz.load(...)`, then each job in a call."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kilohertz.base import Announce, Diagnostic, Dotted, ModelError, Note, near
from kilohertz.driver.aloud import mar, tell
from kilohertz.driver.analysing.check_report import Report
from kilohertz.driver.keywords import takes_settings
from kilohertz.driver.locate import absolute, locate, search_path
from kilohertz.driver.stages import Work, keeping_of, run_to, soon, whole_step
from kilohertz.solvers import StepSettings
from kilohertz.syntax.library import Libraries

if TYPE_CHECKING:
    from kilohertz.building import ModelUnits
    from kilohertz.cost import Bounds
    from kilohertz.driver.analysing.analysis import Analysis
    from kilohertz.driver.parameters import Parameter
    from kilohertz.driver.plan import Plan
    from kilohertz.ir.flat import Flat
    from kilohertz.ir.step import Step
    from kilohertz.passes import Inlining
    from kilohertz.passes.contract import Pass
    from kilohertz.profiler import Profile
    from kilohertz.realtime import Report as RealTimeReport
    from kilohertz.results import Result
    from kilohertz.simulate import Inputs, Program, Statistics
    from kilohertz.simulate.inputs import Driving, InputValues
    from kilohertz.sweep import Measure, Range, Side
    from kilohertz.sweep import Report as SeriesReport
    from kilohertz.tuning import Tuned


def load(model: str | Path, libraries: Iterable[str | Path] = ()) -> Model:
    """Find a model: a class name, `file.mo` (its last class) or `file.mo:Class`, each with modifiers where wanted:
    `load("Tank(area = 2, level(start = 1))")`.

    Libraries are looked for in `libraries`, MODELICAPATH, those installed and our own; nothing is flattened yet.
    """
    return Session(libraries).model(model)


def _load_torn(model: str, libraries: tuple[str, ...], tear_on: tuple[str, ...]) -> Model:
    """A model that was pickled."""
    found = load(model, libraries)
    return found.torn_on(*tear_on) if tear_on else found


class Session:
    """Libraries that several models share: each source file is read once."""

    def __init__(self, libraries: Iterable[str | Path] = ()) -> None:
        self.given = tuple(str(Path(folder).absolute()) for folder in libraries)
        self.libraries = Libraries(search_path(self.given))
        self._kept: dict[str, Model] = {}

    def model(self, model: str | Path) -> Model:
        """A model by what the user calls it."""
        called = str(model)
        cls = locate(called, self.libraries)
        return Model(".".join((*cls.within, cls.name)), self, absolute(called))

    def kept(self, model: str) -> Model:
        """The same, kept with all that is worked out about it: asked for again it is the same object."""
        if model not in self._kept:
            self._kept[model] = self.model(model)
        return self._kept[model]

    def keep(self, called: str, model: Model) -> None:
        """Keep a model that is here already, for whoever asks for it by this name."""
        self._kept[called] = model

    def experiments(self, packages: Iterable[str]) -> list[str]:
        """Full names of all classes in these packages that have an experiment annotation."""
        from kilohertz.driver.experiments import experiments

        return experiments(self.libraries, packages)


class Model:
    """A model that was found; what is worked out about it is kept."""

    def __init__(self, name: str, session: Session, called: str = "") -> None:
        self.name = name
        self.session = session
        self._called = called or name
        self._work = Work(session.libraries, name)
        self._inlined: dict[Inlining, Step] = {}
        self._index1: Step | None = None
        self._names: dict[int, str] = {}  # of the two, by id: they are kept as long
        self._built: dict[tuple[int, bool], ModelUnits] = {}  # by id of a form, which is kept as long, and probes
        self._programs: dict[tuple[int, str], Program] = {}  # likewise
        self.counted: dict[int, Bounds] = {}  # likewise
        self.told: set[Diagnostic] = set()  # of `warnings`, by a run
        self._soon: Program | None = None  # of `process`, for CVODE and IDA

    def __repr__(self) -> str:
        done = ", ".join(f"{stage} {seconds:.2f} s" for stage, seconds in self.seconds.items())
        return f"<Model {self.name}{f': {done}' if done else ''}>"

    def __reduce__(self) -> tuple[Callable[..., Model], tuple[Any, ...]]:
        """Pickled by what it is called: who unpickles it finds the model anew, with the same libraries."""
        return _load_torn, (self._called, self.session.given, self._work.tear_on)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What `settings` and `--set` change as a run starts, with value, unit, limits and description.

        Parameters that follow from others or shape the model can be set too, and are compiled into another model.
        """
        from kilohertz.driver.parameters import parameters

        return parameters(self)

    def with_values(self, settings: Mapping[str, Any], *, texts: bool = True) -> tuple[Model, dict[str, float | str]]:
        """The model that can have these values of parameters, and those of them that are set as a run starts.

        Arrays go element by element; start values, parameters that follow from others or shape the model, and Strings
        where a run takes none (`texts`), are compiled into another model.
        """
        from kilohertz.driver.parameters import with_values

        return with_values(self, settings, texts=texts) if settings else (self, {})

    def modified(self, modifiers: Mapping[str, str]) -> Model:
        """The same model with modifiers compiled in; asked for again it is the same object."""
        inside = ", ".join(f"{name} = {value}" for name, value in modifiers.items())
        called = self._called.rstrip()
        called = f"{called[:-1]}, {inside})" if called.endswith(")") else f"{called}({inside})"
        found = self.session.kept(called)
        found.verify = self.verify
        return found.torn_on(*self._work.tear_on) if self._work.tear_on else found

    @property
    def seconds(self) -> dict[str, float]:
        """What each stage took so far."""
        return dict(self._work.seconds)

    @property
    def verify(self) -> bool:
        """Whether the contract of every form is checked between passes; a breach is a mistake of the compiler."""
        return self._work.verify

    @verify.setter
    def verify(self, on: bool) -> None:
        self._work.verify = on

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What was noticed so far and is not an error: all of it once the model has run, or was processed."""
        return tuple(dict.fromkeys((*self.session.libraries.diagnostics, *self._work.warnings)))

    def warnings_with(self, settings: Container[str]) -> tuple[Diagnostic, ...]:
        """The same for a run with these parameters set: what has a value now is not said to have none."""
        return tuple(w for w in self.warnings if not (w.code == "B214" and w.label in settings))

    def flatten(self) -> Flat:
        """The model without classes: variables, equations, functions."""
        run_to("flat", self._work)
        assert self._work.flat is not None
        return self._work.flat

    def flat_text(self) -> str:
        """The flat model as readable Modelica, with origins as comments."""
        from kilohertz.ir.text.flat_printer import print_flat

        return print_flat(self.flatten(), self.session.libraries.sources)

    def check(self) -> Report:
        """Count scalar equations and unknowns; diagnostics name the culprits where they differ."""
        from kilohertz.semantics import check

        balance, diagnostics = check(self.flatten())
        return Report(self.name, balance, tuple(dict.fromkeys((*self.warnings, *diagnostics))))

    def process(self) -> Step:
        """What is computed when, in which order: the equations after symbolic processing."""
        return whole_step(self._work)

    def torn_on(self, *names: str) -> Model:
        """The same model with its loops iterated on these unknowns before all others (`khz profile --tear-on`)."""
        from kilohertz.ir.step import iterated_on

        other = Model(self.name, self.session, self._called)
        other._work.tear_on = names
        known = iterated_on(other.process())
        for name in names:
            if name not in known:
                text = f"no loop of `{self.name}` can be iterated on `{name}`{near(name, known)}"
                note = f"its loops are iterated on {', '.join(known)}" if known else "it has no loop to iterate on"
                raise ModelError(Diagnostic("R793", text, notes=(Note(note),)))
        return other

    def form_after(self, name: str) -> str:
        """The text of the form that a pass leaves; passes that are optional run where they are asked for."""
        from kilohertz.driver.pipeline import print_after

        run_to("balance", self._work)
        return print_after(self.flatten(), name, verify=self._work.verify)

    def inlined(self, choice: Inlining | None = None) -> Step:
        """The same with the formula of an implicit stage joined (default: for every state)."""
        from kilohertz.passes.step.inline_stage import InlineStage, Inlining

        choice = choice or Inlining()
        if choice not in self._inlined:
            self._inlined[choice] = self._further(f"inlined {choice.label}", InlineStage(choice))
        return self._inlined[choice]

    def index1(self) -> Step:
        """The same with the unknowns of nonlinear loops left to the method of integration."""
        from kilohertz.passes.step.open_loops import OpenLoops

        if self._index1 is None:
            self._index1 = self._further("index1", OpenLoops())
        return self._index1

    def _further(self, name: str, optional: Pass) -> Step:
        """The form that an optional pass leaves, made here or by an earlier process, which kept it by this name."""
        from kilohertz.driver.pipeline import further

        keeping = keeping_of(self._work)
        form = keeping.derived(name, lambda: further(self.process(), optional, verify=self._work.verify))
        self._names[id(form)] = name
        return form

    @takes_settings()
    def analyse(self, **stepping: Any) -> Analysis:
        """What symbolic processing made of the model; with `inline` also what is left of an implicit stage, with
        `index1` what is left to the method, with `implicit` or `substeps` what a stage of mixed mode leaves; with a
        fixed-step `solver` also the cost bound of a period."""
        from kilohertz.driver.analysing.analysis import analyse
        from kilohertz.driver.analysing.prices_here import bound_here

        if not self._is_first_hand():
            return Model(self.name, self.session, self._called).analyse(**stepping)
        plan, step = self._bounded(StepSettings.of(**stepping))
        taken, sources = self._work.seconds["flatten"], self.session.libraries.sources
        analysis = analyse(self.check(), step, self._work.log, taken, sources)
        if plan is None:
            return analysis
        bound = bound_here(self, step, plan.stepping)
        return replace(analysis, bound=bound, notes=(*analysis.notes, *plan.notes))

    def _is_first_hand(self) -> bool:
        """Whether all forms are made in this process, also from now on: what passes said is not kept."""
        keeping = keeping_of(self._work)
        keeping.recalls &= keeping.was_recalled
        return not keeping.recalls

    @takes_settings()
    def cost_bound(self, solver: str, **stepping: Any) -> dict[str, Any]:
        """The most that one period of a fixed-step solver can take, in instructions of the compiler found here."""
        from kilohertz.driver.analysing.prices_here import bound_here

        plan, step = self._bounded(StepSettings.of(solver=solver, **stepping))
        assert plan is not None
        return bound_here(self, step, plan.stepping)

    def _bounded(self, asked: StepSettings) -> tuple[Plan | None, Step]:
        """How a period is made, and what it computes; None where no solver says how."""
        from kilohertz.driver.plan import make_plan, one_form_only

        # a bound is the same for every step that can be divided
        asked = asked.or_else(step=asked.internal_steps * 1e-3)
        if "solver" not in asked.given and not (asked.implicit or asked.substeps):
            if asked.inline and asked.index1:
                raise one_form_only()
            return None, self.inlined() if asked.inline else self.index1() if asked.index1 else self.process()
        plan = make_plan(self, asked)
        plan.stepping.check_fixed()
        return plan, self.planned(plan)

    def planned(self, plan: Plan) -> Step:
        """The equations in the form that a plan asks for."""
        if plan.inlining is not None:
            return self.inlined(plan.inlining)
        return self.index1() if plan.stepping.index1 else self.process()

    def compile(self, inlining: Inlining | None = None, *, index1: bool = False, number: str = "double") -> Program:
        """Process the equations symbolically, generate C, compile and load it; with `inlining` as `inlined` says, with
        `index1` in that form; `number`: what it computes in."""
        if not index1 and inlining is None and number == "double":
            run_to("program", self._work)
            assert self._work.program is not None
            return self._work.program
        from kilohertz.simulate import load_program

        form = self.index1() if index1 else self.process() if inlining is None else self.inlined(inlining)
        key = id(form), number
        if key not in self._programs:
            self._programs[key] = load_program(self.built(form).in_numbers(number))
        return self._programs[key]

    def built(self, form: Step, *, probes: bool = False) -> ModelUnits:
        """The C of one of this model's forms (`process`, `inlined`, `index1`), generated once; with `probes` it can be
        timed."""
        from kilohertz.building import PROBES

        if form is self._work.step and not probes:
            run_to("built", self._work)
            assert self._work.built is not None
            return self._work.built
        key = id(form), probes
        if key not in self._built:
            flags = PROBES if probes else ()
            self._built[key] = keeping_of(self._work).units(self._names.get(id(form), "step"), form, flags)
        return self._built[key]

    @takes_settings(offline=True)
    def simulate(
        self,
        *,
        start: float | None = None,
        stop: float | None = None,
        intervals: int | None = None,
        settings: Mapping[str, Any] | None = None,
        inputs: Inputs | InputValues | Sequence[Inputs] | None = None,
        record: str | Sequence[str] = "all",
        progress: Callable[[float], None] | None = None,
        announce: Announce | None = None,
        statistics: Statistics | None = None,
        strict: bool = False,
        **stepping: Any,
    ) -> Result:
        """Run off-line; what is not given comes from the experiment annotation.

        `settings` are values of parameters: numbers, texts such as `5 kg`, lists for arrays; also start values
        (`x.start`), and what is compiled in anew.  `inputs` drive the model over time: a result or its file, or by name
        `(times, values)`, a number, a function of time or a formula such as `"sine(frequency = 2)"`
        (docs/reference/stimuli.md); rows are held, with `Inputs(..., "linear")` lines between them; a list mixes all.
        What is chosen (`solver="auto"`, `implicit="auto"`) is told with its reason in `statistics.notes`; `announce`
        hears what is being tried.  What `khz simulate` warns of is a `ModelWarning` each: what is noticed of the model
        at its first run, what a run had to cope with at each.  Where steps failed or values are no numbers,
        `result.ok` is False and `result.problems` says where; with `strict` a `ModelError` is raised.  A run that does
        not come to its end raises one with `partial`, the result until then.
        """
        from kilohertz.driver.plan import Experiment, make_plan
        from kilohertz.simulate import Statistics, offline, simulate

        asked = offline(StepSettings.of(**stepping))
        model, values = self.with_values(settings or {})
        plan = make_plan(model, asked, Experiment(start, stop, values, inputs), announce)
        statistics = Statistics() if statistics is None else statistics
        statistics.notes = plan.notes
        result = simulate(
            model._run_with(plan),
            start=start,
            stop=stop,
            intervals=intervals,
            settings=values,
            inputs=inputs,
            record=record,
            progress=progress,
            statistics=statistics,
            stepping=plan.stepping,
        )
        if not result.ok:
            mar(model, result, strict=strict)
        marring = () if result.ok else result.problems
        tell(model, values, (w for w in statistics.warnings if w not in marring))
        return result

    def _run_with(self, plan: Plan) -> Program:
        """What an off-line run takes: for CVODE and IDA what is there soonest."""
        if plan.stepping.is_fixed or self._work.program is not None:
            return self.compile(plan.inlining, index1=plan.stepping.index1, number=plan.stepping.number)
        if self._soon is None:
            self._soon = soon(self._work)
        return self._soon

    @takes_settings()
    def profile(
        self,
        *,
        steps: int | None = None,
        start: float | None = None,
        stop: float | None = None,
        settings: Mapping[str, Any] | None = None,
        progress: Callable[[float], None] | None = None,
        announce: Announce | None = None,
        **stepping: Any,
    ) -> Profile:
        """Step off-line with every block, function and phase timed; what took how long (docs/reference/profile.md).

        `steps` or `stop` say how far; else the experiment annotation does, in at most 100 000 steps.
        """
        from kilohertz.driver.profiling import Wanted, profile_model

        model, values = self.with_values(settings or {})
        wanted = Wanted(steps, start, stop, values)
        return profile_model(model, StepSettings.of(**stepping), wanted, progress, announce)

    @takes_settings(offline=True)
    def series(
        self,
        parameters: Mapping[str, Range | Sequence[float] | Sequence[str]] | None = None,
        *,
        way: str = "grid",
        count: int = 0,
        seed: int = 1,
        corners: bool = False,
        file: str | Path = "",
        measures: Sequence[Measure] = (),
        variant: Side | Model | None = None,
        record: Sequence[str] = (),
        keep: str = "exceeding",
        timeout: float | None = None,
        start: float | None = None,
        stop: float | None = None,
        intervals: int | None = None,
        settings: Mapping[str, Any] | None = None,
        name: str = "",
        folder: str | Path | None = None,
        jobs: int | None = None,
        scheduler: str = "",
        fresh: bool = False,
        progress: Callable[[int, int, float], None] | None = None,
        **stepping: Any,
    ) -> SeriesReport:
        """Run the model, and a variant, for many values of parameters (docs/reference/series.md).

        `parameters` are values or a `Range` each; `way` says how cases are made of them: grid, list, latin-hypercube,
        sobol, corners, or file.  Results are kept in `folder`; a series that was stopped goes on from there.
        `progress` hears cases done, cases in all and seconds left.
        """
        from kilohertz.driver.studies.series import series_of_model
        from kilohertz.sweep import Cases, Means, Series, Side, axis_of

        axes = {n: axis_of(n, values) for n, values in (parameters or {}).items()}
        cases = Cases(axes, way if not file else "file", count, seed, corners, str(file))
        side = Side(self.name, settings or {}, StepSettings.of(**stepping), start, stop, intervals)
        other = Side(variant.name, settings or {}) if isinstance(variant, Model) else variant
        title = name or Dotted.read(self.name).last
        series = Series(title, cases, side, other, tuple(measures), tuple(record), keep, timeout)
        means = Means(Path(folder) if folder is not None else Path(f"{title}.series"), jobs, scheduler, fresh)
        return series_of_model(self, variant if isinstance(variant, Model) else None, series, means, progress)

    @takes_settings()
    def tune(
        self,
        *,
        error: float = 0.005,
        deadline: float | None = None,
        steps: Sequence[float] = (),
        signals: Sequence[str] = (),
        start: float | None = None,
        stop: float | None = None,
        settings: Mapping[str, Any] | None = None,
        inputs: Driving | None = None,
        announce: Announce | None = None,
        **stepping: Any,
    ) -> Tuned:
        """The cheapest settings of the step with an error of at most `error` of each signal's range.

        Searched are all settings that are not given, at `step` or at each of `steps`; `deadline` bounds what a regular
        period may take.  `signals` narrows what is compared to these and the states.  The choice is remembered: `run`
        and `auto` take it from then on.
        """
        from kilohertz.driver.plan import Experiment
        from kilohertz.driver.studies.tune import goal_of, tune

        asked = StepSettings.of(**stepping)
        asked = asked.but(step=asked.step) if not steps else asked
        model, values = self.with_values(settings or {})
        experiment = Experiment(start, stop, values, inputs)
        return tune(model, asked, goal_of(error, deadline), experiment, steps, signals, announce)

    @takes_settings()
    def run(
        self,
        *,
        duration: float | None = None,
        settings: Mapping[str, Any] | None = None,
        inputs: Inputs | InputValues | Sequence[Inputs] | None = None,
        faults: Iterable[Mapping[str, Any]] = (),
        folder: str | Path | None = None,
        **stepping: Any,
    ) -> RealTimeReport:
        """Run in real time until the duration is over or Ctrl-C; the deadline report with what was recorded.

        What is given overrides the model's own `Kilohertz.RealTime` block; `settings` are values of parameters,
        `inputs` files and formulas that drive the model, as in `simulate`, `faults` those on its signals by their keys
        (docs/reference/scenario.md).
        """
        from kilohertz.driver.job import job_of_model

        job = job_of_model(self).changed(
            StepSettings.of(**stepping), duration=duration, settings=settings, inputs=inputs, faults=faults
        )
        return job.run(folder=folder)
