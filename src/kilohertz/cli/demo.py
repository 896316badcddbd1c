"""`khz demo`: the main job on a bundled example, with no other set-up."""

from __future__ import annotations

import argparse
import sys
import time

MODEL = "Kilohertz.Examples.RCCircuit"
WATCHED = "capacitor.v"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", default=MODEL, help=f"another model of the bundled library (default {MODEL})")


def run(arguments: argparse.Namespace) -> int:
    from kilohertz.driver import load

    started = time.perf_counter()
    model = load(arguments.model)
    report = model.check()
    counts = ", ".join(f"{number} {label.replace('_', ' ')}" for label, number in report.counts().items())
    print(f"{report.name}: {counts}  ({time.perf_counter() - started:.2f} s)\n")
    print(model.flat_text())
    started = time.perf_counter()
    result = model.simulate()
    elapsed = time.perf_counter() - started
    shown = WATCHED if WATCHED in result else result.names[0]
    print(f"{shown} over {result.time[0]:g} .. {result.time[-1]:g} s ({len(result.time)} rows in {elapsed:.2f} s):\n")
    print(chart(result.time.tolist(), result[shown].tolist()))
    sys.stdout.flush()
    return 0


def chart(time: list[float], values: list[float], width: int = 64, height: int = 12) -> str:
    """A curve drawn with characters."""
    low, high = min(values), max(values)
    scale = (high - low) or 1.0
    span = (time[-1] - time[0]) or 1.0
    grid = [[" "] * width for _ in range(height)]
    for t, v in zip(time, values, strict=True):
        row = round((high - v) / scale * (height - 1))
        grid[row][min(width - 1, int((t - time[0]) / span * width))] = "*"
    labels = [f"{high:10.4g} |", *[" " * 10 + " |"] * (height - 2), f"{low:10.4g} |"]
    return "\n".join(label + "".join(row).rstrip() for label, row in zip(labels, grid, strict=True))
