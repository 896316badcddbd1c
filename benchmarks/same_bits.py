"""Two source trees side by side: are the numbers the same to the bit, a step no dearer, a compilation no slower.

    python benchmarks/same_bits.py OLD_TREE NEW_TREE [--part bits|instructions|compile ...] [--model TEXT] [--runs 3]
                                                              needs valgrind, and MODELICAPATH unless with --ours

bits          Every model with CVODE and with the fixed-step settings in its row, through `khz simulate`; each value of
              each signal at each step is compared.  Model files are those of this tree, libraries each tree's.
instructions  Of a step of the five models of `step_cost.py`, by callgrind, as each tree's own `step_cost.py` counts.
compile       Processor time from the text to a finished run, the build cache empty, parsed libraries and Python's
              bytecode in their caches: Python and the C compilers apart.  The trees take turns; each ratio is that of
              neighbours in time.

Every run is a process of its own, in a folder of its own, with caches of its own.  The exit code is 1 where a bit
differs, a step takes more instructions, or a compilation takes more than 3 % longer in the median of the ratios.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
import resource
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tables import machine

ROOT = Path(__file__).parent.parent
OLD, NEW = "old", "new"
PARTS = ("bits", "instructions", "compile")
SLOWER = 1.03  # more than this is a slower compilation
SKIPPED, STEPS = 10, 40  # of a count of instructions
COUNTED = ("rk4", "ros34pw2", "sdirk2")


@dataclass(frozen=True, slots=True)
class Case:
    """A model, how many steps of which length, and the settings it runs with besides CVODE."""

    model: str
    step: float
    steps: int
    settings: tuple[str, ...]

    @property
    def name(self) -> str:
        """A class of a library, or the class in one of our files."""
        return self.model.rpartition(":")[2]

    def argument(self) -> str:
        """What `khz` is called with."""
        return str(ROOT / self.model) if ".mo" in self.model else self.model

    def runs(self) -> Iterator[tuple[str, ...]]:
        """The arguments of each run."""
        rows = ("--stop", repr(self.step * self.steps), "--intervals", str(self.steps))
        yield ("--solver", "cvode", *rows)
        for words in self.settings:
            yield ("--solver", *words.split(), "--step", repr(self.step), *rows)


EVENTS = ("none", "mid", "linear", "catch-up", "hermite", "predict", "predict-quadratic", "exact")
OURS = (
    Case("benchmarks/models/StepCost.mo:StepCost.Oscillator", 1e-3, 300, ("euler", "rk2", "rk3", "rk4", "lie", "litr")),
    Case("benchmarks/models/StepCost.mo:StepCost.Valve", 1e-4, 300, ("ros2", "li3", "ieuler", "sdirk2", "sdirk4")),
    Case("benchmarks/models/StepCost.mo:StepCost.Chain", 1e-3, 200, ("rk4", "sdirk3", "sdirk2 --inline")),
    Case("benchmarks/models/StepCost.mo:StepCost.Rod", 1e-3, 200, ("rodasp", "trapezoidal", "trbdf2", "esdirk3")),
    Case("benchmarks/models/StepCost.mo:StepCost.Line", 1e-3, 100, ("ros3p", "lie --jacobian-every 5")),
    Case("benchmarks/models/NonlinearLoops.mo:NonlinearLoops.Mesh", 1e-3, 100, ("rodas4 --index1", "ieuler --inline")),
    Case("benchmarks/models/Machines.mo:Machines", 1e-3, 500, ("rk4", "rodas3 --events linear")),
    Case("tests/runtime/stepping.mo:Stepping.Everything", 1e-3, 400, tuple(f"rodasp --events {e}" for e in EVENTS)),
    Case("tests/runtime/stepping.mo:Stepping.Several", 1e-3, 100, tuple(f"rk4 --events {e}" for e in EVENTS)),
    Case("tests/runtime/stepping.mo:Stepping.Ticks", 1e-3, 300, ("rk4 --events catch-up --events-per-step 2",)),
    Case("tests/solvers/friction.mo:Friction.StickSlip", 1e-3, 2000, ("ros34pw2 --events predict", "auto")),
    Case("tests/solvers/balls.mo:Balls.Drag", 1e-3, 1500, ("rk4 --events exact", "rk4 --events hermite")),
    Case("tests/solvers/pendulum.mo:Pend", 1e-3, 300, ("esdirk4", "rk4")),
    Case(
        "tests/solvers/axis.mo:Axis.Closed",
        2e-5,
        300,
        ("ars222 --implicit p*", "ars443 --implicit p*", "imex1 --implicit p* --substeps p*=4", "ros34pw3"),
    ),
    Case("tests/solvers/index1.mo:Index1.Rectifier", 1e-4, 300, ("rodas4 --index1", "sdirk3 --index1 --newton 3")),
    Case("tests/solvers/index1.mo:Index1.Valve", 1e-3, 300, ("ros3prl --index1 --events hermite", "ros4l")),
    Case("tests/simulate/inlined.mo:Inlined.Drive", 1e-3, 200, ("sdirk2 --inline",)),
    Case("tests/simulate/inlined.mo:Inlined.Cranks", 1e-3, 200, ("ieuler --inline",)),
    Case("tests/simulate/inlined.mo:Inlined.Star", 1e-3, 200, ("trbdf2 --inline", "ros34pw2")),
    Case("tests/simulate/internal.mo:Internal.Chopper", 1e-3, 100, ("rk4 --internal-steps 20", "auto")),
    Case("Kilohertz.Examples.HydraulicAxis.Controlled", 1e-3, 500, ("auto", "lie", "ars222 --implicit auto")),
    Case("Kilohertz.Examples.DriveTrain", 1e-3, 500, ("lie --events linear",)),
)
MSL = (
    Case("Modelica.Blocks.Examples.PID_Controller", 1e-3, 1000, ("auto",)),
    Case("Modelica.Electrical.Analog.Examples.Rectifier", 1e-4, 400, ("lie", "ieuler --inline")),
    Case("Modelica.Electrical.Digital.Examples.FlipFlop", 1e-2, 500, ("euler",)),
    Case("Modelica.Mechanics.Rotational.Examples.CoupledClutches", 1e-3, 1000, ("lie --events mid", "rk4")),
    Case("Modelica.Mechanics.MultiBody.Examples.Elementary.DoublePendulum", 1e-3, 500, ("rk4", "sdirk2 --inline")),
    Case("Modelica.Mechanics.MultiBody.Examples.Loops.Fourbar1", 1e-3, 300, ("ros34pw2", "ieuler --inline")),
    Case("Modelica.Thermal.HeatTransfer.Examples.ControlledTemperature", 1e-2, 500, ("trapezoidal",)),
    Case("Modelica.Fluid.Examples.Tanks.ThreeTanks", 1e-2, 300, ("ros3p",)),
    Case("Modelica.Clocked.Examples.SimpleControlledDrive.ClockedWithDiscreteTextbookController", 1e-3, 500, ("rk4",)),
)
COMPILED = (
    Case("Kilohertz.Examples.HydraulicAxis.Controlled", 1e-3, 1, ("rk4",)),
    Case("Modelica.Mechanics.Rotational.Examples.CoupledClutches", 1e-3, 1, ("rk4",)),
    Case("Modelica.Mechanics.MultiBody.Examples.Systems.RobotR3.FullRobot", 1e-3, 1, ("rk4",)),
)


# --------------------------------------------------------------------------------------------------------------- trees


@dataclass(frozen=True, slots=True)
class Tree:
    """A source tree with its caches and a folder to run in."""

    label: str
    folder: Path
    home: Path

    def start(self, job: str, *arguments: str, cache: str = "cache") -> subprocess.Popen[str]:
        """A job of this script (see `JOBS`) with the sources of this tree."""
        (self.home / "run").mkdir(parents=True, exist_ok=True)
        path = f"{self.folder / 'src'}{os.pathsep}{self.folder / 'benchmarks'}"
        environment = os.environ | {"PYTHONPATH": path, "KHZ_CACHE_DIR": str(self.home / cache)}
        environment |= {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(self.home / "bytecode")}
        command = [sys.executable, str(Path(__file__).absolute()), "--child", job, *arguments]
        return subprocess.Popen(
            command, env=environment, cwd=self.home / "run", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )


def answer(process: subprocess.Popen[str], what: str) -> dict[str, object]:
    """The last line that a job printed."""
    out, err = process.communicate()
    if process.returncode != 0:
        raise SystemExit(f"{what} failed ({process.returncode}):\n{err[-2000:]}")
    numbers: dict[str, object] = json.loads(out.splitlines()[-1])
    return numbers


# ------------------------------------------------------------------------------------- jobs, with the sources of a tree


def job_runs(runs: str) -> dict[str, object]:
    """`khz simulate` for each list of arguments; the exit codes."""
    from kilohertz.cli import main as khz

    return {"codes": [khz(words) for words in json.loads(runs)]}


def job_instructions(name: str) -> dict[str, object]:
    """Instructions per step by method, as this tree's own `step_cost.py` counts them."""
    sys.path.remove(str(Path(__file__).parent.absolute()))  # before PYTHONPATH, where the tree's own folder is
    sys.modules.pop("tables")
    from step_cost import counted

    both = ((m, counted(name, m, 1e-3, SKIPPED + STEPS), counted(name, m, 1e-3, SKIPPED)) for m in COUNTED)
    return {method: (longer - shorter) // STEPS for method, longer, shorter in both}


def job_compile(words: str) -> dict[str, object]:
    """Processor seconds of a run from text to the end: of Python, and of the compilers it started."""
    from kilohertz.cli import main as khz

    code = khz(json.loads(words))
    own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return {"code": code, "seconds": [own.ru_utime + own.ru_stime, others.ru_utime + others.ru_stime]}


JOBS: dict[str, Callable[..., dict[str, object]]] = {
    "runs": job_runs,
    "instructions": job_instructions,
    "compile": job_compile,
}


# ---------------------------------------------------------------------------------------------------------------- bits


def compare_bits(trees: tuple[Tree, Tree], cases: list[Case]) -> int:
    """A row for each run; how many differ."""
    print("| model | settings | signals | rows | hash | verdict |\n|---|---|---|---|---|---|")
    differing = 0
    for case in cases:
        runs = list(case.runs())
        processes = [(t, t.start("runs", json.dumps(_commands(t, case)))) for t in trees]
        codes = [answer(p, f"{case.name} in the {t.label} tree")["codes"] for t, p in processes]
        for k, words in enumerate(runs):
            files = [_result(t, k) for t in trees]
            shown, verdict = _verdict(files, [c[k] for c in codes])  # type: ignore[index]
            differing += verdict != "same"
            settings = " ".join(words[1 : words.index("--stop")])
            print(f"| {case.name} | {settings} | {' | '.join(shown)} | {verdict} |", flush=True)
    print(f"\n{differing} of {sum(len(list(c.runs())) for c in cases)} runs of {len(cases)} models differ\n")
    return differing


def _commands(tree: Tree, case: Case) -> list[list[str]]:
    head = ["simulate", case.argument(), "--quiet"]
    commands = []
    for k, words in enumerate(case.runs()):
        _result(tree, k).unlink(missing_ok=True)
        commands.append([*head, *words, "-o", str(_result(tree, k))])
    return commands


def _result(tree: Tree, k: int) -> Path:
    return tree.home / f"{k}.csv"


Signals = dict[str, list[str]]


def _verdict(files: list[Path], codes: list[int]) -> tuple[list[str], str]:
    """Signals, rows and hash of the new result, and whether it is that of the old one."""
    old, new = (_read(f) for f in files)
    if old is None or new is None:
        texts = [f"ends with {c}" if s is None else "has a result" for c, s in zip(codes, (old, new), strict=True)]
        same = "no result in either" if old is new else f"differs: old {texts[0]}, new {texts[1]}"
        return ["", "", ""], same
    digest = hashlib.sha256(json.dumps(sorted(new.items())).encode()).hexdigest()[:12]
    shown = [str(len(new)), str(len(new["time"])), digest]
    return shown, _first_difference(old, new) or ("same" if codes[0] == codes[1] else f"differs: exit codes {codes}")


def _read(path: Path) -> Signals | None:
    """Each signal as the bits of its values; None without a result."""
    if not path.exists():
        return None
    with path.open(newline="", encoding="utf-8") as file:
        rows = csv.reader(file)
        names = next(rows)
        columns = zip(*rows, strict=True)
        return {n: [struct.pack(">d", float(v)).hex() for v in c] for n, c in zip(names, columns, strict=True)}


def _first_difference(old: Signals, new: Signals) -> str:
    """Of the earliest row; empty where there is none."""
    missing = [n for n in old if n not in new] + [n for n in new if n not in old]
    if missing:
        return f"differs: {len(missing)} signals in one only, such as `{missing[0]}`"
    if len(old["time"]) != len(new["time"]):
        return f"differs: {len(old['time'])} rows, then {len(new['time'])}"
    places = ((next(k for k, pair in enumerate(zip(old[n], new[n], strict=True)) if pair[0] != pair[1]), n)
              for n in old if old[n] != new[n])  # fmt: skip
    found = min(places, default=None)
    if found is None:
        return ""
    k, name = found
    at, before, after = (_number(s) for s in (old["time"][k], old[name][k], new[name][k]))
    return f"differs: `{name}` at {at:g} s: {before!r}, then {after!r}"


def _number(bits: str) -> float:
    value: float = struct.unpack(">d", bytes.fromhex(bits))[0]
    return value


# -------------------------------------------------------------------------------------------------------- instructions


def compare_instructions(trees: tuple[Tree, Tree]) -> int:
    """A row for each model and method; how many take more."""
    from step_cost import NAMES

    print("| model | method | instructions per step, old | new | change |\n|---|---|---|---|---|")
    dearer = 0
    for name in NAMES:
        processes = [(t, t.start("instructions", name)) for t in trees]
        counts = [answer(p, f"{name} in the {t.label} tree") for t, p in processes]
        for method in COUNTED:
            old, new = (int(str(c[method])) for c in counts)
            dearer += new > old
            print(f"| {name} | {method} | {old} | {new} | {100 * (new / old - 1):+.2f} % |", flush=True)
    print(f"\n{dearer} of {len(NAMES) * len(COUNTED)} take more instructions\n")
    return dearer


# ------------------------------------------------------------------------------------------------------------- compile


def compare_compile(trees: tuple[Tree, Tree], cases: list[Case], runs: int) -> int:
    """A row for each model: Python, compilers, total; how many take longer."""
    print("| model | part | processor s, old | new | ratio of neighbours, median (range) |\n|---|---|---|---|---|")
    slower = 0
    for case in cases:
        seconds: dict[str, list[list[float]]] = {OLD: [], NEW: []}
        for k in range(runs + 1):
            for tree in trees if k % 2 else trees[::-1]:
                spent = _compile_once(tree, case)
                if k:  # the first has filled the caches of parsed libraries and of bytecode
                    seconds[tree.label].append([*spent, sum(spent)])
        for part, name in enumerate(("Python", "C compilers", "total")):
            old, new = ([s[part] for s in seconds[label]] for label in (OLD, NEW))
            ratios = [b / a if a else 1.0 for a, b in zip(old, new, strict=True)]
            slower += name == "total" and statistics.median(ratios) > SLOWER
            medians = " | ".join(f"{statistics.median(s):.2f} ({min(s):.2f} .. {max(s):.2f})" for s in (old, new))
            ratio = f"{statistics.median(ratios):.3f} ({min(ratios):.3f} .. {max(ratios):.3f})"
            print(f"| {case.name} | {name} | {medians} | {ratio} |", flush=True)
    print(f"\n{slower} of {len(cases)} take more than {100 * (SLOWER - 1):.0f} % longer\n")
    return slower


def _compile_once(tree: Tree, case: Case) -> list[float]:
    """Processor seconds of Python and of the compilers; the runtime is built anew as well."""
    for made in ("build", "forms-*"):
        for folder in (tree.home / "compiled").glob(made):
            shutil.rmtree(folder)
    words = ["simulate", case.argument(), "--quiet", *list(case.runs())[1]]
    numbers = answer(tree.start("compile", json.dumps(words), cache="compiled"), f"{case.name}, {tree.label} tree")
    if numbers["code"] != 0:
        raise SystemExit(f"{case.name} does not run in the {tree.label} tree")
    seconds: list[float] = numbers["seconds"]  # type: ignore[assignment]
    return seconds


# ---------------------------------------------------------------------------------------------------------------- main


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path, metavar="OLD_TREE")
    parser.add_argument("new", type=Path, metavar="NEW_TREE")
    parser.add_argument("--part", choices=PARTS, action="append", help="may be repeated (default: all)")
    parser.add_argument("--model", default="", metavar="TEXT", help="only models with this in their name")
    parser.add_argument("--ours", action="store_true", help="no models of the Modelica Standard Library")
    parser.add_argument("--runs", type=int, default=3, help="compilations of each model and tree (3)")
    arguments = parser.parse_args()
    if not arguments.ours and not os.environ.get("MODELICAPATH"):
        parser.error("MODELICAPATH is not set; --ours leaves the models of the Modelica Standard Library out")
    parts, started = arguments.part or PARTS, time.perf_counter()

    def chosen(cases: tuple[Case, ...]) -> list[Case]:
        fits = [c for c in cases if arguments.model.lower() in c.name.lower()]
        return [c for c in fits if not (arguments.ours and c.name.startswith("Modelica."))]

    with tempfile.TemporaryDirectory(prefix="khz-") as scratch:
        folders = ((OLD, arguments.old), (NEW, arguments.new))
        old, new = (Tree(label, folder.absolute(), Path(scratch) / label) for label, folder in folders)
        worse = 0
        if "bits" in parts:
            worse += compare_bits((old, new), chosen((*OURS, *MSL)))
        if "instructions" in parts:
            worse += compare_instructions((old, new))
        if "compile" in parts:
            worse += compare_compile((old, new), chosen(COMPILED), arguments.runs)
    print(f"{time.perf_counter() - started:.0f} s; {machine()}")
    return int(worse > 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(JOBS[sys.argv[2]](*sys.argv[3:])))
    else:
        sys.exit(main())
