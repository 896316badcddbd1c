"""Slow, obvious steps in Python, straight from the tables: what the C kernels are tested against."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kilohertz.solvers.table import Floats, Method, Rosenbrock, RungeKutta

Rhs = Callable[[float, Floats], Floats]


def step(
    method: Method, f: Rhs, jacobian: Rhs, time_slope: Rhs, t: float, y: Floats, h: float, newton: int = 2
) -> Floats:
    """One step from (t, y); `jacobian` and `time_slope` are df/dy and df/dt as functions of (t, y)."""
    if isinstance(method, Rosenbrock):
        return _rosenbrock(method, f, jacobian(t, y), time_slope(t, y), t, y, h)
    if method.is_explicit:
        return _explicit(method, f, t, y, h)
    return _implicit(method, f, jacobian(t, y), t, y, h, newton)


def _explicit(m: RungeKutta, f: Rhs, t: float, y: Floats, h: float) -> Floats:
    k = np.zeros((m.n_stages, len(y)))
    for i in range(m.n_stages):
        k[i] = f(t + m.c[i] * h, y + h * (m.a[i, :i] @ k[:i]))
    return np.asarray(y + h * (np.array(m.b) @ k))


def _rosenbrock(m: Rosenbrock, f: Rhs, jacobian: Floats, slope: Floats, t: float, y: Floats, h: float) -> Floats:
    e = np.eye(len(y)) / (h * m.gamma) - jacobian
    u = np.zeros((m.n_stages, len(y)))
    for i in range(m.n_stages):
        rhs = f(t + m.alpha[i] * h, y + m.a[i, :i] @ u[:i]) + (m.c[i, :i] @ u[:i]) / h + h * m.gammas[i] * slope
        u[i] = np.linalg.solve(e, rhs)
    return np.asarray(y + np.array(m.m) @ u)


def _implicit(m: RungeKutta, f: Rhs, jacobian: Floats, t: float, y: Floats, h: float, newton: int) -> Floats:
    """Stages by simplified Newton from the state at the beginning of the step."""
    w = np.eye(len(y)) - h * m.gamma * jacobian
    z = np.zeros((m.n_stages, len(y)))
    for i in range(m.n_stages):
        at = t + m.c[i] * h
        if m.a[i, i] == 0.0:
            z[i] = h * f(at, y + m.a[i, :i] @ z[:i])
            continue
        base = y + m.a[i, :i] @ z[:i]
        point = y.copy()
        for _ in range(newton):
            point = point + np.linalg.solve(w, h * m.gamma * f(at, point) - (point - base))
        z[i] = (point - base) / m.gamma
    return np.asarray(y + np.array(m.b) @ z)
