"""Does the tube agree with independent implementations, and are events matched as they were moved?

    python benchmarks/tube_verdicts.py REFDIR [--pairs 200] [--events 50] [--seed 1]

REFDIR holds CSV results (say a copy of MAP-LIB_ReferenceResults).  Signals of its files are perturbed by known amounts:
moved in value or in time, stretched, or with a bump, by a factor of what the tube allows.  The verdict of
`kilohertz.compare` is set beside two others:

    rectangle   the published rule of csv-compare: a point is inside when a rectangle of half width dx and half height
                dy whose middle lies on the reference covers it; every segment is tried for every point
    pyfunnel    the package pyfunnel (`pip install pyfunnel`), with dx and dy as absolute tolerances

Then staircases whose jumps were moved by known times, some lost, some added: are all pairs found, and no others?
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kilohertz.compare import Bars, compare
from kilohertz.compare.curve import Curve
from kilohertz.compare.event_matching import jumps, match
from kilohertz.compare.measures import Size, tube_size
from kilohertz.results import Result, read_csv

Floats = NDArray[np.float64]
TOLERANCE, MOST_ROWS, MOST_BYTES = 0.002, 3000, 4_000_000
FACTORS = (0.0, 0.3, 0.7, 0.95, 1.05, 1.3, 2.0, 5.0)  # of the half height, or half width, of the tube
KINDS = ("offset", "shift", "gain", "bump")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("references", metavar="REFDIR", type=Path)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--events", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    funnel = _pyfunnel()
    seen: Counter[str] = Counter()
    for name, reference, result, what in pairs(arguments.references, arguments.pairs, arguments.seed):
        size = tube_size(reference, TOLERANCE, Bars().nominal)
        ours = _ours(reference, result)
        verdicts = {"rectangle": by_rectangles(reference, result, size)}
        if funnel is not None:
            verdicts["pyfunnel"] = by_pyfunnel(funnel, reference, result, size)
        seen["pairs"] += 1
        seen["pass"] += ours
        for other, verdict in verdicts.items():
            seen[f"agrees with {other}"] += verdict == ours
            if verdict != ours:
                print(f"{name}, {what}: {_word(ours)}, {other} says {_word(verdict)}")
    for title, n in seen.items():
        print(f"{title}: {n}")
    right = sum(events_right(np.random.default_rng(arguments.seed + i)) for i in range(arguments.events))
    print(f"events matched as they were moved: {right} of {arguments.events} pairs")
    return 0 if seen["agrees with rectangle"] == seen["pairs"] and right == arguments.events else 1


def _word(verdict: bool) -> str:
    return "pass" if verdict else "FAIL"


# ------------------------------------------------------------------------------------------------------------ the tube


def pairs(folder: Path, n: int, seed: int) -> Iterator[tuple[str, Curve, Curve, str]]:
    """Name, reference, perturbed curve, and what was done; of each file one signal that varies, round and round."""
    random = np.random.default_rng(seed)
    files = [f for f in sorted(folder.rglob("*.csv")) if f.stat().st_size < MOST_BYTES and usable(f)]
    for file in (files[i % len(files)] for i in range(n if files else 0)):
        found = read_csv(file)
        name = str(random.choice(varying(found)))
        reference = Curve(found.time, np.ascontiguousarray(found[name]))
        kind, factor = str(random.choice(KINDS)), float(random.choice(FACTORS))
        yield f"{file.stem}: {name}", reference, perturbed(reference, kind, factor), f"{kind} by {factor}"


def usable(file: Path) -> bool:
    """A result with a signal that varies, and not so long that trying every segment takes for ever."""
    try:
        found = read_csv(file)
    except ValueError:
        return False
    return 10 <= len(found.time) <= MOST_ROWS and bool(varying(found)) and not (np.diff(found.time) < 0).any()


def varying(result: Result) -> list[str]:
    return [n for n in result.names if np.isfinite(result[n]).all() and np.ptp(result[n]) > 0]


def perturbed(reference: Curve, kind: str, factor: float) -> Curve:
    """The same curve, off by `factor` times what the tube allows."""
    size = tube_size(reference, TOLERANCE, Bars().nominal)
    t, y = reference.time, reference.value
    if kind == "offset":
        return Curve(t, y + factor * size.dy)
    if kind == "shift":  # the ends stay where they are, so that it covers the reference
        return Curve(np.concatenate([t[:1], t[1:-1] + np.minimum(factor * size.dx, t[-1] - t[1:-1]), t[-1:]]), y)
    if kind == "gain":
        return Curve(t, y + factor * size.dy * (y - y[0]) / np.ptp(y))
    middle, width = t[len(t) // 2], 0.05 * (t[-1] - t[0])
    return Curve(t, y + factor * size.dy * np.exp(-(((t - middle) / width) ** 2)))


def _ours(reference: Curve, result: Curve) -> bool:
    mine, theirs = (Result.of_columns("side", c.time, {"x": c.value}) for c in (result, reference))
    return compare(mine, theirs, bars=Bars(TOLERANCE, max_gap=1.0)).ok


def by_rectangles(reference: Curve, result: Curve, size: Size) -> bool:
    """Segment by segment: the part of it within dx of the point has a value within dy of the point."""
    t0, t1, y0, y1 = reference.time[:-1], reference.time[1:], reference.value[:-1], reference.value[1:]
    rounding = 1e-14 * size.scale  # a point on the edge is inside
    for t, y in zip(result.time.tolist(), result.value.tolist(), strict=True):
        low, high = np.maximum(t0, t - size.dx), np.minimum(t1, t + size.dx)
        near = low <= high
        if not near.any():
            return False
        width = np.where(t1 > t0, t1 - t0, 1.0)[near]
        slope = np.where((t1 > t0)[near], (y1 - y0)[near] / width, 0.0)
        a = y0[near] + slope * (low - t0)[near]
        b = np.where((t1 > t0)[near], y0[near] + slope * (high - t0)[near], y1[near])
        inside = (y >= np.minimum(a, b) - size.dy - rounding) & (y <= np.maximum(a, b) + size.dy + rounding)
        if not inside.any():
            return False
    return True


def _pyfunnel() -> Any:
    try:
        return importlib.import_module("pyfunnel")
    except ImportError:
        print("pyfunnel is not installed: compared with the rectangles alone", file=sys.stderr)
        return None


def by_pyfunnel(funnel: Any, reference: Curve, result: Curve, size: Size) -> bool:
    """What pyfunnel says; it leaves the points outside in errors.csv."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        sides = (reference.time, reference.value, result.time, result.value)
        funnel.compareAndReport(*(s.tolist() for s in sides), folder, atolx=size.dx, atoly=size.dy)
        lines = (Path(folder) / "errors.csv").read_text().split()[1:]
    return not any(float(line.split(",")[1]) > 1e-12 * size.scale for line in lines)


