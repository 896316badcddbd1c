"""How a fixed-step run is made from what was asked for: `auto`, inlining, mixed mode, sub-steps; with the reasons."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from kilohertz.base import Announce, Diagnostic, ModelError
from kilohertz.driver.analysing.prices_here import bounds_of
from kilohertz.driver.choices import Choice, recall, remember
from kilohertz.ir.step import Kind
from kilohertz.solvers import AUTO, INDEX_1, METHODS, PAIRS, SOLVERS, Pair, RungeKutta, StepSettings

if TYPE_CHECKING:
    from kilohertz.driver.api import Model
    from kilohertz.passes import Inlining
    from kilohertz.simulate.inputs import Driving
    from kilohertz.simulate.stiffness import Reference

# pairs of mixed mode by the name of a half: an explicit one makes no state implicit unless told, an implicit one all
_PAIRS = {"euler": "imex1", "ieuler": "imex1", "rk2": "ars222", "sdirk2": "ars222", "rk3": "ars443", "sdirk3": "ars443"}
_PAIRS[AUTO] = "ars222"
_FEW_ROWS, _NUMBERS = 500, 4_000_000  # of the reference run: at least; in all rows of all variables
_TOLERANCE_OF_REFERENCE = 1e-7  # where CVODE manages it: fixed steps are measured against this run
_INDEX_1 = f"those that have: {', '.join(INDEX_1)}"


@dataclass(frozen=True, slots=True)
class Experiment:
    """The run that a plan is for, where something is decided from a reference run: its times, values of parameters,
    and what drives its inputs."""

    start: float | None = None
    stop: float | None = None
    settings: Mapping[str, float | str] = field(default_factory=dict)
    inputs: Driving | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What is run: settings with everything decided, what is joined in an inlined stage, and sentences that say why."""

    stepping: StepSettings
    inlining: Inlining | None = None
    notes: tuple[str, ...] = ()

    def and_note(self, text: str) -> Plan:
        """The same with one more sentence."""
        return replace(self, notes=(*self.notes, text))


def make_plan(
    model: Model,
    asked: StepSettings,
    experiment: Experiment | None = None,
    announce: Announce | None = None,
    meanwhile: Callable[[], None] | None = None,
) -> Plan:
    """Decide; a reference run is made only where something is to be decided from it.

    `implicit` and `substeps` name states by patterns; `auto` in `implicit` splits by speed.  `announce` hears of work
    that takes its time; `meanwhile` is done beside it, once the model is compiled.
    """
    if not asked.is_fixed:
        return Plan(asked.check())
    if asked.solver != AUTO:
        asked.refuse_variable()
    return _Planner(model, asked, experiment or Experiment(), announce, meanwhile).run()


def one_form_only() -> ModelError:
    """Two forms of the equations were asked for that cannot be had together."""
    return ModelError(Diagnostic("R738", "the index-1 form and inlined stages exclude each other"))


