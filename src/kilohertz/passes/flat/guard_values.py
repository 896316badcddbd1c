"""guard-values: a function stops where it would use or return what has no value yet (MLS 12.4.4).

  function f  input Real x; output Integer y;  algorithm  if x > 0 then y := 1; end if;  end f;
  ->  algorithm  if x > 0 then y := 1; $has_y := true; end if;
                 assert($has_y, "the output `y` of `f` has no value at its end");

The same whether the function is written out or called: what cannot be shown to hold keeps it a call.  Only variables
that some path leaves without a value are followed (`ir/assigned.py`), so most functions stay as they are.  Reals are
left alone but in conditions: they are not numbers until they are set, which shows wherever they go.
Cost: every statement once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

from kilohertz.base import Origin
from kilohertz.ir import make
from kilohertz.ir.assigned import UnsetUse, names_read, root, subscripts, unset_uses
from kilohertz.ir.expr import FALSE, TRUE, Binary, Comprehension, Expr, IfExp, Ref, Str
from kilohertz.ir.flat import (
    Assert,
    Assign,
    CallEquation,
    Flat,
    ForStatement,
    Function,
    IfStatement,
    Local,
    Return,
    Statement,
    TupleTarget,
    WhileStatement,
)
from kilohertz.ir.types import BOOLEAN, REAL, RecordType
from kilohertz.passes.contract import Fact, Log, Pass

_FLAG = "$has_"  # with the name of a variable: whether it has a value


@dataclass(frozen=True, slots=True)
class GuardValues(Pass):
    """Functions check that what they use has a value, where that is not certain."""

    name: ClassVar[str] = "guard-values"
    needs: ClassVar[frozenset[Fact]] = frozenset({Fact.FLAT})
    gives: ClassVar[frozenset[Fact]] = frozenset({Fact.VALUES})

    def run(self, model: Flat, log: Log) -> Flat:
        functions = {id: guarded(f, model.functions) for id, f in model.functions.items()}
        return replace(model, functions=functions)


def guarded(f: Function, functions: Mapping[str, Function]) -> Function:
    """The function with its checks; itself where it needs none."""
    uses = [u for u in unset_uses(f, functions, lenient=False) if _is_followed(u)]
    if not uses:
        return f
    names = dict.fromkeys(u.local.name for u in uses)
    flags = [Local(_FLAG + name, BOOLEAN, (), FALSE, f"whether {name} has a value") for name in names]
    guards = _Guards(f, tuple(names))
    for use in uses:
        guards.uses.setdefault(id(use.statement), []).append(use)
    body = guards.block(f.body)
    body += [guards.returned(u) for u in guards.uses.get(id(None), ())]
    return replace(f, locals=[*f.locals, *flags], body=body)


def _is_followed(use: UnsetUse) -> bool:
    """What has no way to show that it has no value: all but Reals, and Reals in a condition, which swallows them."""
    ty = use.local.ty
    if isinstance(ty.base, RecordType) or None in ty.dims:
        return False
    return ty.base != REAL.base or (not ty.dims and isinstance(use.statement, IfStatement | WhileStatement))


def _flag(name: str) -> Expr:
    return Ref(_FLAG + name, BOOLEAN)


@dataclass(slots=True)
class _Guards:
    """Writes the statements of one function anew."""

    function: Function
    names: tuple[str, ...]
    uses: dict[int, list[UnsetUse]] = field(default_factory=dict)  # by the statement, which the function holds

    def block(self, body: list[Statement]) -> list[Statement]:
        return [new for s in body for new in self._statement(s)]

    def returned(self, use: UnsetUse) -> Statement:
        text = f"the output `{use.local.name}` of `{self.function.id}` has no value at its end"
        return Assert(_flag(use.local.name), Str(text), None, use.origin)

    def _statement(self, s: Statement) -> list[Statement]:
        uses = self.uses.get(id(s), [])
        match s:
            case Return():
                return [*(self.returned(u) for u in uses), s]
            case IfStatement(branches, otherwise):
                return self._if(branches, otherwise, uses, s.origin) if uses else [self._parted(s)]
            case ForStatement(_, over, body) | WhileStatement(over, body):
                return [*self._checks(uses, (over,), s.origin), replace(s, body=self.block(body))]
            case Assign(target, value):
                targets = target.elements if isinstance(target, TupleTarget) else (target,)
                written = dict.fromkeys(root(t) for t in targets if t is not None)
                read = (value, *(e for t in targets if t is not None for e in subscripts(t)))
                noted = [Assign(_flag(name), TRUE, s.origin) for name in written if name in self.names]
                return [*self._checks(uses, read, s.origin), s, *noted]
            case Assert(condition, message):
                return [*self._checks(uses, (condition, message), s.origin), s]
            case CallEquation(call):
                return [*self._checks(uses, (call,), s.origin), s]
            case _:
                return [s]

    def _parted(self, s: IfStatement) -> IfStatement:
        return replace(s, branches=[(c, self.block(b)) for c, b in s.branches], otherwise=self.block(s.otherwise))

    def _if(
        self,
        branches: list[tuple[Expr, list[Statement]]],
        otherwise: list[Statement],
        uses: list[UnsetUse],
        origin: Origin,
    ) -> list[Statement]:
        """Each condition is checked where it is asked, which is after those before it."""
        if not branches:
            return self.block(otherwise)
        (condition, body), rest = branches[0], branches[1:]
        check = self._checks(uses, (condition,), origin)
        inner = self._if(rest, otherwise, uses, origin)
        return [*check, IfStatement([(condition, self.block(body))], inner, origin)]

    def _checks(self, uses: list[UnsetUse], read: tuple[Expr, ...], origin: Origin) -> list[Statement]:
        """One assertion for each variable that an expression reads."""
        checks: list[Statement] = []
        names = {u.local.name for u in uses}
        for e in read:
            for name in dict.fromkeys(n for n in names_read(e) if n in names):
                text = f"`{name}` of `{self.function.id}` has no value where it is read"
                checks.append(Assert(_has(e, name), Str(text), None, origin))
        return checks


def _has(e: Expr, name: str) -> Expr:
    """The condition under which an expression can be had: a variable that it asks for has a value."""
    if name not in names_read(e):
        return TRUE
    if isinstance(e, IfExp):
        chosen = make.if_(e.condition, _has(e.then, name), _has(e.otherwise, name))
        return make.and_(_has(e.condition, name), chosen)
    if isinstance(e, Binary) and e.op in ("and", "or") and not e.ty.dims:
        decided = make.not_(e.left) if e.op == "and" else e.left
        return make.and_(_has(e.left, name), make.or_(decided, _has(e.right, name)))
    if isinstance(e, Ref | Comprehension):  # whatever the conditions inside, which know its iterators
        return _flag(name)
    holds: Expr = TRUE
    for child in e.children():
        holds = make.and_(holds, _has(child, name))
    return holds
