"""State machines as clocked equations (MLS 17.3).

For each machine, with `active` and `reset` of the state around it (at the top: true, and at its first tick):

  selected   = if reset then 1 else previous(next)
  fired      = the transition of highest priority that may: an immediate one by its condition now, a delayed one by
               what it was at the last tick
  state      = if reset then 1 elseif fired > 0 then its target else selected

Equations of a state stand in `when $state(active)`: they hold where it is active, and what they give is kept otherwise.
In them `previous(x)` of a variable of the state is its start value where the state is reset.  What several states set
(`outer output`, or outputs connected to one variable) is one variable for each of them, and

  v = if s1.$active then s1.$out(v) elseif s2.$active then s2.$out(v) else previous(v)

Cost: linear.  Gives up (S476 to S478) where a machine has not one initial state, priorities are equal, or something is
asked of what is no state.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from kilohertz.base import Diagnostic, ModelError, Origin
from kilohertz.graphs import UnionFind
from kilohertz.ir import make, traverse
from kilohertz.ir.expr import FALSE, TIME, TRUE, Builtin, Expr, Int, Ref, Str
from kilohertz.ir.expr import Enum as EnumLiteral
from kilohertz.ir.flat import (
    DISCRETE,
    Algorithm,
    Assert,
    Assign,
    Equality,
    Equation,
    Flat,
    IfStatement,
    Purpose,
    Statement,
    Variable,
    WhenEquation,
)
from kilohertz.ir.types import BOOLEAN, CLOCK, INTEGER, REAL, STRING, EnumType, Type
from kilohertz.semantics.balancing.equation_parts import assigned_variables, assignments
from kilohertz.semantics.behaviour.external_objects import rewrite
from kilohertz.semantics.machines.gather import Machines, Transition, active_name
from kilohertz.semantics.machines.whens import StateWhens

Part = TypeVar("Part", bound="Equation | Statement")
_IN_STATE = ("ticksInState", "timeInState")


@dataclass(slots=True)
class _Machine:
    name: str  # what its variables are called
    states: list[str]  # the initial one first
    transitions: list[Transition]  # the highest priority last
    around: str  # the state that it is in, or empty
    origin: Origin

    def var(self, name: str, ty: Type = INTEGER) -> Ref:
        return Ref(f"{self.name}.{name}", ty)


@dataclass(slots=True)
class _Values:
    """What stands for names in one state."""

    names: dict[str, Expr] = field(default_factory=dict)
    memo: dict[Expr, Expr] = field(default_factory=dict)


def expand(flat: Flat, machines: Machines, parents: dict[str, str]) -> None:
    """Put clocked equations in place of state machines; `parents`: the path of the component around each."""
    if machines.transitions or machines.initial or machines.asked:
        _Expansion(flat, machines, parents).run()
    for part in (*flat.equations, *(s for a in flat.algorithms for s in a.statements)):
        for e in traverse.walk_all(traverse.expressions_in([part])):
            if isinstance(e, Builtin) and e.name in _IN_STATE:
                raise _error("S478", f"`{e.name}` stands only in a state machine", part.origin)


class _Expansion:
    def __init__(self, flat: Flat, machines: Machines, parents: dict[str, str]) -> None:
        self._flat = flat
        self._given = machines
        self._parents = parents
        self._machine_of: dict[str, _Machine] = {}
        self._machines = self._found()
        self._state_of = {path: self._around(path) for path in ("", *parents)}
        self._new: list[Equation] = []
        self._values: dict[str, _Values] = {s: _Values() for s in self._machine_of}
        self._tops: dict[str, str] = {}  # an inner outer variable: the one that it stands for
        self._n_whens = 0
        self._shares: dict[str, list[tuple[str, Ref]]] = {}  # what states give to a variable

    def run(self) -> None:
        for path, origin in self._given.asked.items():
            if path not in self._machine_of:
                raise _error("S477", f"`{path}` is no state of a state machine", origin)
        for machine in self._machines:
            self._control(machine)
        self._outputs()
        self._connected()
        self._states()
        for v, shares in self._shares.items():
            self._merged(v, shares)
        self._flat.equations += self._new

    # ------------------------------------------------------------------------------------------------------ machines

    def _found(self) -> list[_Machine]:
        written = self._given
        paths = list(dict.fromkeys([*(p for t in written.transitions for p in (t.source, t.target)), *written.initial]))
        number = {p: i for i, p in enumerate(paths)}
        sets = UnionFind()
        for _ in paths:
            sets.add()
        for t in written.transitions:
            sets.union(number[t.source], number[t.target])
        groups: dict[int, list[str]] = {}
        for p in paths:
            groups.setdefault(sets.find(number[p]), []).append(p)
        machines: list[_Machine] = []
        for states in groups.values():
            machine = self._machine(states, len(machines))
            machines.append(machine)
            self._machine_of.update(dict.fromkeys(states, machine))
        for machine in machines:
            machine.around = self._around(machine.around)
        return machines

    def _machine(self, states: list[str], k: int) -> _Machine:
        members = set(states)
        transitions = [t for t in self._given.transitions if t.source in members]
        initial = [s for s in states if s in self._given.initial]
        if len(initial) != 1:
            origin = transitions[0].origin if transitions else self._given.initial[states[0]][1]
            text = f"the state machine of {', '.join(states[:4])} has {len(initial)} initial states, not one"
            raise _error("S476", text, origin)
        scope, origin = self._given.initial[initial[0]]
        for t in transitions:
            if any(o is not t and o.source == t.source and o.priority == t.priority for o in transitions):
                raise _error("S476", f"two transitions from `{t.source}` have the priority {t.priority}", t.origin)
        ordered = sorted(transitions, key=lambda t: -t.priority)
        name = f"{scope}.$machine{k}" if scope else f"$machine{k}"
        return _Machine(name, [initial[0], *(s for s in states if s != initial[0])], ordered, scope, origin)

    def _around(self, path: str) -> str:
        """The innermost state that a component is or is part of."""
        at: str | None = path
        while at:
            if at in self._machine_of:
                return at
            at = self._parents.get(at)
        return ""

    def _control(self, m: _Machine) -> None:
        """MLS 17.3.5, and how long each state has been active."""
        active: Expr = self._active(m.around) if m.around else TRUE
        reset: Expr = self._reset(m.around) if m.around else make.not_(_previous(m.var("started", BOOLEAN)))
        if not m.around:
            self._define(m, "started", TRUE, BOOLEAN)
        before = make.if_(reset, Int(1), _previous(m.var("next")))
        selected = self._define(m, "selected", before)
        conditions = [self._condition(m, k, t) for k, t in enumerate(m.transitions, 1)]
        numbered = list(enumerate(zip(m.transitions, conditions, strict=True), 1))
        immediate = _last([(_from(t, selected, c, m), k) for k, (t, c) in numbered if t.immediate])
        delayed = _last([(_from(t, m.var("next"), c, m), k) for k, (t, c) in numbered if not t.immediate])
        now, later = self._define(m, "immediate", immediate), self._define(m, "delayed", delayed)
        last = _previous(later)
        fired = self._define(m, "fired", make.if_(make.relation(">", last, now), last, now))
        target: Expr = selected
        resets: Expr = make.or_(reset, _previous(m.var("nextReset", BOOLEAN)))
        for k, (t, _) in numbered:
            is_it = make.relation("==", fired, Int(k))
            target = make.if_(is_it, Int(m.states.index(t.target) + 1), target)
            resets = make.if_(is_it, make.or_(reset, TRUE if t.reset else FALSE), resets)
        state = self._define(m, "state", make.if_(reset, Int(1), target))
        is_reset = self._define(m, "reset", resets, BOOLEAN)
        self._define(m, "next", make.if_(active, state, _previous(m.var("next"))))
        self._define(m, "nextReset", make.and_(make.not_(active), _previous(m.var("nextReset", BOOLEAN))), BOOLEAN)
        for i, s in enumerate(m.states, 1):
            self._control_state(
                m, i, s, make.and_(active, make.relation("==", state, Int(i))), (active, reset, is_reset)
            )

    def _control_state(self, m: _Machine, i: int, s: str, is_active: Expr, flags: tuple[Expr, Expr, Expr]) -> None:
        active, reset, is_reset = flags
        waiting = self._define(m, f"resets{i}", make.or_(reset, _previous(m.var(f"nextResets{i}", BOOLEAN))), BOOLEAN)
        elsewhere = make.and_(make.relation("<>", m.var("state"), Int(i)), waiting)
        kept = make.if_(active, elsewhere, _previous(m.var(f"nextResets{i}", BOOLEAN)))
        self._define(m, f"nextResets{i}", kept, BOOLEAN)
        here = self._variable(active_name(s), BOOLEAN, m.origin)
        self._equate(here, is_active, m.origin)
        again = self._variable(f"{s}.$reset", BOOLEAN, m.origin)
        self._equate(again, make.and_(here, make.or_(is_reset, waiting)), m.origin)
        entered = make.or_(make.relation(">", m.var("fired"), Int(0)), make.not_(_previous(here)))
        if m.around:
            entered = make.or_(entered, make.relation("==", Ref(f"{m.around}.$ticks", INTEGER), Int(1)))
        ticks = self._variable(f"{s}.$ticks", INTEGER, m.origin)
        counted = make.if_(entered, Int(1), make.add(_previous(ticks), Int(1)))
        self._equate(ticks, make.if_(here, counted, Int(0)), m.origin)
        since = self._variable(f"{s}.$since", REAL, m.origin)
        now = Builtin("sampled", (TIME,), REAL)
        self._equate(since, make.if_(make.and_(here, entered), now, _previous(since)), m.origin)

    def _condition(self, m: _Machine, k: int, t: Transition) -> Ref:
        condition = traverse.map_expr(t.condition, lambda e: self._time_in(e, t.source, t.immediate))
        for other in self._machines if t.synchronize else ():
            if other.around == t.source and t.immediate:
                text = f"whether the machines of `{t.source}` have ended depends on this transition, which waits for it"
                raise _error("S475", f"{text}: it has to be delayed, immediate = false", t.origin)
            if other.around == t.source:
                condition = make.and_(condition, _is_final(other))
        return self._define(m, f"condition{k}", condition, BOOLEAN, t.origin)

    def _time_in(self, e: Expr, state: str, immediate: bool) -> Expr:
        """ticksInState, timeInState; before it is known whether a state stays active, as if it did."""
        if not isinstance(e, Builtin) or e.name not in _IN_STATE:
            return e
        if e.name == "ticksInState":
            ticks = Ref(f"{state}.$ticks", INTEGER)
            return make.add(_previous(ticks), Int(1)) if immediate else ticks
        since: Expr = Ref(f"{state}.$since", REAL)
        since = _previous(since) if immediate else since
        return make.sub(Builtin("sampled", (TIME,), REAL), since)

    def _active(self, state: str) -> Ref:
        return Ref(active_name(state), BOOLEAN)

    def _reset(self, state: str) -> Ref:
        return Ref(f"{state}.$reset", BOOLEAN)

    def _define(self, m: _Machine, name: str, value: Expr, ty: Type = INTEGER, origin: Origin | None = None) -> Ref:
        ref = self._variable(m.var(name).name, ty, m.origin)
        self._equate(ref, value, origin or m.origin)
        return ref

    def _variable(self, name: str, ty: Type, origin: Origin, like: Variable | None = None) -> Ref:
        if name not in self._flat.variables:
            attributes = {} if like is None else dict(like.attributes)
            self._flat.variables[name] = Variable(
                name, ty, DISCRETE, attributes=attributes, protected=True, origin=origin, purpose=Purpose.MADE
            )
        return Ref(name, ty)

    def _equate(self, ref: Ref, value: Expr, origin: Origin) -> None:
        self._new.append(Equality(ref, value, replace_path(origin)))

    # -------------------------------------------------------------------------------------------------------- states

    def _outputs(self) -> None:
        """Variables that states set for others."""
        for o in self._given.outputs:
            state = self._state_of.get(o.component, "")
            if not state or o.variable not in self._flat.variables:
                continue
            v = self._flat.variables[o.variable]
            if o.own is not None:
                self._tops[o.own] = o.variable
                copy = Ref(o.own, v.ty)
            else:
                copy = self._variable(f"{state}.$out({o.variable})", v.ty, v.origin, v)
                self._values[state].names[o.variable] = copy
            shares = self._shares.setdefault(o.variable, [])
            if (state, copy) not in shares:
                shares.append((state, copy))

    def _connected(self) -> None:
        """`connect(s1.y, y); connect(s2.y, y)` between outputs of states and one variable (MLS 17.3.6)."""
        meeting: dict[str, list[tuple[str, Ref, Equation]]] = {}
        for e in self._flat.equations:
            if not isinstance(e, Equality) or not isinstance(e.left, Ref) or not isinstance(e.right, Ref):
                continue
            for inside, outside in ((e.left, e.right), (e.right, e.left)):
                state, around = self._of_variable(inside.name), self._of_variable(outside.name)
                m = self._machine_of.get(state)
                if m is not None and m.around == around == self._state_of.get(e.origin.path, ""):
                    meeting.setdefault(outside.name, []).append((state, inside, e))
        gone: set[int] = set()
        for name, sharers in meeting.items():
            if len({state for state, _, _ in sharers}) > 1:
                gone.update(id(e) for _, _, e in sharers)
                self._shares.setdefault(name, []).extend((state, ref) for state, ref, _ in sharers)
        self._flat.equations[:] = [e for e in self._flat.equations if id(e) not in gone]

    def _of_variable(self, name: str) -> str:
        return self._state_of.get(self._parents.get(name, ""), "")

    def _states(self) -> None:
        bodies: dict[str, list[Equation]] = {}
        outside: list[Equation] = []
        for e in self._flat.equations:
            state = self._state_of.get(e.origin.path, "")
            if not state:
                outside.append(e)
            else:
                checks, others = _checks_apart([e])
                outside += [self._check(self._rewritten(c, state), state) for c in checks]
                bodies.setdefault(state, []).extend(self._rewritten(x, state) for x in others)
        self._flat.equations[:] = outside
        for state, body in bodies.items():
            self._new.append(self._when(state, self._whens(state).equations(body)))
        self._flat.algorithms[:] = [self._algorithm(a) for a in self._flat.algorithms]

    def _whens(self, state: str) -> StateWhens:
        def fresh(origin: Origin) -> Ref:
            self._n_whens += 1
            return self._variable(f"{state}.$when{self._n_whens}", BOOLEAN, origin)

        copies = self._values[state].names.items()
        shared: dict[str, Expr] = {copy.name: Ref(v, copy.ty) for v, copy in copies if isinstance(copy, Ref)}
        return StateWhens(self._reset(state), fresh, lambda e: self._previous_in(make.substitute(e, shared), state))

    def _check(self, check: Assert, state: str) -> Assert:
        """An assertion of a state: it counts where that is active."""
        return replace(check, condition=make.or_(make.not_(self._active(state)), check.condition))

    def _when(self, state: str, body: list[Equation]) -> Equation:
        guard = Builtin("$state", (self._active(state),), CLOCK)
        return WhenEquation([(guard, body)], self._machine_of[state].origin)

    def _algorithm(self, a: Algorithm) -> Algorithm:
        state = self._state_of.get(a.origin.path, "")
        if not state:
            return a
        statements = self._whens(state).statements([self._rewritten(s, state) for s in a.statements])
        targets = dict.fromkeys(v for target, _ in assignments(statements) for v in assigned_variables(target))
        kept: list[Statement] = [Assign(Ref(n, ty), _previous(Ref(n, ty)), a.origin) for n, ty in targets]
        return Algorithm([IfStatement([(self._active(state), statements)], kept, a.origin)], a.origin)

    def _rewritten(self, part: Part, state: str) -> Part:
        values = self._values[state]
        rewritten: Part = rewrite(part, lambda e: self._in_state(e, state, values))
        return rewritten

    def _in_state(self, e: Expr, state: str, values: _Values) -> Expr:
        """An expression as it holds in a state; what stands in `previous` is not the state's own copy."""
        before: dict[str, Expr] = {}

        def aside(node: Expr) -> Expr:
            if isinstance(node, Builtin) and node.name == "previous":
                name = f"$previous{len(before)}"
                before[name] = self._previous_in(node.args[0], state)
                return Ref(name, node.ty)
            return self._time_in(node, state, False)

        apart = traverse.map_expr(e, aside)
        return make.substitute(make.substitute(apart, values.names), before) if before or values.names else apart

    def _previous_in(self, e: Expr, state: str) -> Expr:
        """previous(e): start values of what belongs to a state that is reset, what is merged further out."""
        tops = {name: Ref(self._top(name), self._flat.variables[name].ty) for name in self._tops}
        e = make.substitute(e, tops) if tops else e
        owners = {s for r in traverse.refs(e) if (s := self._of_variable(r.name))}
        before: Expr = _previous(e)
        for owner in sorted(owners):
            starts = {r.name: self._start(r) for r in traverse.refs(e) if self._of_variable(r.name) == owner}
            before = make.if_(self._reset(owner), make.substitute(e, starts), before)
        return before

    def _top(self, name: str) -> str:
        while name in self._tops:
            name = self._tops[name]
        return name

    def _start(self, ref: Ref) -> Expr:
        start = self._flat.variables[ref.name].attributes.get("start")
        value = start if start is not None else _default(ref.ty.scalar())
        if ref.ty.dims and not value.ty.dims:
            for n in reversed(ref.ty.dims):
                value = make.array([value] * (n or 0))
        return make.to_real(value) if ref.ty.base == REAL.base else value

    def _merged(self, name: str, shares: Iterable[tuple[str, Ref]]) -> None:
        """What a variable is that several states set."""
        v = self._flat.variables[name]
        owner = self._of_variable(name)
        value = self._previous_in(Ref(name, v.ty), owner)
        for state, copy in reversed(list(shares)):
            value = make.if_(self._active(state), copy, value)
        merged = Equality(Ref(name, v.ty), value, replace_path(v.origin))
        self._new.append(self._when(owner, [merged]) if owner else merged)


