"""R754: what an explicit method with this step lets grow, though the model does not.

An explicit method multiplies a mode of eigenvalue l by R(h*l) in each step.  Where that is more than the mode itself
would grow, errors grow from step to step: values run away, or turn about the solution, and every one of them is a
number.  The Jacobian is looked at at a few instants of the run, on copies of the instance; each stands for its share
of the steps.  It costs a fixed-step run off-line a few evaluations, and its bits nothing.
"""

from __future__ import annotations

import math

import numpy as np

from kilohertz.base import Diagnostic, Note, Severity
from kilohertz.ir.step import Kind
from kilohertz.simulate.modes import Point, Watcher, growth
from kilohertz.simulate.program import Instance, Program
from kilohertz.solvers import METHODS, RungeKutta, StepSettings

LOOKS = 12  # at a run, about
_TOLD = math.log(10.0)  # e-foldings over the run from which it is told: errors ten times as large
_UNFELT = 0.01  # e-foldings that nobody minds
_MOST_STATES = 400  # all eigenvalues of more take seconds
_HALVINGS = 20  # of the step, in the search for one that is short enough


def make_runaway(program: Program, stepping: StepSettings) -> Runaway | None:
    """None where errors cannot grow so (implicit methods), or the eigenvalues would take too long."""
    method = METHODS.get(stepping.solver)
    if not isinstance(method, RungeKutta) or not method.is_explicit or stepping.index1:
        return None
    if not program.number.is_double or not 0 < program.code.counts[Kind.STATE] <= _MOST_STATES:
        return None
    return Runaway(program, method, stepping.step / stepping.internal_steps)


class Runaway:
    """Looks at a run with an explicit method."""

    def __init__(self, program: Program, method: RungeKutta, step: float) -> None:
        self._program, self._method, self._step = program, method, step
        self._watcher = Watcher(program, 2 * LOOKS)

    def look(self, instance: Instance) -> None:
        """The run has come to here."""
        self._watcher.look(instance)

    def warnings(self, span: float) -> list[Diagnostic]:
        """One, where errors grew tenfold over the run, which took this time."""
        points = [p for p in self._watcher.points(LOOKS) if self._may_grow(p)]
        if not points:
            return []
        steps = span / self._step / len(self._watcher.points(LOOKS))
        grown = [growth(self._method, p.eigenvalues, self._step, steps) for p in points]
        return [self._told(points[int(np.argmax(grown))], span)] if sum(grown) > _TOLD else []

    def _may_grow(self, point: Point) -> bool:
        """No eigenvalue is above a norm; far inside the unit circle no method of order 3 lets anything grow."""
        largest = float(np.abs(point.jacobian).sum(axis=1).max())
        return largest * self._step > (0.0 if self._method.order < 3 else 0.5)

    def _told(self, point: Point, span: float) -> Diagnostic:
        each = [growth(self._method, np.array([value]), self._step, 1.0) for value in point.eigenvalues]
        worst = int(np.argmax(each))
        value = complex(point.eigenvalues[worst])
        states = self._program.step.of_kind(Kind.STATE)
        state = next(v for v in states if v.slot.index == int(np.argmax(point.participation[:, worst])))
        times = abs(self._method.amplification(value * self._step))
        name, step = self._method.name, self._step
        text = f"the step of {step:g} s is too long for {name}: errors of {state.name} grow {times:.4g} times in each"
        short = self._short_enough(value, span)
        advice = f"{name} takes it with steps up to {short:.2g} s" if short else "another method is needed"
        if value.real < -abs(value.imag):
            advice += "; implicit methods such as ros3prl with any"
        own = math.exp(max(value.real * self._step, -700.0))
        what = f"in the model they become {own:.3g} times as large (mode of {_said(value)} at time = {point.time:g})"
        origin = state.origin
        span_ = origin.spans[0] if origin.spans else None
        return Diagnostic("R754", text, span_, notes=(Note(f"{what}; {advice}"),), severity=Severity.WARNING)

    def _short_enough(self, value: complex, span: float) -> float | None:
        """A step with which the mode does not grow over such a run."""
        one, low, high = np.array([value]), self._step, self._step
        for _ in range(_HALVINGS):
            low /= 2
            if growth(self._method, one, low, span / low) <= _UNFELT:
                break
            high = low
        else:
            return None
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if growth(self._method, one, middle, span / middle) <= _UNFELT else (low, middle)
        return low


def _said(value: complex) -> str:
    if abs(value.imag) > 1e-3 * abs(value.real):
        return f"{abs(value) / (2 * math.pi):.3g} Hz"
    return f"{value.real:.3g} 1/s"
