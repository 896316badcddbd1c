"""Reading MAT trajectories of Dymola, OpenModelica and ours (v4, v5, v7); the layout is told in `mat_write`."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kilohertz.results.result import Result, Signal

_TIMES, _SHOWN = ("time", "t"), 4
_FORMATS = {0: "f8", 1: "f4", 2: "i4", 3: "i2", 4: "u2", 5: "u1"}
Matrix = NDArray[Any]


def read_mat(path: str | Path) -> Result:
    """Read a trajectory file of Dymola, OpenModelica or ours (both orientations), what Dymola exports as plotted, or
    vectors of one length with one of them called `time` or `t`."""
    blob = Path(path).read_bytes()
    matrices = _read_version_5(path) if blob.startswith(b"MATLAB 5.0") else _read_matrices(blob, path)
    if "Aclass" in matrices:
        return _of_class(matrices, path)
    time = next((n for n in matrices if n.lower() in _TIMES), None)
    if time is None:
        held = ", ".join(f"`{name}`" for name in list(matrices)[:_SHOWN]) or "nothing"
        raise ValueError(f"{path}: not a trajectory file: it holds {held}")
    return _vectors(matrices, time, path)


def _of_class(matrices: Mapping[str, Matrix], path: str | Path) -> Result:
    """What Modelica tools write says what it is."""
    about = _texts(matrices["Aclass"])
    if about[0] != "Atrajectory" or len(about) < 4:
        raise ValueError(f"{path}: not a trajectory file: its class is `{about[0]}`")
    if {"names", "data"} <= matrices.keys():
        return _plotted(matrices, path)
    missing = [n for n in ("name", "dataInfo", "data_2") if n not in matrices]
    if missing:
        raise ValueError(f"{path}: not a whole trajectory file: no `{missing[0]}` in it")
    return _trajectory(matrices, path)


def _vectors(matrices: Mapping[str, Matrix], time: str, path: str | Path) -> Result:
    """What MATLAB saves of its variables: columns or rows of one length, and numbers, which are constant."""
    n = matrices[time].size
    columns = {k: m for k, m in matrices.items() if m.size == n and n > 1 and n in m.shape}
    constants = {k: m for k, m in matrices.items() if m.size == 1 and k not in columns}
    for name, m in matrices.items():
        if (name not in columns and name not in constants) or m.dtype.kind not in "fiub":
            what = " x ".join(str(k) for k in m.shape)
            raise ValueError(f"{path}: `{name}` is no signal: it is {what}, and `{time}` has {n} values")
    others = [k for k in columns if k != time]
    signals = {name: Signal(i) for i, name in enumerate(others)}
    signals |= {name: Signal(None, value=float(m.ravel()[0])) for name, m in constants.items()}
    values = [np.asarray(columns[k], float).ravel() for k in others]
    data = np.column_stack(values) if values else np.zeros((n, 0))
    return Result(Path(path).stem, np.asarray(matrices[time], float).ravel(), data, signals)


def _plotted(matrices: Mapping[str, Matrix], path: str | Path) -> Result:
    """Version 1.0: one table with a name for each column."""
    names, data = matrices["names"], matrices["data"]
    if _is_transposed(matrices):
        names, data = names.T, data.T
    labels = _texts(names)
    at = next((i for i, n in enumerate(labels) if n.lower() in _TIMES), None)
    if at is None or len(labels) != data.shape[1]:
        wrong = "no column is called `time`" if at is None else f"{len(labels)} names for {data.shape[1]} columns"
        raise ValueError(f"{path}: not a trajectory file: {wrong}")
    signals = {n: Signal(i) for i, n in enumerate(labels) if i != at}
    return Result(Path(path).stem, np.array(data[:, at], float), np.array(data, float), signals)


def _is_transposed(matrices: Mapping[str, Matrix]) -> bool:
    return _texts(matrices["Aclass"])[3].strip() == "binTrans"


def _trajectory(matrices: Mapping[str, Matrix], path: str | Path) -> Result:
    """Version 1.1: variables point to columns of tables, several to one where they are aliases."""
    trans = _is_transposed(matrices)
    name, info = matrices["name"], matrices["dataInfo"]
    description = matrices.get("description", np.zeros((0, 0), "u1"))
    tables = {int(n[5:]): m.T if trans else m for n, m in matrices.items() if re.fullmatch(r"data_[1-9]\d*", n)}
    if trans:
        name, info, description = name.T, info.T, description.T
    time = np.array(tables[2][:, 0], float)
    first = _first_columns(tables, time, path)
    n_columns = sum(tables[k].shape[1] - 1 for k in first)
    descriptions = _texts(description) or [""] * len(name)
    signals: dict[str, Signal] = {}
    for label, text, (table, column, *_) in zip(_texts(name), descriptions, info.astype(int).tolist(), strict=True):
        if label.lower() == "time":
            continue
        described = _described(text)
        sign, at = 1 if column > 0 else -1, abs(column) - 1
        if table != 0 and not (table in tables and 0 <= at < tables[table].shape[1]):
            raise ValueError(f"{path}: `{label}` is column {column} of data_{table}, which is not there")
        if table == 1:
            signals[label] = Signal(None, 1, *described, sign * float(tables[1][0, at]))
        elif at == 0 or table == 0:  # another name of the time
            signals[label] = Signal(n_columns, sign, *described)
        else:
            signals[label] = Signal(first[table] + at - 1, sign, *described)
    parts = [tables[k][:, 1:] for k in first]
    parts += [time[:, None]] if any(s.column == n_columns for s in signals.values()) else []
    return Result(Path(path).stem, time, np.array(np.hstack(parts), float), signals)


def _first_columns(tables: Mapping[int, Matrix], time: Matrix, path: str | Path) -> dict[int, int]:
    """Where the columns of each table begin behind those of the others; all have the same times."""
    first, n = {}, 0
    for k in sorted(k for k in tables if k > 1):
        if not np.array_equal(tables[k][:, 0], time):
            raise ValueError(f"{path}: data_{k} has times of its own, which are not those of data_2")
        first[k] = n
        n += tables[k].shape[1] - 1
    return first


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


def _described(text: str) -> tuple[str, str]:
    """Unit and description."""
    if not (text.endswith("]") and "[" in text):
        return "", text.strip()
    description, _, bracket = text.rpartition("[")
    return bracket[:-1].partition("|")[0], description.strip()


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
