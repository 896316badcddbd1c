"""Which prices a cost bound is told in: those of the compiler that makes the model's code."""

from __future__ import annotations

from kilohertz.base import ModelError
from kilohertz.cost import Target, reference, target_for
from kilohertz.toolchain import cross_compiler, find_compiler


def prices_here(machine: str = "") -> Target:
    """Of the compiler for this machine, or for another one; of the reference where none is there to be asked."""
    try:
        compiler = cross_compiler(machine) if machine else find_compiler()
    except ModelError:
        return reference()
    return target_for(compiler.family, compiler.architecture)
