"""Choices that were made by trials, remembered: `auto` and `tune` try a model once, not at every start.

A choice is kept in $KHZ_CHOICES_DIR, or in the cache, under a hash of all it depends on: the model's C, what was asked
for, the run it was made for, the compiler and this version.  Deleting the folder is always safe.  Where inputs are
given as arrays or functions nothing is remembered: they have no name.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kilohertz.base import ModelError
from kilohertz.solvers import AUTO, SETTINGS, StepSettings

if TYPE_CHECKING:
    from kilohertz.driver.api import Model
    from kilohertz.driver.plan import Experiment

_FOLDER = "choices"


@dataclass(frozen=True, slots=True)
class Choice:
    """Settings, and why they were taken."""

    settings: StepSettings
    reason: str


def recall(model: Model, asked: StepSettings, e: Experiment) -> Choice | None:
    """What was chosen for this before; None where nothing was, or it cannot be read."""
    file = _file(model, asked, e)
    if file is None:
        return None
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        values = {name: _value(name, value) for name, value in data["settings"].items()}
        return Choice(asked.but(**values), str(data["reason"]))
    except (OSError, ValueError, KeyError, TypeError, ModelError):
        return None


def remember(model: Model, asked: StepSettings, e: Experiment, choice: Choice) -> None:
    """Keep a choice; a cache that cannot be written is no reason to fail."""
    file = _file(model, asked, e)
    if file is None:
        return
    settings = {n: getattr(choice.settings, n) for n in SETTINGS if n in choice.settings.given}
    plain = {n: list(v) if isinstance(v, tuple) else dict(v) if n == "substeps" else v for n, v in settings.items()}
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        scratch = file.with_name(f".{file.name}.{os.getpid()}")
        scratch.write_text(json.dumps({"settings": plain, "reason": choice.reason}), encoding="utf-8")
        scratch.replace(file)
    except OSError:
        return


def _value(name: str, value: Any) -> Any:
    return tuple(value) if SETTINGS[name].kind == "patterns" else value


def _file(model: Model, asked: StepSettings, e: Experiment) -> Path | None:
    from kilohertz import __version__
    from kilohertz.toolchain import cache_directory, find_compiler
    from kilohertz.toolchain.build_cache import digest

    inputs = _named(e.inputs)
    if inputs is None:
        return None
    fixed = {n: _plain(getattr(asked, n)) for n in sorted(asked.given) if getattr(asked, n) != AUTO}
    about = json.dumps([fixed, e.start, e.stop, dict(e.settings), inputs], sort_keys=True, default=str)
    try:
        texts = [f.text for f in model.built(model.process()).code.files]
        key = digest([__version__, find_compiler().version, about, *texts])
        chosen = os.environ.get("KHZ_CHOICES_DIR")
        folder = Path(chosen) if chosen else cache_directory().parent / _FOLDER
        return folder / f"{key}.json"
    except OSError:
        return None


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _named(inputs: Any) -> list[Any] | None:
    """What drives the model, where it has a name that says all: none, formulas, files with their time and size."""
    from kilohertz.simulate import Inputs

    if inputs is None:
        return []
    if isinstance(inputs, Inputs):
        inner = _named(inputs.signals)
        return None if inner is None else [inputs.interpolation, dict(inputs.columns), inner]
    if isinstance(inputs, str | Path):
        try:
            status = os.stat(inputs)  # noqa: PTH116  # a text may be no path at all
        except OSError:
            return None
        return [str(inputs), status.st_mtime_ns, status.st_size]
    if isinstance(inputs, dict):
        known = {n: v for n, v in inputs.items() if isinstance(v, str | int | float)}
        return [known] if len(known) == len(inputs) else None
    if isinstance(inputs, Iterable) and not isinstance(inputs, str):
        each = [_named(i) for i in inputs if isinstance(i, Inputs)]
        return None if any(i is None for i in each) or not each else each
    return None
