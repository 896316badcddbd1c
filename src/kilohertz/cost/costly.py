"""Costly functions that stand in variables: `c = cos(phi)`, and where a later block of a step has cos(phi) it is c."""

from __future__ import annotations

from collections.abc import Mapping

from kilohertz.ir import step as s
from kilohertz.ir.builtins import BUILTINS
from kilohertz.ir.expr import Builtin, Ref
from kilohertz.ir.traverse import refs

_COSTLY = frozenset(f.name for f in BUILTINS.values() if f.is_elementary)
_STEADY = frozenset({s.Kind.STATE, s.Kind.PARAMETER, s.Kind.ALGEBRAIC})  # in a step written once, before it is read


def costly(block: s.Block, variables: Mapping[str, s.StepVariable]) -> list[tuple[Builtin, Ref]]:
    """Those of an assignment, or of those inside a loop, with their variables; what they are made of does not change at
    events alone."""
    found = []
    for one in block.inner if isinstance(block, (s.LinearLoop, s.NonlinearLoop)) else (block,):
        if isinstance(one, s.Assignment) and isinstance(one.value, Builtin) and one.value.name in _COSTLY:
            kinds = {v.slot.kind for r in refs(one.value) if (v := variables.get(r.name)) is not None}
            if kinds <= _STEADY and variables[one.target.name].slot.kind is s.Kind.ALGEBRAIC:
                found.append((one.value, one.target))
    return found
