"""Numbers that the start is given, and what follows from them.

Fixed starts and initial equations give some; an equation in which one unknown is left, and linearly, gives that one:

  der(a) = 0;  der(b) = 0;  c = a - b   ->   der(c) = der(a) - der(b) is 0

Cost: each equation is solved once.  What hangs together in a loop stays open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kilohertz.ir import make
from kilohertz.ir.dae import Equation
from kilohertz.ir.expr import Real, Ref
from kilohertz.ir.ordered import Row
from kilohertz.ir.traverse import map_expr
from kilohertz.ir.types import REAL
from kilohertz.passes.derivative import NoDerivative, partial
from kilohertz.passes.numeric import Numeric

VANISHED = 1e-9  # a slope below it says nothing of an unknown


def slope(e: Equation, name: str, numeric: Numeric) -> float | None:
    """How much an equation says of an unknown, where that has a number."""
    try:
        return numeric(partial(make.sub(e.left, e.right), name))
    except NoDerivative:
        return None


def following(
    given: Mapping[str, float], rows: Sequence[Row], touched: Sequence[Sequence[int]], unknowns: Sequence[Ref]
) -> dict[str, float]:
    """What is given, and what equations make of it one after the other."""
    values = dict(given)
    users: list[list[int]] = [[] for _ in unknowns]
    left = [len(set(t)) for t in touched]
    for i, t in enumerate(touched):
        for c in set(t):
            users[c].append(i)
    ready = [i for i, n in enumerate(left) if n == 1]
    settled = [c for c, u in enumerate(unknowns) if u.name in values]
    done = set(settled)
    while settled or ready:
        for c in settled:
            for i in users[c]:
                left[i] -= 1
                ready += [i] if left[i] == 1 else []
        settled = []
        numeric = Numeric(values)  # anew in each round: it remembers what was not known when it was asked for
        found: dict[int, float] = {}
        for i in ready:
            for c in [c for c in touched[i] if c not in done and c not in found][:1]:
                if (value := _solved(rows[i], unknowns[c], numeric)) is not None:
                    found[c] = value
        ready = []
        values |= {unknowns[c].name: value for c, value in found.items()}
        done |= found.keys()
        settled = list(found)
    return values


def _solved(row: Row, unknown: Ref, numeric: Numeric) -> float | None:
    """The one unknown left of an equation, if it is linear in it."""
    e = row.equation
    if not isinstance(e, Equation) or e.left.ty != REAL or unknown.ty != REAL:
        return None
    steep = slope(e, unknown.name, numeric)
    if steep is None or abs(steep) <= VANISHED:
        return None
    rest = map_expr(make.sub(e.left, e.right), lambda n: Real(0.0) if n is unknown else n)
    value = numeric(rest)
    return None if value is None else -value / steep
