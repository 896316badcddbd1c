"""What profiling costs a real-time task: the same task without probes, with probes that are off, always on, in a burst.

    python benchmarks/profile_overhead.py [--rounds 7] [--seconds 0.3] [--model NAME ...]

Seven tasks from under 1 to about 100 microseconds a cycle, as fast as possible, nothing recorded, modes in turn, round
by round.  A cycle is the wall time of a run over its steps: the median over the rounds, and the least and greatest.
Also: the share of the time in named places, and how far the parts are from the whole.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

from kilohertz.driver import open_job
from kilohertz.driver.profiling import keep_profiles
from kilohertz.profiler import read_profile
from kilohertz.realtime import PROFILES, Built, start
from tables import machine

SOURCE = Path(__file__).parent / "models" / "StepCost.mo"
TASKS = {  # name: model, solver
    "Oscillator, rk4": (f"{SOURCE}:StepCost.Oscillator", "rk4"),
    "HydraulicAxis, lie": ("Kilohertz.Examples.HydraulicAxis.OpenLoop", "lie"),
    "Valve, sdirk3": (f"{SOURCE}:StepCost.Valve", "sdirk3"),
    "Chain, rk4": (f"{SOURCE}:StepCost.Chain", "rk4"),
    "Chain, lie": (f"{SOURCE}:StepCost.Chain", "lie"),
    "Rod, ros34pw2": (f"{SOURCE}:StepCost.Rod", "ros34pw2"),
    "Line, sdirk3": (f"{SOURCE}:StepCost.Line", "sdirk3"),
}


@dataclass(frozen=True, slots=True)
class Found:
    ns: dict[str, list[float]]  # of a cycle, by mode, round by round
    attributed: float
    apart: float  # parts against the whole, of the worst cycle
    dropped: float  # share of the cycles of a burst


def one_run(built: Built, mode: int, seconds: float) -> float:
    words = {"wall_num": 0, "probe_ns": round(seconds * 1e9), "cycles": 0, "grace": 0, "record.n": 0, "live": 0}
    report = start(built, {**words, "profile.mode": mode}).wait()
    return float(report.data["processor_ns"]) / max(1, report.counts["steps"])


def measure(name: str, rounds: int, seconds: float, scratch: Path) -> Found:
    model, solver = TASKS[name]
    job = open_job(model, solver=solver, step=1e-3)
    probed = open_job(model, solver=solver, step=1e-3, profile="off")
    bare, built = job.build(folder=scratch / "bare"), probed.build(folder=scratch / "probed")
    ns: dict[str, list[float]] = {mode: [] for mode in ("without", *PROFILES)}
    for _ in range(rounds):
        ns["without"].append(one_run(bare, -1, seconds))
        for i, mode in enumerate(PROFILES):
            ns[mode].append(one_run(built, i, seconds))  # the last one is the burst that is looked into below
    (file,) = keep_profiles(built, probed.session.libraries)
    profile = read_profile(file)
    apart = profile.apart or 0.0
    cycles = profile.about["written"] + profile.about["dropped"]
    return Found(ns, profile.attributed, apart, profile.about["dropped"] / max(1, cycles))


def shown(name: str, found: Found) -> str:
    base = statistics.median(found.ns["without"])
    cells = [f"{base / 1e3:.2f} ({min(found.ns['without']) / 1e3:.2f}..{max(found.ns['without']) / 1e3:.2f})"]
    for mode in PROFILES:
        more = sorted(a - b for a, b in zip(found.ns[mode], found.ns["without"], strict=True))
        mid = statistics.median(more)
        cells.append(f"{mid:+.0f} ns ({more[0]:+.0f}..{more[-1]:+.0f}), {mid / base:+.1%}")
    cells += [f"{found.attributed:.1%}", f"{found.apart:.1%}", f"{found.dropped:.1%}"]
    return f"| {name} | " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--model", nargs="*", default=list(TASKS), metavar="NAME")
    arguments = parser.parse_args()
    print("| task | cycle without / us | off | always | burst | in named places | parts apart | dropped |")
    print("|---|---|---|---|---|---|---|---|")
    for name in arguments.model:
        with tempfile.TemporaryDirectory(prefix="khz-") as scratch:
            print(shown(name, measure(name, arguments.rounds, arguments.seconds, Path(scratch))), flush=True)
    print(machine())


if __name__ == "__main__":
    main()
