"""Derivatives of Modelica functions: by their `derivative` annotations, else generated (forward mode).

  function f  input Real x; output Real y;  algorithm  y := sin(x)*x;  end f;
  ->  function $D(f)  input Real x; input Real $dx; output Real $dy;
      algorithm  $dy := cos(x)*$dx*x + sin(x)*$dx;  y := sin(x)*x;

Each assignment to a Real is preceded by the assignment of its derivative; conditions and loops stay (the derivative of
what the function does, not of where it jumps).  External functions without annotation have none, nor have those that
search: NoDerivative, unless the arguments of a call choose a way that has one (`narrowed`).
A. Griewank, A. Walther, Evaluating Derivatives (2008), chapter 3.
"""

from __future__ import annotations

from kilohertz.base import Origin
from kilohertz.ir import make, traverse
from kilohertz.ir.builtins import BUILTINS, same_as
from kilohertz.ir.expr import (
    Array,
    Binary,
    Builtin,
    Call,
    Comprehension,
    Expr,
    Field,
    FunctionRef,
    IfExp,
    Index,
    Item,
    Record,
    Ref,
    Unary,
)
from kilohertz.ir.flat import (
    Assign,
    DerivativeOf,
    ForStatement,
    Function,
    IfStatement,
    Local,
    Statement,
    TupleTarget,
    WhileStatement,
)
from kilohertz.ir.make import ONE, ZERO, add, mul, neg, sub
from kilohertz.ir.rules.function_record import Slope
from kilohertz.ir.types import REAL, RecordType, TupleType, Type
from kilohertz.passes.algebra import simplify
from kilohertz.passes.derivative import NoDerivative, derive_builtin, has_reals, is_moving
from kilohertz.passes.narrowed import narrowed
from kilohertz.passes.root_derivative import handed_over, slope_of_root
from kilohertz.passes.searches import searches
from kilohertz.passes.written_out import written_out

GENERATED = "$D("  # how names of generated derivatives begin


def generated_from(name: str) -> str | None:
    """The function of which one is the generated derivative."""
    return name.removeprefix(GENERATED).removesuffix(")") if name.startswith(GENERATED) else None


def only_told(f: Function) -> bool:
    """Its derivative cannot be had from its body, which reads nothing but what the annotation takes out of it."""
    if not any(d.no_derivative for d in f.derivatives) or len(f.outputs) != 1 or f.outputs[0].ty != REAL:
        return False
    read = {r.name for e in traverse.function_expressions(f) for r in traverse.refs(e)} & {i.name for i in f.inputs}
    return bool(read) and any(read <= set(d.no_derivative) for d in f.derivatives)