class _Planner:
    def __init__(
        self,
        model: Model,
        asked: StepSettings,
        experiment: Experiment,
        announce: Announce | None,
        meanwhile: Callable[[], None] | None,
    ) -> None:
        self._model, self._asked, self._experiment, self._announce = model, asked, experiment, announce
        self._meanwhile = meanwhile if meanwhile is not None else lambda: None
        self._notes: list[str] = []

    def run(self) -> Plan:
        plan = self._method()
        if self._asked.solver == AUTO and self._asked.number != "double":
            plan = plan.and_note(f"methods were tried in doubles, the run is in {self._asked.number} precision")
        return self._index1(plan) if self._asked.index1 else plan

    def _method(self) -> Plan:
        asked = self._asked
        if asked.implicit or asked.substeps or (asked.inline and asked.solver == "euler"):
            return self._mixed()
        if isinstance(SOLVERS.get(asked.solver), Pair):
            return self._mixed()
        if asked.solver == AUTO:
            return self._auto()
        return Plan(asked, _joined() if asked.inline else None)

    def _index1(self, plan: Plan) -> Plan:
        """The same with the unknowns of nonlinear loops left to the method, where it and the model allow it."""
        is_free = self._asked.solver == AUTO
        if plan.inlining is not None and is_free and not self._asked.inline:
            plan = Plan(plan.stepping.but(inline=False), None, plan.notes)
            plan = plan.and_note("index-1 form in place of inlined stages")
        if plan.inlining is not None:
            raise one_form_only()
        ordinary, solver = replace(plan, stepping=plan.stepping.but(index1=False)), plan.stepping.solver
        method = METHODS.get(solver)
        if method is None:
            raise ModelError(Diagnostic("R738", f"solver `{solver}` has no index-1 form; {_INDEX_1}"))
        if method.index1_order < method.order and is_free:
            return ordinary.and_note(f"{solver} has no index-1 form: loops are solved in each stage")
        if not self._model.index1().algebraic:
            return ordinary.and_note("index-1 form: no nonlinear loop leads to the derivatives")
        needed = method.index1_newton if isinstance(method, RungeKutta) else 0
        stepping = plan.stepping.but(index1=True)
        return replace(plan, stepping=stepping.or_else(newton=max(stepping.newton, needed)))

    def _reference(self) -> Reference:
        return reference_of(self._model, self._asked, self._experiment)

    # ------------------------------------------------------------------------------------------------------------ auto

    def _auto(self) -> Plan:
        self._take_step()
        known = recall(self._model, self._asked, self._experiment)
        if known is not None:
            plan = make_plan(self._model, known.settings, self._experiment)
            return replace(plan, notes=(f"{known.reason} (known from before)",))
        asked = self._asked.but(index1=False)  # whatever is chosen, see `_index1`
        self._compile(asked)
        with ThreadPoolExecutor(1) as beside:
            done = beside.submit(self._meanwhile)
            plan = self._tried(asked)
            done.result()
        return plan

    def _tried(self, asked: StepSettings) -> Plan:
        """By trials against a reference run."""
        from kilohertz.simulate.trial import Task, choose_by_trial

        try:
            reference = self._reference()
        except ModelError as error:
            why = f"the reference run failed ({error.diagnostics[0].message}); an L-stable method is safe"
            return Plan(asked.but(solver="ros3prl"), None, (f"auto takes ros3prl: {why}",))
        program, e, joined = self._model.compile(), self._experiment, lambda: self._model.compile(_joined())
        bounds = partial(bounds_of, self._model)
        task = Task(program, reference, joined, asked, e.settings, e.inputs, self._announce, bounds)
        choice = choose_by_trial(task)
        c, text = choice.candidate, f"auto takes {choice.candidate.title(asked.step)}: {choice.reason}"
        remember(self._model, self._asked, e, Choice(c.stepping(asked), text))
        return Plan(c.stepping(asked), _joined() if c.inlined else None, (text,))

    def _compile(self, asked: StepSettings) -> None:
        """Compile; while the C compiler works, count what candidates are ordered by."""
        from kilohertz.simulate.trial import DEAREST

        step = self._model.process()
        with ThreadPoolExecutor(1) as beside:
            program = beside.submit(self._model.compile)
            bounds_of(self._model, step).of(DEAREST.stepping(asked))
            program.result()

    def _take_step(self) -> None:
        """Where none was given, that of the experiment annotation or the default, as every fixed-step method does."""
        interval = self._model.process().experiment.interval
        if interval:
            self._asked = self._asked.or_else(step=interval)

    # ----------------------------------------------------------------------------------------------------------- mixed

    def _mixed(self) -> Plan:
        pair = self._pair()
        states = [v.name for v in self._model.process().of_kind(Kind.STATE)]
        part = self._part(states)
        implicit = self._implicit(pair, states, part)
        self._notes.append(_division(pair.implicit.title, implicit, states))
        self._notes.append(_division(pair.explicit.title, frozenset(part or states) - implicit, states))
        stepping = self._asked.but(solver=pair.name, inline=True)
        return Plan(stepping, _joined(implicit, part), tuple(self._notes))

    def _pair(self) -> Pair:
        """The pair of methods that was asked for, by its own name or by that of a half."""
        method = SOLVERS.get(_PAIRS.get(self._asked.solver, self._asked.solver))
        if not isinstance(method, Pair):
            known = ", ".join((*(p.name for p in PAIRS), *_PAIRS))
            text = f"mixed mode and sub-steps need a pair of methods: one of {known}, not {self._asked.solver}"
            raise ModelError(Diagnostic("R723", text))
        if self._asked.substeps and method.order > 2:
            raise ModelError(Diagnostic("R723", f"sub-steps are of order 2 at most: ars222, not {self._asked.solver}"))
        return method

    def _part(self, states: Sequence[str]) -> frozenset[str] | None:
        counts = set(self._asked.substeps.values())
        if not counts:
            return None
        if len(counts) > 1:
            raise ModelError(Diagnostic("R723", "sub-steps need one number for all patterns"))
        part, count = self._matching(states, list(self._asked.substeps)), self._asked.n_substeps
        meanwhile = "goes on linearly meanwhile" + (", then by the trapezoidal rule" if self._pair().order > 1 else "")
        self._notes.append(f"{count} sub-steps for {_listed(part, states)}; the rest {meanwhile}")
        return part

    def _implicit(self, pair: Pair, states: Sequence[str], part: frozenset[str] | None) -> frozenset[str]:
        inside = frozenset(states) if part is None else part
        named = self._asked.implicit or ((AUTO,) if self._asked.solver in (pair.name, AUTO) else ())
        patterns = [p for p in named if p != AUTO]
        implicit = self._matching(states, patterns) if patterns else frozenset()
        if AUTO in named:
            implicit |= self._fast(pair)
        if not named and not _is_explicit(self._asked.solver):
            implicit = inside
        if not implicit <= inside:
            outside = ", ".join(sorted(implicit - inside))
            raise ModelError(Diagnostic("R723", f"implicit states must belong to the part with sub-steps: {outside}"))
        return implicit

    def _fast(self, pair: Pair) -> frozenset[str]:
        from kilohertz.simulate.choose import split_states

        self._take_step()
        split = split_states(self._reference(), self._asked.step / self._asked.n_substeps, pair.explicit)
        self._notes.append(split.reason)
        return split.implicit

    def _matching(self, states: Sequence[str], patterns: Sequence[str]) -> frozenset[str]:
        from kilohertz.simulate.choose import states_like

        for pattern in patterns:
            if not states_like(states, [pattern]):
                some = ", ".join(states[:8]) + (", ..." if len(states) > 8 else "")
                raise ModelError(Diagnostic("R733", f"no state is called like `{pattern}`; states are {some}"))
        return states_like(states, patterns)


