"""`auto` by trial: candidates run against the reference run, and the first that is near enough is taken.

What the eigenvalues suggest (`choose`) comes first.  Where it is off by more than `TOLERANCE`, other methods and ways
to handle events follow in the order of their cost bound, then inlined methods, then internal steps, fewest first: so
the first one near enough is the cheapest of what was tried.  Where none is, the best one is taken, and among those
about as good the cheapest.  Work is counted, not timed: the same model gets the same answer on every machine.

Trials run side by side, and are judged in their order: what was tried ahead of the answer does not count.  One that is
off by more than `TOLERANCE` already waits: by how much it is off in the end counts only where none is near.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kilohertz.base import Announce, ModelError, percent
from kilohertz.cost import Bounds
from kilohertz.ir.step import Step
from kilohertz.simulate.choose import EXPLICIT, GROWTH, IMPLICIT, Choice, choose_solver
from kilohertz.simulate.distance import SLACK_STEPS, Ahead, Distances, Floats, Judge
from kilohertz.simulate.inputs import Driving
from kilohertz.simulate.modes import growth
from kilohertz.simulate.offline_run import Statistics, simulate
from kilohertz.simulate.program import Program
from kilohertz.simulate.recorder import Recorder, make_recorder
from kilohertz.simulate.stiffness import Reference
from kilohertz.solvers import METHODS, StepSettings

TOLERANCE = 0.005  # of the range of each variable
INLINED = ("ieuler", "sdirk2", "sdirk4")
INTERNAL_STEPS = (2, 5, 10, 20)
MOST_INTERNAL_STEPS = INTERNAL_STEPS[-1]
# Internal steps are taken only where a processor of 4e9 instructions per second can do them in time; the bound of a
# regular step is about one and a half times what is measured.
INSTRUCTIONS_PER_SECOND = 6e9
EVENTS = ("catch-up", "exact", "none", "mid", "hermite")
_INSTRUCTIONS_OF_TRIAL = 4.8e9  # of the most expensive method with one internal step: cuts the piece that is tried
_ANNOUNCED_EVERY = 10  # trials for a line of progress
_INSTRUCTIONS_OF_ALL = 1e11
ABOUT = 1.15  # about as good: a badness within this factor
_HARDLY = 0.1  # a badness: one variable in a hundred is off, and no state
_MOST_UNKNOWNS_INLINED = 1500
_LEADERS = 4  # that go on to more internal steps
_AT_ONCE = 2  # trials


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a fixed-step run may be made with."""

    solver: str
    events: str = "none"
    internal_steps: int = 1
    inlined: bool = False

    def stepping(self, asked: StepSettings) -> StepSettings:
        """What was asked for, with this decided."""
        return asked.but(
            solver=self.solver, events=self.events, internal_steps=self.internal_steps, inline=self.inlined
        )

    def title(self, step: float) -> str:
        """As the reason begins."""
        parts = [self.solver, "inlined" if self.inlined else ""]
        if self.internal_steps > 1:
            parts.append(f"{self.internal_steps} internal steps of {step / self.internal_steps:g} s")
        return ", ".join(p for p in parts if p)


DEAREST = Candidate(IMPLICIT[-1])  # its bound takes the counts of all others


@dataclass(frozen=True, slots=True)
class Measured:
    """A candidate and how it did."""

    candidate: Candidate
    cost: float  # bound of a period, in instructions
    distances: Distances | None  # None: the run failed or was held

    @property
    def error(self) -> float:
        return self.distances.largest if self.distances is not None else float("inf")

    @property
    def late_error(self) -> float:
        """With slack in time everywhere."""
        return self.distances.largest_late if self.distances is not None else float("inf")

    @property
    def badness(self) -> float:
        """See `badness_of`; infinite where the run failed."""
        return float("inf") if self.distances is None else badness_of(self.distances)

    @property
    def is_near(self) -> bool:
        return self.error <= TOLERANCE


def badness_of(distances: Distances) -> float:
    """How far off the states are on the average, plus all variables: with the logarithm of error over limit."""
    each, states = np.log1p(distances.late / TOLERANCE), distances.states
    return sum(float(part.mean()) for part in (each, each[states]) if part.size)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is taken, and the sentence about the trial."""

    candidate: Candidate
    reason: str


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be decided, and what is fixed."""

    program: Program
    reference: Reference
    inlined: Callable[[], Program]  # the program with its stages joined, built when it is needed
    asked: StepSettings  # `events` that are given leave one way only; `internal_steps` are the most there may be
    settings: Mapping[str, float | str] = field(default_factory=dict)
    inputs: Driving | None = None
    announce: Announce | None = None
    bounds: Callable[[Step], Bounds] = Bounds  # where they are kept

    @property
    def step(self) -> float:
        return self.asked.step

    @property
    def most_internal_steps(self) -> int:
        return self.asked.internal_steps if "internal_steps" in self.asked.given else MOST_INTERNAL_STEPS


