"""Annotations, modifications, component clauses and short classes (MLS A.2.4, A.2.5).

Redeclarations make these one family: a modification may hold a component clause or a short class, which have
modifications themselves.  Long classes are above them, in `parse_class`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kilohertz.syntax.parsing.cursor import Cursor
from kilohertz.syntax.parsing.lexer import ANNOTATION
from kilohertz.syntax.parsing.parse_expr import component_reference, expression, subscripts, type_specifier
from kilohertz.syntax.tree import (
    Annotation,
    Argument,
    Body,
    ClassDef,
    Component,
    Connect,
    Constraint,
    DerBody,
    ElementModification,
    EnumBody,
    Expr,
    Modification,
    Redeclaration,
    Ref,
    ShortBody,
)

# ---------------------------------------------------------------------------------------------------------- annotations

# What the compiler may ask of an annotation; graphics and documentation are read from the source when wanted.
_RELEVANT = re.compile(
    r"Evaluate|derivative|inverse|[Ii]nline|LateInline|smoothOrder|Library|Include|experiment|uses|version|HideResult"
    r"|GenerateEvents|unassignedMessage|missingInnerMessage|default|TestCase|mustBeConnected|mayOnlyConnectOnce"
    r"|absoluteValue|singleInstance|obsolete|__"
).search
_MAX_KEPT = 2000


def annotation(p: Cursor) -> Annotation:
    """`annotation(...)`; the node's characters are the parentheses."""
    i = p.i
    if p.values[i] == ANNOTATION:
        text = p.texts[i]
        at = text.index("(")
        p.i = i + 1
        start, end = p.starts[i] + at, p.ends[i]
        text = text[at:]
    else:
        p.expect("annotation")
        start = p.starts[p.i]
        class_modification(p)
        end = p.ends[p.i - 1]
        text = p.source[start - p.offset : end - p.offset]
    wanted = p.keep_annotations or (len(text) < _MAX_KEPT and _RELEVANT(text))
    return Annotation(start, end, text if wanted else None)


def description(p: Cursor) -> tuple[str, Annotation | None]:
    """An optional comment and annotation."""
    comment = p.comment()
    if p.values[p.i] == ANNOTATION or p.texts[p.i] == "annotation":
        return comment, annotation(p)
    return comment, None


# -------------------------------------------------------------------------------------------------------- modifications


def modification(p: Cursor) -> Modification | None:
    """`(args) = e`, `= e`, `:= e`, or nothing."""
    first = p.i
    text = p.texts[first]
    args: tuple[Argument, ...] = ()
    if text == "(":
        args = class_modification(p)
        text = p.texts[p.i]
    elif text != "=" and text != ":=":
        return None
    binding: Expr | None = None
    if text == "=" or text == ":=":
        p.i += 1
        if p.texts[p.i] == "break":  # MLS 7.2.7: removes the binding; a keyword, so no reference can look like it
            binding = Ref(p.starts[p.i], p.ends[p.i], ("break",))
            p.i += 1
        else:
            binding = expression(p)
    return Modification(p.starts[first], p.ends[p.i - 1], args, binding)


def class_modification(p: Cursor) -> tuple[Argument, ...]:
    """`(a = 1, redeclare model M = N)`."""
    return _arguments(p, None)


def inheritance_modification(p: Cursor) -> tuple[Modification, tuple[str | Connect, ...]]:
    """The modification of an extends clause, and what it breaks off (MLS 7.4)."""
    first = p.i
    breaks: list[str | Connect] = []
    args = _arguments(p, breaks)
    return Modification(p.starts[first], p.ends[p.i - 1], args), tuple(breaks)


def _arguments(p: Cursor, breaks: list[str | Connect] | None) -> tuple[Argument, ...]:
    p.expect("(")
    texts, values = p.texts, p.values
    if texts[p.i] == ")":
        p.i += 1
        return ()
    p.enter()
    args: list[Argument] = []
    while True:
        i = p.i
        if type(values[i]) is tuple:
            args.append(_element_modification(p, i, False, False))
        elif texts[i] == "break" and breaks is not None:
            breaks.append(_break(p))
        else:
            args.append(_argument(p))
        if texts[p.i] != ",":
            break
        p.i += 1
    p.expect(")")
    p.depth -= 1
    return tuple(args)


