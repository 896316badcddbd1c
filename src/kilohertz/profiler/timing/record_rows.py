"""Rows as the C runtime leaves them (khz_probe.h) -> arrays: one record for each cycle with all its places, borders.

A row is a head, the sums of those places that have any, the borders that were timed, and the seal.  One without its
seal was written half (the task was killed meanwhile) and is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kilohertz.runtime import constant, family, fields

MODES = tuple(family("KHZ_PROFILE_"))
OFF, BURST = MODES.index("off"), MODES.index("burst")
_SEAL = np.dtype(np.uint32)


def structure(name: str) -> np.dtype[np.void]:
    """A structure of C."""
    return np.dtype([(n, np.dtype(kind)) for n, kind in fields(name)], align=True)


def record_type(n_places: int) -> np.dtype[np.void]:
    """A cycle: `khz_cycle_record`, and a `khz_place_sum` for every place."""
    return np.dtype([("head", structure("khz_cycle_record")), ("places", structure("khz_place_sum"), (n_places,))])


def border_type() -> np.dtype[np.void]:
    """A border that was timed: the number of its record, `khz_border`."""
    return np.dtype([("record", np.int64), ("border", structure("khz_border"))])


def row_size(n_places: int) -> int:
    """Bytes of a row: `khz_profile_record_size`."""
    head, sums, border = (structure(f"khz_{name}").itemsize for name in ("cycle_record", "place_sum", "border"))
    return -(-(head + n_places * sums + constant("KHZ_WINDOW_ROOM") * border + _SEAL.itemsize) // 64) * 64


@dataclass(frozen=True, slots=True)
class Rows:
    """What was found in rows: records in the order of their cycles, borders in the order of records."""

    records: NDArray[np.void]
    borders: NDArray[np.void]
    torn: int  # rows without their seal


def read_rows(parts: Sequence[NDArray[np.uint8]], n_places: int) -> Rows:
    """All whole rows of tables [rows, bytes]; the same cycle once."""
    rows = _side_by_side(parts)
    head = structure("khz_cycle_record")
    heads = _at(rows, head, np.zeros(len(rows), np.int64))
    written = heads["mode"] != OFF
    rows, heads = rows[written], heads[written]
    sound = _is_sealed(rows, heads)
    torn, rows, heads = int((~sound).sum()), rows[sound], heads[sound]
    _, first = np.unique(heads["woke_ns"], return_index=True)
    rows, heads = rows[first], heads[first]
    records = np.zeros(len(rows), record_type(n_places))
    records["head"] = heads
    _enter_sums(records, rows, n_places)
    return Rows(records, _borders(rows, heads), torn)


def _side_by_side(parts: Sequence[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    least = structure("khz_cycle_record").itemsize + _SEAL.itemsize
    every = np.zeros((sum(map(len, parts)), max((p.shape[1] for p in parts), default=least)), np.uint8)
    at = 0
    for part in parts:
        every[at : at + len(part), : part.shape[1]] = part
        at += len(part)
    return every


def _at(rows: NDArray[np.uint8], kind: np.dtype[np.void], offsets: NDArray[np.int64]) -> NDArray[np.void]:
    """One structure of each row, at its offset."""
    columns = offsets[:, None] + np.arange(kind.itemsize)
    return np.ascontiguousarray(np.take_along_axis(rows, columns, axis=1)).view(kind)[:, 0]


def _after_sums(heads: NDArray[np.void]) -> NDArray[np.int64]:
    whole = structure("khz_cycle_record").itemsize
    return whole + heads["n_sums"].astype(np.int64) * structure("khz_place_sum").itemsize


def _is_sealed(rows: NDArray[np.uint8], heads: NDArray[np.void]) -> NDArray[np.bool_]:
    end = _after_sums(heads) + heads["n_borders"].astype(np.int64) * structure("khz_border").itemsize
    fits = end + _SEAL.itemsize <= rows.shape[1]
    seal = _at(rows, np.dtype([("cycle", _SEAL)]), np.where(fits, end, 0))["cycle"]
    sealed: NDArray[np.bool_] = fits & (seal == heads["cycle"].astype(np.uint32))
    return sealed


def _enter_sums(records: NDArray[np.void], rows: NDArray[np.uint8], n_places: int) -> None:
    kind, n_sums = structure("khz_place_sum"), records["head"]["n_sums"]
    begin = records.dtype["head"].itemsize
    for k in range(int(n_sums.max(initial=0))):
        some = np.flatnonzero(n_sums > k)
        sums = _at(rows[some], kind, np.full(len(some), begin + k * kind.itemsize))
        known = (sums["place"] >= 0) & (sums["place"] < n_places)
        records["places"][some[known], sums["place"][known]] = sums[known]


def _borders(rows: NDArray[np.uint8], heads: NDArray[np.void]) -> NDArray[np.void]:
    kind, after = structure("khz_border"), _after_sums(heads)
    parts = []
    for k in range(int(heads["n_borders"].max(initial=0))):
        some = np.flatnonzero(heads["n_borders"] > k)
        part = np.zeros(len(some), border_type())
        part["record"] = some
        part["border"] = _at(rows[some], kind, after[some] + k * kind.itemsize)
        parts.append(part)
    every = np.concatenate(parts) if parts else np.zeros(0, border_type())
    return every[np.argsort(every["record"], kind="stable")]
