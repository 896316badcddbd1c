"""External objects that a clocked partition makes at its first tick.

    if not previous(started) then o = Object(size); started = true;
    else                          o = previous(o);  started = previous(started);  end if;

says that `o` is made once, with what `size` is at the first tick.  Here it becomes `Object o = Object(size)`, with what
gives `size` written out down to parameters and other objects, and the equations of `o` go.  The same holds for
assignments in an algorithm.  What has another form, or depends on more than parameters, stays and is refused later.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias, TypeGuard

from kilohertz.ir import make
from kilohertz.ir.expr import Array, Bool, Builtin, Call, Expr, Int, Ref, Unary
from kilohertz.ir.flat import (
    CONSTANT,
    DISCRETE,
    PARAMETER,
    Assign,
    Equality,
    Equation,
    Flat,
    IfEquation,
    IfStatement,
    Statement,
    WhenEquation,
)
from kilohertz.ir.traverse import refs
from kilohertz.ir.types import CLOCK, ExternalObjectType

Conditional: TypeAlias = IfEquation | IfStatement


def make_before_ticks(flat: Flat) -> None:
    """Give objects that are made at the first tick the binding that says the same.

    Their equations stay until clocks are inferred (`drop_made`): an object of a tick ties what uses it to one clock.
    """
    objects = [(where, one) for where in _conditionals(flat) for one in _made(where, flat)]
    if not objects:
        return
    given = _Given(flat, [where for where, _ in objects])
    for _, (name, call) in objects:
        binding = given.by_parameters(call, frozenset())
        if binding is not None:
            variable = flat.variables[name]
            variable.binding, variable.variability = binding, DISCRETE


def drop_made(flat: Flat) -> None:
    """Once clocks are known: take away the equations of objects that have a binding now."""
    for where in _conditionals(flat):
        for name, _ in _made(where, flat):
            if flat.variables[name].binding is not None:
                flat.variables[name].variability = PARAMETER
                _remove(name, where.branches[0][1])
                _remove(name, where.otherwise)


def _remove(name: str, body: list[Equation] | list[Statement]) -> None:
    for k in reversed(range(len(body))):
        if _target(body[k]) == name:
            del body[k]


def _conditionals(flat: Flat) -> Iterator[Conditional]:
    for equation in flat.equations:
        if isinstance(equation, IfEquation):
            yield equation
    for algorithm in flat.algorithms:
        for statement in algorithm.statements:
            if isinstance(statement, IfStatement):
                yield statement


def _made(where: Conditional, flat: Flat) -> list[tuple[str, Call]]:
    """Objects with their constructors, where one branch is that of the first tick and the other one keeps them."""
    if len(where.branches) != 1 or not _is_first_tick(where.branches[0][0], where, flat):
        return []
    objects = []
    for one in where.branches[0][1]:
        match _sides(one):
            case (Ref(name, ty), Call(function) as call) if (
                isinstance(ty.base, ExternalObjectType) and not ty.dims and function == ty.base.constructor
            ):
                kept = [_sides(other) for other in where.otherwise if _target(other) == name]
                if kept == [(Ref(name, ty), Builtin("previous", (Ref(name, ty),), ty))]:
                    objects.append((name, call))
    return objects


def _is_first_tick(condition: Expr, where: Conditional, flat: Flat) -> bool:
    """`not previous(b)` with a start of false; in an algorithm that sets `b`, plain `not b` means the same."""
    match condition:
        case Unary("not", Builtin("previous", (Ref(name),))):
            pass
        case Unary("not", Ref(name)) if isinstance(where, IfStatement):
            pass
        case _:
            return False
    start = flat.variables[name].attributes.get("start", Bool(False))
    becomes = [_sides(one) for one in where.branches[0][1] if _target(one) == name]
    return start == Bool(False) and [sides and sides[1] for sides in becomes] == [Bool(True)]


def _sides(one: Equation | Statement) -> tuple[Expr, Expr] | None:
    match one:
        case Equality(Expr() as left, right) | Assign(Expr() as left, right):
            return left, right
    return None


def _target(one: Equation | Statement) -> str | None:
    sides = _sides(one)
    return sides[0].name if sides is not None and isinstance(sides[0], Ref) else None


class _Given:
    """What equations say that a discrete scalar is at the first tick."""

    def __init__(self, flat: Flat, first_ticks: list[Conditional]) -> None:
        self._variables = flat.variables
        self._equal: dict[str, list[Expr]] = {}
        self._known: dict[str, Expr] = {}
        at_first = [one for where in first_ticks for one in where.branches[0][1]]
        at_ticks = [one for where in flat.equations if _is_clocked(where) for one in where.branches[0][1]]
        for one in (*flat.equations, *at_ticks, *at_first):
            sides = _sides(one)
            if sides is not None:
                self._note(*sides)

    def _note(self, left: Expr, right: Expr) -> None:
        for a, b in zip(_scalars(left), _scalars(right), strict=False):
            for one, other in ((a, b), (b, a)):
                if isinstance(one, Ref):
                    self._equal.setdefault(one.name, []).append(other)

    def by_parameters(self, e: Expr, asked: frozenset[str]) -> Expr | None:
        """`e` in terms of parameters and objects; None if it depends on more.  `asked`: variables on the way here."""
        values: dict[str, Expr] = {}
        for ref in refs(e):
            variable = self._variables[ref.name]
            if variable.variability in (PARAMETER, CONSTANT) or isinstance(ref.ty.base, ExternalObjectType):
                continue
            value = self._value(ref.name, asked)
            if value is None:
                return None
            values[ref.name] = value
        return make.substitute(e, values)

    def _value(self, name: str, asked: frozenset[str]) -> Expr | None:
        if name in self._known:
            return self._known[name]
        if name in asked:
            return None
        for e in self._equal.get(name, ()):
            value = self.by_parameters(e, asked | {name})
            if value is not None:
                self._known[name] = value
                return value
        return None


def _is_clocked(equation: Equation) -> TypeGuard[WhenEquation]:
    return isinstance(equation, WhenEquation) and equation.branches[0][0].ty == CLOCK


def _scalars(e: Expr) -> list[Expr]:
    """The scalars that an expression lists."""
    match e:
        case Array(elements):
            return [scalar for element in elements for scalar in _scalars(element)]
        case Builtin("fill", (one, Int(n))):
            return _scalars(one) * n
    return [] if e.ty.dims else [e]
