"""Smart constructors: expressions with their types computed and the obvious folded away.

Folding is local and cheap: literals, `x + 0`, `x * 1`, `x * 0`, `--x`, `not not x`, `if true`, an Index of an Array.
What would overflow, divide by zero or leave the range stays an expression, so that whoever evaluates it can complain.
Integer operands become Real where the other side is Real.  Nothing here recurses along chains of operators.
"""

from kilohertz.ir.make.access import field, index
from kilohertz.ir.make.literals import ONE, ZERO, array, fill, is_literal, literal, range_, to_real, zeros
from kilohertz.ir.make.operators import (
    add,
    and_,
    binary,
    div,
    elementwise,
    folded,
    if_,
    is_one,
    is_zero,
    item,
    mul,
    neg,
    not_,
    or_,
    pow_,
    relation,
    sub,
    substitute,
)

__all__ = [
    "ONE",
    "ZERO",
    "add",
    "and_",
    "array",
    "binary",
    "div",
    "elementwise",
    "field",
    "fill",
    "folded",
    "if_",
    "index",
    "is_literal",
    "is_one",
    "is_zero",
    "item",
    "literal",
    "mul",
    "neg",
    "not_",
    "or_",
    "pow_",
    "range_",
    "relation",
    "sub",
    "substitute",
    "to_real",
    "zeros",
]
