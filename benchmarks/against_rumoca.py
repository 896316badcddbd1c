"""Times side by side with the PyPI package `rumoca`, ten models in one run.

    python benchmarks/against_rumoca.py MSLDIR [--runs 3] [--until flatten|simulate]

Until `flatten`: MSL models of rising size.  Until `simulate`: models that both tools run to their end, from our own
library and from `models/Shared`, over the same time; the values at the end are held against each other.

Every measurement is a fresh process, timed from outside: start-up, library loading and compilation together.  "cold"
starts with an empty cache folder, "warm" with the one that the cold run left; "again" is a second compilation in the
same process with the same session.  Processor time is that of the process and of the compilers it started; it tells
more than wall time where the machine has other work.  The tools take turns.  Both see a folder with the same libraries
and nothing else.  Our modules are compiled to bytecode beforehand, as pip does for an installed package.  For rumoca a
model is compiled through `Session.loads` of an extending class.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import resource
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
SIMULATED = {  # and until when
    "Kilohertz.Examples.RCCircuit": 1.0,
    "Kilohertz.Examples.DriveTrain": 2.0,
    "Kilohertz.Examples.BouncingBall": 1.5,
    "Kilohertz.Examples.HydraulicAxis.ClosedLoop": 4.0,
    "Shared.VanDerPol": 20.0,
    "Shared.Lorenz": 2.0,
    "Shared.HeatRod": 5.0,
    "Shared.PredatorPrey": 40.0,
    "Shared.Tanks": 30.0,
    "Shared.Diode": 2.0,
}
NEEDED = ("Modelica", "ModelicaServices", "Complex.mo")
HERE = Path(__file__).parent
OWN = (HERE.parent / "src" / "kilohertz" / "library" / "Kilohertz", HERE / "models" / "Shared")
Numbers = dict[str, Any]


def khz_child(name: str, library: str, until: str) -> Numbers:
    from kilohertz.driver import Session

    session = Session([library])

    def job(_: int) -> Numbers:
        model = session.model(name)
        if until != "simulate":
            return {"equations": model.check().equations}
        result = model.simulate(start=0.0, stop=SIMULATED[name], tolerance=1e-6, record="all")
        return {"final": {n: result.final(n) for n in result.names if not n.startswith("der(")}}

    return _twice(job)


def rumoca_child(name: str, library: str, until: str) -> Numbers:
    import rumoca

    session = rumoca.Session(roots=[library])

    def job(k: int) -> Numbers:
        model = session.loads(f"model X{k} extends {name}; end X{k};", model=f"X{k}")
        if until != "simulate":
            return {"equations": int(model.structure().n_equations)}
        result = model.simulate(SIMULATED[name])
        return {"final": dict(zip(result.names, result.to_numpy()[:, -1].tolist(), strict=True))}

    return _twice(job)


def _twice(job: Callable[[int], Numbers]) -> Numbers:
    """The job in a fresh session, then again; the parent times the first together with the process's start."""
    found = job(0)
    used = processor_seconds()
    print(json.dumps({"first_done": time.time(), "first_cpu": used, **found}), flush=True)
    started = time.perf_counter()
    job(1)
    return {"again": time.perf_counter() - started, "again_cpu": processor_seconds() - used}


def processor_seconds() -> float:
    """What this process and those it started (the C compiler) have used."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(u.ru_utime + u.ru_stime for u in usages)


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
    first = lines[0].pop("first_done") - started
    return {"first": first, **lines[1], **lines[0]}


def compare(name: str, library: Path, runs: int, until: str) -> None:
    print(f"\n{name}")
    seconds: dict[tuple[str, str], list[tuple[float, float]]] = {}
    found: dict[str, Numbers] = {}
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as caches:
            for phase in ("cold", "warm"):
                for tool in ("khz", "rumoca"):
                    numbers = measure(tool, name, library, Path(caches) / tool, until)
                    found[tool] = numbers
                    if "failed" not in numbers:
                        seconds.setdefault((tool, phase), []).append((numbers["first"], numbers["first_cpu"]))
                        if phase == "warm":
                            seconds.setdefault((tool, "again"), []).append((numbers["again"], numbers["again_cpu"]))
    for tool in ("khz", "rumoca"):
        for phase in ("cold", "warm", "again"):
            if (tool, phase) in seconds:
                wall, processor = (spread(column) for column in zip(*seconds[tool, phase], strict=True))
                print(f"  {tool:7} {phase:6} {wall} s, processor {processor} s")
        if until != "simulate" or "failed" in found[tool]:
            text = found[tool].get("failed") or f"equations: {found[tool]['equations']}"
            print(f"  {tool:7} {text}", flush=True)
    if until == "simulate":
        print(f"  {agreement(found)}", flush=True)


def agreement(found: dict[str, Numbers]) -> str:
    """How near the values of both tools are at the end, over the names that both know."""
    if any("final" not in numbers for numbers in found.values()):
        return "not comparable: one of them failed"
    ours, theirs = (found[tool]["final"] for tool in ("khz", "rumoca"))
    common = [n for n in ours if n in theirs]
    off = {n: abs(ours[n] - theirs[n]) / max(abs(ours[n]), abs(theirs[n]), 1e-3) for n in common}
    worst = max(off, key=lambda n: off[n], default="")
    return f"at the end {len(common)} values agree within {off.get(worst, 0.0):.1e} (worst: {worst})"


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
        if arguments.until == "simulate":
            library = Path(folder) / "own"
            library.mkdir()
            for path in OWN:
                (library / path.name).symlink_to(path)
        measure("khz", "Kilohertz.Examples.RCCircuit", library, Path(folder) / "cache", arguments.until)  # bytecode
        for model in MODELS if arguments.until == "flatten" else SIMULATED:
            if arguments.only in model:
                compare(model, library, arguments.runs, arguments.until)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        _, _, which, class_name, folder_, until_ = sys.argv
        child = {"khz": khz_child, "rumoca": rumoca_child}[which]
        print(json.dumps(child(class_name, folder_, until_)))
    else:
        main()