class FunctionDerivatives:
    """Finds or makes derivative functions; `functions` grows by those it makes.

    `roots`: what a function finds for one that it is handed may be taken for a root of that (`root_derivative`).
    """

    def __init__(self, functions: dict[str, Function], roots: bool = False) -> None:
        self.functions = functions
        self._roots = roots
        self._making: set[str] = set()
        self._second = _second_derivatives(functions)

    def rule(self, call: Call, rates: list[Expr], index: int | None) -> Expr:
        """The derivative of a call (of output `index`, where it has several) from those of its arguments."""
        derived = self.whole(call, rates)
        value = written_out(self.functions[derived.function], derived.args)
        if value is not None:
            return value
        if index is None or not isinstance(derived.ty.base, TupleType):
            return derived
        f = self.functions[call.function]
        place = sum(has_reals(o.ty) for o in f.outputs[:index])
        return Item(derived, place)

    def whole(self, call: Call, rates: list[Expr]) -> Call:
        """The call that gives the derivatives of all Real outputs."""
        f = self.functions.get(call.function)
        if f is None:
            raise NoDerivative(call.function)
        handed = handed_over(call, rates)
        if handed is not None:
            return self._of_root(call, f, *handed)
        annotated = self._annotated(f, rates)
        types = _output_types(call, f)
        if annotated is not None:
            left_out = {*annotated.no_derivative, *annotated.zero_derivative}
            moving = _moving_rates(f, call.args, rates, left_out)
            if annotated.order > 1:
                moving = _newest_rates(f, self.functions[annotated.function], call.args, rates, left_out)
            return Call(annotated.function, (*call.args, *moving), types)
        derivative = self._for_these(f, call.args)
        return Call(derivative.id, (*call.args, *_moving_rates(f, call.args, rates, set())), types)

    def _of_root(self, call: Call, g: Function, handed: FunctionRef, rate: FunctionRef) -> Call:
        """Of the root itself, of what is handed over with the function, and of its rates."""
        f = self.functions.get(handed.function)
        if f is None or not self._roots:
            raise NoDerivative(f"what takes the function {handed.function}")
        slope = slope_of_root(g, f, handed, self.whole)
        self.functions.setdefault(slope.id, slope)
        values, moving = dict(handed.bound), dict(rate.bound)
        others = [v for v in f.inputs if v.name in values]
        rates = (typed(moving[v.name], values[v.name]) for v in others if has_reals(v.ty))
        return Call(slope.id, (call, *(values[v.name] for v in others), *rates), REAL)

    def _annotated(self, f: Function, rates: list[Expr]) -> DerivativeOf | None:
        options = [d for d in f.derivatives if d.order == 1]
        if not options:  # f is itself a first derivative: its own annotation has order 2, or that of what it derives
            options = [d for d in f.derivatives if d.order > 1]
        if not options and f.id in self._second:
            options = [self._second[f.id]]
        rate_of = {local.name: r for local, r in zip(f.inputs, rates, strict=True)}
        for d in options:
            if d.function not in self.functions:
                continue
            if any(is_moving([rate_of[name]]) for name in d.zero_derivative if name in rate_of):
                continue
            return d
        return None

    # ------------------------------------------------------------------------------------------------------ generation

    def _for_these(self, f: Function, args: tuple[Expr, ...]) -> Function:
        """The derivative of a function, or at least of what it does for the choices among these arguments."""
        try:
            return self._generated(f)
        except NoDerivative:
            narrow = narrowed(f, args, self.functions)
            if narrow is None:
                raise
            self.functions.setdefault(narrow.id, narrow)
            return self._generated(narrow)

    def _generated(self, f: Function) -> Function:
        name = f"{GENERATED}{f.id})"
        if name in self.functions:
            return self.functions[name]
        empty = not f.body and all(x.default is None for x in f.outputs)
        if f.external is not None or empty or name in self._making:
            raise NoDerivative(f.id)
        if searches(f):
            raise NoDerivative(f"what {f.id} searches for")
        self._making.add(name)
        try:
            body = _Derivation(self, f).run()
        finally:
            self._making.discard(name)
        derivative = Function(
            name,
            [*f.inputs, *(_rate_local(f, v) for v in f.inputs if has_reals(v.ty))],
            [_rate_local(f, v) for v in f.outputs if has_reals(v.ty)],
            [*f.locals, *f.outputs, *(_rate_local(f, v) for v in f.locals if has_reals(v.ty))],
            body,
            pure=f.pure,
            origin=Origin(f.origin.spans, f.origin.path, ("differentiate",)),
        )
        self.functions[name] = derivative
        return derivative


def _second_derivatives(functions: dict[str, Function]) -> dict[str, DerivativeOf]:
    """By first derivative: the second one that its function names."""
    second_of: dict[str, DerivativeOf] = {}
    for f in functions.values():
        first = [d for d in f.derivatives if d.order == 1 and d.function in functions]
        second = [d for d in f.derivatives if d.order == 2 and d.function in functions]
        for d in first if second else ():
            second_of.setdefault(d.function, second[0])
    return second_of


def _rate_name(f: Function, name: str) -> str:
    """`$dx`, in a derivative of a derivative `$ddx`: whatever no variable of the function is named like."""
    names = [v.name for v in (*f.inputs, *f.outputs, *f.locals)]
    prefix = "$d"
    while any(prefix + n in names for n in names):
        prefix += "d"
    return prefix + name


def _rate_local(f: Function, v: Local) -> Local:
    return Local(_rate_name(f, v.name), v.ty, v.dims, None, f"derivative of {v.name}")


def _output_types(call: Call, f: Function) -> Type:
    declared = list(call.ty.base.elements) if isinstance(call.ty.base, TupleType) else [call.ty]
    kept = [t for t, o in zip(declared, f.outputs, strict=False) if has_reals(o.ty)]
    if not kept:
        raise NoDerivative(f.id)
    return kept[0] if len(kept) == 1 else Type(TupleType(tuple(kept)))


def _moving_rates(f: Function, args: tuple[Expr, ...], rates: list[Expr], left_out: set[str]) -> list[Expr]:
    moving = []
    for local, arg, rate in zip(f.inputs, args, rates, strict=True):
        if has_reals(local.ty) and local.name not in left_out:
            moving.append(typed(rate, arg))
    return moving


