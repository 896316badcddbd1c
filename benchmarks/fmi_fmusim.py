"""FMUs of our library in the simulator of the Reference FMUs (fmusim): do they run there, with our own numbers?

    python benchmarks/fmi_fmusim.py FMUSIM [--library Kilohertz] [--every 1] [--most 1000] [--resume ROWS] [--minutes M]

FMUSIM is the executable, built from modelica/Reference-FMUs (the last commit that holds it).  Each class of the library
with an experiment annotation is exported as FMI 2 and 3 with `ros34pw2` at 1 ms.  Co-Simulation over 200 steps must
have the numbers of `simulate` with the same method, to the digits that fmusim writes; Model Exchange must come to its
end with fmusim's explicit Euler at 1 ms, unless our own run with that method does not either.  Rows go to a file with
`--resume` and are not made again.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from kilohertz.base import ModelError
from kilohertz.driver import Model, Session, export, load

STEP, STEPS = 1e-3, 200
_WARNING = 1  # of FMI: a step of a bounded method that failed, as it does in our own run
NEAR = 1e-14  # of the largest value: fmusim writes 16 digits


def run(fmusim: Path, fmu: Path, kind: str, start: float, names: list[str]) -> dict[str, np.ndarray] | str:
    """The columns that fmusim writes, or why there are none."""
    out = fmu.with_suffix(".csv")
    words = ["--interface-type", kind, "--start-time", repr(start), "--stop-time", repr(start + STEPS * STEP)]
    words += ["--output-interval", repr(STEP), "--output-file", str(out), "--solver", "euler"]
    words += [w for name in names for w in ("--output-variable", name)]
    try:
        command = [str(fmusim), *words, str(fmu)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        return "it did not end within 120 s"
    if done.returncode > _WARNING or done.returncode < 0:  # the worst status of all calls
        return f"exit {done.returncode}: {' '.join((done.stdout + done.stderr).split())[-160:]}"
    with out.open(encoding="utf-8") as text:
        head, *rows = list(csv.reader(text))
    data = np.array([[float(v) for v in row] for row in rows])
    return {name: data[:, i] for i, name in enumerate(head)}


def judged(fmusim: Path, name: str, version: int) -> dict[str, Any]:
    """Why a model is not run as it should be; an empty cause where it is."""
    with tempfile.TemporaryDirectory() as folder:
        fmu = Path(folder) / "M.fmu"
        model = load(name)
        try:
            export(model, fmu, fmi=version, solver="ros34pw2", step=STEP, sources=False)
            start = model.process().experiment.start or 0.0
            ours = model.simulate(solver="ros34pw2", step=STEP, start=start, stop=start + STEPS * STEP, intervals=STEPS)
        except ModelError as error:
            return {"cause": f"ours: {error.diagnostics[0].code} {error.diagnostics[0].message[:80]}"}
        states = [v.name for v in model.process().variables.values() if v.name in ours.names][:40]
        theirs = run(fmusim, fmu, "cs", start, states)
        if isinstance(theirs, str):
            return {"cause": f"CS: {theirs}"}
        rows = np.append(np.diff(ours.time) > 1e-9, True)
        if rows.sum() != len(theirs["time"]):
            return {"cause": f"CS: {len(theirs['time'])} rows, not {rows.sum()}"}
        for column in (c for c in states if c in theirs):
            size = float(np.max(np.abs(ours[column]))) or 1.0
            if np.max(np.abs(ours[column][rows] - theirs[column])) > NEAR * size:
                return {"cause": f"CS: other numbers in {column}"}
        exchanged = run(fmusim, fmu, "me", start, states[:1])
        is_fine = not isinstance(exchanged, str) or fails_with_euler(model, start)
        return {"cause": "" if is_fine else f"ME: {exchanged}", "signals": len(states)}


def fails_with_euler(model: Model, start: float) -> bool:
    """Whether explicit Euler does not come through with us either."""
    try:
        return not model.simulate(solver="euler", step=STEP, start=start, stop=start + STEPS * STEP).ok
    except ModelError:
        return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fmusim", type=Path)
    parser.add_argument("--library", default="Kilohertz")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--most", type=int, default=1000)
    parser.add_argument("--resume", type=Path)
    parser.add_argument("--minutes", type=float, default=1e6)
    arguments = parser.parse_args()
    known: dict[tuple[str, int], dict[str, Any]] = {}
    if arguments.resume is not None and arguments.resume.is_file():
        rows = [json.loads(line) for line in arguments.resume.read_text(encoding="utf-8").splitlines()]
        known = {(row["name"], row["fmi"]): row for row in rows}
    names = sorted(Session().experiments([arguments.library]))[:: arguments.every][: arguments.most]
    until = time.monotonic() + 60 * arguments.minutes
    for name, version in ((name, version) for name in names for version in (2, 3)):
        if (name, version) in known or time.monotonic() > until:
            continue
        row = {"name": name, "fmi": version, **judged(arguments.fmusim, name, version)}
        known[name, version] = row
        print(f"FMI {version} {name}: {row['cause'] or 'fine'}", flush=True)
        if arguments.resume is not None:
            with arguments.resume.open("a", encoding="utf-8") as file:
                print(json.dumps(row), file=file)
    causes = Counter(row["cause"].partition(":")[0] or "fine" for row in known.values())
    print(f"{len(known)} of {2 * len(names)}: {', '.join(f'{n} {cause}' for cause, n in causes.most_common())}")


if __name__ == "__main__":
    main()
