"""FMUs of others, run here and compared with the results that their makers publish.

    python benchmarks/fmi_import.py FMU... --reference CLONE [--tasks] [--step SECONDS]

FMUs built from a clone of modelica/Reference-FMUs (for FMI 2 and 3), and that clone, which has results made without
inputs in `NAME/NAME_out.csv`.  Prints for each FMU the largest deviation from the published numbers as a part of each
signal's range, or why it did not run.  With --tasks each runs as a real-time task (at 1 kHz, or with --step) instead of
off-line, and a column more says what its cycles took.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np

from kilohertz.base import ModelError
from kilohertz.driver import check_fmu, run, simulate_fmu
from kilohertz.results import Result


def number(text: str) -> float:
    """A value of a published result; texts, arrays and octets are none."""
    try:
        return float({"true": "1", "false": "0"}.get(text, text))
    except ValueError:
        return float("nan")


def published_rows(fmu: Path, reference: Path) -> tuple[list[str], np.ndarray] | None:
    """Names and rows of the published result; of several rows at one time the last."""
    published = reference / fmu.stem / f"{fmu.stem}_out.csv"
    if not published.is_file():
        return None
    with published.open(encoding="utf-8") as file:
        names, *texts = csv.reader(file)
    counts = [len(text.split()) if name != "time" else 1 for name, text in zip(names, texts[0], strict=True)]
    is_array = [n > 1 and not np.isnan(number(text.split()[0])) for n, text in zip(counts, texts[0], strict=True)]
    names = [
        f"{name}[{i + 1}]" if many else name
        for name, n, many in zip(names, counts, is_array, strict=True)
        for i in range(n if many else 1)
    ]
    cells = [[c for t, many in zip(row, is_array, strict=True) for c in (t.split() if many else [t])] for row in texts]
    rows = np.array([[number(text) for text in row] for row in cells])
    return names, rows[np.append(np.diff(rows[:, 0]) > 0, True)]


def as_task(fmu: Path, stop: float, step: float) -> tuple[Result, str]:
    """What was recorded of a real-time task, and what its cycles took."""
    report = run(fmu, duration=stop, step=step, check=False)
    times, counts = report.data["times"], report.counts
    compute = times["compute"]
    said = f"{counts['steps']} steps, compute p50 {compute['p50'] / 1e3:.1f} us, max {compute['max'] / 1e3:.1f} us"
    return (
        report.result,
        f"{said}, {counts['overruns']} overruns, {counts['missed']} missed, ended: {report.data['ended']}",
    )


def compared(fmu: Path, reference: Path, tasks: bool, step: float) -> str:
    """What became of one FMU."""
    known_rows = published_rows(fmu, reference)
    if known_rows is None:
        return "no published result"
    names, rows = known_rows
    stop = float(rows[-1, 0])
    result, times = as_task(fmu, stop, step) if tasks else (simulate_fmu(fmu, stop=stop), "")
    worst, known, unknown = 0.0, 0, []
    for i, name in enumerate(names[1:], 1):
        column = rows[:, i]
        if np.isnan(column).any() or name not in result.names:
            unknown.append(name)
            continue
        known += 1
        ours = np.interp(rows[:, 0], result.time, result[name])
        worst = max(worst, float(np.max(np.abs(ours - column)) / (np.ptp(column) or 1.0)))
    left = f"; not compared: {', '.join(unknown)}" if unknown else ""
    return f"{known} signals, largest deviation {worst:.2g} of the range{left}" + (f" | {times}" if times else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fmus", type=Path, nargs="+")
    parser.add_argument("--reference", type=Path, required=True)
    parser.add_argument("--tasks", action="store_true")
    parser.add_argument("--step", type=float, default=1e-3)
    arguments = parser.parse_args()
    for fmu in arguments.fmus:
        try:
            version = check_fmu(fmu).description.version
            said = compared(fmu, arguments.reference, arguments.tasks, arguments.step)
        except ModelError as error:
            version, said = 0, f"{error.diagnostics[0].code}: {error.diagnostics[0].message}"
        print(f"| {fmu.stem} | {version or ''} | {said} |", flush=True)


if __name__ == "__main__":
    main()
