"""What a profile suggests: what costs most, what could be done about it, what that saves at most, and how to try it.

A prediction is an upper bound read off the profile: the share of what would go away.  Where other settings of the step
are all it takes, or another unknown to iterate on, the driver tries them (`driver/profiling.py`) and says what was
measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from shlex import quote
from typing import Any

import numpy as np

from kilohertz.profiler.causes import EVENT
from kilohertz.profiler.cycle_records import Profile
from kilohertz.profiler.views import Row, rows
from kilohertz.solvers import INDEX_1, METHODS, RungeKutta, StepSettings

AGAINST = "--against VARIANT"  # tries a change of the model
LEAST = 0.05  # share of a cycle below which nothing is advised
_FEWER = 10  # steps for which a Jacobian may stand
_ITERATIONS = 2  # that a loop may do with, where it starts from the solution before
_OTHERS = 3  # unknowns that a loop could be iterated on instead
_NAMED = 4  # relations that an advice names
_COARSER = {"exact": "catch-up", "hermite": "catch-up", "catch-up": "linear", "mid": "none", "linear": "none"}
_COARSER |= {"predict": "none", "predict-quadratic": "predict"}


@dataclass(frozen=True, slots=True)
class Advice:
    """One suggestion; `settings` and `tear_on` try it, none where the model itself would have to change."""

    text: str
    at_most: float  # share of the mean cycle that it can save
    settings: Mapping[str, Any] = field(default_factory=dict)
    places: tuple[int, ...] = ()  # that it is about, costliest first
    tear_on: str = ""  # an unknown that a loop is to be iterated on

    @property
    def options(self) -> str:
        """What tries it, as a command has it."""
        words = [f"--{n.replace('_', '-')}" + ("" if v is True else f" {v}") for n, v in self.settings.items()]
        return " ".join([*words, f"--tear-on {quote(self.tear_on)}"] if self.tear_on else words)

    def command(self, model: str) -> str:
        """What tries it."""
        return f"khz profile {model} {self.options or AGAINST}"


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of an advice: the share that it saved, the largest deviation of a state in parts of its range."""

    advice: Advice
    saved: float | None = None
    deviation: float | None = None
    refused: str = ""  # why it could not be tried

    def as_data(self) -> dict[str, Any]:
        """For JSON."""
        a = self.advice
        what = {"text": a.text, "at_most": a.at_most, "settings": dict(a.settings), "places": list(a.places)}
        what |= {"tear_on": a.tear_on} if a.tear_on else {}
        return {**what, "saved": self.saved, "deviation": self.deviation, "refused": self.refused}


def advise(profile: Profile, stepping: StepSettings) -> list[Advice]:
    """Suggestions, the largest possible saving first."""
    advice = [
        *_loops(profile, stepping),
        *_functions(profile),
        *_jacobian(profile, stepping),
        *_method(profile, stepping),
        *_events(profile, stepping),
    ]
    return sorted((a for a in advice if a.at_most >= LEAST), key=lambda a: -a.at_most)


def _loops(profile: Profile, stepping: StepSettings) -> list[Advice]:
    loops = [r for r in rows(profile, "loop") if r.numbers.share >= LEAST]
    advice = [_broken(r) for r in loops]
    nonlinear = [r for r in loops if r.place.loop is not None and r.place.loop.kind == "nonlinear"]
    numbers = tuple(r.number for r in nonlinear)
    share = sum(r.numbers.share for r in nonlinear)
    if nonlinear and stepping.solver in INDEX_1 and not (stepping.index1 or stepping.inline):
        text = "leave nonlinear loops to the method (index-1 form)"
        advice.append(Advice(text, share, {"index1": True}, numbers))
    advice += [a for r in nonlinear for a in _torn_otherwise(r)]
    saved = sum(r.numbers.share * max(0.0, 1.0 - _ITERATIONS / _each(r)) for r in nonlinear if _each(r) > 0)
    if saved and stepping.loop_newton > _ITERATIONS:
        most = max(_each(r) for r in nonlinear)
        text = f"end loops after {_ITERATIONS} iterations (now up to {most:.1f} a call on average)"
        advice.append(Advice(text, saved, {"loop_newton": _ITERATIONS}, numbers))
    return advice


def _torn_otherwise(row: Row) -> list[Advice]:
    """Other unknowns of a loop to iterate on, those first that stand in what makes it nonlinear.  At best one iteration
    is left."""
    loop, each = row.place.loop, _each(row)
    if loop is None or each <= 1.0 or row.place.phase == "inlined":  # a stage chooses its own
        return []
    others = sorted(loop.others, key=lambda u: not any(u in text for text in loop.why))
    now = ", ".join(loop.torn[:3])
    return [
        Advice(
            f"iterate the loop of {loop.size} on {u} instead of {now} ({each:.1f} iterations a call)",
            row.numbers.share * (1.0 - 1.0 / each),
            places=(row.number,),
            tear_on=u,
        )
        for u in others[:_OTHERS]
    ]


def _each(row: Row) -> float:
    return row.numbers.iterations / row.numbers.calls if row.numbers.calls else 0.0


