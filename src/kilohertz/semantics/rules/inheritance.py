"""What a class may inherit from (MLS 4.5.2, 4.6, 5.6.1, 7.1.3, 7.1.4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from kilohertz.base import Diagnostic, ModelError, Note, Severity, Span
from kilohertz.semantics.classes.modifiers import Mod, same_spec
from kilohertz.semantics.classes.scopes import Element, View
from kilohertz.syntax import tree

if TYPE_CHECKING:
    from kilohertz.semantics.classes.nodes import ClassNode

# derived kind -> kinds of base classes (the table of MLS 7.1.3); `class` is a base of all
_BASES = {
    "package": ("package",),
    "operator": ("operator",),
    "function": ("function",),
    "operator function": ("operator function", "function"),
    "type": ("type",),
    "record": ("record",),
    "operator record": ("operator record",),
    "connector": ("type", "record", "operator record", "connector"),
    "block": ("record", "block"),
    "model": ("record", "block", "model"),
    "class": ("type", "record", "operator record", "connector", "block", "model", "package"),
}


def check_bases(extended: Iterable[tuple[View, tree.Extends | tree.ClassDef, ClassNode]]) -> Iterator[Diagnostic]:
    """All rules on base classes: of extends clauses and of short classes."""
    for view, item, base in extended:
        definition = view.definition
        if isinstance(item, tree.ClassDef):
            assert isinstance(item.body, tree.ShortBody)
            yield from _kind(item, base, Span(item.file, item.body.type.start, item.body.type.end), short=True)
        else:
            span = Span(definition.file, item.type.start, item.type.end)
            yield from _kind(definition, base, span, short=False)
            yield from _extends(view, item, base, span)


def check_twice(pairs: Iterable[tuple[Element, Element]]) -> Iterator[Diagnostic]:
    """S217: a replaceable class that comes from two base classes is one class in both (MLS 5.6.1.4, 7.3).

    Where one base class only asks for a kind of class, what the other one puts in serves for both.
    """
    seen: set[tuple[int, int]] = set()
    for strong, weak in pairs:
        changes = [mod for mod in weak.chain if not any(same_spec(mod.spec, other.spec) for other in strong.chain)]
        key = (id(strong.decl), id(changes[0].spec) if changes else id(weak.decl))
        if key in seen:
            continue
        seen.add(key)
        try:
            holds, lost = _meant(strong), _meant(weak)
        except ModelError:
            continue  # an error of its own, or a class that nobody uses
        if holds[-1].definition is lost[-1].definition and not _modified(changes):
            continue
        if not changes and lost[-1].full_name in holds[0].ancestors:
            continue
        names = [chain[0].written_name if len(chain) == 1 else chain[1].written_name for chain in (holds, lost)]
        text = f"`{strong.name}` is inherited twice, as `{names[0]}` and here as `{names[1]}`: the first one holds"
        if names[0] == names[1]:
            text = f"`{strong.name}` is inherited twice, and only the other one is modified so: this does not hold"
        span = changes[0].span if changes else weak.span
        notes = (Note("the one that holds is declared here", strong.span),)
        yield Diagnostic("S217", text, span, notes=notes, severity=Severity.WARNING)


def _modified(changes: list[Mod]) -> bool:
    """Whether elements of a class are modified, not the class replaced."""
    return any(mod.spec.subs for mod in changes)


def _meant(element: Element) -> list[ClassNode]:
    """What an element stands for, and behind short classes that only name another one, those."""
    node = element.node()
    chain = [node]
    while isinstance(body := node.definition.body, tree.ShortBody) and body.modification is None and not body.dims:
        assert node.parent is not None
        node = node.parent.lookup_class(body.type)
        node.table  # noqa: B018  (finds its base classes)
        chain.append(node)
    element.node().table  # noqa: B018
    return chain


def _kind(derived: tree.ClassDef, base: ClassNode, span: Span, short: bool) -> Iterator[Diagnostic]:
    """S301: a class inherits from a class of a kind that fits its own."""
    kind = base.definition.kind
    if kind not in ("class", *_BASES[derived.kind]):
        text = f"a {derived.kind} cannot inherit from `{base.written_name}`, which is a {kind}"
        # libraries in use take icons of another kind, which have nothing but a picture, and say `record C = Complex`
        is_empty = not (base.table or base.sections or base.builtin)
        is_renamed = short and (derived.kind, kind) == ("record", "operator record")
        severity = Severity.WARNING if is_empty or is_renamed else Severity.ERROR
        yield Diagnostic("S301", text, span, severity=severity)
    elif kind == "class" and derived.kind == "type" and (base.table or not (base.builtin or base.enum)):
        text = f"a type is a predefined one, an enumeration or an array of them; `{base.written_name}` is not"
        # what a `type` of objects means is what a `class` of them does
        severity = Severity.WARNING if base.definition is base.world.external_object else Severity.ERROR
        yield Diagnostic("S301", text, span, severity=severity)
    elif kind == "connector" and derived.kind == "connector" and base.definition.expandable != derived.expandable:
        if not short:
            words = ("an expandable connector", "a connector that is not expandable")
            a, b = words if derived.expandable else words[::-1]
            yield Diagnostic("S301", f"{a} cannot inherit from `{base.written_name}`, which is {b}", span)
    elif kind == "operator record" and not short:
        text = f"`{base.written_name}` is an operator record: only a short class can be made of it"
        yield Diagnostic("S301", text, span)


def _extends(view: View, item: tree.Extends, base: ClassNode, span: Span) -> Iterator[Diagnostic]:
    """Rules on one extends clause, when the table of its class is complete."""
    element = view.root.table.get(item.type.names[0])
    if element is not None and not item.type.absolute and element.view is not view and item.type.names[0] in view.names:
        text = f"`{element.name}`, which this class extends, is itself inherited"
        yield Diagnostic("S307", text, span, notes=(Note("declared here", element.span),))
    for name in item.breaks:
        broken = base.table.get(name) if isinstance(name, str) else None
        if broken is not None and not broken.is_class and not _can_be_broken(broken):
            text = f"`{name}` cannot be broken off: only models, blocks and connectors can"
            yield Diagnostic("S205", text, span, notes=(Note("declared here", broken.span),))
    if base.is_external_object and base.definition is not base.world.external_object:
        text = f"`{base.written_name}` is an external object and cannot be a base class"
        yield Diagnostic("S301", text, span)
    if base.definition.replaceable:
        yield Diagnostic("S308", f"`{base.written_name}` is replaceable and cannot be a base class", span)
    if any(_is_operator_record(e) for e in _elements(base.definition)):
        text = f"`{base.written_name}` contains an operator record and cannot be a base class"
        yield Diagnostic("S301", text, span)
    if (base.class_dims or base.causality) and len(_members(view.definition)) > 1:
        what = "an array" if base.class_dims else f"`{base.causality}`"
        text = f"`{base.written_name}` is {what}: a class that extends it has no other elements"
        yield Diagnostic("S309", text, span)


def _can_be_broken(element: Element) -> bool:
    """MLS 7.4."""
    cls = element.view.lookup_class(element.component.type)
    cls.table  # noqa: B018  (finds out what it is derived from)
    return not cls.builtin and cls.kind not in ("record", "operator record", "type")


def _elements(definition: tree.ClassDef) -> tuple[tree.Element, ...]:
    return definition.body.elements if isinstance(definition.body, tree.Body) else ()


def _members(definition: tree.ClassDef) -> list[tree.Element]:
    return [e for e in _elements(definition) if isinstance(e, tree.Component | tree.Extends)]


def _is_operator_record(element: tree.Element) -> bool:
    return isinstance(element, tree.ClassDef) and element.kind == "operator record"
