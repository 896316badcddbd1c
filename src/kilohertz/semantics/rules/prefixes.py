"""Prefixes of components, and connectors of blocks (MLS 4.4.2.2, 4.6, 9.3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kilohertz.base import Diagnostic, Note, Severity
from kilohertz.ir.types import REAL
from kilohertz.semantics.classes.scopes import Element
from kilohertz.semantics.rules.connectors import check_connector, check_flow_record
from kilohertz.syntax import tree

if TYPE_CHECKING:
    from kilohertz.semantics.classes.nodes import ClassNode
    from kilohertz.semantics.instances import Comp


def check_component(comp: Comp) -> Iterator[Diagnostic]:
    """All rules on one component that the model has."""
    if comp.decl is None or comp.element is None or comp.parent is None:
        return
    if comp.node.kind in ("package", "operator", "function", "operator function"):
        yield Diagnostic("S311", f"`{comp.path}` is of the {comp.node.kind} `{comp.node.written_name}`", comp.span)
    if comp.node.kind == "type" and not comp.is_primitive and not comp.node.table:
        yield Diagnostic("S302", f"the type `{comp.node.written_name}` extends no predefined type", comp.span)
    if not comp.is_primitive:
        yield from _prefix_of_structured(comp, comp.decl, comp.element)
    elif comp.decl.causality and comp.node.causality not in ("", comp.decl.causality):
        text = f"`{comp.name}` is `{comp.decl.causality}`, but its class is `{comp.node.causality}`"
        yield Diagnostic("S311", text, comp.span)
    elif comp.connection == "stream" and comp.ty is not None and comp.ty.base != REAL.base:
        yield Diagnostic("S467", f"the stream variable `{comp.path}` must be a Real", comp.span)
    if not comp.is_primitive and "connector" in comp.node.kinds and "connector" not in comp.parent.node.kinds:
        yield from check_connector(comp)
    if comp.connection == "flow" and comp.node.kind == "operator record":
        yield from check_flow_record(comp)
    if comp.parent.node.kind == "block" and not comp.element.protected:
        yield from _part_of_block(comp, comp.element)


def _prefix_of_structured(comp: Comp, decl: tree.Component, element: Element) -> Iterator[Diagnostic]:
    """S311: a type prefix is for types, records and connectors whose elements have none of its kind (MLS 4.4.2.2)."""
    kind = comp.node.kind
    prefix = decl.connection or decl.causality or decl.variability
    if prefix and kind in ("model", "block"):
        yield Diagnostic("S311", f"`{element.name}` is a {kind} and cannot be `{prefix}`", comp.span)
    elif kind == "connector" and decl.variability in ("parameter", "constant"):
        yield Diagnostic("S311", f"`{element.name}` is a connector and cannot be a {decl.variability}", comp.span)
    for outer, attribute in ((decl.connection, "connection"), (decl.causality or comp.node.causality, "causality")):
        inner = _first_with(attribute, comp.node) if outer else None
        if inner is not None:
            inner_prefix = getattr(inner.component, attribute)
            text = f"`{element.name}` is `{outer}`, but its element `{inner.name}` is `{inner_prefix}`"
            yield Diagnostic("S311", text, comp.span, notes=(Note("declared here", inner.span),))


def _first_with(attribute: str, node: ClassNode) -> Element | None:
    """The first element with a prefix of one kind."""
    for element in node.table.values():
        if not element.is_class and getattr(element.component, attribute):
            return element
    return None


def _part_of_block(comp: Comp, element: Element) -> Iterator[Diagnostic]:
    """S337: public connectors of a block are inputs or outputs (MLS 4.6); a warning, since libraries in use differ."""
    if "connector" not in comp.node.kinds or comp.node.is_expandable or comp.variability:
        return
    free = _without_direction(comp)
    if free is not None:
        text = f"`{free}` is neither input nor output, as all variables of a block's connectors are"
        yield Diagnostic("S337", text, comp.span, severity=Severity.WARNING)


def _without_direction(comp: Comp) -> str | None:
    if comp.is_primitive:
        return None if comp.causality or comp.variability in ("parameter", "constant") else comp.path
    if comp.node.is_expandable:
        return None
    for child in comp.components():
        part: Any = getattr(child, "proto", child)  # of an array, what all its elements are like
        path = _without_direction(part)
        if path is not None:
            return path
    return None
