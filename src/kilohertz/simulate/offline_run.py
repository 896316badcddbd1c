"""`simulate`: from a program and an experiment to a result."""

from __future__ import annotations

import contextlib
import ctypes
import math
import signal
import threading
import time
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any

import numpy as np

from kilohertz.base import Diagnostic, ModelError, Note, Severity
from kilohertz.building.single_range import lost_in, refuse_values
from kilohertz.results import Result
from kilohertz.runtime import constant, fields
from kilohertz.simulate.assertions import are_moving
from kilohertz.simulate.draft import Draft
from kilohertz.simulate.experiment import Experiment, Floats, experiment_of
from kilohertz.simulate.failure import RunFailed, RunInterrupted, failure
from kilohertz.simulate.faults import (
    branches,
    far,
    faults,
    held,
    leaps,
    not_finite,
    not_finite_throughout,
    restless,
    unsettled,
    vague,
)
from kilohertz.simulate.inputs import Driving, Table, points_of, undriven
from kilohertz.simulate.model_messages import ModelMessages
from kilohertz.simulate.program import Instance, Program
from kilohertz.simulate.recorder import Recorder, make_recorder
from kilohertz.simulate.runaway import LOOKS, Runaway, make_runaway
from kilohertz.simulate.stepper import Stepper
from kilohertz.simulate.sundials import function_table, ida_table
from kilohertz.solvers import SETTINGS, StepSettings

_BYTES_OF_ROWS = 1 << 22
_ROWS_HEARD = 48  # together, by who listens to them
MANY_STATES = 20  # from which on the matrix of CVODE is sparse, where it has a plan
_TERMINATED, _STOPPED = constant("KHZ_TERMINATED"), constant("KHZ_RUN_STOPPED")
_END, _FAR_TOLD = constant("KHZ_SAID_END"), constant("KHZ_FAR_TOLD")

Flush = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_double)
_Listener = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_int, ctypes.c_double, ctypes.c_char_p)


class Offline(ctypes.Structure):
    """`khz_offline` of khz_offline.h."""

    _fields_ = fields("khz_offline", {"khz_flush_fn": Flush})


@dataclass(slots=True)
class Statistics:
    """What a run took, and what the model said."""

    steps: int = 0
    rhs: int = 0
    jacobians: int = 0
    sparse_factorisations: int = 0  # of CVODE's or IDA's matrix, by the model's own plan
    state_events: int = 0
    time_events: int = 0
    restarts: int = 0  # of CVODE or IDA: events after which derivatives or states were others
    overlooked: int = 0  # steps of theirs that had passed over what moves in them, and were made again
    messages: tuple[str, ...] = ()
    terminated: str = ""
    stepping: StepSettings | None = None  # what it was made with, whoever chose it
    notes: tuple[str, ...] = ()  # what was chosen for the user, and why
    warnings: tuple[Diagnostic, ...] = ()  # what the run had to cope with
    counts: dict[str, int] = field(default_factory=dict)
    loop_iterations: int = 0  # of Newton in nonlinear loops, after the start


_SOLVER_FAILED = ("R715", "R718")  # where another solver may do better


