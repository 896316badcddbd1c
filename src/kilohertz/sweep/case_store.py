"""Results of a series on disk: a folder that pandas, polars and DuckDB open, and that a series goes on from.

    series.json        what it is: digest, parameters, measures with their thresholds, model, compiler
    cases.parquet      the index, a row for each case, in order; complete when the series is
    parts/*.parquet    rows of the index as they came, until the series is complete
    curves/*.parquet   kept signals over time: case, side, time and the signals' columns

Parts are written beside and renamed: a file is complete or absent, whenever the process is killed.
Codes: R771 results of another series are here, R772 somebody else writes here, R702 nothing can be written.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kilohertz.base import Diagnostic, ModelError, Note
from kilohertz.sweep.batches import Done
from kilohertz.sweep.cases import Table
from kilohertz.sweep.series_definition import Measure

if TYPE_CHECKING:
    import polars

INDEX, ABOUT, PARTS, CURVES = "cases.parquet", "series.json", "parts", "curves"
_SECONDS_OF_PART = 2.0
_NUMBERS_OF_PART = 4_000_000  # in curves that wait to be written


class Store:
    """The folder of one series, open for writing."""

    def __init__(self, folder: Path, about: Mapping[str, Any], cases: Table, measures: Sequence[Measure]) -> None:
        self.folder, self._cases, self._measures = folder, cases, measures
        self._waiting: list[Done] = []
        self._written, self._n_parts = time.monotonic(), 0
        try:
            for place in (folder, folder / PARTS, folder / CURVES):
                place.mkdir(parents=True, exist_ok=True)
            self._lock = open(folder / ".lock", "w", encoding="utf-8")  # noqa: SIM115  # held until `close`
        except OSError as error:
            raise _unwritable(folder, error) from error
        self._own()
        try:
            self._agree(about)
        except ModelError:
            self._lock.close()
            raise
        self._n_parts = 1 + max((int(p.stem) for p in (folder / PARTS).glob("*.parquet")), default=-1)
        self._n_parts = max(
            self._n_parts, 1 + max((int(p.stem) for p in (folder / CURVES).glob("*.parquet")), default=-1)
        )

    def _own(self) -> None:
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._lock.close()
            raise ModelError(
                Diagnostic("R772", f"`{self.folder}` is being written by another run of the series")
            ) from None

    def _agree(self, about: Mapping[str, Any]) -> None:
        """The folder is empty, or of the same series."""
        file = self.folder / ABOUT
        if file.exists():
            try:
                before = json.loads(file.read_text(encoding="utf-8")).get("digest")
            except (OSError, json.JSONDecodeError) as error:
                raise ModelError(Diagnostic("R771", f"`{file}` cannot be read: {error}")) from error
            if before != about["digest"]:
                text = f"`{self.folder}` holds results of another series: model, cases, measures or settings differ"
                raise ModelError(Diagnostic("R771", f"{text}; `--fresh` begins anew, `-o` takes another folder"))
            return
        self._write_text(file, json.dumps(about, indent=2) + "\n")

    # ----------------------------------------------------------------------------------------------------------- write

    def add(self, done: Done) -> None:
        """Cases that were run; on disk within two seconds."""
        self._waiting.append(done)
        kept = sum(c.size for d in self._waiting for _, _, c in d.curves)
        if time.monotonic() - self._written > _SECONDS_OF_PART or kept > _NUMBERS_OF_PART:
            self.flush()

    def flush(self) -> None:
        """Write what waits: curves first, since a case in the index is not run again."""
        waiting, self._waiting = self._waiting, []
        self._written = time.monotonic()
        if not waiting:
            return
        name, self._n_parts = f"{self._n_parts:06d}.parquet", self._n_parts + 1
        curves = [c for d in waiting for c in d.curves]
        if curves:
            self._write(self.folder / CURVES / name, _curve_table(curves, self._signals))
        self._write(self.folder / PARTS / name, self._rows(waiting))

    def keep_signals(self, signals: Mapping[str, Sequence[str]]) -> None:
        """Names of the columns of curves, by side."""
        self._signals = signals

    def _rows(self, parts: Sequence[Done]) -> polars.DataFrame:
        import polars

        numbers = np.array([n for d in parts for n in d.numbers], np.int64)
        columns: dict[str, Any] = {"case": numbers}
        for name in self._cases.names:
            columns[name] = self._cases.column(name, numbers)
        for k, m in enumerate(self._measures):
            columns[m.title] = [row[k] for d in parts for row in d.measures]
        bits = [b for d in parts for b in d.exceeds]
        columns["exceeds"] = [[m.title for k, m in enumerate(self._measures) if b >> k & 1] for b in bits]
        columns["status"] = [s for d in parts for s in d.status]
        columns["message"] = [m for d in parts for m in d.message]
        columns["seconds_taken"] = [s for d in parts for s in d.seconds]
        kinds = {m.title: polars.Float64() for m in self._measures}
        return polars.DataFrame(columns, schema_overrides={**kinds, "exceeds": polars.List(polars.String)})

    def _write(self, file: Path, table: polars.DataFrame) -> None:
        scratch, data = file.with_name(f".{file.name}"), BytesIO()
        table.write_parquet(data)  # into memory: polars has errors of its own for a full disk
        try:
            scratch.write_bytes(data.getbuffer())
            scratch.replace(file)
        except OSError as error:
            with contextlib.suppress(OSError):
                scratch.unlink()
            raise _unwritable(file, error) from error

    def _write_text(self, file: Path, text: str) -> None:
        try:
            scratch = file.with_name(f".{file.name}")
            scratch.write_text(text, encoding="utf-8")
            scratch.replace(file)
        except OSError as error:
            raise _unwritable(file, error) from error

    # ------------------------------------------------------------------------------------------------------------ read

    def known(self) -> polars.DataFrame | None:
        """All rows so far, in the order of their cases, each once."""
        import polars

        files = [f for f in (self.folder / INDEX, *sorted((self.folder / PARTS).glob("[0-9]*.parquet"))) if f.exists()]
        if not files:
            return None
        return polars.concat([polars.read_parquet(f) for f in files]).unique("case", keep="first").sort("case")

    def finish(self) -> polars.DataFrame:
        """One index in place of its parts; the table."""
        self.flush()
        table = self.known()
        assert table is not None
        self._write(self.folder / INDEX, table)
        for part in (self.folder / PARTS).glob("*.parquet"):
            part.unlink()
        with contextlib.suppress(OSError):
            (self.folder / PARTS).rmdir()
        return table

    def close(self) -> None:
        """Let others write."""
        self._lock.close()


@contextlib.contextmanager
def opened(
    folder: Path, about: Mapping[str, Any], cases: Table, measures: Sequence[Measure], fresh: bool
) -> Iterator[Store]:
    """The store of a series; with `fresh` what was in it is gone.  What waits is written however the block ends."""
    if fresh:
        clear(folder)
    store = Store(folder, about, cases, measures)
    try:
        yield store
    finally:
        try:
            store.flush()
        finally:
            store.close()


def clear(folder: Path) -> None:
    """Take away the files of a series, and no others."""
    if not (folder / ABOUT).exists():
        return
    for file in [
        *folder.glob(f"{PARTS}/*.parquet"),
        *folder.glob(f"{CURVES}/*.parquet"),
        folder / INDEX,
        folder / ABOUT,
    ]:
        file.unlink(missing_ok=True)


def read_curves(folder: Path, case: int) -> dict[str, Mapping[str, Any]]:
    """Kept curves of a case by side: time and signals."""
    import polars

    files = sorted((folder / CURVES).glob("[0-9]*.parquet"))
    if not files:
        return {}
    curves: dict[str, Mapping[str, Any]] = {}
    parts = [polars.scan_parquet(f).filter(polars.col("case") == case).collect() for f in files]
    table = polars.concat([p for p in parts if len(p)] or parts[:1], how="diagonal")
    for (side,), rows in table.group_by("side", maintain_order=True):
        names = [n for n in rows.columns if n not in ("case", "side") and rows[n].null_count() < len(rows)]
        curves[str(side)] = {n: rows[n].to_numpy() for n in names}
    return curves


def _curve_table(curves: Sequence[tuple[int, str, Any]], signals: Mapping[str, Sequence[str]]) -> polars.DataFrame:
    import polars

    names = list(dict.fromkeys(n for side in signals.values() for n in side))
    tables = []
    for side in dict.fromkeys(s for _, s, _ in curves):
        parts = [(n, c) for n, s, c in curves if s == side]
        data = np.concatenate([c for _, c in parts])
        columns: dict[str, Any] = {
            "case": np.repeat(np.array([n for n, _ in parts], np.int64), [len(c) for _, c in parts]),
            "side": [side] * len(data),
            "time": data[:, 0],
        }
        there = list(signals[side])
        for name in names:
            columns[name] = data[:, 1 + there.index(name)] if name in there else np.full(len(data), None, object)
        tables.append(polars.DataFrame(columns, schema_overrides=dict.fromkeys(names, polars.Float64)))
    return polars.concat(tables)


def _unwritable(place: Path, error: OSError) -> ModelError:
    note = Note("cases that are on disk stay there: the same series goes on from them")
    return ModelError(Diagnostic("R702", f"cannot write `{place}`: {error.strerror or error}", notes=(note,)))
