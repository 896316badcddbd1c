"""Faults of a running rig, as its shared memory has them."""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass
from typing import Any

from kilohertz.runtime import fields, words
from kilohertz.stimuli import FAULTS

FAULT_STATES = words("KHZ_INJECTED_")


class FaultEntry(ctypes.Structure):
    """`khz_fault` of runtime/inputs/khz_injection.h."""

    _fields_ = fields("khz_fault")


@dataclass(frozen=True, slots=True)
class LiveFault:
    """A fault of a running rig: what it is on, and since when it is active, has been, or that it waits."""

    name: str
    signal: str
    kind: str
    value: float  # NaN: none was given
    state: str  # waiting, active, over
    since: float  # model time; NaN: it has not begun
    ended: float  # NaN: it has not ended
    passed: int  # values while it was active
    is_live: bool  # given to the running rig, not by its scenario
    number: int  # its place in the rig

    def as_text(self) -> str:
        """`live1: stuck 3 on plant.u, active since 1.2 s`."""
        number = "" if math.isnan(self.value) else f" {self.value:g}"
        begun = {"waiting": "", "active": f" since {self.since:g} s"}.get(
            self.state, " before it began" if math.isnan(self.since) else f": {self.since:g} s to {self.ended:g} s"
        )
        return f"{self.name}: {self.kind}{number} on {self.signal}, {self.state}{begun}"


def live_fault(f: Any, signal: str, number: int) -> LiveFault:
    """What an entry says; `number`: its place."""
    state = FAULT_STATES[f.state]
    return LiveFault(
        name=bytes(f.name).decode(),
        signal=signal,
        kind=list(FAULTS)[f.settings.kind],
        value=float(f.settings.value),
        state=state,
        since=float(f.since) if f.n_values else math.nan,
        ended=float(f.ended) if f.n_values and state == "over" else math.nan,
        passed=int(f.n_values),
        is_live=bool(f.is_live),
        number=number,
    )
