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
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kilohertz.base import Announce, ModelError, percent
from kilohertz.cost import Bounds
from kilohertz.ir.step import Step
from kilohertz.simulate.attempt import Attempt
from kilohertz.simulate.choose import EXPLICIT, GROWTH, IMPLICIT, Choice, choose_solver
from kilohertz.simulate.distance import SLACK_STEPS, Distances, Floats, Judge
from kilohertz.simulate.inputs import Driving
from kilohertz.simulate.modes import growth
from kilohertz.simulate.offline_run import Statistics, simulate
from kilohertz.simulate.program import Program
from kilohertz.simulate.recorder import Recorder, make_recorder
from kilohertz.simulate.stiffness import Reference
from kilohertz.solvers import METHODS, StepSettings

TOLERANCE = 0.005  # of the range of each variable
INLINED = ("ieuler", "sdirk2", "sdirk4")
ROUGH = "lie"  # solves no stage, so none can fail: for models that no other method gets through
INTERNAL_STEPS = (2, 5, 10, 20)
MANY_INTERNAL_STEPS = (50, 100)  # of small models, with the best few alone
MOST_INTERNAL_STEPS = MANY_INTERNAL_STEPS[-1]
# Internal steps are taken only where a processor of 4e9 instructions per second can do them in time; the bound of a
# regular step is about one and a half times what is measured.  Many must leave half of the period.
INSTRUCTIONS_PER_SECOND = 6e9
EVENTS = ("catch-up", "exact", "none", "mid", "hermite")
_INSTRUCTIONS_OF_TRIAL = 4.8e9  # of the most expensive method with one internal step: cuts the piece that is tried
_ANNOUNCED_EVERY = 10  # trials for a line of progress
_INSTRUCTIONS_OF_ALL = 1.5e11
_INSTRUCTIONS_OF_BEST = 3e11  # so far, for the best one alone with more internal steps, where there is hope
_HOPE = 1.0  # an error, with slack in time, above which there is none
_INSTRUCTIONS_OF_ADVICE = 2e10  # for what may not be taken, to tell what would do
ABOUT = 1.15  # about as good: a badness within this factor
_HARDLY = 0.1  # a badness: one variable in a hundred is off, and no state
_MOST_UNKNOWNS_INLINED = 1500
_MOST_INLINED_IN_NEED = 3000  # the same, where nothing else comes near by far
_FAR = 0.05  # an error, with slack in time
_LEADERS, _LEADERS_BY_MANY = 4, 2  # that go on to more internal steps
_WORSE = 4.0  # a badness, as a part of the best one, that more internal steps will not mend
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


def choose_by_trial(task: Task) -> Outcome:
    """Try until one is near enough, or all have been tried."""
    return _Trial(task).run()


