"""From Tree back to text: `unparse` prints any node so that parsing gives the same tree (but for the spans)."""

from __future__ import annotations

from typing import Any, TypeAlias, get_args

from kilohertz.syntax import tree as t
from kilohertz.syntax.unparse_expr import (
    expression_text,
    iterators_text,
    left_side_text,
    string_text,
    subscripts_text,
)

Node: TypeAlias = (
    t.Expr
    | t.Iterator
    | t.Annotation
    | t.Modification
    | t.Argument
    | t.Constraint
    | t.Element
    | t.Section
    | t.External
    | t.Equation
    | t.Statement
    | t.StoredDefinition
)
_EXPRESSIONS = get_args(t.Expr)
_STEP = "  "


def unparse(node: Node, source: str | None = None) -> str:
    """The node as Modelica text.

    An annotation whose text the tree does not carry is copied from `source`, the text of the file; without that it is
    left out.  Components of one clause come out as a clause each; comments (`//`) are not in the tree.
    """
    if isinstance(node, _EXPRESSIONS):
        return expression_text(node)
    return _Printer(source).node(node)


class _Printer:
    """Prints with the annotations of one source."""

    def __init__(self, source: str | None) -> None:
        self._source = source

    def node(self, node: Any) -> str:
        match node:
            case t.StoredDefinition():
                return self._stored(node)
            case t.ClassDef() | t.Component() | t.Import() | t.Extends():
                return self._element(node, "")
            case t.Section():
                return self._section(node, "")
            case t.External():
                return self._external(node)
            case t.Modification():
                return self._modification(node)
            case t.ElementModification() | t.Redeclaration():
                return self._argument(node)
            case t.Constraint():
                return self._constraint(node).lstrip()
            case t.Annotation():
                return self._annotation(node).lstrip()
            case t.Iterator():
                return iterators_text((node,))
            case _:
                return self._item(node, "")

    def _stored(self, node: t.StoredDefinition) -> str:
        lines = [] if node.within is None else [f"within {'.'.join(node.within)};"]
        finals = node.final or (False,) * len(node.classes)
        for cls, final in zip(node.classes, finals, strict=True):
            lines.append(("final " if final else "") + self._class(cls, "") + ";")
        return "\n".join(lines) + "\n"

    # ------------------------------------------------------------------------------------------------------ small parts

    def _annotation(self, node: t.Annotation | None) -> str:
        if node is None:
            return ""
        text = node.text
        if text is None and self._source is not None:
            text = self._source[node.start : node.end]
        return "" if text is None else " annotation" + text

    def _description(self, node: t.Component | t.ClassDef) -> str:
        return _comment(node.comment) + self._annotation(node.annotation)

    def _modification(self, node: t.Modification | None, breaks: tuple[str | t.Connect, ...] = ()) -> str:
        if node is None:
            return ""
        parts = [self._argument(arg) for arg in node.args]
        parts += [f"break {b}" if isinstance(b, str) else f"break {_connect(b)}" for b in breaks]
        binding = "" if node.binding is None else " = " + expression_text(node.binding)
        return (f"({', '.join(parts)})" if parts or not binding else "") + binding

    def _argument(self, node: t.Argument) -> str:
        each = "each " if node.each else ""
        final = "final " if node.final else ""
        if isinstance(node, t.ElementModification):
            return f"{each}{final}{'.'.join(node.names)}{self._modification(node.modification)}{_comment(node.comment)}"
        redeclare = "redeclare " if node.redeclare else ""
        replaceable = "replaceable " if node.replaceable else ""
        element = node.element
        text = self._class(element, "") if isinstance(element, t.ClassDef) else self._component(element)
        return redeclare + each + final + replaceable + text

    def _constraint(self, node: t.Constraint | None) -> str:
        if node is None:
            return ""
        return f" constrainedby {expression_text(node.type)}{self._modification(node.modification)}"

    # --------------------------------------------------------------------------------------------------------- elements

    def _element(self, node: t.Element, indent: str) -> str:
        match node:
            case t.Import():
                return _import(node)
            case t.Extends():
                change = self._modification(node.modification, node.breaks)
                return f"extends {expression_text(node.type)}{change}{self._annotation(node.annotation)}"
            case t.Component():
                return _prefixes(node) + self._component(node)
            case t.ClassDef():
                return _prefixes(node) + self._class(node, indent)

    def _component(self, node: t.Component) -> str:
        words = (node.connection, node.variability, node.causality, expression_text(node.type), node.name)
        text = " ".join(word for word in words if word)
        text += subscripts_text(node.dims) + self._modification(node.modification)
        if node.condition is not None:
            text += " if " + expression_text(node.condition)
        return text + self._constraint(node.constraint) + self._description(node)

    def _class(self, node: t.ClassDef, indent: str) -> str:
        flags = (("encapsulated", node.encapsulated), ("partial", node.partial), (node.purity, bool(node.purity)))
        words = [word for word, is_set in (*flags, ("expandable", node.expandable)) if is_set]
        head = " ".join((*words, node.kind))
        body = node.body
        if isinstance(body, t.Body):
            return self._long_class(node, body, head, indent)
        return f"{head} {node.name} = {self._short(body)}{self._constraint(node.constraint)}{self._description(node)}"

    def _short(self, body: t.ShortBody | t.EnumBody | t.DerBody) -> str:
        match body:
            case t.ShortBody():
                causality = body.causality + " " if body.causality else ""
                change = self._modification(body.modification)
                return causality + expression_text(body.type) + subscripts_text(body.dims) + change
            case t.EnumBody():
                literals = ", ".join(name + _comment(comment) for name, comment in body.literals)
                return f"enumeration({':' if body.open else literals})"
            case t.DerBody():
                return f"der({', '.join((expression_text(body.function), *body.variables))})"

    def _long_class(self, node: t.ClassDef, body: t.Body, head: str, indent: str) -> str:
        inner = indent + _STEP
        extension = f"extends {node.name}{self._modification(body.extends)}" if body.is_extension else node.name
        lines = [f"{head} {extension}{_comment(node.comment)}"]
        protected = False
        for element in body.elements:
            if element.protected != protected:
                protected = element.protected
                lines.append(indent + ("protected" if protected else "public"))
            lines.append(f"{inner}{self._element(element, inner)};")
        lines += (indent + self._section(section, indent) for section in body.sections)
        if body.external is not None:
            lines.append(f"{inner}{self._external(body.external)};")
        if text := self._annotation(node.annotation):
            lines.append(f"{indent} {text};")
        lines.append(f"{indent}end {node.name}{self._constraint(node.constraint)}")
        return "\n".join(lines)

    def _external(self, node: t.External) -> str:
        text = "external " + string_text(node.language)
        if node.result is not None:
            text += f" {expression_text(node.result)} ="
        if node.name is not None:
            text += f" {node.name}({', '.join(map(expression_text, node.args))})"
        return text + self._annotation(node.annotation)

    # ----------------------------------------------------------------------------------------- equations and statements

    def _section(self, node: t.Section, indent: str) -> str:
        head = ("initial " if node.initial else "") + ("algorithm" if node.algorithm else "equation")
        return head + self._items(node.items, indent + _STEP)

    def _items(self, items: tuple[t.Equation | t.Statement, ...], indent: str) -> str:
        return "".join(f"\n{indent}{self._item(item, indent)};" for item in items)

    def _item(self, node: t.Equation | t.Statement, indent: str) -> str:
        return self._item_text(node, indent) + _comment(node.comment)

    def _item_text(self, node: t.Equation | t.Statement, indent: str) -> str:
        match node:
            case t.Equality():
                return f"{left_side_text(node.left)} = {expression_text(node.right)}"
            case t.Assignment():
                return f"{expression_text(node.target)} := {expression_text(node.value)}"
            case t.Connect():
                return _connect(node)
            case t.CallEquation() | t.CallStatement():
                return expression_text(node.call)
            case t.Break():
                return "break"
            case t.Return():
                return "return"
            case _:
                return self._block(node, indent)

    def _block(
        self,
        node: t.IfEquation
        | t.IfStatement
        | t.WhenEquation
        | t.WhenStatement
        | t.ForEquation
        | t.ForStatement
        | t.WhileStatement,
        indent: str,
    ) -> str:
        inner = indent + _STEP
        match node:
            case t.IfEquation() | t.IfStatement():
                text = self._branches(node.branches, "if", indent)
                if node.otherwise:
                    text += f"else{self._items(node.otherwise, inner)}\n{indent}"
                return text + "end if"
            case t.WhenEquation() | t.WhenStatement():
                return self._branches(node.branches, "when", indent) + "end when"
            case t.ForEquation() | t.ForStatement():
                body = self._items(node.body, inner)
                return f"for {iterators_text(node.iterators)} loop{body}\n{indent}end for"
            case t.WhileStatement():
                return f"while {expression_text(node.condition)} loop{self._items(node.body, inner)}\n{indent}end while"

    def _branches(self, branches: tuple[tuple[t.Expr, tuple[Any, ...]], ...], keyword: str, indent: str) -> str:
        parts = (
            f"{keyword} {expression_text(condition)} then{self._items(items, indent + _STEP)}\n{indent}"
            for condition, items in branches
        )
        return "else".join(parts)


def _comment(text: str) -> str:
    return " " + string_text(text) if text else ""


def _connect(node: t.Connect) -> str:
    return f"connect({expression_text(node.left)}, {expression_text(node.right)})"


def _prefixes(node: t.Component | t.ClassDef) -> str:
    names = ("redeclare", "final", "inner", "outer", "replaceable")
    return "".join(f"{name} " for name in names if getattr(node, name))


def _import(node: t.Import) -> str:
    path = ".".join(node.path)
    if node.star:
        return f"import {path}.*"
    if node.names:
        return f"import {path}.{{{', '.join(node.names)}}}"
    return f"import {path}" if node.alias == node.path[-1] else f"import {node.alias} = {path}"
