"""Profiles off-line: a model's steps one after the other, as fast as they go, every place timed."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from kilohertz.base import Diagnostic, ModelError
from kilohertz.profiler.cycle_records import Profile
from kilohertz.profiler.places import cycle_places, listings, model_places
from kilohertz.profiler.timing import MODES, Costs, read_rows, row_size
from kilohertz.simulate import Program, Stepper
from kilohertz.simulate.failure import failure
from kilohertz.simulate.program import aligned_memory
from kilohertz.solvers import StepSettings

if TYPE_CHECKING:
    from kilohertz.syntax import Libraries

_CHUNK = 2000  # steps between two signs of life


def profile_steps(
    program: Program,
    settings: StepSettings,
    n_steps: int,
    *,
    libraries: Libraries | None = None,
    start: float = 0.0,
    parameters: Callable[[Stepper], None] | None = None,
    progress: Callable[[float], None] | None = None,
    about: Mapping[str, Any] | None = None,
) -> Profile:
    """Step a program that was built with probes; the first steps, with cold caches, are in the records too."""
    library = _prototypes(program.library)
    if not library.khz_profiled_is_built_in():
        raise ModelError(Diagnostic("R792", f"`{program.step.name}` was built without probes: build it for profiling"))
    places = (*cycle_places(), *model_places(program.code, libraries))
    stepper = Stepper(program, settings)
    if parameters is not None:
        parameters(stepper)
    status = stepper.start(start)
    if status != 0:
        raise ModelError(failure(stepper.instance, status, "during initialisation"))
    memory, address = aligned_memory(int(library.khz_profiled_size(len(places))))
    library.khz_profiled_init(address, len(places), MODES.index("burst"))
    costs = (ctypes.c_double * 11)()
    library.khz_profiled_costs(address, costs)
    library.khz_profiled_attach(stepper.address, address, _timed_copy(program))
    rows = np.zeros((n_steps, row_size(len(places))), np.uint8)
    done = 0
    while done < n_steps:
        chunk = min(_CHUNK, n_steps - done)
        target = rows[done : done + chunk].ctypes.data
        made = int(library.khz_profiled_steps(stepper.address, address, chunk, target))
        done += made
        if progress is not None:
            progress(done / n_steps)
        if made < chunk:
            break
    library.khz_profiled_attach(stepper.address, None, None)
    stepper.close()
    del memory
    calibrated = Costs.of_numbers(list(costs))
    read = read_rows((rows[:done],), len(places))
    texts = listings(places, libraries)
    return Profile(program.step.name, places, calibrated, 0, read.records, dict(about or {}), texts, read.borders)


def _timed_copy(program: Program) -> int:
    """Where the table of the copy of the model stands whose blocks and functions are timed."""
    getter = program.library[program.built.timed_getter]
    getter.restype = ctypes.c_void_p
    return int(getter())


def _prototypes(library: ctypes.CDLL) -> ctypes.CDLL:
    pointer, number = ctypes.c_void_p, ctypes.c_int32
    library.khz_profiled_size.restype = library.khz_profiled_record_size.restype = ctypes.c_size_t
    library.khz_profiled_size.argtypes = library.khz_profiled_record_size.argtypes = [number]
    library.khz_profiled_init.argtypes = [pointer, number, ctypes.c_int]
    library.khz_profiled_attach.argtypes = [pointer, pointer, pointer]
    library.khz_profiled_costs.argtypes = [pointer, pointer]
    library.khz_profiled_steps.argtypes = [pointer, pointer, ctypes.c_uint64, pointer]
    library.khz_profiled_steps.restype = ctypes.c_uint64
    return library
