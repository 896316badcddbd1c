"""Derivatives of scalar expressions: forward mode on the shared graph.

`Differentiator` keeps a memo, so an expression with shared parts gives a derivative with shared parts, linear in the
number of distinct nodes; explicit stack.
"""

from __future__ import annotations

from collections.abc import Callable

from kilohertz.ir import make
from kilohertz.ir.builtins import BUILTINS, is_past
from kilohertz.ir.expr import TIME, Array, Binary, Builtin, Call, Expr, FunctionRef, IfExp, Item, Record, Ref, Unary
from kilohertz.ir.make import ONE, ZERO, add, div, if_, mul, neg, pow_, sub
from kilohertz.ir.rules.function_record import Slope
from kilohertz.ir.traverse import bottom_up
from kilohertz.ir.types import REAL, RecordType, TupleType, Type
from kilohertz.passes.algebra import simplify


class NoDerivative(Exception):
    """Something in an expression cannot be differentiated."""


class Differentiator:
    """Forward-mode derivative of scalar expressions for given seeds.

    `seed(name)` is the derivative of a variable (ZERO for those that do not move).  `call` differentiates a function
    call from its arguments' derivatives; without it calls with moving arguments raise NoDerivative.  What was recorded
    moves with time alone: as `past` says, without which it raises NoDerivative.
    """

    def __init__(
        self,
        seed: Callable[[Ref], Expr],
        call: Callable[[Call, list[Expr], int | None], Expr] | None = None,
        past: Callable[[Builtin, list[Expr]], Expr] | None = None,
    ) -> None:
        self._past_rate = past
        self._seed = seed
        self._call = call
        self._memo: dict[Expr, Expr] = {}

    def __call__(self, e: Expr) -> Expr:
        return bottom_up(e, self._rate, self._memo, _needed)

    def _rate(self, e: Expr, rates: list[Expr]) -> Expr:
        if not _is_asked(e):
            return _still(e)
        if type(e) is Builtin and is_past(e):
            return self._past(e, rates)
        return self._seed(e) if type(e) is Ref else self._derive(e, e.children(), rates)

    def _past(self, e: Builtin, rates: list[Expr]) -> Expr:
        if self._seed(TIME) is ZERO:
            return ZERO
        if self._past_rate is None:
            raise NoDerivative("a delay" if e.name != "transport" else "spatialDistribution")
        return self._past_rate(e, rates)

    def _derive(self, e: Expr, u: tuple[Expr, ...], d: list[Expr]) -> Expr:
        if isinstance(e, (Array, Record)):
            return e.rebuilt(tuple([x if _may_move(c) else c for c, x in zip(u, d, strict=True)]))
        if not is_moving(d):
            return _still(e)
        match e:
            case Unary("-", _):
                return neg(d[0])
            case Binary(op, _, _):
                return derive_binary(op, u[0], u[1], d[0], d[1], e)
            case IfExp(condition, _, _):
                return if_(condition, d[1], d[2])
            case Builtin(name, _):
                return derive_builtin(name, u, d, e)
            case Call():
                if self._call is None:
                    raise NoDerivative(e.function)
                return self._call(e, d, None)
            case Item(Call() as call, index):
                if self._call is None:
                    raise NoDerivative(call.function)
                inner = [self._memo[a] for a in call.args]
                return self._call(call, inner, index)
            case FunctionRef():
                return e.rebuilt(tuple(d))  # rates of what it is handed over with
            case _ if e.ty.base == REAL.base:
                raise NoDerivative(type(e).__name__)
            case _:
                return _still(e)


def has_reals(ty: Type) -> bool:
    """Real, or a record with a Real in it."""
    if isinstance(ty.base, RecordType):
        return any(has_reals(t) for _, t in ty.base.fields)
    return ty.base == REAL.base


def is_moving(d: list[Expr]) -> bool:
    """Some of the derivatives is not zero."""
    for x in d:
        if isinstance(x, (Array, Record, FunctionRef)):
            if is_moving(list(x.children())):
                return True
        elif x is not ZERO and _may_move(x):
            return True
    return False


def _may_move(e: Expr) -> bool:
    """Not a String, Integer or the like: such a field of a record stays as it is in the record of derivatives."""
    return e.ty.base == REAL.base or isinstance(e.ty.base, (RecordType, TupleType))


def _is_asked(e: Expr) -> bool:
    return _may_move(e) or isinstance(e, FunctionRef)


def _needed(e: Expr) -> tuple[Expr, ...]:
    """A condition, a subscript or another Integer moves by jumps alone: what is in it needs no derivative."""
    return e.children() if _is_asked(e) else ()


def _still(e: Expr) -> Expr:
    return ZERO if not e.ty.dims or e.ty.base != REAL.base else make.zeros(e.ty)


def derive_binary(op: str, a: Expr, b: Expr, da: Expr, db: Expr, e: Expr) -> Expr:
    if op == "+":
        return add(da, db)
    if op == "-":
        return sub(da, db)
    if op == "*":
        return add(mul(da, b), mul(a, db))
    if op == "/":
        if db is ZERO:
            return div(da, b)
        return div(sub(da, mul(e, db)), b)
    if op == "^":
        if db is ZERO:
            return mul(mul(b, pow_(a, sub(b, ONE))), da)
        log = Builtin("log", (a,), REAL)
        return mul(e, add(mul(db, log), div(mul(b, da), a)))
    return ZERO  # relations and logic do not move


def derive_builtin(name: str, u: tuple[Expr, ...], d: list[Expr], e: Expr) -> Expr:
    """The derivative of a function of scalars, from its operands and theirs."""
    function = BUILTINS.get(name)
    rule = None if function is None else function.derivative
    if rule is Slope.STILL:
        return ZERO
    if rule is None or isinstance(rule, Slope):
        raise NoDerivative(name)
    return rule(u, d, e)


def partial(e: Expr, name: str, call: Callable[[Call, list[Expr], int | None], Expr] | None = None) -> Expr:
    """d e / d name."""
    return simplify(Differentiator(lambda r: ONE if r.name == name else ZERO, call)(e))
