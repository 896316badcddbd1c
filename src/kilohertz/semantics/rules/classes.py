"""What each kind of class may contain (MLS 4.6, 4.8, 4.9, 12.2, 13.2), seen from the text of the class."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kilohertz.base import Diagnostic, Note, Span
from kilohertz.semantics.classes.scopes import PRIMITIVES, View
from kilohertz.syntax import tree

_RESERVED = tuple(name for name in PRIMITIVES if name != "Clock")
_LANGUAGES = ("C", "FORTRAN 77", "builtin")
_ENUM_ATTRIBUTES = ("quantity", "min", "max", "start", "fixed")


def check_classes(views: Iterable[View]) -> Iterator[Diagnostic]:
    """All rules on the classes that a model uses."""
    for view in views:
        definition = view.definition
        if definition.file:  # not a built-in one
            yield from _check_class(definition)


def _check_class(definition: tree.ClassDef) -> Iterator[Diagnostic]:
    yield from _reserved_name(definition, definition)
    if isinstance(definition.body, tree.EnumBody):
        yield from _enumeration(definition, definition.body)
    if isinstance(definition.body, tree.ShortBody) and definition.kind == "operator record":
        yield from _changed_operators(definition, definition.body)
    if not isinstance(definition.body, tree.Body):
        return
    rule = _ELEMENTS.get(definition.kind)
    for element in definition.body.elements:
        if isinstance(element, tree.Component):
            if element.name in _RESERVED:
                yield from _reserved_name(element, definition)
            if rule is not None:
                yield from rule(element, definition)
        elif isinstance(element, tree.ClassDef):
            yield from _operator_class(element, definition)
            yield from _outer_class(element, definition)
    yield from _imports(definition, definition.body)
    if any(isinstance(e, tree.Extends) and e.type.names == ("ExternalObject",) for e in definition.body.elements):
        yield from _external_object(definition, definition.body)
    if definition.kind in ("function", "operator function"):
        yield from _function_sections(definition, definition.body)
    else:
        yield from _sections(definition, definition.body)


# ------------------------------------------------------------------------------------------------------------- by kind


def _record_element(element: tree.Component, definition: tree.ClassDef) -> Iterator[Diagnostic]:
    """MLS 4.6: public elements without input, output, inner, outer, flow or stream."""
    if element.protected:
        yield _misplaced(f"`{element.name}` is protected; all elements of a record are public", element, definition)
    prefix = element.causality or element.connection or _scope(element)
    if prefix:
        text = f"`{element.name}` has the prefix `{prefix}`, which elements of a record cannot have"
        yield _misplaced(text, element, definition)


def _connector_element(element: tree.Component, definition: tree.ClassDef) -> Iterator[Diagnostic]:
    """MLS 4.6, 9.1.3: public elements without inner and outer; no flow directly in an expandable connector."""
    if element.protected:
        yield _misplaced(f"`{element.name}` is protected; all elements of a connector are public", element, definition)
    if _scope(element):
        text = f"`{element.name}` has the prefix `{_scope(element)}`, which elements of a connector cannot have"
        yield _misplaced(text, element, definition)
    if definition.expandable and element.connection == "flow":
        text = f"`{element.name}` is a flow variable, which cannot stand directly in an expandable connector"
        yield _misplaced(text, element, definition)


def _package_element(element: tree.Component, definition: tree.ClassDef) -> Iterator[Diagnostic]:
    """MLS 4.6: classes and constants."""
    if element.variability != "constant":
        text = f"`{element.name}` is no constant; a package has only classes and constants"
        yield _misplaced(text, element, definition)


def _operator_element(element: tree.Component, definition: tree.ClassDef) -> Iterator[Diagnostic]:
    """MLS 4.6: only functions."""
    yield _misplaced(f"`{element.name}` is a component; an operator has only functions", element, definition)


def _operator_class(element: tree.ClassDef, definition: tree.ClassDef) -> Iterator[Diagnostic]:
    """MLS 4.6, 14: operators stand in operator records, encapsulated, and have only functions."""
    is_function = element.kind in ("function", "operator function")
    if definition.kind not in ("operator", "operator record"):
        if element.kind in ("operator", "operator function"):
            text = f"`{element.name}` is an {element.kind}, which only operator records have"
            yield _misplaced(text, element, definition)
        return
    if definition.kind == "operator" and not is_function:
        yield _misplaced(f"`{element.name}` is a {element.kind}; an operator has only functions", element, definition)
    if element.kind in ("operator", "operator function") and not element.encapsulated:
        yield _misplaced(f"the operator `{element.name}` of a record must be encapsulated", element, definition)


def _changed_operators(definition: tree.ClassDef, body: tree.ShortBody) -> Iterator[Diagnostic]:
    """MLS 14.1: a short class changes attributes of components; operators are those of the base class."""
    for arg in body.modification.args if body.modification is not None else ():
        name = arg.names[0] if isinstance(arg, tree.ElementModification) else arg.element.name
        if name.startswith("'"):
            text = f"`{definition.name}` changes the operator `{name}`; it has those of its base class"
            yield _misplaced(text, definition, definition)


def _outer_class(element: tree.ClassDef, definition: tree.ClassDef) -> Iterator[Diagnostic]:
    """MLS 5.4: what an outer class is, the inner one says."""
    modification = element.body.modification if isinstance(element.body, tree.ShortBody) else None
    if element.outer and not element.inner and modification is not None:
        text = f"`{element.name}` is outer and cannot be modified; the inner one can"
        yield Diagnostic("S313", text, _name_span(element, definition))


def _type_element(element: tree.Component, definition: tree.ClassDef) -> Iterator[Diagnostic]:
    """MLS 4.6: a type is a predefined type, an enumeration or an array of them."""
    yield _misplaced(f"`{element.name}` is a component, which a type cannot have", element, definition)


def _sections(definition: tree.ClassDef, body: tree.Body) -> Iterator[Diagnostic]:
    """MLS 4.6: packages, types and operators have no equations; only functions are external."""
    if body.external is not None:
        span = Span(definition.file, body.external.start, body.external.end)
        yield Diagnostic("S302", f"only functions are external; `{definition.name}` is a {definition.kind}", span)
    if definition.kind in ("package", "type", "operator") and body.sections:
        span = Span(definition.file, body.sections[0].start, body.sections[0].end)
        yield Diagnostic("S302", f"a {definition.kind} has no equations or algorithms", span)


def _external_object(definition: tree.ClassDef, body: tree.Body) -> Iterator[Diagnostic]:
    """MLS 12.9.7: two functions, `constructor` and `destructor`, that stay as they are, and nothing else."""
    wanted = ["constructor", "destructor"]
    for element in body.elements:
        if not isinstance(element, tree.Component | tree.ClassDef):
            continue
        if element.name not in wanted or not isinstance(element, tree.ClassDef) or element.kind != "function":
            text = f"`{element.name}`: an external object has only the functions `constructor` and `destructor`"
            yield _misplaced(text, element, definition)
            continue
        wanted.remove(element.name)
        if element.replaceable:
            yield _misplaced(f"`{element.name}` of an external object cannot be replaceable", element, definition)
        yield from _makes_or_ends(element, definition)
    for name in wanted:
        text = f"the external object `{definition.name}` has no function `{name}`"
        yield Diagnostic("S302", text, _name_span(definition, definition))


def _makes_or_ends(function: tree.ClassDef, definition: tree.ClassDef) -> Iterator[Diagnostic]:
    """MLS 12.9.7: a constructor gives back the object alone, a destructor takes it alone and gives nothing."""
    if not isinstance(function.body, tree.Body) or any(isinstance(e, tree.Extends) for e in function.body.elements):
        return
    parts = [e for e in function.body.elements if isinstance(e, tree.Component)]
    inputs, outputs = ([e for e in parts if e.causality == causality] for causality in ("input", "output"))
    if function.name == "constructor" and [e.type.names[-1] for e in outputs] != [definition.name]:
        text = f"a constructor has one output, the object `{definition.name}`"
        yield _misplaced(text, function, definition)
    if function.name == "destructor" and (outputs or [e.type.names[-1] for e in inputs] != [definition.name]):
        text = f"a destructor has one input, the object `{definition.name}`, and no outputs"
        yield _misplaced(text, function, definition)


def _function_element(element: tree.Component, definition: tree.ClassDef) -> Iterator[Diagnostic]:
    """MLS 12.2: neither inner nor outer."""
    if _scope(element):
        text = f"`{element.name}` has the prefix `{_scope(element)}`, which elements of a function cannot have"
        yield Diagnostic("S303", text, _name_span(element, definition))


def _function_sections(definition: tree.ClassDef, body: tree.Body) -> Iterator[Diagnostic]:
    """MLS 12.2, 12.9: one algorithm or an external function, nothing initial; a language that there is."""
    if body.external is not None:
        span = Span(definition.file, body.external.start, body.external.end)
        if body.sections:
            yield Diagnostic("S303", "a function has an algorithm or is external, not both", span)
        if body.external.language not in _LANGUAGES:
            yield Diagnostic("S303", f"`{body.external.language}` is no language of external functions", span)
    first: tree.Section | None = None
    for section in body.sections:
        span = Span(definition.file, section.start, section.end)
        if section.initial:
            yield Diagnostic("S303", "a function has no initial sections", span)
        elif section.algorithm and first is not None:
            note = Note("the first one is here", Span(definition.file, first.start, first.end))
            yield Diagnostic("S303", "a function has only one algorithm section", span, notes=(note,))
        elif section.algorithm:
            first = section


_ELEMENTS = {
    "record": _record_element,
    "operator record": _record_element,
    "connector": _connector_element,
    "package": _package_element,
    "type": _type_element,
    "operator": _operator_element,
    "function": _function_element,
    "operator function": _function_element,
}

# ----------------------------------------------------------------------------------------------------- names, literals


def _reserved_name(element: tree.Component | tree.ClassDef, definition: tree.ClassDef) -> Iterator[Diagnostic]:
    """MLS 4.8: nothing is called like a predefined type."""
    if element.name in _RESERVED:
        text = f"`{element.name}` is a predefined type; nothing else can have that name"
        yield Diagnostic("S304", text, _name_span(element, definition))


def _enumeration(definition: tree.ClassDef, body: tree.EnumBody) -> Iterator[Diagnostic]:
    """MLS 4.9.5: the literals differ, and none is called like an attribute."""
    seen: set[str] = set()
    for name, _ in body.literals:
        if name in seen:
            yield Diagnostic("S305", f"the literal `{name}` stands twice", _name_span(definition, definition))
        if name in _ENUM_ATTRIBUTES:
            text = f"`{name}` is an attribute of every enumeration, so no literal can have that name"
            yield Diagnostic("S305", text, _name_span(definition, definition))
        seen.add(name)


def _imports(definition: tree.ClassDef, body: tree.Body) -> Iterator[Diagnostic]:
    """MLS 13.2.1: one name is imported once."""
    known: dict[str, tree.Import] = {}
    for element in body.elements:
        if not isinstance(element, tree.Import) or element.star:
            continue
        names = element.names or (element.alias or element.path[-1],)
        for name in names:
            first = known.setdefault(name, element)
            if first is not element and (first.path, first.names) != (element.path, element.names):
                note = Note("first here", Span(definition.file, first.start, first.end))
                span = Span(definition.file, element.start, element.end)
                yield Diagnostic("S306", f"`{name}` is imported twice", span, notes=(note,))


def _scope(element: tree.Component) -> str:
    return "inner" if element.inner else "outer" if element.outer else ""


def _misplaced(text: str, element: tree.Component | tree.ClassDef, definition: tree.ClassDef) -> Diagnostic:
    return Diagnostic("S302", text, _name_span(element, definition))


def _name_span(element: tree.Component | tree.ClassDef, definition: tree.ClassDef) -> Span:
    start = element.name_start if isinstance(element, tree.ClassDef) else element.start
    return Span(definition.file, start, start + len(element.name))
