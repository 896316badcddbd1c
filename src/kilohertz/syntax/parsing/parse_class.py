"""Long classes: elements, sections, external clauses, `end Name` (MLS A.2.2, A.2.3)."""

from __future__ import annotations

from collections.abc import Sequence

from kilohertz.base import Diagnostic, Note, Span
from kilohertz.syntax.parsing.cursor import BLOCKS, Cursor, Unexpected
from kilohertz.syntax.parsing.lexer import ANNOTATION, KEYWORDS, STRING, unescape
from kilohertz.syntax.parsing.parse_decl import (
    CLASS_STARTS,
    annotation,
    class_modification,
    class_prefixes,
    component_clause,
    constrain,
    description,
    inheritance_modification,
    short_specifier,
)
from kilohertz.syntax.parsing.parse_equation import equations, statements
from kilohertz.syntax.parsing.parse_expr import component_reference, expression, type_specifier
from kilohertz.syntax.tree import (
    Body,
    ClassDef,
    Component,
    Connect,
    Element,
    Expr,
    Extends,
    External,
    Import,
    Modification,
    Section,
)


def class_definition(p: Cursor) -> ClassDef:
    """Any class definition, long or short, without the semicolon."""
    definition = class_prefixes(p)
    if p.texts[p.i] == "extends":
        p.i += 1
        _long_class(p, definition, True)
    elif p.texts[p.i + 1] == "=":
        short_specifier(p, definition)
    else:
        _long_class(p, definition, False)
    return definition


def _long_class(p: Cursor, definition: ClassDef, is_extension: bool) -> None:
    definition.name_start = p.starts[p.i]
    if _is_nameless(p) and not is_extension:
        message = f"the {definition.kind} has no name: one is expected before `{p.texts[p.i]}`"
        p.report(Unexpected(Diagnostic("P101", message, p.span())))
    else:
        definition.name = p.identifier("a class name")
    change = None
    if is_extension and p.texts[p.i] == "(":
        first = p.i
        args = class_modification(p)
        change = Modification(p.starts[first], p.ends[p.i - 1], args)
    definition.comment = p.comment()
    path, blocks = p.path, p.blocks
    p.path, p.blocks = (*path, definition.name), 0
    p.open.append(definition.name)
    try:
        p.enter()
        body = _composition(p, definition)
    finally:
        p.depth -= 1
        p.path, p.blocks = path, blocks
        p.open.pop()
    body.extends, body.is_extension = change, is_extension
    definition.body = body
    definition.end = p.ends[p.i - 1]


def _is_nameless(p: Cursor) -> bool:
    """`model Real x;`: what stands in the place of the name begins a declaration, which would have no type."""
    is_named = type(p.values[p.i]) is tuple and type(p.values[p.i + 1]) is tuple
    return is_named and p.texts[p.i + 1] not in KEYWORDS and p.texts[p.i + 2] in (";", "=", "(", ",")


# ---------------------------------------------------------------------------------------------------------- composition


def _composition(p: Cursor, definition: ClassDef) -> Body:
    """Everything between the name and `end Name`, both read."""
    elements: list[Element] = []
    sections: list[Section] = []
    body = Body((), ())
    protected = False
    texts = p.texts
    while True:
        first = p.i
        text = texts[first]
        if text == "end" or not text:
            if _closes(p, definition):
                break
        elif text == "public" or text == "protected":
            protected = text == "protected"
            p.i = first + 1
        else:
            depth = p.depth
            try:
                if p.values[first] == ANNOTATION or text == "annotation":
                    _class_annotation(p, definition)
                elif text in _SECTION_STARTS and (text != "initial" or texts[first + 1] in _SECTION_STARTS):
                    sections.append(_section(p))
                elif text == "external":
                    body.external = _external(p)
                else:
                    _element(p, elements, protected)
            except Unexpected as error:
                p.depth, p.in_subscript = depth, 0
                p.recover(error, first)
    body.elements, body.sections = tuple(elements), tuple(sections)
    return body


_SECTION_STARTS = frozenset({"initial", "equation", "algorithm"})


def _closes(p: Cursor, definition: ClassDef) -> bool:
    """At `end` or the end of the text: is the class over?  Steps over `end Name` and over what closes nothing."""
    opened = (Note(f"`{definition.name}` begins here", _name_span(p, definition)),)
    name = p.texts[p.i + 1]
    if not p.texts[p.i]:
        p.unclosed = True
        message = f"`end {definition.name}` is missing"
        if all(d.code != "P102" for d in p.diagnostics):  # a string left open has swallowed it
            p.report(Unexpected(Diagnostic("P104", message, p.span(), notes=opened)))
        return True
    if name == definition.name:
        p.i += 2
        return True
    if not definition.name:  # whatever it is called
        p.i += 1 + (type(p.values[p.i + 1]) is tuple)
        return True
    closable = type(p.values[p.i + 1]) is tuple
    if closable and name in p.open[:-1]:
        message = f"`end {definition.name}` is missing before `end {name}`"
        p.report(Unexpected(Diagnostic("P104", message, p.span(), notes=opened)))
        p.unclosed = True
        return True
    if not p.failed():
        p.i += 1
        closing = f"`end {name}`" if closable or name in BLOCKS else f"`end` and {p.shown(p.i)}"
        message = f"expected `end {definition.name}`, found {closing}"
        p.report(Unexpected(Diagnostic("P104", message, p.span(), notes=opened)))
        if closable:
            p.i += 1
            return True
        p.i -= 1
    p.i += 2 if closable or name in BLOCKS else 1
    if p.texts[p.i] == ";":
        p.i += 1
    return False


