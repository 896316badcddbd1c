"""Parts of arrays and records that a function uses and never sets: S346, a warning; they are 0 (decision 48).

Only what is plain: statements set other parts of the variable, none sets it as a whole, and the part that none names is
read by its name, or with the whole array, or the array is a result.  Subscripts are numbers, or follow from the loops
around them, from sizes of what a call is given and from Integers that it is given as numbers: each such call is looked
at, and one subscript that does not follow may set any part.  Records as results are let alone: those of media have
fields that not every function knows.  Cost: every turn of such loops once, for a few calls of each function.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice, product
from math import prod
from typing import TypeAlias

from kilohertz.base import Diagnostic, Note, Severity
from kilohertz.ir.assigned import places_set, root
from kilohertz.ir.expr import Binary, Builtin, Call, Colon, Expr, Field, Index, Int, Range, Ref, Unary
from kilohertz.ir.flat import Assign, Equation, Flat, ForStatement, Function, Local, Statement, TupleTarget
from kilohertz.ir.text.expr_printer import print_expr
from kilohertz.ir.traverse import expressions_in, flat_expressions, refs, walk_all
from kilohertz.ir.types import RecordType
from kilohertz.semantics.balancing.equation_parts import bodies
from kilohertz.semantics.rules.assignability import assignments_in
from kilohertz.semantics.wording import as_written

_MOST_ELEMENTS = 1000  # of an array that is looked at, and turns of the loops around a statement
_MOST_CALLS = 3  # of a function, with different sizes
_SHOWN = 3
Known: TypeAlias = dict[str | tuple[str, int], int]  # Integers by name, sizes of arrays by name and dimension
Loops: TypeAlias = tuple[ForStatement, ...]


def check_parts(flat: Flat) -> Iterator[Diagnostic]:
    """One for each variable of a function."""
    calls = _calls(flat)
    for f in flat.functions.values():
        if f.external is not None or f.partial_of or f.is_record_constructor:
            continue
        seen = [_known(f, call) for call in islice(calls.get(f.id, ()), _MOST_CALLS)] or [_known(f, None)]
        for v in (*f.outputs, *f.locals):
            parts = next((p for k in seen if (p := _unnamed(f, v, k))), []) if v.default is None else []
            used = parts if parts and _is_used_whole(f, v) else [p for p in parts if p in _read(f)]
            if used:
                shown = ", ".join(f"`{print_expr(p)}`" for p in used[:_SHOWN]) + (", ..." if len(used) > _SHOWN else "")
                text = f"{shown} of `{as_written(f.id)}` is never set, while other parts of `{v.name}` are: it is 0"
                spans = [o.spans[0] for name, o in assignments_in(f.body) if name == v.name and o.spans]
                place = min(spans, key=lambda span: span.start) if spans else None
                notes = (Note("assign it, or declare the variable with a value"),)
                yield Diagnostic("S346", text, place, notes=notes, severity=Severity.WARNING)


def _calls(flat: Flat) -> dict[str, list[Call]]:
    """Calls of each function in the model whose arguments have known sizes, the first of each shape."""
    found: dict[str, dict[tuple[object, ...], Call]] = {}
    for e in walk_all(flat_expressions(flat)):
        if isinstance(e, Call) and all(None not in a.ty.dims for a in e.args):
            shapes = tuple(a if isinstance(a, Int) else a.ty.dims for a in e.args)
            found.setdefault(e.function, {}).setdefault(shapes, e)
    return {function: list(calls.values()) for function, calls in found.items()}


def _known(f: Function, call: Call | None) -> Known:
    """What is known of the Integers and sizes in a call; of those that only their declaration sets, in any."""
    known: Known = {}
    for x, argument in zip(f.inputs, call.args if call is not None else (), strict=False):
        known |= {(x.name, k): d for k, d in enumerate(argument.ty.dims, 1) if d is not None}
        if isinstance(argument, Int):
            known[x.name] = argument.value
    assigned = {name for name, _ in assignments_in(f.body)}
    for v in f.locals:
        number = _number(v.default, known) if v.default is not None and v.name not in assigned else None
        if number is not None:
            known[v.name] = number
    return known


def _number(e: Expr, known: Known) -> int | None:
    """The Integer that an expression is; None where it is not known."""
    match e:
        case Int(value):
            return value
        case Ref(name):
            return known.get(name)
        case Builtin("size", (Ref(name), Int(k))):
            return known.get((name, k))
        case Unary("-", operand):
            number = _number(operand, known)
            return None if number is None else -number
        case Binary("+" | "-" | "*" as op, left, right):
            a, b = _number(left, known), _number(right, known)
            if a is None or b is None:
                return None
            return a + b if op == "+" else a - b if op == "-" else a * b
        case _:
            return None


def _unnamed(f: Function, v: Local, known: Known) -> list[Expr]:
    """Parts that no statement sets; none where that is not plain, or no statement sets any."""
    first = [_first(t) for t in places_set(f.body) if root(t) == v.name]
    whole = Ref(v.name, v.ty)
    if not first:
        return []
    if isinstance(v.ty.base, RecordType) and not v.ty.dims:
        named = {t.name for t in first if isinstance(t, Field)}
        is_plain = all(isinstance(t, Field) for t in first)
        return [Field(whole, n) for n, _ in v.ty.base.fields if n not in named] if is_plain else []
    dims = _sizes(v, known)
    count = prod(dims)
    if len(dims) < len(v.ty.dims) or not 0 < count <= _MOST_ELEMENTS:
        return []
    covered = _covered(f, v, dims, known)
    every = product(*(range(1, d + 1) for d in dims)) if covered is not None else ()
    return [Index(whole, tuple(Int(k) for k in at), v.ty.scalar()) for at in every if at not in (covered or ())]


def _sizes(v: Local, known: Known) -> list[int]:
    """Of the dimensions of an array those that are known."""
    said = v.dims or (None,) * len(v.ty.dims)
    sizes = (_number(e, known) if d is None and e is not None else d for d, e in zip(v.ty.dims, said, strict=True))
    return [d for d in sizes if d is not None]


def _covered(f: Function, v: Local, dims: list[int], known: Known) -> set[tuple[int, ...]] | None:
    """Elements that statements set; None where that is not known of one of them."""
    sizes: Known = dict(known)
    sizes.update({(v.name, k): d for k, d in enumerate(dims, 1)})
    covered: set[tuple[int, ...]] = set()
    for target, loops in _targets(f.body, ()):
        if root(target) != v.name:
            continue
        t = _first(target)
        turns = _turns(_needed(t, loops), sizes) if isinstance(t, Index) else None
        if turns is None or not isinstance(t, Index):
            return None
        for turn in turns:
            lists = _positions(t, dims, turn)
            if lists is None:
                return None
            covered.update(product(*lists))
    return covered


def _targets(body: Iterable[Equation | Statement], loops: Loops) -> Iterator[tuple[Expr, Loops]]:
    """What statements set, each with the loops around it."""
    for s in body:
        match s:
            case Assign(TupleTarget(elements)):
                yield from ((t, loops) for t in elements if t is not None)
            case Assign(target) if isinstance(target, Expr):
                yield target, loops
            case _:
                yield from _targets(bodies(s), (*loops, s) if isinstance(s, ForStatement) else loops)


def _needed(target: Expr, loops: Loops) -> Loops:
    """The loops whose iterators a target, or the range of such a loop, names."""
    names, needed = {r.name for r in refs(target)}, list[ForStatement]()
    for loop in reversed(loops):
        if loop.name in names:
            needed.insert(0, loop)
            names |= {r.name for r in refs(loop.range)}
    return tuple(needed)


def _turns(loops: Loops, known: Known) -> list[Known] | None:
    """What iterators are in each turn of loops in each other; None where it is not known, or too many."""
    turns = [known]
    for loop in loops:
        ranges = [_listed(loop.range, turn) for turn in turns]
        if None in ranges or sum(len(r) for r in ranges if r is not None) > _MOST_ELEMENTS:
            return None
        turns = [{**turn, loop.name: k} for turn, r in zip(turns, ranges, strict=True) for k in r or ()]
    return turns


def _listed(e: Expr, known: Known) -> list[int] | None:
    """The numbers of a range."""
    if not isinstance(e, Range):
        return None
    first, last = _number(e.first, known), _number(e.last, known)
    step = 1 if e.step is None else _number(e.step, known)
    if first is None or last is None or not step:
        return None
    return list(range(first, last + (1 if step > 0 else -1), step))


def _first(target: Expr) -> Expr:
    """Of `a[1].b.c` the part `a[1]`."""
    while isinstance(target, Index | Field) and isinstance(target.base, Index | Field):
        target = target.base
    return target


def _positions(t: Index, dims: list[int], known: Known) -> list[list[int]] | None:
    """What a target covers in each dimension; None where a subscript is not known."""
    lists: list[list[int]] = []
    for k, d in enumerate(dims):
        sub = t.subs[k] if k < len(t.subs) else Colon()
        number = _number(sub, known)
        found = list(range(1, d + 1)) if isinstance(sub, Colon) else [number] if number is not None else None
        found = found if found is not None else _listed(sub, known)
        if found is None:
            return None
        lists.append(found)
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
