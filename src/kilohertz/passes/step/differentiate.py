"""differentiate: how the derivatives move along a direction in states and time, as blocks that follow those of STEP.

  v := e                    ->  dir(v) := sum over w in e of (d e / d w) * dir(w)
  A z = b                   ->  A dir(z) = dir(b)                       the same matrix, factorised already
  where A moves             ->  A dir(z) = -dir(F) with z at rest       F the equations that A and b were made from
  F(z, w) = 0, w := g(z)    ->  J dir(z) = -dir(F) with z at rest       J the loop's own Jacobian, at its solution
                            ->  dir(res(z)) := dir(F), dir(z) = seed(z)    where the loop is open (index-1 form)
  mixed loop                ->  its continuous part
  y := f(x)                 ->  dir(y) := f'(x, dir(x)): by annotation or generated; f'(x, 1)*dir(x) for one number x

In `directional` `dir(x)` of a state is `seed(x)` and time rests; in `time_slope` states rest, time moves at rate 1, and
what is `dir(v)` above is called `slope(v)`. Discrete values, relations and inputs rest in both, delayed values in
`directional`, and what rests gets no variable. A rate that is but another rate, or its negative, is put in its place.
Forward mode, so the blocks cost a small multiple of those of STEP (A. Griewank, A. Walther, Evaluating Derivatives,
2008, chapter 3).
A pure function of numbers that has no derivative (an external one) is called twice:
  f(x)                      ->  (f(x + h*dir(x)) - f(x)) / h            h a small part of x, relative to its rate
It gives up, and the model gets no `directional`, where an algorithm, a loop or a call with several results has none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from kilohertz.base import Origin
from kilohertz.ir import make, traverse
from kilohertz.ir import step as s
from kilohertz.ir.builtins import is_past
from kilohertz.ir.expr import Binary, Builtin, Call, Expr, Item, Real, Ref, Unary
from kilohertz.ir.flat import Purpose
from kilohertz.ir.make import ONE, ZERO
from kilohertz.ir.types import BOOLEAN, REAL
from kilohertz.passes.algebra import Occurrence, cost, simplify, substitute
from kilohertz.passes.contract import Fact, Log, Pass
from kilohertz.passes.derivative import Differentiator, NoDerivative, has_reals, is_moving
from kilohertz.passes.function_derivative import FunctionDerivatives
from kilohertz.passes.ordered.columns import inner_values

PART, LEAST = 1e-7, 1e-3  # of an argument, and of its size where it is near zero: how far a difference reaches
_REALS = frozenset({s.Kind.ALGEBRAIC, s.Kind.DERIVATIVE, s.Kind.RESIDUAL})


def direction_name(name: str) -> str:
    """The rate of a variable along the seeds."""
    return f"dir({name})"


def slope_name(name: str) -> str:
    """The rate of a variable along time."""
    return f"slope({name})"


def seed_name(name: str) -> str:
    """The given rate of a state."""
    return f"seed({name})"


def residual_name(name: str) -> str:
    """The residual that belongs to an algebraic unknown of the index-1 form."""
    return f"res({name})"


@dataclass(frozen=True, slots=True)
class Differentiate(Pass):
    """The directional derivative of the blocks of STEP, or what has none."""

    name: ClassVar[str] = "differentiate"
    needs: ClassVar[frozenset[Fact]] = frozenset({Fact.STEP, Fact.PARTITIONED, Fact.HOISTED})
    gives: ClassVar[frozenset[Fact]] = frozenset({Fact.DIRECTIONAL})
    breaks: ClassVar[frozenset[Fact]] = frozenset({Fact.CALLED})

    def run(self, model: s.Step, log: Log) -> s.Step:
        derivatives = FunctionDerivatives(dict(model.functions))
        return replace(differentiated(model, derivatives, log.occurrence), functions=derivatives.functions)


def differentiated(step: s.Step, functions: FunctionDerivatives, occurrence: Occurrence) -> s.Step:
    """The step with `directional` and its variables, or with `no_directional`: what has no derivative."""
    if not step.of_kind(s.Kind.STATE):
        return step
    seeds = {v.name: Ref(seed_name(v.name), REAL) for v in step.of_kind(s.Kind.STATE)}
    seeds |= {u.name: Ref(seed_name(u.name), REAL) for u in step.algebraic}
    variables = _declared(step)
    ways = (_Way(seeds, direction_name, s.Kind.DIRECTION), _Way({"time": ONE}, slope_name, s.Kind.SLOPE))
    lists: list[tuple[s.Block, ...]] = []
    try:
        for way in ways:
            work = _Directional(step, functions, occurrence, way, variables)
            work.blocks(step.in_partition(s.Partition.STEP))
            lists.append(tuple(work.out))
    except NoDerivative as why:
        return replace(step, no_directional=str(why))
    return replace(step, variables={**step.variables, **variables}, directional=lists[0], time_slope=lists[1])


def _declared(step: s.Step) -> dict[str, s.StepVariable]:
    """Seeds, and the rates of derivatives and residuals."""
    pairs = [(v.name, f"der({v.name})") for v in step.of_kind(s.Kind.STATE)]
    pairs += [(u.name, residual_name(u.name)) for u in step.algebraic]
    made: list[s.StepVariable] = []
    for i, (given, computed) in enumerate(pairs):
        made.append(_made(seed_name(given), s.Kind.SEED, i))
        made.append(_made(direction_name(computed), s.Kind.DERIVATIVE_DIRECTION, i))
        made.append(_made(slope_name(computed), s.Kind.DERIVATIVE_SLOPE, i))
    return {v.name: v for v in made}


def _made(name: str, kind: s.Kind, index: int) -> s.StepVariable:
    return s.StepVariable(name, REAL, s.Slot(kind, index), ZERO, protected=True, purpose=Purpose.MADE)


@dataclass(frozen=True, slots=True)
class _Way:
    """Along states or along time: the rates that are given; what others are called and where they stand."""

    given: Mapping[str, Expr]
    name: Callable[[str], str]
    kind: s.Kind


class _Directional:
    """Rates along a way; `variables` gets one for each that is computed."""

    def __init__(
        self,
        step: s.Step,
        functions: FunctionDerivatives,
        occurrence: Occurrence,
        way: _Way,
        variables: dict[str, s.StepVariable],
    ) -> None:
        self._step, self._functions, self._occurrence = step, functions, occurrence
        self._way, self._variables, self._count = way, variables, 0
        unknowns = {u.name for u in step.algebraic}
        self._rates: dict[str, Expr] = {n: e for n, e in way.given.items() if n not in unknowns}
        self._differentiate = Differentiator(lambda r: self._rates.get(r.name, ZERO), self._rule, _past_slope)
        self.out: list[s.Block] = []
        self._simple: dict[Expr, Expr] = {}  # rates share most of what they are made of: simplified once
        known = step.in_partition(s.Partition.EVENT, s.Partition.STEP)
        self._computed = {target.name for b in known for target in s.targets(b)}

    def _direction(self, v: Ref) -> Ref:
        """The variable for the rate of v."""
        name = self._way.name(v.name)
        if name not in self._variables:
            self._variables[name] = _made(name, self._way.kind, self._count)
            self._count += 1
        return Ref(name, REAL)

    def _moves(self, e: Expr) -> bool:
        if any(n in self._rates for n in self._occurrence.names(e)):
            return True
        return "time" in self._rates and any(map(is_past, traverse.walk(e)))

    def _rate(self, e: Expr) -> Expr:
        return self._simplified(self._differentiate(e)) if self._moves(e) else ZERO

    def _simplified(self, e: Expr) -> Expr:
        return simplify(e, self._simple)

    def _rule(self, call: Call, rates: list[Expr], index: int | None) -> Expr:
        """The rate of a call: by its derivative, or by a difference along the rates of its arguments."""
        try:
            return self._derived(call, rates, index)
        except NoDerivative:
            f = self._functions.functions.get(call.function)
            if f is None or not f.pure:
                raise
            return _difference(call, rates, index)

    def _derived(self, call: Call, rates: list[Expr], index: int | None) -> Expr:
        """By its derivative, which is linear in rates (MLS 12.7.1): where one number moves it is called with a rate of
        one, the same for all directions."""
        alone = _the_moving(call, rates)
        if alone is None:
            return self._functions.rule(call, rates, index)
        unit = [ONE if k == alone else rate for k, rate in enumerate(rates)]
        return make.mul(self._functions.rule(call, unit, index), rates[alone])

    # ---------------------------------------------------------------------------------------------------------- blocks

    def blocks(self, blocks: Iterable[s.Block]) -> None:
        for b in blocks:
            self._block(b)

    def _block(self, b: s.Block) -> None:
        match b:
            case s.Assignment(target, value):
                self._assign(target, self._rate(value), b.origin)
            case s.LinearLoop():
                self._linear(b)
            case s.NonlinearLoop():
                self._nonlinear(b)
            case s.MixedLoop():
                self.blocks(b.continuous)
            case s.CallBlock():
                self._call(b)
            case s.WhenBlock():
                pass

    def _assign(self, target: Ref, rate: Expr, origin: Origin) -> None:
        kind = self._step.variables[target.name].slot.kind
        if rate is ZERO or kind not in _REALS:
            return
        if kind is s.Kind.ALGEBRAIC and _is_plain(rate):
            self._rates[target.name] = rate
            return
        direction = self._direction(target)
        self._rates[target.name] = direction
        self.out.append(s.Assignment(direction, rate, s.Partition.STEP, cost((rate,)), origin))

    def _linear(self, b: s.LinearLoop) -> None:
        moving = [e for e in b.matrix if self._moves(e.value)]
        if moving and b.residuals:
            rhs = self._at_rest(*self._in_reach(b))
        else:
            rhs = [self._rate(e) for e in b.rhs]
            for entry in moving:
                moved = make.mul(self._rate(entry.value), b.unknowns[entry.column])
                rhs[entry.row] = self._simplified(make.sub(rhs[entry.row], moved))
        self._solve(b, b.matrix, rhs)
        for inner in b.inner:
            self._block(inner)

    def _in_reach(self, b: s.LinearLoop) -> tuple[list[tuple[Ref, Expr]], list[Expr]]:
        """`through` and `residuals` of a loop, with variables put in that are computed for outputs alone."""
        values: dict[str, Expr] = {}
        memo: dict[Expr, Expr] = {}  # what a value can contain is known before it: see `substitute`
        through: list[tuple[Ref, Expr]] = []
        for inner in b.through:
            value = substitute(inner.value, values, memo) if values else inner.value
            if inner.target.name in self._computed:
                through.append((inner.target, value))
            else:
                values[inner.target.name] = value
        return through, [substitute(e, values, memo) for e in b.residuals] if values else list(b.residuals)

    def _nonlinear(self, b: s.NonlinearLoop) -> None:
        if b.unknowns[0] in self._step.algebraic:
            self._open(b)
            return
        if b.jacobian is None:
            if self._is_at_rest(b):
                return
            raise NoDerivative("a nonlinear loop")
        rhs = self._at_rest([pair for inner in b.inner for pair in inner_values(inner)], b.residuals)
        self._solve(b, b.jacobian, rhs)
        for inner in b.inner:
            self._block(inner)

    def _at_rest(self, values: Sequence[tuple[Ref, Expr]], residuals: Sequence[Expr]) -> list[Expr]:
        """How residuals move, with a minus, while the unknowns of their loop rest and what follows from them moves."""
        rest: dict[str, Expr] = {}
        through = Differentiator(lambda r: rest.get(r.name, self._rates.get(r.name, ZERO)), self._rule, _past_slope)
        for target, value in values:
            rate = self._simplified(through(value))
            if rate is not ZERO:
                rest[target.name] = rate
        return [self._simplified(make.neg(through(e))) for e in residuals]

    def _open(self, b: s.NonlinearLoop) -> None:
        """A loop of the index-1 form: its unknowns are given, its residuals move."""
        for u in b.unknowns:
            seed = self._way.given.get(u.name)
            if seed is None:
                continue
            self._rates[u.name] = seed
            if self._step.variables[u.name].slot.kind is s.Kind.DERIVATIVE:
                self.out.append(s.Assignment(self._direction(u), seed, s.Partition.STEP, 1, b.origin))
        for inner in b.inner:
            self._block(inner)
        for u, residual in zip(b.unknowns, b.residuals, strict=True):
            self._assign(Ref(residual_name(u.name), REAL), self._rate(residual), b.origin)

    def _solve(self, b: s.LinearLoop | s.NonlinearLoop, matrix: tuple[s.Entry, ...], rhs: Sequence[Expr]) -> None:
        """matrix * dir(unknowns) = rhs."""
        if not is_moving(list(rhs)):
            return
        directions = tuple(self._direction(u) for u in b.unknowns)
        for u, d in zip(b.unknowns, directions, strict=True):
            self._rates[u.name] = d
        p = s.Partition.STEP
        total = cost([*(e.value for e in matrix), *rhs]) + len(directions) ** 3
        loop = s.LinearLoop(directions, matrix, tuple(rhs), (), p, p, total, b.origin, b.unknowns)
        if isinstance(b, s.LinearLoop):
            loop = replace(loop, symmetric=b.symmetric, pivots=b.pivots)
        self.out.append(loop)

    def _is_at_rest(self, b: s.NonlinearLoop) -> bool:
        """Nothing the loop reads from outside moves."""
        reads: list[Expr] = [*b.residuals]
        for inner in b.inner:
            match inner:
                case s.Assignment():
                    reads.append(inner.value)
                case s.CallBlock():
                    reads.append(inner.call)
        return not any(map(self._moves, reads))

    def _call(self, b: s.CallBlock) -> None:
        if b.guard is not None or not self._moves(b.call):
            return
        moving = [t for output in b.targets for t in output if t is not None and self._is_real(t)]
        rates = [self._differentiate(a) for a in b.call.args]
        if not moving or not is_moving(rates):
            return
        f = self._functions.functions[b.call.function]
        are_numbers = all(len(output) == 1 for output in b.targets) and not any(o.ty.dims for o in f.outputs)
        if _the_moving(b.call, rates) is not None and are_numbers:
            for k, (t,) in enumerate(b.targets):
                if t in moving:
                    self._assign(t, self._simplified(self._derived(b.call, rates, k)), b.origin)
            return
        derived = self._functions.whole(b.call, rates)
        kept = []
        for output, declared in zip(b.targets, f.outputs, strict=False):
            if has_reals(declared.ty):
                kept.append(tuple(self._direction(t) if t is not None and self._is_real(t) else None for t in output))
        for t in moving:
            self._rates[t.name] = self._direction(t)
        self.out.append(s.CallBlock(tuple(kept), derived, s.Partition.STEP, None, cost((derived,)), b.origin))

    def _is_real(self, t: Ref) -> bool:
        return self._step.variables[t.name].slot.kind in _REALS


def _past_slope(e: Builtin, rates: list[Expr]) -> Expr:
    """What was recorded moves along time as the points say; the part that the present has in it is not asked."""
    if e.name not in ("delay", "past"):
        return ZERO
    return make.mul(Builtin("pace", e.args[:2], REAL), make.sub(ONE, rates[1]))


def _the_moving(call: Call, rates: Sequence[Expr]) -> int | None:
    """The argument that moves, where it is one number."""
    moving = [k for k, rate in enumerate(rates) if is_moving([rate])]
    return moving[0] if len(moving) == 1 and call.args[moving[0]].ty == REAL else None


def _difference(call: Call, rates: list[Expr], index: int | None) -> Expr:
    """(f(x + h*r) - f(x))/h with h = PART/max(|r|/(|x| + LEAST)); zero where all rates are."""
    moving = [(a, r) for a, r in zip(call.args, rates, strict=True) if is_moving([r])]
    if any(a.ty != REAL for a, _ in moving):
        raise NoDerivative(call.function)
    speed: Expr = ZERO
    for a, r in moving:
        size = make.add(Builtin("abs", (a,), REAL), Real(LEAST))
        one = make.div(Builtin("abs", (r,), REAL), size)
        speed = one if speed is ZERO else Builtin("max", (speed, one), REAL)
    h = make.div(Real(PART), speed)
    args = tuple(make.add(a, make.mul(h, r)) if is_moving([r]) else a for a, r in zip(call.args, rates, strict=True))
    there, here = call.rebuilt(args), call
    difference = make.sub(there, here) if index is None else make.sub(Item(there, index), Item(here, index))
    return make.if_(Binary(">", speed, ZERO, BOOLEAN), make.div(difference, h), ZERO)


def _is_plain(rate: Expr) -> bool:
    """A rate that costs nothing: another one, its negative, a number."""
    inner = rate.operand if isinstance(rate, Unary) and rate.op == "-" else rate
    return isinstance(inner, (Ref, Real))
