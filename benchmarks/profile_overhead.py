"""What profiling costs a real-time task: the same task without probes, with probes that are off, always on, in a burst.

    python benchmarks/profile_overhead.py [--starts 4] [--rounds 40] [--milliseconds 40] [--task NAME ...]

Seven tasks from 2 to 300 microseconds a cycle.  Two processes, one built without probes, stand paused; in each round
both make as many steps as fit the time, as fast as possible, nothing recorded, once in each mode, in an order that
changes from round to round.  Both are started anew now and then: where their memory lies makes a difference of its own.
A slice should last 40 ms or more: it begins with cold caches, and that alone is some 100 us.
A cycle is the processor time of the real-time thread over its steps, so that what others on the machine take does not
count.  Shown: the median over rounds of the difference to the task without probes in the same round, its standard error
(by a thousand random draws of the rounds), and in parts of the cycle; of both modes the share of the time in named
places and how far the parts are from cycles that went without probes; the share of cycles that were dropped in a burst,
since nobody waits for these cycles.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kilohertz.driver import open_job
from kilohertz.driver.profiling import keep_profiles
from kilohertz.profiler import Profile, read_profile
from kilohertz.realtime import PROFILES, Built, Live, Running, start
from tables import machine

SOURCE = Path(__file__).parent / "models" / "StepCost.mo"
ENGINE = "Modelica.Mechanics.MultiBody.Examples.Loops.EngineV6_analytic"
TASKS: dict[str, tuple[str, str, int]] = {  # name: model, solver, internal steps
    "Chain, lie x 2": (f"{SOURCE}:StepCost.Chain", "lie", 2),
    "Rod, ros34pw2": (f"{SOURCE}:StepCost.Rod", "ros34pw2", 1),
    "EngineV6, rk4": (ENGINE, "rk4", 1),
    "Line, sdirk3": (f"{SOURCE}:StepCost.Line", "sdirk3", 1),
    "EngineV6, rk4 x 5": (ENGINE, "rk4", 5),
    "Line, sdirk3 x 5": (f"{SOURCE}:StepCost.Line", "sdirk3", 5),
    "EngineV6, rk4 x 40": (ENGINE, "rk4", 40),
}
Floats = NDArray[np.float64]
WITHOUT = "without"
SHOWN = ("off", "always", "burst")


def processor_ns(thread: Path) -> int:
    """What a thread had of its processor; 0 where it is gone."""
    try:
        return int((thread / "schedstat").read_text().split()[0])
    except OSError:
        return 0


@dataclass(slots=True)
class Paused:
    """A task as fast as possible that stands still between two calls."""

    running: Running
    live: Live
    thread: Path  # of the kernel's numbers on its real-time thread

    @staticmethod
    def of(built: Built, mode: int) -> Paused:
        words = {"wall_num": 0, "cycles": 0, "grace": 0, "record.n": 0, "profile.mode": mode}
        running = start(built, words)
        while (live := running.live()) is None or live.state != "running":
            time.sleep(0.02)
        time.sleep(0.3)
        busiest = max(Path(f"/proc/{running.process.pid}/task").iterdir(), key=processor_ns)
        live.pause()
        return Paused(running, live, busiest)

    def steps(self, n: int) -> float:
        """Nanoseconds of the processor for one of n steps."""
        before, done = processor_ns(self.thread), self.live.counts["steps"]
        self.live.step(n)
        return (processor_ns(self.thread) - before) / (self.live.counts["steps"] - done)

    def end(self) -> None:
        self.live.close()
        self.running.stop()
        self.running.wait()


@dataclass(slots=True)
class Found:
    """Nanoseconds of a cycle by mode, round by round; a profile of each mode."""

    ns: dict[str, list[float]] = field(default_factory=lambda: {m: [] for m in (WITHOUT, *SHOWN)})
    profiles: dict[str, Profile] = field(default_factory=dict)

    def more(self, mode: str) -> Floats:
        return np.subtract(self.ns[mode], self.ns[WITHOUT])


def measure(name: str, starts: int, rounds: int, seconds: float, scratch: Path) -> Found:
    model, solver, internal = TASKS[name]
    built = {}
    for kind, profile in ((WITHOUT, ""), ("probed", "off")):
        job = open_job(model, solver=solver, step=1e-3, internal_steps=internal, profile=profile)
        job = replace(job, scenario=replace(job.scenario, name=f"overhead-{kind}-{os.getpid()}"))
        built[kind] = job.build(folder=scratch / kind)
    found, order, n = Found(), np.random.default_rng(1), 0
    for _ in range(starts):
        bare, probed = Paused.of(built[WITHOUT], -1), Paused.of(built["probed"], PROFILES.index("off"))
        n = n or max(50, round(seconds * 1e9 / bare.steps(200)))
        for _ in range(rounds):
            for mode in order.permutation([WITHOUT, *SHOWN]).tolist():
                if mode != WITHOUT:
                    probed.live.profile(mode)
                found.ns[mode].append((bare if mode == WITHOUT else probed).steps(n))
        bare.end()
        probed.end()
    for mode in ("always", "burst"):  # a run of its own: the trace of the last one has both
        running = Paused.of(built["probed"], PROFILES.index(mode))
        running.steps(max(4000, 20 * n))
        running.end()
        (file,) = keep_profiles(built["probed"], job.session.libraries)
        found.profiles[mode] = read_profile(file)
    return found


def standard_error(values: Floats) -> float:
    """Of the median."""
    draws = np.random.default_rng(1).choice(values, (1000, len(values)))
    return float(np.median(draws, axis=1).std())


def shown(name: str, found: Found) -> str:
    base = np.array(found.ns[WITHOUT])
    cells = [f"{np.median(base) / 1e3:.2f} ({np.quantile(base, 0.25) / 1e3:.2f}..{np.quantile(base, 0.75) / 1e3:.2f})"]
    for mode in SHOWN:
        more, error = float(np.median(found.more(mode))), standard_error(found.more(mode))
        part = f"{more / np.median(base):+.1%} +- {error / np.median(base):.1%}"
        cells.append(f"{more:+.0f} +- {error:.0f} ns, {part}")
    for mode in ("always", "burst"):
        profile = found.profiles[mode]
        apart = "-" if profile.apart is None else f"{profile.apart:+.1%}"
        cells.append(f"{profile.attributed:.1%}, {apart}")
    counts = found.profiles["burst"].about
    cells.append(f"{counts['dropped'] / max(1, counts['written'] + counts['dropped']):.0%}")
    return f"| {name} | " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--starts", type=int, default=4, help="of both processes")
    parser.add_argument("--rounds", type=int, default=40, help="after each of them")
    parser.add_argument("--milliseconds", type=float, default=40.0)
    parser.add_argument("--task", nargs="*", default=list(TASKS), metavar="NAME")
    arguments = parser.parse_args()
    print("| task | cycle without / us | off | always | burst | always: named, apart | burst: named, apart | dropped |")
    print("|---|---|---|---|---|---|---|---|")
    for name in arguments.task:
        with tempfile.TemporaryDirectory(prefix="khz-") as scratch:
            found = measure(name, arguments.starts, arguments.rounds, arguments.milliseconds * 1e-3, Path(scratch))
            print(shown(name, found), flush=True)
    print(machine())


if __name__ == "__main__":
    main()
