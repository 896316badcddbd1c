"""Runs of a kit, one case after the other, in this process: what takes time is C; buffers are made once."""

from __future__ import annotations

import ctypes
import platform
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kilohertz.base import Diagnostic, ModelError
from kilohertz.results import Result, Signal
from kilohertz.runtime import check_layout, constant
from kilohertz.simulate.failure import CODES, GAVE_UP
from kilohertz.simulate.inputs import InputMemory
from kilohertz.simulate.offline_run import MANY_STATES, Flush, Offline
from kilohertz.simulate.program import Context, aligned_memory, prototypes
from kilohertz.simulate.stepper import COUNTS, c_settings, stepper_prototypes
from kilohertz.simulate.sundials import function_table, ida_table
from kilohertz.sweep.kit import Kit, Place
from kilohertz.sweep.series_definition import COUNTED
from kilohertz.toolchain import load_library

Floats = NDArray[np.float64]
_TERMINATED, _STOPPED = constant("KHZ_TERMINATED"), constant("KHZ_RUN_STOPPED")
_BYTES_OF_ROWS = 1 << 22
OK, FAILED, TIMED_OUT = "ok", "failed", "timed out"


@dataclass(frozen=True, slots=True)
class Run:
    """One run: how it ended, what it recorded until then, what it took.  Its rows are there until the next run."""

    status: str
    message: str
    rows: Result
    cost: Mapping[str, float] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return self.status == OK


