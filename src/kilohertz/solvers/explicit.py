"""Explicit Runge-Kutta methods."""

from __future__ import annotations

from kilohertz.solvers.tableau import RungeKutta

EULER = RungeKutta("euler", "explicit Euler", "Euler", 1, ((0.0,),), (1.0,), (0.0,))
RK2 = RungeKutta("rk2", "explicit trapezoidal rule", "Heun", 2, ((), (1.0,)), (1 / 2, 1 / 2), (0.0, 1.0))
RK3 = RungeKutta(
    "rk3",
    "third-order formula of the 3(2) pair",
    "Bogacki, Shampine (1989)",
    3,
    ((), (1 / 2,), (0.0, 3 / 4)),
    (2 / 9, 1 / 3, 4 / 9),
    (0.0, 1 / 2, 3 / 4),
)
RK4 = RungeKutta(
    "rk4",
    "classical Runge-Kutta",
    "Kutta (1901)",
    4,
    ((), (1 / 2,), (0.0, 1 / 2), (0.0, 0.0, 1.0)),
    (1 / 6, 1 / 3, 1 / 3, 1 / 6),
    (0.0, 1 / 2, 1 / 2, 1.0),
)
EXPLICIT = (EULER, RK2, RK3, RK4)
