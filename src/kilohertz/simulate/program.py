"""A compiled model in this process, and its instances."""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kilohertz import runtime
from kilohertz.base import Diagnostic, Dotted, ModelError, Note, SourceMap, closest
from kilohertz.base.units import UnitError
from kilohertz.ir.rules.limits import limit, refusal, setting
from kilohertz.ir.step import Kind, Step, StepVariable
from kilohertz.results import rows_text
from kilohertz.toolchain import build_shared, load_library

if TYPE_CHECKING:
    from kilohertz.building import ModelUnits
    from kilohertz.codegen import CProgram, NumberType
    from kilohertz.simulate.draft import Draft
    from kilohertz.toolchain import Unit

TEXT_SIZE = runtime.constant("KHZ_TEXT_SIZE")
_INTS = frozenset({Kind.INT_PARAMETER, Kind.INT_INPUT, Kind.INT_DISCRETE, Kind.PRE_INT_DISCRETE, Kind.RELATION})
_TEXTS = frozenset({Kind.STRING_PARAMETER, Kind.STRING_DISCRETE, Kind.PRE_STRING_DISCRETE})
_COMPUTED = frozenset({Kind.STATE, Kind.DERIVATIVE, Kind.ALGEBRAIC, Kind.DISCRETE, Kind.INT_DISCRETE})
_ALIGNMENT = runtime.constant("KHZ_ALIGNMENT")


@dataclass(frozen=True, slots=True)
class Program:
    """A model as a loaded library, with what it came from."""

    built: ModelUnits
    library: ctypes.CDLL
    model: int  # address of the model table
    size: int
    offsets: dict[Kind, int]
    number: NumberType  # what it computes in
    draft: Draft | None = None  # compiled without optimisation, for now

    @property
    def step(self) -> Step:
        """What it computes, in which order."""
        return self.built.step

    @property
    def code(self) -> CProgram:
        """The C it was made from."""
        return self.built.code

    def offset(self, v: StepVariable) -> int:
        """Where a variable stands in an instance, in bytes."""
        kind = v.slot.kind
        width = 4 if kind in _INTS else TEXT_SIZE if kind in _TEXTS else self.number.width
        return self.offsets[kind] + width * v.slot.index

    def is_int(self, v: StepVariable) -> bool:
        """Whether the variable of this slot is kept as an integer."""
        return v.slot.kind in _INTS


def build_program(step: Step, sources: SourceMap | None = None, flags: tuple[str, ...] = ()) -> Program:
    """Generate, compile and load; everything that did not change comes from the build cache."""
    from kilohertz.building import model_units

    return load_program(model_units(step, sources, flags))


def load_program(model: ModelUnits) -> Program:
    """Compile and load what was generated."""
    library = prototypes(load_library(build_shared(*linked(model))))
    runtime.check_layout(library)
    rows_text.offer(library)
    getter = library[model.code.getter]
    getter.restype = ctypes.c_void_p
    table = getter()
    offsets = {kind: int(library.khz_area_offset(table, i)) for i, kind in enumerate(Kind)}
    return Program(model, library, table, int(library.khz_instance_size(table)), offsets, model.number)


def linked(model: ModelUnits) -> tuple[list[Unit], tuple[str, ...]]:
    """All that its library is made of, and linker arguments."""
    from kilohertz.building import linked_units

    return linked_units([model])


def prototypes(library: ctypes.CDLL) -> ctypes.CDLL:
    """The same library, with the types of what is called in it."""
    library.khz_area_offset.restype = library.khz_instance_size.restype = ctypes.c_size_t
    library.khz_area_offset.argtypes = [ctypes.c_void_p, ctypes.c_int32]
    library.khz_instance_size.argtypes = [ctypes.c_void_p]
    for name in ("khz_instance_init", "khz_event", "khz_instance_destroy"):
        getattr(library, name).argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    library.khz_initialize.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_double]
    pointer, number = ctypes.c_void_p, ctypes.c_double
    library.khz_derivatives.argtypes = [pointer, pointer, number, pointer, pointer]
    library.khz_evaluate_all.argtypes = [pointer, pointer, number, pointer]
    if hasattr(library, "khz_run_cvode"):  # in doubles
        library.khz_offline_work.restype, library.khz_offline_work.argtypes = ctypes.c_int64, [pointer]
    return library


class Context(ctypes.Structure):
    """`khz_context`: the head of every instance."""

    _fields_ = runtime.fields("khz_context")


def aligned_memory(size: int) -> tuple[ctypes.Array[ctypes.c_char], int]:
    """A buffer, and the address in it from which `size` bytes are aligned as the runtime wants it."""
    memory = ctypes.create_string_buffer(size + _ALIGNMENT)
    return memory, (ctypes.addressof(memory) + _ALIGNMENT - 1) // _ALIGNMENT * _ALIGNMENT


