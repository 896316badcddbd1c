"""`tune` on a model: the reference run, prices and runs of points, the answer and what it is worth."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from kilohertz.base import Announce, Diagnostic, ModelError, percent
from kilohertz.cost import Bounds
from kilohertz.driver.analysing.prices_here import prices_here
from kilohertz.driver.choices import Choice, remember
from kilohertz.driver.plan import Experiment, make_plan, reference_of
from kilohertz.results import Result, Selection
from kilohertz.simulate import Statistics, simulate
from kilohertz.simulate.choose import split_states
from kilohertz.simulate.distance import Judge
from kilohertz.simulate.stiffness import Reference
from kilohertz.simulate.trial import ABOUT, INSTRUCTIONS_PER_SECOND, badness_of
from kilohertz.solvers import AUTO, PAIRS, StepSettings
from kilohertz.solvers.settings import in_doubles
from kilohertz.tuning import Bench, Goal, Point, Prices, Search, Space, Tuned, has_nonlinear_loops, is_small, key

if TYPE_CHECKING:
    from kilohertz.driver.api import Model
    from kilohertz.driver.plan import Plan
    from kilohertz.ir.step import Step

_INSTRUCTIONS_OF_TRIAL = 2e9  # of a point with one internal step of the cheapest implicit method: cuts what is tried
_INSTRUCTIONS_OF_ALL = 1e11
_RENEWED = 0.1  # share of inlined stages whose loops need a new Jacobian
_LIKELY = {"events_per_step": 1, "event_cap": 3, "mode_cap": 1}  # of an event as it usually is, not as it is at worst
_LEAST_STEPS = 50
_NEAREST = 4  # of those tried that are run to the end where nothing meets the goal


def tune(
    model: Model,
    asked: StepSettings,
    goal: Goal,
    experiment: Experiment | None = None,
    steps: Sequence[float] = (),
    signals: Sequence[str] = (),
    announce: Announce | None = None,
) -> Tuned:
    """The cheapest settings of the step that meet the goal; the most accurate that fit where none does."""
    began = time.perf_counter()
    in_doubles(asked, "settings are searched for")
    e = experiment or Experiment()
    several = tuple(steps) or (asked.step,)
    asked = asked.but(step=several[0])
    reference = _narrowed(reference_of(model, asked, e), signals)
    space = space_of(model, asked, several, reference)
    trials = Trials(model, reference, e)
    bench = trials.bench()
    search = Search(space, reference, goal, bench, announce, lambda: trials.is_over)
    best = search.run()
    notes = ("no more work is allowed: not all that is open was tried",) if trials.is_over else ()
    if best is None:
        chosen, why = _nearest(bench, goal, *_auto(model, asked, e, bench, announce))
        notes = (*notes, "the search found nothing that is accurate enough and fits", *why)
    else:
        chosen = best
    is_ok = chosen.error <= goal.error and goal.fits(chosen.period)
    if is_ok:
        _remember(model, asked, e, chosen, goal, len(bench.points))
    points, front, rejected = tuple(bench.points.values()), tuple(bench.front), tuple(search.rejected)
    return Tuned(model.name, goal, chosen, points, front, rejected, is_ok, notes, time.perf_counter() - began)


def _remember(model: Model, asked: StepSettings, e: Experiment, p: Point, goal: Goal, tried: int) -> None:
    """For `khz run` and `auto`: over these times, and where nobody says times."""
    reason = f"tune takes {p.title}: the cheapest of {tried} tried that is within {percent(goal.error)}"
    reason += f", off by at most {percent(p.error)} of the range"
    for times in (e, replace(e, start=None, stop=None)):
        remember(model, asked, times, Choice(p.settings, reason))


def space_of(model: Model, asked: StepSettings, steps: tuple[float, ...], reference: Reference) -> Space:
    """What is open for a model, from what was seen along its reference run."""
    form = model.process()
    implicit = {}
    for pair in PAIRS:
        for step in steps:
            names = split_states(reference, step, pair.explicit).implicit if reference.states else frozenset()
            whole = len(names) == len(reference.states)
            implicit[pair.name, step] = () if whole else tuple(n for n in reference.states if n in names)
    loops, small = has_nonlinear_loops(form), is_small(form)
    return Space(asked, steps, bool(reference.n_events), loops, small, implicit)


def _auto(
    model: Model, asked: StepSettings, e: Experiment, bench: Bench, announce: Announce | None
) -> tuple[Point, tuple[str, ...]]:
    """The search found nothing: what `auto` takes, which has its own rule for that."""
    plan = make_plan(model, asked.but(solver=AUTO), e, announce)
    point = bench.point(plan.stepping)
    if point is None:
        raise ModelError(Diagnostic("R775", f"no settings were found that `{model.name}` can be stepped with"))
    return bench.whole(point), plan.notes


def _nearest(bench: Bench, goal: Goal, auto: Point, notes: tuple[str, ...]) -> tuple[Point, tuple[str, ...]]:
    """What `auto` takes, unless another one that was tried is clearly nearer over the whole run and fits no less."""
    nearest = auto
    others = [p for p in bench.points.values() if goal.fits(p.period) or not goal.fits(auto.period)]
    for p in sorted(others, key=lambda p: (p.badness, p.price))[:_NEAREST]:
        if auto.late <= goal.error or ABOUT * p.badness >= nearest.badness:
            break
        nearest = min(nearest, bench.whole(p), key=lambda p: p.badness)
    if ABOUT * nearest.badness >= auto.badness:
        return auto, notes
    return nearest, (f"{nearest.title} is nearer over the whole run than what auto takes, {auto.title}",)


def _narrowed(reference: Reference, signals: Sequence[str]) -> Reference:
    """With the chosen signals and the states alone, where some are chosen."""
    if not signals:
        return reference
    selection, result = Selection(tuple(signals)), reference.result
    taken = {n: s for n, s in result.signals.items() if selection.takes(n, is_output=False) or n in reference.states}
    problems = selection.problems(result.signals)
    if problems:
        raise ModelError(*problems)
    return replace(reference, result=Result(result.name, result.time, result.data, taken))


class _Instructions(NamedTuple):
    """Bounds of a step: on the average of kept and new Jacobians, regular, worst, and what an event adds as a rule."""

    period: float
    regular: float
    worst: float
    event: float


class _Piece(NamedTuple):
    """Of the run: who judges it, where it ends, and how many steps that is."""

    judge: Judge
    stop: float
    steps: float


class Trials:
    """Prices and runs points of one model; no more of them once all work that is allowed has been done."""

    def __init__(self, model: Model, reference: Reference, e: Experiment) -> None:
        self._model, self._reference, self._e = model, reference, e
        self._plans: dict[tuple[Any, ...], Plan] = {}
        self._pieces: dict[tuple[float, bool], _Piece] = {}
        self._target = prices_here()
        self._rate = reference.n_events / reference.span if reference.span > 0 else 0.0
        self._spent = 0.0
        self._forms: dict[int, tuple[Step, Bounds]] = {}  # by the identity of a form, which is kept for that
        self._each_step: dict[tuple[Any, ...], _Instructions] = {}

    def bench(self) -> Bench:
        return Bench(self.price, self.run, self.run_whole)

    def plan(self, settings: StepSettings) -> Plan:
        k = key(settings)
        if k not in self._plans:
            plan = make_plan(self._model, settings, self._e)
            plan.stepping.check_fixed()
            self._plans[k] = plan
        return self._plans[k]

    def price(self, settings: StepSettings) -> Prices:
        """Expected for a second of the model: regular periods, and as many with an event as the reference run had."""
        self.plan(settings)  # whether there is one
        n, step = settings.internal_steps, settings.step
        each, least = (self._each(settings.but(internal_steps=1, loop_newton=c)) for c in (settings.loop_newton, 1))
        price, lowest = (n * i.period / step + min(self._rate, n / step) * i.event for i in (each, least))
        return Prices(price, n * each.regular, n * each.worst, lowest)

    def _each(self, settings: StepSettings) -> _Instructions:
        """Of one internal step: so many are so many times the work."""
        k = key(settings)
        if k not in self._each_step:
            plan = self.plan(settings)
            bounds, stepping = self._bounds(self._model.planned(plan)), plan.stepping
            bound = bounds.of(stepping)
            regular, worst = (float(bound[case]["instructions"]) for case in ("regular", "worst"))
            kept = float(bound.get("kept", bound["regular"])["instructions"])
            if stepping.jacobian_spread:  # after the first step, or an event, each has its part
                regular = kept
            share = _RENEWED if stepping.inline else 1 / stepping.jacobian_every
            period = share * regular + (1 - share) * kept
            event = 0.0
            if self._rate:
                once = bounds.of(stepping.but(**_LIKELY))
                event = max(0.0, float(once["event"]["instructions"] - once["regular"]["instructions"]))
            self._each_step[k] = _Instructions(period, regular, worst, event)
        return self._each_step[k]

    def _bounds(self, form: Step) -> Bounds:
        if id(form) not in self._forms:
            self._forms[id(form)] = form, Bounds(form, self._target)
        return self._forms[id(form)][1]

    @property
    def is_over(self) -> bool:
        """No more work is allowed."""
        return self._spent > _INSTRUCTIONS_OF_ALL

    def run(self, settings: StepSettings, prices: Prices) -> Point:
        """Run a point against the first part of the reference, as much of it as work allows."""
        return self._ran(settings, prices, self._piece(settings.step, whole=False), everywhere=False)

    def run_whole(self, settings: StepSettings, prices: Prices) -> Point:
        """Run a point against all of the reference, and look at all variables in all rows."""
        return self._ran(settings, prices, self._piece(settings.step, whole=True), everywhere=True)

    def _ran(self, settings: StepSettings, prices: Prices, piece: _Piece, *, everywhere: bool) -> Point:
        plan, statistics = self.plan(settings), Statistics()
        began = time.thread_time()
        try:
            result = simulate(
                self._model.compile(plan.inlining, index1=plan.stepping.index1),
                start=float(self._reference.result.time[0]),
                stop=piece.stop,
                instants=piece.judge.due,
                settings=self._e.settings,
                inputs=self._e.inputs,
                record=piece.judge.names,
                statistics=statistics,
                stepping=plan.stepping,
            )
        except ModelError as error:
            self._spent += piece.steps * prices.period
            return _failed(settings, prices, error.diagnostics[0].message)
        taken = self._taken(plan, statistics)
        self._spent += piece.steps * taken
        seconds = (time.thread_time() - began) / max(1.0, piece.steps)
        if held := statistics.counts.get("held"):
            return _failed(settings, prices, f"{held} steps failed")
        d = piece.judge.distances(result, everywhere=everywhere)
        return Point(
            settings,
            taken / settings.step,
            prices.period,
            prices.worst,
            d.largest,
            d.largest_late,
            badness_of(d),
            seconds,
            d.farthest,
        )

    def _taken(self, plan: Plan, statistics: Statistics) -> float:
        """Instructions of a period on the average of a run, by the calls and iterations it made."""
        bounds = self._bounds(self._model.planned(plan))
        return bounds.of_run(plan.stepping, statistics.counts, statistics.loop_iterations)

    def _piece(self, step: float, *, whole: bool) -> _Piece:
        """What runs with this step are judged by."""
        r = self._reference
        start, last, all_steps = float(r.result.time[0]), float(r.result.time[-1]), max(1.0, r.span / step)
        steps = all_steps
        if not whole:
            steps = min(steps, max(float(_LEAST_STEPS), math.floor(_INSTRUCTIONS_OF_TRIAL / self._cheapest(step))))
        at = step, steps >= all_steps
        if at not in self._pieces:
            stop = min(last, start + steps * step)
            self._pieces[at] = _Piece(Judge(r.result, r.states, step, stop), stop, steps)
        return self._pieces[at]

    def _cheapest(self, step: float) -> float:
        settings = StepSettings.of(solver="rodas4", step=step)
        return float(self._bounds(self._model.process()).of(settings)["regular"]["instructions"])


def _failed(settings: StepSettings, prices: Prices, why: str) -> Point:
    return Point(settings, prices.price, prices.period, prices.worst, math.inf, math.inf, math.inf, why=why)


def goal_of(error: float, deadline: float | None) -> Goal:
    """With what a processor does in a second, as `auto` has it."""
    if not 0 < error < 1:
        raise ModelError(Diagnostic("R775", f"the error is a share of a signal's range between 0 and 1, not {error:g}"))
    return Goal(error, deadline, INSTRUCTIONS_PER_SECOND)