def _newest_rates(
    f: Function, derived: Function, args: tuple[Expr, ...], rates: list[Expr], left_out: set[str]
) -> list[Expr]:
    """A second derivative takes x, der(x), der(der(x)) (MLS 12.7.1): of f(x, der(x)) only what is new.

    So it is a derivative along der(x), which the function was given, and none by x alone.
    """
    n_new = len(derived.inputs) - len(f.inputs)
    moving = [has_reals(local.ty) and local.name not in left_out for local in f.inputs]
    reals = [(a, r) for a, r, moves in zip(args, rates, moving, strict=True) if moves]
    older = reals[-2 * n_new : -n_new]
    if n_new <= 0 or len(older) != n_new:
        raise NoDerivative(f.id)
    speeds = [a for a, _ in reals[-n_new:]]
    if any(simplify(rate) is not simplify(speed) for (_, rate), speed in zip(older, speeds, strict=True)):
        raise NoDerivative(f.id)
    return [typed(rate, arg) for arg, rate in reals[-n_new:]]


def typed(rate: Expr, like: Expr) -> Expr:
    """A derivative with the shape of what it is the derivative of (a plain zero stands for any)."""
    if rate is not ZERO or (not like.ty.dims and not isinstance(like.ty.base, RecordType)):
        return rate
    if isinstance(like, Array):
        return like.rebuilt(tuple(typed(ZERO, c) for c in like.elements))
    if isinstance(like, Record):
        return like.rebuilt(tuple(typed(ZERO, c) if has_reals(c.ty) else c for c in like.fields))
    if isinstance(like.ty.base, RecordType):
        fields = [make.field(like, name) for name, _ in like.ty.base.fields]
        return Record(tuple(typed(ZERO, c) if has_reals(c.ty) else c for c in fields), like.ty)
    if all(d is not None for d in like.ty.dims):
        return make.zeros(like.ty)
    return Binary(".*", ZERO, like, like.ty)


