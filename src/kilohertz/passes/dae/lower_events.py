"""lower-events: the scalar Flat as a Dae: variables by kind, when-equations as guarded definitions, events explicit.

  when c then v = e; reinit(x, f); end when;
  ->  v := if g then e else pre(v);   when g: reinit(x, f);      g = $w0 and not pre($w0) and not initial(),  $w0 := c

A Real is discrete where it is declared so, set in a when, or defined from its own `pre`.  Branches after the first act
only where no earlier one does.  Operators, whens, clocked partitions, assertions: `lowering/`.  Cost: linear.  Gives up
(B102 to B106) where an operator with events stands where it has no meaning.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from kilohertz.base import Diagnostic, Origin, Severity
from kilohertz.ir import make, traverse
from kilohertz.ir.dae import (
    NOT_INITIAL,
    VALUES,
    AnyEquation,
    CallEquation,
    Dae,
    DaeVariable,
    Equation,
    Role,
    Select,
    When,
    pre_name,
)
from kilohertz.ir.expr import TRUE, Bool, Builtin, Expr, Int, Ref, Str, Unary
from kilohertz.ir.flat import (
    CONSTANT,
    DISCRETE,
    PARAMETER,
    Assert,
    Equality,
    Flat,
    IfEquation,
    Purpose,
    TupleTarget,
    Variable,
    WhenEquation,
)
from kilohertz.ir.flat import CallEquation as FlatCall
from kilohertz.ir.flat import Equation as FlatEquation
from kilohertz.ir.flat import Terminate as FlatTerminate
from kilohertz.ir.ticks import ScalarFlat
from kilohertz.ir.traverse import expressions_in
from kilohertz.ir.types import BOOLEAN, REAL, ExternalObjectType
from kilohertz.passes.contract import Fact, Log, Pass
from kilohertz.passes.dae.lowering.clocked_partitions import Clocks
from kilohertz.passes.dae.lowering.event_operators import Lowering
from kilohertz.passes.dae.lowering.lenient_assertions import lenient
from kilohertz.passes.dae.lowering.moving_results import MovingResults
from kilohertz.passes.dae.lowering.reduce_partition import Partition
from kilohertz.passes.dae.lowering.when_equations import Whens, call_equation, misplaced, scalars
from kilohertz.passes.numeric import Numeric, known_values

CONTINUOUS_PART = -1


@dataclass(frozen=True, slots=True)
class LowerEvents(Pass):
    """Variables by kind; when-equations, relations and samples become explicit."""

    name: ClassVar[str] = "lower-events"
    needs: ClassVar[frozenset[Fact]] = frozenset({Fact.FLAT, Fact.SCALAR})
    gives: ClassVar[frozenset[Fact]] = frozenset({Fact.DAE})
    breaks: ClassVar[frozenset[Fact]] = frozenset({Fact.FLAT})

    def run(self, model: Flat, log: Log) -> Dae:
        return _Lowerer(model).run()


class _Lowerer:
    def __init__(self, flat: Flat) -> None:
        self._flat = flat
        self._ticks = flat.ticks if isinstance(flat, ScalarFlat) else []
        self._dae = Dae(flat.name, functions=flat.functions, experiment=flat.experiment, description=flat.description)
        self._discrete = _discrete_reals(flat)
        self._reinitialised: dict[str, Origin] = {}
        self._moving = MovingResults(flat, self._is_discrete)
        self._lowering = Lowering(self._dae, self._is_discrete, self._is_differentiated, self._moving.in_)
        self._differentiated: set[str] | None = None
        self._numeric: Numeric | None = None
        self._once: set[str] | None = None  # names with one value in the whole run
        self._clocks = Clocks(
            self._dae,
            self._ticks,
            lambda e, origin: self._lowering.lower(e, origin, False),
            lambda e: self._lowering.lower(Builtin("$when", (e,), BOOLEAN), Origin()),
        )
        self._clocked: dict[int, list[FlatEquation]] = {}
        self._users_of: dict[str, set[int]] | None = None

    def run(self) -> Dae:
        for v in self._flat.variables.values():
            self._dae.variables[v.name] = self._variable(v)
        self._clocks.make_discrete()
        self._lowering.ticking = self._clocks.ticking()
        self._parameters()
        calls: list[Equality] = []
        for e in self._flat.equations:
            if self._ticks and isinstance(e, Equality) and isinstance(e.left, TupleTarget):
                calls.append(e)
            else:
                self._equation(e, self._dae.equations)
        for call in reversed(calls):  # one that uses the results of another stands behind it
            self._call(call)
        self._partitions()
        for name in self._lowering.differentiated:
            variable = self._dae.variables.get(name)
            if variable is not None and variable.role is Role.ALGEBRAIC:
                self._dae.variables[name] = replace(variable, role=Role.STATE)
        return self._dae

    def _is_discrete(self, name: str) -> bool:
        variable = self._dae.variables.get(name)
        if variable is None:  # made of a variable: its derivative, or what it was before the event
            return not self._lowering.is_rate(name)
        return variable.role not in (Role.STATE, Role.ALGEBRAIC, Role.INPUT)

    def _is_differentiated(self, name: str) -> bool:
        if self._differentiated is None:
            self._differentiated = _differentiated(self._flat)
        return name in self._differentiated

    # ------------------------------------------------------------------------------------------------------- variables

    def _variable(self, v: Variable) -> DaeVariable:
        a = v.attributes
        role = self._role(v)
        known = role in (Role.PARAMETER, Role.CONSTANT)
        fixed = self._flag(a.get("fixed"), known, v)
        start = _typed(a.get("start"), v)
        stands_in = role is Role.PARAMETER and fixed and start is not None and traverse.refs(start)
        return DaeVariable(
            v.name,
            v.ty,
            role,
            start if v.binding is None and stands_in else v.binding,  # a start of other parameters follows from these
            start,
            fixed,
            _typed(a.get("nominal"), v),
            _typed(a.get("min"), v),
            _typed(a.get("max"), v),
            self._select(a.get("stateSelect")),
            _text(a.get("unit")),
            _text(a.get("displayUnit")),
            v.description,
            v.causality,
            v.protected,
            v.final,
            v.origin,
            v.typical_start,
            v.purpose,
        )

    def _value(self, e: Expr) -> float | None:
        """A number for an expression over parameters, as they are when the model is translated."""
        if self._numeric is None:
            self._numeric = Numeric(known_values(self._flat))
        return self._numeric(e)

    def _select(self, e: Expr | None) -> Select:
        if e is None:
            return Select.DEFAULT
        value = self._value(e)
        return Select.DEFAULT if value is None else Select(int(value))

    def _flag(self, e: Expr | None, default: bool, v: Variable) -> bool:
        """`fixed`: literal, or decided by parameters as they are when the model is translated."""
        if e is None:
            return default
        if isinstance(e, Bool):
            return e.value
        value = self._value(e)
        if value is None:
            raise misplaced(f"`fixed` of {v.name} must be known when the model is translated", v.origin)
        return bool(value)

    def _role(self, v: Variable) -> Role:
        if isinstance(v.ty.base, ExternalObjectType):
            return Role.OBJECT
        if v.variability == CONSTANT or (v.structural and v.binding is not None):
            return Role.CONSTANT
        if v.variability == PARAMETER:
            return Role.PARAMETER
        if v.causality == "input":
            return Role.INPUT
        if v.variability == DISCRETE or v.ty != REAL or v.name in self._discrete:
            return Role.DISCRETE
        return Role.ALGEBRAIC

    def _parameters(self) -> None:
        """Bindings and attributes hold no events."""
        for name, v in list(self._dae.variables.items()):
            fields = {k: getattr(v, k) for k in VALUES}
            fresh = {k: self._lowering.lower(e, v.origin, False) for k, e in fields.items() if e is not None}
            if any(fresh[k] is not fields[k] for k in fresh):
                self._dae.variables[name] = replace(v, **fresh)  # type: ignore[arg-type]  # names are fields

    # ------------------------------------------------------------------------------------------------------- equations

    def _equation(self, e: FlatEquation, into: list[AnyEquation], events: bool = True) -> None:
        match e:
            case Equality():
                into.append(self._equality(e, events))
            case WhenEquation():
                if not self._is_clocked(e):
                    self._when(e)
            case Assert():
                lower = self._lowering.lower
                condition, message = lower(e.condition, e.origin, False), lower(e.message, e.origin, False)
                condition = lenient(condition, self._lowering.is_still)
                if into is self._dae.initial_equations:
                    condition = make.or_(NOT_INITIAL, condition)
                if condition is not TRUE:
                    self._dae.asserts.append(Assert(condition, message, e.level, e.origin))
            case FlatTerminate():
                guard = self._lowering.lower(Builtin("$when", (TRUE,), TRUE.ty), e.origin)
                self._dae.whens.append(When(guard, (Whens(self._unclocked).effect(e),), e.origin))
            case FlatCall():
                initial = Builtin("initial", (), TRUE.ty)
                self._when(WhenEquation([(Builtin("$when", (initial,), TRUE.ty), [e])], e.origin))
                if not all(self._is_of_start(r.name) for r in traverse.refs(e.call)):
                    text, span = "a call for its effect outside a when is made at the start only", e.origin.spans[:1]
                    warning = Diagnostic("B212", text, span[0] if span else None, severity=Severity.WARNING)
                    self._dae.warnings.append(warning)
            case _:
                raise misplaced(f"{type(e).__name__} is not possible here", e.origin)

    def _is_of_start(self, name: str) -> bool:
        """Has one value in the whole run: a parameter or constant, or what an equation sets to such alone."""
        if self._once is None:
            still = (Role.PARAMETER, Role.CONSTANT, Role.OBJECT)
            known = {n for n, v in self._dae.variables.items() if v.role in still}
            pairs = [(e.left, e.right) for e in self._flat.equations if isinstance(e, Equality)]
            sides = [(a.name, b) for p in pairs for a, b in (p, p[::-1]) if isinstance(a, Ref) and isinstance(b, Expr)]
            named = [(name, {r.name for r in traverse.refs(e)}) for name, e in sides]
            while found := {name for name, names in named if name not in known and names <= known}:
                known |= found
            self._once = known
        return name in self._once

    def _when(self, e: WhenEquation) -> None:
        whens = Whens(self._unclocked, reinitialised=self._reinitialised)
        whens.add(e)
        self._dae.whens += whens.whens
        self._dae.equations += whens.equations

    def _unclocked(self, e: Expr, origin: Origin, events: bool) -> Expr:
        return self._lowering.lower(self._clocks.continuous(e) if self._ticks else e, origin, events)

    def _is_clocked(self, e: WhenEquation) -> bool:
        """`when $tick(k)`: kept for its partition."""
        guard = e.branches[0][0]
        if not isinstance(guard, Builtin) or guard.name != "$tick" or not isinstance(guard.args[0], Int):
            return False
        k = guard.args[0].value
        self._clocked.setdefault(k, []).extend(e.branches[0][1])
        for name in (n for x in e.branches[0][1] if isinstance(x, Equality) for n in _set(x.left)):
            if self._dae.variables[name].purpose is Purpose.MADE:
                self._clocks.join(k, name)
        return True

    def _call(self, e: Equality) -> None:
        """The results of a call that was set aside belong to the one partition that uses them, if there is one."""
        assert isinstance(e.left, TupleTarget)
        names = _set(e.left)
        users = {k for n in names for k in self._users().get(n, ())}
        if len(users) == 1 and CONTINUOUS_PART not in users:
            (k,) = users
            self._clocked[k].append(e)
            for n in names:
                self._clocks.join(k, n)
            self._note_users(k, e.right)
        else:
            self._dae.equations.append(self._equality(e, False))
            self._note_users(CONTINUOUS_PART, e.right)

    def _users(self) -> dict[str, set[int]]:
        """Which partitions results of calls stand in."""
        if self._users_of is None:
            self._users_of = {v.name: set() for v in self._flat.variables.values() if v.purpose is Purpose.OUTPUT}
            for k, body in self._clocked.items():
                for e in expressions_in(body):
                    self._note_users(k, e)
            unclocked = [p for p in self._flat.equations if not _is_call(p) and not _is_tick(p)]
            for e in expressions_in([*unclocked, *self._flat.initial_equations]):
                self._note_users(CONTINUOUS_PART, e)
        return self._users_of

    def _note_users(self, k: int, e: Expr) -> None:
        if self._users_of:
            for ref in traverse.refs(e):
                if ref.name in self._users_of:
                    self._users_of[ref.name].add(k)

    def _partitions(self) -> None:
        """Clocked equations; initial equations of continuous variables in them hold at the first tick."""
        parts = {k: self._partition(k, body) for k, body in self._clocked.items()}
        continuous = self._clocks.discretised()
        for e in self._flat.initial_equations:
            owner = next((continuous[n] for n in _names(e) if n in continuous), None)
            if owner is None or not isinstance(e, Equality) or isinstance(e.left, TupleTarget):
                self._equation(e, self._dae.initial_equations, events=False)
            else:
                left, right = (self._clocks.lower(side, e.origin, owner) for side in (e.left, e.right))
                parts[owner][0].starts.append(Equation(left, right, e.origin))
        for k, (part, whens) in parts.items():
            self._clocks.add(k, part, whens)

    def _partition(self, k: int, body: list[FlatEquation]) -> tuple[Partition, list[When]]:
        part, whens = Partition(), Whens(lambda e, origin, _: self._clocks.lower(e, origin, k))
        for e in body:
            match e:
                case Equality(TupleTarget() as target, right):
                    part.equations.append(call_equation(target, whens.lower(right, e.origin, False), e.origin))
                case Equality(left, right):
                    assert not isinstance(left, TupleTarget)
                    a, b = whens.lower(left, e.origin, False), whens.lower(right, e.origin, False)
                    part.equations.append(Equation(a, b, e.origin))
                case WhenEquation() if (active := _state(e)) is not None:
                    inside = self._partition(k, e.branches[0][1])
                    guard = whens.lower(active, e.origin, False)
                    part.take(inside[0], guard)
                    whens.whens += [replace(w, guard=make.and_(guard, w.guard)) for w in inside[1]]
                case WhenEquation():
                    whens.add(e)
                case FlatCall() | FlatTerminate():
                    whens.whens.append(When(TRUE, (whens.effect(e),), e.origin))
                case _:
                    raise misplaced(f"{type(e).__name__} in a clocked partition", e.origin)
        part.equations += whens.equations
        return part, whens.whens

    def _equality(self, e: Equality, events: bool) -> Equation | CallEquation:
        if isinstance(e.left, TupleTarget):
            aside = self._clocks.called(e.right) if self._ticks else e.right
            return call_equation(e.left, self._lowering.lower(aside, e.origin, False), e.origin)
        left, right = e.left, e.right
        if self._ticks:
            left, right = self._clocks.continuous(left), self._clocks.continuous(right)
        left = self._lowering.lower(left, e.origin, events)
        right = self._lowering.lower(right, e.origin, events)
        if events and left.ty != REAL and self._moving.in_(right):
            right = self._lowering.stepping(right, e.origin)
        return self._directed(left, right, e.origin)

    def _directed(self, left: Expr, right: Expr, origin: Origin) -> Equation:
        """A discrete equation says what it computes; two plain variables may stand either way round."""
        if left.ty == REAL:
            keeps_itself = isinstance(left, Ref) and left.name in self._discrete and _uses_pre(right, left.name)
            return Equation(left, right, origin, directed=keeps_itself)
        if self._is_unknown(left) and self._is_unknown(right):
            return Equation(left, right, origin)
        if self._is_unknown(left):
            return Equation(left, right, origin, directed=True)
        if self._is_unknown(right):
            return Equation(right, left, origin, directed=True)
        if isinstance(left, Unary) and left.op == "not" and self._is_unknown(left.operand):
            return Equation(left.operand, make.not_(right), origin, directed=True)
        return Equation(left, right, origin)

    def _is_unknown(self, e: Expr) -> bool:
        if not isinstance(e, Ref):
            return False
        variable = self._dae.variables.get(e.name)
        return variable is not None and variable.role in (Role.DISCRETE, Role.ALGEBRAIC, Role.STATE)


def _set(left: Expr | TupleTarget) -> list[str]:
    """The variables that an equation names as what it sets."""
    if isinstance(left, TupleTarget):
        return [s.name for t in left.elements if t is not None for s in scalars(t)]
    return [left.name] if isinstance(left, Ref) else []


def _state(e: WhenEquation) -> Expr | None:
    """What says that a state of a state machine is active, where this is about its equations."""
    guard = e.branches[0][0]
    return guard.args[0] if isinstance(guard, Builtin) and guard.name == "$state" else None


def _is_call(e: FlatEquation) -> bool:
    return isinstance(e, Equality) and isinstance(e.left, TupleTarget)


def _is_tick(e: FlatEquation) -> bool:
    guard = e.branches[0][0] if isinstance(e, WhenEquation) else None
    return isinstance(guard, Builtin) and guard.name == "$tick"


def _names(e: FlatEquation) -> list[str]:
    return [r.name for x in expressions_in([e]) for r in traverse.refs(x)]


def _discrete_reals(flat: Flat) -> set[str]:
    """Reals set in a when, or defined from their own pre."""
    discrete: set[str] = set()
    stack: list[tuple[FlatEquation, bool]] = [(e, False) for e in flat.equations]
    while stack:
        e, inside = stack.pop()
        match e:
            case Equality(left, right):
                if inside and isinstance(left, TupleTarget):
                    discrete.update(s.name for t in left.elements if t is not None for s in scalars(t))
                elif inside:
                    target = left if isinstance(left, Ref) else right
                    if isinstance(target, Ref):
                        discrete.add(target.name)
                elif isinstance(left, Ref) and left.ty == REAL and _uses_pre_operator(right, left.name):
                    discrete.add(left.name)
            case WhenEquation(branches):
                stack += [(x, True) for _, body in branches for x in body]
            case IfEquation(branches, otherwise):
                stack += [(x, inside) for _, body in branches for x in body]
                stack += [(x, inside) for x in otherwise]
            case _:
                pass
    return discrete


def _differentiated(flat: Flat) -> set[str]:
    """Variables that stand in a `der`."""
    seen: set[Expr] = set()
    names: set[str] = set()
    stack = [side for e in flat.equations if isinstance(e, Equality) for side in (e.left, e.right)]
    while stack:
        e = stack.pop()
        if isinstance(e, TupleTarget) or e in seen:
            continue
        seen.add(e)
        if isinstance(e, Builtin) and e.name == "der":
            names.update(r.name for r in traverse.refs(e))
        stack.extend(e.children())
    return names


def _uses_pre_operator(e: Expr, name: str) -> bool:
    return any(
        isinstance(n, Builtin) and n.name == "pre" and isinstance(n.args[0], Ref) and n.args[0].name == name
        for n in traverse.walk(e)
    )


def _uses_pre(e: Expr, name: str) -> bool:
    wanted = pre_name(name)
    return any(isinstance(n, Ref) and n.name == wanted for n in traverse.walk(e))


def _typed(e: Expr | None, v: Variable) -> Expr | None:
    if e is None:
        return None
    return make.to_real(e) if v.ty == REAL else e


def _text(e: Expr | None) -> str:
    return e.value if isinstance(e, Str) else ""
