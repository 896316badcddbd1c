"""lower-events: the scalar Flat as a Dae: variables by kind, when-equations as guarded definitions, events explicit.

  when c then v = e; reinit(x, f); end when;
  ->  v := if g then e else pre(v);   when g: reinit(x, f);      g = $w0 and not pre($w0) and not initial(),  $w0 := c

A Real is discrete where it is declared so, set in a when, or defined from its own `pre`.  Branches after the first act
only where no earlier one does.  Operators, clocked partitions, assertions: `lowering/`.  Cost: linear.  Gives up
(B102 to B106) where an operator with events stands where it has no meaning.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from kilohertz.base import Diagnostic, ModelError, Origin, Severity
from kilohertz.ir import make, traverse
from kilohertz.ir.dae import (
    VALUES,
    AnyEquation,
    CallEquation,
    Dae,
    DaeVariable,
    Effect,
    Equation,
    Reinit,
    Role,
    Select,
    When,
    pre_name,
)
from kilohertz.ir.expr import FALSE, TRUE, Array, Bool, Builtin, Call, Expr, Int, Record, Ref, Str, Unary
from kilohertz.ir.flat import (
    CONSTANT,
    DISCRETE,
    PARAMETER,
    Assert,
    Equality,
    Flat,
    IfEquation,
    TupleTarget,
    Variable,
    WhenEquation,
)
from kilohertz.ir.flat import CallEquation as FlatCall
from kilohertz.ir.flat import Equation as FlatEquation
from kilohertz.ir.flat import Reinit as FlatReinit
from kilohertz.ir.flat import Terminate as FlatTerminate
from kilohertz.ir.ticks import ScalarFlat
from kilohertz.ir.types import BOOLEAN, REAL, ExternalObjectType
from kilohertz.passes.contract import Fact, Log, Pass
from kilohertz.passes.dae.lowering.clocked_partitions import Clocks
from kilohertz.passes.dae.lowering.event_operators import Lowering
from kilohertz.passes.dae.lowering.lenient_assertions import lenient
from kilohertz.passes.numeric import Numeric, known_values


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
        self._lowering = Lowering(self._dae, self._is_discrete, self._is_differentiated)
        self._differentiated: set[str] | None = None
        self._numeric: Numeric | None = None
        self._clocks = Clocks(
            self._dae,
            self._ticks,
            lambda e, origin: self._lowering.lower(e, origin, False),
            lambda e: self._lowering.lower(Builtin("$when", (e,), BOOLEAN), Origin()),
        )
        self._clocked: dict[int, list[tuple[Expr, Expr, Origin]]] = {}
        self._effects_at_ticks: list[tuple[int, FlatCall | FlatTerminate]] = []

    def run(self) -> Dae:
        for v in self._flat.variables.values():
            self._dae.variables[v.name] = self._variable(v)
        self._clocks.make_discrete()
        self._lowering.ticking = self._clocks.ticking()
        self._parameters()
        for e in self._flat.equations:
            self._equation(e, self._dae.equations)
        self._clocks.add(self._clocked)
        for k, effect in self._effects_at_ticks:
            self._dae.whens.append(When(self._clocks.tick(k), (self._effect(effect),), effect.origin))
        for e in self._flat.initial_equations:
            self._equation(e, self._dae.initial_equations, events=False)
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
        return DaeVariable(
            v.name,
            v.ty,
            role,
            v.binding,
            _typed(a.get("start"), v),
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
            raise _error(f"`fixed` of {v.name} must be known when the model is translated", v.origin)
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
                if condition is not TRUE:
                    self._dae.asserts.append(Assert(condition, message, e.level, e.origin))
            case FlatTerminate():
                guard = self._lowering.lower(Builtin("$when", (TRUE,), TRUE.ty), e.origin)
                self._dae.whens.append(When(guard, (self._effect(e),), e.origin))
            case FlatCall():
                text, span = "a call for its effect outside a when is not run", e.origin.spans[:1]
                warning = Diagnostic("B212", text, span[0] if span else None, severity=Severity.WARNING)
                self._dae.warnings.append(warning)
            case _:
                raise _error(f"{type(e).__name__} is not possible here", e.origin)

    def _is_clocked(self, e: WhenEquation) -> bool:
        """`when $tick(k)`: kept for its partition."""
        guard = e.branches[0][0]
        if not isinstance(guard, Builtin) or guard.name != "$tick" or not isinstance(guard.args[0], Int):
            return False
        rows = self._clocked.setdefault(guard.args[0].value, [])
        for x in e.branches[0][1]:
            if isinstance(x, FlatCall | FlatTerminate):
                self._effects_at_ticks.append((guard.args[0].value, x))
                continue
            if not isinstance(x, Equality) or isinstance(x.left, TupleTarget):
                raise _error(f"{type(x).__name__} in a clocked partition", x.origin)
            rows.append((x.left, x.right, x.origin))
        return True

    def _equality(self, e: Equality, events: bool) -> Equation | CallEquation:
        if isinstance(e.left, TupleTarget):
            aside = self._clocks.called(e.right) if self._ticks else e.right
            call = self._lowering.lower(aside, e.origin, False)
            assert isinstance(call, Call)
            targets = tuple(tuple(_scalars(t)) if t is not None else () for t in e.left.elements)
            return CallEquation(targets, call, e.origin)
        left, right = e.left, e.right
        if self._ticks:
            left, right = self._clocks.continuous(left), self._clocks.continuous(right)
        left = self._lowering.lower(left, e.origin, events)
        right = self._lowering.lower(right, e.origin, events)
        return self._directed(left, right, e.origin)

    def _directed(self, left: Expr, right: Expr, origin: Origin) -> Equation:
        """A discrete equation says what it computes; two plain variables may stand either way round."""
        if left.ty == REAL:
            from_its_pre = isinstance(left, Ref) and left.name in self._discrete and _uses_pre(right, left.name)
            return Equation(left, right, origin, directed=from_its_pre)
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

    # ------------------------------------------------------------------------------------------------------------ when

    def _when(self, e: WhenEquation) -> None:
        taken: Expr = FALSE
        values: dict[str, tuple[Ref, Expr, Origin]] = {}
        for condition, body in e.branches:
            guard = self._lowering.lower(condition, e.origin)
            here = make.and_(guard, make.not_(taken)) if taken is not FALSE else guard
            actions = self._body(body, here, TRUE, values)
            if actions:
                self._dae.whens.append(When(here, tuple(actions), e.origin))
            taken = make.or_(taken, guard)
        for ref, value, origin in values.values():
            self._dae.equations.append(Equation(ref, value, origin, directed=True))

    def _body(
        self, body: list[FlatEquation], guard: Expr, enclosing: Expr, values: dict[str, tuple[Ref, Expr, Origin]]
    ) -> list[Reinit | Effect]:
        actions: list[Reinit | Effect] = []
        active = make.and_(guard, enclosing)
        for e in body:
            match e:
                case Equality():
                    self._guarded(e, active, values)
                case IfEquation():
                    outside: Expr = enclosing
                    for c, branch in e.branches:
                        condition = self._lowering.lower(c, e.origin, False)
                        actions += self._body(branch, guard, make.and_(outside, condition), values)
                        outside = make.and_(outside, make.not_(condition))
                    actions += self._body(e.otherwise, guard, outside, values)
                case FlatReinit():
                    value = self._lowering.lower(e.value, e.origin, False)
                    assert isinstance(e.target, Ref)
                    if enclosing is not TRUE:
                        self._dae.whens.append(When(active, (Reinit(e.target, value, e.origin),), e.origin))
                    else:
                        actions.append(Reinit(e.target, value, e.origin))
                case Assert() | FlatTerminate() | FlatCall():
                    if enclosing is not TRUE:
                        self._dae.whens.append(When(active, (self._effect(e),), e.origin))
                    else:
                        actions.append(self._effect(e))
                case WhenEquation():
                    raise _error("a when inside a when", e.origin)
        return actions

    def _guarded(self, e: Equality, active: Expr, values: dict[str, tuple[Ref, Expr, Origin]]) -> None:
        if isinstance(e.left, TupleTarget):
            raise _error("a call with several outputs that stays in a when", e.origin)
        left, right = e.left, e.right
        if not isinstance(left, Ref) and isinstance(right, Ref):
            left, right = right, left
        if not isinstance(left, Ref):
            raise _error("an equation in a when must have a variable on its left side", e.origin)
        value = self._lowering.lower(right, e.origin, False)
        before = values[left.name][1] if left.name in values else Ref(pre_name(left.name), left.ty)
        values[left.name] = (left, make.if_(active, value, before), e.origin)

    def _effect(self, e: Assert | FlatTerminate | FlatCall) -> Effect:
        def lower(x: Expr) -> Expr:
            return self._lowering.lower(x, e.origin, False)

        match e:
            case Assert():
                level = () if e.level is None else (e.level,)
                return Effect("assert", (lower(e.condition), lower(e.message), *level), e.origin)
            case FlatTerminate():
                return Effect("terminate", (lower(e.message),), e.origin)
            case FlatCall():
                return Effect("call", (lower(e.call),), e.origin)


def _discrete_reals(flat: Flat) -> set[str]:
    """Reals set in a when, or defined from their own pre."""
    discrete: set[str] = set()
    stack: list[tuple[FlatEquation, bool]] = [(e, False) for e in flat.equations]
    while stack:
        e, inside = stack.pop()
        match e:
            case Equality(left, right):
                if inside and isinstance(left, TupleTarget):
                    discrete.update(s.name for t in left.elements if t is not None for s in _scalars(t))
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


def _scalars(e: Expr) -> list[Ref]:
    if isinstance(e, (Array, Record)):
        return [s for c in e.children() for s in _scalars(c)]
    assert isinstance(e, Ref)
    return [e]


def _typed(e: Expr | None, v: Variable) -> Expr | None:
    if e is None:
        return None
    return make.to_real(e) if v.ty == REAL else e


def _text(e: Expr | None) -> str:
    return e.value if isinstance(e, Str) else ""


def _error(text: str, origin: Origin) -> ModelError:
    return ModelError(Diagnostic("B103", text, origin.spans[0] if origin.spans else None))
