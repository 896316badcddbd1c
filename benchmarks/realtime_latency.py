"""Wake-up lateness of the periodic task beside cyclictest (Debian's rt-tests), and the drift over a minute.

Both wake every millisecond on one core with SCHED_FIFO 80 and locked memory, by turns in short slices, so that what the
machine does besides (other load, a host that takes the core) falls on both alike.  Without cyclictest only our own
numbers are printed.  `--together` runs both at once instead: then each also waits for the other.  `--witness`: a
wake-up later than a period is the machine's where a witness at the highest priority on the same core was not woken
either; it runs during the slices of the task and of cyclictest alike.

    python benchmarks/realtime_latency.py [--seconds 60] [--slices 6] [--cpu 1] [--drift 60] [--witness]
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from kilohertz.driver import build
from kilohertz.realtime import Built, Live, Recording, Report, Scenario, plain_scenario, start
from tables import machine
from witness import Cycles, Witness

MODEL = "Kilohertz.Examples.RCCircuit"
PERIOD = 1e-3
QUANTILES = (0.5, 0.99, 0.999)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0, help="of each in all")
    parser.add_argument("--slices", type=int, default=6)
    parser.add_argument("--cpu", type=int, default=1)
    parser.add_argument("--drift", type=float, default=60.0, help="seconds of the drift run; 0: leave it out")
    parser.add_argument("--together", action="store_true", help="both at once instead of by turns")
    parser.add_argument("--witness", action="store_true", help="tell the machine's late wake-ups from the task's")
    arguments = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        built = build(_scenario(arguments.cpu, arguments.witness), folder=folder)
        witness = Witness((arguments.cpu,), Path(folder)) if arguments.witness else None
        with witness or nullcontext():
            late = _compare(built, arguments)
        if witness is not None:
            _judge(witness, arguments.cpu, late)
        if arguments.drift:
            _drift(built, arguments.drift)


def _scenario(cpu: int, recorded: bool) -> Scenario:
    plain = plain_scenario(MODEL, solver="rk4", name=f"latency{os.getpid()}")
    settings = replace(plain.realtime, cpu=cpu, grace=10)
    return replace(plain, realtime=settings, recording=Recording(enabled=recorded, times=True))


def _compare(built: Built, arguments: argparse.Namespace) -> list[tuple[int, float, float]]:
    """The table; the late wake-ups of the task: step, when it was due, when it was done."""
    tool = shutil.which("cyclictest")
    if tool is None:
        print("cyclictest is not installed (Debian: apt install rt-tests): our own numbers alone")
    ours: Counter[int] = Counter()
    theirs: Counter[int] = Counter()
    seconds = arguments.seconds / arguments.slices
    missed = 0
    steals = []
    late: list[tuple[int, float, float]] = []
    for _ in range(arguments.slices):
        other = _cyclictest(tool, arguments.cpu, seconds) if tool and arguments.together else None
        report = _run(built, seconds, ours)
        missed += report.missed
        steals.append(float(report.data["steal"]))
        if arguments.witness:
            late += Cycles.of(report).late(report.period, report.period)
        if tool and other is None:
            other = _cyclictest(tool, arguments.cpu, seconds)
        if other is not None:
            theirs.update(_histogram(other.communicate()[0]))
    print(
        f"{'microseconds':14s} {'n':>8s} "
        + " ".join(f"p{100 * q:g}".rjust(8) for q in QUANTILES)
        + f" {'max':>8s}   > 1 ms"
    )
    _show("task", ours, 1e-3)
    if theirs:
        _show("cyclictest", theirs, 1.0)
        ratio = _quantile(ours, 0.99) * 1e-3 / _quantile(theirs, 0.99)
        print(f"p99 of the task is {ratio:.2f} times that of cyclictest (whole microseconds)")
    print(f"deadlines missed {missed}, knock-on included; steal {100 * sum(steals) / len(steals):.2f} %")
    return late


def _judge(witness: Witness, cpu: int, late: list[tuple[int, float, float]]) -> None:
    """Which of the task's late wake-ups the machine had at the same time."""
    alone = [f"step {i}: {1e3 * (b - a):.2f} ms" for i, a, b in late if not witness.explains(cpu, a, b, PERIOD)]
    seen = len(late) - len(alone)
    print(f"wake-ups of the task later than a period: {len(late)}, {seen} of them because of the machine")
    print("\n".join(f"  not with the machine: {words}" for words in alone), end="\n" if alone else "")


def _run(built: Built, seconds: float, into: Counter[int]) -> Report:
    """One slice; the histogram is read from the live memory, which outlives the task as long as we hold it."""
    running = start(built, {"cycles": round(seconds * 1000)})
    live: Live | None = None
    while live is None and running.process.poll() is None:
        time.sleep(0.05)
        live = running.live()
    report = running.wait()
    assert live is not None
    h = live.times("lateness")
    for i, n in enumerate(h.bucket):
        if n:
            into[_middle(i)] += n
    del h
    live.close()
    return report


def _middle(bucket: int) -> int:
    """Nanoseconds in the middle of a bucket of khz_histogram."""
    return bucket if bucket < 64 else ((2 * (bucket % 32) + 65) << (bucket // 32 - 1)) // 2


def _cyclictest(tool: str, cpu: int, seconds: float) -> subprocess.Popen[str]:
    words = [tool, "-t1", "-a", str(cpu), "-p", "80", "-i", "1000", "-m", "-q", "-h", "100000"]
    return subprocess.Popen([*words, "-D", f"{max(1, round(seconds))}"], stdout=subprocess.PIPE, text=True)


def _histogram(text: str) -> Counter[int]:
    found = re.findall(r"^(\d{6})\s+(\d+)$", text, re.MULTILINE)
    return Counter({int(us): int(n) for us, n in found if int(n)})


def _quantile(h: Counter[int], share: float) -> int:
    passed, wanted = 0, share * h.total()
    for value in sorted(h):
        passed += h[value]
        if passed >= wanted:
            return value
    return 0


def _show(name: str, h: Counter[int], factor: float) -> None:
    shown = " ".join(f"{_quantile(h, q) * factor:8.1f}" for q in QUANTILES)
    over = [value for value in h.elements() if value * factor > 1e3]
    lost = f"{len(over)} times, {sum(over) * factor * 1e-3:.0f} ms in all"
    print(f"{name:14s} {h.total():8d} {shown} {max(h, default=0) * factor:8.1f}   {lost}")


def _drift(built: Built, seconds: float) -> None:
    report = start(built, {"cycles": round(seconds * 1000)}).wait()
    last = seconds - report.period  # the release of the last cycle
    wall = report.data["wall_ns"] * 1e-9
    print(
        f"drift: {seconds:g} s at 1 kHz ended {wall - last:+.6f} s after the last release "
        f"({report.counts['ticks']} periods, {report.missed} missed): "
        + ("within one period" if wall - last < report.period else "more than one period")
    )


if __name__ == "__main__":
    main()