class _Left(Exception):
    """Nobody wants to know any more how a trial does."""


class _Attempt:
    """A trial in a thread of its own, which waits once `ahead` finds it beyond the limit."""

    def __init__(self, candidate: Candidate, ahead: Ahead | None) -> None:
        self.candidate, self._ahead = candidate, ahead
        self.is_waiting, self._is_left = False, False
        self._is_known, self._goes_on = threading.Event(), threading.Event()
        self._found: Future[Distances | None] = Future()

    def begin(self, run: Callable[[Callable[[Floats], None]], Distances | None]) -> _Attempt:
        """`run` hands its rows on as they come."""
        threading.Thread(target=self._work, args=(run,), daemon=True).start()
        return self

    def known(self) -> Distances | None:
        """How far off it is, once it is over or waits: None for one that waits."""
        self._is_known.wait()
        return None if self.is_waiting else self.result()

    def result(self) -> Distances | None:
        """How far off it is in the end; None where it failed."""
        return self._found.result()

    def go_on(self) -> None:
        self._goes_on.set()

    def leave(self) -> None:
        """It ends as soon as it hands on rows again."""
        self._is_left = True
        self._goes_on.set()

    def _work(self, run: Callable[[Callable[[Floats], None]], Distances | None]) -> None:
        try:
            self._found.set_result(run(self._hear))
        except BaseException as error:  # raised by `result`, in the thread of the caller
            self._found.set_exception(error)
        finally:
            self._is_known.set()

    def _hear(self, rows: Floats) -> None:
        if not self.is_waiting and self._ahead is not None and self._ahead.is_beyond(rows):
            self.is_waiting = True
            self._is_known.set()
            self._goes_on.wait()
        if self._is_left:
            raise _Left


def choose_by_trial(task: Task) -> Outcome:
    """Try until one is near enough, or all have been tried."""
    return _Trial(task).run()