class Runner:
    """A loaded kit.  Not for several threads at once."""

    def __init__(self, kit: Kit, timeout: float | None = None, *, is_timed: bool = True) -> None:
        """`is_timed`: somebody wants processor times, which cost a call of the system each; else wall time does."""
        self.kit, self._timeout = kit, timeout
        self._clock = time.thread_time if is_timed else time.perf_counter
        self._library = _loaded(kit)
        getter = self._library[kit.getter]
        getter.restype = ctypes.c_void_p
        self._model = int(getter())
        fixed = kit.stepping.is_fixed
        self._settings = c_settings(self._library, kit.stepping) if fixed else None
        size = self._library.khz_instance_size(self._model)
        if self._settings is not None:
            size = self._library.khz_stepper_size(self._model, ctypes.byref(self._settings))
        self._memory, self._address = aligned_memory(int(size))
        self._sundials = None if fixed else self._solver()
        self._make_buffers()
        self._signals, self._negated = _signals(kit)

    def _solver(self) -> ctypes.Array[ctypes.c_void_p]:
        return function_table() if self.kit.stepping.solver == "cvode" else ida_table(self._library)

    def _make_buffers(self) -> None:
        """Rows, what is recorded, inputs; all live as long as the runner."""
        kit = self.kit
        n_columns = 1 + len(kit.columns)
        capacity = max(16, min(_BYTES_OF_ROWS // (8 * n_columns), 4 * kit.intervals + 64))
        self._rows = np.empty((capacity, n_columns))
        self._offsets = np.array([0, *(p.offset for p in kit.columns)], np.int64)
        self._kinds = np.array([0, *(int(p.is_int) for p in kit.columns)], np.int32)
        self._work = np.zeros(int(self._library.khz_offline_work(self._model)))
        self._flush = Flush(self._take)
        self._table, self._n_rows = np.empty((capacity, n_columns)), 0  # of a run, from first to last
        self._error: BaseException | None = None
        self._fresh: Offline | None = None
        self._inputs = None if kit.driven is None else InputMemory(kit.driven)

    # ------------------------------------------------------------------------------------------------------------- run

    def run(self, values: Floats) -> Run:
        """One case: values in the order of the kit's parameters."""
        library = self._library
        self._n_rows, self._deadline = 0, time.monotonic() + (self._timeout or float("inf"))
        if self._settings is not None:
            library.khz_stepper_prepare(self._address, self._model, ctypes.byref(self._settings))
            instance = int(library.khz_stepper_instance(self._address))
        else:
            instance = self._address
            library.khz_instance_init(self._model, instance)
        try:
            self._set(instance, values)
            started = self._clock()
            status, o = self._execute(instance)
            seconds = self._clock() - started
            return self._done(instance, status, o, seconds)
        finally:
            library.khz_instance_destroy(self._model, instance)

    def _set(self, instance: int, values: Floats) -> None:
        for place, value in self.kit.settings:
            _write(instance, place, value)
        for varied, value in zip(self.kit.parameters, values.tolist(), strict=True):
            _write(instance, varied.place, varied.choices[int(value)] if varied.choices else value)
        if self.kit.driven is not None:
            d = self.kit.driven
            for offset, kind, first in zip(d.offsets, d.kinds, d.initial, strict=True):
                _write(instance, Place(offset, bool(kind)), first)

    def _execute(self, instance: int) -> tuple[int, Offline | None]:
        library, kit = self._library, self.kit
        if self._settings is None:
            status = int(library.khz_initialize(self._model, instance, kit.start))
        else:
            status = int(library.khz_stepper_start(self._address, kit.start))
        if status not in (0, _TERMINATED):
            return status, None
        if self._fresh is None:
            self._fresh = self._structure(instance)  # the same for every case: memory stays where it is
        o = Offline.from_buffer_copy(self._fresh)
        if status == _TERMINATED:  # by the model, at its start: one row
            o.stop, o.n_grid = kit.start, 0
        if self._settings is None:
            return int(library.khz_run_cvode(ctypes.byref(o))) or status, o
        library.khz_stepper_stop_after(self._address, round((kit.stop - kit.start) * 1e9))
        return int(library.khz_run_stepper(ctypes.byref(o), ctypes.c_void_p(self._address))) or status, o

    def _structure(self, instance: int) -> Offline:
        kit, span = self.kit, self.kit.stop - self.kit.start
        return Offline(
            model=self._model,
            instance=instance,
            sundials=None if self._sundials is None else ctypes.addressof(self._sundials),
            flush=self._flush,
            inputs=None if self._inputs is None else self._inputs.address,
            start=kit.start,
            stop=kit.stop,
            relative_tolerance=kit.stepping.tolerance,
            absolute_factor=0.01,
            max_step=kit.longest,
            grid_step=span / kit.intervals,
            n_grid=kit.intervals if span > 0 else 0,
            n_columns=self._rows.shape[1],
            row_width=self._rows.shape[1],
            capacity=len(self._rows),
            offset=self._offsets.ctypes.data,
            kind=self._kinds.ctypes.data,
            rows=self._rows.ctypes.data,
            work=self._work.ctypes.data,
            many_states=MANY_STATES,
            checks=kit.checks,
            time=kit.start,
        )

    def _take(self, n_rows: int, _time: float) -> int:
        """Called from C: keep the rows.  An exception here must not pass through C."""
        try:
            end = self._n_rows + n_rows
            if end > len(self._table):
                self._table = np.concatenate(
                    [self._table, np.empty((max(end, len(self._table)), self._table.shape[1]))]
                )
            self._table[self._n_rows : end] = self._rows[:n_rows]
            self._n_rows = end
            return int(time.monotonic() > self._deadline)
        except BaseException as error:  # handed on after C has returned
            self._error = error
            return 1

    def _done(self, instance: int, status: int, o: Offline | None, seconds: float) -> Run:
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        rows, cost = self._result(self._table[: self._n_rows]), self._cost(o, seconds)
        if status == _STOPPED:
            return Run(TIMED_OUT, f"it took longer than {self._timeout:g} s", rows, cost)
        if status not in (0, _TERMINATED):
            return Run(FAILED, self._why(instance, status, o is None), rows, cost)
        if cost.get("held") or cost.get("not_finite"):
            odd = f"{cost['held']:g} steps failed, {cost['not_finite']:g} had values that are no numbers"
            return Run(FAILED, odd, rows, cost)
        return Run(OK, "", rows, cost)

    def _result(self, table: Floats) -> Result:
        data = table[:, 1:]
        if self._negated:
            data = np.hstack([data, 1.0 - data[:, self._negated]])
        return Result(self.kit.name, table[:, 0], data, self._signals)

    def _cost(self, o: Offline | None, seconds: float) -> dict[str, float]:
        if o is None:
            return {"seconds": seconds}
        if self._settings is None:
            cost = {name: float(getattr(o, f"n_{name}")) for name in COUNTED}
        else:
            counts = (ctypes.c_uint64 * len(COUNTS)).from_address(self._library.khz_stepper_counts(self._address))
            cost = dict(zip(COUNTS, map(float, counts), strict=True))
        cost["seconds"], cost["step_us"] = seconds, 1e6 * seconds / max(1.0, cost["steps"])
        return cost

    def _why(self, instance: int, status: int, at_start: bool) -> str:
        """Code, what happened when, and where in the model."""
        c = Context.from_address(instance)
        inner = int(c.status)
        known = inner if status == GAVE_UP and inner in CODES else status
        code, what = CODES.get(known, ("R718", f"status {status}"))
        text = bytes(c.message).split(b"\0")[0].decode("utf-8", "replace")
        detail = f": {text}" if text and text != what and inner != 0 else ""
        when = "during initialisation" if at_start else "during the simulation"
        where = self._where(int(c.block), int(c.place))
        return f"{code}: {when}, time = {c.time:g}: {what}{detail}{where}"

    def _where(self, block: int, place: int) -> str:
        blocks, places = self.kit.blocks, self.kit.places
        words = blocks[block - 1] if 1 <= block <= len(blocks) else places[place] if 0 <= place < len(places) else ""
        return f" ({words})" if words else ""


def _signals(kit: Kit) -> tuple[dict[str, Signal], list[int]]:
    """Names that read the columns of rows; and columns that are appended as `not`."""
    signals: dict[str, Signal] = {}
    negated: list[int] = []
    for name, read in kit.signals.items():
        if read.column < 0:
            signals[name] = Signal(None, value=read.value)
        elif read.negated:
            signals[name] = Signal(len(kit.columns) + len(negated))
            negated.append(read.column)
        else:
            signals[name] = Signal(read.column, read.sign)
    return signals, negated


def _write(instance: int, place: Place, value: float | str) -> None:
    at = instance + place.offset
    if isinstance(value, str):
        ctypes.memmove(at, data := value.encode() + b"\0", len(data))
    elif place.is_int:
        ctypes.c_int32.from_address(at).value = int(value)
    else:
        ctypes.c_double.from_address(at).value = value


def _loaded(kit: Kit) -> ctypes.CDLL:
    """The library, from a file of its own that is gone once it is loaded."""
    if kit.machine != platform.machine():
        text = f"the model was built for {kit.machine}, and this machine is {platform.machine()}"
        raise ModelError(Diagnostic("R774", text))
    with tempfile.TemporaryDirectory(prefix="khz-") as folder:
        path = Path(folder) / f"{kit.digest}.so"
        path.write_bytes(kit.library)
        library = load_library(path)
    check_layout(library)
    return stepper_prototypes(prototypes(library))
