"""Whens with Boolean conditions in a state (MLS 17.3.4): they remember the last tick at which the state was active.

  when c then  v = e;  end when;
  ->  $when = c
      if $when and not $reset and not previous($when) then  v = e;  else  v = previous(v);  end if

where `previous(v)` is the start value of v at a tick at which the state is reset; at such a tick no condition becomes
true, as at the first tick of a clock.  In an algorithm what a when sets begins with `previous(v)`.  Whens that ask for
`initial()` or `sample(..)`, and those with anything but equations for variables, stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from kilohertz.base import Origin
from kilohertz.ir import make, traverse
from kilohertz.ir.expr import FALSE, Array, Builtin, Expr, Ref
from kilohertz.ir.flat import (
    Assign,
    Equality,
    Equation,
    IfEquation,
    IfStatement,
    Statement,
    TupleTarget,
    WhenEquation,
    WhenStatement,
)
from kilohertz.ir.types import BOOLEAN
from kilohertz.semantics.balancing.equation_parts import assigned_variables, assignments


@dataclass(frozen=True, slots=True)
class StateWhens:
    """Writes the whens of one state anew."""

    reset: Expr
    fresh: Callable[[Origin], Ref]  # a Boolean of the state
    previous: Callable[[Expr], Expr]  # as it is in the state

    def equations(self, body: Iterable[Equation]) -> list[Equation]:
        """The equations of a state, those in a `when` of its clock too."""
        new: list[Equation] = []
        for e in body:
            if not isinstance(e, WhenEquation):
                new.append(e)
            elif e.branches[0][0].ty.base != BOOLEAN.base:
                new.append(WhenEquation([(clock, self.equations(inside)) for clock, inside in e.branches], e.origin))
            else:
                new += self._equation(e)
        return new

    def _equation(self, e: WhenEquation) -> list[Equation]:
        targets = _targets(e.branches[0][1])
        if targets is None or any(_targets(body) is None for _, body in e.branches) or not _is_plain(e.branches):
            return [e]
        new: list[Equation] = []
        branches: list[tuple[Expr, list[Equation]]] = []
        for condition, body in e.branches:
            noted, edge = self._edge(condition, e.origin)
            new += [Equality(ref, c, e.origin) for ref, c in noted]
            branches.append((edge, body))
        kept: list[Equation] = [Equality(t, self.previous(t), e.origin) for t in targets]
        return [*new, IfEquation(branches, kept, e.origin)]

    def statements(self, body: list[Statement]) -> list[Statement]:
        """The statements of an algorithm of a state."""
        whens = [s for s in body if isinstance(s, WhenStatement) and _is_plain(s.branches)]
        set_there = [a for w in whens for _, inside in w.branches for a in assignments(inside)]
        names = dict.fromkeys(v for target, _ in set_there for v in assigned_variables(target))
        new: list[Statement] = []
        for name, ty in names:
            new.append(Assign(Ref(name, ty), self.previous(Ref(name, ty)), whens[0].origin))
        for s in body:
            new += self._statement(s) if s in whens and isinstance(s, WhenStatement) else [s]
        return new

    def _statement(self, s: WhenStatement) -> list[Statement]:
        new: list[Statement] = []
        branches: list[tuple[Expr, list[Statement]]] = []
        for condition, body in s.branches:
            noted, edge = self._edge(condition, s.origin)
            new += [Assign(ref, c, s.origin) for ref, c in noted]
            branches.append((edge, body))
        return [*new, IfStatement(branches, [], s.origin)]

    def _edge(self, condition: Expr, origin: Origin) -> tuple[list[tuple[Ref, Expr]], Expr]:
        """What is noted at each tick, and whether a condition has become true."""
        conditions = condition.elements if isinstance(condition, Array) else (condition,)
        noted = [(self.fresh(origin), c) for c in conditions]
        edge: Expr = FALSE
        for ref, _ in noted:
            edge = make.or_(edge, make.and_(ref, make.not_(Builtin("previous", (ref,), BOOLEAN))))
        return noted, make.and_(edge, make.not_(self.reset))


def _is_plain(branches: Iterable[tuple[Expr, object]]) -> bool:
    """Its conditions are such as become true at ticks."""
    for c, _ in branches:
        scalars = not c.ty.dims or isinstance(c, Array)
        if c.ty.base != BOOLEAN.base or not scalars:
            return False
        if any(isinstance(n, Builtin) and n.name in ("initial", "sample") for n in traverse.walk(c)):
            return False
    return True


def _targets(body: Iterable[Equation]) -> list[Expr] | None:
    """What the equations of a when set; None where they do something else."""
    found: list[Expr] = []
    for e in body:
        if not isinstance(e, Equality):
            return None
        found += _parts(e.left)
    return found


def _parts(left: Expr | TupleTarget) -> Iterator[Expr]:
    if isinstance(left, TupleTarget):
        yield from (e for e in left.elements if e is not None)
    else:
        yield left
