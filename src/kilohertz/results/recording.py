"""Raw recordings of the task (runtime/record/khz_recorder.h) as results."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kilohertz.base import Diagnostic, ModelError
from kilohertz.results.result import Result, Signal

_MAGIC = b"khz-recording 1\n"


def read_recording(path: str | Path, name: str = "") -> Result:
    """The rows that reached the disk; a row cut short (the task was killed) is left out."""
    file = Path(path)
    try:
        data = file.read_bytes()
    except OSError as error:
        raise ModelError(Diagnostic("R701", f"cannot read `{path}`: {error.strerror}")) from error
    if not data.startswith(_MAGIC):
        raise ModelError(Diagnostic("R703", f"`{path}` is not a recording"))
    lines: list[str] = []
    at = len(_MAGIC)
    n_columns = -1
    while not (lines and lines[-1].strip() == "data"):
        end = data.find(b"\n", at)
        if end < 0:
            raise ModelError(Diagnostic("R703", f"`{path}` is not a whole recording: its head is cut short"))
        lines.append(data[at:end].decode("utf-8", "replace"))
        at = end + 1
        if len(lines) == 1:
            n_columns = int(lines[0].removeprefix("columns "))
    columns = [[*line.split("\t"), "", ""][:3] for line in lines[1 : n_columns + 1]]
    n_rows = (len(data) - at) // (8 * n_columns)
    rows: NDArray[np.float64] = np.frombuffer(data, "<f8", n_rows * n_columns, at).reshape(n_rows, n_columns)
    signals = _parameters(lines[n_columns + 1 : -1])
    signals |= {c[0]: Signal(i, 1, c[1], c[2]) for i, c in enumerate(columns[1:])}
    return Result(name or file.stem, rows[:, 0].astype(float), rows[:, 1:].astype(float), signals)


def _parameters(lines: list[str]) -> dict[str, Signal]:
    """The values that the run began with; recordings of older tasks have none."""
    parts = [line.split("\t") for line in lines if not line.startswith("parameters ")]
    return {p[0]: Signal(None, 1, p[1], p[2], float(p[3])) for p in parts if len(p) == 4}