def _break(p: Cursor) -> str | Connect:
    p.i += 1  # break
    if p.texts[p.i] != "connect":
        return p.identifier("a component name")
    first = p.i
    p.i += 1
    p.expect("(")
    left = component_reference(p)
    p.expect(",")
    right = component_reference(p)
    p.expect(")")
    return Connect(p.starts[first], p.ends[p.i - 1], left, right)


def _element_modification(p: Cursor, first: int, each: bool, final: bool) -> ElementModification:
    names = p.name("the name of an element")
    change = modification(p)
    end = p.ends[p.i - 1]
    comment = p.comment()
    return ElementModification(p.starts[first], end, names, change, each, final, comment)


def _argument(p: Cursor) -> Argument:
    first = p.i
    texts = p.texts
    redeclare = p.accept("redeclare")
    each = p.accept("each")
    final = p.accept("final")
    replaceable = p.accept("replaceable")
    if not redeclare and not replaceable:
        return _element_modification(p, first, each, final)
    element: Component | ClassDef
    element = short_class(p) if texts[p.i] in CLASS_STARTS else _single_component(p)
    if replaceable and texts[p.i] == "constrainedby":
        constrain(p, (element,))
    element.redeclare, element.replaceable, element.final = redeclare, replaceable, final
    return Redeclaration(p.starts[first], p.ends[p.i - 1], element, redeclare, replaceable, each, final)


# ----------------------------------------------------------------------------------------------------------- components


def component_clause(p: Cursor) -> list[Component]:
    """`parameter Real x[3](start = 0) = e if c "comment", y`: the components, in order."""
    variability, causality, connection = _type_prefix(p)
    type_ = type_specifier(p)
    dims = subscripts(p) if p.texts[p.i] == "[" else ()
    components = [_declaration(p, type_, dims, variability, causality, connection)]
    while p.texts[p.i] == ",":
        p.i += 1
        components.append(_declaration(p, type_, dims, variability, causality, connection))
    return components


def _single_component(p: Cursor) -> Component:
    """The component clause of a redeclaration: one component, no dimensions on the type, no condition."""
    prefixes = _type_prefix(p)
    type_ = type_specifier(p)
    dims = subscripts(p) if p.texts[p.i] == "[" else ()
    return _declaration(p, type_, dims, *prefixes)


def _type_prefix(p: Cursor) -> tuple[str, str, str]:
    texts = p.texts
    variability = causality = connection = ""
    if texts[p.i] in ("flow", "stream"):
        connection = texts[p.i]
        p.i += 1
    if texts[p.i] in ("parameter", "constant", "discrete"):
        variability = texts[p.i]
        p.i += 1
    if texts[p.i] in ("input", "output"):
        causality = texts[p.i]
        p.i += 1
    return variability, causality, connection


def _declaration(
    p: Cursor, type_: Ref, dims: tuple[Expr, ...], variability: str, causality: str, connection: str
) -> Component:
    first = p.i
    name = p.identifier("a component name")
    if p.texts[p.i] == "[":
        dims = subscripts(p) + dims
    change = modification(p)
    condition = None
    if p.texts[p.i] == "if":
        p.i += 1
        condition = expression(p)
    end = p.ends[p.i - 1]
    component = Component(
        p.starts[first], end, name, type_, dims, change, condition, variability, causality, connection
    )
    component.comment, component.annotation = description(p)
    return component


def constraining_clause(p: Cursor) -> Constraint:
    """`constrainedby T(mod)`."""
    first = p.i
    p.i += 1
    type_ = type_specifier(p)
    start = p.i
    change = None
    if p.texts[start] == "(":
        args = class_modification(p)
        change = Modification(p.starts[start], p.ends[p.i - 1], args)
    return Constraint(p.starts[first], p.ends[p.i - 1], type_, change)


