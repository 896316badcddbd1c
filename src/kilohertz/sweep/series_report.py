"""What came out of a series, as plain data and as text: which cases exceed a threshold, the worst first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kilohertz.sweep.batches import CRASHED
from kilohertz.sweep.runner import OK
from kilohertz.sweep.series_definition import Measure
from kilohertz.sweep.series_run import Outcome

if TYPE_CHECKING:
    import polars

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Ranked:
    """A case that is exceptional: how often its worst value is the threshold, and which thresholds it exceeds."""

    case: int
    excess: float
    exceeds: tuple[str, ...]
    status: str
    message: str


class Report:
    """Numbers of a series that was run."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome

    @property
    def table(self) -> polars.DataFrame:
        """A row for each case: its parameters, measures, thresholds it exceeds, status."""
        return self.outcome.table

    @property
    def ok(self) -> bool:
        """No case failed and none exceeds a threshold."""
        return not self.failed and not self.exceeding

    @property
    def failed(self) -> list[int]:
        """Cases without a result."""
        import polars

        return [int(n) for n in self.table.filter(polars.col("status") != OK)["case"]]

    @property
    def exceeding(self) -> list[int]:
        """Cases with a result that exceed a threshold, the worst first."""
        return [r.case for r in self.ranked if r.status == OK]

    @property
    def ranked(self) -> list[Ranked]:
        """All exceptional cases: those that failed, then by how far they are beyond a threshold."""
        import polars

        odd = self.table.filter((polars.col("exceeds").list.len() > 0) | (polars.col("status") != OK))
        ranked = [_ranked(row, self.outcome.series.measures) for row in odd.iter_rows(named=True)]
        return sorted(ranked, key=lambda r: (-r.excess, r.case))

    def to_dict(self) -> dict[str, Any]:
        """All but the table, ready for JSON."""
        o, t = self.outcome, self.table
        return {
            "name": o.series.name,
            "ok": self.ok,
            "cases": len(t),
            "failed": len(self.failed),
            "exceeding": len(self.exceeding),
            "seconds": o.seconds,
            "resumed": o.resumed,
            "folder": str(o.folder),
            "measures": [_numbers(m, t) for m in o.series.measures],
            "exceptional": [
                {
                    "case": r.case,
                    "status": r.status,
                    "message": r.message,
                    "exceeds": list(r.exceeds),
                    "excess": r.excess,
                    "parameters": self.parameters(r.case),
                }
                for r in self.ranked
            ],
        }

    def parameters(self, case: int) -> dict[str, float | str]:
        """The values of a case."""
        return self.outcome.cases.row(case)

    def values_text(self, case: int) -> str:
        """The values of a case in a line."""
        values = self.parameters(case).items()
        return ", ".join(f"{n} = {v}" if isinstance(v, str) else f"{n} = {v:.6g}" for n, v in values)

    def as_text(self) -> str:
        """For a terminal."""
        o = self.outcome
        pace = f", {(len(self.table) - o.resumed) / o.seconds:.0f} a second" if o.seconds > 0 else ""
        known = f", {o.resumed} known before" if o.resumed else ""
        lines = [f"{o.series.name}: {len(self.table)} cases in {o.seconds:.1f} s{known}{pace}"]
        lines += [_line(_numbers(m, self.table), m) for m in o.series.measures]
        if self.failed:
            lines.append(f"  {len(self.failed)} cases failed")
        lines += self._exceptional()
        return "\n".join([*lines, f"  results: {o.folder}"])

    def _exceptional(self) -> list[str]:
        ranked = self.ranked
        if not ranked:
            return ["  no case is exceptional"]
        lines = [f"  {len(ranked)} exceptional cases, the worst first:"]
        for r in ranked[:_SHOWN]:
            why = r.message if r.status != OK else "exceeds " + ", ".join(r.exceeds)
            lines.append(f"    case {r.case}: {self.values_text(r.case)}: {why}")
        if len(ranked) > _SHOWN:
            lines.append(f"    and {len(ranked) - _SHOWN} more")
        return lines

    def __repr__(self) -> str:
        return f"<Series {self.outcome.series.name}: {len(self.table)} cases, {len(self.ranked)} exceptional>"


def _ranked(row: dict[str, Any], measures: Sequence[Measure]) -> Ranked:
    if row["status"] != OK:
        worst = math.inf if row["status"] == CRASHED else 1e300
        return Ranked(row["case"], worst, tuple(row["exceeds"]), row["status"], row["message"])
    beyond = max(_excess(m, row[m.title]) for m in measures if m.title in row["exceeds"])
    return Ranked(row["case"], beyond, tuple(row["exceeds"]), row["status"], "")


def _excess(m: Measure, value: float) -> float:
    """How far beyond its threshold, in units of the threshold."""
    if not math.isfinite(value):
        return 1e200
    parts = [value - m.above] if m.above is not None else []
    parts += [m.below - value] if m.below is not None else []
    size = max(abs(m.above or 0.0), abs(m.below or 0.0)) or 1.0
    return max(parts) / size


def _numbers(m: Measure, table: polars.DataFrame) -> dict[str, Any]:
    """Least, median, greatest over all cases that have a value, and how many exceed."""
    values = table[m.title].drop_nulls().drop_nans()
    some = len(values) > 0
    low, middle, high = (values.min(), values.median(), values.max()) if some else (math.nan,) * 3
    return {
        "name": m.title,
        "threshold": m.threshold,
        "min": low,
        "median": middle,
        "max": high,
        "exceeding": int(table["exceeds"].list.contains(m.title).sum()),
    }


def _line(n: dict[str, Any], m: Measure) -> str:
    beyond = f"; {n['exceeding']} cases {m.threshold}" if m.has_threshold else ""
    return f"  {n['name']}: {n['min']:.4g} .. {n['max']:.4g}, median {n['median']:.4g}{beyond}"
