"""Plant and controller of the hydraulic axis on two cores in one scenario: the bits of one thread, in real time.

Runs `examples/two_cores` in real time, and the same scenario as fast as possible in one thread.  Prints for each
thread what it missed and which messages came late, and up to which row both recordings are the same to the bit: to the
end where no message was late.

    python benchmarks/realtime_threads.py [--seconds 60] [--runs 1] [--patience 0]
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from kilohertz.driver import open_job
from kilohertz.realtime import Report, causes_of, start
from kilohertz.results import Result
from tables import machine

EXAMPLE = Path(__file__).parents[1] / "examples" / "two_cores" / "scenario.toml"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--patience", type=float, default=0.0, help="seconds that late messages are waited for")
    arguments = parser.parse_args()
    print(machine())
    job = open_job(EXAMPLE, duration=arguments.seconds)
    with tempfile.TemporaryDirectory() as folder:
        built = replace(job, scenario=replace(job.scenario, name="two_cores_bits")).build(folder=folder)
        one = start(built, {"wall_num": 0, "one_thread": 1}).wait().result
        for _ in range(arguments.runs):
            report = start(built, {"patience_ns": round(1e9 * arguments.patience)}).wait()
            print(summary(report))
            print(f"  the same bits in {same_rows(one, report.result)} of {len(one.time)} rows")


def summary(report: Report) -> str:
    lines = []
    for t in report.data["threads"]:
        c, late = t["counts"], t["times"]["lateness"]
        causes = causes_of(c)
        lines.append(
            f"  {t['name']}: {c['steps']} steps, {c['missed']} missed ({causes}), "
            f"messages late {c['exchange_late']}, overwritten {c['exchange_old']}, "
            f"lateness p50/p99/max {late['p50'] / 1e3:.0f}/{late['p99'] / 1e3:.0f}/{late['max'] / 1e3:.0f} us"
        )
    return "\n".join(lines)


def same_rows(one: Result, several: Result) -> int:
    """Rows from the beginning that are the same in both."""
    n = min(len(one.time), len(several.time))
    same = np.ones(n, dtype=bool)
    for name in one.names:
        same &= one[name][:n] == several[name][:n]
    return int(n if same.all() else np.argmin(same))


if __name__ == "__main__":
    main()
