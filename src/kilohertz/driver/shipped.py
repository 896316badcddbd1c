"""What a wheel brings compiled: the parts of a program that are the same for every model."""

from __future__ import annotations

import shutil
from pathlib import Path

from kilohertz.building import runtime_units
from kilohertz.realtime.executable import task_units
from kilohertz.toolchain import build_objects


def ship(folder: Path) -> list[Path]:
    """Objects of the runtime, off-line and for tasks, into a folder, each at the place where it is looked for."""
    placed: list[Path] = []
    for built in dict.fromkeys(build_objects([*runtime_units(offline=True), *task_units()])):
        target = folder / built.parent.name / built.name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(built, target)
        placed.append(target)
    return placed
