"""Simulate models of a library that keeps its own reference results, and compare at the points of those.

    python benchmarks/library_references.py LIBRARY [--also DIR]... [--sample N] [--seed 1] [--fine 1e-8]
                                            [--jobs 2] [--timeout 300] [--resume F.jsonl] [--only TEXT]

LIBRARY is a folder with `package.mo` and `Resources/ReferenceResults/Dymola/*.txt` as BuildingsPy keeps them: start and
end of a run and, for each signal, its values at equal distances.  Its name is that of the class with `_` for every dot.
A model counts as matched when every value of every signal lies in the tube around our trajectory: 0.2 % of the
simulated time wide, and 0.2 % of the signal's range high, at least 1e-4 of its size.  What does not match is run with
ten times the rows, so that the tube has all that the signals do in it, and if need be once
more with the tolerance --fine: `matched fine` says that the default tolerance was to blame, `mismatch` that it was not.
"""

from __future__ import annotations

import argparse
import random
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kilohertz.base import ModelError
from library_sweep import experiments, session, spent
from sweeps import absolute, add_options, sweep
from tables import Record, print_stages

if TYPE_CHECKING:
    from kilohertz.results import Result
    from kilohertz.results.result import Floats

Task = tuple[str, str, tuple[str, ...], float]  # class, file of its reference, folders of libraries, fine tolerance

TUBE = 0.002  # of the simulated time, and of the range of a signal
SMALLEST = 0.05  # of its size, that counts as the range of a signal that hardly moves
ROWS = 5  # of ours between two points of the reference, besides those at events
STAGES = ("flattened", "compiled", "simulated", "matched")
_SERIES = re.compile(r"^(\S+?)=\[(.*)\]\s*$")


@dataclass(frozen=True)
class Reference:
    """Values of signals at equal distances from start to stop; of a constant there are two."""

    start: float
    stop: float
    signals: dict[str, Floats]

    @property
    def n_intervals(self) -> int:
        return max((len(v) for v in self.signals.values()), default=1) - 1


def read_reference(file: Path) -> Reference:
    """The run that a reference file tells of; lines that hold no series are statistics of the tool that made it."""
    found = (_SERIES.match(line) for line in file.read_text(encoding="utf-8").splitlines())
    series = {m[1]: np.array([float(x) for x in m[2].split(",")]) for m in found if m}
    start, *_, stop = series.pop("time")
    return Reference(float(start), float(stop), series)


def run_one(task: Task) -> Record:
    """Runs in a worker: how far the model came, and what stopped it."""
    name, file, libraries, fine = task
    reference = read_reference(Path(file))
    record: Record = {"status": "not flattened", "reached": [], "signals": len(reference.signals)}
    try:
        model = session(libraries).model(name)
        for stage, job in (("flattened", model.flatten), ("compiled", model.compile)):
            since = spent()
            job()
            record["reached"].append(stage)
            ours, compilers = (now - then for now, then in zip(spent(), since, strict=True))
            record |= {f"{stage}_s": round(ours, 2), "cc_s": round(compilers, 2)}
            record["status"] = "not compiled" if stage == "flattened" else "not simulated"
        since = spent()
        result = model.simulate(**_settings(reference))
        record["simulated_s"] = round(sum(spent()) - sum(since), 2)
        record["reached"].append("simulated")
        off = _off(result, reference)
        named = [n if n in result else _derived(n) for n in reference.signals]
        more = _settings(reference, 10) | {"record": [n for n in named if n in result] or "all"}
        if off:
            off = _off(model.simulate(**more), reference)
        if not off:
            record["reached"].append("matched")
            return record | {"status": "matched"}
        record |= {"status": "mismatch", "message": "at the tolerance of the model", "worst": off[:3]}
        off = _off(model.simulate(**more, tolerance=fine), reference)
        return record | ({"worst_fine": off[:3]} if off else {"status": "matched fine"})
    except ModelError as error:
        return record | {"code": error.diagnostics[0].code, "message": error.diagnostics[0].message}


