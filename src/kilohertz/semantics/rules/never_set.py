"""Parts of arrays and records that a function uses and never sets: S346, a warning; they are 0 (decision 48).

Only what is plain: statements set other parts of the variable, each named by literals, none sets it as a whole, and the
part that none names is read by its name, or with the whole array, or the array is a result.  Records as results are
let alone: those of media have fields that not every function knows.  Cost: every statement once.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from kilohertz.base import Diagnostic, Note, Severity
from kilohertz.ir.assigned import places_set, root
from kilohertz.ir.expr import Builtin, Colon, Expr, Field, Index, Int, Range, Ref
from kilohertz.ir.flat import Flat, Function, Local
from kilohertz.ir.text.expr_printer import print_expr
from kilohertz.ir.traverse import expressions_in, walk_all
from kilohertz.ir.types import RecordType
from kilohertz.semantics.rules.assignability import assignments_in

_MOST_ELEMENTS = 1000  # of an array that is looked at
_SHOWN = 3


def check_parts(flat: Flat) -> Iterator[Diagnostic]:
    """One for each variable of a function."""
    for f in flat.functions.values():
        if f.external is not None or f.partial_of or f.is_record_constructor:
            continue
        for v in (*f.outputs, *f.locals):
            parts = _unnamed(f, v) if v.default is None else []
            used = parts if parts and _is_used_whole(f, v) else [p for p in parts if p in _read(f)]
            if used:
                shown = ", ".join(f"`{print_expr(p)}`" for p in used[:_SHOWN]) + (", ..." if len(used) > _SHOWN else "")
                text = f"{shown} of `{f.id}` is never set, while other parts of `{v.name}` are: it is 0"
                spans = [o.spans[0] for name, o in assignments_in(f.body) if name == v.name and o.spans]
                place = min(spans, key=lambda span: span.start) if spans else None
                notes = (Note("assign it, or declare the variable with a value"),)
                yield Diagnostic("S346", text, place, notes=notes, severity=Severity.WARNING)


def _unnamed(f: Function, v: Local) -> list[Expr]:
    """Parts that no statement sets; none where that is not plain, or no statement sets any."""
    first = [_first(t) for t in places_set(f.body) if root(t) == v.name]
    whole = Ref(v.name, v.ty)
    if not first:
        return []
    if isinstance(v.ty.base, RecordType) and not v.ty.dims:
        named = {t.name for t in first if isinstance(t, Field)}
        is_plain = all(isinstance(t, Field) for t in first)
        return [Field(whole, n) for n, _ in v.ty.base.fields if n not in named] if is_plain else []
    dims = [d for d in v.ty.dims if d is not None]
    count = 1
    for d in dims:
        count *= d
    if len(dims) < len(v.ty.dims) or not 0 < count <= _MOST_ELEMENTS:
        return []
    covered: set[tuple[int, ...]] = set()
    for t in first:
        lists = _positions(t, dims) if isinstance(t, Index) else None
        if lists is None:
            return []
        covered.update(product(*lists))
    every = product(*(range(1, d + 1) for d in dims))
    return [Index(whole, tuple(Int(k) for k in at), v.ty.scalar()) for at in every if at not in covered]


def _first(target: Expr) -> Expr:
    """Of `a[1].b.c` the part `a[1]`."""
    while isinstance(target, Index | Field) and isinstance(target.base, Index | Field):
        target = target.base
    return target


def _positions(t: Index, dims: list[int]) -> list[list[int]] | None:
    """What a target covers in each dimension; None where a subscript is not a literal."""
    lists: list[list[int]] = []
    for k, d in enumerate(dims):
        match t.subs[k] if k < len(t.subs) else Colon():
            case Int(value):
                lists.append([value])
            case Colon():
                lists.append(list(range(1, d + 1)))
            case Range(Int(first), None, Int(last)):
                lists.append(list(range(first, last + 1)))
            case _:
                return None
    return lists


def _read(f: Function) -> set[Expr]:
    return set(walk_all(expressions_in(f.body)))


def _is_used_whole(f: Function, v: Local) -> bool:
    """An array that is a result, or that an expression takes as it is."""
    if not v.ty.dims:
        return False
    if any(o.name == v.name for o in f.outputs):
        return True
    whole, roots = Ref(v.name, v.ty), list(expressions_in(f.body))
    takers = (n for n in walk_all(roots) if whole in n.children())
    partly = (Index, Field)
    return whole in roots or any(
        not (isinstance(n, partly) and n.base is whole) and not (isinstance(n, Builtin) and n.name == "size")
        for n in takers
    )
