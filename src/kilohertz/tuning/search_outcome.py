"""What a search found, as plain data, as text, and as a scenario that `khz run` takes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kilohertz.base import percent
from kilohertz.solvers import SETTINGS, StepSettings
from kilohertz.tuning.search import Goal, Point

_SHOWN = 12
_REJECTED = 5


@dataclass(frozen=True, slots=True)
class Tuned:
    """The chosen point, all that were tried and the front among them; `ok` where the goal is met.

    `rejected` were within the goal in a trial and are not over the whole run.
    """

    model: str
    goal: Goal
    chosen: Point
    points: tuple[Point, ...]
    front: tuple[Point, ...]
    rejected: tuple[Point, ...]
    ok: bool
    notes: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def settings(self) -> StepSettings:
        """What was chosen."""
        return self.chosen.settings

    @property
    def keywords(self) -> dict[str, Any]:
        """The same as keywords of `simulate`, `run` and others."""
        return {name: getattr(self.settings, name) for name in SETTINGS if name in self.settings.given}

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "model": self.model,
            "error": self.goal.error,
            "deadline": self.goal.deadline,
            "ok": self.ok,
            "notes": list(self.notes),
            "trials": len(self.points),
            "seconds": self.seconds,
            "chosen": _point(self.chosen),
            "front": [_point(p) for p in self.front],
            "rejected": [_point(p) | {"why": rejection(p)} for p in self.rejected],
        }

    def as_text(self) -> str:
        """The front by price, the choice marked, and what it means."""
        c = self.chosen
        head = "tune takes" if self.ok else "nothing meets the goal; the nearest is"
        lines = [f"{self.model}: {head} {c.title}", *(f"  {note}" for note in self.notes)]
        lines += [f"  rejected: {p.title}, {rejection(p)}" for p in self.rejected[:_REJECTED]]
        if len(self.rejected) > _REJECTED:
            lines.append(f"  and {len(self.rejected) - _REJECTED} more")
        lines.append(f"  off by at most {percent(c.error)} of the range; {_bound(self)}")
        trials = "1 trial" if len(self.points) == 1 else f"{len(self.points)} trials"
        lines.append(f"  {trials} in {self.seconds:.1f} s; the front of price and error:")
        lines.append("       million instructions/s     error  step")
        front = [*self.front[:_SHOWN], *([] if c in self.front[:_SHOWN] else [c])]  # with lower caps: as far, beside it
        lines += [_line(p, p is c) for p in sorted(front, key=lambda p: p.price)]
        if len(self.front) > _SHOWN:
            lines.append(f"       and {len(self.front) - _SHOWN} more")
        return "\n".join(lines)

    def scenario(self, model: str, libraries: tuple[str, ...] = (), settings: Mapping[str, Any] | None = None) -> str:
        """A scenario.toml with the chosen settings."""
        lines = [f"# off by at most {percent(self.chosen.error)} of the range, {_bound(self)}", f'model = "{model}"']
        if libraries:
            lines.append(f"library = [{', '.join(_quoted(p) for p in libraries)}]")
        for name, value in self.keywords.items():
            lines.append(f"{name} = {_toml(name, value)}")
        if settings:
            lines += ["", "[set]", *(f"{_quoted(n)} = {v}" for n, v in settings.items())]
        return "\n".join(lines) + "\n"


def rejection(p: Point) -> str:
    """Why a point that was good enough in its trial is not taken."""
    if math.isinf(p.error):
        return f"which fails over the whole run: {p.why}"
    return f"which is off by {percent(p.error)} in `{p.why}` over the whole run"


def _bound(t: Tuned) -> str:
    c = t.chosen
    return f"a regular period takes at most {c.period:.3g} instructions, the worst one {c.worst:.3g}"


def _line(p: Point, is_chosen: bool) -> str:
    mark = "->" if is_chosen else "  "
    return f"    {mark} {p.price / 1e6:21.3f}  {percent(p.error):>9}  {1e3 * p.settings.step:g} ms  {p.title}"


def _point(p: Point) -> dict[str, Any]:
    values = {n: getattr(p.settings, n) for n in sorted(p.settings.given)}
    return {
        "title": p.title,
        "settings": {n: list(v) if isinstance(v, tuple) else v for n, v in values.items()},
        "instructions_per_second": p.price,
        "instructions_of_a_period": p.period,
        "worst_period": p.worst,
        "error": p.error,
        "step_us": 1e6 * p.seconds,
    }


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _toml(name: str, value: Any) -> str:
    match SETTINGS[name].kind:
        case "flag":
            return "true" if value else "false"
        case "patterns":
            return f"[{', '.join(_quoted(v) for v in value)}]"
        case "counts":
            return "{ " + ", ".join(f"{_quoted(k)} = {n}" for k, n in value.items()) + " }"
        case "choice" | "solver":
            return _quoted(value)
        case _:
            return f"{value!r}"
