"""Two large models of the Modelica Standard Library in real time for a million steps, each beside a witness.

    python benchmarks/realtime_large.py robot|engine [--cpu 1] [--steps 1000000] [--fast --runs 3]

`robot` is RobotR3.FullRobot at 5 kHz by rk3, its speeds and accelerations so low that its one motion lasts for all of
the run; `engine` is EngineV6 at 2 kHz by rk4.  MODELICAPATH names the library.  Overruns, the witness and --fast are
those of vehicles_realtime.py.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass, replace

from kilohertz.realtime import Recording, plain_scenario
from tables import machine
from vehicles_realtime import alone, in_real_time

MULTIBODY = "Modelica.Mechanics.MultiBody.Examples"
SLOWER = 167  # times slower than the example, whose motion lasts for 1.2 s


@dataclass(frozen=True)
class Large:
    model: str
    solver: str
    step: float
    signal: str


def _slow_robot() -> str:
    speeds = ", ".join(f"{v / SLOWER:.6g}" for v in (3, 1.5, 5, 3.1, 3.1, 4.1))
    accelerations = ", ".join(f"{a / SLOWER**2:.6g}" for a in (15, 15, 15, 60, 60, 60))
    return f"{MULTIBODY}.Systems.RobotR3.FullRobot(refSpeedMax = {{{speeds}}}, refAccMax = {{{accelerations}}})"


MODELS = {
    "robot": Large(_slow_robot(), "rk3", 0.2e-3, "axis1.motor.w"),
    "engine": Large(f"{MULTIBODY}.Loops.EngineV6", "rk4", 0.5e-3, "engineSpeed_rpm"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("which", choices=MODELS)
    parser.add_argument("--cpu", type=int, default=1)
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--fast", action="store_true", help="not in real time: what a step takes by itself")
    parser.add_argument("--runs", type=int, default=3, help="with --fast")
    arguments = parser.parse_args()
    large, cpu = MODELS[arguments.which], arguments.cpu
    plain = plain_scenario(large.model, name=f"{arguments.which}{os.getpid()}", step=large.step, solver=large.solver)
    recording = Recording(enabled=True, times=True, signals=(large.signal,))
    pinned = replace(plain.realtime, cpu=cpu)
    before = os.getloadavg()[0]
    scenario = replace(plain, cycles=arguments.steps, recording=recording, realtime=pinned)
    told = alone(scenario, arguments.runs) if arguments.fast else in_real_time(scenario)
    print(f"{machine()}; load {before:.1f} before, {os.getloadavg()[0]:.1f} after")
    print(f"{arguments.which}, {arguments.steps} steps of {large.step * 1e3:g} ms by {large.solver}: {told}")


if __name__ == "__main__":
    main()
