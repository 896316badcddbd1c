"""What each component of a model leaves to its surroundings: flows and inputs of its connectors (MLS 4.7)."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator

from kilohertz.ir.flat import CONSTANT, PARAMETER, Part
from kilohertz.semantics.balancing.incidence import scalar_size
from kilohertz.semantics.connecting.connections import is_overdetermined
from kilohertz.semantics.connecting.ends import is_connector
from kilohertz.semantics.instances import Comp, CompArray

_OWN = ("model", "block", "class")
_CONNECTING = ("connector", "expandable connector", "record", "operator record")


def interfaces(composites: Iterable[Comp], states: Container[str]) -> list[Part]:
    """Of the components of a model those that have equations of their own and that can be counted: what is in states
    of a state machine cannot, nor what has them in it."""
    comps = [c for c in composites if c.path and c.node.kind in _OWN]
    reaching = {around for c in comps if c.path in states or _reaches_out(c) for around in _lineage(c)}
    comps = [c for c in comps if not any(around in states for around in _lineage(c))]
    parts = (_part(c) for c in comps if c.path not in reaching)
    return [part for part in parts if part is not None]


def _reaches_out(comp: Comp) -> bool:
    """Whether an `outer` component has connectors: what is connected there counts elsewhere."""
    for name, element in comp.node.table.items():
        if element.is_class or not element.component.outer:
            continue
        inner = comp.child(name)
        for one in _all(inner) if inner is not None else ():
            if is_connector(one) or any(is_connector(child) for child in _elements(one)):
                return True
    return False


def _lineage(comp: Comp) -> Iterator[str]:
    at: Comp | None = comp
    while at is not None:
        yield at.path
        at = at.parent


def _part(comp: Comp) -> Part | None:
    """None where the whole model decides how many equations it needs: at buses, at overdetermined connectors (by which
    of them is a root), at inputs with a value of their own (by whether they are connected)."""
    public = [c for c in _elements(comp) if c.element is None or not c.element.protected]
    if any(_is_settled_outside(child) for child in public):
        return None
    open_ends = [end for child in public for end in _left_open(child)]
    flows = frozenset(end.origin for end in open_ends if end.connection == "flow")
    sizes = (scalar_size(end.ty) if end.ty is not None else 1 for end in open_ends)
    return Part(comp.path, comp.node.written_name, comp.origin, sum(sizes), flows)


def _is_settled_outside(child: Comp, in_connector: bool = False) -> bool:
    if child.node.is_expandable or is_overdetermined(child):
        return True
    in_connector = in_connector or is_connector(child)
    if child.is_primitive:
        return in_connector and child.causality == "input" and child.binding_expr is not None
    return child.node.kind in _CONNECTING and any(
        _is_settled_outside(inner, in_connector) for inner in _elements(child)
    )


def _left_open(child: Comp) -> Iterator[Comp]:
    """What an equation outside has to determine: the flows of a connector, and inputs without a binding."""
    if child.is_primitive:
        is_open = child.connection == "flow" or (child.causality == "input" and child.binding_expr is None)
        if is_open and child.variability not in (PARAMETER, CONSTANT):
            yield child
    elif child.node.kind in _CONNECTING or child.causality == "input":
        for inner in _elements(child):
            yield from _left_open(inner)


def _elements(comp: Comp) -> Iterator[Comp]:
    for child in comp.components():
        yield from _all(child)


def _all(child: Comp | CompArray) -> Iterable[Comp]:
    return child.elements() if isinstance(child, CompArray) else (child,)
