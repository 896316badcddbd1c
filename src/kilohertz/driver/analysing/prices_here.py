"""The cost bounds of a model: counted once for all settings, told in the prices of the compiler that makes its code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kilohertz.base import ModelError

if TYPE_CHECKING:
    from kilohertz.cost import Bounds, Target
    from kilohertz.driver.api import Model
    from kilohertz.ir.step import Step
    from kilohertz.solvers import StepSettings


def bounds_of(model: Model, form: Step) -> Bounds:
    """What a period of one of a model's forms takes at most, in the prices of the reference."""
    from kilohertz.cost import Bounds

    return model.counted.setdefault(id(form), Bounds(form))


def bound_here(model: Model, form: Step, stepping: StepSettings, machine: str = "") -> dict[str, Any]:
    """The same for some settings, in the prices of the compiler for this machine, or for another one."""
    return bounds_of(model, form).priced(prices_here(machine)).of(stepping)


def prices_here(machine: str = "") -> Target:
    """Of the compiler for this machine, or for another one; of the reference where none is there to be asked."""
    from kilohertz.cost import reference, target_for
    from kilohertz.toolchain import cross_compiler, find_compiler

    try:
        compiler = cross_compiler(machine) if machine else find_compiler()
    except ModelError:
        return reference()
    return target_for(compiler.family, compiler.architecture)