def simulate(
    program: Program,
    *,
    start: float | None = None,
    stop: float | None = None,
    intervals: int | None = None,
    instants: Floats | None = None,
    settings: Mapping[str, float | str] | None = None,
    inputs: Driving | None = None,
    record: str | Sequence[str] | Recorder = "all",
    progress: Callable[[float], None] | None = None,
    statistics: Statistics | None = None,
    observe: Callable[[Instance], None] | None = None,
    stepping: StepSettings | None = None,
    waits: bool = True,
    **keywords: Any,
) -> Result:
    """Run a program; what is not given comes from the model's experiment annotation.

    Rows are at events and in equal `intervals`, or at `instants` and the stop.
    `inputs` drive the model over time (`simulate/inputs.py`); those that nothing drives keep their start values.
    `record` may be a recorder that is there already, of this program; it stays as it is.
    `progress` is told the part of the run that is done, from 0 to 1; `observe` sees the instance at every row; with
    `waits` external code may wait for the wall clock.  How it is stepped: `stepping`, or further keywords (solver,
    step, tolerance, events, ...: fields of `StepSettings`).
    """
    stepping = offline(StepSettings.of(**keywords) if stepping is None else stepping.but(**keywords))
    program = (program.draft.overtaken() if program.draft is not None else None) or program
    notes = _note_on_step(program, stepping)
    stepping = as_annotated(program, stepping).check()
    experiment = experiment_of(program, start, stop, intervals)
    refuse_values(program.built.number, settings or {})
    notes += lost_in(program.built.number, program.step, experiment.stop, stepping.step)
    if instants is not None:
        inside = instants[(instants > experiment.start) & (instants < experiment.stop)]
        experiment = replace(experiment, intervals=len(inside) + 1, instants=np.ascontiguousarray(inside))
    asked = _Asked(settings or {}, inputs, record, progress, observe, waits)
    try:
        result = _simulated(program, experiment, asked, stepping, statistics)
    except RunFailed as failed:
        is_chosen = stepping.solver == "cvode" and "solver" not in stepping.given
        started = len(failed.partial.time) > 0  # the initial system is the same for all
        if not (is_chosen and started and failed.diagnostics[0].code in _SOLVER_FAILED):
            raise
        result = _second_try(program, experiment, asked, stepping, statistics, failed)
    if statistics is not None:
        statistics.warnings = (*notes, *result.problems)
    return result


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a run is given and what it is to tell."""

    settings: Mapping[str, float | str]
    inputs: Driving | None
    record: str | Sequence[str] | Recorder
    progress: Callable[[float], None] | None
    observe: Callable[[Instance], None] | None
    waits: bool

    def recorder(self, program: Program) -> Recorder:
        return self.record.again() if isinstance(self.record, Recorder) else make_recorder(program, self.record)


def _simulated(
    program: Program, experiment: Experiment, asked: _Asked, stepping: StepSettings, statistics: Statistics | None
) -> Result:
    stepper = Stepper(program, stepping) if stepping.is_fixed else None
    if statistics is not None:
        statistics.stepping = stepping
    instance = stepper.instance if stepper is not None else Instance(program)
    try:
        for name, value in asked.settings.items():
            instance.set(name, value)
        given = {instance.settable(name).name for name in asked.settings}
        driven = _driven(program, instance, asked, experiment, given, not stepping.is_fixed)
        if statistics is not None:
            said = driven.points.notes if driven is not None else undriven(program.step, given)
            statistics.notes = tuple(dict.fromkeys((*statistics.notes, *said)))
        recorder = asked.recorder(program)
        run = _Run(program, instance, experiment, recorder, asked.progress, asked.observe, driven)
        run.settings = asked.settings.keys()
        run.runaway = make_runaway(program, stepping) if stepping.is_fixed and asked.waits else None  # no trial
        program.library.khz_set_paced(0 if asked.waits else 1)
        with run.noting_interrupts():
            result = run.execute(stepping, stepper, statistics)
        if statistics is not None:
            statistics.counts = stepper.counts if stepper is not None else {}
        return result
    finally:
        program.library.khz_set_paced(0)
        instance.close()


def _second_try(
    program: Program,
    experiment: Experiment,
    asked: _Asked,
    stepping: StepSettings,
    statistics: Statistics | None,
    failed: RunFailed,
) -> Result:
    """With IDA where CVODE gave up and nobody asked for it; that is said.  Where IDA gives up too, the first counts."""
    first = failed.diagnostics[0]
    try:
        result = _simulated(program, experiment, asked, stepping.but(solver="ida"), statistics)
    except ModelError as again:
        note = Note(f"so did ida: {again.diagnostics[0].message}")
        raise RunFailed(replace(first, notes=(*first.notes, note)), failed.partial) from None
    text = "cvode did not come to the end; the results are those of ida"
    said = Diagnostic("R796", text, first.span, notes=(Note(first.message),), severity=Severity.WARNING)
    return replace(result, problems=(said, *result.problems))


def _driven(
    program: Program, instance: Instance, asked: _Asked, experiment: Experiment, given: Container[str], events: bool
) -> Table | None:
    """Inputs over time for this run; their first values are set, for the initial equations."""
    if asked.inputs is None:
        return None
    points = points_of(asked.inputs, program.step, experiment.start, experiment.stop, events=events, given=given)
    table = Table(program, points)
    for v, value in table.initial.items():
        instance.write(v, value)
    return table


def offline(stepping: StepSettings) -> StepSettings:
    """Off-line nothing forces a fixed step: CVODE where no solver was given."""
    return stepping.or_else(solver=SETTINGS["solver"].offline)


def as_annotated(program: Program, stepping: StepSettings) -> StepSettings:
    """Step and tolerance that were not given, from the experiment annotation."""
    e = program.step.experiment
    if stepping.is_fixed:
        return stepping.or_else(step=e.interval or stepping.step)
    return stepping.or_else(tolerance=e.tolerance or stepping.tolerance)


def _note_on_step(program: Program, stepping: StepSettings) -> list[Diagnostic]:
    """Where a fixed step was not given, what is taken for it."""
    if "step" in stepping.given or not stepping.is_fixed:
        return []
    where = "the interval of the experiment annotation" if program.step.experiment.interval else "the default"
    text = f"no step given: {as_annotated(program, stepping).step:g} s, {where}"
    return [Diagnostic("R732", text, severity=Severity.WARNING)]


def _retold(problem: Diagnostic) -> Note:
    """What a run had to cope with before it failed."""
    return Note("; ".join((f"before: {problem.message}", *(n.text for n in problem.notes))), problem.span)


def longest_step(program: Program, e: Experiment, asked: float, spacing: float = math.inf) -> float:
    """Of CVODE and IDA; 0: any, also in `asked`.  `spacing`: how far points of inputs are apart."""
    # what delay and transport lines remember are the ends of steps
    remembered = (e.stop - e.start) / e.intervals if program.step.delays or program.step.transports else 0.0
    # no pulse of an input is stepped over
    seen = spacing if spacing < e.stop - e.start else 0.0
    return min((limit for limit in (asked, remembered, seen) if limit > 0.0), default=0.0)


class _Run:
    """One run: the C structure, its buffers, and what comes back."""

    def __init__(
        self,
        program: Program,
        instance: Instance,
        experiment: Experiment,
        recorder: Recorder,
        progress: Callable[[float], None] | None,
        observe: Callable[[Instance], None] | None = None,
        driven: Table | None = None,
    ) -> None:
        self.driven = driven
        self.program, self.instance, self.experiment = program, instance, experiment
        self.recorder, self.progress, self.observe = recorder, progress, observe
        self.messages = ModelMessages()
        instance.context.may_go_far = _FAR_TOLD  # by `far`
        self.runaway: Runaway | None = None
        self.settings: Collection[str] = ()  # parameters with other values than those that were looked at before
        self.error: BaseException | None = None
        self.since = time.thread_time()  # when the time that a draft ran was last noted
        self.was_interrupted = False

    def execute(self, stepping: StepSettings, stepper: Stepper | None, statistics: Statistics | None) -> Result:
        library, instance = self.program.library, self.instance
        self.listener = _Listener(self.messages.hear)
        library.khz_set_listener(self.listener)
        try:
            start = self.experiment.start
            status = instance.initialize(start) if stepper is None else stepper.start(start)
            if status == 0 and self.settings and (wrong := self.recorder.refused(instance, start, self.settings)):
                raise ModelError(*wrong)
            if has_ended := status == _TERMINATED:  # by the model, at its start: one row
                self.experiment = replace(self.experiment, stop=start)
            if status == 0 or has_ended:
                iterations = int(instance.context.n_iterations)
                self.recorder.begin(instance, self.experiment.intervals + 1)
                self._look_for_runaways()
                o = self.structure = self._structure(stepping)
                if stepper is None:
                    table = function_table() if stepping.solver == "cvode" else ida_table(library)
                    o.sundials = ctypes.addressof(table)
                    status = int(library.khz_run_cvode(ctypes.byref(o)))
                else:
                    stepper.stop_after(round((self.experiment.stop - start) * 1e9))
                    status = int(library.khz_run_stepper(ctypes.byref(o), ctypes.c_void_p(stepper.address)))
                status = _TERMINATED if has_ended and status == 0 else status
                _count(o, statistics)
                if statistics is not None:
                    statistics.loop_iterations = int(instance.context.n_iterations) - iterations
                odd = (
                    not_finite(instance, o.n_not_finite, o.odd_block, o.odd_value, o.odd_time)
                    if stepper is None
                    else []
                )
                odd += not_finite_throughout(instance)
                coped = self._coped(o) if stepper is None else []
                when, solver_code = "during the simulation", int(o.code)
            else:
                when, solver_code, odd, coped = "during initialisation", 0, [], []
        finally:
            library.khz_set_listener(None)
            if (draft := self.program.draft) is not None:
                self._note_draft(draft)
        if statistics is not None:
            statistics.messages = self.messages.messages()
        if self.error is not None and not isinstance(self.error, KeyboardInterrupt):
            raise self.error
        met = [*unsettled(instance), *vague(instance)] if stepper is None else faults(stepper)
        if self.runaway is not None and status == 0:
            met += self.runaway.warnings(self.experiment.stop - self.experiment.start)
        problems = (*odd, *coped, *met)
        result = self.recorder.result(instance)
        warned = self.messages.warnings(self.program.code.places)
        problems = (*problems, *self.recorder.outside(instance, self.experiment.start), *warned)
        result = replace(result, problems=problems, ok=not odd and _is_whole(stepper))
        if self.error is not None or self.was_interrupted or status == _STOPPED:
            raise RunInterrupted(replace(result, ok=False))
        if status not in (0, _TERMINATED):
            said = failure(instance, status, when, solver_code)
            said = replace(said, notes=(*said.notes, *(_retold(p) for p in problems)))
            raise RunFailed(said, replace(result, problems=(said, *problems), ok=False))
        if statistics is not None:
            self._note_end(statistics, has_ended=bool(status), at=float(result.time[-1]))
        return result

    def _note_end(self, statistics: Statistics, *, has_ended: bool, at: float) -> None:
        """What the model said where it ended the run."""
        said = bytes(self.instance.context.said[_END].text).decode("utf-8", "replace") if has_ended else ""
        statistics.terminated = said
        if has_ended:
            statistics.notes = (*statistics.notes, f"the model ended the run at {at:g} s: {said}")

    @contextlib.contextmanager
    def noting_interrupts(self) -> Iterator[None]:
        """Note Ctrl-C until C asks: an exception in a call from C would be printed and forgotten.

        A handler that somebody else has set stays; other threads hear of no signal.
        """
        before = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is not threading.main_thread() or before is not signal.default_int_handler:
            yield
            return

        def note(_: int, __: FrameType | None) -> None:
            self.was_interrupted = True

        signal.signal(signal.SIGINT, note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _look_for_runaways(self) -> None:
        if self.runaway is not None:
            self.runaway.look(self.instance)

    def _coped(self, o: Offline) -> list[Diagnostic]:
        """What CVODE or IDA had to cope with."""
        step = self.program.step
        coped = [*far(self.instance), *leaps(o.n_leaps, o.first_leap)]
        jump = o.branch_from, o.branch_to
        coped += branches(self.instance, o.n_branches, o.first_branch, o.branch_value, jump)
        coped += held(step, o.n_held, o.first_held, o.held_relation)
        return coped + restless(step, o.n_restless, o.first_restless, o.restless_relation)

    def _structure(self, stepping: StepSettings) -> Offline:
        e, n_columns = self.experiment, self.recorder.n_columns
        capacity = max(16, _BYTES_OF_ROWS // (8 * n_columns)) if self.observe is None else 1
        capacity = capacity if self.recorder.listener is None else min(capacity, _ROWS_HEARD)
        if self.runaway is not None:
            capacity = min(capacity, max(1, e.intervals // LOOKS))
        self.capacity = capacity
        rows = self.recorder.room(capacity)
        self.offsets, self.kinds = self.recorder.layout()
        n_work = self.program.library.khz_offline_work(self.program.model) if self.program.number.is_double else 0
        self.work = np.zeros(int(n_work))
        self.flush = Flush(self._flush)
        span = e.stop - e.start
        grid = span / e.intervals
        spacing = self.driven.points.spacing if self.driven is not None else math.inf
        longest = longest_step(self.program, e, stepping.max_step, spacing)
        return Offline(
            model=self.program.model,
            instance=self.instance.address,
            flush=self.flush,
            inputs=self.driven.address if self.driven is not None else None,
            start=e.start,
            stop=e.stop,
            relative_tolerance=stepping.tolerance,
            absolute_factor=0.01,
            max_step=longest,
            grid_step=grid,
            n_grid=e.intervals if span > 0 else 0,
            grid=e.instants.ctypes.data if e.instants is not None else None,
            n_columns=n_columns,
            row_width=rows.strides[0] // rows.itemsize,
            capacity=len(rows),
            offset=self.offsets.ctypes.data,
            kind=self.kinds.ctypes.data,
            rows=rows.ctypes.data,
            work=self.work.ctypes.data,
            many_states=MANY_STATES,
            checks=are_moving(self.program.step),
            time=e.start,
        )

    def _note_draft(self, draft: Draft) -> None:
        """How long a draft ran since the last time; what took its place is no longer listened to."""
        draft.ran(time.thread_time() - self.since)
        self.since = time.thread_time()
        if draft.better is not None:
            draft.better.library.khz_set_listener(None)

    def _overtake(self) -> None:
        """Go on with optimised code, where that pays by now; the instance stays."""
        draft = self.program.draft
        if draft is None or draft.better is not None:
            return
        self._note_draft(draft)
        better = draft.overtaken()
        if better is not None:
            better.library.khz_set_listener(self.listener)
            self.structure.model = better.model

    def _flush(self, n_rows: int, now: float) -> int:
        """Called from C: take the rows, tell the progress.  An exception here must not pass through C."""
        try:
            if n_rows:
                self.recorder.take(n_rows, self.instance)
                room = self.recorder.room(self.capacity)
                self.structure.rows, self.structure.capacity = room.ctypes.data, len(room)
            if self.observe is not None:
                self.observe(self.instance)
            self._look_for_runaways()
            if self.progress is not None:
                span = self.experiment.stop - self.experiment.start
                self.progress((now - self.experiment.start) / span if span > 0 else 1.0)
            self._overtake()
        except BaseException as error:  # handed on after C has returned
            self.error = error
            return 1
        return int(self.was_interrupted)


def _is_whole(stepper: Stepper | None) -> bool:
    """Every step of a fixed-step method was made, and left numbers."""
    return stepper is None or not (stepper.counts["held"] or stepper.counts["not_finite"])


def _count(o: Offline, statistics: Statistics | None) -> None:
    if statistics is not None:
        statistics.steps, statistics.rhs, statistics.jacobians = o.n_steps, o.n_rhs, o.n_jacobians
        statistics.sparse_factorisations = o.n_sparse
        statistics.state_events, statistics.time_events = o.n_state_events, o.n_time_events
        statistics.restarts, statistics.overlooked = o.n_restarts, o.n_overlooked
