"""Checks the contract that heads `ir/ordered.py`."""

from __future__ import annotations

from collections.abc import Iterable

from kilohertz.base import InternalError
from kilohertz.ir import traverse
from kilohertz.ir.dae import CallEquation, roots
from kilohertz.ir.ordered import Component, Ordered, System, systems
from kilohertz.ir.verify.dae import verify_dae
from kilohertz.ir.verify.step import verify_order


def verify_ordered(ordered: Ordered) -> None:
    """Raise InternalError where an Ordered breaks its contract."""
    verify_dae(ordered.dae)
    verify_order("once", ordered.once)
    for title, system in systems(ordered):
        if system is not None:
            _system(title, system)


def _system(title: str, system: System) -> None:
    if system.blocks is not None:
        if system.components:
            raise InternalError(f"{title}: components are left beside their blocks")
        verify_order(title, system.blocks)
        return
    owner: dict[str, int] = {}
    for i, c in enumerate(system.components):
        if len(c.rows) != len(c.unknowns):
            raise InternalError(f"{title}: {len(c.rows)} equations for {len(c.unknowns)} unknowns in component {i + 1}")
        for u in c.unknowns:
            if u.name in owner:
                raise InternalError(f"{title}: {u.name} is given twice")
            owner[u.name] = i
    for i, c in enumerate(system.components):
        late = [n for n in _reads(c) if owner.get(n, 0) > i]
        if late:
            raise InternalError(f"{title}: component {i + 1} reads {late[0]}, which is given after it")


def _reads(c: Component) -> Iterable[str]:
    """Names in the rows; results of a call count for the row that has them only."""
    for row in c.rows:
        e = row.equation
        if not isinstance(e, CallEquation):
            yield from (r.name for x in roots(e) for r in traverse.refs(x))
        elif row.head is None:
            yield from (r.name for r in traverse.refs(e.call))
