"""The cost bounds of a model: counted once for all settings, told in the prices of the compiler that makes its code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kilohertz.base import ModelError

if TYPE_CHECKING:
    from kilohertz.cost import Bounds, Target
    from kilohertz.driver.api import Model
    from kilohertz.ir.step import Step
    from kilohertz.solvers import StepSettings
    from kilohertz.toolchain import Compiler


def bounds_of(model: Model, form: Step) -> Bounds:
    """What a period of one of a model's forms takes at most, in the prices of the reference."""
    from kilohertz.cost import Bounds

    return model.counted.setdefault(id(form), Bounds(form))


def bound_here(
    model: Model, form: Step, stepping: StepSettings, machine: str = "", *, probes: bool = False
) -> dict[str, Any]:
    """The same for some settings, in the prices of the compiler for this machine, or for another one, of the step that
    a task has there: `step` says which."""
    from kilohertz.building.made_step import is_whole, step_word

    compiler, target = _compiler(machine), prices_here(machine)
    word = "generic: there is no C compiler"
    if compiler is not None:
        units = model.built(form, probes=probes).in_numbers(stepping.number)
        word = step_word(units, stepping, compiler)
        is_made = not word.startswith("generic") and is_whole(units)
        target = target.made if is_made and target.made is not None else target
    return {**bounds_of(model, form).priced(target).of(stepping), "step": word}


def prices_here(machine: str = "") -> Target:
    """Of the compiler for this machine, or for another one; of the reference where none is there to be asked."""
    from kilohertz.cost import reference, target_for

    compiler = _compiler(machine)
    return target_for(compiler.family, compiler.architecture) if compiler is not None else reference()


def _compiler(machine: str) -> Compiler | None:
    from kilohertz.toolchain import cross_compiler, find_compiler

    try:
        return cross_compiler(machine) if machine else find_compiler()
    except ModelError:
        return None
