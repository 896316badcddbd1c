"""Slow, obvious steps in Python, straight from the tables: what the C kernels are tested against."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kilohertz.solvers.tableau import Floats, Method, Pair, Rosenbrock, RungeKutta

Rhs = Callable[[float, Floats], Floats]


def step(
    method: Method,
    f: Rhs,
    jacobian: Rhs,
    time_slope: Rhs,
    t: float,
    y: Floats,
    h: float,
    newton: int = 2,
    mass: Floats | None = None,
) -> Floats:
    """One step from (t, y); `jacobian` and `time_slope` are df/dy and df/dt as functions of (t, y).

    `mass`: the diagonal of M in M*y' = f, 1 for a differential and 0 for an algebraic component (index 1); None: all 1.
    """
    m = np.ones(len(y)) if mass is None else mass
    if isinstance(method, Rosenbrock):
        return _rosenbrock(method, f, jacobian(t, y), time_slope(t, y), t, y, h, m)
    if method.is_explicit:
        if not m.all():
            raise ValueError(f"{method.name} has no equation for algebraic components")
        return _explicit(method, f, t, y, h)
    return _implicit(method, f, jacobian(t, y), t, y, h, newton, m)


def mixed_step(
    pair: Pair,
    f: Rhs,
    jacobian: Rhs,
    t: float,
    y: Floats,
    h: float,
    implicit: Sequence[int],
    part: Sequence[int] | None = None,
    substeps: int = 1,
) -> Floats:
    """One step of mixed mode: states by position; those outside `part` go on linearly during the sub-steps."""
    inside = np.isin(np.arange(len(y)), range(len(y)) if part is None else part)
    is_implicit = np.isin(np.arange(len(y)), implicit)
    start, slope, small = y, f(t, y), h / substeps
    k = np.zeros((pair.n_stages, len(y)))
    k[0] = slope
    for position in range(substeps):
        for i in range(1, pair.n_stages):
            elapsed = h * ((position + pair.implicit.c[i]) / substeps)
            base = y + small * np.where(is_implicit, pair.implicit.a[i, :i] @ k[:i], pair.explicit.a[i, :i] @ k[:i])
            base = np.where(inside, base, start + elapsed * slope)
            point = _solved(f, jacobian, t + elapsed, base, np.where(is_implicit, small * pair.implicit.gamma, 0.0))
            k[i] = f(t + elapsed, point)
        y, k[0] = point, k[-1]
    if pair.order > 1 and not inside.all():
        y = np.where(inside, y, start + h / 2 * (slope + f(t + h, y)))
    return np.asarray(y)


def _solved(f: Rhs, jacobian: Rhs, t: float, base: Floats, weight: Floats) -> Floats:
    """y = base + weight*f(t, y) by Newton's method, to rounding."""
    point = base
    for _ in range(20):
        residual = point - base - weight * f(t, point)
        point = point - np.linalg.solve(np.eye(len(base)) - weight[:, None] * jacobian(t, point), residual)
    return point


def _explicit(m: RungeKutta, f: Rhs, t: float, y: Floats, h: float) -> Floats:
    k = np.zeros((m.n_stages, len(y)))
    for i in range(m.n_stages):
        k[i] = f(t + m.c[i] * h, y + h * (m.a[i, :i] @ k[:i]))
    return np.asarray(y + h * (np.array(m.b) @ k))


def _rosenbrock(
    m: Rosenbrock, f: Rhs, jacobian: Floats, slope: Floats, t: float, y: Floats, h: float, mass: Floats
) -> Floats:
    e = np.diag(mass) / (h * m.gamma) - jacobian
    u = np.zeros((m.n_stages, len(y)))
    for i in range(m.n_stages):
        held = mass * (m.c[i, :i] @ u[:i]) / h
        u[i] = np.linalg.solve(e, f(t + m.alpha[i] * h, y + m.a[i, :i] @ u[:i]) + held + h * m.gammas[i] * slope)
    return np.asarray(y + np.array(m.m) @ u)


def _implicit(
    m: RungeKutta, f: Rhs, jacobian: Floats, t: float, y: Floats, h: float, newton: int, mass: Floats
) -> Floats:
    """Stages by simplified Newton from the state at the beginning of the step.

    An algebraic component of a stage is the solution of its equation, found from that of the stage before; that of the
    last one, which is the end of the step (stiffly accurate methods), is the result.
    """
    w = np.diag(mass) - h * m.gamma * jacobian
    z = np.zeros((m.n_stages, len(y)))
    point = y.copy()
    for i in range(m.n_stages):
        at = t + m.c[i] * h
        base = y + mass * (m.a[i, :i] @ z[:i])
        if m.a[i, i] == 0.0:
            z[i] = h * f(at, base)
            continue
        point = np.where(mass == 0.0, point, y)
        for _ in range(newton):
            point = point + np.linalg.solve(w, h * m.gamma * f(at, point) - mass * (point - base))
        z[i] = (point - base) / m.gamma
    return np.where(mass == 0.0, point, y + np.array(m.b) @ z)
