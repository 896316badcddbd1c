"""Results as ASAM MDF 4, the format of measurement tools; by asammdf: `pip install kilohertz[mdf]`."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import Any

import numpy as np

from kilohertz.base import Diagnostic, ModelError
from kilohertz.results.result import Floats, Result, Signal


def _asammdf() -> Any:
    try:
        import asammdf
    except ImportError as error:
        message = "MDF files need the package asammdf"
        raise ModelError(Diagnostic("R705", f"{message}: pip install 'kilohertz[mdf]'")) from error
    return asammdf


def write_mdf(path: Path, result: Result) -> None:
    """One channel group over one time; parameters are channels of a second group with one instant."""
    asammdf = _asammdf()
    with asammdf.MDF(version="4.10") as file:
        file.append([_channel(asammdf, result, n, result.time, result[n]) for n in result.names], comment=result.name)
        if result.parameters:
            instant = result.time[:1] if len(result.time) else np.zeros(1)
            constant = [_channel(asammdf, result, n, instant, np.array([v])) for n, v in result.parameters.items()]
            file.append(constant, comment="parameters")
        file.save(path, overwrite=True)


def _channel(asammdf: Any, result: Result, name: str, time: Floats, values: Floats) -> Any:
    signal = result.signals[name]
    samples = np.ascontiguousarray(values, np.float64)
    return asammdf.Signal(samples, time, name=name, unit=signal.unit, comment=signal.description)


def _channels(asammdf: Any, path: Path) -> tuple[list[Any], str]:
    """Those that are numbers; and what is wrong with the file.

    What asammdf could not open it cannot close either, and would print that when it goes.
    """
    said = sys.unraisablehook
    sys.unraisablehook = lambda unraisable: None
    try:
        with asammdf.MDF(path) as file:
            return [c for c in file.iter_channels(skip_master=True) if c.samples.dtype.kind in "fiub"], ""
    except Exception as error:  # asammdf has no base class for what it raises
        problem = str(error) or type(error).__name__
    finally:
        gc.collect()
        sys.unraisablehook = said
    return [], problem


def read_mdf(path: Path) -> Result:
    """Channels that are numbers; those with another time than the longest are brought to it by interpolation."""
    asammdf = _asammdf()
    path.open("rb").close()  # so that a path that fails is an OSError, whatever the library raises
    channels, problem = _channels(asammdf, path)
    if problem:
        raise ValueError(f"{path}: not an MDF file: {problem}")
    if not channels:
        raise ValueError(f"{path}: no channel of numbers in it")
    time = np.asarray(max(channels, key=lambda c: len(c.timestamps)).timestamps, np.float64)
    columns: list[Floats] = []
    signals: dict[str, Signal] = {}
    for channel in channels:
        values = np.asarray(channel.samples, np.float64)
        if len(values) == 1 and len(time) > 1:
            signals[channel.name] = Signal(None, 1, channel.unit, channel.comment, float(values[0]))
            continue
        if not np.array_equal(channel.timestamps, time):
            values = np.interp(time, channel.timestamps, values)
        signals[channel.name] = Signal(len(columns), 1, channel.unit, channel.comment)
        columns.append(values)
    data = np.column_stack(columns) if columns else np.empty((len(time), 0))
    return Result(path.stem, time, data, signals)
