"""Soak: ten million steps as fast as possible, with the recorder on.  Memory must stay flat and time exact.

python benchmarks/realtime_soak.py [--steps 10000000] [--model M] [--solver S]
"""

from __future__ import annotations

import argparse
import os
import tempfile
from dataclasses import replace
from pathlib import Path

from kilohertz.driver import build
from kilohertz.realtime import Live, Recording, plain_scenario, start
from tables import machine


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=10_000_000)
    parser.add_argument("--model", default="Kilohertz.Examples.HydraulicAxis.Controlled")
    parser.add_argument("--solver", default="ros34pw2")
    parser.add_argument("--period-ns", type=int, default=333_333, help="one that no fraction of a second divides")
    arguments = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        plain = plain_scenario(
            arguments.model, solver=arguments.solver, name=f"soak{os.getpid()}", step=arguments.period_ns * 1e-9
        )
        plain = replace(plain, scale=None, cycles=arguments.steps, recording=Recording(every=10_000))
        built = build(plain, folder=folder)
        running = start(built)
        sizes: list[tuple[float, int]] = []

        def progress(time: float, _: Live | None) -> None:
            sizes.append((time, _resident(running.process.pid)))

        report = running.wait(progress)
        seen = [kib for _, kib in sizes if kib]
        steady = seen[len(seen) // 10 :]
        wall = report.data["wall_ns"] * 1e-9
        print(f"{report.counts['steps']} steps in {wall:.1f} s ({report.counts['steps'] / wall / 1e6:.2f} million/s)")
        print(f"resident memory after the first tenth: {min(steady)} .. {max(steady)} KiB in {len(steady)} looks")
        print(f"page faults of the loop: {report.data['page_faults']}")
        last, exact = float(report.result.time[-1]), arguments.steps * arguments.period_ns / 1e9
        print(f"time at the end: {last!r}, exact {exact!r}: {'same' if last == exact else 'off'}")
        trouble = {k: v for t in report.data["tasks"] for k, v in t["counts"].items() if v}
        print(f"counters: {trouble}")


def _resident(pid: int) -> int:
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in text.splitlines() if line.startswith("VmRSS")), 0)


if __name__ == "__main__":
    main()
