"""A million cycles with the profiler always on, in turn with off: missed deadlines, memory, page faults.

    python benchmarks/profile_soak.py [--cycles 1000000] [--period-us 100] [--slice-s 2] [--model M] [--solver S]

One real-time task that was built with probes; its mode is switched from slice to slice while it runs, so that what
happens to the machine happens to both.  Missed deadlines are counted slice by slice, without the cycle in which the
mode changes, and given as the mean of a slice with its standard error.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from kilohertz.driver import open_job
from kilohertz.realtime import Live, start
from tables import machine

MODES = ("off", "always")


def one_slice(live: Live, seconds: float) -> tuple[int, int]:
    """Cycles and missed deadlines of so long."""
    before = live.counts
    time.sleep(seconds)
    after = live.counts
    return after["steps"] - before["steps"], after["missed"] - before["missed"]


def resident_kib(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cycles", type=int, default=1_000_000, help="with each mode")
    parser.add_argument("--period-us", type=float, default=100.0)
    parser.add_argument("--slice-s", type=float, default=2.0)
    parser.add_argument("--model", default="Kilohertz.Examples.HydraulicAxis.OpenLoop")
    parser.add_argument("--solver", default="lie")
    arguments = parser.parse_args()
    print(machine())
    job = open_job(arguments.model, solver=arguments.solver, step=arguments.period_us * 1e-6, profile="off")
    job = replace(job, scenario=replace(job.scenario, name=f"profile-soak-{os.getpid()}"))
    with tempfile.TemporaryDirectory(prefix="khz-") as folder:
        running = start(job.build(folder=Path(folder)))
        while (live := running.live()) is None or live.state != "running":
            time.sleep(0.05)
        time.sleep(1.0)
        found: dict[str, list[tuple[int, int]]] = {mode: [] for mode in MODES}
        sizes = []
        while min(sum(n for n, _ in some) for some in found.values()) < arguments.cycles:
            for mode in MODES:
                live.profile(mode)
                found[mode].append(one_slice(live, arguments.slice_s))
            sizes.append(resident_kib(running.process.pid))
        live.close()
        running.stop()
        report = running.wait()
    for mode, some in found.items():
        missed = np.array([m for _, m in some], np.float64)
        error = missed.std(ddof=1) / np.sqrt(len(missed)) if len(missed) > 1 else 0.0
        cycles = sum(n for n, _ in some)
        print(f"{mode}: {cycles} cycles, {missed.sum():.0f} missed; {missed.mean():.2f} +- {error:.2f} a slice")
    off, always = (np.array([m for _, m in found[mode]], np.float64) for mode in MODES)
    more = always - off
    error = more.std(ddof=1) / np.sqrt(len(more))
    print(f"more of them always on: {more.mean():+.2f} +- {error:.2f} a slice, in {len(more)} pairs of slices")
    print(f"resident memory: {sizes[0]} KiB after the first pair, {min(sizes)} .. {max(sizes)}, {sizes[-1]} at the end")
    print(f"page faults of the loop: {report.data['page_faults']}; overruns: {report.counts['overruns']}")


if __name__ == "__main__":
    main()
