"""Diagonally implicit Runge-Kutta methods, all stiffly accurate; L-stable but for the trapezoidal rule (A-stable)."""

from __future__ import annotations

from math import sqrt

from kilohertz.solvers.tableau import RungeKutta

G3 = 0.43586652150845899942  # root of 6x^3 - 18x^2 + 9x - 1
_G2 = 1 - sqrt(2) / 2

IEULER = RungeKutta("ieuler", "implicit Euler", "Euler", 1, ((1.0,),), (1.0,), (1.0,))
SDIRK2 = RungeKutta("sdirk2", "two stages", "Alexander (1977)", 2, ((_G2,), (1 - _G2, _G2)), (1 - _G2, _G2), (_G2, 1.0))

TRAPEZOIDAL = RungeKutta("trapezoidal", "trapezoidal rule", "Heun", 2, ((), (0.5, 0.5)), (0.5, 0.5), (0.0, 1.0))


def _sdirk3() -> RungeKutta:
    g = G3
    b = (-(6 * g**2 - 16 * g + 1) / 4, (6 * g**2 - 20 * g + 5) / 4, g)
    rows = ((g,), ((1 - g) / 2, g), b)
    return RungeKutta("sdirk3", "three stages", "Alexander (1977)", 3, rows, b, (g, (1 + g) / 2, 1.0))


def _sdirk4() -> RungeKutta:
    b = (25 / 24, -49 / 48, 125 / 16, -85 / 12, 1 / 4)
    rows = (
        (1 / 4,),
        (1 / 2, 1 / 4),
        (17 / 50, -1 / 25, 1 / 4),
        (371 / 1360, -137 / 2720, 15 / 544, 1 / 4),
        b,
    )
    return RungeKutta("sdirk4", "five stages", "Hairer, Wanner (1996)", 4, rows, b, (1 / 4, 3 / 4, 11 / 20, 1 / 2, 1.0))


def _trbdf2() -> RungeKutta:
    g, w = _G2, sqrt(2) / 4
    b = (w, w, g)
    source = "Hosea, Shampine (1996)"
    return RungeKutta("trbdf2", "trapezoidal rule, then BDF2", source, 2, ((), (g, g), b), b, (0.0, 2 * g, 1.0))


def _esdirk3() -> RungeKutta:
    g, c3 = G3, 3 / 5
    a32 = c3 * (c3 - 2 * g) / (4 * g)
    b2 = (-2 + 3 * c3 + 6 * g * (1 - c3)) / (12 * g * (c3 - 2 * g))
    b3 = (1 - 6 * g + 6 * g**2) / (3 * c3 * (c3 - 2 * g))
    b = (1 - b2 - b3 - g, b2, b3, g)
    rows = ((), (g, g), (c3 - a32 - g, a32, g), b)
    source = "Kennedy, Carpenter (2003), 3(2)4L[2]SA"
    return RungeKutta("esdirk3", "explicit first stage, four stages", source, 3, rows, b, (0.0, 2 * g, c3, 1.0))


def _esdirk4() -> RungeKutta:
    b = (82889 / 524892, 0.0, 15625 / 83664, 69875 / 102672, -2260 / 8211, 1 / 4)
    rows = (
        (),
        (1 / 4, 1 / 4),
        (8611 / 62500, -1743 / 31250, 1 / 4),
        (5012029 / 34652500, -654441 / 2922500, 174375 / 388108, 1 / 4),
        (15267082809 / 155376265600, -71443401 / 120774400, 730878875 / 902184768, 2285395 / 8070912, 1 / 4),
        b,
    )
    c = (0.0, 1 / 2, 83 / 250, 31 / 50, 17 / 20, 1.0)
    source = "Kennedy, Carpenter (2003), 4(3)6L[2]SA"
    return RungeKutta("esdirk4", "explicit first stage, six stages", source, 4, rows, b, c)


SDIRK3, SDIRK4, TRBDF2, ESDIRK3, ESDIRK4 = _sdirk3(), _sdirk4(), _trbdf2(), _esdirk3(), _esdirk4()
DIRK = (IEULER, TRAPEZOIDAL, SDIRK2, SDIRK3, SDIRK4, TRBDF2, ESDIRK3, ESDIRK4)