def _broken(row: Row) -> Advice:
    place, numbers = row.place, row.numbers
    assert place.loop is not None
    names = ", ".join(place.loop.torn[:3]) or ", ".join(place.unknowns[:3])
    where = sorted({line.component for line in place.lines if line.component})[:3]
    near = f" ({', '.join(where)})" if where else ""
    why = f" because of {', '.join(place.loop.why[:2])}" if place.loop.why and place.loop.kind == "nonlinear" else ""
    loop = f"break the {place.loop.kind} loop of {place.loop.size} for {names}"
    if place.loop.kind == "mixed":
        discrete = ", ".join(place.loop.why[:3])
        text = f"{loop}: {discrete} hang on its solution; noEvent or smooth around them, or a state there{near}"
    elif place.loop.kind == "linear":
        text = f"{loop}: a state there{near} makes it explicit"
    else:
        text = f"{loop}, {_each(row):.1f} iterations a call{why}: a state there{near} makes it explicit"
    return Advice(f"{text}; try a variant with --against", numbers.share, places=(row.number,))


def _functions(profile: Profile) -> list[Advice]:
    advice = []
    for r in rows(profile, "function"):
        s, what = r.numbers, "external function" if r.place.is_external else "function"
        if s.share < LEAST:
            continue
        inside = f", {s.looped:.3g} of them inside loops" if s.looped else ""
        text = f"the {what} {r.place.name} is called {s.calls:.3g} times a cycle{inside}"
        more = "call it outside the loop, or make it cheaper" if s.looped else "call it less often, or make it cheaper"
        more += ", or have it inlined (annotation(Inline = true))" if r.place.is_open else ""
        advice.append(Advice(f"{text}: {more}; try a variant with --against", s.share, places=(r.number,)))
    return advice


def _share(profile: Profile, *phases: str) -> float:
    return sum(r.numbers.share for r in rows(profile) if r.place.phase in phases)


def _jacobian(profile: Profile, stepping: StepSettings) -> list[Advice]:
    renewed = _share(profile, "jacobian", "directional", "time_slope", "factor")
    advice = []
    if stepping.jacobian_every == 1 and renewed:
        fewer = renewed * (1 - 1 / _FEWER)
        text = f"renew the Jacobian every {_FEWER} steps, a few columns in each; after events all at once"
        advice.append(Advice(text, fewer, {"jacobian_every": _FEWER, "jacobian_spread": True}))
    method = METHODS.get(stepping.solver)
    if isinstance(method, RungeKutta) and method.n_implicit and not (stepping.inline or stepping.index1):
        whole = renewed + _share(profile, "solve")
        advice.append(Advice("join the implicit stages with the equations of the model", whole, {"inline": True}))
    return advice


def _method(profile: Profile, stepping: StepSettings) -> list[Advice]:
    """The next cheaper method of the same family, and half as many internal steps."""
    advice, now = [], METHODS.get(stepping.solver)
    stages = _share(profile, "block", "inlined", "stage", "solve") + sum(
        r.numbers.share for r in rows(profile, "function")
    )
    if now is not None and stages:
        explicit = getattr(now, "is_explicit", False)
        same = [m for m in METHODS.values() if type(m) is type(now) and getattr(m, "is_explicit", False) == explicit]
        fewer = [m for m in same if m.n_stages < now.n_stages]
        if fewer:
            other = max(fewer, key=lambda m: (m.n_stages, m.order))
            sizes = f"{other.n_stages} stages, order {other.order}; now {now.n_stages} and {now.order}"
            text = f"the method {other.name}: {sizes}"
            advice.append(Advice(text, stages * (1 - other.n_stages / now.n_stages), {"solver": other.name}))
    if stepping.internal_steps > 1:
        half = stepping.internal_steps // 2
        whole = _share(profile, "step", "crossing", "jacobian", "directional", "time_slope", "factor")
        saved = (1 - half / stepping.internal_steps) * (stages + whole)
        advice.append(
            Advice(f"internal steps: {half} instead of {stepping.internal_steps}", saved, {"internal_steps": half})
        )
    return advice


def _events(profile: Profile, stepping: StepSettings) -> list[Advice]:
    """A coarser mode.  What an event computes again is in the blocks: cycles with events are held against others."""
    if stepping.events == "none":
        return []
    share = max(_share(profile, "event", "crossing"), _in_event_cycles(profile))
    other = _COARSER[stepping.events]
    words = "at the end of the step" if other == "none" else f"by {other}"
    relations = profile.about.get("relations", ())
    some = ", ".join(f"`{r}`" for r in relations[:_NAMED])
    more = f", {len(relations) - _NAMED} more" if len(relations) > _NAMED else ""
    without = f"; noEvent around a relation that needs no event: {some}{more}" if some else ""
    return [Advice(f"handle events {words} instead of by {stepping.events}{without}", share, {"events": other})]


def _in_event_cycles(profile: Profile) -> float:
    """What cycles with events took beyond the others, as a share of all."""
    head, ns = profile.records["head"], profile.cycle_ns
    is_event = ((head["flags"] & EVENT) != 0) & profile.counted
    others = profile.counted & ~is_event
    if not is_event.any() or not others.any():
        return 0.0
    beyond = ns[is_event] - float(np.median(ns[others]))
    return float(beyond.clip(0.0).sum() / ns[profile.counted].sum())
