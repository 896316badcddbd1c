"""The derivative of what a function finds for a function that it is handed, where that is a root.

  x = search(function f(p = p), low, high),  f(x, p) = 0     ->   der(x) = -(f_p*der(p))/f_x       at x

No statement of `search` takes a number from p to x (see `searches`), but the implicit function theorem needs none of
them.  That x is a root is nowhere said: the function made here asserts it wherever it is asked, so that a function that
does something else with what it is handed (an integral, a minimum) ends the run with a word.
"""

from __future__ import annotations

from collections.abc import Callable

from kilohertz.base import Origin
from kilohertz.ir import make
from kilohertz.ir.expr import Builtin, Call, Expr, FunctionRef, Real, Ref, Str
from kilohertz.ir.flat import Assert, Assign, Function, Local, Statement
from kilohertz.ir.types import REAL
from kilohertz.passes.derivative import NoDerivative, has_reals

NEAR = Real(1e-4)  # how far from a root is one, of its size
SMALL = Real(1e-3)  # a size below which a root is as good as zero
Whole = Callable[[Call, list[Expr]], Call]


def slope_of_root(g: Function, f: Function, handed: FunctionRef, whole: Whole) -> Function:
    """A function of the root, of what is handed over with f, and of its rates: the rate of the root."""
    root = _root_of(g, f, handed)
    others = [v for v in f.inputs if v is not root]
    rates = {v.name: Local(f"$d{v.name}", v.ty, v.dims) for v in others if has_reals(v.ty)}
    value = Call(f.id, tuple(_ref(v) for v in f.inputs), REAL)
    off, slope, along, rate = (Local(name, REAL) for name in ("$off", "$slope", "$along", "$rate"))
    by_root = whole(value, [make.ONE if v is root else make.ZERO for v in f.inputs])
    by_others = whole(value, [_ref(rates[v.name]) if v.name in rates else make.ZERO for v in f.inputs])
    near = make.mul(NEAR, make.mul(_size(_ref(slope)), make.add(_size(_ref(root)), SMALL)))
    text = f"the derivative of what {g.id} gives is known where that is a root of {f.id}, and it is none"
    body: list[Statement] = [
        Assign(_ref(off), value),
        Assign(_ref(slope), by_root),
        Assign(_ref(along), by_others),
        Assert(make.relation("<=", _size(_ref(off)), near), Str(text)),
        Assign(_ref(rate), make.neg(make.div(_ref(along), _ref(slope)))),
    ]
    origin = Origin(g.origin.spans, g.origin.path, ("differentiate",))
    inputs, inner = [root, *others, *rates.values()], [off, slope, along]
    return Function(
        f"$root({g.id}, {f.id})", inputs, [rate], inner, body, pure=f.pure and g.pure, inline=False, origin=origin
    )


def _root_of(g: Function, f: Function, handed: FunctionRef) -> Local:
    """The one input of f that g looks for."""
    bound = {name for name, _ in handed.bound}
    free = [v for v in f.inputs if v.name not in bound]
    if any(len(x.outputs) != 1 or x.outputs[0].ty != REAL for x in (f, g)) or len(free) != 1 or free[0].ty != REAL:
        raise NoDerivative(f"what takes the function {f.id}")
    return free[0]


def handed_over(call: Call, rates: list[Expr]) -> tuple[FunctionRef, FunctionRef] | None:
    """The function with moving values among the arguments, and the same with their rates."""
    pairs = [(a, r) for a, r in zip(call.args, rates, strict=True) if isinstance(r, FunctionRef)]
    if not pairs:
        return None
    argument, rate = pairs[0]
    if len(pairs) > 1 or not isinstance(argument, FunctionRef):
        raise NoDerivative(f"what takes the function {rate.function}")
    return argument, rate


def _ref(v: Local) -> Ref:
    return Ref(v.name, v.ty)


def _size(e: Expr) -> Expr:
    return Builtin("abs", (e,), REAL)
