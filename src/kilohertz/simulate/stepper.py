"""The bounded stepper of the runtime, called from Python: the same code as in the periodic task."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass

from kilohertz.base import Diagnostic, ModelError
from kilohertz.ir.step import Kind
from kilohertz.runtime import family, fields, words
from kilohertz.simulate.program import Instance, Program, aligned_memory
from kilohertz.solvers import INDEX_1, METHODS, SOLVERS, Method, Pair, Rosenbrock, RungeKutta

EVENTS, INPUT_MODES = words("KHZ_EVENTS_"), words("KHZ_INPUT_")
MOST_INTERNAL_STEPS = 1000


_FLAGS = family("KHZ_STEP_")


class Flags(int):
    """What a step did: a set of KHZ_STEP_*.  `"held" in flags`; `flags & Flags.of("held", "pivot")`."""

    @staticmethod
    def of(*words: str) -> Flags:
        return Flags(sum(_FLAGS[word] for word in words))

    def __contains__(self, word: str) -> bool:
        return bool(self & _FLAGS[word])

    def __repr__(self) -> str:
        return f"Flags.of({', '.join(repr(word) for word in _FLAGS if word in self)})"


UNUSUAL = Flags.of(
    "held", "newton_cap", "not_finite", "pivot", "event_cap", "detour"
)  # more than a step or event takes


@dataclass(frozen=True, slots=True)
class Stepping:
    """How a fixed-step run goes on; see `khz_step_settings`."""

    method: str
    period_ns: int
    events: str = "none"
    newton: int = 2
    loop_newton: int = 6
    event_cap: int = 16
    events_per_step: int = 4  # located in one period, catch-up and exact
    jacobian_every: int = 1
    input_mode: str = "held"
    inlined: bool = False
    substeps: int = 0  # of a pair: equal parts of a step for what a program built for mixed mode computes there
    internal_steps: int = 1  # of the whole model in one period
    index1: bool = False  # of a program built so: the unknowns of nonlinear loops are left to the method

    def __post_init__(self) -> None:
        _one_of("solver", self.method, tuple(SOLVERS), "R721")
        _one_of("event algorithm", self.events, EVENTS)
        _one_of("input mode", self.input_mode, INPUT_MODES)
        if self.period_ns < 1:
            raise ModelError(Diagnostic("R723", "the step must be at least a nanosecond"))
        caps = (self.newton, self.loop_newton, self.event_cap, self.events_per_step, self.jacobian_every)
        if min(*caps, self.internal_steps) < 1:
            raise ModelError(Diagnostic("R723", "caps and iterations of a fixed-step run must be at least 1"))
        if self.internal_steps > MOST_INTERNAL_STEPS or self.period_ns % self.internal_steps:
            message = f"a step of {self.period_ns} ns cannot be divided into {self.internal_steps} internal steps"
            hint = f"at most {MOST_INTERNAL_STEPS}, of whole nanoseconds each"
            raise ModelError(Diagnostic("R723", f"{message} ({hint})"))
        method = SOLVERS[self.method]
        if isinstance(method, Pair):
            _check_pair(method, self.inlined, self.substeps)
        elif self.inlined and not (isinstance(method, RungeKutta) and method.n_implicit):
            message = f"`{self.method}` has no implicit stages that could be inlined"
            raise ModelError(Diagnostic("R723", message))
        if self.index1:
            self._check_index1()

    def _check_index1(self) -> None:
        method = METHODS.get(self.method)
        if method is None or self.method not in INDEX_1:
            message = f"`{self.method}` is not for the index-1 form ({_why_not(method)})"
            raise ModelError(Diagnostic("R738", f"{message}; those that are: {', '.join(INDEX_1)}"))
        if isinstance(method, RungeKutta) and self.newton < method.index1_newton:
            needs = f"needs {method.index1_newton} Newton iterations per stage for its order, not {self.newton}"
            raise ModelError(Diagnostic("R738", f"`{self.method}` in the index-1 form {needs}"))


def _why_not(method: Method | None) -> str:
    """What keeps a method from the index-1 form."""
    if method is not None and method.index1_order:
        return f"it keeps order {method.index1_order} of {method.order}"
    if isinstance(method, Rosenbrock):
        rest = method.amplification_at_infinity
        return f"an error of the algebraic unknowns goes on with {rest:.2f} times its size in each step"
    return "no such form"


def _check_pair(pair: Pair, inlined: bool, substeps: int) -> None:
    if not inlined:
        message = f"`{pair.name}` is a pair for mixed mode: the program must be built for it (--implicit PATTERN)"
        raise ModelError(Diagnostic("R723", message))
    if substeps > 1 and pair.order > 2:
        message = f"sub-steps are of order 2 at most: `ars222`, not `{pair.name}`"
        raise ModelError(Diagnostic("R723", message))


def _one_of(what: str, name: str, known: tuple[str, ...], code: str = "R723") -> None:
    if name not in known:
        raise ModelError(Diagnostic(code, f"no {what} is called `{name}`; there are {', '.join(known)}"))


class _Settings(ctypes.Structure):
    _fields_ = fields("khz_step_settings")


COUNTS = tuple(name for name, _ in fields("khz_step_counts"))


class _Counts(ctypes.Structure):
    """`khz_step_counts`."""

    _fields_ = fields("khz_step_counts")


class BlockCounts(ctypes.Structure):
    """`khz_block_counts`."""

    _fields_ = fields("khz_block_counts")


class Stepper:
    """One running model: memory, and the calls of khz_stepper.h."""

    def __init__(self, program: Program, stepping: Stepping) -> None:
        self.program, self.stepping = program, stepping
        library = _prototypes(program.library)
        settings = _settings(library, stepping)
        size = int(library.khz_stepper_size(program.model, ctypes.byref(settings)))
        if size == 0 or bool(program.step.algebraic) != stepping.index1:
            raise ModelError(Diagnostic("R723", "the program was not built for these settings of the step"))
        self.size = size
        self._memory, self.address = aligned_memory(size)
        library.khz_stepper_prepare(self.address, program.model, ctypes.byref(settings))
        self.instance = Instance(program, int(library.khz_stepper_instance(self.address)))

    def start(self, time: float) -> int:
        """Initial equations and the first event; the status."""
        return int(self.program.library.khz_stepper_start(self.address, time))

    def past_inputs(self, last: Mapping[str, float], before: Mapping[str, float] | None = None) -> None:
        """Real inputs one and two periods before the start: call it after `start`, before the first step."""
        names = [v.name for v in self.program.step.of_kind(Kind.INPUT)]
        rows = [(ctypes.c_double * len(names))(*(row[n] for n in names)) for row in (last, before) if row is not None]
        self.program.library.khz_stepper_past_inputs(self.address, rows[0], rows[1] if len(rows) > 1 else None)

    def step(self) -> Flags:
        """One period."""
        return Flags(self.program.library.khz_stepper_step(self.address))

    def stop_after(self, nanoseconds: int) -> None:
        """Cut the last step so long after the start."""
        self.program.library.khz_stepper_stop_after(self.address, nanoseconds)

    def touch(self) -> None:
        """A parameter was changed: compute everything anew."""
        self.program.library.khz_stepper_touch(self.address)

    @property
    def time(self) -> float:
        return float(self.program.library.khz_stepper_time(self.address))

    @property
    def counts(self) -> dict[str, int]:
        """What happened since the start."""
        counts = _Counts.from_address(self.program.library.khz_stepper_counts(self.address))
        return {name: int(getattr(counts, name)) for name in COUNTS}

    @property
    def blocks(self) -> ctypes.Array[BlockCounts]:
        """Failures by block; the last entry stands for those without a place."""
        n = len(self.program.code.blocks) + 1
        return (BlockCounts * n).from_address(self.program.library.khz_stepper_blocks(self.address))

    @property
    def not_finite(self) -> list[int]:
        """How often each state itself had no value in a stage; for other values see `blocks`."""
        n = self.program.code.counts[Kind.STATE]
        return list((ctypes.c_uint32 * n).from_address(self.program.library.khz_stepper_faults(self.address)))

    @property
    def chattering(self) -> list[int]:
        """How often each relation was found chattering."""
        n = len(self.program.step.crossings)
        return list((ctypes.c_uint32 * n).from_address(self.program.library.khz_stepper_chattering(self.address)))

    def snapshot(self) -> bytes:
        """Everything, to be restored at the same address."""
        return ctypes.string_at(self.address, self.size)

    def restore(self, snapshot: bytes) -> None:
        ctypes.memmove(self.address, snapshot, self.size)

    def close(self) -> None:
        """Free what external objects hold."""
        self.instance.close()


def _settings(library: ctypes.CDLL, s: Stepping) -> _Settings:
    return _Settings(
        s.period_ns,
        library.khz_method_index(s.method.encode()),
        EVENTS.index(s.events),
        s.newton,
        s.loop_newton,
        s.event_cap,
        s.jacobian_every,
        INPUT_MODES.index(s.input_mode),
        int(s.inlined),
        s.events_per_step,
        s.substeps,
        s.internal_steps,
    )


def _prototypes(library: ctypes.CDLL) -> ctypes.CDLL:
    pointer = ctypes.c_void_p
    library.khz_method_index.argtypes = [ctypes.c_char_p]
    library.khz_stepper_size.restype = ctypes.c_size_t
    library.khz_stepper_size.argtypes = [pointer, pointer]
    library.khz_stepper_prepare.argtypes = [pointer, pointer, pointer]
    library.khz_stepper_past_inputs.argtypes = [pointer] * 3
    library.khz_stepper_start.argtypes = [pointer, ctypes.c_double]
    library.khz_stepper_step.restype = ctypes.c_uint32
    library.khz_stepper_time.restype = ctypes.c_double
    library.khz_stepper_stop_after.argtypes = [pointer, ctypes.c_int64]
    for name in ("instance", "counts", "blocks", "faults", "chattering"):
        getattr(library, f"khz_stepper_{name}").restype = pointer
    for name in ("step", "touch", "time", "instance", "counts", "blocks", "faults", "chattering"):
        getattr(library, f"khz_stepper_{name}").argtypes = [pointer]
    return library
