"""Inner and outer declarations (MLS 5.4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kilohertz.base import Diagnostic, Note
from kilohertz.semantics.classes.scopes import Element
from kilohertz.syntax import tree

if TYPE_CHECKING:
    from kilohertz.semantics.classes.nodes import ClassNode
    from kilohertz.semantics.instances import Comp, CompArray


def check_outer(parent: Comp, outer: Element, node: ClassNode, inner: Comp | CompArray) -> Iterator[Diagnostic]:
    """All rules on an outer declaration of `parent` whose class is `node`, for which `inner` was found."""
    known = (Note("the inner one is here", inner.span),) if hasattr(inner, "span") else ()
    decl = outer.component
    is_modified = decl.modification is not None or any(mod.sub(outer.name) is not None for mod in parent.env)
    if is_modified and not decl.inner:
        yield Diagnostic("S313", f"`{outer.name}` is outer and cannot be modified; the inner one can", outer.span)
    wrong = _difference(node, inner.node) or _dimensions(outer, node, inner)
    if wrong:
        text = f"the inner `{outer.name}` does not fit: its class `{inner.node.written_name}` {wrong}"
        yield Diagnostic("S312", text, outer.span, notes=known)


def _dimensions(outer: Element, node: ClassNode, inner: Comp | CompArray) -> str:
    """How the dimensions differ, as far as the outer declaration tells them in numbers."""
    sizes = [d.value if isinstance(d, tree.Number) else None for d in outer.component.dims]
    sizes += [d.value if isinstance(d, tree.Number) else None for dims, _ in node.class_dims for d in dims]
    ty = getattr(inner, "ty", None)
    inner_sizes = ty.dims if ty is not None else getattr(inner, "dims", ())
    if len(inner_sizes) != len(sizes):
        return f"has {len(inner_sizes)} dimensions there, not {len(sizes)}"
    if any(a is not None and a != b for a, b in zip(sizes, inner_sizes, strict=True)):
        return "has other sizes there"
    return ""


def _difference(outer: ClassNode, inner: ClassNode) -> str:
    """Why a class is no subtype of another; empty where it is one."""
    if outer.definition is inner.definition:
        return ""
    if outer.builtin != inner.builtin:
        return f"is no {outer.builtin or outer.full_name}"
    if is_other_enumeration(inner, outer):
        return f"is another enumeration than `{outer.written_name}`"
    lacking = [n for n, e in outer.table.items() if not e.protected and n not in inner.table]
    return f"has no `{lacking[0]}`" if lacking else ""


def is_other_enumeration(new: ClassNode, wanted: ClassNode) -> bool:
    """Whether one is an enumeration, the other none or one with other literals (MLS 6.4); any fits an open one."""
    if new.enum is None or wanted.enum is None:
        return new.enum is not wanted.enum
    bodies = [node.enum.body for node in (new, wanted) if node.enum is not None]
    literals = [
        [name for name, _ in body.literals] for body in bodies if isinstance(body, tree.EnumBody) and not body.open
    ]
    return len(literals) == len(bodies) and literals[0] != literals[1]
