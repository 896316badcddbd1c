"""Examples of a library as FMUs of FMI 2 and 3: how many FMPy finds nothing wrong with, and runs to our own numbers.

    python benchmarks/fmi_export.py [--library Modelica] [--every 3] [--most 150] [--timeout 300] [--resume ROWS.jsonl]
        [--minutes 10]

The rule: every `--every`-th class of the library with an experiment annotation (MODELICAPATH) in the order of their
names, at most `--most`.  Each is exported with `ros34pw2` at 1 ms (a 200th of its experiment where that is shorter, but
at least the nanosecond that a step can last), validated by FMPy and run by it over 200 steps (Co-Simulation) and the
same time (Model Exchange, its CVODE, with its cap of 500 steps in an output interval lifted).  Co-Simulation must have
the bits of our own run; Model Exchange must stay within 1 % of each state's range of our run with CVODE, on average,
or within 1e-5, ten times the tolerance; where it is not, at a tolerance of 1e-10.  Where FMPy's CVODE gives up the FMU
is run by ours.  Prints a table of failures by cause, time of an export (of FMI 2, which comes first) and size.  With
`--resume` each row goes to a file as soon as it is known, and those there already are not made again; `--minutes` ends
a piece of the sweep after that time.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from kilohertz.base import ModelError
from kilohertz.driver import Model, Session, export, load, simulate_fmu
from kilohertz.results import Result

VERSIONS = (2, 3)
LONGEST, STEPS = 1e-3, 200  # of a step, in seconds; number of steps
NEAR, TOLERANCE, FINE = 0.01, 1e-6, 1e-10
LEAST = 10 * TOLERANCE  # what both solvers take for nothing, where the nominal value is 1
MOST_STEPS = 1_000_000


def chosen(library: str, every: int, most: int) -> list[str]:
    """The classes, by the rule."""
    return sorted(Session().experiments([library]))[::every][:most]


@functools.cache
def model_of(name: str) -> Model:
    return load(name)


def start_of(name: str) -> float:
    return model_of(name).process().experiment.start or 0.0


def step_of(name: str) -> float:
    """A millisecond, or as long as the experiment needs all steps for."""
    stop = model_of(name).process().experiment.stop
    wanted = LONGEST if stop is None else min(LONGEST, (stop - start_of(name)) / STEPS)
    return max(1, round(wanted * 1e9)) * 1e-9


@functools.cache
def bounded_run(name: str) -> Result:
    """Our run with the method of the FMU."""
    # a step more: the end of our run has a row of its own, after `terminal()`, which an FMU makes when it is over
    step = step_of(name)
    stop = start_of(name) + (STEPS + 1) * step
    return model_of(name).simulate(solver="ros34pw2", step=step, stop=stop, intervals=STEPS + 1)


@functools.cache
def exact_run(name: str, tolerance: float) -> Result:
    """Our run with CVODE."""
    stop = start_of(name) + STEPS * step_of(name)
    return model_of(name).simulate(stop=stop, intervals=STEPS // 2, tolerance=tolerance)


def last_rows(instants: Any) -> Any:
    """Of several rows at one instant the last."""
    return np.append(~same_instant(instants), True)


def same_instant(instants: Any) -> Any:
    """Of each but the last whether the next is the same; the shortest step is a nanosecond."""
    return np.diff(instants) <= 1e-6 * (instants[-1] - instants[0]) / STEPS


def scalars(variable: Any, values: Any) -> Iterator[tuple[str, Any]]:
    """A variable by its elements, as our results call them."""
    if not variable.dimensions:
        yield variable.name, values
        return
    shape = [int(d.start) for d in variable.dimensions]
    for place in itertools.product(*map(range, shape)):
        yield f"{variable.name}[{','.join(str(i + 1) for i in place)}]", values.reshape(-1, *shape)[:, *place]


def co_simulation(path: Path, name: str) -> str:
    """Why the Co-Simulation is not our own run; empty where it is."""
    import fmpy

    described = fmpy.read_model_description(str(path))
    reals = [v for v in described.modelVariables if v.type in ("Real", "Float64") and v.causality != "independent"]
    start = start_of(name)
    step = step_of(name)
    times = {"start_time": start, "stop_time": start + STEPS * step, "output_interval": step}
    try:
        there = fmpy.simulate_fmu(str(path), fmi_type="CoSimulation", output=[v.name for v in reals], **times)
    except Exception as error:
        return f"CS: {str(error)[:100]}"
    here = bounded_run(name)
    rows = last_rows(here.time) & (here.time < start + (STEPS + 0.5) * step)
    if len(there["time"]) != rows.sum():
        return f"CS: {len(there['time'])} instants, not {rows.sum()}"
    columns = {name: values for v in reals for name, values in scalars(v, there[v.name])}
    other = [n for n, y in columns.items() if n in here.names and not np.array_equal(here[n][rows], y, equal_nan=True)]
    return f"CS: other bits in {other[0]}" if other else ""


def lift_the_cap() -> None:
    """FMPy gives up after 500 steps of CVODE in an output interval, and has no setting for it."""
    from fmpy.sundials import CVodeSolver

    given = CVodeSolver.__init__
    if not isinstance(given, functools.partialmethod):
        CVodeSolver.__init__ = functools.partialmethod(given, maxNumSteps=MOST_STEPS)


def model_exchange(path: Path, name: str) -> str:
    """Why Model Exchange is not near our run with CVODE; empty where it is.

    A run whose own error is wider than the tube says nothing: what is far is asked for once more, at a finer tolerance.
    """
    import fmpy

    described = fmpy.read_model_description(str(path))
    states = [u.variable.derivative.name for u in described.derivatives]
    cause = ""
    for tolerance in (TOLERANCE, FINE):
        try:
            there = by_fmpy(path, name, states, tolerance)
        except Exception as error:
            return given_up(path, name, states, str(error))
        cause = far_from_ours(name, states, there["time"], there, tolerance)
        if not cause:
            break
    return cause


def by_fmpy(path: Path, name: str, states: list[str], tolerance: float) -> Any:
    import fmpy

    lift_the_cap()
    start, step = start_of(name), step_of(name)
    return fmpy.simulate_fmu(
        str(path),
        fmi_type="ModelExchange",
        output=states,
        start_time=start,
        stop_time=start + STEPS * step,
        output_interval=step * 2,
        relative_tolerance=tolerance,
        record_events=False,
    )


def given_up(path: Path, name: str, states: list[str], why: str) -> str:
    """FMPy has no end of the run: whether the FMU is to blame, or its solver, is seen where ours runs the FMU."""
    start, n = start_of(name), STEPS // 2
    stop = start + STEPS * step_of(name)
    try:
        there = simulate_fmu(path, start=start, stop=stop, intervals=n, kind="me", tolerance=TOLERANCE, record=states)
    except ModelError as error:
        return f"ME: {why[:100]}; ours: {error.diagnostics[0].code}"
    rows = last_rows(there.time)
    columns = {state: there[state][rows] for state in states if state in there.names}
    cause = far_from_ours(name, states, there.time[rows], columns, TOLERANCE)
    return cause or f"FMPy's CVODE gives up, ours runs this FMU: {why[:100]}"


def far_from_ours(name: str, states: list[str], instants: Any, columns: Any, tolerance: float) -> str:
    here = exact_run(name, tolerance)
    for state in (s for s in states if s in here.names):
        size = max(np.ptp(here[state]), 1e-3 * np.max(np.abs(here[state])), 1e-9)
        far = np.mean(distance(here.time, here[state], instants, columns[state]))
        if far > max(NEAR * size, LEAST):
            return f"ME: far from our run in {state}: {far:.2g} of {size:.2g}"
    return ""


def distance(time: Any, values: Any, at: Any, others: Any) -> Any:
    """Of other values from ours; where we have one before an event and one after it, from the nearer."""
    sides = []
    for rows in (np.append(True, ~same_instant(time)), last_rows(time)):
        sides.append(np.abs(np.interp(at, time[rows], values[rows]) - others))
    return np.minimum(*sides)


def examine(name: str, version: int) -> dict[str, Any]:
    """One class as an FMU of one version."""
    from fmpy.validation import validate_fmu

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "M.fmu"
        started = time.perf_counter()
        try:
            made = export(model_of(name), path, fmi=version, solver="ros34pw2", step=step_of(name))
        except ModelError as error:
            return {"cause": f"export: {error.diagnostics[0].code} {error.diagnostics[0].message[:80]}"}
        numbers = {"seconds": time.perf_counter() - started, "bytes": made.size}
        found = validate_fmu(str(path))
        if found:
            return {"cause": f"validate: {found[0][:100]}", **numbers}
        for judge in (co_simulation, model_exchange):
            try:
                cause = judge(path, name)
            except ModelError as error:
                cause = f"our own run: {error.diagnostics[0].code}"
            if cause:
                return {"cause": cause, **numbers}
        return {"cause": "", **numbers}


def in_process(name: str, versions: list[int], timeout: float) -> Iterator[dict[str, Any]]:
    """The same in a process of its own for all versions: an FMU that crashes ends nothing but it."""
    command = [sys.executable, "-W", "ignore", __file__, "--one", name, "--fmi", *map(str, versions)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout * len(versions), check=False)
        said, ended = done.stdout, f"exit {done.returncode}: {done.stderr.strip()[-100:]}"
    except subprocess.TimeoutExpired as late:
        said, ended = (late.stdout or b"").decode(), f"more than {timeout * len(versions):g} s"
    rows = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    yield from ({"name": name, "fmi": version, **row} for version, row in zip(versions, rows, strict=False))
    if len(rows) < len(versions):
        yield {"name": name, "fmi": versions[len(rows)], "cause": ended}
        if rest := versions[len(rows) + 1 :]:
            yield from in_process(name, rest, timeout)


def swept(names: list[str], resume: Path | None, timeout: float, until: float) -> list[dict[str, Any]]:
    """A row for each class and version, from the file where they are there, else made now, as long as there is time."""
    known: dict[tuple[str, int], dict[str, Any]] = {}
    for line in resume.read_text(encoding="utf-8").splitlines() if resume is not None and resume.is_file() else ():
        row = json.loads(line)
        known[row["name"], row["fmi"]] = row
    for name in names:
        versions = [version for version in VERSIONS if (name, version) not in known]
        if not versions or time.monotonic() > until:
            continue
        for row in in_process(name, versions, timeout):
            known[name, row["fmi"]] = row
            print(f"FMI {row['fmi']} {name}: {row['cause'] or 'fine'}", flush=True)
            if resume is not None:
                with resume.open("a", encoding="utf-8") as file:
                    print(json.dumps(row), file=file)
    return [known[name, version] for name in names for version in VERSIONS if (name, version) in known]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", default="Modelica")
    parser.add_argument("--every", type=int, default=3)
    parser.add_argument("--most", type=int, default=150)
    parser.add_argument("--timeout", type=float, default=300.0)
    parser.add_argument("--resume", type=Path, help="rows that are known; new ones are added")
    parser.add_argument("--minutes", type=float, default=1e6, help="start no more after this time")
    parser.add_argument("--one", default="")
    parser.add_argument("--fmi", type=int, nargs="*", default=VERSIONS)
    arguments = parser.parse_args()
    if arguments.one:
        for version in arguments.fmi:
            print(json.dumps(examine(arguments.one, version)), flush=True)
        return
    names = chosen(arguments.library, arguments.every, arguments.most)
    rows = swept(names, arguments.resume, arguments.timeout, time.monotonic() + 60 * arguments.minutes)
    causes = Counter(row["cause"].partition(":")[0] or "fine" for row in rows)
    print(f"\n{len(names)} classes, each as FMI 2 and 3: {len(rows)} of {2 * len(names)} known")
    for cause, count in causes.most_common():
        print(f"| {cause} | {count} |")
    seconds = np.median([row["seconds"] for row in rows if "seconds" in row and row["fmi"] == VERSIONS[0]])
    size = np.median([row["bytes"] for row in rows if "bytes" in row])
    print(f"export: median {seconds:.1f} s; size: median {size / 1024:.0f} KiB")


if __name__ == "__main__":
    main()
