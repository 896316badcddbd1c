"""The parameters of a model that can be set without compiling it again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kilohertz.ir.flat import Purpose
from kilohertz.ir.types import EnumType

if TYPE_CHECKING:
    from kilohertz.driver.api import Model
    from kilohertz.ir.step import StepVariable


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter with its value before anything is set."""

    name: str
    value: float | str
    unit: str = ""
    description: str = ""
    min: float | None = None
    max: float | None = None
    choices: tuple[str, ...] = ()  # the literals of an enumeration; `value` is the number of one, from 1


def parameters(model: Model) -> tuple[Parameter, ...]:
    """Those that can be set, in the order of declaration."""
    from kilohertz.simulate import Instance

    program = model.compile()
    instance = Instance(program)
    variables = [v for v in program.step.variables.values() if v.tunable and v.purpose is Purpose.DECLARED]
    return tuple(_parameter(v, instance.read(v)) for v in variables)


def _parameter(v: StepVariable, value: float | str) -> Parameter:
    from kilohertz.ir.rules.limits import limit

    choices = v.ty.base.literals if isinstance(v.ty.base, EnumType) else ()
    return Parameter(v.name, value, v.unit, v.description, limit(v.min), limit(v.max), tuple(choices))
