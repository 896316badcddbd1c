"""Comprehensions whose turns give arrays of one shape: `{v[i] for i in r}` of vectors, and `sum(v[i] for i in r)`.

Where the shape is not known in advance, the first turn makes the room; without a turn it has no elements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kilohertz.codegen.writing.reductions import accumulate, of_none
from kilohertz.codegen.writing.values import ArrayValue, fixed_dims, product
from kilohertz.ir import expr as x

if TYPE_CHECKING:
    from kilohertz.codegen.writing.arrays import ArrayWriter


def stacked(w: ArrayWriter, e: x.Comprehension) -> ArrayValue:
    """The arrays of all turns, one after the other."""
    ranges = [w.iterable(r) for _, r in e.iterators]
    outer = tuple(count for count, _ in reversed(ranges))
    room = _room(w, e, outer)
    at = w.fresh("i")
    w.put(f"size_t {at} = 0;")

    def body() -> None:
        part = _part(w, e, room, outer)
        w.copy(f"{room.pointer} + {at}", part.pointer, part.size, room.element)
        w.put(f"{at} += (size_t)({part.size});")

    w.iterate(list(reversed(list(zip(e.iterators, ranges, strict=True)))), body, e)
    return room


def summed(w: ArrayWriter, e: x.Comprehension) -> ArrayValue:
    """The sum of the arrays of all turns (MLS 10.3.4.1: of the type of the expression)."""
    ranges = [w.iterable(r) for _, r in e.iterators]
    room = _room(w, e, ())
    none = of_none(e.op, room.element)
    if fixed_dims(e.body.ty) is not None:
        w.loop(room.size, lambda i: f"{room.pointer}[{i}] = {none};")

    def body() -> None:
        part = _part(w, e, room, (), none)
        w.loop(
            part.size,
            lambda i: accumulate(e.op, f"{room.pointer}[{i}]", f"{part.pointer}[{i}]", room.element, w.context),
        )

    w.iterate(list(zip(e.iterators, ranges, strict=True)), body, e)
    return room


def _room(w: ArrayWriter, e: x.Comprehension, outer: tuple[str, ...]) -> ArrayValue:
    fixed, element = fixed_dims(e.body.ty), e.ty.scalar()
    if fixed is not None:
        return w.room((*outer, *fixed), element)
    name = w.fresh("a")
    w.put(f"{w.types.declare(element, '*' + name)} = NULL;")
    sizes = tuple(w.fresh("n") for _ in e.body.ty.dims)
    w.put(*(f"int32_t {n} = 0;" for n in sizes))
    return ArrayValue(name, (*outer, *sizes), element)


def _part(
    w: ArrayWriter, e: x.Comprehension, room: ArrayValue, outer: tuple[str, ...], filling: str | None = None
) -> ArrayValue:
    """The array of one turn, which has the shape of the others; the first one makes the room where there is none."""
    part = w.array(e.body)
    sizes = room.dims[len(outer) :]
    parts = (*outer, part.size)
    count = product(parts) if not outer or part.size.isdigit() else f"{product(outer)} * ({part.size})"

    def first() -> None:
        w.put(*(f"{n} = {d};" for n, d in zip(sizes, part.dims, strict=True)))
        w.take_room(room.pointer, room.pointer, count, room.element)
        if filling is not None:
            w.loop(part.size, lambda i: f"{room.pointer}[{i}] = {filling};")

    if fixed_dims(e.body.ty) is None:
        w.braces(f"if ({room.pointer} == NULL)", first)
    w.must_fit(sizes, part.dims)
    return part
