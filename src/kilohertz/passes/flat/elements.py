"""Elements of large arrays, `table[i]` where `i` is not known: a call of a function made for it.

  y = table[i];   Real table[1000]     ->   y = $element_Real_1000({table[1], ..., table[1000]}, i)

Of small arrays it is a choice (`arrays.py`), which other passes see through.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kilohertz.ir import make
from kilohertz.ir.expr import Array, Binary, Builtin, Call, Expr, IfExp, Index, Ref
from kilohertz.ir.flat import Assign, Function, Local
from kilohertz.ir.types import INTEGER, Type

_NAME = "$element_"


def element_function(ty: Type, dims: Sequence[int]) -> Function:
    """The element of an array with some subscripts; what is out of bounds ends the run (R717)."""
    array = Ref("v", ty.array_of(*dims))
    subscripts = [Local(f"i{k}", INTEGER) for k in range(1, len(dims) + 1)]
    value = Index(array, tuple(Ref(i.name, INTEGER) for i in subscripts), ty)
    name = _NAME + "_".join((str(ty), *map(str, dims)))
    body = [Assign(Ref("y", ty), value)]
    return Function(name, [Local("v", array.ty), *subscripts], [Local("y", ty)], [], list(body), inline=False)


def is_element(e: Expr) -> bool:
    """Whether it is one element of an array, whichever its subscripts name: such a call or such a choice."""
    if isinstance(e, IfExp):
        which = e.condition.left if isinstance(e.condition, Binary) else None
        return isinstance(which, Builtin) and which.name == "$subscript"
    return isinstance(e, Call) and e.function.startswith(_NAME)


def of_each(e: Expr, f: Callable[[Expr], Expr]) -> Expr:
    """The same choice among what a function makes of each element."""
    if isinstance(e, IfExp):
        choices: list[tuple[Expr, Expr]] = []
        while isinstance(e, IfExp):
            choices.append((e.condition, of_each(e.then, f)))
            e = e.otherwise
        chosen = of_each(e, f)
        for condition, value in reversed(choices):
            chosen = make.if_(condition, value, chosen)
        return chosen
    if isinstance(e, Call):
        return e.rebuilt((of_each(e.args[0], f), *e.args[1:]))
    return Array(tuple(of_each(item, f) for item in e.elements), e.ty) if isinstance(e, Array) else f(e)
