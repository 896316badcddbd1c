"""A step in single precision beside the same in doubles, and many instances in one text beside separate runs.

    python benchmarks/number_types.py [--case TEXT ...] [--instances 1000] [--steps 200] [--no-count]
                                                                 needs valgrind unless --no-count, and MODELICAPATH
    python benchmarks/number_sweep.py MSLDIR REFDIR              the same question over the Modelica library

error         Of the states of a run in singles against one in doubles, both with the method and a step of 1 ms: the
              largest difference in any row, as a part of the state's range (of a thousandth of its size where it hardly
              moves); the state it is of; state and time events of both runs.
instructions  Of a step made for its method, by callgrind, the mean of 40 after the first 10.
ensemble      So many instances, each with other states at the start, stepped by the text of `khz export -o M.c`,
              compiled by gcc, and each by the stepper as it is in a library: values of all variables that differ in a
              bit, in doubles and in singles.
PTX           Processor time of nvcc for the same text, and what it leaves.
"""

from __future__ import annotations

import argparse
import ctypes
import resource
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kilohertz import Model, load
from kilohertz.building import linked_units, main_unit
from kilohertz.building.ensemble import ensemble_text
from kilohertz.building.made_step import made_name, made_step
from kilohertz.simulate import Statistics, Stepper
from kilohertz.solvers import StepSettings
from kilohertz.toolchain import build_executable, find_compiler
from step_instructions import DRIVER, _grouped, _spent
from tables import machine

ROOT = Path(__file__).parent.parent
NUMBERS = ("double", "single")
FLAGS = ("-std=gnu11", "-O2", "-ffp-contract=off", "-fno-math-errno", "-fPIC", "-shared")
NVCC = ("-std=c++20", "--expt-relaxed-constexpr", "-arch=sm_90", "-ptx")

DRIVEN = (("u", "sine(amplitude=0.3, frequency=2)"),)


@dataclass(frozen=True, slots=True)
class Case:
    """A model, its method, and how long it runs in both number types."""

    name: str
    model: str
    solver: str
    stop: float
    inputs: tuple[tuple[str, str], ...] = ()  # formulas by name


CASES = (
    Case("Lorenz", "benchmarks/models/Shared/package.mo:Shared.Lorenz", "rk4", 2.0),
    Case("hydraulic plant", "Kilohertz.Examples.HydraulicAxis.Plant", "ros34pw2", 1.0, DRIVEN),
    Case("hydraulic axis", "Kilohertz.Examples.HydraulicAxis.Controlled", "lie", 1.0),
    Case("CoupledClutches", "Modelica.Mechanics.Rotational.Examples.CoupledClutches", "rk4", 1.5),
    Case("Rotational.First", "Modelica.Mechanics.Rotational.Examples.First", "rodas4", 1.0),
    Case("heat conduction", "benchmarks/models/Speed.mo:Speed.Heat", "lie", 1.0),
    Case("arm, seven joints", "benchmarks/models/Speed.mo:Speed.Arm", "lie", 1.0),
)


def settings_of(case: Case, number: str) -> StepSettings:
    return StepSettings.of(solver=case.solver, step=1e-3, number=number).check_fixed()


def compared(model: Model, case: Case) -> str:
    """The error of singles, and events of both."""
    counts = [Statistics(), Statistics()]
    exact, rounded = (
        model.simulate(
            solver=case.solver,
            step=1e-3,
            stop=case.stop,
            number=n,
            statistics=s,
            intervals=200,
            inputs=dict(case.inputs) or None,
        )
        for n, s in zip(NUMBERS, counts, strict=True)
    )
    events = [f"{s.state_events} + {s.time_events}" for s in counts]
    if len(exact.time) != len(rounded.time):
        return f"rows differ ({len(exact.time)}, {len(rounded.time)}) | {' / '.join(events)}"
    worst, of = 0.0, ""
    for v in model.process().variables.values():
        if v.slot.kind.value != "x" or v.name.startswith("$"):
            continue
        a, b = np.asarray(exact[v.name]), np.asarray(rounded[v.name])
        size = max(float(np.ptp(a)), 1e-3 * float(np.max(np.abs(a))))
        error = float(np.max(np.abs(a - b))) / size if size > 0 else 0.0
        worst, of = (error, v.name) if error > worst else (worst, of)
    return f"{worst:.1e} ({of}) | {' / '.join(events)}"


