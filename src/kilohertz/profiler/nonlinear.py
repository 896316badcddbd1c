"""What makes a loop nonlinear: the smallest parts of its equations in which its unknowns do not stand linearly."""

from __future__ import annotations

from collections.abc import Iterator

from kilohertz.ir import step as s
from kilohertz.ir.builtins import BUILTINS
from kilohertz.ir.expr import Binary, Builtin, Expr, IfExp, Ref, Unary
from kilohertz.ir.rules.function_record import Slope
from kilohertz.ir.text.expr_printer import print_shared
from kilohertz.ir.traverse import bottom_up

MOST, LONGEST = 6, 90  # parts that are told; characters of one
_SUMS = ("+", "-", ".+", ".-")


def what_is_nonlinear(block: s.NonlinearLoop) -> tuple[str, ...]:
    """As they stand in the equations, in their order, each once."""
    unknowns = {u.name for u in block.unknowns}
    unknowns |= {t.name for inner in block.inner for t in s.targets(inner)}
    texts: dict[str, None] = {}
    for e in _equations(block):
        for part in _parts(e, unknowns):
            text = print_shared(part)
            texts[text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."] = None
    return tuple(texts)[:MOST]


def _equations(block: s.NonlinearLoop) -> Iterator[Expr]:
    for inner in block.inner:
        yield from s.expressions(inner)
    yield from block.residuals


def _parts(root: Expr, unknowns: set[str]) -> list[Expr]:
    """The smallest parts that are not linear; of each node: None (without unknowns), True (linear), False (not)."""
    nonlinear: list[Expr] = []

    def linear(node: Expr, below: list[bool | None]) -> bool | None:
        if isinstance(node, Ref):
            return True if node.name in unknowns else None
        some = [b for b in below if b is not None]
        if not some:
            return None
        if not all(some):
            return False
        if _keeps_lines(node, below):
            return True
        nonlinear.append(node)
        return False

    bottom_up(root, linear, {})
    return nonlinear


def _keeps_lines(node: Expr, below: list[bool | None]) -> bool:
    """Whether what is linear in the operands with unknowns stays so."""
    match node:
        case Unary():
            return True
        case Binary(op):
            left, right = below
            return op in _SUMS or (op in ("*", ".*") and not (left and right)) or (op in ("/", "./") and not right)
        case IfExp():
            return below[0] is None
        case Builtin(name):
            return BUILTINS[name].same_as is not None or BUILTINS[name].derivative is Slope.LINEAR
        case _:
            return False
