"""A simulation result: a matrix of what was computed and the names that read it.

Several names may share one column, with a sign: `resistor.p.i` and `resistor.n.i` differ in sign alone and are stored
once.  An event shows as two rows with one time, the values before it and those after.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kilohertz.base import Diagnostic, closest

if TYPE_CHECKING:
    from pathlib import Path

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Signal:
    """A name that reads a column of the data, `sign` times; or a parameter: its `value`, and no column.

    `min` and `max` are those of its declaration, where they are known as numbers.
    """

    column: int | None
    sign: int = 1
    unit: str = ""
    description: str = ""
    value: float = 0.0
    min: float | None = None
    max: float | None = None


@dataclass(frozen=True, slots=True)
class Result(Mapping[str, Floats]):
    """Time, data (one row per time, one column per stored signal), and the signals by name."""

    name: str
    time: Floats
    data: Floats
    signals: dict[str, Signal] = field(default_factory=dict)
    problems: tuple[Diagnostic, ...] = ()  # what the run had to cope with
    ok: bool = True  # every step was made, every value is a number, the run came to its end

    @classmethod
    def of_columns(
        cls,
        name: str,
        time: Floats,
        columns: Mapping[str, Floats],
        parameters: Mapping[str, float] | None = None,
        units: Mapping[str, str] | None = None,
        descriptions: Mapping[str, str] | None = None,
    ) -> Result:
        """A result without aliases: each name has a column of its own."""
        units, descriptions = units or {}, descriptions or {}
        signals = {n: Signal(i, 1, units.get(n, ""), descriptions.get(n, "")) for i, n in enumerate(columns)}
        for n, value in (parameters or {}).items():
            signals[n] = Signal(None, 1, units.get(n, ""), descriptions.get(n, ""), float(value))
        data = np.column_stack(list(columns.values())) if columns else np.empty((len(time), 0))
        return cls(name, np.asarray(time, float), np.asarray(data, float), signals)

    def __getitem__(self, name: str) -> Floats:
        """The values over time; of an array's name all elements side by side; `time` itself too."""
        if name in self.signals:
            return self._values(self.signals[name])
        if name == "time":
            return self.time
        elements = [s for n, s in self.signals.items() if n.startswith(name + "[") and n.endswith("]")]
        if elements:
            return np.column_stack([self._values(s) for s in elements])
        near = closest(name, self.signals)
        hint = f"; did you mean {', '.join(near)}?" if near else ""
        raise KeyError(f"the result has no `{name}`{hint}")

    def _values(self, signal: Signal) -> Floats:
        if signal.column is None:
            return np.full(len(self.time), signal.value)
        column: Floats = self.data[:, signal.column]
        return column if signal.sign > 0 else -column

    def __iter__(self) -> Iterator[str]:
        return iter(self.signals)

    def __len__(self) -> int:
        return len(self.signals)

    def __contains__(self, name: object) -> bool:
        return name in self.signals

    @property
    def names(self) -> tuple[str, ...]:
        """Names of what varies, in order of declaration."""
        return tuple(n for n, s in self.signals.items() if s.column is not None)

    @property
    def parameters(self) -> dict[str, float]:
        """Values of the parameters and constants by name."""
        return {n: s.value for n, s in self.signals.items() if s.column is None}

    def unit(self, name: str) -> str:
        """The unit of a signal, as its declaration has it."""
        return self.signals[name].unit

    def description(self, name: str) -> str:
        """The text that describes a signal in its declaration."""
        return self.signals[name].description

    def final(self, name: str) -> float:
        """The last value of a signal."""
        return float(self[name][-1])

    def to_csv(self, path: str | Path) -> None:
        """Write all varying signals, `time` first."""
        from kilohertz.results.csv_write import write_csv

        write_csv(path, self)

    def to_mat(self, path: str | Path) -> None:
        """Write signals and parameters as MAT v4 that Dymola, OpenModelica and DyMat open."""
        from kilohertz.results.mat_write import write_mat

        write_mat(path, self)

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame` of all signals over time (needs pandas)."""
        try:
            import pandas
        except ImportError:
            raise ImportError("`to_pandas` needs pandas: pip install pandas") from None
        columns = {name: self[name] for name in self.names if name != "time"}
        return pandas.DataFrame(columns, index=pandas.Index(self.time, name="time"))

    def plot(self, *names: str, ax: Any = None) -> Any:
        """Draw signals over time with matplotlib; all of them where none is named.  Returns the axes."""
        import matplotlib.pyplot as plt

        axes = ax if ax is not None else plt.subplots()[1]
        for name in names or self.names:
            unit = self.signals[name].unit if name in self.signals else ""
            axes.plot(self.time, self[name], label=f"{name} [{unit}]" if unit else name)
        axes.set_xlabel("time [s]")
        axes.set_title(self.name)
        axes.legend(loc="best", fontsize="small")
        return axes

    def __repr__(self) -> str:
        span = f"{self.time[0]:g} .. {self.time[-1]:g} s" if len(self.time) else "empty"
        marred = "" if self.ok else ", not ok"
        return f"<Result {self.name}: {span}, {len(self.time)} rows, {len(self.names)} signals{marred}>"