def _settings(reference: Reference, times: int = 1) -> dict[str, Any]:
    return {
        "start": reference.start,
        "stop": reference.stop,
        "intervals": times * ROWS * max(reference.n_intervals, 100),
    }


def _off(result: Result, reference: Reference) -> list[str]:
    """Signals with a point outside the tube, the worst first, each with by how much and since when."""
    found: list[tuple[float, str]] = []
    for name, values in reference.signals.items():
        ours = _ours(result, name)
        if ours is None:
            found.append((np.inf, f"{name} is not there"))
            continue
        times = np.linspace(reference.start, reference.stop, len(values))
        scale = max(float(np.ptp(values)), SMALLEST * float(np.abs(values).max()), 1e-6)
        excess = _outside(result.time, ours, times, values, TUBE * (reference.stop - reference.start)) / scale
        late = np.flatnonzero(~(excess <= TUBE))  # what is no number is off too
        if len(late):
            found.append((float(excess.max()), f"{name} off by {excess.max():.1e} from t = {times[late[0]]:g}"))
    return [text for _, text in sorted(found, key=lambda f: -f[0])]


def _ours(result: Result, name: str) -> Floats | None:
    """Our signal; a derivative of what is no state is that of its values."""
    if name in result:
        return result[name]
    if _derived(name) not in result:
        return None
    time, rows = np.unique(result.time, return_index=True)
    return np.asarray(np.interp(result.time, time, np.gradient(result[_derived(name)][rows], time)))


def _derived(name: str) -> str:
    """`x` of `der(x)`."""
    return name.removeprefix("der(").removesuffix(")")


def _outside(time: Floats, ours: Floats, at: Floats, theirs: Floats, half_width: float) -> Floats:
    """How far each of their points is from what our trajectory takes in a window around its time."""
    distance = np.empty(len(at))
    for i, (t, y) in enumerate(zip(at, theirs, strict=True)):
        edges = np.clip((t - half_width, t + half_width), time[0], time[-1])
        inside = ours[np.searchsorted(time, edges[0], "left") : np.searchsorted(time, edges[1], "right")]
        window = np.concatenate((np.interp(edges, time, ours), inside))
        distance[i] = np.max((0.0, y - window.max(), window.min() - y))
    return distance


def cases(arguments: argparse.Namespace) -> list[Task]:
    """The classes with a reference, or a random number of them, the same ones for the same seed."""
    folders = (str(arguments.library.parent), *map(str, arguments.also))
    kept = {f.stem: f for f in (arguments.library / "Resources/ReferenceResults/Dymola").glob("*.txt")}
    names = experiments(folders, [arguments.library.name])
    with_one = sorted(n for n in names if n.replace(".", "_") in kept and arguments.only in n)
    if arguments.sample is not None:  # in random order: what was run when a sweep is stopped is a sample too
        with_one = random.Random(arguments.seed).sample(with_one, min(arguments.sample, len(with_one)))
    return [(n, str(kept[n.replace(".", "_")]), folders, arguments.fine) for n in with_one]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=absolute, metavar="LIBRARY")
    parser.add_argument("--also", action="append", type=absolute, default=[], help="a folder with libraries it uses")
    parser.add_argument("--sample", type=int, metavar="N", help="a random N of them")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fine", type=float, default=1e-8, help="tolerance of the second run of what does not match")
    parser.add_argument("--only", default="", help="only models whose name contains this")
    add_options(parser)
    arguments = parser.parse_args()
    sweep(run_one, cases(arguments), arguments, report, ("matched", "matched fine"))


def report(records: list[Record]) -> None:
    """How many reached each stage, why the others did not, and the slowest."""
    print_stages(records, STAGES, fine_only=sum(r["status"] == "matched fine" for r in records))
    print("\nslowest, processor seconds: flatten, compile, C compiler, simulate")
    phases = ("flattened_s", "compiled_s", "cc_s", "simulated_s")
    for record in sorted(records, key=lambda r: -sum(r.get(p, 0.0) for p in phases))[:20]:
        print("  " + " ".join(f"{record.get(p, 0.0):8.2f}" for p in phases), f"{record['status']:14} {record['class']}")


if __name__ == "__main__":
    main()
