"""External objects that are handed on: all names of one object become the one that made it (MLS 12.9.7).

`a.o = b.o`, connections of connectors with objects and `a.o = fill(b.o, n)` say that two names mean one object.  In
Flat only the name with the constructor is left, so that the object is made and destroyed once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

from kilohertz.base import Diagnostic, ModelError, Note, Origin, Span
from kilohertz.ir import make, traverse
from kilohertz.ir.expr import Array, Builtin, Expr, Int, Ref
from kilohertz.ir.flat import Equality, Flat, Variable
from kilohertz.ir.types import ExternalObjectType, Type


def settle_objects(flat: Flat) -> None:
    """Each external object has one name, and a constructor makes it."""
    _join(flat)
    _check_made(flat)


def _join(flat: Flat) -> None:
    handed_on = [
        e for e in flat.equations if isinstance(e, Equality) and isinstance(e.left, Expr) and _is_object(e.left.ty)
    ]
    if not handed_on:
        return
    names = _Names()
    done: set[int] = set()
    for equation in handed_on:
        assert isinstance(equation.left, Expr)
        left, right = _elements(equation.left), _elements(equation.right)
        if left is None or right is None or len(left) != len(right):
            continue
        for a, b in zip(left, right, strict=True):
            names.join(a.name, b.name)
        done.add(id(equation))
    makers = _makers(flat, names)
    flat.equations[:] = [e for e in flat.equations if id(e) not in done]
    gone = {name: makers[names.root(name)] for name in names.known if makers[names.root(name)].name != name}
    for name in gone:
        del flat.variables[name]
    memo: dict[Expr, Expr] = {}
    rewrite(flat, lambda e: make.substitute(e, gone, memo))


def _check_made(flat: Flat) -> None:
    """S340: an object that somebody uses is made by a constructor (MLS 12.9.7)."""
    open_ = {v.name for v in flat.variables.values() if v.binding is None and _is_object(v.ty)}
    if not open_:
        return
    used: set[str] = set()

    def look(e: Expr) -> Expr:
        used.update(ref.name for ref in traverse.refs(e) if ref.name in open_)
        return e

    rewrite(flat, look)
    for name in flat.variables:
        if name in used:
            text = f"the external object `{name}` is used and made nowhere"
            raise ModelError(Diagnostic("S340", text, _place(flat.variables[name].origin)))


def _is_object(ty: Type) -> bool:
    return isinstance(ty.base, ExternalObjectType)


def _elements(e: Expr) -> list[Ref] | None:
    """The scalar objects that an expression lists; None for other expressions."""
    match e:
        case Ref() if not e.ty.dims:
            return [e]
        case Array(elements):
            parts = [_elements(x) for x in elements]
            return None if None in parts else [ref for part in parts for ref in part or ()]
        case Builtin("fill", (one, *sizes)) if all(isinstance(n, Int) for n in sizes):
            part = _elements(one)
            count = 1
            for n in sizes:
                count *= n.value if isinstance(n, Int) else 0
            return None if part is None else part * count
    return None


def _makers(flat: Flat, names: _Names) -> dict[str, Ref]:
    """By root: the one name of each object that has its constructor."""
    makers: dict[str, Variable] = {}
    for name in names.known:
        variable, root = flat.variables[name], names.root(name)
        if variable.binding is None or isinstance(variable.binding, Ref):
            continue
        if root in makers:
            text = f"the external objects `{makers[root].name}` and `{name}` are connected, but are two"
            note = Note("the other one", _place(makers[root].origin))
            raise ModelError(Diagnostic("S340", text, _place(variable.origin), notes=(note,)))
        makers[root] = variable
    for name in names.known:
        if names.root(name) not in makers:
            text = f"the external object `{name}` is made nowhere"
            raise ModelError(Diagnostic("S340", text, _place(flat.variables[name].origin)))
    return {root: Ref(variable.name, variable.ty) for root, variable in makers.items()}


def _place(origin: Origin) -> Span | None:
    return origin.spans[0] if origin.spans else None


class _Names:
    """Union-find over names."""

    def __init__(self) -> None:
        self._parent: dict[str, str] = {}

    @property
    def known(self) -> list[str]:
        return list(self._parent)

    def root(self, name: str) -> str:
        self._parent.setdefault(name, name)
        while self._parent[name] != name:
            self._parent[name] = self._parent[self._parent[name]]
            name = self._parent[name]
        return name

    def join(self, a: str, b: str) -> None:
        self._parent[self.root(a)] = self.root(b)


def rewrite(item: Any, change: Callable[[Expr], Expr]) -> Any:
    """Change every expression of a piece of the flat form; functions have none of the model's variables."""
    if isinstance(item, Expr):
        return change(item)
    if isinstance(item, list):
        item[:] = [rewrite(x, change) for x in item]
    elif isinstance(item, dict):
        for key, value in item.items():
            item[key] = rewrite(value, change)
    elif isinstance(item, tuple) and not isinstance(item, Origin):
        return tuple(rewrite(x, change) for x in item)
    elif is_dataclass(item) and not isinstance(item, type | Type):
        named = [f.name for f in fields(item) if f.name not in ("origin", "ty", "functions", "experiment", "clocks")]
        changed = {n: new for n in named if (new := rewrite(old := getattr(item, n), change)) is not old}
        if changed and type(item).__dataclass_params__.frozen:  # type: ignore[attr-defined]
            return replace(item, **changed)
        for name, value in changed.items():
            setattr(item, name, value)
    return item
