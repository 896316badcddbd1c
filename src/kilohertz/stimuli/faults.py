"""Faults that can be planted on a signal: kinds and keys, the same in a scenario, on the command line and in Python.

What each kind does with a value is `runtime/inputs/khz_injection.c`; its enumeration has the kinds in the order of
KINDS.  A new kind is a record here, an enumerator and a case there; the reference table is written from here
(`tests/stimuli/test_faults.py`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from kilohertz.base import EXAMPLES, seconds


@dataclass(frozen=True, slots=True)
class FaultKind:
    """A kind of fault: the key of its number with what it may be, and its words.

    `default` NaN: nothing; None: it must be given.
    """

    name: str
    key: str
    words: str
    default: float | None = None
    low: float = -math.inf
    high: float = math.inf
    is_time: bool = False
    is_random: bool = False
    is_arithmetic: bool = False  # not for a Boolean

    @property
    def range(self) -> str:
        """What its number may be, in words."""
        if self.is_time:
            return f"a time such as {EXAMPLES}"
        if math.isinf(self.low) and math.isinf(self.high):
            return "a number"
        return f"a number from {self.low:g}" + ("" if math.isinf(self.high) else f" to {self.high:g}")

    def number(self, value: Any) -> float | None:
        """The number that was given; None where it is not one that will do."""
        try:
            number = seconds(value) if self.is_time else float(value)
        except (TypeError, ValueError):
            return None
        fits = math.isfinite(number) and self.low <= number <= self.high
        return number if fits and not isinstance(value, bool) and not (self.is_time and number <= 0) else None


KeyKind: TypeAlias = Literal["time", "seed", "condition", "text"]


@dataclass(frozen=True, slots=True)
class FaultKey:
    """A key of every fault; `live`: also of one that a running rig is given."""

    name: str
    kind: KeyKind
    default: str
    words: str
    live: bool = True


KINDS: Mapping[str, FaultKind] = {
    k.name: k
    for k in (
        FaultKind("stuck", "value", "this value; without one, the value that it had when the fault began", math.nan),
        FaultKind("offset", "offset", "so much more", is_arithmetic=True),
        FaultKind("gain", "gain", "so many times as much", is_arithmetic=True),
        FaultKind(
            "noise",
            "deviation",
            "normally distributed around it with this deviation, anew in each period",
            low=0.0,
            is_random=True,
            is_arithmetic=True,
        ),
        FaultKind(
            "dropout",
            "share",
            "this share of the values does not come: the last one that came stands",
            1.0,
            0.0,
            1.0,
            is_random=True,
        ),
        FaultKind("delay", "delay", "what it was so long before, in whole periods", is_time=True),
    )
}
KEYS: Mapping[str, FaultKey] = {
    k.name: k
    for k in (
        FaultKey("from", "time", "the start", "model time from which on it may begin"),
        FaultKey("until", "time", "the end", "model time at which it ends"),
        FaultKey("lasts", "time", "to the end", "how long it lasts once it has begun"),
        FaultKey("when", "condition", "at once", 'it begins when this holds first, such as `"capacitor.v > 0.5"`'),
        FaultKey("seed", "seed", "1", "of noise and dropout: the same numbers for the same seed"),
        FaultKey("device", "text", "all", "of a signal that is sent: only what this device gets", live=False),
    )
}


@dataclass(frozen=True, slots=True)
class Trigger:
    """`signal > value` or `signal < value`; for the recorder `time` is a signal too."""

    signal: str
    operator: str
    value: float

    @staticmethod
    def read(text: str) -> Trigger | None:
        """None where it is no such condition."""
        for operator in (">", "<"):
            signal, separator, value = text.partition(operator)
            if not separator:
                continue
            try:
                return Trigger(signal.strip(), operator, float(value))
            except ValueError:
                return None
        return None


@dataclass(frozen=True, slots=True)
class SignalFault:
    """A fault on an input, or on what others get of a signal (`[[fault]]`, `khz fault`)."""

    signal: str
    kind: str
    value: float = math.nan
    name: str = ""
    begin: float | None = None  # model time; None: the start
    until: float = math.inf
    lasts: float = math.inf
    when: Trigger | None = None
    seed: int = 1
    device: str = ""
    path: tuple[str | int, ...] = ()


def reference_table() -> str:
    """The tables of docs/reference/scenario.md."""
    lines = ["| `kind` | its number | instead of the value |", "|---|---|---|"]
    for k in KINDS.values():
        default = "" if k.default is None else ", or none" if math.isnan(k.default) else f", default {k.default:g}"
        lines.append(f"| `{k.name}` | `{k.key}`: {k.range}{default} | {k.words} |")
    lines += ["", "| key | default | meaning |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| `{k.name}` | {k.default} | {k.words} |" for k in KEYS.values())])
