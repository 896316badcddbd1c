"""`--solver auto` and the split of mixed mode: from the eigenvalues along a reference run to a method, with the reason.

A method is stable where no mode grows by more than `GROWTH` over the whole run beyond what the mode does itself, and
accurate where the modes it can follow (|h*lambda| < 1) are off by less than `ACCURACY` when they have died away or the
run is over.  Of the explicit methods that are both, the cheapest is taken, or the best one where none is accurate
though some are stable; where none is stable the model is stiff for this step, and the cheapest accurate L-stable
method is taken: modes that are too fast for the step are damped away, not kept ringing as an A-stable method would.
The bar is far below the error one would accept, since inputs that change with time add errors the eigenvalues know
nothing of.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from kilohertz.simulate.modes import Complexes, distinct, growth
from kilohertz.simulate.stiffness import Reference
from kilohertz.solvers import METHODS, Method, RungeKutta

GROWTH = 0.01
ACCURACY = 1e-5
# from order 3 on: eigenvalues say nothing of how fast the model is driven from outside
EXPLICIT = ("rk3", "rk4")
IMPLICIT = ("ros3prl", "rodas4")  # L-stable and stiffly accurate (strongly nonlinear models need both), by cost
SHARE = 0.1  # of a state in a fast mode, from which it is fast itself
FAST = 0.3  # |h*lambda|^order from which a mode is too fast for an explicit method to be accurate


@dataclass(frozen=True, slots=True)
class Choice:
    """A method, what to do at state events, and why."""

    solver: str
    events: str
    reason: str


@dataclass(frozen=True, slots=True)
class Split:
    """The states that are integrated implicitly, and why these."""

    implicit: frozenset[str]
    reason: str


def choose_solver(reference: Reference, step: float) -> Choice:
    """The cheapest method that is stable and accurate for what was seen along the run."""
    happened = _events(reference)
    if not reference.states:
        return Choice("euler", "none", f"the model has no states, so any method does; {happened}")
    values = reference.eigenvalues
    if not len(values):
        reason = "nothing is known of the eigenvalues (the run gave no Jacobian), so an L-stable method is safe"
        return Choice("ros3prl", _event_mode(reference), f"{reason}; {happened}")
    fastest = values[int(np.argmax(np.abs(values)))]
    steps = max(1.0, reference.span / step)
    head = f"the fastest mode, {_mode(fastest)}, times the step is {abs(fastest) * step:.3g}"
    stable = [n for n in EXPLICIT if growth(METHODS[n], values, step, steps) <= GROWTH]
    if stable:
        accurate = [n for n in stable if inaccuracy(METHODS[n], values, step, steps) <= ACCURACY]
        name = (accurate or stable[-1:])[0]
        fit = "stable and accurate" if accurate else "stable, and the most accurate that is explicit"
        return Choice(name, _event_mode(reference), f"{head}, where {name} is {fit}; {happened}")
    name = next((n for n in IMPLICIT if inaccuracy(METHODS[n], values, step, steps) <= ACCURACY), IMPLICIT[-1])
    limit = f"beyond the stability limit of {EXPLICIT[-1]}"
    text = f"{head}, {limit}; {name} is L-stable{_unresolved(values, step)}; {happened}"
    return Choice(name, _event_mode(reference), text)


def inaccuracy(method: Method, values: Complexes, step: float, steps: float) -> float:
    """The largest relative error of a mode the step can follow, collected until the mode has died away."""
    worst = 0.0
    for value in distinct(values):
        z = complex(value) * step
        if abs(z) >= 1.0:
            continue
        remembered = min(steps, 3.0 / max(-z.real, 1e-300)) if z.real < 0.0 else steps
        worst = max(worst, remembered * abs(method.amplification(z) - np.exp(z)))
    return worst


def split_states(reference: Reference, step: float, explicit: RungeKutta) -> Split:
    """Implicit: the states with a share in a mode that the explicit method cannot follow with this step.

    And those that would be too fast alone, with all others at rest: a large volume behind a stiff line has little share
    in the fast mode, but its derivative is a difference of large flows, and an explicit step of it costs an order.
    """
    steps = max(1.0, reference.span / step)
    fast = FAST ** (1 / explicit.order)
    shares = np.zeros(len(reference.states))
    slowest_fast = math.inf
    for point in reference.points:
        for k, value in enumerate(point.eigenvalues):
            one = np.array([value])
            if abs(value) * step > fast or growth(explicit, one, step, steps) > GROWTH:
                shares = np.maximum(shares, point.participation[:, k])
                slowest_fast = min(slowest_fast, abs(value))
        alone = np.abs(np.diag(point.jacobian)) * step > fast
        shares = np.where(alone & np.isfinite(slowest_fast), 1.0, shares)
    names = frozenset(n for n, share in zip(reference.states, shares, strict=True) if share > SHARE)
    if not names:
        return Split(names, f"no mode is too fast for {explicit.title} with a step of {step:g} s: all states explicit")
    text = (
        f"{len(names)} of {len(reference.states)} states have a share above {SHARE:g} in modes from {slowest_fast:.3g} "
        f"1/s on or are as fast alone, too fast for {explicit.title} with a step of {step:g} s: these are implicit"
    )
    return Split(names, text)


def states_like(states: Iterable[str], patterns: Iterable[str]) -> frozenset[str]:
    """The states that one of the patterns names: a name, a component (`motor`), or with `*` and `?` (`motor.*`)."""
    wanted = list(patterns)
    return frozenset(s for s in states if any(_is_like(s, p) for p in wanted))


def _is_like(state: str, pattern: str) -> bool:
    # a bracket is a subscript here, not a set of characters
    return state.startswith((f"{pattern}.", f"{pattern}[")) or fnmatchcase(state, pattern.replace("[", "[[]"))


def _mode(value: complex) -> str:
    if abs(value.imag) > 1e-3 * abs(value.real):
        damping = -value.real / abs(value)
        return f"{abs(value) / (2 * math.pi):.3g} Hz with damping {damping:.2g}"
    return f"{value.real:.3g} 1/s"


def _unresolved(values: Complexes, step: float) -> str:
    ringing = [complex(v) for v in values if abs(v) * step > 1.5 and abs(v.imag) > 3 * abs(v.real)]
    if not ringing:
        return ""
    slow = min(ringing, key=abs)
    return f" and damps oscillations from {abs(slow) / (2 * math.pi):.3g} Hz on, which this step cannot follow"


def _events(reference: Reference) -> str:
    s = reference.statistics
    if not reference.n_events:
        return "no events in the reference run"
    return f"{s.state_events} state and {s.time_events} time events in the reference run"


def _event_mode(reference: Reference) -> str:
    """Catching up needs the least of the states: a cubic through stiff ones overshoots, and no step is stretched."""
    return "catch-up" if reference.n_events else "none"
