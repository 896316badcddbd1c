"""Dimensions of an array that are said by other dimensions of it: `A[:, size(A, 1)]`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from kilohertz.syntax import tree


def own_size(name: str, expr: tree.Expr, dims: Sequence[tree.Expr]) -> tree.Expr:
    """`x[size(x, 2), 3]`: what the other dimension says, where that is told by something else."""
    seen: set[int] = set()
    while (place := _place_asked(name, expr)) is not None:
        if place in seen or not 0 <= place < len(dims) or isinstance(dims[place], tree.Colon):
            break
        seen.add(place)
        expr = dims[place]
    return expr


def _place_asked(name: str, expr: tree.Expr) -> int | None:
    """Of `size(x, 2)` the 1; None where it is something else."""
    if not isinstance(expr, tree.Call) or expr.function.names != ("size",) or len(expr.args) != 2:
        return None
    of, k = expr.args
    if not isinstance(of, tree.Ref) or of.names != (name,) or not isinstance(k, tree.Number):
        return None
    return int(k.value) - 1


def speaks_of(name: str, k: int, expr: tree.Expr) -> bool:
    """Whether a dimension is said by others of the same array."""
    if k == 0:
        return _place_asked(name, expr) not in (None, 0)
    return any(r.names == (name,) for r in tree.refs(expr))


def with_own_sizes(name: str, expr: tree.Expr, sizes: Sequence[int]) -> tree.Expr | None:
    """With the numbers that `size(x, 1)`, `size(x, 2)` are; None where it does not speak of the array, or otherwise."""
    if all(r.names != (name,) for r in tree.refs(expr)):
        return None
    known: tree.Expr = _filled(name, expr, sizes)
    return known if all(r.names != (name,) for r in tree.refs(known)) else None


def _filled(name: str, node: Any, sizes: Sequence[int]) -> Any:
    if isinstance(node, tuple):
        return tuple(_filled(name, part, sizes) for part in node)
    if not is_dataclass(node) or isinstance(node, type):
        return node
    place = _place_asked(name, node)  # type: ignore[arg-type]
    if place is not None and 0 <= place < len(sizes):
        return tree.Number(node.start, node.end, sizes[place])  # type: ignore[attr-defined]
    return replace(node, **{f.name: _filled(name, getattr(node, f.name), sizes) for f in fields(node)})
