"""Instructions of one right-hand side: generated C beside C written by hand for the same model.

    python benchmarks/step_rhs.py [--calls 2000] [MODEL ...]

Three models put together from components (`rhs/RightHandSides.mo`) and their right-hand sides as an engineer writes
them (`rhs/*.c`: states in, derivatives out, parameters in a const struct).  Both are compiled with the flags of the
toolchain (-O2), checked to give the same derivatives at random states, and called from one driver under callgrind at
the same states; the cost of the loop and of calling an empty function is taken off.  "ours" is `khz_derivatives`, the
entry the solvers use: it also copies states and derivatives and looks for NaN; "step" is the generated code in it
alone.  Exit code 1 when the ratio of "ours" is above 1.5.
"""

from __future__ import annotations

import argparse
import ctypes
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from kilohertz import runtime
from kilohertz.building import linked_units, main_unit, model_units
from kilohertz.driver import load
from kilohertz.ir.step import Kind
from kilohertz.simulate import Instance, build_program
from kilohertz.toolchain import STRICT, Source, Unit, build_executable, build_shared, find_compiler, load_library
from tables import machine

FOLDER = Path(__file__).parent / "rhs"
MOST, N_STATES = 1.5, 20
States = np.ndarray


@dataclass(frozen=True, slots=True)
class Model:
    """A model, its hand-written file, the states in the order of that file, and where they lie: mean and spread."""

    name: str
    file: str
    states: tuple[str, ...]
    mean: tuple[float, ...]
    spread: tuple[float, ...]


def _ladder(part: str) -> tuple[str, ...]:
    return tuple(f"section[{k}].{part}" for k in range(1, 21))


MODELS = (
    Model("Ladder", "ladder.c", _ladder("coil.i") + _ladder("capacitor.v"), (0.0,) * 40, (1.0,) * 20 + (10.0,) * 20),
    Model(
        "Axis",
        "axis.c",
        ("y", "left.p", "right.p", "piston.s", "piston.v"),
        (0.0, 8e6, 8e6, 0.0, 0.0),
        (0.2, 3e6, 3e6, 0.02, 2e-3),
    ),
    Model("Pendulum", "pendulum.c", ("upper.phi", "upper.w", "lower.phi", "lower.w"), (0.0,) * 4, (1.5, 3.0, 1.5, 3.0)),
)


@dataclass(frozen=True, slots=True)
class Counted:
    """Instructions per call, and the largest relative difference of the derivatives."""

    ours: float
    step: float
    by_hand: float
    difference: float

    @property
    def ratio(self) -> float:
        return self.ours / self.by_hand


def measured(model: Model, n_calls: int) -> Counted:
    step = load(f"{FOLDER / 'RightHandSides.mo'}:RightHandSides.{model.name}").process()
    aliases = {name: a.target for name, a in step.aliases.items() if a.target is not None and a.sign > 0}
    index = {v.name: v.slot.index for v in step.of_kind(Kind.STATE)}
    order = [index.get(aliases.get(name, name), -1) for name in model.states]
    if sorted(order) != list(range(len(index))):
        raise SystemExit(f"{model.name}: the states are {', '.join(index)}; the hand-written C has others")
    hand = np.random.default_rng(1).normal(model.mean, model.spread, (N_STATES, len(order)))
    ours = np.empty_like(hand)
    ours[:, order] = hand

    headers = (*(Source(n, t) for n, t in runtime.headers()), _source("rhs.h"))
    own = Unit(tuple(_source(f) for f in ("empty.c", model.file)), headers, (), STRICT)
    difference = _difference(Instance(build_program(step)), own, ours, hand, order)
    built = model_units(step)
    units, libraries = linked_units([built], offline=False)
    driver = replace(main_unit(built, _source("driver.c").text, STRICT), headers=headers)
    program = build_executable([*units, own, driver], libraries)
    empty = _instructions(program, "empty", n_calls, hand)
    return Counted(
        _instructions(program, "ours", n_calls, ours) - empty,
        _instructions(program, "step", n_calls, ours) - _instructions(program, "copy", n_calls, ours),
        _instructions(program, "hand", n_calls, hand) - empty,
        difference,
    )


def _source(name: str) -> Source:
    return Source(name, (FOLDER / name).read_text(encoding="utf-8"))


def _difference(instance: Instance, own: Unit, ours: States, hand: States, order: list[int]) -> float:
    """The largest difference of a derivative, relative to the largest size it has at any of the states."""
    exported = Unit(own.sources, own.headers, (), (*own.flags, "-fvisibility=default"))
    library = load_library(build_shared([exported]))
    parameters = ctypes.c_void_p.in_dll(library, "hand_parameters")
    library.hand_rhs.argtypes = [ctypes.c_void_p, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p]
    program = instance.program
    if instance.initialize(0.0) != 0:
        raise SystemExit(f"{program.step.name}: the initialisation fails")
    mine, theirs = np.empty_like(ours), np.empty_like(hand)
    for k in range(len(ours)):
        at, to = ours[k].ctypes.data, mine[k].ctypes.data
        if program.library.khz_derivatives(program.model, instance.address, 0.0, at, to) != 0:
            raise SystemExit(f"{program.step.name}: the right-hand side fails at {ours[k]}")
        library.hand_rhs(parameters, 0.0, hand[k].ctypes.data, theirs[k].ctypes.data)
    scale = np.abs(theirs).max(axis=0)
    return float((np.abs(mine[:, order] - theirs) / scale).max())


def _instructions(program: Path, which: str, n_calls: int, states: States) -> float:
    """Instructions per call: the difference of two runs, so that start and end drop out."""
    few = N_STATES
    more = _collected(program, which, few + n_calls, states) - _collected(program, which, few, states)
    return more / n_calls


def _collected(program: Path, which: str, n_calls: int, states: States) -> int:
    with tempfile.TemporaryDirectory(prefix="khz-") as scratch:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={scratch}/out", str(program)]
        command += [which, str(n_calls), str(len(states))]
        done = subprocess.run(command, input=states.tobytes(), capture_output=True, check=False)
    found = re.search(rb"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or found is None:
        raise SystemExit(f"callgrind failed ({done.returncode}):\n{done.stderr.decode(errors='replace')}")
    return int(found[1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL", help="Ladder, Axis, Pendulum (default: all)")
    parser.add_argument("--calls", type=int, default=2000, help="calls that are counted (rounded to the states)")
    arguments = parser.parse_args()
    if shutil.which("valgrind") is None:
        raise SystemExit("valgrind is not installed")
    n_calls = max(1, arguments.calls // N_STATES) * N_STATES
    print(f"{machine()}; {find_compiler().version.splitlines()[0]}")
    print("$ " + " ".join(["python", *sys.argv]))
    print(f"{'model':<10} {'ours':>8} {'step':>8} {'by hand':>8} {'ratio':>6}   largest relative difference")
    worst = 0.0
    for model in MODELS:
        if arguments.models and model.name not in arguments.models:
            continue
        c = measured(model, n_calls)
        worst = max(worst, c.ratio)
        counts = f"{c.ours:>8.1f} {c.step:>8.1f} {c.by_hand:>8.1f} {c.ratio:>6.2f}"
        print(f"{model.name:<10} {counts}   {c.difference:.1e}", flush=True)
        if not c.difference < 1e-12:
            raise SystemExit(f"{model.name}: the two do not agree")
    return int(worst > MOST)


if __name__ == "__main__":
    sys.exit(main())
