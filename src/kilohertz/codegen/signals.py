"""Signals: every name of a model that can be recorded, watched, set or connected, as a table and as C."""

from __future__ import annotations

from dataclasses import dataclass

from kilohertz.codegen.layout import INTS
from kilohertz.codegen.model import CFile, CProgram
from kilohertz.codegen.names import string
from kilohertz.ir.step import Kind, Step, StepVariable
from kilohertz.ir.types import BOOLEAN

_VARYING = frozenset(
    {Kind.STATE, Kind.DERIVATIVE, Kind.ALGEBRAIC, Kind.DISCRETE, Kind.INT_DISCRETE, Kind.INPUT, Kind.INT_INPUT}
)
_FIXED = frozenset({Kind.PARAMETER, Kind.INT_PARAMETER})
_INPUTS = frozenset({Kind.INPUT, Kind.INT_INPUT})
_CAUSALITY = {"": "LOCAL", "input": "INPUT", "output": "OUTPUT", "parameter": "PARAMETER"}


@dataclass(frozen=True, slots=True)
class ModelSignal:
    """A name and where it is stored; `sign` -1: the negative of what is stored (a Boolean: its opposite)."""

    name: str
    unit: str
    description: str
    type: str  # real, integer, boolean
    causality: str  # "", input, output, parameter
    kind: Kind
    index: int
    sign: int = 1
    tunable: bool = False  # may be set while the model runs


def model_signals(step: Step) -> tuple[ModelSignal, ...]:
    """All signals of a model in order of declaration; texts, external objects and plain constants are none."""
    out = []
    for name, v in step.variables.items():
        if not name.startswith("$") and v.slot.kind in _VARYING | _FIXED:
            tunable = v.tunable or v.slot.kind in _INPUTS
            out.append(_signal(name, v, v.unit, v.description, v.causality, 1, tunable))
    for name, alias in step.aliases.items():
        target = step.variables.get(alias.target or "")
        if target is not None and target.slot.kind in _VARYING | _FIXED and not name.startswith("$"):
            out.append(_signal(name, target, alias.unit, alias.description, alias.causality, alias.sign, False))
    return tuple(out)


def _signal(
    name: str, v: StepVariable, unit: str, description: str, causality: str, sign: int, tunable: bool
) -> ModelSignal:
    kind = v.slot.kind
    type = "boolean" if v.ty == BOOLEAN else "integer" if kind in INTS else "real"
    role = "input" if kind in _INPUTS and tunable else "parameter" if kind in _FIXED else causality
    return ModelSignal(name, unit, description, type, role, kind, v.slot.index, sign, tunable)


def signals_source(signals: tuple[ModelSignal, ...], code: CProgram) -> CFile:
    """The table `<prefix>signals` of a model in C."""
    name = f"{code.prefix}signals"
    lines = [f'#include "{code.header.name}"', '#include "khz_signal.h"', ""]
    lines += [f"extern const khz_signal {name}[];", f"const khz_signal {name}[] = {{"]
    for s in signals:
        width = "int32_t" if s.kind in INTS else "double"
        offset = f"(int64_t)(offsetof(khz_instance, {s.kind.value}) + {s.index} * sizeof({width}))"
        texts = f"{string(s.name)}, {string(_plain(s.unit))}, {string(_plain(s.description))}"
        codes = f"KHZ_SIGNAL_{s.type.upper()}, KHZ_SIGNAL_{_CAUSALITY.get(s.causality, 'LOCAL')}"
        lines.append(f"    {{{texts}, {codes}, {offset}, {s.sign}, {int(s.tunable)}}},")
    if not signals:
        lines.append('    {"", "", "", 0, 0, 0, 1, 0},')
    return CFile(f"{name}.c", "\n".join([*lines, "};", ""]))


def _plain(text: str) -> str:
    """Text for one line of a recording's head."""
    return " ".join(text.split())