def _joined(implicit: frozenset[str] | None = None, part: frozenset[str] | None = None) -> Inlining:
    """A choice of what to join; the passes are read where one is made."""
    from kilohertz.passes import Inlining

    return Inlining(implicit, part)


def reference_of(model: Model, asked: StepSettings, e: Experiment) -> Reference:
    """A careful run with CVODE that fixed steps are measured against, with a row at the end of each step."""
    from kilohertz.simulate.experiment import experiment_times
    from kilohertz.simulate.stiffness import reference_run

    program = model.compile()
    start, stop = experiment_times(program, e.start, e.stop)
    most = max(_FEW_ROWS, _NUMBERS // max(1, len(program.step.variables)))
    rows = _rows(stop - start, asked.step if "step" in asked.given else stop - start, most)
    wanted = asked.tolerance if "tolerance" in asked.given else None
    tight = _TOLERANCE_OF_REFERENCE if wanted is None else min(wanted, _TOLERANCE_OF_REFERENCE)

    def run(tolerance: float | None) -> Reference:
        return reference_run(
            program,
            start=e.start,
            stop=e.stop,
            settings=e.settings,
            inputs=e.inputs,
            intervals=rows,
            tolerance=tolerance,
            max_step=asked.max_step,
        )

    try:
        return run(tight)
    except ModelError:
        return run(wanted)


def _is_explicit(solver: str) -> bool:
    method = SOLVERS.get(solver)
    return isinstance(method, RungeKutta) and method.is_explicit


def _rows(span: float, step: float, most: int) -> int:
    """Rows of the reference run: one at the end of each step, or of every k-th where they would be too many."""
    steps = max(1, round(span / step))
    every = -(-steps // most)
    fitting = next((k for k in range(every, 2 * every) if steps % k == 0), every)
    return max(1, round(steps / fitting)) if steps >= 50 else _FEW_ROWS


def _division(method: str, names: frozenset[str], states: Sequence[str]) -> str:
    return f"{method} for {_listed(names, states)}"


def _listed(names: frozenset[str], states: Sequence[str], most: int = 6) -> str:
    if len(names) == len(states):
        return f"all {len(states)} states"
    shown = [s for s in states if s in names]
    if not shown:
        return "no state"
    return f"{len(shown)} of {len(states)} states: " + ", ".join(shown[:most]) + (", ..." if len(shown) > most else "")
