"""Which operands of an expression are evaluated on a condition only, and what may fail there."""

from __future__ import annotations

from kilohertz.ir.expr import Binary, Builtin, Call, Comprehension, Expr, IfExp, Index


def opens_scope(node: Expr, child: int) -> bool:
    """Whether an operand stands in a scope of its own: a branch, the right side of `and`/`or`, the body of a loop."""
    match node:
        case IfExp():
            return child > 0
        case Binary("and" | "or", _, _):
            return child == 1
        case Comprehension():
            return child == 0
        case _:
            return False


def opens_scopes(node: Expr) -> bool:
    """Whether one of its operands does."""
    kind = type(node)
    return kind is IfExp or kind is Comprehension or (isinstance(node, Binary) and node.op in ("and", "or"))


def is_checked(node: Expr) -> bool:
    """A call, or a subscript that has to be in its bounds."""
    return isinstance(node, (Call, Index)) or (isinstance(node, Builtin) and node.name == "$subscript")