def counted(model: Model, case: Case, number: str) -> float | None:
    """Instructions of a made step."""
    units, settings = model.built(model.process()).in_numbers(number), settings_of(case, number)
    made = made_step(units, settings, find_compiler())
    if made is None:
        return None
    fields = [
        f"    settings.{name} = {f'khz_method_index({chr(34)}{value}{chr(34)})' if isinstance(value, str) else value};"
        for name, value in settings.c_values().items()
    ]
    text = DRIVER.format(settings="\n".join(fields), unseen="")
    linked, libraries = linked_units([units], offline=False)
    driver = main_unit(units, text, (f"-DKHZ_MADE={made_name(units)}",))
    return _spent(build_executable([*linked, driver, made], libraries), 40)


def started(model: Model, case: Case, number: str, n: int) -> list[Stepper]:
    """So many, each with other states."""
    program, settings = model.compile(number=number), settings_of(case, number)
    states = [v for v in program.step.variables.values() if v.slot.kind.value == "x"]
    out = []
    for i in range(n):
        stepper = Stepper(program, settings)
        if stepper.start(0.0) != 0:
            raise SystemExit(f"{case.name} does not start")
        for v in states:
            stepper.instance.write(v, float(stepper.instance.read(v)) * (1 + 1e-3 * i / n))
        stepper.touch()
        out.append(stepper)
    return out


def differing(model: Model, case: Case, number: str, n: int, n_steps: int, folder: Path) -> int:
    """Values of an ensemble that have not the bits of separate runs."""
    steppers = started(model, case, number, n)
    program, size = steppers[0].program, steppers[0].size
    source, library = folder / f"{number}.c", folder / f"{number}.so"
    source.write_text(ensemble_text(program.built, settings_of(case, number)), encoding="utf-8")
    subprocess.run(["gcc", *FLAGS, str(source), "-o", str(library), "-lm"], check=True)
    steps = getattr(ctypes.CDLL(str(library)), f"{program.code.prefix}steps")
    steps.argtypes, steps.restype = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int64, ctypes.c_int64], None
    memory = ctypes.create_string_buffer(n * size + 64)
    at = (ctypes.addressof(memory) + 63) // 64 * 64
    for i, stepper in enumerate(steppers):
        ctypes.memmove(at + i * size, stepper.address, size)
    steps(at, size, n, n_steps)
    places = [program.offset(v) for v in program.step.variables.values() if v.slot.kind.value in ("x", "xd", "w", "d")]
    width, wrong = program.built.number.width, 0
    for i, stepper in enumerate(steppers):
        for _ in range(n_steps):
            stepper.step()
        own = stepper.instance.address
        there = at + i * size + own - stepper.address
        wrong += sum(ctypes.string_at(own + p, width) != ctypes.string_at(there + p, width) for p in places)
    return wrong


def ptx(folder: Path) -> str:
    """What nvcc makes of the text in doubles."""
    if shutil.which("nvcc") is None:
        return "no nvcc"
    target = folder / "double.cu"
    shutil.copy(folder / "double.c", target)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        ["nvcc", *NVCC, str(target), "-o", str(folder / "out.ptx")], capture_output=True, text=True, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        return f"nvcc: {done.stderr[-200:]}"
    return f"{after.ru_utime - before.ru_utime:.1f} s, {(folder / 'out.ptx').stat().st_size / 1024:.0f} KiB"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", nargs="*", default=[""], metavar="TEXT", help="cases with this text in their name")
    parser.add_argument("--instances", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--no-count", action="store_true")
    a = parser.parse_args()
    heads = ["model, method", "error of single (state)", "events, double / single", "instructions, double / single"]
    heads += [f"bits that differ, {a.instances} instances, {a.steps} steps, double / single", "PTX"]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for case in (c for c in CASES if any(text in c.name for text in a.case)):
        model = load(str(ROOT / case.model) if ".mo" in case.model else case.model)
        with tempfile.TemporaryDirectory(prefix="khz-") as scratch:
            folder = Path(scratch)
            cells = [f"{case.name}, {case.solver}", compared(model, case)]
            cells.append("–" if a.no_count else " / ".join(_grouped(counted(model, case, n)) for n in NUMBERS))
            cells.append(" / ".join(str(differing(model, case, n, a.instances, a.steps, folder)) for n in NUMBERS))
            print(f"| {' | '.join([*cells, ptx(folder)])} |", flush=True)
    print(machine())


if __name__ == "__main__":
    main()
