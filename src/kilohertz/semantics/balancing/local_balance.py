"""Which component has more or fewer equations than it needs (MLS 4.7: every model is balanced by itself).

A component has as many equations as unknowns, where those in it count with it, less the flows and inputs of its own
connectors: these are for its surroundings to determine.  The innermost component that breaks this is to blame.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container

from kilohertz.base import Dotted
from kilohertz.ir.flat import Part
from kilohertz.semantics.balancing.incidence import System, scalar_size


def surpluses(system: System, parts: list[Part]) -> dict[str, int]:
    """Of each component: equations more than it needs, below zero: fewer."""
    known = {p.path: p for p in parts}
    surplus = {p.path: p.n_outside for p in parts}
    for variable in system.columns.unknowns:
        for path in _around(variable.name, known):
            surplus[path] -= scalar_size(variable.ty)
    for owner, n in Counter(system.owner_of).items():
        origin = system.owners[owner]
        for path in _around(origin.path, known):
            surplus[path] += 0 if origin in known[path].flows else n
    return surplus


def to_blame(system: System, parts: list[Part]) -> list[tuple[Part, int]]:
    """The innermost components with a surplus of either sign, and how large it is: below zero, what they lack."""
    if not parts:
        return []
    surplus = surpluses(system, parts)
    out: list[tuple[Part, int]] = []
    for sign in (1, -1):
        guilty = [p for p in parts if sign * surplus[p.path] > 0]
        inner = {path for p in guilty for path in _around(p.path, surplus) if path != p.path}
        out += [(p, surplus[p.path]) for p in guilty if p.path not in inner]
    return out


def _around(name: str, known: Container[str]) -> list[str]:
    """The components that a flat name lies in, and itself."""
    parts = Dotted.read(name).parts
    heads = (".".join(parts[: k + 1]) for k in range(len(parts)))
    return [head for head in heads if head in known]
