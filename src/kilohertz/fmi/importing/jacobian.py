"""The Jacobian of an FMU in Model Exchange: which columns go together, and how the FMU is asked for them.

Two states that no derivative depends on both of share a colour: one call gives both columns.  Where the FMU offers
directional derivatives they are asked for; else derivatives are differenced along each colour.  An FMU whose
structure says nothing depends on everything: then there are as many colours as states, and differences are left to
the solver.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from kilohertz.fmi.importing.description import Description, FmuVariable
from kilohertz.fmi.importing.instance import Instance
from kilohertz.graphs.colouring import colour_columns, groups_of

_OFFERED = ("providesDirectionalDerivative", "providesDirectionalDerivatives")  # FMI 2, FMI 3
_WARNING = 1
_STEP = math.sqrt(np.finfo(float).eps)  # of a difference, as a part of a state or of its nominal value


def jacobian_plan(d: Description) -> dict[str, Any] | None:
    """States, derivatives, colours and rows by column; None where the structure does not say what belongs together."""
    numbered = _numbered(d)
    rates = [numbered[number] for number in d.derivatives]
    if not rates or any(v.derivative not in numbered for v in rates):
        return None
    states = [numbered[v.derivative] for v in rates if v.derivative is not None]
    if any(a.size != b.size for a, b in zip(states, rates, strict=True)):
        return None
    places, n = _places(states)
    column = {v.reference: places[i] for i, v in enumerate(states)}
    rows: list[list[int]] = []
    for v, said in zip(rates, d.incidence, strict=True):
        known = None if said is None else [numbered[k].reference for k in said if k in numbered]
        row = range(n) if known is None else sorted({c for r in known for c in column.get(r, ())})
        rows += [list(row)] * v.size
    flags = d.flags.get("me", {})
    return {
        "states": [v.reference for v in states],
        "rates": [v.reference for v in rates],
        "rows": rows,
        "groups": groups_of(colour_columns(rows, n)),
        "directional": any(flags.get(key, "").strip() in ("true", "1") for key in _OFFERED),
    }


def _numbered(d: Description) -> dict[int, FmuVariable]:
    """Variables by what the structure calls them: index in FMI 2, reference in FMI 3."""
    out: dict[int, FmuVariable] = {}
    for i, v in enumerate(d.variables, 1):
        out.setdefault(i if d.version == 2 else v.reference, v)  # aliases come behind their variable
    return out


def _places(states: list[FmuVariable]) -> tuple[list[range], int]:
    places, n = [], 0
    for v in states:
        places.append(range(n, n + v.size))
        n += v.size
    return places, n


class Jacobian:
    """d derivatives / d states at the point where the instance is."""

    def __init__(self, instance: Instance, plan: dict[str, Any], nominals: Any) -> None:
        self.instance, self.nominals = instance, nominals
        self.n = len(plan["rows"])
        self.groups: list[list[int]] = plan["groups"]
        by_column: list[list[int]] = [[] for _ in range(self.n)]
        for row, columns in enumerate(plan["rows"]):
            for c in columns:
                by_column[c].append(row)
        self.rows = by_column
        self.states, self.rates = plan["states"], plan["rates"]
        self.is_offered = bool(plan["directional"]) and instance.call.has("GetDirectionalDerivative")
        self._known = (ctypes.c_uint32 * len(self.states))(*self.states)
        self._unknown = (ctypes.c_uint32 * len(self.rates))(*self.rates)

    @property
    def pays(self) -> bool:
        """Whether it is better, or cheaper, than the differences that the solver makes itself."""
        return self.is_offered or len(self.groups) < self.n

    def fill(self, x: Any, xd: Any, jacobian: Any, rates: Callable[[Any], Any]) -> None:
        """All columns; `rates` gives the derivatives at other states, `xd` are those here."""
        jacobian[:, :] = 0.0
        for group in self.groups:
            along = self._offered(group) if self.is_offered else None
            for c, values in along.items() if along is not None else self._differences(group, x, xd, rates):
                jacobian[self.rows[c], c] = values[self.rows[c]]

    def _offered(self, group: list[int]) -> dict[int, Any] | None:
        """What the FMU says; None, and never asked again, where it offers what it does not have."""
        seed, given = (ctypes.c_double * self.n)(), (ctypes.c_double * self.n)()
        for c in group:
            seed[c] = 1.0
        size, references = ctypes.c_size_t, (len(self._unknown), len(self._known))
        call = self.instance.call
        if self.instance.version == 2:
            values: tuple[Any, ...] = (seed, given)
        else:
            values = (seed, size(self.n), given, size(self.n))
        status = call(
            "GetDirectionalDerivative",
            self.instance.me,
            self._unknown,
            size(references[0]),
            self._known,
            size(references[1]),
            *values,
        )
        if status > _WARNING:
            self.is_offered = False
            call.messages.append(f"{call.prefix}GetDirectionalDerivative failed: derivatives are differenced")
            return None
        along = np.array(given[:])
        return dict.fromkeys(group, along)

    def _differences(self, group: list[int], x: Any, xd: Any, rates: Callable[[Any], Any]) -> list[tuple[int, Any]]:
        moved = np.array(x, dtype=float)
        steps = {c: _STEP * max(abs(moved[c]), self.nominals[c]) for c in group}
        for c, h in steps.items():
            moved[c] += h
            steps[c] = moved[c] - x[c]
        change = rates(moved) - xd
        return [(c, change / h) for c, h in steps.items()]
