"""Cases from values: grids, lists, Latin hypercubes, Sobol points, corners, a CSV file.

A value that is a text stands in a case as its place among the texts of its parameter: cases are numbers throughout.
Codes: R770 the cases cannot be made, R773 the file of cases cannot be used.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kilohertz.base import Diagnostic, ModelError
from kilohertz.sweep.series_definition import DRAWN, Axis, Cases, Numbers, Range

if TYPE_CHECKING:
    import polars

Floats = NDArray[np.float64]
MOST_CASES = 10_000_000


@dataclass(frozen=True, slots=True)
class Table:
    """Names of parameters and a row of values for each case."""

    names: tuple[str, ...]
    values: Floats
    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # whose places the values of a parameter are

    def __len__(self) -> int:
        return len(self.values)

    def column(self, name: str, cases: Any = slice(None)) -> Any:
        """What a parameter is in these cases: numbers, or a list of texts."""
        values, texts = self.values[cases, self.names.index(name)], self.texts.get(name)
        return values if texts is None else [texts[int(k)] for k in values]

    def row(self, case: int) -> dict[str, float | str]:
        """The values of a case."""
        values = zip(self.names, self.values[case].tolist(), strict=True)
        return {n: self.texts[n][int(v)] if n in self.texts else v for n, v in values}


def make_cases(cases: Cases) -> Table:
    """All cases, the same for the same definition."""
    if cases.way == "file":
        return _from_file(cases)
    if not cases.parameters:
        raise _wrong("no parameter is varied: name some in [parameters]")
    texts = {n: _distinct(a) for n, a in cases.parameters.items() if _is_text(a)}
    axes = {n: _in_numbers(a, texts.get(n, ())) for n, a in cases.parameters.items()}
    ends = {n: [float(k) for k in range(len(texts[n]))] if n in texts else _ends(a) for n, a in axes.items()}
    match cases.way:
        case "grid":
            values = _product({n: _on_grid(n, a) for n, a in axes.items()})
        case "list":
            values = _side_by_side(axes)
        case "corners":
            values = _product(ends)
        case _:
            values = _drawn(cases, axes)
            if cases.corners:
                values = np.vstack([_product(ends), values])
    return Table(tuple(axes), values, texts)


def _is_text(axis: Axis) -> bool:
    return not isinstance(axis, Range) and any(isinstance(v, str) for v in axis)


def _distinct(values: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(v) for v in values))


def _in_numbers(axis: Axis, texts: tuple[str, ...]) -> Numbers:
    if isinstance(axis, Range):
        return axis
    return tuple(float(texts.index(str(v))) if texts else float(v) for v in axis)


def _on_grid(name: str, axis: Numbers) -> Sequence[float]:
    if not isinstance(axis, Range):
        return axis
    if axis.count < 2:
        raise _wrong(f"`{name}` goes from {axis.low:g} to {axis.high:g}: on a grid it needs a `count` of 2 at least")
    return [float(v) for v in _between(axis, np.linspace(0.0, 1.0, axis.count))]


def _ends(axis: Numbers) -> Sequence[float]:
    low, high = (axis.low, axis.high) if isinstance(axis, Range) else (min(axis), max(axis))
    return (low,) if low == high else (low, high)


def _between(axis: Range, share: Floats) -> Floats:
    if axis.log:
        low, high = math.log(axis.low), math.log(axis.high)
        values = np.exp(low + share * (high - low))
    else:
        values = axis.low + share * (axis.high - axis.low)
    return np.clip(values, min(axis.low, axis.high), max(axis.low, axis.high))


def _product(axes: Mapping[str, Sequence[float]]) -> Floats:
    count = math.prod(len(a) for a in axes.values())
    if count > MOST_CASES:
        raise _wrong(f"these are {count} cases, more than {MOST_CASES}: draw some (latin-hypercube, sobol)")
    return np.array(list(itertools.product(*axes.values())), float)


def _side_by_side(axes: Mapping[str, Numbers]) -> Floats:
    for name, axis in axes.items():
        if isinstance(axis, Range):
            raise _wrong(f"`{name}` is a range: a list has a value of it for each case")
    lengths = {name: len(axis) for name, axis in axes.items() if not isinstance(axis, Range)}
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{name} {n}" for name, n in lengths.items())
        raise _wrong(f"a list needs as many values of each parameter; there are of {counts}")
    return np.array([axis for axis in axes.values() if not isinstance(axis, Range)], float).T


def _drawn(cases: Cases, axes: Mapping[str, Numbers]) -> Floats:
    from scipy.stats import qmc

    assert cases.way in DRAWN
    if not 1 <= cases.count <= MOST_CASES:
        raise _wrong(f"`{cases.way}` needs a `count` of cases from 1 to {MOST_CASES}")
    n = len(axes)
    sampler = qmc.LatinHypercube(n, seed=cases.seed) if cases.way == DRAWN[0] else qmc.Sobol(n, seed=cases.seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # Sobol: balanced for powers of two; any number is allowed
        share = sampler.random(cases.count)
    columns = []
    for k, axis in enumerate(axes.values()):
        if isinstance(axis, Range):
            columns.append(_between(axis, share[:, k]))
        else:
            places = np.minimum((share[:, k] * len(axis)).astype(int), len(axis) - 1)
            columns.append(np.array(axis, float)[places])
    return np.column_stack(columns)


def _from_file(cases: Cases) -> Table:
    """A column for each parameter, a row for each case."""
    import polars

    path = Path(cases.file)
    if cases.parameters:
        raise _wrong("[parameters] stands beside a file of cases: one of them says the values")
    try:
        with open(path, "rb") as file:
            table = polars.read_csv(file, infer_schema_length=None)
    except OSError as error:
        raise ModelError(Diagnostic("R701", f"cannot read `{path}`: {error.strerror}")) from error
    except polars.exceptions.PolarsError as error:
        raise _unusable(f"{path}: not a CSV file: {str(error).splitlines()[0]}") from error
    names = tuple(name.strip() for name in table.columns)
    if not len(table):
        raise _unusable(f"{path}: no case in it: a line of names, then a line of values for each case")
    texts = {n: _distinct(s.drop_nulls()) for n, s in zip(names, table.iter_columns(), strict=True) if _has_texts(s)}
    columns = (_numbers(s, texts.get(n, ())) for n, s in zip(names, table.iter_columns(), strict=True))
    values = np.column_stack(list(columns))
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        row, column = bad[0]
        what = "value" if names[column] in texts else "finite number"
        raise _unusable(f"{path}: case {row} (line {row + 2}) has no {what} for `{names[column]}`")
    return Table(names, values, texts)


def _has_texts(column: polars.Series) -> bool:
    import polars

    return column.dtype == polars.String


def _numbers(column: polars.Series, texts: tuple[str, ...]) -> Floats:
    """NaN where there is no value."""
    import polars

    if not texts:
        return column.cast(polars.Float64).to_numpy()
    place = {text: float(k) for k, text in enumerate(texts)}
    return np.array([math.nan if v is None else place[v] for v in column])


def _wrong(text: str) -> ModelError:
    return ModelError(Diagnostic("R770", text))


def _unusable(text: str) -> ModelError:
    return ModelError(Diagnostic("R773", text))
