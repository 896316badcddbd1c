"""FMUs of many tools against the results that their makers published: modelica/fmi-cross-check.

    python benchmarks/fmi_cross_check.py FOLDER -o ROWS.tsv [--tasks] [--most N]

FOLDER holds a clone's `fmus/2.0` (or a part of it): each FMU beside `NAME_ref.csv`, `NAME_ref.opt` and, where it has
inputs, `NAME_in.csv`.  Each is run off-line with the stated times (with --tasks: as a task at 1 kHz, as fast as
possible, the FMU in the rig) and judged as FMPy judges its own runs (`fmpy.util.validate_result`: at most a tenth of
the samples outside the band).  A row for each FMU goes to ROWS as soon as it is known; those there
already are left out.  A communication step that would make more than 20 000 is taken as a multiple of itself.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from fmpy.util import validate_result

from kilohertz.base import ModelError
from kilohertz.driver import open_job, simulate_fmu
from kilohertz.results import Result
from kilohertz.simulate import Inputs

MOST_OUTSIDE = 0.1
MOST_ROWS = 20_000


def options_of(fmu: Path) -> dict[str, float]:
    """Times and tolerances that the maker states."""
    file = fmu.with_name(f"{fmu.stem}_ref.opt")
    out: dict[str, float] = {}
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines() if file.is_file() else ():
        key, _, value = line.partition(",")
        try:
            out[key.strip()] = float(value)
        except ValueError:
            continue
    return out


def table(file: Path) -> np.ndarray:
    """A CSV as a structured array, its first column called time."""
    with file.open(encoding="utf-8", errors="replace") as text:
        names, *rows = [row for row in csv.reader(text) if row]
    kinds = [("time" if i == 0 else name, np.double) for i, name in enumerate(names)]
    words = {"true": 1.0, "false": 0.0}
    return np.array([tuple(words[v] if v in words else float(v) for v in row) for row in rows], dtype=kinds)


def signals_of(data: np.ndarray) -> tuple[str, ...]:
    """All columns but time."""
    return (data.dtype.names or ())[1:]


def inputs_of(fmu: Path) -> Inputs | None:
    file = fmu.with_name(f"{fmu.stem}_in.csv")
    if not file.is_file():
        return None
    data = table(file)
    return Inputs({name: (data["time"], data[name]) for name in signals_of(data)}, "linear")


def offline(fmu: Path, kind: str, options: dict[str, float], reference: np.ndarray) -> Result:
    start = options.get("StartTime", float(reference["time"][0]))
    stop = options.get("StopTime", float(reference["time"][-1]))
    step = options.get("StepSize", 0.0) or options.get("OutputIntervalLength", 0.0)
    record = signals_of(reference)
    if kind == "cs":
        step = step or (stop - start) / 500
        step *= max(1, math.ceil((stop - start) / step / MOST_ROWS))
        return simulate_fmu(
            fmu, start=start, stop=stop, step=step, kind=kind, inputs=inputs_of(fmu), record=record, patience=60
        )
    wanted = round((stop - start) / step) if step > 0 else len(reference["time"])
    intervals = min(max(wanted, 500), 2 * len(reference["time"]) + 500)
    more: dict[str, Any] = {"tolerance": options["RelTol"]} if 0 < options.get("RelTol", 0) <= 1e-3 else {}
    return simulate_fmu(
        fmu, start=start, stop=stop, intervals=intervals, kind=kind, inputs=inputs_of(fmu), record=record,
        solver="cvode", patience=60, **more
    )  # fmt: skip


def as_task(fmu: Path, options: dict[str, float], reference: np.ndarray) -> Result:
    """A task at 1 kHz without waiting; inputs from the file."""
    start = options.get("StartTime", float(reference["time"][0]))
    stop = options.get("StopTime", float(reference["time"][-1]))
    given = fmu.with_name(f"{fmu.stem}_in.csv")
    drive = Inputs(given, "linear") if given.is_file() else None
    job = open_job(f"{fmu}:{','.join(signals_of(reference))}", duration=stop - start, inputs=drive)
    scenario = replace(job.scenario, scale=None, start=start)
    return replace(job, scenario=scenario).run(check=False).result


def judged(fmu: Path, tasks: bool) -> tuple[str, str]:
    """What became of one FMU: a word and its reason."""
    kind = "me" if "/me/" in str(fmu) else "cs"
    published = fmu.with_name(f"{fmu.stem}_ref.csv")
    if not published.is_file():
        return "no reference", ""
    try:
        reference = table(published)
    except (ValueError, IndexError) as error:
        return "no reference", f"its file cannot be read: {error}"
    options = options_of(fmu)
    try:
        result = as_task(fmu, options, reference) if tasks else offline(fmu, kind, options, reference)
    except ModelError as error:
        d = error.diagnostics[0]
        return "fails", f"{d.code}: {d.message}" + "".join(f"; {note.text}" for note in d.notes[:1])
    names = [n for n in signals_of(reference) if n in result.names or f"'{n}'" in result.names]
    columns = [result.time, *(result[n if n in result.names else f"'{n}'"] for n in names)]
    ours = np.array(list(zip(*columns, strict=True)), dtype=[("time", np.double), *((n, np.double) for n in names)])
    outside = float(validate_result(result=ours, reference=reference[["time", *names]]))
    said = f"{100 * outside:.2g} % of the samples outside, {len(names)} of {len(signals_of(reference))} signals"
    return ("matches" if outside <= MOST_OUTSIDE and names else "deviates"), said


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--tasks", action="store_true")
    parser.add_argument("--most", type=int, default=10_000, help="new rows in this call")
    arguments = parser.parse_args()
    known: dict[str, str] = {}
    if arguments.output.is_file():
        known = dict(line.split("\t")[:2] for line in arguments.output.read_text(encoding="utf-8").splitlines())
    fmus = sorted(arguments.folder.rglob("*.fmu"))
    left = [f for f in fmus if str(f.relative_to(arguments.folder)) not in known]
    with arguments.output.open("a", encoding="utf-8") as out:
        for fmu in left[: arguments.most]:
            word, why = judged(fmu, arguments.tasks)
            name = str(fmu.relative_to(arguments.folder))
            known[name] = word
            print(name, word, " ".join(why.split()), sep="\t", file=out, flush=True)
    print(
        f"{len(known)} of {len(fmus)}: {', '.join(f'{n} {word}' for word, n in Counter(known.values()).most_common())}"
    )


if __name__ == "__main__":
    main()
