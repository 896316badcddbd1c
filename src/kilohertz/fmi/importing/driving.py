"""Inputs of an FMU over time: what is set before each step, from the files, arrays and functions that models take.

Code: R815 a formula, which only a compiled model evaluates.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kilohertz.base import Diagnostic, ModelError
from kilohertz.fmi.importing.description import FmuVariable
from kilohertz.ir.step import Kind, Slot, Step, StepVariable
from kilohertz.ir.types import BOOLEAN, INTEGER, REAL
from kilohertz.simulate.inputs import Driving, Points, points_of

_TYPES = {"Real": REAL, "Boolean": BOOLEAN}
_SAME = 1e-10  # seconds: instants closer than this are one


def driven_steps(
    inputs: Driving, variables: Sequence[FmuVariable], instants: Sequence[float], stop: float
) -> list[dict[str, float]]:
    """For each instant the inputs that have another value than before."""
    points = points_of(inputs, _inputs_alone(variables), instants[0], stop, events=True)
    if points.formulas:
        name = next(iter(points.formulas)).name
        raise ModelError(Diagnostic("R815", f"`{name}`: formulas do not drive FMUs; give values over time"))
    out, last = [], dict[str, float]()
    for instant in instants:
        now = dict(zip((v.name for v in points.variables), _values(points, instant), strict=True))
        out.append({name: value for name, value in now.items() if last.get(name) != value})
        last = now
    return out


def _inputs_alone(variables: Sequence[FmuVariable]) -> Step:
    """The inputs as those of a model without equations."""
    step = Step("FMU")
    for i, v in enumerate(variables):
        kind = Kind.INPUT if v.type == "Real" else Kind.INT_INPUT
        step.variables[v.name] = StepVariable(v.name, _TYPES.get(v.type, INTEGER), Slot(kind, i), causality="input")
    return step


def _values(points: Points, instant: float) -> list[float]:
    """On the line between two points, what is no Real on stairs; after a jump what is behind it."""
    last = int(np.searchsorted(points.time, instant + _SAME, side="right")) - 1
    if last < 0:
        return [float(v) for v in points.initial]
    here = points.values[last]
    if last + 1 == len(points.time) or instant <= points.time[last]:
        return [float(v) for v in here]
    part = (instant - points.time[last]) / (points.time[last + 1] - points.time[last])
    pairs = zip(points.variables, here, points.values[last + 1], strict=True)
    return [float(a + part * (b - a)) if v.ty is REAL else float(a) for v, a, b in pairs]
