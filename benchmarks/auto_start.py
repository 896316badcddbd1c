"""How long `khz run MODEL --solver auto` takes from the command to the start of the task.

    python benchmarks/auto_start.py MSLDIR [MODEL@STEP ...] [--runs 2] [--tree OTHER_TREE ...]

Every run is a fresh process; the caches hold parsed libraries, bytecode and the compiled runtime, nothing of the model.
The task itself is not started.  Printed: processor seconds of Python and of the C compilers, wall time, each as median
(range), and what `auto` takes.  With other source trees they take turns with this one.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from first_trajectory import shown, without_model
from tables import machine

ROOT = Path(__file__).parent.parent
MODELS = (
    "Modelica.Mechanics.MultiBody.Examples.Systems.RobotR3.FullRobot@0.0002",
    "Modelica.Mechanics.MultiBody.Examples.Loops.EngineV6@0.0005",
)
# the command, up to where the task would be started
CHILD = """
import json, os, resource, sys
import kilohertz.realtime
from kilohertz.__main__ import khz

def start(built):
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    stepping = built.scenario.tasks[0].stepping
    taken = f"{stepping.solver}, events {stepping.events}, internal steps {stepping.internal_steps}"
    print(json.dumps([*(u.ru_utime + u.ru_stime for u in used), taken]), flush=True)
    os._exit(0)

kilohertz.realtime.start = start
sys.exit(khz())
"""


def started(model: str, environment: dict[str, str]) -> tuple[float, float, float, str]:
    """Processor seconds of Python and of what it started, wall seconds, and what was taken."""
    name, _, step = model.partition("@")
    command = [sys.executable, "-c", CHILD, "run", name, "--solver", "auto", "--step", step, "--duration", "1"]
    begun = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    wall = time.perf_counter() - begun
    if done.returncode:
        raise SystemExit(f"{' '.join(command[3:])} failed:\n{done.stderr[-2000:]}")
    python, compilers, taken = json.loads(done.stdout.splitlines()[-1])
    return python, compilers, wall, taken


def prepared(tree: Path, home: Path, library: Path) -> dict[str, str]:
    """The environment of a tree, its runtime compiled for models off-line and for tasks."""
    environment = os.environ | {"KHZ_CACHE_DIR": str(home / "cache"), "MODELICAPATH": str(library)}
    environment |= {"PYTHONPATH": str(tree / "src"), "PYTHONPYCACHEPREFIX": str(home / "bytecode")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    started("Kilohertz.Examples.RCCircuit@0.001", environment)
    return environment


def _short(model: str) -> str:
    name, _, step = model.partition("@")
    return f"{name.rpartition('.')[2]}, {step} s"


def measure(model: str, environments: dict[Path, dict[str, str]], n_runs: int) -> None:
    """The rows of one model."""
    runs: dict[Path, list[tuple[float, float, float, str]]] = {tree: [] for tree in environments}
    runtimes = {}
    for tree, environment in environments.items():
        check = [sys.executable, "-m", "kilohertz", "check", model.partition("@")[0]]
        subprocess.run(check, capture_output=True, check=True, env=environment)  # libraries are parsed
        runtimes[tree] = set(Path(environment["KHZ_CACHE_DIR"], "build").rglob("*.*"))
    for tree, environment in [pair for _ in range(n_runs) for pair in environments.items()]:
        cache = Path(environment["KHZ_CACHE_DIR"])
        without_model(cache, runtimes[tree])
        shutil.rmtree(cache / "choices", ignore_errors=True)
        runs[tree].append(started(model, environment))
    for tree, numbers in runs.items():
        seconds = ([n[0] for n in numbers], [n[1] for n in numbers], [n[2] for n in numbers])
        columns = " | ".join(map(shown, seconds))
        print(f"| {_short(model)} | {tree.name} | {columns} | {numbers[-1][3]} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("library", type=Path)
    parser.add_argument("models", nargs="*", default=MODELS, metavar="MODEL@STEP")
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--tree", type=Path, action="append", default=[], help="another source tree; may be repeated")
    arguments = parser.parse_args()
    print(f"{machine()}, load {os.getloadavg()[0]:.0f}\n")
    print("| model | tree | Python s | C compilers s | wall s | taken |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        trees = (ROOT, *arguments.tree)
        environments = {t: prepared(t, Path(folder, str(k)), arguments.library) for k, t in enumerate(trees)}
        for model in arguments.models:
            measure(model, environments, arguments.runs)


if __name__ == "__main__":
    main()
