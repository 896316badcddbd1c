"""The Python API: `kilohertz.load(...)`, then each job in a call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kilohertz.base import Diagnostic, ModelError
from kilohertz.driver.locate import locate, search_path
from kilohertz.driver.pipeline import Work, run_to
from kilohertz.driver.report import Report
from kilohertz.syntax.library import Libraries

if TYPE_CHECKING:
    from kilohertz.building import ModelUnits
    from kilohertz.driver.analysis import Analysis
    from kilohertz.ir.flat import Flat
    from kilohertz.ir.step import Step
    from kilohertz.passes import Inlining
    from kilohertz.realtime import Report as RealTimeReport
    from kilohertz.results import Result
    from kilohertz.simulate import Program, Statistics


def load(model: str, libraries: Iterable[str | Path] = ()) -> Model:
    """Find a model: a class name, `file.mo` (its last class) or `file.mo:Class`.

    Libraries are looked for in `libraries`, in MODELICAPATH and in our own; nothing is flattened yet.
    """
    return Session(libraries).model(model)


class Session:
    """Libraries that several models share: each source file is read once."""

    def __init__(self, libraries: Iterable[str | Path] = ()) -> None:
        self.libraries = Libraries(search_path(libraries))
        self._kept: dict[str, Model] = {}

    def model(self, model: str) -> Model:
        """A model by what the user calls it."""
        cls = locate(model, self.libraries)
        return Model(".".join((*cls.within, cls.name)), self)

    def kept(self, model: str) -> Model:
        """The same, kept with all that is worked out about it: asked for again it is the same object."""
        if model not in self._kept:
            self._kept[model] = self.model(model)
        return self._kept[model]

    def experiments(self, packages: Iterable[str]) -> list[str]:
        """Full names of all classes in these packages that have an experiment annotation."""
        from kilohertz.driver.experiments import experiments

        return experiments(self.libraries, packages)


@dataclass(frozen=True, slots=True)
class Mixed:
    """Mixed mode as `simulate` takes it: patterns of implicit states, sub-steps by pattern, the step they are for."""

    implicit: Sequence[str] = ()
    substeps: Mapping[str, int] = field(default_factory=dict)
    step: float | None = None


class Model:
    """A model that was found; what is worked out about it is kept."""

    def __init__(self, name: str, session: Session) -> None:
        self.name = name
        self.session = session
        self._work = Work(session.libraries, name)
        self._inlined: dict[Inlining, Step] = {}
        self._index1: Step | None = None
        self._built: dict[int, ModelUnits] = {}  # by id of a form, which is kept as long
        self._programs: dict[int, Program] = {}  # likewise

    @property
    def seconds(self) -> dict[str, float]:
        """What each stage took so far."""
        return dict(self._work.seconds)

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What was noticed so far and is not an error."""
        return (*self.session.libraries.diagnostics, *self._work.warnings)

    def flatten(self) -> Flat:
        """The model without classes: variables, equations, functions."""
        run_to("flat", self._work)
        assert self._work.flat is not None
        return self._work.flat

    def flat_text(self) -> str:
        """The flat model as readable Modelica, with origins as comments."""
        from kilohertz.ir.printer import print_flat

        return print_flat(self.flatten(), self.session.libraries.sources)

    def check(self) -> Report:
        """Count scalar equations and unknowns; diagnostics name the culprits where they differ."""
        from kilohertz.semantics import check

        balance, diagnostics = check(self.flatten())
        return Report(self.name, balance, (*self.warnings, *diagnostics))

    def process(self) -> Step:
        """What is computed when, in which order: the equations after symbolic processing."""
        run_to("step", self._work)
        assert self._work.step is not None
        return self._work.step

    def inlined(self, choice: Inlining | None = None) -> Step:
        """The same with the formula of an implicit stage joined (default: for every state)."""
        from kilohertz.passes import Inlining, inline

        choice, step, dae = choice or Inlining(), self.process(), self._work.log.dae
        if choice not in self._inlined:
            assert dae is not None
            self._inlined[choice] = inline(dae, step, choice)
        return self._inlined[choice]

    def index1(self) -> Step:
        """The same with the unknowns of nonlinear loops left to the method of integration."""
        from kilohertz.passes import index1

        if self._index1 is None:
            step, dae = self.process(), self._work.log.dae
            assert dae is not None
            self._index1 = index1(step, dae.functions)
        return self._index1

    def analyse(
        self,
        inline: bool = False,
        solver: str | None = None,
        index1: bool = False,
        *,
        mixed: Mixed | None = None,
        **stepping: Any,
    ) -> Analysis:
        """What symbolic processing made of the model; with `inline` also what is left of an implicit stage, with
        `index1` what is left to the method, with a fixed-step `solver` also the cost bound of a period (keywords as for
        `cost_bound`); `mixed` says what a stage of mixed mode leaves."""
        from kilohertz.driver.analysis import analyse

        if mixed is not None:
            return self._analyse_mixed(mixed, solver, stepping)
        if inline and index1:
            raise ModelError(Diagnostic("R738", "the index-1 form and inlined stages exclude each other"))
        report, step = self.check(), self.inlined() if inline else self.index1() if index1 else self.process()
        found = analyse(report, step, self._work.log, self._work.seconds["flatten"], self.session.libraries.sources)
        if solver is None:
            return found
        if index1:
            from kilohertz.driver.plan import Request, make_plan

            stepping = {**make_plan(self, Request(solver, None, index1=True)).stepping, **stepping}
        return replace(found, bound=self.cost_bound(solver, inlined=inline, **stepping))

    def _analyse_mixed(self, mixed: Mixed, solver: str | None, stepping: Mapping[str, Any]) -> Analysis:
        from kilohertz.cost import cost_bound
        from kilohertz.driver.analysis import analyse
        from kilohertz.driver.plan import Request, make_plan

        plan = make_plan(self, Request(solver or "ars222", mixed.step, False, mixed.implicit, mixed.substeps))
        step = self.inlined(plan.inlining)
        found = analyse(
            self.check(), step, self._work.log, self._work.seconds["flatten"], self.session.libraries.sources
        )
        bound = cost_bound(step, plan.solver, **{**stepping, **plan.stepping})
        return replace(found, bound=bound, notes=(*found.notes, *plan.notes))

    def cost_bound(self, solver: str, **stepping: Any) -> dict[str, Any]:
        """The most that one period of a fixed-step solver can take; keywords as for `simulate`."""
        from kilohertz.cost import cost_bound
        from kilohertz.simulate import Stepping

        Stepping(solver, stepping.get("internal_steps", 1), **stepping)  # says what is wrong with them
        is_open = stepping.pop("index1", False)
        step = self.inlined() if stepping.get("inlined") else self.index1() if is_open else self.process()
        return cost_bound(step, solver, **stepping)

    def compile(self, inlining: Inlining | None = None, *, index1: bool = False) -> Program:
        """Process the equations symbolically, generate C, compile and load it; with `inlining` as `inlined` says, with
        `index1` in that form."""
        if not index1 and inlining is None:
            run_to("program", self._work)
            assert self._work.program is not None
            return self._work.program
        from kilohertz.simulate import load_program

        form = self.index1() if index1 else self.inlined(inlining)
        if id(form) not in self._programs:
            self._programs[id(form)] = load_program(self.built(form))
        return self._programs[id(form)]

    def built(self, form: Step) -> ModelUnits:
        """The C of one of this model's forms (`process`, `inlined`, `index1`), generated once."""
        from kilohertz.building import model_units

        if form is self._work.step:
            run_to("built", self._work)
            assert self._work.built is not None
            return self._work.built
        if id(form) not in self._built:
            self._built[id(form)] = model_units(form, self.session.libraries.sources)
        return self._built[id(form)]

    def simulate(
        self,
        *,
        start: float | None = None,
        stop: float | None = None,
        solver: str = "cvode",
        step: float | None = None,
        tolerance: float | None = None,
        intervals: int | None = None,
        settings: Mapping[str, float | str] | None = None,
        record: str | Sequence[str] = "all",
        progress: Callable[[float], None] | None = None,
        told: Callable[[str], None] | None = None,
        statistics: Statistics | None = None,
        inline: bool = False,
        implicit: Sequence[str] = (),
        substeps: Mapping[str, int] | None = None,
        internal_steps: int | None = None,
        index1: bool = False,
        **stepping: Any,
    ) -> Result:
        """Run off-line; what is not given comes from the experiment annotation.

        `solver` is cvode, ida, a fixed-step method or `auto`, which chooses one and tells why in `statistics.notes`;
        `told` hears what `auto` is trying.
        `inline` joins implicit stages with the equations; `implicit` names states (patterns, or `auto`) for mixed mode;
        `substeps` gives a part of the model, by pattern, smaller steps; `internal_steps` gives the whole model so many
        in each step (with `auto`: at most so many); `index1` leaves the unknowns of nonlinear loops to the method.
        Fixed-step solvers take further keywords: events, newton, input_mode, jacobian_every, ... (`Stepping`).
        """
        from kilohertz.driver.plan import Request, make_plan
        from kilohertz.simulate import simulate

        given = {"start": start, "stop": stop, "tolerance": tolerance, "settings": settings}
        fixed = (internal_steps, stepping)
        plan = make_plan(self, Request(solver, step, inline, implicit, substeps or {}, given, *fixed, told, index1))
        if statistics is not None:
            statistics.notes = plan.notes
        return simulate(
            self.compile(plan.inlining, index1=bool(plan.stepping.get("index1"))),
            start=start,
            stop=stop,
            solver=plan.solver,
            step=step,
            tolerance=tolerance,
            intervals=intervals,
            settings=settings,
            record=record,
            progress=progress,
            statistics=statistics,
            **{**plan.stepping, **stepping},
        )

    def run(
        self,
        *,
        step: float = 1e-3,
        solver: str = "auto",
        duration: float | None = None,
        settings: Mapping[str, float] | None = None,
        folder: str | Path | None = None,
    ) -> RealTimeReport:
        """Run in real time until the duration is over or Ctrl-C; the deadline report with what was recorded."""
        from kilohertz.driver.realtime import adjusted, run
        from kilohertz.realtime import plain_scenario

        scenario = plain_scenario(self.name, step=step, solver=solver, duration=duration, settings=settings)
        return run(self.session, adjusted(scenario), folder=folder)
