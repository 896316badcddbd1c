"""What a profile suggests: what costs most, what could be done about it, what that saves at most, and how to try it.

A prediction is an upper bound read off the profile: the share of what would go away.  Where other settings of the step
are all it takes, the driver tries them (`driver/profiling.py`) and says what was measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kilohertz.profiler.cycle_records import Profile
from kilohertz.profiler.views import Row, rows
from kilohertz.solvers import INDEX_1, METHODS, RungeKutta, StepSettings

LEAST = 0.05  # share of a cycle below which nothing is advised
_FEWER = 10  # steps for which a Jacobian may stand


@dataclass(frozen=True, slots=True)
class Advice:
    """One suggestion; `settings` are those that try it, none where the model itself would have to change."""

    text: str
    at_most: float  # share of the mean cycle that it can save
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def options(self) -> str:
        """The settings as a command has them."""
        words = [f"--{n.replace('_', '-')}" + ("" if v is True else f" {v}") for n, v in self.settings.items()]
        return " ".join(words)


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of an advice: the share that it saved, the largest deviation of a state in parts of its range."""

    advice: Advice
    saved: float | None = None
    deviation: float | None = None
    refused: str = ""  # why it could not be tried


def advise(profile: Profile, stepping: StepSettings) -> list[Advice]:
    """Suggestions, the largest possible saving first."""
    found = [*_loops(profile, stepping), *_jacobian(profile, stepping), *_events(profile, stepping)]
    return sorted((a for a in found if a.at_most >= LEAST), key=lambda a: -a.at_most)


def _loops(profile: Profile, stepping: StepSettings) -> list[Advice]:
    loops = [r for r in rows(profile, "loop") if r.numbers.share >= LEAST]
    found = [_broken(r) for r in loops]
    nonlinear = sum(r.numbers.share for r in loops if r.place.loop is not None and r.place.loop.kind == "nonlinear")
    if nonlinear and stepping.solver in INDEX_1 and not (stepping.index1 or stepping.inline):
        found.append(Advice("leave nonlinear loops to the method (index-1 form)", nonlinear, {"index1": True}))
    return found


def _broken(row: Row) -> Advice:
    place, numbers = row.place, row.numbers
    assert place.loop is not None
    each = numbers.iterations / numbers.calls if numbers.calls else 0.0
    names = ", ".join(place.loop.torn[:3]) or ", ".join(place.unknowns[:3])
    where = sorted({line.component for line in place.lines if line.component})[:3]
    near = f" ({', '.join(where)})" if where else ""
    loop = f"break the {place.loop.kind} loop of {place.loop.size} for {names}, {each:.1f} iterations a call"
    return Advice(f"{loop}: a state there{near} makes it explicit; try a variant with --against", numbers.share)


def _share(profile: Profile, *phases: str) -> float:
    return sum(r.numbers.share for r in rows(profile) if r.place.phase in phases)


def _jacobian(profile: Profile, stepping: StepSettings) -> list[Advice]:
    renewed = _share(profile, "jacobian", "directional", "factor")
    found = []
    if stepping.jacobian_every == 1 and renewed:
        fewer = renewed * (1 - 1 / _FEWER)
        found.append(
            Advice(f"renew the Jacobian every {_FEWER} steps; the worst step stays", fewer, {"jacobian_every": _FEWER})
        )
    method = METHODS.get(stepping.solver)
    if isinstance(method, RungeKutta) and method.n_implicit and not (stepping.inline or stepping.index1):
        whole = renewed + _share(profile, "solve")
        found.append(Advice("join the implicit stages with the equations of the model", whole, {"inline": True}))
    return found


def _events(profile: Profile, stepping: StepSettings) -> list[Advice]:
    share = _share(profile, "event", "crossing")
    if stepping.events == "none" or not share:
        return []
    return [Advice("handle events at the end of the step", share, {"events": "none"})]
