"""Model Exchange in the worker's process: the FMU gives derivatives and event indicators, CVODE makes the steps.

Rows are taken at the points of a grid, after events.  Inputs are set at these points and held; one that moved is an
event.  Events that follow each other closer than 1e-3 of the grid (each of two modes leads into the other) are left
behind by steps in which nobody looks for them, of 1e-5 of the grid at first and at most 1e-3; the result says so.
"""

from __future__ import annotations

import ctypes
import math
import os
import struct
from pathlib import Path
from typing import Any

import numpy as np
from sksundae.cvode import CVODE

from kilohertz.fmi.importing.instance import Instance, Stopped
from kilohertz.fmi.importing.jacobian import Jacobian

_REAL, _SIZE, _FLAG2, _FLAG3 = ctypes.c_double, ctypes.c_size_t, ctypes.c_int, ctypes.c_bool
_SAME = 1e-10  # seconds, as a part of the run: instants closer than this are one
_CHATTERS = 10_000  # events between two points of the grid
_DENSE = 100  # events in a row, each close to the one before: they chatter
_CLOSE = 1e-3  # of the grid: so close, and the longest step over them
_BRIEF = 1e-5  # of the grid: the first step over them
_FACTOR = 0.01  # absolute tolerance: this part of the relative one times the nominal value, as for our own models
_ROOT = 2


class EventInfo2(ctypes.Structure):
    """fmi2EventInfo."""

    _fields_ = (
        ("again", _FLAG2),
        ("terminate", _FLAG2),
        ("nominals", _FLAG2),
        ("states", _FLAG2),
        ("has_next", _FLAG2),
        ("next", _REAL),
    )


class _Exchange:
    """An instance between events: states in, derivatives and indicators out."""

    def __init__(self, instance: Instance, n: int, n_indicators: int) -> None:
        self.instance, self.n, self.n_indicators = instance, n, n_indicators
        self.is_3 = instance.version == 3
        self.next_event = math.inf
        self.failed: Stopped | None = None
        self._x, self._xd = (_REAL * max(1, n))(), (_REAL * max(1, n))()
        self._z = (_REAL * max(1, n_indicators))()

    def _demand(self, name: str, *arguments: Any) -> None:
        self.instance.call.demand(name, self.instance.me, *arguments)

    def at(self, t: float, x: Any) -> None:
        """Move to a point."""
        self.instance.call.time = t
        self._demand("SetTime", _REAL(t))
        if self.n:
            self._x[:] = [float(v) for v in x[: self.n]]
            self._demand("SetContinuousStates", self._x, _SIZE(self.n))

    def states(self) -> Any:
        """The states; of a model without any one that rests."""
        if self.n == 0:
            return np.zeros(1)
        self._demand("GetContinuousStates", self._x, _SIZE(self.n))
        return np.array(self._x[:])

    def nominals(self) -> Any:
        if self.n == 0:
            return np.ones(1)
        self._demand("GetNominalsOfContinuousStates", self._x, _SIZE(self.n))
        sizes = np.abs(np.array(self._x[:]))
        return np.where((sizes > 0) & np.isfinite(sizes), sizes, 1.0)

    def rates(self, t: float, x: Any, xd: Any) -> None:
        """For CVODE, which an exception must not pass through."""
        try:
            self.at(t, x)
            if self.n:
                name = "GetContinuousStateDerivatives" if self.is_3 else "GetDerivatives"
                self._demand(name, self._xd, _SIZE(self.n))
            xd[:] = self._xd[:]
        except Stopped as stopped:
            self.failed = self.failed or stopped
            xd[:] = math.nan

    def jacobian(self, made: Jacobian, t: float, x: Any, xd: Any, out: Any) -> None:
        """Likewise."""

        def rates(moved: Any) -> Any:
            there = np.empty(self.n)
            self.rates(t, moved, there)
            return there

        try:
            self.at(t, x)
            made.fill(x, xd, out, rates)
        except Stopped as stopped:
            self.failed = self.failed or stopped
            out[:, :] = math.nan

    def indicators(self, t: float, x: Any, z: Any) -> None:
        """Likewise."""
        try:
            self.at(t, x)
            self._demand("GetEventIndicators", self._z, _SIZE(self.n_indicators))
            z[:] = self._z[:]
        except Stopped as stopped:
            self.failed = self.failed or stopped
            z[:] = math.nan

    def completed(self) -> tuple[bool, bool]:
        """After a step: is an event wanted, or the end?"""
        flag: Any = _FLAG3 if self.is_3 else _FLAG2
        event, terminate = flag(0), flag(0)
        self._demand("CompletedIntegratorStep", flag(1), ctypes.byref(event), ctypes.byref(terminate))
        return bool(event.value), bool(terminate.value)

    def update(self) -> bool:
        """Event iteration to its end; whether the FMU wants to end the run."""
        for _ in range(_CHATTERS):
            again, terminate = self._update_3() if self.is_3 else self._update_2()
            if terminate:
                return True
            if not again:
                self._demand("EnterContinuousTimeMode")
                return False
        raise Stopped("chatters", time=self.instance.call.time)

    def _update_2(self) -> tuple[bool, bool]:
        info = EventInfo2()
        self._demand("NewDiscreteStates", ctypes.byref(info))
        self.next_event = info.next if info.has_next else math.inf
        return bool(info.again), bool(info.terminate)

    def _update_3(self) -> tuple[bool, bool]:
        flags, next_event = [_FLAG3(False) for _ in range(5)], _REAL(0.0)
        self._demand("UpdateDiscreteStates", *map(ctypes.byref, flags), ctypes.byref(next_event))
        again, terminate, _, _, has_next = (bool(f.value) for f in flags)
        self.next_event = next_event.value if has_next else math.inf
        return again, terminate

    def enter_event(self) -> None:
        self._demand("EnterEventMode")


