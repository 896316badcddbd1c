"""What a connector consists of (MLS 9.2, 9.3.1, 15.1)."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING, Any

from kilohertz.base import Diagnostic, Severity
from kilohertz.ir.types import ExternalObjectType
from kilohertz.semantics.classes.nodes import ClassNode

if TYPE_CHECKING:
    from kilohertz.semantics.instances import Comp

_FLOW_OPERATORS = ("'+'", "'-'", "'0'")


def check_connector(comp: Comp) -> Iterator[Diagnostic]:
    """All rules on a connector that is no part of another one."""
    if comp.causality:
        return
    counts = {"flow": 0, "stream": 0, "": 0}
    if not _count(comp, 1, counts):
        return
    if counts["flow"] != counts[""]:  # a warning: libraries in use have connectors of potentials only
        text = (
            f"`{comp.node.written_name}` has {counts['flow']} flow and {counts['']} potential variables; "
            "there must be as many of each"
        )
        yield Diagnostic("S331", text, comp.span, severity=Severity.WARNING)
    if counts["stream"] and counts["flow"] != 1:
        text = f"`{comp.node.written_name}` has stream variables, and {counts['flow']} flow variables instead of one"
        yield Diagnostic("S332", text, comp.span)


def check_flow_record(comp: Comp) -> Iterator[Diagnostic]:
    """S333: flows are added up, so an operator record among them has what that needs (MLS 9.2)."""
    lacking = [name for name in _FLOW_OPERATORS if name not in comp.node.table]
    if lacking:
        text = f"the flow `{comp.name}` is of the operator record `{comp.node.written_name}`, which has no {lacking[0]}"
        yield Diagnostic("S333", text, comp.span)


def _constraint_size(comp: Comp) -> int | None:
    """As many as its equalityConstraint has residuals an overdetermined part counts for (MLS 9.4)."""
    function = comp.node.member("equalityConstraint")
    if not isinstance(function, ClassNode):
        return None
    outputs = comp.world.elaborator.functions.header(function).outputs
    return outputs[0].ty.dims[0] if len(outputs) == 1 and len(outputs[0].ty.dims) == 1 else None


def _count(comp: Comp, n: int, counts: dict[str, int]) -> bool:
    """Count the scalars of a connector by kind; False where that cannot be done."""
    if comp.node.is_expandable or comp.node.definition.partial:
        return False
    if "equalityConstraint" in comp.node.table:
        size = _constraint_size(comp)
        counts[""] += n * (size or 0)
        return size is not None
    if comp.is_primitive:
        assert comp.ty is not None
        if None in comp.ty.dims:
            return False
        if isinstance(comp.ty.base, ExternalObjectType):
            return True
        if (comp.connection or not comp.causality) and comp.variability not in ("parameter", "constant"):
            counts[comp.connection] += n * prod(d or 0 for d in comp.ty.dims)
        return True
    for element in comp.node.table.values():
        if not element.is_class and (element.component.condition is not None or element.component.outer):
            return False
    for child in comp.components():
        part: Any = getattr(child, "proto", child)  # of an array, what all its elements are like
        if not _count(part, n * prod(getattr(child, "dims", ())), counts):
            return False
    return True
