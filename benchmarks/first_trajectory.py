"""How long `khz simulate` takes until its end, from nothing and again.

    python benchmarks/first_trajectory.py MSLDIR [MODEL ...] [--runs 3] [--result csv]

Every run is a fresh process of `khz simulate MODEL --quiet`, which records all signals (and writes them where a format
is named by `--result`).  *cold*: the caches hold parsed libraries, bytecode and the compiled runtime, nothing of the
model.  *warm*: the same command once more.  Printed: processor seconds of Python and of the C compilers it started, and
wall time, each as median (range); `import` is the time of `import kilohertz` alone.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tables import machine

MODELS = (
    "Modelica.Mechanics.Rotational.Examples.First",
    "Modelica.Mechanics.MultiBody.Examples.Systems.RobotR3.FullRobot",
    "Modelica.Mechanics.MultiBody.Examples.Loops.EngineV6",
)


def timed(command: Sequence[str], environment: dict[str, str]) -> tuple[float, float]:
    """Processor and wall seconds of a process and all it starts."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def without_model(cache: Path, runtime: set[Path]) -> None:
    """Forget all forms, and what was built since the runtime was."""
    for folder in cache.glob("forms-*"):
        shutil.rmtree(folder)
    for file in (cache / "build").rglob("*.*"):
        if file not in runtime:
            file.unlink()


def shown(seconds: Sequence[float]) -> str:
    return f"{statistics.median(seconds):.2f} ({min(seconds):.2f} .. {max(seconds):.2f})"


def measure(name: str, environment: dict[str, str], home: Path, arguments: argparse.Namespace) -> None:
    """The two rows of one model."""
    output = ["-o", str(home / f"result.{arguments.result}")] if arguments.result else []
    command = [sys.executable, "-m", "kilohertz", "simulate", name, "--quiet", *output]
    runtime = set((home / "cache" / "build").rglob("*.*"))
    timed(command, environment)  # libraries are parsed
    cold, warm = [], []
    for _ in range(arguments.runs):
        without_model(home / "cache", runtime)
        cold.append(timed(command, environment))
        warm.append(timed(command, environment))
    for label, numbers in (("cold", cold), ("warm", warm)):
        processor, wall = ([n[k] for n in numbers] for k in range(2))
        print(f"| {name.rpartition('.')[2]} | {label} | {shown(processor)} | {shown(wall)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("library", type=Path)
    parser.add_argument("models", nargs="*", default=MODELS)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--result", default="", help="format of a result that is written")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        environment = os.environ | {"KHZ_CACHE_DIR": str(home / "cache"), "MODELICAPATH": str(arguments.library)}
        environment |= {"PYTHONPYCACHEPREFIX": str(home / "bytecode")}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        timed([sys.executable, "-m", "kilohertz", "simulate", "Kilohertz.Examples.RCCircuit", "--quiet"], environment)
        imports = [timed([sys.executable, "-c", "import kilohertz"], environment)[0] for _ in range(arguments.runs)]
        print(f"{machine()}; import: {shown(imports)} s\n\n| model | | processor s | wall s |\n|---|---|---|---|")
        for name in arguments.models:
            measure(name, environment, home, arguments)


if __name__ == "__main__":
    main()
