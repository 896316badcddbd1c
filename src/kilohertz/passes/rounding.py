"""Equations of torn linear loops of which rounding alone is left.

  7 p + 3 q = 1, 63 p + 27 q = 9: with p = (1 - 3 q)/7 the second one leaves 27 - 63*3/7 = 4e-15 of q.

Code: B221.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from kilohertz.base import Diagnostic, Severity
from kilohertz.ir.dae import AnyEquation
from kilohertz.ir.expr import Expr
from kilohertz.ir.step import Entry
from kilohertz.ir.traverse import refs
from kilohertz.passes.algebra import linear_coefficient
from kilohertz.passes.numeric import Numeric

_ROUNDING = 1e-14  # beside the largest factor of an equation: no more is left where its terms cancel


def rounded_away(
    equations: Sequence[AnyEquation],
    residuals: Sequence[Expr],
    entries: Iterable[Entry],
    parameters: Numeric,
    unknowns: Collection[str],
) -> Iterator[Diagnostic]:
    """Those that say what the others say.  Where nothing is left whatever parameters are, whoever solves sees it."""
    left: dict[int, list[float | None]] = {}
    for entry in entries:
        left.setdefault(entry.row, []).append(parameters(entry.value))
    for row, numbers in left.items():
        known = [abs(v) for v in numbers if v is not None]
        if len(known) < len(numbers):
            continue
        names = sorted({r.name for r in refs(residuals[row])}.intersection(unknowns))
        factors = (linear_coefficient(residuals[row], name) for name in names)
        sizes = (abs(v) for f in factors if f is not None and (v := parameters(f)) is not None)
        if max(known) <= _ROUNDING * max(sizes, default=0.0):
            yield _open(equations[row], names)


def _open(e: AnyEquation, unknowns: Sequence[str]) -> Diagnostic:
    named = ", ".join(unknowns[:8])
    text = f"the other equations of its linear system say the same: of many values of {named} rounding chooses some"
    return Diagnostic("B221", text, e.origin.spans[0] if e.origin.spans else None, severity=Severity.WARNING)
