"""Every operator with time or events in it is made explicit (MLS 3.7.5, 8.5).

  x > 0                     ->  $r0,   $r0 := x > 0, crossing 0           (not in noEvent, smooth, functions)
  time >= t0 + d            ->  $t0,   $t0 := time >= t0 + d, time event there
  floor(u), integer, div    ->  $f0,   $f0 := floor(u), crossings where u leaves [$f0, $f0 + 1)
  floor(c*time + r)         ->  $f0,   right of each instant: $f0 := floor(c*time + r), where c < 0 one less at it
  n, of what f(x) is        ->  $f0,   $f0 := n, crossings where n leaves ($f0 - 0.5, $f0 + 0.5)
  edge(b), change(v)        ->  b and not pre(b),  v <> pre(v)
  $when(c)                  ->  $w0 and not pre($w0) and not initial(),  $w0 := c;  initial() and sample(k) as they are
  sample(t0, dt)            ->  sample(k)
  delay(u, dt, longest)     ->  delay(k, dt),  $d0 = u,  assert dt in [0, longest]
  spatialDistribution(e, a, b, x, ...)  ->  transport(k, e, x),  $p0.in0 = a, ...
  der(f(x))                 ->  der($whole0),  $whole0 = f(x)
  der(der(x))               ->  der($rate(der(x))),  $rate(der(x)) = der(x)
  pre(x), x differentiated  ->  x         (its value before a reinit of this pass)
  pre(y), y algebraic       ->  if initial() then y else pre($left0),  $left0 := y

Rewriting is memoised per (expression, inside noEvent or not), on an explicit stack.
"""

from __future__ import annotations

from collections.abc import Callable

from kilohertz.base import Diagnostic, ModelError, Origin
from kilohertz.ir import make
from kilohertz.ir.builtins import COMPARISONS, is_past, named
from kilohertz.ir.dae import (
    INITIAL,
    NOT_INITIAL,
    Crossing,
    Dae,
    DaeVariable,
    Delay,
    Equation,
    Role,
    Sample,
    TimeEvent,
    Transport,
    der_name,
    pre_name,
)
from kilohertz.ir.expr import FALSE, TIME, TRUE, Binary, Bool, Builtin, Call, Enum, Expr, IfExp, Int, Real, Ref, Str
from kilohertz.ir.flat import Assert, Purpose
from kilohertz.ir.rules.function_record import Event
from kilohertz.ir.traverse import bottom_up, walk
from kilohertz.ir.types import BOOLEAN, INTEGER, REAL, Type
from kilohertz.passes.algebra import linear_parts, simplify_node
from kilohertz.passes.dae.lowering.lenient_assertions import lenient
from kilohertz.passes.derivative import Differentiator, NoDerivative
from kilohertz.passes.flat.elements import is_element, of_each

ROUNDING, DIVIDING, QUIET = named(Event.STEPS), named(Event.QUOTIENT), named(Event.QUIET)
_HALF = Real(0.5)
TIME_SLACK = Real(1e-9)  # of one unit of what is rounded: an event at a multiple is past it


