"""Redeclarations and constraining types (MLS 7.3).

They wait until no class is being built any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kilohertz.base import Diagnostic, ModelError, Note, Severity, Span
from kilohertz.semantics.classes.nodes import ClassNode, Element, View
from kilohertz.semantics.rules.scoping import is_other_enumeration
from kilohertz.syntax import tree

Decl = tree.Component | tree.ClassDef


@dataclass(frozen=True, slots=True)
class Redeclared:
    """`element` is replaced by `new`, which is written in `view`; `span` is where.

    `between` are redeclarations further in, which `new` replaces too, with their views; outermost first.
    """

    element: Element
    new: Decl
    view: View
    span: Span
    between: tuple[tuple[Decl, View], ...] = ()


def check_redeclarations(redeclared: Iterable[Redeclared]) -> Iterator[Diagnostic]:
    """All rules on redeclarations, once for each pair of old and new."""
    seen: set[tuple[int, int]] = set()
    for one in redeclared:
        key = (id(one.element.decl), id(one.new))
        if key in seen:
            continue
        seen.add(key)
        yield from _allowed(one)
        for step in _steps(one):
            try:
                yield from _fitting(step)
            except ModelError:
                continue  # one of the classes is not used, or an error of its own


def _steps(one: Redeclared) -> Iterator[Redeclared]:
    """The redeclaration itself, and those further in that it replaces: each has to fit what it found."""
    yield one
    for k, (decl, view) in enumerate(one.between):
        start = decl.name_start if isinstance(decl, tree.ClassDef) else decl.start
        span = Span(view.definition.file, start, start + len(decl.name))
        yield Redeclared(one.element, decl, view, span, one.between[k + 1 :])


def check_replaceable(views: Iterable[View]) -> Iterator[Diagnostic]:
    """S294: what a replaceable element is by default fits its own constraining clause."""
    for view in views:
        body = view.definition.body
        for element in body.elements if isinstance(body, tree.Body) else ():
            if isinstance(element, tree.ClassDef) and isinstance(element.body, tree.Body) and element.body.is_extension:
                yield from _extension(view, element)
            if isinstance(element, tree.Import | tree.Extends) or element.constraint is None:
                continue
            try:
                default, wanted = _class_of(element, view), view.lookup_class(element.constraint.type)
                if default is not None:
                    span = Span(view.definition.file, element.constraint.start, element.constraint.end)
                    yield from _subtype(default, wanted, element.name, span, ())
            except ModelError:
                continue


def _extension(view: View, definition: tree.ClassDef) -> Iterator[Diagnostic]:
    """S212: `redeclare model extends X` needs an inherited X (MLS 7.3.1)."""
    element = view.root.table.get(definition.name)
    if element is not None and element.decl is definition and element.base is None:
        text = f"there is no inherited class `{definition.name}` to extend"
        yield Diagnostic("S212", text, definition.name_span)


def _allowed(one: Redeclared) -> Iterator[Diagnostic]:
    """S298: neither final nor constant, without a condition; S313: not outer; S299: public stays public."""
    old, name = one.element.decl, one.element.name
    known = (Note("declared here", one.element.span),)
    if old.final:
        yield Diagnostic("S298", f"`{name}` is final and cannot be redeclared", one.span, notes=known)
    if old.outer and not old.inner:
        text = f"`{name}` is outer and cannot be redeclared; the inner one can"
        yield Diagnostic("S313", text, one.span, notes=known)
    if isinstance(one.new, tree.Component) and one.new.condition is not None:
        yield Diagnostic(
            "S298", f"`{name}` keeps its condition: a redeclaration cannot have one", one.span, notes=known
        )
    if isinstance(old, tree.Component) and old.variability == "constant":
        yield Diagnostic("S298", f"`{name}` is a constant and cannot be redeclared", one.span, notes=known)
    if _in_body(one) and one.new.protected != old.protected:
        words = ("public", "protected") if one.new.protected else ("protected", "public")
        text = f"`{name}` is {words[0]} and cannot be redeclared as {words[1]}"
        yield Diagnostic("S299", text, one.span, notes=known)


def _in_body(one: Redeclared) -> bool:
    """Redeclared as an element of a class, not in a modification."""
    body = one.view.definition.body
    return isinstance(body, tree.Body) and any(e is one.new for e in body.elements)


def _fitting(one: Redeclared) -> Iterator[Diagnostic]:
    """S292: only what is replaceable.  S294: only by what fits the constraining type."""
    new_class = _class_of(one.new, one.view)
    known = (Note("declared here", one.element.span),)
    old, old_view = one.between[0] if one.between else (one.element.decl, one.element.view)
    if not old.replaceable:
        old_class = _class_of(old, old_view)
        if new_class is None or old_class is None or new_class.definition is not old_class.definition:
            text = f"`{one.element.name}` is redeclared, but is not replaceable"
            # replaceable once, and not said so again where it was redeclared: libraries in wide use go on from there
            severity = Severity.WARNING if one.between and one.element.decl.replaceable else Severity.ERROR
            yield Diagnostic("S292", text, one.span, notes=known, severity=severity)
        return
    wanted = _constraining(one)
    if wanted is None:
        return
    if new_class is not None:
        yield from _subtype(new_class, wanted, one.element.name, one.span, known)
    if one.new.constraint is not None:
        constraint = one.view.lookup_class(one.new.constraint.type)
        yield from _subtype(constraint, wanted, one.element.name, one.span, known)
        if new_class is not None and not _in_body(one):  # `check_replaceable` looks at bodies
            yield from _subtype(new_class, constraint, one.element.name, one.span, ())


def _constraining(one: Redeclared) -> ClassNode | None:
    """The constraining type that holds where the element is redeclared: of the outermost clause so far."""
    for decl, view in (*one.between, (one.element.decl, one.element.view)):
        if decl.constraint is not None:
            return view.lookup_class(decl.constraint.type)
    return _class_of(one.element.decl, one.element.view)


def _subtype(new: ClassNode, wanted: ClassNode, name: str, span: Span, notes: tuple[Note, ...]) -> Iterator[Diagnostic]:
    if new.definition is wanted.definition:
        return
    new.table  # noqa: B018  (finds out whether it is primitive)
    lacking = [n for n, e in wanted.table.items() if not e.is_class and not e.protected and n not in new.table]
    n_new, n_wanted = (sum(len(dims) for dims, _ in node.class_dims) for node in (new, wanted))
    severity = Severity.ERROR
    if lacking:
        what = f"has no `{lacking[0]}`"
        severity = Severity.WARNING if _connects_alike(wanted, lacking) else Severity.ERROR
    elif wanted.builtin != new.builtin:
        what = f"is no {wanted.builtin or wanted.kind}"
    elif n_new != n_wanted:
        what = f"has {n_new} dimensions, not {n_wanted}"
    elif is_other_enumeration(new, wanted):
        what = "is another enumeration"
    else:
        return
    text = f"`{new.written_name}` does not fit `{wanted.written_name}`, which constrains `{name}`: it {what}"
    yield Diagnostic("S294", text, span, notes=notes, severity=severity)


def _connects_alike(wanted: ClassNode, lacking: list[str]) -> bool:
    """Whether all connectors are there, and there are some: libraries in use put in what lacks variables only."""
    elements = [e for e in wanted.table.values() if not e.is_class and not e.protected]
    connectors = {e.name for e in elements if "connector" in e.view.lookup_class(e.component.type).kinds}
    return bool(connectors) and connectors.isdisjoint(lacking)


def _class_of(decl: Decl, view: View) -> ClassNode | None:
    """The class of a component, or what a short class stands for."""
    if isinstance(decl, tree.Component):
        return view.lookup_class(decl.type)
    if isinstance(decl.body, tree.ShortBody):
        return view.lookup_class(decl.body.type)
    if isinstance(decl.body, tree.Body) and not decl.body.is_extension:
        return ClassNode(decl, view, view.world)
    return None