# --------------------------------------------------------------------------------------------------------- the events


def events_right(random: np.random.Generator) -> bool:
    """Jumps of a staircase moved by less than the window, some lost, some added far from all others."""
    n, window = int(random.integers(3, 60)), 1e-3
    times = np.cumsum(random.uniform(2.5 * window, 0.2, n))
    heights = random.choice([-1.0, 1.0], n) * random.uniform(0.5, 2.0, n)
    moved = times + random.uniform(-0.9, 0.9, n) * window
    kept = random.random(n) > 0.2
    added = random.uniform(times[-1] + 1, times[-1] + 2, int(random.integers(0, 3)))
    result = staircase(np.sort(np.append(moved[kept], added)), np.append(heights[kept], np.ones(len(added))))
    found = match(jumps(result, 0.1), jumps(staircase(times, heights), 0.1), window)
    pairs_found = [(a.time, b.time) for a, b in found.pairs]
    expected = list(zip(moved[kept].tolist(), times[kept].tolist(), strict=True))
    return pairs_found == expected and len(found.only_result) == len(added)


def staircase(times: Floats, heights: Floats) -> Curve:
    """Jumps by the heights at the times, as two rows with one time each."""
    t = np.concatenate([[-1.0], np.repeat(times, 2), [times[-1] + 5]])
    return Curve(t, np.repeat(np.concatenate([[0.0], np.cumsum(heights)]), 2))


if __name__ == "__main__":
    sys.exit(main())