class Lowering:
    """Rewrites expressions, adding variables, equations and events to a Dae as it goes."""

    def __init__(
        self,
        dae: Dae,
        is_discrete: Callable[[str], bool],
        is_differentiated: Callable[[str], bool] = lambda _: False,
        moves: Callable[[Expr], bool] = lambda _: False,
    ) -> None:
        self._dae = dae
        self._moves = moves  # between events, though it is discrete by its type
        self._is_discrete = is_discrete
        self._is_differentiated = is_differentiated
        self._left: dict[Ref, Ref] = {}
        self._transports: dict[tuple[Expr, ...], int] = {}  # by the arguments of spatialDistribution
        self._memo: dict[bool, dict[Expr, Expr]] = {True: {}, False: {}}
        self._still: dict[Expr, int] = {}
        self._counts: dict[str, int] = {}
        self._whens: dict[Expr, Expr] = {}
        self._origin = Origin()
        self._samples: set[Expr] = set()  # that wait for clocks
        self.ticking: Expr = FALSE  # a clock ticks in this pass: what changes at that instant changes in the next
        self.differentiated: dict[str, Ref] = {}
        self._rates: set[str] = set()  # names of derivatives that stand in equations

    def lower(self, e: Expr, origin: Origin, events: bool = True) -> Expr:
        self._origin = origin
        return self._lower(e, events)

    def _lower(self, e: Expr, events: bool) -> Expr:
        stack: list[tuple[Expr, bool]] = [(e, events)]
        while stack:
            node, live = stack[-1]
            memo = self._memo[live]
            if node in memo:
                stack.pop()
                continue
            inside = live and not _is_quiet(node)
            below = self._memo[inside]
            in_function = isinstance(node, Builtin) and node.name == "$noEvent"
            children = (node.children()[0] if in_function else node).children()
            if inside and type(node) is IfExp and _is_guard(node.condition):
                # what a when does, as an algorithm says it: no events (MLS 3.7.2), as in a when-equation
                fates = (True, False, True)
                missing = [(c, f) for c, f in zip(children, fates, strict=True) if c not in self._memo[f]]
                fresh = () if missing else tuple([self._memo[f][c] for c, f in zip(children, fates, strict=True)])
            else:
                missing = [(c, inside) for c in reversed(children) if c not in below]
                fresh = () if missing else tuple([below[c] for c in children])
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            if in_function:
                memo[node] = self._node(node.children()[0].rebuilt(fresh), False)
                continue
            memo[node] = self._node(node if fresh == children else node.rebuilt(fresh), live)
        return self._memo[events][e]

    def _node(self, e: Expr, live: bool) -> Expr:
        kind = type(e)
        if kind is Binary and e.op in COMPARISONS:  # type: ignore[attr-defined]
            return self._relation(e, live)  # type: ignore[arg-type]
        if kind is Builtin:
            return self._builtin(e, live)  # type: ignore[arg-type]
        return simplify_node(e)

    def _builtin(self, e: Builtin, live: bool) -> Expr:
        name, args = e.name, e.args
        if name in QUIET:
            return args[-1]
        if name == "der":
            return self._der(args[0])
        if name == "pre":
            return self._pre(args[0])
        if name == "edge":
            return make.and_(args[0], make.not_(self._pre(args[0])))
        if name == "change":
            return make.relation("<>", args[0], self._pre(args[0]))
        if name == "$when":
            return self._when(args[0])
        if name == "sample":
            return self._sample(e)
        if name == "delay":
            return self._delay(e)
        if name == "spatialDistribution":
            return self._transport(e)
        if name == "semiLinear":
            # continuous: an event would only stop the solver at a kink, again and again where a flow rests at zero
            positive = simplify_node(Binary(">=", args[0], make.ZERO, BOOLEAN))
            return make.if_(positive, make.mul(args[0], args[1]), make.mul(args[0], args[2]))
        if name in ROUNDING and live and not self.is_still(args[0]):
            return self._rounded(e)
        if name in DIVIDING and live and args[0].ty == REAL and not self._all_still(args):
            return self._divided(e)
        return simplify_node(e)

    # ------------------------------------------------------------------------------------------------ what moves when

    def is_still(self, e: Expr) -> bool:
        """Changes at events only."""
        return self.motion(e) == 0

    def _all_still(self, args: tuple[Expr, ...]) -> bool:
        return all(self.is_still(a) for a in args)

    def motion(self, e: Expr) -> int:
        """0: constant between events, 1: moves with time alone, 2: moves with continuous variables."""
        return bottom_up(e, self._motion_of, self._still)

    def _motion_of(self, e: Expr, motions: list[int]) -> int:
        if isinstance(e, Ref):
            return 1 if e is TIME else 0 if self._is_discrete(e.name) else 2
        return 2 if is_past(e) else max(motions, default=0)

    # ---------------------------------------------------------------------------------------------------------- rules

    def _relation(self, e: Binary, live: bool) -> Expr:
        e_simple = simplify_node(e)
        if not isinstance(e_simple, Binary) or not live or e_simple.left.ty != REAL:
            return e_simple
        motion = self.motion(e_simple)
        if motion == 0:
            return e_simple
        if motion == 1:
            timed = self._time_relation(e_simple)
            if timed is not None:
                return timed
        return self._crossing(e_simple)

    def _crossing(self, relation: Binary, passing: bool = False) -> Ref:
        index = len(self._dae.crossings)
        ref = self._new(f"$r{index}", Role.RELATION)
        self._dae.equations.append(Equation(ref, relation, self._origin, directed=True))
        self._dae.crossings.append(Crossing(index, relation, self._origin, passing))
        return ref

    def stepping(self, e: Expr, origin: Origin) -> Expr:
        """What a function makes of what moves, no Real: an event wherever it changes."""
        self._origin = origin
        if e.ty == BOOLEAN:
            return self._crossing(Binary(">", make.if_(e, make.ONE, make.ZERO), _HALF, BOOLEAN))
        is_integer = e.ty == INTEGER
        ref = self._new(self._number("$f"), Role.DISCRETE, REAL if is_integer else e.ty)
        number = make.to_real(_place(e))
        held = ref if is_integer else make.to_real(_place(ref))
        self._dae.equations.append(Equation(ref, number if is_integer else e, self._origin, directed=True))
        self._crossing(Binary("<", number, make.sub(held, _HALF), BOOLEAN), passing=True)
        self._crossing(Binary(">", number, make.add(held, _HALF), BOOLEAN), passing=True)
        return Builtin("integer", (ref,), INTEGER) if is_integer else ref

    def _time_relation(self, e: Binary) -> Expr | None:
        """`c*time + r > 0` as `time >= -r/c`: an instant that is hit exactly."""
        parts = linear_parts(make.sub(e.left, e.right), "time")
        if parts is None or parts[0] is make.ZERO:
            return None
        slope, rest = parts
        at = make.neg(make.div(rest, slope)) if slope is not make.ONE else make.neg(rest)
        after, before = make.relation(">=", TIME, at), make.relation("<", TIME, at)
        if e.op in ("<", "<="):
            after, before = before, after
        rising = make.relation(">", slope, make.ZERO)
        ref = self._new(self._number("$t"), Role.DISCRETE)
        self._dae.equations.append(Equation(ref, self._late(ref, make.if_(rising, after, before)), self._origin, True))
        self._dae.time_events.append(TimeEvent(at, self._origin))
        return ref

    def _late(self, ref: Ref, value: Expr) -> Expr:
        """One pass later where a clock ticks, so that the clock samples the left limit."""
        return make.if_(self.ticking, Ref(pre_name(ref.name), ref.ty), value)

    def _rounded(self, e: Builtin) -> Expr:
        """floor, ceil or integer of a moving Real: a discrete value with crossings at both ends of its interval."""
        u = e.args[0]
        if e.name == "ceil":
            return make.neg(self._rounded(Builtin("floor", (make.neg(u),), REAL)))
        ref = self._new(self._number("$f"), Role.DISCRETE, REAL)
        timed = self._time_steps(u, ref) if self.motion(u) == 1 else None
        value = self._late(ref, timed) if timed is not None else Builtin("floor", (u,), REAL)
        self._dae.equations.append(Equation(ref, value, self._origin, directed=True))
        if timed is None:
            for left in (Binary("<", u, ref, BOOLEAN), Binary(">=", u, make.add(ref, make.ONE), BOOLEAN)):
                simple = simplify_node(left)
                assert isinstance(simple, Binary)
                self._crossing(simple, passing=True)
        return Builtin("integer", (ref,), INTEGER) if e.name == "integer" else ref

    def _time_steps(self, u: Expr, ref: Ref) -> Expr | None:
        """`floor(u)` of `u = c*time + r` with its instants, None where it is none: at an instant the value right of it,
        which for a falling `u` is one less than at the instant itself; there the initial equations have it."""
        parts = linear_parts(u, "time")
        if parts is None or parts[0] is make.ZERO or not self._all_still(parts):
            return None
        slope, rest = parts
        rising = make.relation(">", slope, make.ZERO)
        edge = make.if_(rising, make.add(ref, make.ONE), ref)
        self._dae.time_events.append(TimeEvent(make.div(make.sub(edge, rest), slope), self._origin))
        at = Builtin("floor", (make.add(u, TIME_SLACK),), REAL)
        ceiling = make.neg(Builtin("floor", (make.sub(TIME_SLACK, u),), REAL))
        return make.if_(make.or_(INITIAL, rising), at, make.sub(ceiling, make.ONE))

    def _divided(self, e: Builtin) -> Expr:
        a, b = e.args
        quotient = make.div(a, b)
        whole = self._rounded(Builtin("floor", (quotient,), REAL))
        if e.name == "mod":
            return make.sub(a, make.mul(whole, b))
        positive = self._relation(Binary(">=", quotient, make.ZERO, BOOLEAN), True)
        upward = make.neg(self._rounded(Builtin("floor", (make.neg(quotient),), REAL)))
        truncated = make.if_(positive, whole, upward)
        if e.name == "div":
            return truncated
        return make.sub(a, make.mul(truncated, b))

    def is_rate(self, name: str) -> bool:
        """A derivative that stands in an equation."""
        return name in self._rates

    def _der(self, arg: Expr) -> Expr:
        if isinstance(arg, Ref):
            variable = self._dae.variables.get(arg.name)
            if variable is not None and variable.role is Role.DISCRETE:
                raise self._error(f"der is applied to `{arg.name}`, which changes at events only")
            return self._rate(arg)
        if any(isinstance(n, Call) for n in walk(arg)):  # differentiated where the index is reduced
            whole = self._new(self._number("$whole"), Role.ALGEBRAIC, REAL)
            self._dae.equations.append(Equation(whole, arg, self._origin))
            return self._rate(whole)
        try:
            return Differentiator(self._rate)(arg)
        except NoDerivative as failure:
            raise self._error(f"der is applied to what has no derivative: {failure}") from failure

    def _rate(self, ref: Ref) -> Expr:
        if ref is TIME:
            return make.ONE
        if ref.name in self._rates:
            ref = self._held_rate(ref)
        variable = self._dae.variables.get(ref.name)
        if self._is_discrete(ref.name) or (variable is not None and variable.role in (Role.PARAMETER, Role.CONSTANT)):
            return make.ZERO
        self.differentiated.setdefault(ref.name, ref)
        self._rates.add(der_name(ref.name))
        return Ref(der_name(ref.name), REAL)

    def _held_rate(self, ref: Ref) -> Ref:
        """A derivative that is differentiated again needs a variable to be a state: `der(der(x))`."""
        name = f"$rate({ref.name})"
        if name not in self._dae.variables:
            self._dae.equations.append(Equation(self._new(name, Role.ALGEBRAIC, REAL), ref, self._origin))
        return Ref(name, REAL)

    def _pre(self, arg: Expr) -> Expr:
        if is_element(arg):
            return of_each(arg, self._pre)  # of the one that the subscripts name now
        if not isinstance(arg, Ref):
            if self.is_still(arg) and not arg.children():
                return arg
            raise self._error("pre is applied to something that is not a variable")
        variable = self._dae.variables.get(arg.name)
        if variable is not None and variable.role in (Role.DISCRETE, Role.RELATION):
            return Ref(pre_name(arg.name), arg.ty)
        if variable is None or variable.role not in (Role.ALGEBRAIC, Role.INPUT) or self._is_differentiated(arg.name):
            return arg
        return self._left_limit(arg)

    def _left_limit(self, arg: Ref) -> Expr:
        copy = self._left.get(arg)
        if copy is None:
            # a Real moves up to the event; an input of another type changes with it and is kept from the event before
            stem, purpose = ("$left", Purpose.LEFT_LIMIT) if arg.ty == REAL else ("$w", Purpose.MADE)
            copy = self._left[arg] = self._new(self._number(stem), Role.DISCRETE, arg.ty, purpose)
            self._dae.equations.append(Equation(copy, arg, self._origin, directed=True))
        return make.if_(INITIAL, arg, Ref(pre_name(copy.name), arg.ty))

    def _when(self, condition: Expr) -> Expr:
        if condition is INITIAL or isinstance(condition, Bool):
            return condition if condition is INITIAL else Bool(False)
        if condition in self._samples or (isinstance(condition, Builtin) and condition.name == "sample"):
            return make.and_(condition, NOT_INITIAL)
        edge = self._whens.get(condition)
        if edge is None:
            edge = self._whens[condition] = self._edge(condition)
        return edge

    def _edge(self, condition: Expr) -> Expr:
        ref = condition
        known = self._dae.variables.get(condition.name) if isinstance(condition, Ref) else None
        if known is None or known.role is not Role.DISCRETE:
            ref = self._new(self._number("$w"), Role.DISCRETE)
            now = self.stepping(condition, self._origin) if self._moves(condition) else condition
            self._dae.equations.append(Equation(ref, now, self._origin, directed=True))
        assert isinstance(ref, Ref)
        risen = make.and_(ref, make.not_(Ref(pre_name(ref.name), BOOLEAN)))
        return make.and_(risen, NOT_INITIAL)

    def _sample(self, e: Builtin) -> Expr:
        if len(e.args) != 2:
            raise self._error("clocked sample is not supported yet")
        index = len(self._dae.samples)
        start, interval = make.to_real(e.args[0]), make.to_real(e.args[1])
        self._dae.samples.append(Sample(index, start, interval, self._origin))
        now = Builtin("sample", (Int(index),), BOOLEAN)
        if self.ticking is FALSE:
            return now
        # as relations of time do it waits while a clock ticks: else a when reads relations as they were before
        waits = self._new(self._number("$late"), Role.DISCRETE)
        self._dae.equations.append(Equation(waits, make.and_(now, self.ticking), self._origin, directed=True))
        late = make.or_(make.and_(now, make.not_(self.ticking)), Ref(pre_name(waits.name), BOOLEAN))
        self._samples.add(late)
        return late

    def _delay(self, e: Builtin) -> Expr:
        index = len(self._dae.delays)
        source = self._new(f"$d{index}", Role.ALGEBRAIC, REAL)
        self._dae.equations.append(Equation(source, make.to_real(e.args[0]), self._origin))
        longest = e.args[2] if len(e.args) > 2 else e.args[1]
        self._hold_delay(make.to_real(e.args[1]), make.to_real(longest))
        self._dae.delays.append(Delay(index, source, make.to_real(longest), self._origin))
        return Builtin("delay", (Int(index), make.to_real(e.args[1])), REAL)

    def _hold_delay(self, time: Expr, longest: Expr) -> None:
        """A delay looks back, and no further than it says (MLS 3.7.4.1)."""
        rules = [(make.relation(">=", time, make.ZERO), "the time of a delay is negative")]
        if longest is not time:
            rules.append((make.relation("<=", time, longest), "the time of a delay is longer than its delayMax"))
        for rule, message in rules:
            condition = lenient(rule, self.is_still)
            if condition is not TRUE:
                self._dae.asserts.append(Assert(condition, Str(message), None, self._origin))

    def _transport(self, e: Builtin) -> Expr:
        """One end of a profile; the other end goes by the same line."""
        end, at_zero, at_one, position, forward, points, values = e.args
        line = self._transports.get(e.args[1:])
        if line is None:
            line = self._transports[e.args[1:]] = len(self._dae.transports)
            moving = (at_zero, at_one, position, make.if_(forward, make.ONE, make.ZERO))
            names = ("in0", "in1", "x", "positive")
            refs = [self._new(f"$p{line}.{n}", Role.ALGEBRAIC, REAL) for n in names]
            for ref, value in zip(refs, moving, strict=True):
                self._dae.equations.append(Equation(ref, value, self._origin))
            sources = (refs[0], refs[1], refs[2], refs[3])
            self._dae.transports.append(Transport(line, sources, points.children(), values.children(), self._origin))
        return Builtin("transport", (Int(line), end, position), REAL)

    def _number(self, prefix: str) -> str:
        n = self._counts.get(prefix, 0)
        self._counts[prefix] = n + 1
        return f"{prefix}{n}"

    def _new(self, name: str, role: Role, ty: Type = BOOLEAN, purpose: Purpose = Purpose.MADE) -> Ref:
        variable = DaeVariable(name, ty, role, protected=True, origin=self._origin, purpose=purpose)
        self._dae.variables[name] = variable
        return variable.ref

    def _error(self, text: str) -> ModelError:
        span = self._origin.spans[0] if self._origin.spans else None
        return ModelError(Diagnostic("B102", text, span))


def _place(e: Expr) -> Expr:
    """An Integer, or the place of an enumeration value among its literals."""
    return e if e.ty == INTEGER else Int(e.index) if isinstance(e, Enum) else Builtin("Integer", (e,), INTEGER)


def _is_guard(e: Expr) -> bool:
    """True at the instants of a when alone: `$when(c)`, several of them, the later branches of one."""
    if isinstance(e, Binary) and e.op in ("and", "or"):
        both = _is_guard(e.left), _is_guard(e.right)
        return any(both) if e.op == "and" else all(both)
    return isinstance(e, Builtin) and e.name == "$when"


def _is_quiet(e: Expr) -> bool:
    if not isinstance(e, Builtin):
        return False
    if e.name == "noEvent":
        return True
    return e.name == "smooth" and isinstance(e.args[0], Int) and e.args[0].value >= 0
