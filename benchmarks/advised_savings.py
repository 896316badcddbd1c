"""What the advice of a profile saved: three models of the Modelica Standard Library before and after, and the errors.

Both settings are profiled in turn; the saving is that of the mean cycle without probes, median over the rounds.  The
error is that of the states against CVODE (tolerance 1e-8), largest over time in parts of the range of each: the median
and the largest of all states.  MODELICAPATH must have the library.

    python benchmarks/advised_savings.py [--rounds 3] [--only NAME]
"""

from __future__ import annotations

import argparse
from statistics import median
from typing import Any

import numpy as np

import kilohertz
from kilohertz.driver import Model
from kilohertz.driver.profiling import without_probes
from kilohertz.ir.step import Kind
from kilohertz.results import Result
from tables import machine

MECHANICS = "Modelica.Mechanics"
CASES: dict[str, tuple[str, tuple[dict[str, Any], ...]]] = {
    "CoupledClutches": (
        f"{MECHANICS}.Rotational.Examples.CoupledClutches",
        ({"solver": "rk3", "events": "catch-up"}, {"solver": "rk2", "events": "catch-up"}),
    ),
    "FullRobot": (
        f"{MECHANICS}.MultiBody.Examples.Systems.RobotR3.FullRobot",
        (
            {"solver": "rk4", "internal_steps": 10, "events": "catch-up"},
            {"solver": "rk3", "internal_steps": 10, "events": "catch-up"},
            {"solver": "rk4", "internal_steps": 5, "events": "catch-up"},
        ),
    ),
    "EngineV6": (
        f"{MECHANICS}.MultiBody.Examples.Loops.EngineV6",
        (
            {"solver": "rk4", "events": "exact"},
            {"solver": "rk3", "events": "exact"},
            {"solver": "rk4", "events": "catch-up"},
            {"solver": "rk3", "events": "catch-up"},
        ),
    ),
}
STEP = 1e-3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=CASES)
    arguments = parser.parse_args()
    print(machine())
    for name, (model_name, settings) in CASES.items():
        if arguments.only not in (None, name):
            continue
        model = kilohertz.load(model_name)
        careful = model.simulate(tolerance=1e-8)
        rounds = [[model.profile(step=STEP, **how) for how in settings] for _ in range(arguments.rounds)]
        for i, how in enumerate(settings):
            mean = median(without_probes(r[i]) for r in rounds) / 1e3
            saved = median(1.0 - without_probes(r[i]) / without_probes(r[0]) for r in rounds)
            middle, largest = errors(model, careful, model.simulate(step=STEP, **how))
            words = ", ".join(f"{k} {v}" for k, v in how.items())
            text = (
                f"mean {mean:8.2f} us, saved {saved:6.1%}; error of states: median {middle:.2g}, largest {largest:.2g}"
            )
            print(f"{name:16} {words:48} {text}", flush=True)


def errors(model: Model, careful: Result, run: Result) -> tuple[float, float]:
    """Median and largest over the states, each in parts of its range."""
    found = []
    for name in (v.name for v in model.process().of_kind(Kind.STATE) if v.name in careful.names):
        size = float(np.ptp(careful[name]))
        if size > 0:
            there = np.interp(careful.time, run.time, run[name])
            found.append(float(np.abs(there - careful[name]).max()) / size)
    return median(found), max(found)


if __name__ == "__main__":
    main()
