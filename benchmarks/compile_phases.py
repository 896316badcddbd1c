"""Where the time of a compilation goes, from the source text to a loaded library, the C compiler included.

    python benchmarks/compile_phases.py MSLDIR [--model Modelica...FullRobot] [--runs 3] [--library-cache warm|cold]

Every run is a fresh process with an empty build cache.  Printed for each phase: wall time and processor time (its own
and that of the compilers it started), median and range over the runs; C is compiled by two processes at a time.  The
cache of parsed libraries is empty too with `--library-cache cold`; else an unmeasured run has filled it.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tables import machine, spread

MODEL = "Modelica.Mechanics.MultiBody.Examples.Systems.RobotR3.FullRobot"
Phases = dict[str, tuple[float, float]]


def processor_seconds() -> float:
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(u.ru_utime + u.ru_stime for u in usages)


class Clock:
    """Wall and processor seconds by phase."""

    def __init__(self) -> None:
        self.phases: Phases = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        wall, processor = time.perf_counter(), processor_seconds()
        yield
        self.phases[name] = (time.perf_counter() - wall, processor_seconds() - processor)


def child(name: str, library: str) -> dict[str, object]:
    """One compilation, phase by phase."""
    clock = Clock()
    gc.disable()  # as the driver does
    with clock.phase("start Python, import our modules"):
        import kilohertz.passes
        import kilohertz.semantics  # noqa: F401
        from kilohertz.building import linked_units, model_units, runtime_units
        from kilohertz.driver import Session
        from kilohertz.driver.pipeline import selected
        from kilohertz.passes import contract
        from kilohertz.simulate.program import load_program
        from kilohertz.toolchain.object_files import build_objects
    with clock.phase("read libraries"):
        model = Session([library]).model(name)
    with clock.phase("flatten"):
        flat = model.flatten()
    with clock.phase("check"):
        equations = model.check().equations
    form: object = flat
    log = contract.Log()
    for one in selected():
        with clock.phase(f"pass {contract.label(one)}"):
            form = one.run(form, log)
    with clock.phase("write C"):
        built = model_units(form, model.session.libraries.sources)  # type: ignore[arg-type]
    code, runtime = built.code, runtime_units(offline=True)
    foreign = linked_units([built])[0][len(runtime) + len(built.units) :]
    lines = sum(f.text.count("\n") for f in code.files)
    for label, chosen in (("the model", built.units), ("the runtime", runtime), ("external code", foreign)):
        with clock.phase(f"compile C: {label}"):
            build_objects(chosen)
    with clock.phase("link and load"):
        load_program(built)
    return {"phases": clock.phases, "equations": equations, "lines": lines, "files": len(code.files)}


def run(name: str, library: Path, cache: Path | None) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as fresh:
        home = Path(fresh)
        if cache is not None:  # what was parsed is kept, what was built is not
            home = cache
            subprocess.run(["rm", "-rf", str(cache / "build")], check=True)
        environment = os.environ | {"KHZ_CACHE_DIR": str(home), "MODELICAPATH": ""}
        command = [sys.executable, __file__, "--child", name, str(library)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise SystemExit(f"{name} failed:\n{done.stderr[-2000:]}")
    numbers: dict[str, object] = json.loads(done.stdout)
    return numbers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=Path, metavar="MSLDIR")
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--library-cache", choices=("warm", "cold"), default="warm")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder) if arguments.library_cache == "warm" else None
        if cache is not None:
            run(arguments.model, arguments.library, cache)
        runs = [run(arguments.model, arguments.library, cache) for _ in range(arguments.runs)]
    first = runs[0]
    print(f"{arguments.model}: {first['equations']} equations, {first['lines']} lines of C in {first['files']} files")
    print(f"median (range) of {arguments.runs}, {arguments.library_cache} library cache; {machine()}")
    print(f"{'phase':34} {'wall s':>26} {'processor s':>26}")
    every: list[Phases] = [r["phases"] for r in runs]  # type: ignore[misc]
    for name in every[0]:
        print(f"{name:34} {spread([p[name][0] for p in every]):>26} {spread([p[name][1] for p in every]):>26}")
    totals = [[sum(v[k] for v in p.values()) for p in every] for k in (0, 1)]
    print(f"{'total':34} {spread(totals[0]):>26} {spread(totals[1]):>26}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(child(*sys.argv[2:])))
    else:
        main()
