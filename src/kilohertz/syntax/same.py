"""Are two trees the same but for where they stand?"""

from __future__ import annotations

from typing import Any

_PLACES = frozenset({"start", "end", "name_start", "file", "lazy"})


def same_tree(a: Any, b: Any) -> bool:
    """Structural equality of nodes (or tuples of them), spans and file names ignored; deep trees need no deep stack."""
    pairs = [(a, b)]
    while pairs:
        left, right = pairs.pop()
        if left is right:
            continue
        if type(left) is not type(right):
            return False
        if isinstance(left, tuple):
            if len(left) != len(right):
                return False
            pairs += zip(left, right, strict=True)
        elif hasattr(left, "__dataclass_fields__"):
            names = left.__dataclass_fields__
            pairs += ((getattr(left, name), getattr(right, name)) for name in names if name not in _PLACES)
        elif left != right:
            return False
    return True
