"""Reading MAT trajectories of Dymola, OpenModelica and ours (v4, v5, v7); the layout is told in `mat_write`."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kilohertz.results.result import Result, Signal

_FORMATS = {0: "f8", 1: "f4", 2: "i4", 3: "i2", 4: "u2", 5: "u1"}
Matrix = NDArray[Any]


def read_mat(path: str | Path) -> Result:
    """Read a trajectory file of Dymola, OpenModelica or ours (both orientations)."""
    blob = Path(path).read_bytes()
    matrices = _read_version_5(path) if blob.startswith(b"MATLAB 5.0") else _read_matrices(blob, path)
    missing = [n for n in ("Aclass", "name", "dataInfo", "data_2") if n not in matrices]
    if missing:
        raise ValueError(f"{path}: not a trajectory file: no `{missing[0]}` in it")
    trans = _texts(matrices["Aclass"])[3].strip() == "binTrans"
    name, info = matrices["name"], matrices["dataInfo"]
    description = matrices.get("description", np.zeros((0, 0), "u1"))
    data_1, data_2 = matrices.get("data_1", np.zeros((0, 0))), matrices["data_2"]
    if trans:
        name, info, description, data_1, data_2 = name.T, info.T, description.T, data_1.T, data_2.T
    descriptions = _texts(description) or [""] * len(name)
    signals: dict[str, Signal] = {}
    for label, text, (table, column, *_) in zip(_texts(name), descriptions, info.astype(int).tolist(), strict=True):
        if abs(column) != 1:
            signals[label] = _signal(table, column, text, data_1)
    time = np.array(data_2[:, 0], float)
    return Result(Path(path).stem, time, np.array(data_2[:, 1:], float), signals)


def _read_version_5(path: str | Path) -> dict[str, Matrix]:
    """The same matrices in a container of version 5 or 7 (compressed), by SciPy."""
    import scipy.io

    try:
        variables = scipy.io.loadmat(path, chars_as_strings=False)
    except Exception as error:  # of many kinds, for files cut short or damaged
        raise ValueError(f"{path}: not a whole MAT file: {error}") from error
    return {name: _codes(value) for name, value in variables.items() if isinstance(value, np.ndarray)}


def _codes(matrix: Matrix) -> Matrix:
    """Characters as their codes, as version 4 has them."""
    if matrix.dtype.kind != "U":
        return matrix
    return np.array([[ord(c[0]) if c else 32 for c in row] for row in np.atleast_2d(matrix)], "u4").astype("u1")


def _signal(table: int, column: int, text: str, parameters: Matrix) -> Signal:
    description, unit = text, ""
    if text.endswith("]") and "[" in text:
        description, _, bracket = text.rpartition("[")
        unit = bracket[:-1].partition("|")[0]
    sign = 1 if column > 0 else -1
    if table == 1:
        return Signal(None, 1, unit, description.strip(), sign * float(parameters[0, abs(column) - 1]))
    return Signal(abs(column) - 2, sign, unit, description.strip())


def _texts(characters: Matrix) -> list[str]:
    rows = np.ascontiguousarray(characters.astype("u1"))
    return [row.tobytes().decode("utf-8", "replace").rstrip(" \0") for row in rows]


def _read_matrices(blob: bytes, path: str | Path) -> dict[str, Matrix]:
    matrices: dict[str, Matrix] = {}
    at = 0
    while at + 20 <= len(blob):
        order = "<" if struct.unpack_from("<i", blob, at)[0] < 5000 else ">"
        code, rows, columns, imaginary, length = struct.unpack_from(order + "5i", blob, at)
        kind = _FORMATS.get(code // 10 % 10)
        if kind is None or rows < 0 or columns < 0 or imaginary or not 0 < length < 100:
            raise ValueError(f"{path}: not a MAT v4 file")
        name = blob[at + 20 : at + 20 + length].rstrip(b"\0").decode("latin-1")
        at += 20 + length
        count = rows * columns
        if at + count * np.dtype(kind).itemsize > len(blob):
            raise ValueError(f"{path}: ends in the middle of `{name}`")
        flat = np.frombuffer(blob, order + kind, count, at)
        matrices[name] = flat.reshape((rows, columns), order="F")
        at += flat.nbytes
    return matrices
