"""The search: cheapest settings that are accurate enough, with few trials.

Every point has a price before it is run, the cost bound of a period at the model's rate of events.  Its run tells what
it took by the calls and iterations it made, and what share of its bound a form of the equations takes is known for the
next point.  First each method that is stable for the step is tried once, the cheapest first.  From its error and order
follows how many internal steps it would need, and so the least price at which it may be accurate enough; the method
with the least such price goes on, until none is left that could beat the best one found.  Then the other settings of
the best one are varied one by one.  What is found that way is run once more, from the start to the end and with all
variables in all rows, since a trial may be a part of the run; where it is too far off there it is rejected, and the
search goes on with trials of that kind.  At last caps are lowered as far as nothing changes.  Work is counted, not
timed: the answer is the same on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from kilohertz.base import Announce, ModelError
from kilohertz.simulate.choose import GROWTH, IMPLICIT
from kilohertz.simulate.modes import growth
from kilohertz.simulate.stiffness import Reference
from kilohertz.solvers import METHODS, SOLVERS, RungeKutta, StepSettings
from kilohertz.tuning.space import CAPS, TRIED, Space, key, makes_sense, named

_MARGIN = 0.8  # of what an order promises: how much worse a method may turn out before it is given up too early
_PROBES = 3  # event modes and forms that are tried on the best few methods


@dataclass(frozen=True, slots=True)
class Point:
    """Settings that were tried: what a second of the model costs, and how far off it is."""

    settings: StepSettings
    price: float  # instructions for a second of model time, as it ran; where it failed, as expected
    period: float  # instructions of a regular period, at most
    worst: float  # of any period
    error: float  # largest, as a share of a signal's range; infinite where the run failed
    late: float  # the same with two steps of slack in time everywhere
    badness: float
    seconds: float = 0.0  # processor time of a period, as it ran
    why: str = ""  # the variable that is off most, or how the run failed

    @property
    def title(self) -> str:
        return named(self.settings)


@dataclass(frozen=True, slots=True)
class Goal:
    """What has to be met."""

    error: float
    deadline: float | None  # seconds that a period may compute
    instructions_per_second: float

    def fits(self, period: float) -> bool:
        """Whether a regular period can be computed in time."""
        return self.deadline is None or period <= self.deadline * self.instructions_per_second


@dataclass(frozen=True, slots=True)
class Prices:
    """What a point costs before it is run: expected for a second of the model, at most for a period.

    `least` is the price where every loop converges at once, which counts as long as a form has not been run.
    """

    price: float
    period: float
    worst: float
    least: float


class Bench:
    """Runs and prices points; each once."""

    def __init__(
        self,
        price: Callable[[StepSettings], Prices],
        run: Callable[[StepSettings, Prices], Point],
        run_whole: Callable[[StepSettings, Prices], Point],
    ) -> None:
        """`run` is a trial, `run_whole` goes to the end and looks everywhere."""
        self._price, self._run, self._run_whole = price, run, run_whole
        self._prices: dict[tuple[Any, ...], Prices | None] = {}
        self._share: dict[tuple[bool, bool], float] = {}  # of its bound that a form took when it ran last
        self._whole: set[tuple[Any, ...]] = set()  # points that were run that way
        self.trials_suffice = True  # until a point is rejected that was good enough in one
        self.points: dict[tuple[Any, ...], Point] = {}

    def price(self, settings: StepSettings) -> Prices | None:
        """None where no plan can be made of these settings."""
        bound, share = self._bound(settings), self._share.get(_form(settings))
        if bound is None:
            return None
        return replace(bound, price=bound.least if share is None else bound.price * share)

    def _bound(self, settings: StepSettings) -> Prices | None:
        k = key(settings)
        if k not in self._prices:
            try:
                self._prices[k] = self._price(settings)
            except ModelError:
                self._prices[k] = None
        return self._prices[k]

    def point(self, settings: StepSettings) -> Point | None:
        """The point, run where it was not; None where it cannot be."""
        bound, prices = self._bound(settings), self.price(settings)
        if bound is None or prices is None:
            return None
        k = key(settings)
        if k not in self.points:
            p = self._ran(settings, prices, whole=not self.trials_suffice)
            if math.isfinite(p.error) and bound.price > 0:
                self._share[_form(settings)] = p.price / bound.price
        return self.points[k]

    def whole(self, point: Point) -> Point:
        """A point over the whole run; what it is known as from now on."""
        if key(point.settings) in self._whole:
            return point
        prices = self.price(point.settings)
        assert prices is not None
        return self._ran(point.settings, prices, whole=True)

    def _ran(self, settings: StepSettings, prices: Prices, *, whole: bool) -> Point:
        k = key(settings)
        if whole:
            self._whole.add(k)
        self.points[k] = (self._run_whole if whole else self._run)(settings, prices)
        return self.points[k]

    @property
    def front(self) -> list[Point]:
        """Points that no other one beats in both price and error, by price."""
        out: list[Point] = []
        for p in sorted(self.points.values(), key=lambda p: (p.price, p.error, p.worst)):
            if math.isfinite(p.error) and (not out or p.error < out[-1].error):
                out.append(p)
        return out


def _form(settings: StepSettings) -> tuple[bool, bool]:
    """Of the equations: loops left to the method, stages joined."""
    return settings.index1, settings.inline


class Search:
    """One search over a space."""

    def __init__(
        self,
        space: Space,
        reference: Reference,
        goal: Goal,
        bench: Bench,
        announce: Announce | None = None,
        is_over: Callable[[], bool] = lambda: False,
    ) -> None:
        """`is_over`: whether no further trial is allowed."""
        self.space, self.goal, self.bench, self._is_over = space, goal, bench, is_over
        self._reference, self._announce = reference, announce
        self.best: Point | None = None
        self.rejected: list[Point] = []  # good enough in a trial and not over the whole run: as they were there

    def run(self) -> Point | None:
        """The cheapest point that meets the goal over the whole run; None where none was found."""
        while (tried := self._searched()) is not None:
            whole = self.bench.whole(tried)
            if whole.error <= self.goal.error:
                return self._with_low_caps(tried, whole)
            self.rejected.append(whole)
            self.bench.trials_suffice = False
        return None

    def _searched(self) -> Point | None:
        """The cheapest point that meets the goal by what is known of it."""
        known = [p for p in self.bench.points.values() if p.error <= self.goal.error and self.goal.fits(p.period)]
        self.best = min(known, key=_cost, default=None)
        for settings in sorted(self._firsts(), key=self._price_of):
            self._try(settings)
        self._rescue()
        self._try_ways()
        self._go_on()
        if self.best is not None:
            self._vary()
        return self.best

    # ---------------------------------------------------------------------------------------------------------- trials

    def _firsts(self) -> Iterator[StepSettings]:
        """Each method once; where there are loops also in the form that leaves them to the method, and where it has a
        Jacobian also with one that is kept for long: both may make it the cheapest."""
        for step in self.space.steps:
            for solver in self.space.methods:
                first = self._first(solver, step)
                if first is None:
                    continue
                values = self.space.values(solver)
                forms = [first, *([first.but(index1=True)] if "index1" in values else [])]
                for form in forms:
                    yield form
                    if "jacobian_every" in values:
                        yield self._in_time(form.but(jacobian_every=max(values["jacobian_every"])), values)

    def _in_time(self, kept: StepSettings, values: Mapping[str, Any]) -> StepSettings:
        """A Jacobian that is kept, made in parts where one period is too short for it."""
        prices = self.bench.price(kept) if "jacobian_spread" in values else None
        return kept if prices is None or self.goal.fits(prices.period) else kept.but(jacobian_spread=True)

    def _first(self, solver: str, step: float) -> StepSettings | None:
        settings = self.space.first(solver, step)
        if self.bench.price(settings) is None:
            return None
        method = METHODS.get(solver)
        values = self._reference.eigenvalues
        if isinstance(method, RungeKutta) and method.is_explicit and len(values):
            steps = max(1.0, self._reference.span / step)
            n = next((n for n in self._counts(step) if growth(method, values, step / n, n * steps) <= GROWTH), None)
            return None if n is None else settings.but(internal_steps=n) if n > 1 else settings
        return settings

    def _counts(self, step: float) -> list[int]:
        if "internal_steps" in self.space.asked.given:
            return [self.space.asked.internal_steps]
        return [n for n in TRIED["internal_steps"] if round(step * 1e9) % n == 0]

    def _price_of(self, settings: StepSettings) -> float:
        prices = self.bench.price(settings)
        return math.inf if prices is None or not self.goal.fits(prices.period) else prices.price

    def _try(self, settings: StepSettings) -> Point | None:
        """None where it cannot be run in time, or costs no less than what is good enough."""
        prices = self.bench.price(settings)
        if prices is None or not self.goal.fits(prices.period) or self._is_over():
            return None
        if self.best is not None and (prices.price, prices.worst) >= _cost(self.best):
            return None
        if self._announce is not None and len(self.bench.points) % 10 == 0:
            after = f" after {len(self.bench.points)} others" if self.bench.points else ""
            self._announce(f"tune tries {named(settings)}{after}")
        point = self.bench.point(settings)
        if (
            point is not None
            and point.error <= self.goal.error
            and (self.best is None or _cost(point) < _cost(self.best))
        ):
            self.best = point
        return point

    def _near_misses(self) -> list[Point]:
        """Points that ran, the most promising first: the least price at which their method may be good enough."""
        ran = [p for p in self.bench.points.values() if math.isfinite(p.badness)]
        return sorted(ran, key=lambda p: (self._promise(p), p.price))

    def _promise(self, p: Point) -> float:
        """Price times the internal steps that the order asks for; events may keep it from that, but not below."""
        if p.error <= self.goal.error:
            return p.price
        order = SOLVERS[p.settings.solver].order
        needed = float(min(self._late(p) / self.goal.error, 1e12) ** (1 / order))
        return p.price * max(1.0, _MARGIN * needed)

    @staticmethod
    def _late(p: Point) -> float:
        return p.late if p.late > 0 else p.error

    def _rescue(self) -> None:
        """Where not one run came to its end: more internal steps of the safest methods, until one does."""
        safe = [n for n in self.space.methods if n in IMPLICIT] or list(self.space.methods)
        for step in self.space.steps:
            for n in self._counts(step):
                for solver in safe:
                    for events in self.space.values(solver).get("events", (self.space.asked.events,)):
                        if self._near_misses():
                            return
                        self._try(self.space.first(solver, step).but(events=events, internal_steps=n))

    def _try_ways(self) -> None:
        """Other ways to handle events and other forms, on the most promising methods."""
        for name in ("events", "inline", "index1"):
            for p in self._near_misses()[:_PROBES]:
                for value in self.space.values(p.settings.solver).get(name, ())[1:]:
                    self._try_variant(p.settings, name, value)

    def _try_variant(self, settings: StepSettings, name: str, value: Any) -> Point | None:
        chosen = {n: getattr(settings, n) for n in self.space.values(settings.solver)} | {name: value}
        return self._try(settings.but(**{name: value})) if makes_sense(chosen) else None

    def _go_on(self) -> None:
        """More internal steps for whoever may still be the cheapest, until nobody may."""
        done: set[tuple[Any, ...]] = set()
        while True:
            open_ones = [p for p in self._near_misses() if key(p.settings) not in done and self._may_win(p)]
            if not open_ones:
                return
            p = open_ones[0]
            done.add(key(p.settings))
            for settings in self._finer(p):
                point = self._try(settings)
                done.add(key(settings))
                if point is None or point.error <= self.goal.error or point.error > 0.9 * p.error:
                    break  # good enough, too expensive, or it does not help

    def _may_win(self, p: Point) -> bool:
        return p.error > self.goal.error and (self.best is None or self._promise(p) < self.best.price)

    def _finer(self, p: Point) -> Iterator[StepSettings]:
        """From the number of internal steps that the order asks for; then more."""
        order = SOLVERS[p.settings.solver].order
        needed = p.settings.internal_steps * min(self._late(p) / self.goal.error, 1e12) ** (1 / order)
        counts = [n for n in self._counts(p.settings.step) if n > p.settings.internal_steps]
        start = next((k for k, n in enumerate(counts) if n >= _MARGIN * needed), max(0, len(counts) - 1))
        for n in counts[start:]:
            yield p.settings.but(internal_steps=n)

    # ---------------------------------------------------------------------------------------------------- improvements

    def _vary(self) -> None:
        """Other values of one setting after the other, as long as that is cheaper and still good enough."""
        while True:
            before = self.best
            assert before is not None
            for name, values in self.space.values(before.settings.solver).items():
                for value in values:
                    if value != getattr(before.settings, name):
                        self._try_variant(before.settings, name, value)
            for solver in self._alike(before.settings):
                self._try(before.settings.but(solver=solver))
            if self.best is before:
                return

    def _alike(self, settings: StepSettings) -> list[str]:
        """Methods of the same family, which take the same other settings."""
        kind = type(SOLVERS[settings.solver])
        return [n for n in self.space.methods if type(SOLVERS[n]) is kind and n != settings.solver]

    def _with_low_caps(self, tried: Point, whole: Point) -> Point:
        """Caps that are lower bound the worst period tighter; the run must stay the same to the last digit, in the
        trial and over the whole run."""
        low = first = tried if self.bench.trials_suffice else whole
        for name, values in CAPS.items():
            if name not in self.space.asked.given:
                low = next((p for v in values if (p := self._with_cap(low, name, v)) is not None), low)
        if low is first:
            return whole
        again = self.bench.whole(low)
        return again if _are_alike(again, whole) else whole

    def _with_cap(self, p: Point, name: str, value: int) -> Point | None:
        """None where that bounds no tighter, or changes the trial."""
        settings = p.settings.but(**{name: value})
        prices = self.bench.price(settings)
        if prices is None or prices.worst >= p.worst:
            return None
        point = self.bench.point(settings)
        return point if point is not None and _are_alike(point, p) else None


def _cost(p: Point) -> tuple[float, float]:
    """What a run costs; where that is the same, what a period may cost at worst."""
    return p.price, p.worst


def _are_alike(p: Point, q: Point) -> bool:
    return p.error == q.error and p.late == q.late
