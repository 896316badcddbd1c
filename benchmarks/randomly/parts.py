"""What random models are made of: parts with their own text and answers, joined by signals.

A part is a handful of declarations and equations around one kind of structure.  It takes signals of earlier parts as
inputs and gives signals to later ones.  Its answers are texts in Python, evaluated at an instant by `Answers`: never
with code of Kilohertz.  All events are at multiples of 1/16 s; answers are asked for halfway between.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")
GRID = 16  # events in a second
STOP = 1.0


class UnsureError(Exception):
    """The answer jumps here: no value can be asked for."""


@dataclass(slots=True)
class Part:
    """Texts of one part; `defs` are values by name, `checks` the names of results with the value each must have."""

    kind: str
    tag: str
    classes: str = ""
    inside: str = ""
    equations: str = ""
    sections: str = ""
    python: str = ""
    defs: list[tuple[str, str]] = field(default_factory=list)
    checks: list[tuple[str, str]] = field(default_factory=list)
    loose: float = 1.0  # factor on the tolerance

    @property
    def text(self) -> str:
        return "\n".join((self.classes, self.inside, self.equations, self.sections))


@dataclass(slots=True)
class Maker:
    """The random choices of a model, and the signals that are there so far (all between -1 and 1)."""

    r: random.Random
    reals: list[str] = field(default_factory=list)
    integers: list[str] = field(default_factory=list)  # from 0 to 3
    booleans: list[str] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)  # of two Reals, giving a Real between -1 and 1

    def number(self, low: float = -2.0, high: float = 2.0) -> str:
        return repr(round(self.r.uniform(low, high), 3))

    def real(self) -> str:
        return self.r.choice(self.reals)

    def event(self) -> float:
        """An instant at which something may happen."""
        return self.r.randint(1, GRID - 1) / GRID

    def pick(self, *what: T) -> T:
        return self.r.choice(what)

    def chance(self, p: float = 0.5) -> bool:
        return self.r.random() < p


@dataclass(slots=True)
class Model:
    """All parts of a model, in order."""

    seed: str
    parts: list[Part]

    def text(self) -> str:
        def indented(what: str, by: str) -> str:
            return "".join(f"{by}{line}\n" for line in what.splitlines() if line.strip())

        parts = self.parts
        return (
            "package R\n"
            + "".join(indented(p.classes, "  ") for p in parts)
            + "  model M\n"
            + "".join(indented(p.inside, "    ") for p in parts)
            + "  equation\n"
            + "".join(indented(p.equations, "    ") for p in parts)
            + "".join(indented(p.sections, "    ") for p in parts)
            + '  end M;\n  model W "As a component"\n    M m;\n  end W;\n'
            + '  model X "Inherited"\n    extends M;\n  end X;\n'
            + '  model V "One of an array"\n    M m[2];\n  end V;\nend R;\n'
        )

    def without(self, k: int) -> Model:
        """Without one part and all that need it."""
        gone = {self.parts[k].tag}
        left = []
        for i, part in enumerate(self.parts):
            if i == k or any(re.search(rf"\b{g}_", part.text) for g in gone):
                gone.add(part.tag)
            else:
                left.append(part)
        return Model(self.seed, left)


class Answers:
    """Values of a model at any instant."""

    def __init__(self, model: Model) -> None:
        self.space: dict[str, Any] = {**HELPERS, "V": self.at}
        for part in model.parts:
            exec(part.python, self.space)
        self.defs = [(n, compile(c, n, "eval")) for p in model.parts for n, c in p.defs]
        self.kept: dict[float, Lazy] = {}

    def at(self, t: float) -> Lazy:
        if t not in self.kept:
            self.kept[t] = Lazy(self, t)
        return self.kept[t]


class Lazy(dict[str, Any]):
    """Values of one instant, each computed when it is asked for."""

    def __init__(self, answers: Answers, t: float) -> None:
        super().__init__(answers.space, t=t)
        self.answers, self.codes = answers, dict(answers.defs)

    def __missing__(self, name: str) -> Any:
        if name not in self.codes:
            raise KeyError(name)
        self[name] = value = eval(self.codes[name], self)
        return value

    def value(self, code: str) -> Any:
        return eval(code, self)

    def value_with(self, code: str, **more: Any) -> Any:
        inner = Lazy(self.answers, self["t"])
        inner.update(more)
        return eval(code, inner)


MARGIN = 1e-4


def unsure() -> float:
    raise UnsureError


def less(a: float, b: float) -> bool:
    if abs(a - b) < MARGIN and not (isinstance(a, int) and isinstance(b, int)):
        raise UnsureError
    return a < b


def floor(x: float) -> int:
    if abs(x - round(x)) < MARGIN and not isinstance(x, int):
        raise UnsureError
    return math.floor(x)


def sign(x: float) -> float:
    return -1.0 if less(x, 0.0) else 1.0


def div(a: float, b: float) -> float:
    if isinstance(a, int) and isinstance(b, int):
        q = abs(a) // abs(b)
        return q if (a < 0) == (b < 0) else -q
    x = a / b
    return float(floor(x) if x > 0 else -floor(-x))


def rem(a: float, b: float) -> float:
    return a - b * div(a, b)


def mod(a: float, b: float) -> float:
    return a % b if isinstance(a, int) and isinstance(b, int) else a - floor(a / b) * b


def tame(x: float) -> float:
    return float(x / math.sqrt(1 + x * x))


def ticks(t: float, first: float, every: float) -> list[float]:
    """Instants of sample(first, every) up to t."""
    found, k = [], 0
    while first + k * every <= t + 1e-9:
        found.append(first + k * every)
        k += 1
    return found


def folded(t: float, at: list[float], start: Any, turn: Callable[[float, Any], Any]) -> Any:
    """What instants up to t make of a start."""
    value = start
    for instant in at:
        if instant <= t + 1e-9:
            value = turn(instant, value)
    return value


HELPERS: dict[str, Any] = {
    "math": math, "unsure": unsure, "np": np, "less": less, "floor": floor, "sign": sign, "div": div, "rem": rem, "mod": mod,
    "tame": tame, "ticks": ticks, "folded": folded, "sin": math.sin, "cos": math.cos, "exp": math.exp,
    "sqrt": math.sqrt, "atan": math.atan, "tanh": math.tanh, "log": math.log, "A": np.array,
}  # fmt: skip
