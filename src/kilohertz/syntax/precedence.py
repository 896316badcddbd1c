"""How tightly the operators bind (MLS 3.2): parser and printer agree by these levels."""

from __future__ import annotations

OR, AND, NOT, RELATION, SUM, PRODUCT, POWER, OPERAND = range(1, 9)
LEVELS = (
    {"or": OR, "and": AND}
    | dict.fromkeys(("<", "<=", ">", ">=", "==", "<>"), RELATION)
    | dict.fromkeys(("+", "-", ".+", ".-"), SUM)
    | dict.fromkeys(("*", "/", ".*", "./"), PRODUCT)
    | dict.fromkeys(("^", ".^"), POWER)
)
SIGNS = frozenset({"+", "-", ".+", ".-"})
UNCHAINED = frozenset({RELATION, POWER})  # `a < b < c` and `a ^ b ^ c` are not in the grammar
