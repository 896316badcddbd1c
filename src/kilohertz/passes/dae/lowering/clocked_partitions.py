"""A clocked partition becomes discrete equations that act at its ticks (MLS 16).

  when $tick(0) then x = previous(x) + u; y = 2*x; end when     ->   x := if tick then pre(x) + u else pre(x);  ...
  hold(y)         ->  pre(y): the continuous part sees a new value one pass later, so `sample(u)` is the left limit of u
  previous(x)     ->  pre(x)          sample(u), subSample(u, ..), superSample, shiftSample, backSample, noClock  ->  u
  interval(u)     ->  the period      firstTick(u)  ->  true at the first tick
  initial()       ->  likewise        when c  ->  acts at ticks where c holds and did not at the tick before
  der(x)          ->  $slope(x), and an equation of the clock's solverMethod for x (`discretise.py`)

All partitions of one base clock share one sample; a counter tells which of them tick.  Inside a partition equations are
ordered; those that must be solved together hold at ticks, and their unknowns keep their values otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction

from kilohertz.base import Diagnostic, InternalError, ModelError, Note, Origin, Severity
from kilohertz.ir import make, traverse
from kilohertz.ir.dae import (
    NOT_INITIAL,
    AnyEquation,
    CallEquation,
    Dae,
    DaeVariable,
    Effect,
    Equation,
    Reinit,
    Role,
    Sample,
    TimeEvent,
    When,
    der_name,
    pre_name,
)
from kilohertz.ir.expr import FALSE, TIME, TRUE, Builtin, Expr, Int, Real, Ref
from kilohertz.ir.flat import Purpose
from kilohertz.ir.ticks import Tick
from kilohertz.ir.types import BOOLEAN, INTEGER, REAL, Type
from kilohertz.passes.algebra import Occurrence, linear_parts, substitute
from kilohertz.passes.dae.lowering.discretise import Discretiser, Timed
from kilohertz.passes.dae.lowering.reduce_partition import KNOWN, Partition, reduced
from kilohertz.passes.derivative import Differentiator
from kilohertz.passes.ordered.inverse import explicit, quotient
from kilohertz.passes.ordered.solving_order import order
from kilohertz.passes.spare_equations import holds_too
from kilohertz.solvers import Method
from kilohertz.solvers.clocked import CLOCKED

_SEVERAL_RATES = "MultiRate_"  # another tool steps parts of a partition at rates of their own
RESAMPLING = frozenset({"sampled", "subSample", "superSample", "shiftSample", "backSample", "noClock"})
Lower = Callable[[Expr, Origin], Expr]


@dataclass(frozen=True, slots=True)
class _Tick:
    """The clock of a partition, for the method that steps it."""

    interval: Expr
    first: Expr
    dae: Dae
    own: dict[str, None]

    def new(self, name: str, ty: Type) -> Ref:
        variable = DaeVariable(name, ty, Role.DISCRETE, protected=True, purpose=Purpose.MADE)
        self.dae.variables[name] = variable
        self.own[name] = None
        return variable.ref


@dataclass(frozen=True, slots=True)
class _Results:
    """A call at ticks, and which unknown each of its results determines."""

    equation: CallEquation
    guard: Expr
    solves: dict[str, Ref] = field(default_factory=dict)  # by the name of the result

    def equations(self, new: Callable[[str, Type, Expr], Ref]) -> list[AnyEquation]:
        """The call; a result that is solved for something else is compared with what the call gives."""
        added: list[AnyEquation] = []
        targets: list[tuple[Expr | None, ...]] = []
        for output in self.equation.targets:
            row: list[Expr | None] = []
            for t in output:
                unknown = self.solves.get(t.name) if isinstance(t, Ref) else None
                if isinstance(t, Ref) and unknown is not None and unknown is not t:
                    result = new(f"$given({t.name})", REAL, make.ZERO)
                    held = make.sub(unknown, Ref(pre_name(unknown.name), REAL))
                    residual = make.if_(self.guard, make.sub(t, result), held)
                    added.append(Equation(make.ZERO, residual, self.equation.origin))
                    t = result
                row.append(t)
            targets.append(tuple(row))
        return [replace(self.equation, targets=tuple(targets), guard=self.guard), *added]


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
        self._moving: dict[int, dict[str, None]] = {}  # by partition: what is differentiated in it
        self._edges: dict[tuple[int, Expr], Expr] = {}
        self._watched: dict[int, list[Equation]] = {}  # by partition: conditions of its whens

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

    def join(self, k: int, name: str) -> None:
        """A variable that was made for the equations of partition k."""
        self._partition_of[name] = k
        v = self._dae.variables[name]
        if v.role is Role.ALGEBRAIC:
            self._dae.variables[name] = replace(v, role=Role.DISCRETE)

    def lower(self, e: Expr, origin: Origin, k: int) -> Expr:
        """An expression of partition k."""
        return self._lower(self._clocked(e, k, origin), origin)

    def discretised(self) -> dict[str, int]:
        """The variables of partitions with continuous equations, as far as they were seen."""
        return {n: k for n, k in self._partition_of.items() if k in self._moving}

    def add(self, k: int, part: Partition, whens: list[When]) -> None:
        """The equations of partition k, and what its whens do besides setting variables."""
        tick = self.tick(k)
        part.equations += self._watched.pop(k, [])
        for w in whens:
            resets = tuple(a for a in w.actions if isinstance(a, Reinit))
            effects = tuple(a for a in w.actions if isinstance(a, Effect))
            if resets:
                part.resets.append(When(w.guard, resets, w.origin))
            if effects:
                self._dae.whens.append(When(make.and_(tick, w.guard), effects, w.origin))
        members = {n: None for n, at in self._partition_of.items() if at == k and n in self._dae.variables}
        if k not in self._moving:
            timed = [Timed(e, active=part.active.get(id(e), TRUE)) for e in part.equations]
            self._partition(k, members, timed)
            return
        if part.active:
            place = self._place(self._ticks[k])
            text = "continuous equations in the clocked partition of a state machine are not supported"
            raise ModelError(Diagnostic("B218", text, place.spans[0] if place.spans else None))
        part = reduced(self._dae, part, members, self._moving[k])
        at = _Tick(self._interval_held(k), self._first_tick(k), self._dae, members)
        discretiser = Discretiser(self._dae, part, tuple(members), at)
        timed = discretiser.run(self._method(k))
        for e in discretiser.spare:
            check = holds_too(e)
            action = Effect("assert", (check.condition, check.message), e.origin)
            self._dae.whens.append(When(make.and_(tick, at.first), (action,), e.origin))
        self._partition_of.update(dict.fromkeys(members, k))
        self._partition(k, members, timed, make.and_(tick, make.not_(at.first)))

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
            tick = make.and_(Builtin("sample", (Int(index),), BOOLEAN), NOT_INITIAL)
        elif first.condition is not None:
            if grain != 1:
                raise ModelError(Diagnostic("B104", "an event clock cannot be made faster"))
            tick = self._edge(self._from_start(first.condition))
        else:
            raise InternalError("a clock without period and condition")
        counter = self._new(f"$n{key}", INTEGER, Int(-1))
        before = Ref(pre_name(counter.name), INTEGER)
        counted = make.if_(tick, make.add(before, Int(1)), before)
        self._dae.equations.append(Equation(counter, counted, directed=True))
        return tick, counter, grain

    def _is_moving(self, period: Expr) -> bool:
        fixed = (Role.PARAMETER, Role.CONSTANT)
        variables = self._dae.variables
        return any(
            r is TIME or r.name not in variables or variables[r.name].role not in fixed for r in traverse.refs(period)
        )

    def _varying(self, key: int, period: Expr) -> Expr:
        """`Clock(i, r)` with i set at its ticks: each tick says when the next one comes."""
        following = self._new(f"$next{key}", REAL, make.ZERO)
        due = self._new(f"$due{key}", BOOLEAN, FALSE)
        at = Ref(pre_name(following.name), REAL)
        tick = make.and_(due, NOT_INITIAL)
        self._dae.equations.append(Equation(due, make.relation(">=", TIME, at), directed=True))
        later = make.if_(tick, make.add(TIME, period), at)
        self._dae.equations.append(Equation(following, later, directed=True))
        self._dae.time_events.append(TimeEvent(at))
        return tick

    def _first_tick(self, k: int) -> Expr:
        first = self._first.get(k)
        if first is None:
            ticked = self._new(f"$ticked{k}", BOOLEAN, FALSE)
            before = Ref(pre_name(ticked.name), BOOLEAN)
            self._dae.equations.append(Equation(ticked, make.or_(before, self.tick(k)), directed=True))
            first = self._first[k] = make.not_(before)
        return first

    def _interval_held(self, k: int) -> Expr:
        """The interval as something that stays as it is where time is moved."""
        interval = self._interval(k)
        if not self._is_moving(interval):
            return interval
        held = self._new(f"$interval{k}", REAL, make.ZERO)
        value = make.if_(self.tick(k), interval, Ref(pre_name(held.name), REAL))
        self._dae.equations.append(Equation(held, value, directed=True))
        return held

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

    def _clocked(self, e: Expr, k: int, origin: Origin) -> Expr:
        def f(node: Expr) -> Expr:
            if not isinstance(node, Builtin):
                return node
            if node.name in RESAMPLING:
                return node.args[0]
            if node.name in ("previous", "hold"):
                return self._before(node.args[0])
            if node.name in ("firstTick", "initial"):
                return self._first_tick(k)
            if node.name == "interval":
                return self._interval(k)
            if node.name == "$when":
                return self._edge_at_ticks(node.args[0], k, origin)
            if node.name == "der":
                return Differentiator(lambda ref: self._rate(ref, k, origin))(node.args[0])
            return node

        return traverse.map_expr(e, f)

    def _rate(self, x: Ref, k: int, origin: Origin) -> Expr:
        if x is TIME:
            return make.ONE
        v = self._dae.variables.get(x.name)
        if v is not None and v.role in KNOWN:
            return make.ZERO
        if v is None:  # der(y), differentiated again: it needs a name
            x = self._named_rate(x, k, origin)
        elif self._partition_of.get(x.name) != k:
            text = f"{x.name} comes from outside of this clocked partition: it has no derivative here"
            raise ModelError(Diagnostic("B215", text, origin.spans[0] if origin.spans else None))
        self._moving.setdefault(k, {})[x.name] = None
        return Ref(der_name(x.name), REAL)

    def _named_rate(self, rate: Ref, k: int, origin: Origin) -> Ref:
        name = f"$rate({rate.name})"
        if name not in self._dae.variables:
            self._dae.variables[name] = DaeVariable(name, REAL, Role.DISCRETE, protected=True, purpose=Purpose.MADE)
            self._partition_of[name] = k
            self._watched.setdefault(k, []).append(Equation(Ref(name, REAL), rate, origin))
        return Ref(name, REAL)

    def _from_start(self, condition: Expr) -> Expr:
        """MLS 16.3: a clock ticks with edge(condition), also at the start, before which the condition was what its
        start value says; what has none was false."""
        v = self._dae.variables.get(condition.name) if isinstance(condition, Ref) else None
        was_true = FALSE if v is None or v.start is None else v.start
        return make.and_(self.continuous(condition), make.or_(NOT_INITIAL, was_true))

    def _edge_at_ticks(self, condition: Expr, k: int, origin: Origin) -> Expr:
        """A condition of a when: it holds, and did not at the last tick."""
        first = self._first_tick(k)
        if condition is first:
            return first
        edge = self._edges.get((k, condition))
        if edge is None:
            n = len(self._edges)
            held = self._new(f"$at{n}", BOOLEAN, FALSE)
            self._partition_of[held.name] = k
            self._watched.setdefault(k, []).append(
                Equation(held, self._lower(condition, origin), origin, directed=True)
            )
            before = Ref(pre_name(held.name), BOOLEAN)
            edge = make.and_(make.and_(held, make.not_(before)), make.not_(first))
            self._edges[k, condition] = edge
        return edge

    def _method(self, k: int) -> Method:
        """That of the clock, by the name that MLS 16.8.2 or `solvers` has for it."""
        name = self._ticks[k].solver
        if name == "":
            return CLOCKED["ExplicitEuler"]
        if name == "External":
            text = f"the clock leaves its solverMethod to the tool (`External`): {CLOCKED[name].name} is taken"
            self._warn("B220", text, self._place(self._ticks[k]))
        if name in CLOCKED:
            return CLOCKED[name]
        place, single = self._place(self._ticks[k]), name.removeprefix(_SEVERAL_RATES)
        if single in CLOCKED:
            self._warn("B219", f"the rates of `{name}` are one here: {single} at every tick", place)
            return CLOCKED[single]
        note = Note(f"supported are {', '.join(CLOCKED)}")
        text = f"the solverMethod `{name}` of a clock is not supported"
        raise ModelError(Diagnostic("B211", text, place.spans[0] if place.spans else None, notes=(note,)))

    def _place(self, tick: Tick) -> Origin:
        """Where the first variable of a partition is declared."""
        return next((self._dae.variables[n].origin for n in tick.variables if n in self._dae.variables), Origin())

    def _warn(self, code: str, text: str, origin: Origin) -> None:
        span = origin.spans[0] if origin.spans else None
        self._dae.warnings.append(Diagnostic(code, text, span, severity=Severity.WARNING))

    # ------------------------------------------------------------------------------------------------------- partitions

    def _partition(self, k: int, members: dict[str, None], timed: list[Timed], later: Expr = FALSE) -> None:
        """Equations in their order, each acting at its ticks."""
        occurrence, tick = Occurrence(), self.tick(k)
        unknowns = [v.ref for n in members if (v := self._dae.variables[n]).role is not Role.INPUT]
        guards = {id(t.equation): make.and_(later if t.later else tick, t.active) for t in timed}
        calls: dict[int, _Results] = {}
        for component in order([t.equation for t in timed], unknowns, occurrence):
            alone = len(component.rows) == 1
            mixed = any(u.ty == REAL for u in component.unknowns)
            for row, unknown in zip(component.rows, component.unknowns, strict=True):
                e, guard = row.equation, guards[id(row.equation)]
                if isinstance(e, CallEquation):
                    calls.setdefault(id(e), _Results(e, guard)).solves[row.target or ""] = unknown
                else:
                    # what is not Real in a loop with Reals is settled with them
                    solve = self._solved if alone else explicit if mixed and unknown.ty != REAL else _unsolved
                    value = solve(e, unknown, occurrence)
                    held = self._held_row(e, unknown, guard, value, lambda x: self._sampled(x, k))
                    self._dae.equations.append(held)
        for results in calls.values():
            self._dae.equations += results.equations(self._new)

    def _held_row(
        self, e: Equation, unknown: Ref, tick: Expr, value: Expr | None, sampled: Callable[[Expr], Expr]
    ) -> Equation:
        before = Ref(pre_name(unknown.name), unknown.ty)
        if value is not None:
            return Equation(unknown, make.if_(tick, value, before), e.origin, directed=True)
        if unknown.ty == REAL:
            residual = sampled(make.sub(e.left, e.right))
            held = make.if_(tick, residual, make.sub(unknown, before))
            return Equation(make.ZERO, held, e.origin)
        span = e.origin.spans[0] if e.origin.spans else None
        made = self._dae.variables[unknown.name].purpose is Purpose.MADE
        subject = "this condition" if made else unknown.name
        raise ModelError(Diagnostic("B106", f"{subject} depends on itself in a clocked partition", span))

    def _sampled(self, e: Expr, k: int) -> Expr:
        """An expression of a loop over values at the tick alone: what is continuous in it is not to be solved for."""
        values: dict[str, Expr] = {}
        for ref in traverse.refs(e):
            v = self._dae.variables.get(ref.name)
            if v is None or v.role not in (Role.ALGEBRAIC, Role.STATE):
                continue
            name = f"$sampled{k}({ref.name})"
            if name not in self._dae.variables:
                self._new(name, REAL, make.ZERO)
                value = make.if_(self.tick(k), ref, Ref(pre_name(name), REAL))
                self._dae.equations.append(Equation(Ref(name, REAL), value, directed=True))
            values[ref.name] = Ref(name, REAL)
        return substitute(e, values) if values else e

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


def _unsolved(_e: Equation, _unknown: Ref, _occurrence: Occurrence) -> None:
    """In a loop of Reals nothing is solved for alone."""


def _common(parts: list[Fraction]) -> Fraction:
    """The largest fraction that all of them are multiples of."""
    lcm = 1
    for p in parts:
        lcm = math.lcm(lcm, p.denominator)
    gcd = 0
    for p in parts:
        gcd = math.gcd(gcd, p.numerator * (lcm // p.denominator))
    return Fraction(gcd or lcm, lcm)
