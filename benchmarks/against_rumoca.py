"""Compile times side by side with the PyPI package `rumoca`, on ten MSL models of rising size, in one run.

    python benchmarks/against_rumoca.py MSLDIR [--runs 3] [--until flatten|simulate]

Every measurement is a fresh process, timed from outside: start-up, library loading and compilation together.  "cold"
starts with an empty cache folder, "warm" with the one that the cold run left; "again" is a second compilation in the
same process with the same session.  The tools take turns.  Both see a folder with Modelica, ModelicaServices and
Complex alone.  Our modules are compiled to bytecode beforehand, as pip does for an installed package.  For rumoca a
model is compiled through `Session.loads` of an extending class.  With
`--until simulate` both also run the model over its experiment.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tables import machine, spread

MODELS = (
    "Modelica.Mechanics.Rotational.Examples.First",
    "Modelica.Electrical.Analog.Examples.CauerLowPassAnalog",
    "Modelica.Blocks.Examples.PID_Controller",
    "Modelica.Mechanics.Rotational.Examples.CoupledClutches",
    "Modelica.Mechanics.MultiBody.Examples.Elementary.DoublePendulum",
    "Modelica.Electrical.Analog.Examples.CauerLowPassOPV",
    "Modelica.Electrical.Machines.Examples.InductionMachines.IMC_DOL",
    "Modelica.Fluid.Examples.HeatingSystem",
    "Modelica.Mechanics.MultiBody.Examples.Loops.EngineV6",
    "Modelica.Mechanics.MultiBody.Examples.Systems.RobotR3.FullRobot",
)
NEEDED = ("Modelica", "ModelicaServices", "Complex.mo")
Numbers = dict[str, Any]


def khz_child(name: str, library: str, until: str) -> Numbers:
    from kilohertz.driver import Session

    session = Session([library])

    def job() -> int:
        model = session.model(name)
        if until == "simulate":
            model.simulate()
        return model.check().equations

    return _twice(lambda _: job())


def rumoca_child(name: str, library: str, until: str) -> Numbers:
    import rumoca

    session = rumoca.Session(roots=[library])

    def job(k: int) -> int:
        model = session.loads(f"model X{k} extends {name}; end X{k};", model=f"X{k}")
        if until == "simulate":
            model.simulate()
        return int(model.structure().n_equations)

    return _twice(job)


def _twice(job: Callable[[int], int]) -> Numbers:
    """The job in a fresh session, then again; the parent times the first together with the process's start."""
    equations = job(0)
    print(json.dumps({"first_done": time.time(), "equations": equations}), flush=True)
    started = time.perf_counter()
    job(1)
    return {"again": time.perf_counter() - started}


def measure(tool: str, name: str, library: Path, cache: Path, until: str) -> Numbers:
    """One fresh process; seconds to the first result, and for a second one in the same process."""
    environment = os.environ | {"KHZ_CACHE_DIR": str(cache), "XDG_CACHE_HOME": str(cache), "MODELICAPATH": ""}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["PYTHONPYCACHEPREFIX"] = str(library.parent / "bytecode")
    command = [sys.executable, __file__, "--child", tool, name, str(library), until]
    started = time.time()
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or len(lines) != 2:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return {"failed": last[:120]}
    return {"first": lines[0]["first_done"] - started, "equations": lines[0]["equations"], "again": lines[1]["again"]}


def compare(name: str, library: Path, runs: int, until: str) -> None:
    print(f"\n{name}")
    seconds: dict[tuple[str, str], list[float]] = {}
    equations: dict[str, Any] = {}
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as caches:
            for phase in ("cold", "warm"):
                for tool in ("khz", "rumoca"):
                    numbers = measure(tool, name, library, Path(caches) / tool, until)
                    equations[tool] = numbers.get("equations", numbers.get("failed"))
                    if "failed" not in numbers:
                        seconds.setdefault((tool, phase), []).append(numbers["first"])
                        if phase == "warm":
                            seconds.setdefault((tool, "again"), []).append(numbers["again"])
    for tool in ("khz", "rumoca"):
        for phase in ("cold", "warm", "again"):
            if (tool, phase) in seconds:
                print(f"  {tool:7} {phase:6} {spread(seconds[tool, phase])} s")
        print(f"  {tool:7} equations: {equations[tool]}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=Path, metavar="MSLDIR")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--until", choices=("flatten", "simulate"), default="flatten")
    parser.add_argument("--only", default="", help="only models whose name contains this")
    arguments = parser.parse_args()
    print(f"rumoca {importlib.metadata.version('rumoca')}, median (range) of {arguments.runs}; {machine()}")
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "library"
        library.mkdir()
        for name in NEEDED:
            (library / name).symlink_to((arguments.library / name).resolve())
        measure("khz", "Kilohertz.Examples.Decay", library, Path(folder) / "cache", arguments.until)  # bytecode
        for model in MODELS:
            if arguments.only in model:
                compare(model, library, arguments.runs, arguments.until)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        _, _, which, class_name, folder_, until_ = sys.argv
        child = {"khz": khz_child, "rumoca": rumoca_child}[which]
        print(json.dumps(child(class_name, folder_, until_)))
    else:
        main()