class _Integration:
    """A run of CVODE over an FMU."""

    def __init__(self, fmu: _Exchange, job: dict[str, Any]) -> None:
        self.fmu, self.t = fmu, float(job["start"])
        self.same = _SAME * max(job["stop"] - job["start"], abs(job["stop"]))
        more: dict[str, Any] = {}
        if fmu.n_indicators:
            # a function of its own: CVODE's wrapper hangs attributes on it
            more = {"eventsfn": lambda t, x, z: fmu.indicators(t, x, z), "num_events": fmu.n_indicators}
        self.grid, self.last_event, self.dense, self.brief = job["step"], -math.inf, 0, 0.0
        self.chattered: float | None = None  # where it began
        tolerance, nominals = job["tolerance"] or 1e-6, fmu.nominals()
        absolute = tolerance * _FACTOR * nominals
        plan = job["jacobian"]
        if plan is not None and len(plan["rows"]) == fmu.n:
            made = Jacobian(fmu.instance, plan, nominals)
            more |= {"jacfn": lambda t, x, xd, out: fmu.jacobian(made, t, x, xd, out)} if made.pays else {}
        settings = {"rtol": tolerance, "atol": absolute, "max_num_steps": 1_000_000, "max_step": job["max_step"]}
        self.solver, self.blind = CVODE(fmu.rates, **settings, **more), CVODE(fmu.rates, **settings)
        self.restart()

    def restart(self) -> None:
        self.x = self.fmu.states()
        self.solver.init_step(self.t, self.x)

    def to(self, target: float) -> bool:
        """Integrate to an instant, through events; whether the FMU wants to end the run."""
        for _ in range(_CHATTERS):
            if self.t >= target - self.same:
                self.t = target
                return False
            if self._stretch(min(target, self.fmu.next_event)):
                return True
        raise Stopped("chatters", time=self.t)

    def _stretch(self, until: float) -> bool:
        """To an instant or the first event before it."""
        is_root = chatters = self.dense >= _DENSE
        if until > self.t:
            got = self._looking_away(until) if chatters else self.solver.step(until, method="normal", tstop=until)
            if self.fmu.failed is not None:
                raise self.fmu.failed
            if got.status < 0:
                raise Stopped("solver", time=float(got.t), text=str(got.message))
            self.t, self.x, is_root = float(got.t), got.y, chatters or got.status == _ROOT
        self.fmu.at(self.t, self.x)
        wanted, terminate = self.fmu.completed()
        if terminate:
            return True
        if not (is_root or wanted or self.t >= self.fmu.next_event - self.same):
            return False
        is_close = self.t - self.last_event < 2 * _CLOSE * self.grid
        self.dense, self.brief = (self.dense + 1, self.brief) if is_close else (0, 0.0)
        self.dense = _DENSE - 2 if chatters else self.dense  # two more, and it still does
        self.last_event = self.t
        self.fmu.enter_event()
        return self.event()

    def _looking_away(self, until: float) -> Any:
        """A short step without events; longer each time that it does not help."""
        self.chattered = self.last_event if self.chattered is None else self.chattered
        self.brief = min(_CLOSE, 2 * self.brief or _BRIEF)
        until = min(until, self.t + self.brief * self.grid)
        self.blind.init_step(self.t, self.x)
        return self.blind.step(until, method="normal", tstop=until)

    def event(self) -> bool:
        """The FMU is in Event Mode: out of it again."""
        ended = self.fmu.update()
        if not ended:
            self.restart()
        return ended


def _sizes(instance: Instance, job: dict[str, Any]) -> tuple[int, int]:
    """How many states and event indicators there are; FMI 3 has arrays of them, and functions that count."""
    if instance.version == 2:
        return job["states"], job["indicators"]
    counts = []
    for name in ("GetNumberOfContinuousStates", "GetNumberOfEventIndicators"):
        n = _SIZE(0)
        instance.call.demand(name, instance.me, ctypes.byref(n))
        counts.append(int(n.value))
    return counts[0], counts[1]


def integrate(job: dict[str, Any], folder: Path) -> dict[str, Any]:
    """From start to stop, a row at each point of the grid."""
    rows = os.open(folder / "rows", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)  # before a filter forbids it
    instance = Instance(job, folder)
    pack = struct.Struct(f"{1 + sum(v['size'] for v in job['record'])}d").pack
    inputs: list[list[list[Any]]] = job["inputs"]
    instance.start(job["settings"], inputs[0] if inputs else [])
    fmu = _Exchange(instance, *_sizes(instance, job))
    ended = fmu.update()
    read = instance.reader(job["record"])
    os.write(rows, pack(job["start"], *read()))
    run = None if ended else _Integration(fmu, job)
    n, h = job["steps"], job["step"]
    for k in range(n):
        if run is None or ended:
            break
        if k > 0 and k < len(inputs) and inputs[k]:
            fmu.enter_event()
            for variable, value in inputs[k]:
                instance.set(variable, value)
            ended = run.event()
        until = job["stop"] if k + 1 == n else job["start"] + (k + 1) * h
        ended = ended or run.to(until)
        if (k + 1) % job["every"] == 0 or k + 1 == n or ended:
            os.write(rows, pack(run.t, *read()))
    instance.close()
    chattered = run.chattered if run is not None else None
    return {"how": "terminated" if ended else "done", "messages": instance.call.messages, "chattered": chattered}
