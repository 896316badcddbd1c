"""Which component has more or fewer equations than it needs (MLS 4.7: every model is balanced by itself).

A component has as many equations as unknowns, where those in it count with it, less the flows and inputs of its own
connectors: these are for its surroundings to determine.  The innermost component that breaks this is to blame.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from kilohertz.base import Dotted, Origin
from kilohertz.semantics.balancing.incidence import System


@dataclass(frozen=True, slots=True)
class Part:
    """A component: its class, where it is declared, what it leaves to its surroundings."""

    path: str
    class_name: str
    origin: Origin
    n_outside: int  # scalars of flows and inputs
    connectors: frozenset[str]  # their paths: an equation there is of a flow that nobody connects


def surpluses(system: System, parts: list[Part]) -> dict[str, int]:
    """Of each component: equations more than it needs, below zero: fewer."""
    known = {p.path: p for p in parts}
    surplus = {p.path: p.n_outside for p in parts}
    for column in range(system.columns.n):
        for path in _around(system.columns.name(column), known):
            surplus[path] -= 1
    for owner in system.owner_of:
        origin = system.owners[owner]
        for path in _around(origin.path, known):
            surplus[path] += not _around(origin.path, known[path].connectors)
    return surplus


def to_blame(system: System, parts: list[Part], sign: int) -> list[tuple[Part, int]]:
    """The innermost components with a surplus of this sign, and how large it is."""
    surplus = {path: sign * n for path, n in surpluses(system, parts).items()}
    guilty = [p for p in parts if surplus[p.path] > 0]
    inner = [path for p in guilty for path in _around(p.path, surplus) if path != p.path]
    return [(p, surplus[p.path]) for p in guilty if p.path not in inner]


def _around(name: str, known: Container[str]) -> list[str]:
    """The components that a flat name lies in, and itself."""
    parts = Dotted.read(name).parts
    heads = (".".join(parts[: k + 1]) for k in range(len(parts)))
    return [head for head in heads if head in known]
