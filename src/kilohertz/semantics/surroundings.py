"""What each component of a model leaves to its surroundings: flows and inputs of its connectors (MLS 4.7).

Asked for only where a model has not as many equations as unknowns, to find the component that is to blame: the model is
instantiated once more.
"""

from __future__ import annotations

from collections.abc import Iterator

from kilohertz.base import Dotted
from kilohertz.ir.flat import CONSTANT, PARAMETER
from kilohertz.semantics.balancing.incidence import scalar_size
from kilohertz.semantics.balancing.local_balance import Part
from kilohertz.semantics.flatten import instances
from kilohertz.semantics.instances import Comp, CompArray
from kilohertz.syntax import Libraries

_OWN = ("model", "block", "class")
_CONNECTING = ("connector", "expandable connector", "record")


def interfaces(libraries: Libraries, name: str) -> list[Part]:
    """Every component that has equations of its own, the outer ones before those in them."""
    return [_part(c) for c in instances(libraries, Dotted.read(name).parts) if c.path and c.node.kind in _OWN]


def _part(comp: Comp) -> Part:
    outside, connectors = 0, []
    for child in _elements(comp):
        if child.protected:
            continue
        found = sum(_left_open(child))
        outside += found
        if found:
            connectors.append(child.path)
    return Part(comp.path, comp.node.full_name, comp.origin, outside, frozenset(connectors))


def _left_open(child: Comp) -> Iterator[int]:
    """Scalars of a connector, or of an input, that an equation outside has to determine: a binding does."""
    if child.is_primitive:
        is_open = child.connection == "flow" or child.causality == "input"
        if is_open and child.binding_expr is None and child.variability not in (PARAMETER, CONSTANT):
            yield scalar_size(child.ty) if child.ty is not None else 1
    elif child.node.kind in _CONNECTING or child.causality == "input":
        for inner in _elements(child):
            yield from _left_open(inner)


def _elements(comp: Comp) -> Iterator[Comp]:
    for child in comp.components():
        yield from child.elements() if isinstance(child, CompArray) else (child,)
