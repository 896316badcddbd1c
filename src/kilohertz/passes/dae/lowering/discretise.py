"""Continuous equations of a clocked partition, stepped from tick to tick by a method of `solvers` (MLS 16.8.2).

  der(x) = f(x, u)   with h = interval, from the second tick on
  explicit Euler     x = previous(x) + h*previous($slope(x));   $slope(x) = f(x, u)
  implicit Euler     x = previous(x) + h*$slope(x)
  Runge-Kutta        x = previous(x) + h*sum(b[s]*$stage<s>($slope(x))):  stage s is a copy of the equations that the
                     derivatives need, at x = previous(x) + h*sum(a[s,j]*..), time and inputs between the two ticks
  Rosenbrock         as many linear systems: the equations linearised at the last tick

A first stage at the last tick is what was computed there; a last stage that is the end of the step is the partition
itself.  At the first tick states have their start values, or what initial conditions say (`first_tick`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from kilohertz.base import Diagnostic, ModelError, Note
from kilohertz.ir import make
from kilohertz.ir.dae import AnyEquation, CallEquation, Dae, Equation, Reinit, pre_name
from kilohertz.ir.expr import TIME, TRUE, Expr, Real, Ref
from kilohertz.ir.types import REAL, Type
from kilohertz.passes.algebra import Occurrence, substitute
from kilohertz.passes.dae.index_reduction.reduction import cannot_differentiate
from kilohertz.passes.dae.lowering.first_tick import first_tick
from kilohertz.passes.dae.lowering.reduce_partition import KNOWN, Partition
from kilohertz.passes.derivative import Differentiator, NoDerivative, has_reals
from kilohertz.passes.function_derivative import FunctionDerivatives
from kilohertz.passes.ordered.solving_order import call_names, names_in, order
from kilohertz.passes.rewriting import rewritten_equation
from kilohertz.solvers import Method, Rosenbrock, RungeKutta

Slopes = dict[str, Expr]  # of each state, in one stage


class Tick(Protocol):
    """What the method needs of a partition's clock."""

    @property
    def interval(self) -> Expr: ...

    @property
    def first(self) -> Expr: ...

    def new(self, name: str, ty: Type) -> Ref:
        """A variable of the partition."""


@dataclass(frozen=True, slots=True)
class Timed:
    """An equation at ticks; `later`: from the second one on; `active`: at those where this holds."""

    equation: AnyEquation
    later: bool = False
    active: Expr = TRUE  # of a state machine's state