class Instance:
    """One flat block of memory that is a running model."""

    def __init__(self, program: Program, address: int | None = None) -> None:
        """In memory of its own, or at an address where the owner of the memory has prepared one."""
        self.program = program
        if address is None:
            self._memory, address = aligned_memory(program.size)
            program.library.khz_instance_init(program.model, address)
        self.address = address
        self.context = Context.from_address(self.address)

    def initialize(self, time: float) -> int:
        """Parameters, initial equations and the first event; the status."""
        return int(self.program.library.khz_initialize(self.program.model, self.address, time))

    def close(self) -> None:
        """Free what external objects hold."""
        self.program.library.khz_instance_destroy(self.program.model, self.address)

    def read(self, v: StepVariable) -> float | str:
        """The value at an offset of the instance."""
        at = self.address + self.program.offset(v)
        if v.slot.kind in _TEXTS:
            return ctypes.string_at(at).decode("utf-8", "replace")
        if self.program.is_int(v):
            return int(ctypes.c_int32.from_address(at).value)
        return float(self.program.number.ctype.from_address(at).value)

    def write(self, v: StepVariable, value: float | str) -> None:
        """Set the value at an offset of the instance."""
        at = self.address + self.program.offset(v)
        if v.slot.kind in _TEXTS:
            data = str(value).encode() + b"\0"
            ctypes.memmove(at, data, len(data))
        elif self.program.is_int(v):
            ctypes.c_int32.from_address(at).value = int(value)
        else:
            self.program.number.ctype.from_address(at).value = float(value)

    def set(self, name: str, value: float | str | bool) -> None:
        """Give a parameter a value before initialisation."""
        self.write(self.settable(name), _converted(self.settable(name), value))

    def settable(self, name: str) -> StepVariable:
        """The parameter or input of this name; ModelError where there is none that can be set."""
        step = self.program.step
        alias = step.aliases.get(name)
        target = alias.target if alias is not None and alias.target is not None and alias.sign > 0 else name
        v = step.variables.get(target)
        if v is not None and (v.tunable or v.slot.kind in (Kind.INPUT, Kind.INT_INPUT)):
            return v
        if v is None and alias is None:
            tunable = [n for n, p in step.variables.items() if p.tunable]
            near = closest(name, tunable)
            hint = f"; did you mean {', '.join(near)}?" if near else ""
            if why := self._only_compiled(name):
                raise ModelError(_cannot_be_set(name, why))
            raise ModelError(Diagnostic("R719", f"the model has no parameter `{name}`{hint}"))
        if v is not None and v.slot.kind in _COMPUTED:
            raise ModelError(_is_computed(name, v.slot.kind is Kind.STATE))
        raise ModelError(_cannot_be_set(name, "it is computed from other values or fixed while compiling"))

    def _only_compiled(self, name: str) -> str:
        """Why a name that is no parameter can be given a value before compiling only; empty where it cannot."""
        step = self.program.step
        if any(n.startswith(f"{name}[") for n in (*step.variables, *step.aliases)):
            return "it is an array; its elements can be"
        dotted = Dotted.read(name)
        owner = str(dotted.owner)
        if dotted.last in ("start", "fixed", "min", "max", "nominal") and (
            owner in step.variables or owner in step.aliases
        ):
            return f"it is an attribute of `{owner}`"
        return ""


def _cannot_be_set(name: str, why: str) -> Diagnostic:
    notes = (Note(f"`MODEL({_modifier(name)} = ...)` instead of `MODEL` compiles another value in"),)
    return Diagnostic("R720", f"`{name}` cannot be set: {why}", notes=notes)


def _is_computed(name: str, has_start: bool) -> Diagnostic:
    notes = (Note(f"`{name}.start=...` sets its start value"),) if has_start else ()
    return Diagnostic("R720", f"`{name}` cannot be set: the model computes it; it is no parameter", notes=notes)


def _modifier(name: str) -> str:
    """`a.b.c` as a modifier of the model: `a.b.c` too (MLS 7.2), without subscripts, which it cannot have."""
    return re.sub(r"\[[^\]]*\]", "", name)


def _converted(v: StepVariable, value: float | str | bool) -> float | str:
    if v.slot.kind in _TEXTS:
        size = len(str(value).encode())
        if size >= TEXT_SIZE:
            text = f"`{v.name}` cannot be set to a text of {size} bytes: there is room for {TEXT_SIZE - 1}"
            raise ModelError(Diagnostic("R720", text))
        return str(value)
    try:
        number = setting(v.ty, v.unit, value)
        why = refusal(v.ty, number, limit(v.min), limit(v.max))
    except UnitError as wrong:
        why = str(wrong)
    if why:
        raise ModelError(Diagnostic("R720", f"`{v.name}` cannot be set to {value}: {why}"))
    return number
