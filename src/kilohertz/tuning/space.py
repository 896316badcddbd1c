"""What may be tried: the settings of a step that change what a period costs or how accurate it is, and their values.

Names and ranges are those of `StepSettings`; what stands here is which of the values are worth a trial.  Settings that
the user gave are not varied.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from kilohertz.ir.step import NonlinearLoop, Step
from kilohertz.simulate.trial import EVENTS, INTERNAL_STEPS
from kilohertz.solvers import INDEX_1, SETTINGS, SOLVERS, Pair, Rosenbrock, RungeKutta, StepSettings

# by setting; what a method or a model has no use for is left out (`Space.values`)
TRIED: Mapping[str, tuple[Any, ...]] = {
    "internal_steps": (1, *INTERNAL_STEPS),
    "events": EVENTS,
    "inline": (False, True),
    "index1": (False, True),
    "jacobian_every": (1, 5, 20),
    "jacobian_spread": (False, True),
    "newton": (1, 2, 3),
}
# caps: less work at worst, the same where they are not reached; tried on what is chosen, one after the other
CAPS: Mapping[str, tuple[int, ...]] = {"events_per_step": (1, 2), "loop_newton": (3, 4), "event_cap": (4, 8)}
# What moves a Jacobian does so in time: at steps that are all as short as this (s) it lasts for so many of them.
SHORT, LASTING = 2e-4, 100
_MOST_VARIABLES = 500  # joined stages of larger models, one for each choice of states, take minutes to make


@dataclass(frozen=True, slots=True)
class Space:
    """What is open for a model: steps, and for each method the values of the other settings."""

    asked: StepSettings
    steps: tuple[float, ...]
    has_events: bool
    has_loops: bool  # nonlinear ones
    is_small: bool
    implicit: Mapping[tuple[str, float], tuple[str, ...]]  # of mixed mode, by pair and step: states that are too fast

    @property
    def methods(self) -> tuple[str, ...]:
        """All, or the one that was given; pairs where some states are fast and some are not."""
        if "solver" in self.asked.given and self.asked.solver in SOLVERS:
            return (self.asked.solver,)
        return tuple(n for n, m in SOLVERS.items() if not isinstance(m, Pair) or (self.is_small and self._splits(n)))

    def _splits(self, pair: str) -> bool:
        return any(names for (name, _), names in self.implicit.items() if name == pair)

    def values(self, solver: str) -> dict[str, tuple[Any, ...]]:
        """The values of each setting that this method has a use for, the default first."""
        method = SOLVERS[solver]
        is_dirk = isinstance(method, RungeKutta) and bool(method.n_implicit)
        open_ones = {
            "internal_steps": True,
            "events": self.has_events,
            "inline": is_dirk and self.is_small,
            "index1": self.has_loops and solver in INDEX_1,
            "jacobian_every": isinstance(method, Rosenbrock) or is_dirk,
            "jacobian_spread": not self.is_small and (isinstance(method, Rosenbrock) or is_dirk),
            "newton": is_dirk,
        }
        out = {}
        for name, values in TRIED.items():
            if name in self.asked.given or not open_ones[name]:
                continue
            default = EVENTS[0] if name == "events" else SETTINGS[name].default
            longer = (LASTING,) if name == "jacobian_every" and max(self.steps) <= SHORT else ()
            out[name] = (default, *(v for v in (*values, *longer) if v != default))
        return out

    def candidate(self, solver: str, step: float, **more: Any) -> StepSettings:
        """A point of the space: what was asked for, with this decided."""
        settings = dict(more)
        if isinstance(SOLVERS[solver], Pair) and not self.asked.implicit:
            settings["implicit"] = self.implicit.get((solver, step), ())
        return self.asked.but(solver=solver, step=step, **settings)

    def first(self, solver: str, step: float) -> StepSettings:
        """A method with the defaults of all other settings."""
        return self.candidate(solver, step, **{name: values[0] for name, values in self.values(solver).items()})

    def every(self) -> Iterator[StepSettings]:
        """All points; combinations that no plan can be made of are left out."""
        for step, solver in product(self.steps, self.methods):
            values = self.values(solver)
            for point in product(*values.values()):
                chosen = dict(zip(values, point, strict=True))
                if makes_sense(chosen) and round(step * 1e9) % chosen.get("internal_steps", 1) == 0:
                    yield self.candidate(solver, step, **chosen)


def makes_sense(chosen: Mapping[str, Any]) -> bool:
    """Settings that do not exclude each other; a joined stage has no Jacobian of the states to keep."""
    if chosen.get("inline") and (chosen.get("index1") or chosen.get("jacobian_every", 1) > 1):
        return False
    if chosen.get("jacobian_spread") and chosen.get("jacobian_every", 1) == 1:
        return False
    return not (chosen.get("index1") and chosen.get("newton", 2) < SETTINGS["newton"].default)


def key(settings: StepSettings) -> tuple[Any, ...]:
    """What tells settings from others, in a table."""
    values = (getattr(settings, name) for name in SETTINGS)
    return tuple(tuple(sorted(v.items())) if isinstance(v, Mapping) else v for v in values)


def has_nonlinear_loops(step: Step) -> bool:
    """Whether the index-1 form could leave something to the method."""
    return any(isinstance(b, NonlinearLoop) for b in step.blocks)


def is_small(step: Step) -> bool:
    """Whether stages can be joined in a moment."""
    return len(step.variables) <= _MOST_VARIABLES


def named(settings: StepSettings) -> str:
    """A point in few words: the method and what is not as usual."""
    words = [settings.solver]
    if settings.inline and not isinstance(SOLVERS[settings.solver], Pair):
        words.append("inlined")
    words += ["index-1 form"] if settings.index1 else []
    words += [f"{settings.internal_steps} internal steps"] if settings.internal_steps > 1 else []
    words += [f"events {settings.events}"] if settings.events != SETTINGS["events"].default else []
    spread = ", a few columns in each" * settings.jacobian_spread
    words += [f"Jacobian every {settings.jacobian_every} steps{spread}"] if settings.jacobian_every > 1 else []
    if "newton" in settings.given and settings.newton != SETTINGS["newton"].default:
        words.append(f"{settings.newton} Newton iterations")
    words += [f"{len(settings.implicit)} states implicit"] if settings.implicit else []
    return ", ".join(words)