class Discretiser:
    """Adds to the equations of a partition those that give its states."""

    def __init__(self, dae: Dae, part: Partition, members: Sequence[str], tick: Tick) -> None:
        self._dae = dae
        self._part = part
        self._tick = tick
        self._own = dict.fromkeys(members)
        self._types = {n: dae.variables[n].ty for n in members}
        self._occurrence = Occurrence()
        self._made: list[Timed] = []
        self._held: dict[str, Ref] = {}
        self._core: list[AnyEquation] | None = None
        self.spare: list[Equation] = []  # what has to hold at the first tick besides

    def run(self, method: Method) -> list[Timed]:
        self._check_resets()
        slopes = self._part.slopes
        if isinstance(method, RungeKutta):
            stages = self._runge_kutta(method)
            steps = {x: self._times_h(_weighted(method.b, [s[x] for s in stages])) for x in slopes}
        else:
            increments = self._rosenbrock(method)
            steps = {x: _weighted(method.m, [u[x] for u in increments]) for x in slopes}
        first = first_tick(self._dae, self._part, tuple(self._own), self._occurrence)
        self.spare = first.spare
        for x in slopes:
            self._made.append(Timed(self._stepped(x, steps[x], first.given.get(x))))
        return [*(Timed(e) for e in self._part.equations), *self._made]

    def _check_resets(self) -> None:
        """At a tick a state has one value: a reset must not ask for the one that it replaces."""
        actions = [(w, a) for w in self._part.resets for a in w.actions if isinstance(a, Reinit)]
        targets = [a.target.name for _, a in actions]
        for w, a in actions:
            wanted = dict.fromkeys((*self._occurrence.names(w.guard), *self._occurrence.names(a.value)))
            self._behind(wanted)
            asked = next((name for name in targets if name in wanted), None)
            if asked is not None:
                text = f"`reinit` at a clock: its condition or value depends on {asked}, which is set there"
                note = Note(f"ask for previous({asked}), or let the continuous part of the model do it")
                span = a.origin.spans[0] if a.origin.spans else None
                raise ModelError(Diagnostic("B222", text, span, notes=(note,)))

    # ------------------------------------------------------------------------------------------------------ the step

    def _stepped(self, x: str, step: Expr, start: Equation | None) -> Equation:
        ref, before = Ref(x, REAL), Ref(pre_name(x), REAL)
        moved: Expr = make.add(before, step)
        for w in self._part.resets:
            for a in w.actions:
                if isinstance(a, Reinit) and a.target.name == x:
                    moved = make.if_(w.guard, a.value, moved)
        origin = self._dae.variables[x].origin
        if start is None:
            return Equation(ref, make.if_(self._tick.first, before, moved), origin)
        at_first = make.sub(start.left, start.right)
        return Equation(make.ZERO, make.if_(self._tick.first, at_first, make.sub(ref, moved)), start.origin)

    # -------------------------------------------------------------------------------------------------------- stages

    def _runge_kutta(self, method: RungeKutta) -> list[Slopes]:
        stages: list[Slopes] = []
        last = method.n_stages - 1
        for s, row in enumerate(method.a):
            if s == 0 and not row.any():
                stages.append(self._before())
            elif s == last and method.stiffly_accurate:
                stages.append({x: Ref(slope, REAL) for x, slope in self._part.slopes.items()})
            else:
                names = self._stage_names(s)
                slopes: Slopes = {x: Ref(names[slope], REAL) for x, slope in self._part.slopes.items()}
                stages.append(slopes)
                at = {
                    x: self._times_h(_weighted(row[: s + 1], [stage[x] for stage in stages])) for x in self._part.slopes
                }
                self._copy(names, at, float(method.c[s]))
        return stages

    def _before(self) -> Slopes:
        return {x: Ref(pre_name(slope), REAL) for x, slope in self._part.slopes.items()}

    def _rosenbrock(self, method: Rosenbrock) -> list[Slopes]:
        stages: list[Slopes] = []
        rates = self._before()
        for s in range(method.n_stages):
            if s > 0 and not method.reuses[s]:
                names = self._stage_names(s)
                at = {x: _weighted(method.a[s, :s], [u[x] for u in stages]) for x in self._part.slopes}
                self._copy(names, at, method.alpha[s])
                rates = {x: Ref(names[slope], REAL) for x, slope in self._part.slopes.items()}
            increments: Slopes = {x: self._tick.new(f"$step{s}({x})", REAL) for x in self._part.slopes}
            turned = self._linearised(s, increments, method.gammas[s])
            for x, u in increments.items():
                earlier = _weighted(method.c[s, :s], [v[x] for v in stages])
                right = make.add(self._times_h(make.add(rates[x], turned[x])), earlier)
                self._made.append(Timed(Equation(u, make.mul(Real(method.gamma), right)), later=True))
            stages.append(increments)
        return stages

    def _stage_names(self, s: int) -> dict[str, str]:
        """Copies of the variables that the derivatives need."""
        names: dict[str, str] = {}
        for n in (*self._part.slopes, *self._computed()):
            names[n] = f"$stage{s}({n})"
            self._tick.new(names[n], self._types[n])
        return names

    def _copy(self, names: dict[str, str], at: Slopes, c: float) -> None:
        """The equations at time c of the step, with states moved from their last values by `at`."""
        values: dict[str, Expr] = {n: Ref(copy, self._types[n]) for n, copy in names.items()}
        memo: dict[Expr, Expr] = {}
        core = self._needed()
        self._put_inputs(core, values, c)
        for x, step in at.items():
            moved = make.add(Ref(pre_name(x), REAL), step)
            self._made.append(Timed(Equation(Ref(names[x], REAL), moved), later=True))
        for e in core:
            self._made.append(Timed(rewritten_equation(e, lambda x: substitute(x, values, memo)), later=True))

    def _put_inputs(self, equations: list[AnyEquation], values: dict[str, Expr], c: float) -> None:
        """What comes from elsewhere moves on a line from tick to tick; what is not Real steps at the end."""
        if c != 1.0:
            values[TIME.name] = make.sub(TIME, make.mul(Real(1 - c), self._tick.interval))
        for u in self._inputs(equations):
            before = Ref(pre_name(self._hold(u).name), u.ty)
            if u.ty == REAL and c not in (0.0, 1.0):
                values[u.name] = make.add(make.mul(Real(1 - c), before), make.mul(Real(c), u))
            elif c != 1.0:
                values[u.name] = before

    def _inputs(self, equations: list[AnyEquation]) -> list[Ref]:
        inputs: dict[str, Ref] = {}
        for e in equations:
            for name in names_in(e, self._occurrence):
                v = self._dae.variables.get(name)
                if v is not None and v.role not in KNOWN and name not in self._own:
                    inputs[name] = v.ref
        return list(inputs.values())

    def _hold(self, u: Ref) -> Ref:
        """A variable of the partition that keeps an input for the next tick."""
        held = self._held.get(u.name)
        if held is None:
            held = self._held[u.name] = self._tick.new(f"$input({u.name})", u.ty)
            self._made.append(Timed(Equation(held, u, directed=True)))
        return held

    def _times_h(self, e: Expr) -> Expr:
        return make.mul(self._tick.interval, e)

    # ------------------------------------------------------------------------------------------------- linearisation

    def _linearised(self, s: int, increments: Slopes, gamma: float) -> Slopes:
        """J*u + gamma*h*f_t for the increments u of the states, at the last tick."""
        core = self._needed()
        inputs = self._inputs(core)
        names = {n: f"$turn{s}({n})" for n in self._computed() if self._types[n] == REAL}
        turns: dict[str, Expr] = {n: self._tick.new(name, REAL) for n, name in names.items()} | increments
        at: dict[str, Expr] = {n: Ref(pre_name(n), self._types[n]) for n in (*self._part.slopes, *self._computed())}
        self._put_inputs(core, at, 0.0)
        for u in (u for u in inputs if u.ty == REAL and gamma != 0.0):
            turns[u.name] = turn = self._tick.new(f"$turn{s}({u.name})", REAL)
            moved = make.mul(Real(gamma), make.sub(u, Ref(pre_name(self._hold(u).name), REAL)))
            self._made.append(Timed(Equation(turn, moved), later=True))
        turns[TIME.name] = self._times_h(Real(gamma))
        functions = FunctionDerivatives(self._dae.functions, roots=True)
        differentiate = Differentiator(
            lambda ref: turns.get(ref.name, make.ZERO), functions.rule, lambda past, rates: make.ZERO
        )
        memo: dict[Expr, Expr] = {}

        for e in core:
            try:
                linear = _linear(e, differentiate, functions, names)
            except NoDerivative as failure:
                raise cannot_differentiate(e, str(failure)) from failure
            if linear is not None:
                here = rewritten_equation(linear, lambda x: substitute(x, at, memo))
                self._made.append(Timed(here, later=True))
        return {x: turns[slope] for x, slope in self._part.slopes.items()}

    # ----------------------------------------------------------------------------------------- what derivatives need

    def _needed(self) -> list[AnyEquation]:
        """The equations that the derivatives of states hang on, with the states known."""
        if self._core is None:
            self._core = self._find_needed()
        return self._core

    def _find_needed(self) -> list[AnyEquation]:
        return self._behind(dict.fromkeys(self._part.slopes.values()))

    def _behind(self, wanted: dict[str, None]) -> list[AnyEquation]:
        """The equations that variables hang on; the names in them join these."""
        unknowns = [self._dae.variables[n].ref for n in self._own if n not in self._part.slopes]
        components = order(self._part.equations, unknowns, self._occurrence)
        taken: dict[int, AnyEquation] = {}
        for component in reversed(components):
            if not any(u.name in wanted for u in component.unknowns):
                continue
            for row in component.rows:
                e = row.equation
                taken[id(e)] = e
                if isinstance(e, Equation):
                    wanted.update(dict.fromkeys(names_in(e, self._occurrence)))
                else:
                    wanted.update(dict.fromkeys(call_names(e, row, self._occurrence)))
        return [e for e in self._part.equations if id(e) in taken]

    def _computed(self) -> list[str]:
        """The variables that these equations give."""
        names: dict[str, None] = {}
        for e in self._needed():
            names.update(dict.fromkeys(names_in(e, self._occurrence)))
        return [n for n in names if n in self._own and n not in self._part.slopes]


def _linear(
    e: AnyEquation, along: Differentiator, functions: FunctionDerivatives, names: dict[str, str]
) -> AnyEquation | None:
    """The derivative of an equation along a direction; None where it computes no Real."""
    if isinstance(e, Equation):
        return None if e.left.ty != REAL else Equation(along(e.left), along(e.right), e.origin)
    call = functions.whole(e.call, [along(a) for a in e.call.args])
    outputs = functions.functions[e.call.function].outputs
    targets = [
        tuple(Ref(names[t.name], REAL) if isinstance(t, Ref) and t.name in names else None for t in results)
        for results, local in zip(e.targets, outputs, strict=False)
        if has_reals(local.ty)
    ]
    return CallEquation(tuple(targets), call, e.origin)


def _weighted(weights: Iterable[float], values: Sequence[Expr]) -> Expr:
    total: Expr = make.ZERO
    for w, v in zip(weights, values, strict=True):
        if w != 0.0:
            total = make.add(total, make.mul(Real(float(w)), v))
    return total
