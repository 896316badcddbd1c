"""FMUs of others, run here and compared with the results that their makers publish.

    python benchmarks/fmi_import.py FMU... --reference CLONE

FMUs built from a clone of modelica/Reference-FMUs (for FMI 2 and 3), and that clone, which has results made without
inputs in `NAME/NAME_out.csv`.  Prints for each FMU the largest deviation from the published numbers as a part of each
signal's range, or why it did not run.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np

from kilohertz.base import ModelError
from kilohertz.driver import check_fmu, simulate_fmu


def number(text: str) -> float:
    """A value of a published result; texts, arrays and octets are none."""
    try:
        return float({"true": "1", "false": "0"}.get(text, text))
    except ValueError:
        return float("nan")


def compared(fmu: Path, reference: Path) -> str:
    """What became of one FMU."""
    published = reference / fmu.stem / f"{fmu.stem}_out.csv"
    if not published.is_file():
        return "no published result"
    with published.open(encoding="utf-8") as file:
        names, *texts = csv.reader(file)
    rows = np.array([[number(text) for text in row] for row in texts])
    result = simulate_fmu(fmu, stop=float(rows[-1, 0]))
    worst, known, unknown = 0.0, 0, []
    last = np.append(np.diff(rows[:, 0]) > 0, True)
    for i, name in enumerate(names[1:], 1):
        column = rows[last, i]
        if np.isnan(column).any() or name not in result.names:
            unknown.append(name)
            continue
        known += 1
        ours = np.interp(rows[last, 0], result.time, result[name])
        worst = max(worst, float(np.max(np.abs(ours - column)) / (np.ptp(column) or 1.0)))
    left = f"; not compared: {', '.join(unknown)}" if unknown else ""
    return f"{known} signals, largest deviation {worst:.2g} of the range{left}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fmus", type=Path, nargs="+")
    parser.add_argument("--reference", type=Path, required=True)
    arguments = parser.parse_args()
    for fmu in arguments.fmus:
        try:
            version = check_fmu(fmu).description.version
            said = compared(fmu, arguments.reference)
        except ModelError as error:
            version, said = 0, f"{error.diagnostics[0].code}: {error.diagnostics[0].message}"
        print(f"| {fmu.stem} | {version or ''} | {said} |", flush=True)


if __name__ == "__main__":
    main()