class _Derivation:
    """The body of a generated derivative function."""

    def __init__(self, table: FunctionDerivatives, f: Function) -> None:
        self._table = table
        self._real = {v.name for v in (*f.inputs, *f.outputs, *f.locals) if has_reals(v.ty)}
        self._f = f

    def run(self) -> list[Statement]:
        start: list[Statement] = []
        for v in (*self._f.locals, *self._f.outputs):
            if v.name in self._real and v.default is not None:
                ref = Ref(_rate_name(self._f, v.name), v.ty)
                start.append(Assign(ref, typed(self._rate(v.default), v.default), self._f.origin))
        return start + self._body(self._f.body)

    def _body(self, body: list[Statement]) -> list[Statement]:
        statements: list[Statement] = []
        for s in body:
            statements += self._statement(s)
        return statements

    def _statement(self, s: Statement) -> list[Statement]:
        match s:
            case Assign(target, value, origin):
                return [*self._assign(target, value, origin), s]
            case IfStatement(branches, otherwise, origin):
                return [IfStatement([(c, self._body(b)) for c, b in branches], self._body(otherwise), origin)]
            case ForStatement(name, over, body, origin):
                return [ForStatement(name, over, self._body(body), origin)]
            case WhileStatement(condition, body, origin):
                return [WhileStatement(condition, self._body(body), origin)]
            case _:
                return [s]

    def _assign(self, target: Expr | TupleTarget, value: Expr, origin: Origin) -> list[Statement]:
        if not isinstance(target, TupleTarget):
            rate_target = self._target(target)
            if rate_target is None:
                return []
            return [Assign(rate_target, typed(self._rate(value), value), origin)]
        assert isinstance(value, Call)
        wanted = [None if t is None else self._target(t) for t in target.elements]
        if not any(t is not None for t in wanted):
            return []
        derived = self._table.whole(value, [self._rate(a) for a in value.args])
        g = self._table.functions[value.function]
        kept = tuple(t for t, o in zip(wanted, g.outputs, strict=False) if has_reals(o.ty))
        if len(kept) == 1:
            return [] if kept[0] is None else [Assign(kept[0], derived, origin)]
        return [Assign(TupleTarget(kept), derived, origin)]

    def _target(self, target: Expr) -> Expr | None:
        """The derivative's place beside a target; None where it holds no Reals."""
        if not has_reals(target.ty):
            return None
        match target:
            case Ref(name, ty):
                return Ref(_rate_name(self._f, name), ty) if name in self._real else None
            case Index(base, subs, ty):
                inner = self._target(base)
                return None if inner is None else Index(inner, subs, ty)
            case Field(base, name):
                inner = self._target(base)
                return None if inner is None else Field(inner, name)
            case _:
                raise NoDerivative(self._f.id)

    # ----------------------------------------------------------------------------------------------------- expressions

    def _rate(self, e: Expr) -> Expr:
        """The derivative of an expression; a plain ZERO stands for zero of any shape."""
        if isinstance(e, FunctionRef):
            rates = [self._rate(value) for _, value in e.bound]
            return ZERO if all(r is ZERO for r in rates) else e.rebuilt(tuple(rates))
        if not has_reals(e.ty):
            return ZERO
        match e:
            case Ref(name, ty):
                return Ref(_rate_name(self._f, name), ty) if name in self._real else ZERO
            case Unary(_, operand):
                inner = self._rate(operand)
                return ZERO if inner is ZERO else neg(inner)
            case Binary():
                return self._binary(e)
            case IfExp(condition, then, otherwise):
                a, b = self._rate(then), self._rate(otherwise)
                if a is ZERO and b is ZERO:
                    return ZERO
                return IfExp(condition, typed(a, then), typed(b, otherwise))
            case Array(elements):
                return self._gathered(e, elements)
            case Record(fields):
                return self._gathered(e, fields)
            case Index(base, subs, ty):
                inner = self._rate(base)
                return ZERO if inner is ZERO else Index(inner, subs, ty)
            case Field(base, name):
                inner = self._rate(base)
                return ZERO if inner is ZERO else Field(inner, name)
            case Comprehension(op, body, iterators, ty) if op in ("", "sum"):
                inner = self._rate(body)
                return ZERO if inner is ZERO else Comprehension(op, typed(inner, body), iterators, ty)
            case Call():
                rates = [self._rate(a) for a in e.args]
                return ZERO if all(r is ZERO for r in rates) else self._table.rule(e, rates, None)
            case Item(Call() as call, index):
                rates = [self._rate(a) for a in call.args]
                return ZERO if all(r is ZERO for r in rates) else self._table.rule(call, rates, index)
            case Builtin():
                return self._builtin(e)
            case _:
                if any(isinstance(n, Ref) and n.name in self._real for n in traverse.walk(e)):
                    raise NoDerivative(self._f.id)
                return ZERO

    def _gathered(self, e: Array | Record, parts: tuple[Expr, ...]) -> Expr:
        rates = [self._rate(p) for p in parts]
        if all(r is ZERO for r in rates):
            return ZERO
        return e.rebuilt(tuple(typed(r, p) if has_reals(p.ty) else p for r, p in zip(rates, parts, strict=True)))

    def _binary(self, e: Binary) -> Expr:
        a, b, op = e.left, e.right, e.op
        da, db = self._rate(a), self._rate(b)
        if da is ZERO and db is ZERO:
            return ZERO
        if op in ("+", ".+"):
            return add(typed(da, a), typed(db, b))
        if op in ("-", ".-"):
            return sub(typed(da, a), typed(db, b))
        times = mul if op == "*" else _times
        if op in ("*", ".*"):
            terms = ([] if da is ZERO else [times(da, b)]) + ([] if db is ZERO else [times(a, db)])
            return terms[0] if len(terms) == 1 else add(terms[0], terms[1])
        if op in ("/", "./"):
            over = da if db is ZERO else neg(_times(e, db)) if da is ZERO else sub(da, _times(e, db))
            return make.elementwise("./", over, b)
        if op in ("^", ".^") and not e.ty.dims:
            if db is ZERO:
                return mul(mul(b, make.pow_(a, sub(b, ONE))), da)
            rate = mul(db, Builtin("log", (a,), REAL))
            return mul(e, rate if da is ZERO else add(rate, make.div(mul(b, da), a)))
        raise NoDerivative(self._f.id)

    def _builtin(self, e: Builtin) -> Expr:
        name, args = e.name, e.args
        function = BUILTINS.get(name)
        slope = None if function is None else function.derivative
        if slope is Slope.STILL:
            return ZERO
        rates = [self._rate(a) for a in args]
        if all(r is ZERO for r in rates):
            return ZERO
        if slope is Slope.LINEAR or same_as(e) is not None:
            fresh = tuple(typed(r, a) if has_reals(a.ty) else a for r, a in zip(rates, args, strict=True))
            return e.rebuilt(fresh)
        if slope is Slope.BILINEAR:
            first, second = typed(rates[0], args[0]), typed(rates[1], args[1])
            return add(e.rebuilt((first, args[1])), e.rebuilt((args[0], second)))
        if any(a.ty.dims for a in args) or e.ty.dims:
            raise NoDerivative(f"{name} in {self._f.id}")
        return derive_builtin(name, args, rates, e)


def _times(a: Expr, b: Expr) -> Expr:
    return make.elementwise(".*", a, b)
