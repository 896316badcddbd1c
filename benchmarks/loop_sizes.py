"""Sizes of the algebraic loops of textbook models, before and after tearing.

    python benchmarks/loop_sizes.py MSLDIR [MODEL ...]

One line for each loop of the simulated system: its kind, unknowns -> iteration variables, and what these are; before
that the states, and the seconds the passes took.  Known from the literature: CoupledClutches has one mixed loop with a
variable for each of three clutches; the robot with six axes comes down to one system of six, the number of its axes;
each cylinder of the engine to one position loop.
"""

from __future__ import annotations

import argparse
import time

from kilohertz.driver.api import Model
from library_sweep import session
from tables import machine

MODELS = (
    "Modelica.Mechanics.Rotational.Examples.CoupledClutches",
    "Modelica.Mechanics.MultiBody.Examples.Loops.Fourbar1",
    "Modelica.Mechanics.MultiBody.Examples.Systems.RobotR3.FullRobot",
    "Modelica.Mechanics.MultiBody.Examples.Loops.EngineV6",
)


def show(model: Model, name: str) -> None:
    """States and loops of one model."""
    model.flatten()
    started = time.perf_counter()
    analysis = model.analyse()
    print(f"\n{name}: {len(analysis.states)} states, passes {time.perf_counter() - started:.1f} s")
    print(f"  {', '.join(s.name for s in analysis.states)}")
    for loop in analysis.loops:
        names = ", ".join(loop.unknowns[:6]) + (", ..." if len(loop.unknowns) > 6 else "")
        print(f"  {loop.kind:9} {loop.partition:6} {loop.size:4} -> {loop.torn_size:<3} {names}")
    for note in analysis.notes:
        if "in the run" in note:
            print(f"  {note}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("library", metavar="MSLDIR")
    parser.add_argument("models", nargs="*", metavar="MODEL", default=list(MODELS))
    arguments = parser.parse_args()
    print(machine())
    for name in arguments.models:
        show(session((arguments.library,)).model(name), name)


if __name__ == "__main__":
    main()
