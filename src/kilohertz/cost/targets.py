"""Prices by target: how much dearer or cheaper each group of instructions is than with gcc for x86-64.

`targets.toml` has one table for each compiler and architecture that was measured; `benchmarks/step_prices.py` fits and
writes it.  A target that was not measured gets the dearest of all that were, and the bound says so.  A step that is
made for its method (building/made_step.py) has factors of its own in regular periods, where it was measured; periods
with events keep those of the stepper as it is, from which they differ least.
"""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

from kilohertz.cost.prices import Cost

REFERENCE = ("gcc", "x86_64")  # what the prices of `prices.py` are for
GROUPS = ("expressions", "functions", "kernels", "moves", "vectors", "few", "calls")  # fields of `Cost`


@dataclass(frozen=True, slots=True)
class Fit:
    """How the bounds of regular steps compare with measured instructions."""

    measured: int  # pairs of a model and a method
    least: float  # bound over measured: the smallest and the largest
    most: float
    measured_with: str  # version of the compiler, the C library, and what counted


@dataclass(frozen=True, slots=True)
class Target:
    """A compiler on an architecture, with a factor for each group."""

    compiler: str
    architecture: str
    factors: tuple[float, ...]
    fit: Fit | None = None  # None: not measured, factors on the safe side
    regular: tuple[float, ...] = ()  # those of periods without an event, where they are others
    made: Target | None = None  # the same for steps that are made for their method; None: not measured

    def instructions(self, cost: Cost, *, is_regular: bool = False) -> int:
        """Of a cost, rounded up."""
        factors = self.regular if is_regular and self.regular else self.factors
        parts = (f * float(getattr(cost, group)) for group, f in zip(GROUPS, factors, strict=True))
        return math.ceil(sum(parts) - 1e-6)

    def to_dict(self) -> dict[str, Any]:
        """As plain data, for the bound."""
        fit, head = self.fit, {"compiler": self.compiler, "architecture": self.architecture}
        if fit is None:
            return {**head, "fit": None}
        numbers = {"measured": fit.measured, "least": fit.least, "most": fit.most}
        return {**head, "fit": {**numbers, "measured_with": fit.measured_with}}


@cache
def targets() -> dict[tuple[str, str], Target]:
    """Every target that was measured."""
    text = files("kilohertz.cost").joinpath("targets.toml").read_text(encoding="utf-8")
    rows = []
    for t in tomllib.loads(text)["target"]:
        plain = Target(t["compiler"], t["architecture"], _factors(t), _fit(t))
        made = t.get("made")
        its = replace(plain, fit=_fit(made), regular=_factors(made)) if made is not None else None
        rows.append(replace(plain, made=its))
    return {(t.compiler, t.architecture): t for t in rows}


def _factors(table: dict[str, Any]) -> tuple[float, ...]:
    return tuple(table[group] for group in GROUPS)


def _fit(table: dict[str, Any]) -> Fit:
    return Fit(table["measured"], table["least"], table["most"], table["measured_with"])


def target_for(compiler: str, architecture: str) -> Target:
    """The prices of a target; where it was not measured the dearest of all that were."""
    known = targets()
    if (compiler, architecture) in known:
        return known[compiler, architecture]
    dearest = (max(factors) for factors in zip(*(t.factors for t in known.values()), strict=True))
    return Target(compiler, architecture, tuple(dearest))


def reference() -> Target:
    """The target whose prices choices are made with: the same model gets the same answer everywhere."""
    return target_for(*REFERENCE)
