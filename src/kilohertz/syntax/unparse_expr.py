"""Expressions as text, with the fewest parentheses that give the same tree again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kilohertz.syntax import tree
from kilohertz.syntax.precedence import LEVELS, NOT, OPERAND, OR, PRODUCT, RELATION, SUM, UNCHAINED

_ANY, _SIMPLE = 0, 0.5  # below all operators: anything, and anything but a bare `if`
_ESCAPES = str.maketrans(
    {
        "\\": "\\\\",
        '"': '\\"',
        "\a": "\\a",
        "\b": "\\b",
        "\f": "\\f",
        "\n": "\\n",
        "\r": "\\r",
        "\t": "\\t",
        "\v": "\\v",
    }
)


def expression_text(node: tree.Expr, level: float = _ANY) -> str:
    """The expression as text; in parentheses where it binds less tightly than `level` asks for."""
    text = _PRINTERS[type(node)](node)
    return f"({text})" if _binding(node) < level else text


def left_side_text(node: tree.Expr) -> str:
    """The left side of an equation, where a bare `if` cannot stand."""
    return expression_text(node, _SIMPLE)


def string_text(value: str) -> str:
    """A string literal."""
    return '"' + value.translate(_ESCAPES) + '"'


def subscripts_text(subs: tuple[tree.Expr, ...]) -> str:
    """`[i, :]`, or nothing."""
    return f"[{_list(subs)}]" if subs else ""


def iterators_text(iterators: tuple[tree.Iterator, ...]) -> str:
    """`i in 1:n, j`."""
    return ", ".join(_iterator(iterator) for iterator in iterators)


def _binding(node: tree.Expr) -> float:
    match node:
        case tree.Binary():
            return LEVELS[node.op]
        case tree.Unary():
            return NOT if node.op == "not" else SUM
        case tree.IfExp():
            return _ANY
        case tree.Range():
            return _SIMPLE
        case tree.Number():
            return SUM if node.value < 0 else OPERAND
        case _:
            return OPERAND


def _list(nodes: tuple[tree.Expr, ...]) -> str:
    return ", ".join(map(expression_text, nodes))


def _iterator(node: tree.Iterator) -> str:
    return node.name if node.range is None else f"{node.name} in {expression_text(node.range)}"


def _ref(node: tree.Ref) -> str:
    dot = "." if node.absolute else ""
    if node.subs is None:
        return dot + ".".join(node.names)
    parts = zip(node.names, node.subs, strict=True)
    return dot + ".".join(name + subscripts_text(subs) for name, subs in parts)


def _binary(node: tree.Binary) -> str:
    """Follows the left operands in a loop: sums may be long."""
    tail: list[str] = []
    left: tree.Expr = node
    while isinstance(left, tree.Binary):
        level = LEVELS[left.op]
        tail.append(f"{left.op} {expression_text(left.right, level + 1)}")
        needed = level + 1 if level in UNCHAINED else level
        left = left.left
        if _binding(left) < needed or not isinstance(left, tree.Binary):
            tail.append(expression_text(left, needed))
            break
    return " ".join(reversed(tail))


def _unary(node: tree.Unary) -> str:
    if node.op == "not":
        return "not " + expression_text(node.operand, RELATION)
    return node.op + expression_text(node.operand, PRODUCT)


def _if(node: tree.IfExp) -> str:
    branches = (f"if {expression_text(c)} then {expression_text(e)}" for c, e in node.branches)
    return " else".join(branches) + " else " + expression_text(node.otherwise)


def _range(node: tree.Range) -> str:
    parts = (node.first, node.last) if node.step is None else (node.first, node.step, node.last)
    return ":".join(expression_text(part, OR) for part in parts)


def _call(node: tree.Call) -> str:
    parts = [expression_text(arg) for arg in node.args]
    return f"{_ref(node.function)}({', '.join(parts + _named(node.named))})"


def _partial_call(node: tree.PartialCall) -> str:
    return f"function {_ref(node.function)}({', '.join(_named(node.named))})"


def _named(named: tuple[tuple[str, tree.Expr], ...]) -> list[str]:
    return [f"{name} = {expression_text(value)}" for name, value in named]


def _comprehension(node: tree.Comprehension) -> str:
    text = f"{expression_text(node.body)} for {iterators_text(node.iterators)}"
    return "{" + text + "}" if node.braces else text


def _tuple(node: tree.Tuple) -> str:
    return "(" + ", ".join("" if e is None else expression_text(e) for e in node.elements) + ")"


_PRINTERS: dict[type, Callable[[Any], str]] = {
    tree.Number: lambda node: repr(node.value),
    tree.String: lambda node: string_text(node.value),
    tree.Boolean: lambda node: "true" if node.value else "false",
    tree.End: lambda node: "end",
    tree.Colon: lambda node: ":",
    tree.Ref: _ref,
    tree.Unary: _unary,
    tree.Binary: _binary,
    tree.IfExp: _if,
    tree.Range: _range,
    tree.Call: _call,
    tree.PartialCall: _partial_call,
    tree.Array: lambda node: "{" + _list(node.elements) + "}",
    tree.Comprehension: _comprehension,
    tree.Matrix: lambda node: "[" + "; ".join(map(_list, node.rows)) + "]",
    tree.Tuple: _tuple,
    tree.Subscripted: lambda node: f"({expression_text(node.base)}){subscripts_text(node.subs)}",
    tree.FieldOf: lambda node: f"({expression_text(node.base)}).{node.name}",
}