def replace_path(origin: Origin) -> Origin:
    """An origin outside of every component."""
    return Origin(origin.spans, "", origin.passes)


def _checks_apart(body: list[Equation]) -> tuple[list[Assert], list[Equation]]:
    """The assertions of a state, those in a `when` of its clock too; and the rest."""
    checks: list[Assert] = []
    others: list[Equation] = []
    for e in body:
        if isinstance(e, Assert):
            checks.append(e)
        elif isinstance(e, WhenEquation) and e.branches[0][0].ty.base == CLOCK.base:
            clock, inside = e.branches[0]
            inner_checks, rest = _checks_apart(inside)
            checks += inner_checks
            others.append(WhenEquation([(clock, rest)], e.origin))
        else:
            others.append(e)
    return checks, others


def _previous(e: Expr) -> Expr:
    return Builtin("previous", (e,), e.ty)


def _from(t: Transition, state: Expr, condition: Expr, m: _Machine) -> Expr:
    return make.and_(make.relation("==", state, Int(m.states.index(t.source) + 1)), condition)


def _last(choices: list[tuple[Expr, int]]) -> Expr:
    """The number of the last choice that holds, 0 where none does."""
    number: Expr = Int(0)
    for holds, k in choices:
        number = make.if_(holds, Int(k), number)
    return number


def _is_final(m: _Machine) -> Expr:
    """In a state that no transition leaves."""
    leaving = {t.source for t in m.transitions}
    final: Expr = FALSE
    for i, s in enumerate(m.states, 1):
        if s not in leaving:
            final = make.or_(final, make.relation("==", m.var("state"), Int(i)))
    return final


def _default(ty: Type) -> Expr:
    if isinstance(ty.base, EnumType):
        return EnumLiteral(ty.base, 1)
    return {REAL: make.ZERO, INTEGER: Int(0), BOOLEAN: FALSE, STRING: Str("")}[ty]


def _error(code: str, text: str, origin: Origin) -> ModelError:
    return ModelError(Diagnostic(code, text, origin.spans[0] if origin.spans else None))
