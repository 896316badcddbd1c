"""Components with a condition are there for connections (MLS 4.4.5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass

from kilohertz.base import Diagnostic, Note, Severity, Span
from kilohertz.semantics.classes.scopes import View
from kilohertz.syntax import tree

_GUARDED = (tree.IfEquation, tree.IfStatement, tree.IfExp, tree.Connect, tree.Redeclaration)
_QUESTIONS = ("cardinality", "Connections")  # these speak of connections
# the fields of each node of the Tree in which references can stand, last first; not of what guards them
_PARTS: dict[type, tuple[str, ...]] = {
    kind: tuple(f.name for f in reversed(fields(kind)) if f.type not in ("int", "str", "bool"))
    for kind in vars(tree).values()
    if isinstance(kind, type) and is_dataclass(kind) and kind not in _GUARDED
}


def check_conditions(views: Iterable[View]) -> Iterator[Diagnostic]:
    """S330: a component that may be absent is used where no `if` guards it."""
    for view in views:
        body = view.definition.body
        if not isinstance(body, tree.Body):
            continue
        names = {e.name: e for e in body.elements if isinstance(e, tree.Component) and e.condition is not None}
        for ref, is_handing_on in _unguarded(body) if names else ():
            if ref.names[0] in names and not ref.absolute:
                file, decl = view.definition.file, names[ref.names[0]]
                text = f"`{decl.name}` may be absent, and no `if` guards its use here"
                note = Note("declared here", Span(file, decl.start, decl.start + len(decl.name)))
                # libraries in use hand on parameters, and parts of what is there; where it is not, that is an error of
                # its own
                is_handed_on = decl.variability in ("parameter", "constant") or len(ref.names) > 1
                severity = Severity.WARNING if is_handing_on and is_handed_on else Severity.ERROR
                yield Diagnostic("S330", text, Span(file, ref.start, ref.end), notes=(note,), severity=severity)


def _unguarded(body: tree.Body) -> Iterator[tuple[tree.Ref, bool]]:
    """References outside of every `if` and every connect, and whether what they name is handed on: they stand in
    modifications of a component, or in the value of a parameter."""
    for section in body.sections:
        yield from ((ref, False) for ref in _refs(section.items))
    for element in body.elements:
        if isinstance(element, tree.Component) and element.condition is None and element.modification is not None:
            yield from ((ref, True) for ref in _refs(element.modification.args))
            is_parameter = element.variability in ("parameter", "constant")
            yield from ((ref, is_parameter) for ref in _refs(element.modification.binding))


def _refs(node: object) -> Iterator[tree.Ref]:
    stack = [node]
    while stack:
        at = stack.pop()
        if isinstance(at, tuple):
            stack.extend(reversed(at))
        elif not isinstance(at, tree.Call) or at.function.names[0] not in _QUESTIONS:
            if isinstance(at, tree.Ref):
                yield at
            stack.extend([getattr(at, name) for name in _PARTS.get(type(at), ())])
