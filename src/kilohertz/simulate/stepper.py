"""The bounded stepper of the runtime, called from Python: the same code as in the periodic task."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping

from kilohertz.base import Diagnostic, ModelError
from kilohertz.ir.step import Kind
from kilohertz.runtime import family, fields
from kilohertz.simulate.program import Instance, Program, aligned_memory
from kilohertz.solvers import StepSettings

_FLAGS = family("KHZ_STEP_")


class Flags(int):
    """What a step did: a set of KHZ_STEP_*.  `"held" in flags`; `flags & Flags.of("held", "pivot")`."""

    @staticmethod
    def of(*words: str) -> Flags:
        """The flags with these names."""
        return Flags(sum(_FLAGS[word] for word in words))

    def __contains__(self, word: str) -> bool:
        return bool(self & _FLAGS[word])

    def __repr__(self) -> str:
        return f"Flags.of({', '.join(repr(word) for word in _FLAGS if word in self)})"


UNUSUAL = Flags.of(
    "held", "newton_cap", "not_finite", "pivot", "event_cap", "detour"
)  # more than a step or event takes


class _Settings(ctypes.Structure):
    """`khz_step_settings`."""

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

    def __init__(self, program: Program, stepping: StepSettings) -> None:
        self.program, self.stepping = program, stepping
        library = stepper_prototypes(program.library)
        settings = c_settings(library, stepping)
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

    def see(self, is_seen: bool) -> None:
        """Whether somebody looks at the end of the coming steps: else they leave out what nothing needs again."""
        self.program.library.khz_stepper_see(self.address, int(is_seen))

    def look(self) -> None:
        """Compute what the last step left out."""
        self.program.library.khz_stepper_look(self.address)

    def stop_after(self, nanoseconds: int) -> None:
        """Cut the last step so long after the start."""
        self.program.library.khz_stepper_stop_after(self.address, nanoseconds)

    def touch(self) -> None:
        """A parameter was changed: compute everything anew."""
        self.program.library.khz_stepper_touch(self.address)

    @property
    def time(self) -> float:
        """Model time that has been reached, in seconds."""
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

    @property
    def missed(self) -> list[int]:
        """How often the end of each relation was missed, which a late event had set states for."""
        n = len(self.program.step.crossings)
        return list((ctypes.c_uint32 * n).from_address(self.program.library.khz_stepper_missed(self.address)))

    def snapshot(self) -> bytes:
        """Everything, to be restored at the same address."""
        return ctypes.string_at(self.address, self.size)

    def restore(self, snapshot: bytes) -> None:
        """Go back to a snapshot; what follows has the same bits as after it."""
        ctypes.memmove(self.address, snapshot, self.size)

    def close(self) -> None:
        """Free what external objects hold."""
        self.instance.close()


def c_settings(library: ctypes.CDLL, stepping: StepSettings) -> _Settings:
    """What C is told of the settings; ModelError where they do not fit each other."""
    values = stepping.check_fixed().c_values()
    return _Settings(**{**values, "method": library.khz_method_index(stepping.solver.encode())})


def stepper_prototypes(library: ctypes.CDLL) -> ctypes.CDLL:
    """The same library, with the types of what is called in khz_stepper.h."""
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
    for name in ("instance", "counts", "blocks", "faults", "chattering", "missed"):
        getattr(library, f"khz_stepper_{name}").restype = pointer
    library.khz_stepper_see.argtypes = [pointer, ctypes.c_int]
    for name in ("step", "look", "touch", "time", "instance", "counts", "blocks", "faults", "chattering", "missed"):
        getattr(library, f"khz_stepper_{name}").argtypes = [pointer]
    return library
