"""The parameters of a model that can be set, and how: at the start of a run, or compiled into another model.

An array is set element by element.  What has no place of its own in the compiled model, such as a start value, a
parameter that follows from others or one that shapes the model, becomes a modifier: `MODEL(b = 7, x.start = 1)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kilohertz.base import Diagnostic, Dotted, ModelError, near
from kilohertz.base.array_values import elements, parts
from kilohertz.base.units import UnitError
from kilohertz.ir.flat import CONSTANT, PARAMETER, Purpose
from kilohertz.ir.types import BOOLEAN, INTEGER, STRING, EnumType, Type

if TYPE_CHECKING:
    from kilohertz.driver.api import Model
    from kilohertz.ir.flat import Flat, Variable
    from kilohertz.ir.step import Step, StepVariable

Values = dict[str, float | str]
_ATTRIBUTES = ("start", "fixed", "nominal", "min", "max")


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


# -------------------------------------------------------------------------------------------------------------- setting


def with_values(model: Model, settings: Mapping[str, Any], *, texts: bool = True) -> tuple[Model, Values]:
    """The model that can have these values, and those of them that are set when it starts; each by one scalar.

    Without `texts`, as in a task, whose values are numbers, Strings are compiled in.
    """
    at_start: Values = {}
    modifiers: dict[str, str] = {}
    for name, value in settings.items():
        at_start.update(
            _at_start(model.process(), name, value, texts) or _compiled_in(model.flatten(), name, value, modifiers)
        )
    return (model.modified(modifiers) if modifiers else model), at_start


def compiled_with(model: Model, settings: Mapping[str, Any]) -> Model:
    """The model with these values compiled in, for who does not run it."""
    modifiers: dict[str, str] = {}
    for name, value in settings.items():
        if _compiled_in(model.flatten(), name, value, modifiers):
            raise ModelError(_no_modifier(model.flatten(), name))
    return model.modified(modifiers) if modifiers else model


def _no_modifier(flat: Flat, name: str) -> Diagnostic:
    """Why a value cannot be compiled in."""
    if name in flat.variables:
        return Diagnostic("R720", f"`{name}` cannot be set: it is no parameter")
    array = name.rpartition("[")[0]
    if array in flat.variables:
        return Diagnostic("R720", f"`{name}` cannot be set alone: `{array}={{...}}` sets the array")
    known = [n for n, v in flat.variables.items() if v.variability == PARAMETER]
    return Diagnostic("R719", f"the model has no parameter `{name}`{near(name, known)}")


def _at_start(step: Step, name: str, value: Any, texts: bool) -> Values:
    """What is set when a run starts: a scalar, or all elements of an array; empty where it is not possible."""
    if _is_settable(step, name, texts):
        return {name: value}
    given = parts(value)
    if given is None:
        return {}
    found = dict(elements(name, given))
    return found if found and all(_is_settable(step, n, texts) for n in found) and _is_whole(step, found) else {}


def _is_settable(step: Step, name: str, texts: bool) -> bool:
    from kilohertz.ir.step import Kind

    alias = step.aliases.get(name)
    v = step.variables.get(alias.target if alias is not None and alias.target and alias.sign > 0 else name)
    if v is None or (v.slot.kind is Kind.STRING_PARAMETER and not texts):
        return False
    return v.tunable or v.slot.kind in (Kind.INPUT, Kind.INT_INPUT)


def _is_whole(step: Step, elements: Values) -> bool:
    """Whether these are all elements of their array."""
    base = next(iter(elements)).rpartition("[")[0]
    return sum(n.startswith(f"{base}[") and n.endswith("]") for n in (*step.variables, *step.aliases)) == len(elements)


def _compiled_in(flat: Flat, name: str, value: Any, modifiers: dict[str, str]) -> Values:
    """Note the modifier that gives a value; where none can, the value goes on to who says why."""
    owner, attribute = str(Dotted.read(name).owner), Dotted.read(name).last
    v = flat.variables.get(name)
    if v is None and attribute in _ATTRIBUTES and (of := flat.variables.get(owner)) is not None and "[" not in name:
        ty = of.ty if attribute != "fixed" else Type(BOOLEAN.base, of.ty.dims)
        modifiers[name] = _text(name, of, ty, value)
        return {}
    if v is None or v.variability not in (PARAMETER, CONSTANT) or "[" in name:
        return {name: value}
    if v.final or v.variability == CONSTANT:
        what = "final" if v.final else "a constant"
        raise ModelError(Diagnostic("R720", f"`{name}` cannot be set: it is {what}"))
    modifiers[name] = _text(name, v, v.ty, value)
    return {}


def _text(name: str, v: Variable, ty: Type, value: Any) -> str:
    """A value as Modelica, of the size that is asked for."""
    given = parts(value)
    if not ty.dims:
        if given is not None:
            raise ModelError(Diagnostic("R720", f"`{name}` cannot be set to {value}: it is no array"))
        return _scalar_text(name, v, ty, value)
    if given is None:
        raise ModelError(Diagnostic("R720", f"`{name}` cannot be set to {value}: it is an array, such as {{1, 2}}"))
    if ty.dims[0] != len(given):
        text = f"`{name}` cannot be set to {value}: {len(given)} values for {ty.dims[0]} elements"
        raise ModelError(Diagnostic("R720", text))
    return "{" + ", ".join(_text(name, v, ty.element(), part) for part in given) + "}"


def _scalar_text(name: str, v: Variable, ty: Type, value: Any) -> str:
    from kilohertz.ir.expr import Str
    from kilohertz.ir.rules.limits import refusal, setting

    if ty.base == STRING.base:
        quoted = str(value).replace("\\", "\\\\").replace('"', '\\"')
        return f'"{quoted}"'
    unit = v.attributes.get("unit")
    try:
        number = setting(ty, unit.value if isinstance(unit, Str) else "", value)
        why = refusal(ty, number, None, None)
    except UnitError as wrong:
        why = str(wrong)
    if why:
        raise ModelError(Diagnostic("R720", f"`{name}` cannot be set to {value}: {why}"))
    if isinstance(ty.base, EnumType):
        return f"{ty.base.name}.{ty.base.literals[int(number) - 1]}"
    if ty.base == BOOLEAN.base:
        return "true" if number else "false"
    return str(int(number)) if ty.base == INTEGER.base else repr(number)
