"""External functions of a model that computes in singles: they take doubles, and so does their wrapper.

The wrapper stays as it is, under a name of its own.  What the model calls is a door in front of it: scalars go through
as doubles (time among them), arrays of Reals are widened before the call and what comes back is rounded after it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from kilohertz.codegen.writing.values import is_real, needs_room, product
from kilohertz.ir.flat import Function, Local
from kilohertz.ir.types import RecordType, Type

_POINTER = re.compile(r"\bdouble(?= \*)")


@dataclass(frozen=True, slots=True)
class SingleDoor:
    """The same function for a model in singles."""

    prototype: str
    lines: tuple[str, ...]  # its wrapper in doubles, and the door


def single_door(
    function: Function, symbol: str, prototype: str, lines: tuple[str, ...], named: Callable[[str], str], leave: str
) -> SingleDoor | None:
    """What is written for a wrapper (`lines`, of which the second is its prototype); None where a record with Reals
    is handed over, whose layout external code knows."""
    if any(_holds_reals(v.ty) for v in (*function.inputs, *function.outputs)):
        return None
    inner = f"{symbol}_in_doubles"
    own = (lines[0], f"static {prototype.replace(f'{symbol}(', f'{inner}(', 1)}", *lines[2:])
    outer = _POINTER.sub("khz_real", prototype)
    return SingleDoor(
        outer, (*own, outer, "{", *("    " + line for line in _body(function, inner, named, leave)), "}", "")
    )


def _holds_reals(ty: Type) -> bool:
    if not isinstance(ty.base, RecordType):
        return False
    return any(is_real(f) or _holds_reals(f) for _, f in ty.base.fields)


def _body(function: Function, inner: str, named: Callable[[str], str], leave: str) -> list[str]:
    """Widen, call, round."""
    before: list[str] = []
    after: list[str] = []
    arguments = ["c"]
    for local in function.inputs:
        arguments += _given(local, named(local.name), leave, before)
    result = function.outputs[0] if len(function.outputs) == 1 and not function.outputs[0].ty.dims else None
    if result is not None and isinstance(result.ty.base, RecordType):
        result = None
    for local in () if result is not None else function.outputs:
        arguments += _taken(local, named(local.name) + "out", leave, (before, after))
    call = f"{inner}({', '.join(arguments)})"
    call = f"khz_held({call})" if result is not None and is_real(result.ty) else call
    head = ["const size_t mark = c->arena_used;"]
    keeps = any(needs_room(v.ty) for v in function.outputs)
    if not before or keeps:
        head, after = [], after
    else:
        after = [*after, "c->arena_used = mark;"]
    if result is None:
        return [*head, *before, f"{call};", *after]
    if not after:
        return [*before, f"return {call};"]
    space = "*" if result.ty.base.__class__.__name__ == "ExternalObjectType" else ""
    kind = "void " + space if space else "const char *" if keeps else "double " if is_real(result.ty) else "int32_t "
    return [*head, *before, f"{kind}const given = {call};", *after, "return given;"]


def _given(local: Local, name: str, leave: str, before: list[str]) -> list[str]:
    """The arguments of an input."""
    dims = tuple(str(d) if d is not None else f"{name}n{k}" for k, d in enumerate(local.ty.dims, 1))
    sizes = [d for d in dims if not d.isdigit()]
    if not dims or not is_real(local.ty):
        return [name, *sizes]
    before += [
        f"double *const {name}wide = khz_widened(c, {name}, (size_t)({product(dims)}));",
        f"if ({name}wide == NULL) {{",
        f"    {leave}",
        "}",
    ]
    return [f"{name}wide", *sizes]


def _taken(local: Local, name: str, leave: str, around: tuple[list[str], list[str]]) -> list[str]:
    """The arguments of an output that goes through a pointer."""
    before, after = around
    dims = tuple(str(d) if d is not None else f"*{name}{k}" for k, d in enumerate(local.ty.dims, 1))
    sizes = [d.removeprefix("*") for d in dims if not d.isdigit()]
    if not is_real(local.ty):
        return [name, *sizes]
    size = f"(size_t)({product(dims)})"
    if not dims:
        before.append(f"double {name}wide = 0.0;")
        after.append(f"*{name} = (khz_real)khz_held({name}wide);")
        return [f"&{name}wide"]
    if sizes:
        before.append(f"double *{name}wide = NULL;")
        after.append(f"*{name} = khz_narrowed(c, {name}wide, {size});")
        return [f"&{name}wide", *sizes]
    before += [
        f"double *const {name}wide = (double *)khz_arena(c, sizeof(double) * {size});",
        f"if ({name}wide == NULL) {{",
        f"    {leave}",
        "}",
    ]
    after.append(f"khz_narrow({name}, {name}wide, {size});")
    return [f"{name}wide"]
