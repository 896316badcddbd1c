"""Pairs of an implicit and an explicit Runge-Kutta method for mixed mode; the implicit halves are L-stable."""

from __future__ import annotations

from math import sqrt

from kilohertz.solvers.tableau import Pair, Row, RungeKutta

_G2 = 1 - sqrt(2) / 2
_ARS = "Ascher, Ruuth, Spiteri (1997)"


def _pair(name: str, order: int, c: Row, implicit: tuple[Row, ...], explicit: tuple[Row, ...]) -> Pair:
    """Both tables from their rows; the last row holds the weights."""
    halves = [
        RungeKutta(
            name, f"the {kind} half of {name}", _ARS, order, rows, (*rows[-1], *(0.0,) * (len(c) - len(rows[-1]))), c
        )
        for kind, rows in (("implicit", implicit), ("explicit", explicit))
    ]
    return Pair(name, f"order {order}, {len(c) - 1} implicit stages", _ARS, order, halves[0], halves[1])


IMEX1 = Pair(
    "imex1",
    "implicit and explicit Euler",
    _ARS + ", (1,1,1)",
    1,
    RungeKutta("imex1", "implicit Euler", "Euler", 1, ((), (0.0, 1.0)), (0.0, 1.0), (0.0, 1.0)),
    RungeKutta("imex1", "explicit Euler", "Euler", 1, ((), (1.0,)), (1.0, 0.0), (0.0, 1.0)),
)
_D2 = 1 - 1 / (2 * _G2)
ARS222 = _pair("ars222", 2, (0.0, _G2, 1.0), ((), (0.0, _G2), (0.0, 1 - _G2, _G2)), ((), (_G2,), (_D2, 1 - _D2)))
ARS443 = _pair(
    "ars443",
    3,
    (0.0, 1 / 2, 2 / 3, 1 / 2, 1.0),
    ((), (0.0, 1 / 2), (0.0, 1 / 6, 1 / 2), (0.0, -1 / 2, 1 / 2, 1 / 2), (0.0, 3 / 2, -3 / 2, 1 / 2, 1 / 2)),
    ((), (1 / 2,), (11 / 18, 1 / 18), (5 / 6, -5 / 6, 1 / 2), (1 / 4, 7 / 4, 3 / 4, -7 / 4)),
)
PAIRS = (IMEX1, ARS222, ARS443)
