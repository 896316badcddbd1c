"""A function for some of its arguments: branches that literal choices never take are left out.

  if kind == Kind.Steps then y := held(table, x); else y := linear(table, x); end if;     called with Kind.Linear
  ->  y := linear(table, x);

A function that chooses by an argument between ways of which one has no derivative has one where the call chooses
another.  Integers, Booleans and enumerations choose; so do locals that are set from them once and for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kilohertz.interp import EvaluationError, Evaluator, NotConstant
from kilohertz.ir.dae import show
from kilohertz.ir.expr import Bool, Enum, Expr, Int
from kilohertz.ir.flat import ForStatement, Function, IfStatement, Statement, WhileStatement
from kilohertz.ir.types import REAL
from kilohertz.passes.searches import assigned

_CHOICES = (Bool, Enum, Int)


def narrowed(f: Function, args: Sequence[Expr], functions: Mapping[str, Function]) -> Function | None:
    """The function without the branches that these arguments rule out; None where they rule out none."""
    given = {v.name: a for v, a in zip(f.inputs, args, strict=True) if isinstance(a, _CHOICES)}
    if not given:
        return None
    narrow = _Narrow(functions, given)
    narrow.settle(f)
    body = narrow.body(f.body)
    if not narrow.decided:
        return None
    shown = ", ".join(f"{name} = {show(a)}" for name, a in given.items())
    return replace(f, id=f"$for({f.id}, {shown})", body=body)


class _Narrow:
    def __init__(self, functions: Mapping[str, Function], given: Mapping[str, Expr]) -> None:
        self._evaluator = Evaluator(functions)
        self._known = {name: self._evaluator.evaluate(e) for name, e in given.items()}
        self.decided = False

    def settle(self, f: Function) -> None:
        """Locals with a value that follows from the choices, where no statement sets them."""
        set_later = assigned(f.body)
        for v in f.locals:
            if v.default is None or v.ty.dims or v.ty.base == REAL.base or v.name in set_later:
                continue
            try:
                self._known[v.name] = self._evaluator.evaluate(v.default, self._known)
            except (NotConstant, EvaluationError):
                continue

    def body(self, statements: Sequence[Statement]) -> list[Statement]:
        kept: list[Statement] = []
        for s in statements:
            match s:
                case IfStatement():
                    kept += self._chosen(s)
                case ForStatement() | WhileStatement():
                    kept.append(replace(s, body=self.body(s.body)))
                case _:
                    kept.append(s)
        return kept

    def _chosen(self, s: IfStatement) -> list[Statement]:
        """What is left of the branches up to the one that is taken."""
        branches: list[tuple[Expr, list[Statement]]] = []
        otherwise = s.otherwise
        for condition, inner in s.branches:
            holds = self._holds(condition)
            if holds is None:
                branches.append((condition, self.body(inner)))
                continue
            self.decided = True
            if holds:
                otherwise = inner
                break
        rest = self.body(otherwise)
        return [replace(s, branches=branches, otherwise=rest)] if branches else rest

    def _holds(self, condition: Expr) -> bool | None:
        try:
            return bool(self._evaluator.evaluate(condition, self._known))
        except (NotConstant, EvaluationError):
            return None
