"""What a cycle costs besides the model, and the highest rate of an empty task and of five models.

Overhead: the empty model runs at 1 kHz; what a cycle takes from wake-up to end, clock readings included, is overhead.
Highest rate: as fast as possible without recording and waiting (the ceiling), then in real time at falling periods as
long as at most one cycle in a hundred is missed, for whatever reason: on a busy machine this is the machine's number.

    python benchmarks/realtime_rates.py [--cpu 1] [--seconds 2]
"""

from __future__ import annotations

import argparse
import os
import tempfile
from dataclasses import replace
from pathlib import Path

from kilohertz.driver import build
from kilohertz.realtime import Built, Recording, plain_scenario, start
from tables import machine

EMPTY = "model Empty\n  Real y;\nequation\n  y = time;\nend Empty;\n"
MODELS = (
    ("Kilohertz.Examples.Decay", "rk4"),
    ("Kilohertz.Examples.RCCircuit", "rk4"),
    ("Kilohertz.Examples.DriveTrain", "rk4"),
    ("Kilohertz.Examples.BouncingBall", "rk4"),
    ("Kilohertz.Examples.HydraulicAxis.Controlled", "ros34pw2"),
)
PERIODS_US = (1000, 500, 250, 200, 150, 100, 80, 60, 50, 40, 30, 25, 20)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cpu", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=2.0)
    arguments = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder) / "Empty.mo"
        empty.write_text(EMPTY)
        print(f"{'model':46s} {'step us':>8s} {'rest us':>8s} {'free kHz':>9s} {'real-time kHz':>14s}")
        for model, solver in ((str(empty), "euler"), *MODELS):
            _measure(model, solver, Path(folder), arguments)


def _measure(model: str, solver: str, folder: Path, arguments: argparse.Namespace) -> None:
    plain = plain_scenario(model, solver=solver, name=f"rates{os.getpid()}")
    settings = replace(plain.realtime, cpu=arguments.cpu)
    built = build(replace(plain, realtime=settings, recording=Recording(enabled=False)), folder=folder / "built")
    slow = start(built, {"cycles": round(arguments.seconds * 1000)}).wait()
    free = start(built, {"wall_num": 0, "cycles": 200_000}).wait()
    rate = free.counts["steps"] / (free.data["wall_ns"] * 1e-9) / 1e3
    best = _fastest(built, arguments.seconds)
    name = Path(model).stem if model.endswith(".mo") else model
    print(
        f"{name:46s} {slow.microseconds('compute', 'p50'):8.2f} {slow.microseconds('overhead', 'p50'):8.2f} "
        f"{rate:9.0f} {best:14.1f}",
        flush=True,
    )


def _fastest(built: Built, seconds: float) -> float:
    """kHz at the shortest period that is kept."""
    best, failed = 0.0, 0
    for period in PERIODS_US:
        words = {"period_ns": period * 1000, "cycles": round(seconds * 1e6 / period)}
        counts = start(built, words).wait().counts
        if counts["missed"] <= counts["steps"] / 100:
            best, failed = 1e3 / period, 0
        else:
            failed += 1
        if failed == 3:  # not just a bad moment of the machine
            break
    return best


if __name__ == "__main__":
    main()
