"""algorithms: an algorithm section becomes equations, by running it symbolically.

  algorithm  y := 0;  when b then y := pre(y) + 1; end when;
  ->         y = if $when(b) then pre(y) + 1 else pre(y)

Before the first statement a discrete variable has its `pre`, another one its start value (MLS 11.1.2).  Raises
`Unsupported` where a loop or a subscript is not known.
"""

from __future__ import annotations

from kilohertz.ir import make
from kilohertz.ir.expr import FALSE, TRUE, Builtin, Expr, Field, Index, Int, Real, Ref, Str
from kilohertz.ir.expr import Enum as EnumLiteral
from kilohertz.ir.flat import (
    DISCRETE,
    Algorithm,
    Assert,
    Assign,
    Equality,
    Equation,
    Flat,
    Reinit,
    Statement,
    TupleTarget,
    WhenEquation,
    WhenStatement,
)
from kilohertz.ir.types import BOOLEAN, INTEGER, REAL, STRING, EnumType, Type
from kilohertz.passes.flat.execute import Effects, Executor
from kilohertz.passes.flat.parted_targets import places
from kilohertz.passes.flat.symbolic_evaluator import Env, Evaluator, Unsupported, broadcast
from kilohertz.passes.flat.values import Value, leaves

LIMIT = 200_000


def equations_of(algorithm: Algorithm, flat: Flat, evaluator: Evaluator, initial: bool) -> list[Equation]:
    """What the algorithm's targets are, and its effects."""
    targets, in_when = assigned(algorithm.statements)
    env: Env = {}
    for ref in targets:
        env[ref.name] = at_entry(ref, flat, evaluator, ref.name in in_when, initial)
    effects = Effects()
    evaluator.targets = frozenset(env)
    try:
        Executor(evaluator, LIMIT, effects).execute(algorithm.statements, env)
    finally:
        evaluator.targets = frozenset()
    if initial and any(not isinstance(effect, Assert) for _, _, effect in effects.met):
        raise Unsupported("a call or terminate in an initial algorithm")
    equations: list[Equation] = []
    for ref in targets:
        variables = evaluator.model(ref).items
        for target, value in zip(variables, env[ref.name].items, strict=True):
            if target.ty == REAL:
                value = make.to_real(value)
            equations.append(Equality(target, value, algorithm.origin))
    return equations + _effects(effects)


def _effects(effects: Effects) -> list[Equation]:
    equations: list[Equation] = []
    reinits: dict[Expr, tuple[Expr, Reinit]] = {}
    for guard, condition, effect in effects.met:
        if guard is TRUE and isinstance(effect, Assert):
            equations.append(
                Assert(make.or_(make.not_(condition), effect.condition), effect.message, effect.level, effect.origin)
            )
            continue
        both = make.and_(guard, condition)
        if guard is TRUE:
            both = Builtin("$when", (both,), BOOLEAN)
        if isinstance(effect, Reinit):
            reinits[effect.target] = _last(reinits.get(effect.target), both, effect)
        else:
            equations.append(WhenEquation([(both, [effect])], effect.origin))
    return equations + [WhenEquation([(when, [effect])], effect.origin) for when, effect in reinits.values()]


def _last(before: tuple[Expr, Reinit] | None, condition: Expr, effect: Reinit) -> tuple[Expr, Reinit]:
    """Of several that an algorithm meets for one state, the last counts."""
    if before is None:
        return condition, effect
    when, first = before
    value = make.if_(condition, effect.value, first.value)
    return make.or_(when, condition), Reinit(effect.target, value, effect.origin)


def at_entry(ref: Ref, flat: Flat, evaluator: Evaluator, in_when: bool, initial: bool) -> Value:
    """What a target is before the first statement."""
    variable = flat.variables.get(ref.name)
    if variable is None:
        raise Unsupported(f"an assignment to {ref.name}, which is not known")
    whole = Value(variable.ty, tuple(Ref(ref.name + suffix, ty) for suffix, ty in leaves(variable.ty)))
    discrete = in_when or variable.variability == DISCRETE or variable.ty.base != REAL.base
    if discrete and not initial:
        return Value(whole.ty, tuple(Builtin("pre", (x,), x.ty) for x in whole.items))
    start = variable.attributes.get("start")
    if start is None:
        return Value(whole.ty, tuple(default_start(x.ty) for x in whole.items))
    return Value(whole.ty, broadcast(evaluator.model(start), variable.ty))


def default_start(ty: Type) -> Expr:
    """The start value the language gives where none is written (MLS 4.8)."""
    if ty == REAL:
        return Real(0.0)
    if ty == INTEGER:
        return Int(0)
    if ty == BOOLEAN:
        return FALSE
    if ty == STRING:
        return Str("")
    if isinstance(ty.base, EnumType):
        return EnumLiteral(ty.base, 1)
    raise Unsupported(f"a start value of type {ty}")


def assigned(statements: list[Statement]) -> tuple[list[Ref], set[str]]:
    """Variables assigned somewhere, in order of first appearance, and the names of those assigned inside a when."""
    order: dict[str, Ref] = {}
    in_when: set[str] = set()
    stack: list[tuple[Statement, bool]] = [(s, False) for s in reversed(statements)]
    while stack:
        s, inside = stack.pop()
        if isinstance(s, Assign):
            elements = s.target.elements if isinstance(s.target, TupleTarget) else (s.target,)
            for element in places(elements):
                ref = _root(element)
                order.setdefault(ref.name, ref)
                if inside:
                    in_when.add(ref.name)
        inside = inside or isinstance(s, WhenStatement)
        below: list[Statement] = []
        for branch in getattr(s, "branches", ()):
            below += branch[1]
        below += getattr(s, "otherwise", ()) or ()
        below += getattr(s, "body", ()) or ()
        stack += [(b, inside) for b in reversed(below)]
    return list(order.values()), in_when


def _root(e: Expr) -> Ref:
    while isinstance(e, (Index, Field)):
        e = e.base
    if not isinstance(e, Ref):
        raise Unsupported("this target of an assignment")
    return e
