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
    flat = model.flatten()
    print(f"{model.name}: {flat.description}\n")
    print(model.analyse().as_text())
    model.compile()
    print("seconds: " + ", ".join(f"{stage} {seconds:.2f}" for stage, seconds in model.seconds.items()) + "\n")
    result = model.simulate()
    shown = WATCHED if WATCHED in result else result.names[0]
    unit = result.unit(shown)
    print(f"{shown} [{unit}] over {result.time[0]:g} .. {result.time[-1]:g} s\n" if unit else shown)
    print(chart(result.time.tolist(), result[shown].tolist()))
    print(f"\n{len(result.time)} rows, {time.perf_counter() - started:.2f} s in all.  Next:")
    print(f"  khz flatten {model.name}\n  khz simulate {model.name} -o result.csv")
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