def _name_span(p: Cursor, definition: ClassDef) -> Span:
    return Span(p.file, definition.name_start, definition.name_start + len(definition.name))


def _class_annotation(p: Cursor, definition: ClassDef) -> None:
    if definition.annotation is not None:
        p.warn("P112", f"`{definition.name}` has more than one annotation; the last one counts", p.span())
    definition.annotation = annotation(p)
    p.expect_semicolon()


def _section(p: Cursor) -> Section:
    first = p.i
    initial = p.texts[first] == "initial"
    if initial:
        p.i += 1
    algorithm = p.texts[p.i] == "algorithm"
    p.i += 1
    items = statements(p) if algorithm else equations(p)
    return Section(p.starts[first], p.ends[p.i - 1], initial, algorithm, items)


def _external(p: Cursor) -> External:
    first = p.i
    p.i += 1
    language, result, name = "C", None, None
    args: list[Expr] = []
    if p.values[p.i] == STRING:
        language = unescape(p.texts[p.i])
        p.i += 1
    if type(p.values[p.i]) is tuple and p.texts[p.i + 1] != "(":
        result = component_reference(p)
        p.expect("=")
    if type(p.values[p.i]) is tuple:
        name = p.identifier("the name of an external function")
        p.expect("(")
        while p.texts[p.i] != ")":
            if args:
                p.expect(",")
            args.append(expression(p))
        p.i += 1
    end = p.ends[p.i - 1]
    note = annotation(p) if p.values[p.i] == ANNOTATION or p.texts[p.i] == "annotation" else None
    p.expect_semicolon()
    return External(p.starts[first], end, language, result, name, tuple(args), note)


# ------------------------------------------------------------------------------------------------------------- elements


def _element(p: Cursor, elements: list[Element], protected: bool) -> None:
    """One element clause with its semicolon."""
    text = p.texts[p.i]
    if text == "import":
        elements.append(_import(p, protected))
    elif text == "extends":
        elements.append(_extends(p, protected))
    else:
        _declared(p, elements, protected)
        if p.unclosed:
            p.unclosed = False
            return
    p.expect_semicolon()


def _declared(p: Cursor, elements: list[Element], protected: bool) -> None:
    """A component clause or a class with its prefixes."""
    texts = p.texts
    prefixes = []
    for prefix in _PREFIXES:
        if texts[p.i] == prefix:
            prefixes.append(prefix)
            p.i += 1
    new: Sequence[ClassDef | Component]
    new = (class_definition(p),) if texts[p.i] in CLASS_STARTS else component_clause(p)
    if texts[p.i] == "constrainedby" and "replaceable" in prefixes:
        constrain(p, new)
    for element in new:
        element.protected = protected
        for prefix in prefixes:
            setattr(element, prefix, True)
    elements += new


_PREFIXES = ("redeclare", "final", "inner", "outer", "replaceable")  # in the only order the grammar allows


def _extends(p: Cursor, protected: bool) -> Extends:
    first = p.i
    p.i += 1
    base = type_specifier(p)
    change = None
    breaks: tuple[str | Connect, ...] = ()
    if p.texts[p.i] == "(":
        change, breaks = inheritance_modification(p)
    end = p.ends[p.i - 1]
    _, note = description(p)
    return Extends(p.starts[first], end, base, change, note, protected, breaks)


def _import(p: Cursor, protected: bool) -> Import:
    first = p.i
    p.i += 1
    node = Import(p.starts[first], 0, (), None, False, (), protected)
    if p.texts[p.i + 1] == "=":
        node.alias = p.identifier("the name to import as")
        p.i += 1
        node.path = p.name("the name of a class")
    else:
        node.path = p.name("the name of a package or class")
        text, follows = p.texts[p.i], p.texts[p.i + 1]
        if text == ".*" or (text == "." and follows == "*"):
            p.i += 1 if text == ".*" else 2
            node.star = True
        elif text == "." and follows == "{":
            node.names = _import_list(p)
        else:
            node.alias = node.path[-1]
    node.end = p.ends[p.i - 1]
    description(p)
    return node


def _import_list(p: Cursor) -> tuple[str, ...]:
    p.i += 2
    names = [p.identifier()]
    while p.texts[p.i] == ",":
        p.i += 1
        names.append(p.identifier())
    p.expect("}")
    return tuple(names)
