"""The ways a model is run."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import kilohertz
from randomly.parts import STOP

H = 1 / 512


@dataclass(frozen=True, slots=True)
class Door:
    """A class of the package, a solver with its settings, and how near the values must be."""

    name: str
    cls: str
    prefix: str
    tolerance: float
    share: float  # of the models
    settings: dict[str, Any] = field(default_factory=dict)


def _fixed(solver: str, tolerance: float, share: float, cls: str = "M", prefix: str = "", **more: Any) -> Door:
    settings = {"solver": solver, "step": H, **more}
    return Door(" ".join([solver, cls, *more]), cls, prefix, tolerance, share, settings)


CLOSE = 2e-6
DOORS = (
    Door("cvode", "M", "", CLOSE, 1, {"solver": "cvode", "tolerance": 1e-8}),
    Door("ida", "M", "", 5e-6, 0.7, {"solver": "ida", "tolerance": 1e-8}),
    Door("inherited", "X", "", CLOSE, 0.1, {"solver": "cvode", "tolerance": 1e-8}),
    Door("component", "W", "m.", CLOSE, 0.2, {"solver": "cvode", "tolerance": 1e-8}),
    Door("of an array", "V", "m[2].", CLOSE, 0.1, {"solver": "cvode", "tolerance": 1e-8}),
    _fixed("rk4", 2e-3, 0.7),
    _fixed("lie", 2e-2, 0.2),
    _fixed("rodas4", 2e-3, 0.2, events="exact"),
    _fixed("sdirk2", 2e-3, 0.2, inline=True),
    _fixed("rk4", 2e-3, 0.1, cls="V", prefix="m[1].", events="catch-up"),
    Door("task", "M", "", 2e-3, 0.03, {"solver": "rk4", "step": H}),
    Door("fmu", "M", "", 2e-3, 0.03, {}),
)


def run_door(door: Door, file: Path) -> Any:
    """A result, as from `simulate`."""
    model = kilohertz.load(f"{file}:R.{door.cls}")
    if door.name == "task":
        return _task(file)
    if door.name == "fmu":
        return _fmu(file)
    return model.simulate(stop=STOP, intervals=64, **door.settings)


def _task(file: Path) -> Any:
    out = file.with_name("task.csv")
    _khz(
        "run",
        f"{file}:R.M",
        "--solver",
        "rk4",
        "--step",
        repr(H),
        "--duration",
        "1.0",
        "--fast",
        "--no-check",
        "-o",
        str(out),
    )
    return kilohertz.read(out)


def _fmu(file: Path) -> Any:
    fmu, out = file.with_name("m.fmu"), file.with_name("fmu.csv")
    _khz("export", f"{file}:R.M", "--solver", "rk4", "--step", repr(H), "-o", str(fmu))
    _khz("simulate", str(fmu), "--stop", "1", "--intervals", "64", "-o", str(out))
    return kilohertz.read(out)


def _khz(*words: str) -> None:
    done = subprocess.run([sys.executable, "-m", "kilohertz", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError((done.stderr or done.stdout)[-600:])
