"""A clocked partition becomes discrete equations that act at its ticks (MLS 16).

  when $tick(0) then x = previous(x) + u; y = 2*x; end when     ->   x := if tick then pre(x) + u else pre(x);  ...
  hold(y)         ->  pre(y): the continuous part sees a new value one pass later, so `sample(u)` is the left limit of u
  previous(x)     ->  pre(x)          sample(u), subSample(u, ..), superSample, shiftSample, backSample, noClock  ->  u
  interval(u)     ->  the period      firstTick(u)  ->  true at the first tick
  der(x)          ->  $rate(x) with x = previous(x) + interval*slope after the first tick; the slope is that of the last
                      tick (explicit Euler), $rate(x) for the solverMethod ImplicitEuler, the mean for ImplicitTrapezoid

All partitions of one base clock share one sample; a counter tells which of them tick.  Inside a partition equations are
ordered; those that must be solved together hold at ticks, and their unknowns keep their values otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from kilohertz.base import Diagnostic, InternalError, ModelError, Note, Origin, Severity
from kilohertz.ir import make, traverse
from kilohertz.ir.dae import AnyEquation, Dae, DaeVariable, Equation, Role, Sample, TimeEvent, pre_name
from kilohertz.ir.expr import FALSE, TIME, Builtin, Expr, Int, Real, Ref
from kilohertz.ir.flat import Purpose
from kilohertz.ir.ticks import Tick
from kilohertz.ir.types import BOOLEAN, INTEGER, REAL, Type
from kilohertz.passes.algebra import Occurrence, linear_parts
from kilohertz.passes.ordered.blocks import explicit, quotient
from kilohertz.passes.ordered.solving_order import order

RESAMPLING = frozenset({"sampled", "subSample", "superSample", "shiftSample", "backSample", "noClock"})
Lower = Callable[[Expr, Origin], Expr]


class Clocks:
    """Adds the clocks of a model and their partitions to a Dae that is being built."""

    def __init__(self, dae: Dae, ticks: list[Tick], lower: Lower, edge: Callable[[Expr], Expr]) -> None:
        self._dae = dae
        self._undefined: list[Tick] = []
        self._ticks = [self._defined(t) for t in ticks]
        self._lower = lower
        self._edge = edge
        self._bases: dict[int, tuple[Expr, Ref, Fraction]] = {}  # by key: tick of the base, its counter, its grain
        self._partition_of = {name: k for k, t in enumerate(ticks) for name in t.variables}
        self._first: dict[int, Expr] = {}
        self._rates: list[tuple[int, Ref, Ref]] = []

    def _defined(self, tick: Tick) -> Tick:
        """Where no clock can be inferred it ticks once a second (MLS 16.7.5)."""
        if tick.period is not None or tick.condition is not None:
            return tick
        self._undefined.append(tick)
        return replace(tick, period=make.ONE)

    @property
    def names(self) -> set[str]:
        return set(self._partition_of)

    def ticking(self) -> Expr:
        """Some periodic clock ticks in this pass (its counter moves, so another pass follows)."""
        some_tick: Expr = FALSE
        for t in self._ticks:
            if t.period is not None:
                some_tick = make.or_(some_tick, self._base(t.key)[0])
        return some_tick

    def add(self, parts: dict[int, list[tuple[Expr, Expr, Origin]]]) -> None:
        """The equations of each partition, as (left, right, origin)."""
        for k, equations in parts.items():
            tick = self.tick(k)
            lowered: list[Equation] = []
            for left, right, origin in equations:
                a, b = self._clocked(left, k), self._clocked(right, k)
                lowered.append(Equation(self._lower(a, origin), self._lower(b, origin), origin))
            lowered += self._euler(k)
            self._partition(k, lowered, tick)

    # ----------------------------------------------------------------------------------------------------------- ticks

    def tick(self, k: int) -> Expr:
        """Partition k ticks in this pass."""
        tick = self._ticks[k]
        base, counter, grain = self._base(tick.key)
        every, first = tick.factor / grain, tick.shift / grain
        if every == 1 and first == 0:
            return base
        here = make.sub(counter, Int(int(first)))
        turn = make.relation("==", Builtin("mod", (here, Int(int(every))), INTEGER), Int(0))
        started = make.relation(">=", counter, Int(int(first)))
        return make.and_(base, make.and_(started, turn))

    def _base(self, key: int) -> tuple[Expr, Ref, Fraction]:
        base = self._bases.get(key)
        if base is None:
            base = self._bases[key] = self._make_base(key)
        return base

    def _make_base(self, key: int) -> tuple[Expr, Ref, Fraction]:
        family = [t for t in self._ticks if t.key == key]
        grain = _common([t.factor for t in family] + [t.shift for t in family])
        first = family[0]
        tick: Expr
        if first.period is not None and self._is_moving(first.period):
            tick = self._varying(key, make.mul(Real(float(grain)), first.period))
        elif first.period is not None:
            index = len(self._dae.samples)
            interval = make.mul(Real(float(grain)), first.period)
            self._dae.samples.append(Sample(index, make.ZERO, interval))
            tick = make.and_(Builtin("sample", (Int(index),), BOOLEAN), make.not_(_INITIAL))
        elif first.condition is not None:
            if grain != 1:
                raise ModelError(Diagnostic("B104", "an event clock cannot be made faster"))
            # a condition that holds at the start makes a tick there, as the clock of a period does
            tick = self._edge(make.and_(self.continuous(first.condition), make.not_(_INITIAL)))
        else:
            raise InternalError("a clock without period and condition")
        counter = self._new(f"$n{key}", INTEGER, Int(-1))
        before = Ref(pre_name(counter.name), INTEGER)
        counted = make.if_(tick, make.add(before, Int(1)), before)
        self._dae.equations.append(Equation(counter, counted, directed=True))
        return tick, counter, grain

    def _is_moving(self, period: Expr) -> bool:
        fixed = (Role.PARAMETER, Role.CONSTANT)
        return any(self._dae.variables[r.name].role not in fixed for r in traverse.refs(period) if r is not TIME)

    def _varying(self, key: int, period: Expr) -> Expr:
        """`Clock(i, r)` with i set at its ticks: each tick says when the next one comes."""
        following = self._new(f"$next{key}", REAL, make.ZERO)
        due = self._new(f"$due{key}", BOOLEAN, FALSE)
        at = Ref(pre_name(following.name), REAL)
        tick = make.and_(due, make.not_(_INITIAL))
        self._dae.equations.append(Equation(due, make.relation(">=", TIME, at), directed=True))
        later = make.if_(tick, make.add(TIME, period), at)
        self._dae.equations.append(Equation(following, later, directed=True))
        self._dae.time_events.append(TimeEvent(at))
        return tick

    def _first_tick(self, k: int) -> Expr:
        is_first = self._first.get(k)
        if is_first is None:
            ticked = self._new(f"$ticked{k}", BOOLEAN, FALSE)
            before = Ref(pre_name(ticked.name), BOOLEAN)
            self._dae.equations.append(Equation(ticked, make.or_(before, self.tick(k)), directed=True))
            is_first = self._first[k] = make.not_(before)
        return is_first

    def _interval(self, k: int) -> Expr:
        tick = self._ticks[k]
        if tick.period is not None and not self._is_moving(tick.period):
            return make.mul(Real(float(tick.factor)), tick.period)
        if tick.period is not None and tick.factor == 1:
            return self._before(tick.period)  # what the last tick said
        name = f"$last{k}"
        if name not in self._dae.variables:
            last = self._new(name, REAL, make.ZERO)
            before = Ref(pre_name(name), REAL)
            self._dae.equations.append(Equation(last, make.if_(self.tick(k), TIME, before), directed=True))
        since = make.sub(TIME, Ref(pre_name(name), REAL))
        if tick.start_interval is None:
            return since
        return make.if_(self._first_tick(k), tick.start_interval, since)

    # ------------------------------------------------------------------------------------------------------- operators

    def continuous(self, e: Expr) -> Expr:
        """An unclocked expression: hold is what a clocked variable was before this pass."""
        return traverse.map_expr(e, self._held)

    def called(self, e: Expr) -> Expr:
        """A call set aside for its several results: a partition's own equations take them at its ticks."""

        def f(node: Expr) -> Expr:
            if isinstance(node, Builtin) and node.name in RESAMPLING:
                return node.args[0]
            if isinstance(node, Builtin) and node.name in ("previous", "hold"):
                return self._before(node.args[0])
            return node

        return traverse.map_expr(e, f)

    def _held(self, node: Expr) -> Expr:
        if isinstance(node, Builtin) and node.name == "hold":
            return self._before(node.args[0])
        return node

    def _before(self, e: Expr) -> Expr:
        def before(node: Expr) -> Expr:
            if isinstance(node, Ref) and node.name in self._partition_of:
                return Builtin("pre", (node,), node.ty)
            return node

        return traverse.map_expr(e, before)

    def _clocked(self, e: Expr, k: int) -> Expr:
        def f(node: Expr) -> Expr:
            if not isinstance(node, Builtin):
                return node
            if node.name in RESAMPLING:
                return node.args[0]
            if node.name == "previous":
                return self._before(node.args[0])
            if node.name == "hold":
                return self._before(node.args[0])
            if node.name == "firstTick":
                return self._first_tick(k)
            if node.name == "interval":
                return self._interval(k)
            if node.name == "der" and isinstance(node.args[0], Ref):
                return self._rate(node.args[0], k)
            return node

        return traverse.map_expr(e, f)

    def _rate(self, x: Ref, k: int) -> Ref:
        name = f"$rate({x.name})"
        if name not in self._dae.variables:
            rate = self._new(name, REAL, make.ZERO)
            self._partition_of[name] = k
            self._rates.append((k, x, rate))
        return Ref(name, REAL)

    def _euler(self, k: int) -> list[Equation]:
        updates = []
        for at, x, rate in self._rates:
            if at != k:
                continue
            before = Ref(pre_name(x.name), REAL)
            moved = make.add(before, make.mul(self._interval(k), self._slope(k, rate)))
            updates.append(Equation(x, make.if_(self._first_tick(k), before, moved)))
        return updates

    def _slope(self, k: int, rate: Ref) -> Expr:
        """What x moves along from tick to tick, by the name that MLS 16.8.2 or `solvers` has for the method.  Others
        need values between two ticks, or a Jacobian."""
        last = Ref(pre_name(rate.name), REAL)
        match self._ticks[k].solver:
            case "" | "ExplicitEuler" | "euler":
                return last
            case "ImplicitEuler" | "ieuler":
                return rate
            case "ImplicitTrapezoid" | "trapezoidal":
                return make.mul(Real(0.5), make.add(last, rate))
            case other:
                text = f"the solverMethod `{other}` of a clock is not supported"
                note = Note(
                    "supported are ExplicitEuler (euler), ImplicitEuler (ieuler), ImplicitTrapezoid (trapezoidal)"
                )
                place = self._place(self._ticks[k])
                raise ModelError(Diagnostic("B211", text, place.spans[0] if place.spans else None, notes=(note,)))

    def _place(self, tick: Tick) -> Origin:
        """Where the first variable of a partition is declared."""
        return next((self._dae.variables[n].origin for n in tick.variables if n in self._dae.variables), Origin())

    def _warn(self, code: str, text: str, origin: Origin) -> None:
        span = origin.spans[0] if origin.spans else None
        self._dae.warnings.append(Diagnostic(code, text, span, severity=Severity.WARNING))

    # ------------------------------------------------------------------------------------------------------- partitions

    def _partition(self, k: int, equations: list[Equation], tick: Expr) -> None:
        occurrence = Occurrence()
        clocked = [
            self._dae.variables[n] for n, at in self._partition_of.items() if at == k and n in self._dae.variables
        ]
        unknowns = [v.ref for v in clocked if v.role is not Role.INPUT]
        made: list[AnyEquation] = []
        for component in order(equations, unknowns, occurrence):
            for row, unknown in zip(component.rows, component.unknowns, strict=True):
                e = row.equation
                assert isinstance(e, Equation)
                before = Ref(pre_name(unknown.name), unknown.ty)
                value = self._solved(e, unknown, occurrence) if len(component.rows) == 1 else None
                if value is not None:
                    made.append(Equation(unknown, make.if_(tick, value, before), e.origin, directed=True))
                elif unknown.ty == REAL:
                    held = make.if_(tick, make.sub(e.left, e.right), make.sub(unknown, before))
                    made.append(Equation(make.ZERO, held, e.origin))
                else:
                    span = e.origin.spans[0] if e.origin.spans else None
                    text = f"{unknown.name} depends on itself in a clocked partition"
                    raise ModelError(Diagnostic("B106", text, span))
        self._dae.equations += made

    def _solved(self, e: Equation, unknown: Ref, occurrence: Occurrence) -> Expr | None:
        value = explicit(e, unknown, occurrence)
        if value is None and unknown.ty == REAL:
            parts = linear_parts(make.sub(e.left, e.right), unknown.name)
            value = None if parts is None else quotient(parts[1], parts[0])
        return value

    def _new(self, name: str, ty: Type, start: Expr) -> Ref:
        variable = DaeVariable(name, ty, Role.DISCRETE, start=start, fixed=True, protected=True, purpose=Purpose.MADE)
        self._dae.variables[name] = variable
        return variable.ref

    def make_discrete(self) -> None:
        """Clocked variables change at ticks only."""
        for name in self._partition_of:
            v = self._dae.variables.get(name)
            if v is not None and v.role is Role.ALGEBRAIC:
                self._dae.variables[name] = replace(v, role=Role.DISCRETE)
        for tick in self._undefined:
            names = ", ".join(tick.variables[:3])
            self._warn("B210", f"no clock is given for {names}: it ticks once a second", self._place(tick))


_INITIAL = Builtin("initial", (), BOOLEAN)


def _common(parts: list[Fraction]) -> Fraction:
    """The largest fraction that all of them are multiples of."""
    lcm = 1
    for p in parts:
        lcm = math.lcm(lcm, p.denominator)
    gcd = 0
    for p in parts:
        gcd = math.gcd(gcd, p.numerator * (lcm // p.denominator))
    return Fraction(gcd or lcm, lcm)