def constrain(p: Cursor, elements: Sequence[Component | ClassDef]) -> None:
    """A constraining clause with its description, which belongs to the elements before it."""
    constraint = constraining_clause(p)
    comment, note = description(p)
    for element in elements:
        element.constraint = constraint
        element.comment = element.comment or comment
        element.annotation = element.annotation or note


# -------------------------------------------------------------------------------------------------------------- classes

_PLAIN_KINDS = frozenset({"class", "model", "record", "block", "connector", "type", "package", "function"})
CLASS_STARTS = _PLAIN_KINDS | {"encapsulated", "partial", "expandable", "operator", "pure", "impure"}


def class_prefixes(p: Cursor) -> ClassDef:
    """`encapsulated partial ... model`: a class definition without name and content yet."""
    first = p.i
    texts = p.texts
    encapsulated = p.accept("encapsulated")
    partial = p.accept("partial")
    purity = texts[p.i] if texts[p.i] in ("pure", "impure") else ""
    if purity:
        p.i += 1
    expandable = p.accept("expandable")
    kind = _class_kind(p)
    if purity and not kind.endswith("function"):
        p.i -= 1
        p.fail("`function`")
    if expandable and kind != "connector":
        p.i -= 1
        p.fail("`connector`")
    definition = ClassDef(p.starts[first], 0, "", kind, _NO_BODY, p.file, p.path)
    definition.encapsulated, definition.partial = encapsulated, partial
    definition.expandable, definition.purity = expandable, purity
    return definition


_NO_BODY = Body((), ())


def _class_kind(p: Cursor) -> str:
    text = p.texts[p.i]
    if text in _PLAIN_KINDS:
        p.i += 1
        return text
    if text != "operator":
        p.fail("a class (`model`, `block`, `record`, ...)")
    p.i += 1
    follows = p.texts[p.i]
    if follows == "record" or follows == "function":
        p.i += 1
        return "operator " + follows
    return "operator"


def short_class(p: Cursor) -> ClassDef:
    """A short class definition: `model M = N(x = 1)`."""
    definition = class_prefixes(p)
    short_specifier(p, definition)
    return definition


def short_specifier(p: Cursor, definition: ClassDef) -> None:
    """What follows the prefixes in `A = B[3](mod)`, `A = enumeration(...)` or `A = der(f, x)`."""
    definition.name_start = p.starts[p.i]
    definition.name = p.identifier("a class name")
    p.expect("=")
    text = p.texts[p.i]
    if text == "enumeration":
        definition.body = _enumeration(p)
    elif text == "der":
        definition.body = _der_class(p)
    else:
        definition.body = _short_body(p)
    definition.end = p.ends[p.i - 1]
    definition.comment, definition.annotation = description(p)


def _short_body(p: Cursor) -> ShortBody:
    causality = ""
    if p.texts[p.i] in ("input", "output"):
        causality = p.texts[p.i]
        p.i += 1
    type_ = type_specifier(p)
    dims = subscripts(p) if p.texts[p.i] == "[" else ()
    first = p.i
    change = None
    if p.texts[first] == "(":
        args = class_modification(p)
        change = Modification(p.starts[first], p.ends[p.i - 1], args)
    return ShortBody(type_, dims, change, causality)


def _enumeration(p: Cursor) -> EnumBody:
    p.i += 1
    p.expect("(")
    if p.texts[p.i] == ":":
        p.i += 1
        p.expect(")")
        return EnumBody((), True)
    literals: list[tuple[str, str]] = []
    while p.texts[p.i] != ")":
        if literals:
            p.expect(",")
        name = p.identifier("an enumeration literal")
        literals.append((name, description(p)[0]))
    p.i += 1
    return EnumBody(tuple(literals))


def _der_class(p: Cursor) -> DerBody:
    p.i += 1
    p.expect("(")
    function = type_specifier(p)
    variables: list[str] = []
    while p.texts[p.i] == ",":
        p.i += 1
        variables.append(p.identifier("the name of an input"))
    if not variables:
        p.fail("`,`")
    p.expect(")")
    return DerBody(function, tuple(variables))