class _Trial:
    def __init__(self, task: Task) -> None:
        self._t = task
        self._measured: dict[Candidate, Measured] = {}
        self._spent, self._allowed, self._is_cut = 0.0, _INSTRUCTIONS_OF_ALL, False
        self._is_vain = False  # more internal steps
        self._in_vain = 0  # numbers of internal steps in a row that brought nothing
        self._bounds: dict[bool, Bounds] = {}  # of the model as it is, and with joined stages
        self._costs: dict[tuple[bool, str, str], dict[str, Any]] = {}
        self._recorders: dict[bool, Recorder] = {}  # likewise: what is compared, and nothing else
        self._begun: list[tuple[Candidate, Attempt]] = []
        self._favourite: Candidate | None = None  # for the next number of internal steps
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
            return self._best(first)
        finally:
            for _, attempt in self._begun:
                attempt.leave()

    # ------------------------------------------------------------------------------------------------------ candidates

    def _batches(self, choice: Choice) -> Iterator[list[Candidate]]:
        """Candidates in their order; none depends on how others of its batch do."""
        yield [self._shaped(choice, 1)]
        yield self._others()
        yield self._joined()
        yield self._rough()
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
        if not (self._t.asked.inline or self._n_variables <= _MOST_UNKNOWNS_INLINED or self._needs_joined()):
            return []
        return self._by_cost(Candidate(n, e, 1, True) for n in INLINED for e in self._events()[:3])

    def _needs_joined(self) -> bool:
        """A model that takes long to join, and that everything else fails on."""
        if self._n_variables > _MOST_INLINED_IN_NEED:
            return False
        self._end_waiting()
        return all(m.late_error > _FAR for m in self._measured.values())

    def _rough(self) -> list[Candidate]:
        return [] if self._t.asked.inline else self._by_cost(Candidate(ROUGH, e) for e in self._events()[:3])

    def _finer(self) -> Iterator[list[Candidate]]:
        """More and more internal steps, with the best so far and with what the eigenvalues say for such a step."""
        for n in self._counts(self._t.most_internal_steps):
            self._end_waiting()
            choice = choose_solver(self._t.reference, self._t.step / n)
            options = [self._shaped(choice, n)]
            if not (self._t.asked.inline or n in MANY_INTERNAL_STEPS):
                options.append(Candidate(IMPLICIT[-1], self._events()[0], n))
            options = [c for c in options if not self._is_hopeless(c)]
            leading = self._leaders(n)
            options += [replace(c, internal_steps=n) for c in leading]
            has_hope = bool(leading) and self._last()[leading[0]].late_error <= _HOPE
            self._favourite = replace(leading[0], internal_steps=n) if has_hope else None
            yield sorted(filter(self._fits, self._by_cost(options)), key=lambda c: c.solver == ROUGH)
            self._end_waiting()
            if not self._gains(n):
                self._is_vain = True
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

    def _leaders(self, n: int) -> list[Candidate]:
        """The best few so far, each with the last number of internal steps it was tried with; of those that differ in
        nothing but how they handle events, and are about as good, the cheapest."""
        last = self._last()
        ranked, kept = sorted(last, key=lambda c: _rank(last[c])), list[Candidate]()
        for c in ranked:
            alike = [k for k in kept if replace(k, events=c.events) == c and _is_alike(last[c], last[k])]
            if not alike:
                kept.append(c)
            elif last[c].cost < last[alike[0]].cost:
                kept[kept.index(alike[0])] = c
        return kept[: _LEADERS_BY_MANY if n in MANY_INTERNAL_STEPS else _LEADERS]

    def _is_hopeless(self, c: Candidate) -> bool:
        """It was far worse than others with fewer internal steps, wherever one looks."""
        last = self._last()
        m = last.get(replace(c, internal_steps=1))
        if m is None or m.error <= min(other.error for other in last.values()):
            return False
        return m.badness > max(_HARDLY, _WORSE * min(other.badness for other in last.values()))

    def _last(self) -> dict[Candidate, Measured]:
        """As tried with the most internal steps, by what each is with one."""
        return {replace(c, internal_steps=1): m for c, m in self._measured.items()}

    def _counts(self, most: int) -> list[int]:
        period = round(self._t.step * 1e9)
        return [n for n in (*INTERNAL_STEPS, *MANY_INTERNAL_STEPS) if n <= most and period % n == 0]

    def _events(self) -> tuple[str, ...]:
        if "events" in self._t.asked.given:
            return (self._t.asked.events,)
        return EVENTS if self._t.reference.n_events else ("none",)

    def _by_cost(self, candidates: Iterator[Candidate] | Sequence[Candidate]) -> list[Candidate]:
        """Each once, the cheapest worst case first."""
        return sorted(dict.fromkeys(candidates), key=lambda c: self._worst(c))

    # ------------------------------------------------------------------------------------------------------------ cost

    @property
    def _n_variables(self) -> int:
        return len(self._t.program.step.variables)

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
        share = 0.5 if c.internal_steps > INTERNAL_STEPS[-1] else 1.0
        return self._regular(c) <= share * INSTRUCTIONS_PER_SECOND * self._t.step

    def _may_be_taken(self, c: Candidate) -> bool:
        return c.internal_steps <= self._t.most_internal_steps and self._fits(c)

    def _regular(self, c: Candidate) -> float:
        """The bound of a period in which nothing happens."""
        return float(c.internal_steps * self._cost(c)["regular"]["instructions"])

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
        ahead: deque[tuple[Candidate, Attempt]] = deque()
        while True:
            while len(ahead) < self._n_at_once and (c := next(due, None)) is not None:
                if self._may_try(c, len(self._measured) + len(ahead)):
                    ahead.append(self._attempt(c))
            if not ahead:
                return
            c, attempt = ahead.popleft()
            self._measured[c] = Measured(c, self._worst(c), attempt.known())
            yield self._measured[c]

    def _attempt(self, c: Candidate) -> tuple[Candidate, Attempt]:
        program, recorder = self._program(c), self._recorder(c)
        ahead = None if self._is_alone else self._judge.ahead(recorder.signals, recorder.n_shown, TOLERANCE)

        def run(hear: Callable[[Floats], None]) -> Distances | None:
            return self._distances(c, program, replace(recorder, listener=hear))

        self._begun.append((c, Attempt(ahead).begin(run)))
        return self._begun[-1]

    def _end_waiting(self) -> None:
        """None is near: by how much are those off that wait?"""
        waiting = [begun for begun in self._begun if begun[1].is_waiting]
        for k, (c, attempt) in enumerate(waiting):
            for _, one in waiting[k : k + self._n_at_once]:
                one.go_on()
            self._measured[c] = replace(self._measured[c], distances=attempt.result())
        self._begun = []

    def _may_try(self, c: Candidate, n_before: int) -> bool:
        """Whether it is within the work that is allowed, which is told."""
        work = self._steps * self._regular(c)
        allowed = _INSTRUCTIONS_OF_BEST if c == self._favourite else self._allowed
        if n_before and self._spent + work > allowed:
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
        advice = self._advice(m)
        if n == 0:
            slack = f"{SLACK_STEPS} steps earlier or later"
            off = f"off by {percent(m.error)} of the range, {percent(m.late_error)} if {slack}"
            return Outcome(c, f"{text}: {off}{advice}")
        beyond = f"{n} of {of} variables are off by more than {percent(TOLERANCE)} of the range"
        return Outcome(c, f"{text}: {beyond}, {m.distances.worst} by {percent(m.late_error)}{advice}")

    def _advice(self, best: Measured) -> str:
        """What would do, of what may not be taken: more internal steps than are allowed, or than fit the period."""
        self._allowed, self._favourite = self._spent + _INSTRUCTIONS_OF_ADVICE, None
        more = () if self._is_vain else self._counts(MOST_INTERNAL_STEPS)
        for n in (n for n in more if n > best.candidate.internal_steps):
            by_values = self._shaped(choose_solver(self._t.reference, self._t.step / n), n)
            options = [by_values, replace(best.candidate, internal_steps=n)]
            for measured in self._tried([c for c in options if not self._may_be_taken(c)]):
                if measured.is_near:
                    return self._advised(measured)
        return ""

    def _advised(self, m: Measured) -> str:
        instructions, n = self._regular(m.candidate), m.candidate.internal_steps
        text = f"; {n} internal steps would be off by at most {percent(m.error)}"
        takes = f"a period takes at most {instructions:.2g} instructions then"
        if self._fits(m.candidate):
            return f"{text} (`--internal-steps {n}`): {takes}"
        often = instructions / (INSTRUCTIONS_PER_SECOND * self._t.step)
        return f"{text}, but {takes}, {often:.2g} times what a processor can be counted on for"

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


def _is_alike(m: Measured, better: Measured) -> bool:
    """No better in any respect that counts."""
    return m.badness <= ABOUT * better.badness and better.error <= ABOUT * m.error <= ABOUT**2 * better.error