class _Trial:
    def __init__(self, task: Task) -> None:
        self._t = task
        self._measured: dict[Candidate, Measured] = {}
        self._spent, self._is_cut = 0.0, False
        self._in_vain = 0  # numbers of internal steps in a row that brought nothing
        self._bounds: dict[bool, Bounds] = {}  # of the model as it is, and with joined stages
        self._costs: dict[tuple[bool, str, str], dict[str, Any]] = {}
        self._recorders: dict[bool, Recorder] = {}  # likewise: what is compared, and nothing else
        self._begun: list[_Attempt] = []
        time = task.reference.result.time
        self._start = float(time[0])
        steps = max(1.0, task.reference.span / task.step)
        each = self._cost(DEAREST)["regular"]["instructions"]
        self._steps = min(steps, max(50.0, float(np.floor(_INSTRUCTIONS_OF_TRIAL / each))))
        self._stop = min(float(time[-1]), self._start + self._steps * task.step)
        self._judge = Judge(task.reference.result, task.reference.states, task.step, self._stop)

    def run(self) -> Outcome:
        first = choose_solver(self._t.reference, self._t.step)
        try:
            for batch in self._batches(first):
                for measured in self._tried(batch):
                    if measured.is_near:
                        return self._near(measured, first)
            self._end_waiting()
        finally:
            for attempt in self._begun:
                attempt.leave()
        return self._best(first)

    # ------------------------------------------------------------------------------------------------------ candidates

    def _batches(self, choice: Choice) -> Iterator[list[Candidate]]:
        """Candidates in their order; none depends on how others of its batch do."""
        yield [self._shaped(choice, 1)]
        yield self._others()
        yield self._joined()
        yield from self._finer()

    def _shaped(self, choice: Choice, internal_steps: int) -> Candidate:
        """What the eigenvalues say, as the user lets it be."""
        events = self._t.asked.events if "events" in self._t.asked.given else choice.events
        if self._t.asked.inline and choice.solver in _JOINED:
            return Candidate(_JOINED[choice.solver], events, internal_steps, True)
        return Candidate(choice.solver, events, internal_steps)

    def _others(self) -> list[Candidate]:
        """Stable explicit and L-stable methods with each way to handle events, by cost."""
        steps = max(1.0, self._t.reference.span / self._t.step)
        values = self._t.reference.eigenvalues
        names = [n for n in EXPLICIT if growth(METHODS[n], values, self._t.step, steps) <= GROWTH]
        names += [] if self._t.asked.inline else IMPLICIT
        return self._by_cost(Candidate(n, e) for n in names for e in self._events())

    def _joined(self) -> list[Candidate]:
        if not self._is_small and not self._t.asked.inline:
            return []
        return self._by_cost(Candidate(n, e, 1, True) for n in INLINED for e in self._events()[:3])

    def _finer(self) -> Iterator[list[Candidate]]:
        """More and more internal steps, with the best so far and with what the eigenvalues say for such a step."""
        for n in self._counts():
            self._end_waiting()
            choice = choose_solver(self._t.reference, self._t.step / n)
            options = [self._shaped(choice, n)]
            options += [replace(c, internal_steps=n) for c in self._leaders()]
            if not self._t.asked.inline:
                options.append(Candidate(IMPLICIT[-1], self._events()[0], n))
            yield [c for c in self._by_cost(options) if self._fits(c)]
            self._end_waiting()
            if not self._gains(n):
                return

    def _gains(self, n: int) -> bool:
        """More internal steps help, or nothing is good enough yet even with slack in time: but where hardly anything is
        left, and shorter steps twice left as much of it, the steps are not the cause."""
        before = [m for c, m in self._measured.items() if c.internal_steps < n]
        now = [m for c, m in self._measured.items() if c.internal_steps == n]
        if not now:
            return True
        if any(m.late_error <= TOLERANCE for m in before):
            return min(m.error for m in now) < 0.5 * min(m.error for m in before)
        least = min(m.badness for m in before)
        self._in_vain = 0 if min(m.badness for m in now) < least else self._in_vain + 1
        return least > _HARDLY or self._in_vain < 2

    def _leaders(self) -> list[Candidate]:
        """The best few so far, whatever their internal steps; each with the last number it was tried with."""
        last = {replace(c, internal_steps=1): m for c, m in self._measured.items()}
        return sorted(last, key=lambda c: _rank(last[c]))[:_LEADERS]

    def _counts(self) -> list[int]:
        period = round(self._t.step * 1e9)
        return [n for n in INTERNAL_STEPS if n <= self._t.most_internal_steps and period % n == 0]

    def _events(self) -> tuple[str, ...]:
        if "events" in self._t.asked.given:
            return (self._t.asked.events,)
        return EVENTS if self._t.reference.n_events else ("none",)

    def _by_cost(self, candidates: Iterator[Candidate] | Sequence[Candidate]) -> list[Candidate]:
        """Each once, the cheapest worst case first."""
        return sorted(dict.fromkeys(candidates), key=lambda c: self._worst(c))

    # ------------------------------------------------------------------------------------------------------------ cost

    @property
    def _is_small(self) -> bool:
        return len(self._t.program.step.variables) <= _MOST_UNKNOWNS_INLINED

    def _program(self, c: Candidate) -> Program:
        return self._t.inlined() if c.inlined else self._t.program

    def _cost(self, c: Candidate) -> dict[str, Any]:
        """The bound with one internal step."""
        key = (c.inlined, c.solver, c.events)
        if key not in self._costs:
            one = replace(c, internal_steps=1).stepping(self._t.asked)
            if c.inlined not in self._bounds:
                self._bounds[c.inlined] = self._t.bounds(self._program(c).step)
            self._costs[key] = self._bounds[c.inlined].of(one)
        return self._costs[key]

    def _worst(self, c: Candidate) -> float:
        return float(c.internal_steps * self._cost(c)["worst"]["instructions"])

    def _fits(self, c: Candidate) -> bool:
        """A period of it can be computed in time where nothing happens."""
        instructions = c.internal_steps * self._cost(c)["regular"]["instructions"]
        return bool(instructions <= INSTRUCTIONS_PER_SECOND * self._t.step)

    # ------------------------------------------------------------------------------------------------------------- try

    @property
    def _is_alone(self) -> bool:
        """What is outside the model may remember something: external code, and whoever drives its inputs."""
        return self._t.inputs is not None or bool(self._t.program.code.externals)

    @property
    def _n_at_once(self) -> int:
        return 1 if self._is_alone else min(_AT_ONCE, len(os.sched_getaffinity(0)))

    def _tried(self, batch: list[Candidate]) -> Iterator[Measured]:
        """What was not tried before, in its order, with the next ones under way."""
        due = (c for c in batch if c not in self._measured)
        ahead: deque[_Attempt] = deque()
        while True:
            while len(ahead) < self._n_at_once and (c := next(due, None)) is not None:
                if self._may_try(c, len(self._measured) + len(ahead)):
                    ahead.append(self._attempt(c))
            if not ahead:
                return
            attempt = ahead.popleft()
            c = attempt.candidate
            self._measured[c] = Measured(c, self._worst(c), attempt.known())
            yield self._measured[c]

    def _attempt(self, c: Candidate) -> _Attempt:
        program, recorder = self._program(c), self._recorder(c)
        ahead = None if self._is_alone else self._judge.ahead(recorder.signals, recorder.n_shown, TOLERANCE)

        def run(hear: Callable[[Floats], None]) -> Distances | None:
            return self._distances(c, program, replace(recorder, listener=hear))

        self._begun.append(_Attempt(c, ahead).begin(run))
        return self._begun[-1]

    def _end_waiting(self) -> None:
        """None is near: by how much are those off that wait?"""
        waiting = [attempt for attempt in self._begun if attempt.is_waiting]
        for k, attempt in enumerate(waiting):
            for one in waiting[k : k + self._n_at_once]:
                one.go_on()
            c = attempt.candidate
            self._measured[c] = replace(self._measured[c], distances=attempt.result())
        self._begun = []

    def _may_try(self, c: Candidate, n_before: int) -> bool:
        """Whether it is within the work that is allowed, which is told."""
        work = self._steps * c.internal_steps * float(self._cost(c)["regular"]["instructions"])
        if n_before and self._spent + work > _INSTRUCTIONS_OF_ALL:
            self._is_cut = True
            return False
        self._spent += work
        if self._t.announce is not None and n_before % _ANNOUNCED_EVERY == 0:
            after = f" after {n_before} others" if n_before else ""
            self._t.announce(f"auto tries {c.title(self._t.step)}, events {c.events}{after}")
        return True

    def _recorder(self, c: Candidate) -> Recorder:
        if c.inlined not in self._recorders:
            self._recorders[c.inlined] = make_recorder(self._program(c), self._judge.names, looks=False)
            self._recorders[c.inlined].layout()
        return self._recorders[c.inlined]

    def _distances(self, c: Candidate, program: Program, recorder: Recorder) -> Distances | None:
        """In a thread of its own."""
        statistics = Statistics()
        try:
            result = simulate(
                program,
                start=self._start,
                stop=self._stop,
                instants=self._judge.due,
                settings=self._t.settings,
                inputs=self._t.inputs,
                record=recorder,
                statistics=statistics,
                stepping=c.stepping(self._t.asked),
                waits=False,
            )
        except ModelError:
            return None
        return None if statistics.counts.get("held") else self._judge.distances(result)

    # ---------------------------------------------------------------------------------------------------------- answer

    def _near(self, m: Measured, first: Choice) -> Outcome:
        c = m.candidate
        if len(self._measured) == 1:
            why = f"{first.reason}; in a trial it is off by at most {percent(m.error)} of the range"
            return Outcome(c, f"{why}{self._length}")
        why = f"off by at most {percent(m.error)} of the range in a trial with events `{c.events}`{self._length}"
        return Outcome(c, f"{why}, the first of {len(self._measured)} tried that is within {percent(TOLERANCE)}")

    def _best(self, first: Choice) -> Outcome:
        """Nothing is near: the best, and of those about as good the cheapest."""
        done = [m for m in self._measured.values() if m.distances is not None]
        if not done:
            text = f"{first.reason}; in a trial none of {len(self._measured)} candidates ran without failing"
            return Outcome(self._shaped(first, 1), text)
        best = min(done, key=_rank)
        m = min((m for m in done if _is_about(m, best)), key=lambda m: m.cost)
        assert m.distances is not None
        n, of, c = m.distances.n_beyond(TOLERANCE), len(m.distances.names), m.candidate
        text = f"the best of {len(self._measured)} tried{' (no more work is allowed)' if self._is_cut else ''}"
        text += f", with events `{c.events}`{self._length}"
        if n == 0:
            slack = f"{SLACK_STEPS} steps earlier or later"
            return Outcome(c, f"{text}: off by {percent(m.error)} of the range, {percent(m.late_error)} if {slack}")
        beyond = f"{n} of {of} variables are off by more than {percent(TOLERANCE)} of the range"
        return Outcome(c, f"{text}: {beyond}, {m.distances.worst} by {percent(m.late_error)}")

    @property
    def _length(self) -> str:
        """Of the trial, where it is not the whole run."""
        whole = self._stop >= float(self._t.reference.result.time[-1])
        return "" if whole else f" over the first {self._stop - self._start:.3g} s"


_JOINED = {"ros3prl": "sdirk3", "rodas4": "sdirk4"}  # L-stable, of the same order, inlinable


def _rank(m: Measured) -> tuple[float, float]:
    """The nearer, then the cheaper."""
    return m.badness, m.cost


def _is_about(m: Measured, best: Measured) -> bool:
    """As good as the best, or within the limit like it."""
    return m.badness <= ABOUT * best.badness or max(m.late_error, best.late_error) <= TOLERANCE
