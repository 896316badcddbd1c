"""Code that is there soon, and code that runs fast: an off-line run begins with the first and goes on with the second.

With -O2 the C of a model takes four times as long to compile as without optimisation, often longer than the run that it
is for; a run takes half as long with it.  A model whose library is not in the build cache is therefore compiled
without.  Once that draft has run for as long as optimising takes, the optimised library is made, and the run that is
under way goes on with it: compiling and running together take at most twice the least time.  Both compute the same
bits in the same memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kilohertz.simulate.program import Program, linked, load_program
from kilohertz.toolchain import is_built

if TYPE_CHECKING:
    from kilohertz.building import ModelUnits

_OPTIMISED_S = 3e-4  # for a line of C (EngineV6: 52 000 lines in 16 s)


@dataclass(slots=True)
class Draft:
    """What stands behind a program that was compiled without optimisation."""

    optimised: Callable[[], Program]
    left_s: float  # of processor time until optimising pays
    better: Program | None = None

    def ran(self, seconds: float) -> None:
        """So much of it is over."""
        self.left_s -= seconds

    def overtaken(self) -> Program | None:
        """The optimised program, where that pays by now."""
        if self.better is None and self.left_s <= 0.0:
            self.better = self.optimised()
        return self.better


def load_soon(built: ModelUnits) -> Program:
    """The optimised program where it is in the build cache, else a draft.

    What external code remembers is no part of an instance: nothing can take its place, so it is optimised at once.
    """
    if built.code.externals or is_built(*linked(built)):
        return load_program(built)
    lines = sum(file.text.count("\n") for file in built.code.files if not file.is_initial)
    return replace(load_program(built.drafted()), draft=Draft(lambda: load_program(built), _OPTIMISED_S * lines))
