"""Symbolic execution of statements: what each variable is at the end, as scalar expressions.

Used for functions that are inlined and for algorithms that become equations.  `if` with an unknown condition runs both
branches and merges them; loops unroll where their range is known; a `when` merges under its guard `$when(c)`.  A break
or return under an unknown condition keeps a picture of all variables; what follows runs as if it had not happened, and
the picture is merged where the loop or function ends.  What cannot be known beforehand raises `Unsupported`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum, auto

from kilohertz.ir import make
from kilohertz.ir.expr import FALSE, TRUE, Binary, Builtin, Expr, Field, IfExp, Index, Int, Ref
from kilohertz.ir.flat import (
    Assert,
    Assign,
    Break,
    CallEquation,
    ForStatement,
    IfStatement,
    Reinit,
    Return,
    Statement,
    Terminate,
    TupleTarget,
    WhenStatement,
    WhileStatement,
)
from kilohertz.ir.types import BOOLEAN, RecordType, Type
from kilohertz.passes.flat.parted_targets import parted
from kilohertz.passes.flat.symbolic_evaluator import Env, Evaluator, Unsupported, broadcast
from kilohertz.passes.flat.values import Value, elements, shape, size, width


class Flow(Enum):
    """How a block of statements ended."""

    ON = auto()
    BREAK = auto()
    RETURN = auto()


@dataclass(slots=True)
class Effects:
    """Asserts, terminates, reinits and calls met on the way, each with the condition under which it happens."""

    met: list[tuple[Expr, Expr, Assert | Terminate | Reinit | CallEquation]] = field(default_factory=list)


def unset(ty: Type) -> Expr:
    """Stands for a scalar that has no value yet."""
    return Builtin("$unset", (), ty)


def is_unset(e: Expr) -> bool:
    return isinstance(e, Builtin) and e.name == "$unset"


class _Unknown(Unsupported):
    """Which scalars are meant is known at run time only: an expression that gives the place of each."""

    def __init__(self, name: str, places: tuple[Expr, ...]) -> None:
        super().__init__("an assignment to an element that is not known")
        self.name = name
        self.places = places


def _is_place(place: Expr, k: int) -> Expr:
    """The condition under which a choice between literal places gives k."""
    if isinstance(place, Int):
        return TRUE if place.value == k else FALSE
    if isinstance(place, IfExp):
        then, otherwise = _is_place(place.then, k), _is_place(place.otherwise, k)
        if then is TRUE:
            return make.or_(place.condition, otherwise)
        return make.or_(make.and_(place.condition, then), make.and_(make.not_(place.condition), otherwise))
    raise Unsupported("an assignment to an element that is not known")


class Executor:
    """Runs statements over an environment of Values; `limit` bounds the number of statements run."""

    def __init__(
        self, evaluator: Evaluator, limit: int, effects: Effects | None = None, loose: frozenset[str] = frozenset()
    ) -> None:
        self._evaluator = evaluator
        self._loose = loose  # scalars that may be read without a value
        self._left = limit
        self._effects = effects
        self._condition: Expr = TRUE  # of the ifs around
        self._guard: Expr = TRUE  # of the whens around
        self._breaks: list[list[tuple[Expr, Env]]] = []  # pictures taken, by loop
        self._returns: list[tuple[Expr, Env]] = []

    def execute(self, statements: list[Statement], env: Env) -> None:
        """Run a whole body; afterwards `env` holds the values at its end."""
        if self.run(statements, env) is Flow.BREAK:
            raise Unsupported("break outside a loop")
        _settle(self._returns, env, self._loose)

    def run(self, statements: list[Statement], env: Env) -> Flow:
        for s in statements:
            self._left -= 1
            if self._left < 0:
                raise Unsupported("too many statements to unroll")
            flow = self._one(s, env)
            if flow is not Flow.ON:
                return flow
        return Flow.ON

    def _one(self, s: Statement, env: Env) -> Flow:
        match s:
            case Assign():
                self._assign(s, env)
            case IfStatement():
                return self._if(s, env)
            case ForStatement():
                return self._for(s, env)
            case WhileStatement():
                return self._while(s, env)
            case WhenStatement():
                self._when(s, env)
            case Break():
                return Flow.BREAK
            case Return():
                return Flow.RETURN
            case Assert() | Terminate() | Reinit() | CallEquation():
                self._effect(s, env)
        return Flow.ON

    def _effect(self, s: Assert | Terminate | Reinit | CallEquation, env: Env) -> None:
        if self._effects is None:
            if isinstance(s, Assert) and self._holds(self._evaluator.scalar(s.condition, env)):
                return
            raise Unsupported("an effect in a function")
        value = self._evaluator
        done: list[Assert | Terminate | Reinit]
        match s:
            case Assert():
                message = value.scalar(s.message, env)
                done = [Assert(value.scalar(s.condition, env), message, s.level, s.origin)]
            case Terminate():
                done = [Terminate(value.scalar(s.message, env), s.origin)]
            case Reinit():
                done = [*reinits(s, value.value(s.target, env), value.value(s.value, env))]
            case CallEquation():
                raise Unsupported("a call for its effect")
        self._effects.met += [(self._guard, self._condition, d) for d in done]

    def _holds(self, condition: Expr) -> bool:
        """Whether it is known to: literally, or since it is one of the conditions of the ifs around."""
        around = [self._condition]
        while around:
            one = around.pop()
            if one is condition:
                return True
            if isinstance(one, Binary) and one.op == "and":
                around += (one.left, one.right)
        return condition is TRUE

    # ------------------------------------------------------------------------------------------------------ assignment

    def _assign(self, s: Assign, env: Env) -> None:
        if isinstance(s.target, TupleTarget):
            self._assign_tuple(s, s.target, env)
            return
        self._store(s.target, self._evaluator.value(s.value, env), env)

    def _assign_tuple(self, s: Assign, target: TupleTarget, env: Env) -> None:
        outputs = self._evaluator.outputs(s.value, env)
        for element, value in zip(target.elements, outputs, strict=False):
            if element is None:
                continue
            holder = Ref("$result", value.ty)
            parts = [
                (place, value if part is holder else self._evaluator.value(part, {**env, holder.name: value}))
                for place, part in parted(element, holder)
            ]
            for place, part_value in parts:
                self._store(place, part_value, env)

    def _store(self, target: Expr, value: Value, env: Env) -> None:
        if isinstance(target, Ref):
            old = env.get(target.name)
            if old is None:
                env[target.name] = Value(_known(target.ty, value.ty), self._cast(target.ty, value.items))
            elif len(old.items) == len(value.items) or not old.ty.dims:
                env[target.name] = Value(old.ty, self._cast(old.ty, value.items))
            else:
                env[target.name] = Value(value.ty, self._cast(value.ty, value.items))
            return
        try:
            name, places, part_type = self._places(target, env)
        except _Unknown as unknown:
            self._store_somewhere(unknown, target, value, env)
            return
        items = list(env[name].items)
        if len(places) != len(value.items):
            value = Value(part_type, broadcast(value, part_type))
        for place, x in zip(places, value.items, strict=True):
            items[place] = self._cast1(items[place], x, part_type)
        env[name] = Value(env[name].ty, tuple(items))

    def _store_somewhere(self, unknown: _Unknown, target: Expr, value: Value, env: Env) -> None:
        """To an element that is known at run time only: every element asks whether it is the one."""
        old = env[unknown.name]
        if len(unknown.places) != 1 or len(value.items) != 1 or len(old.items) > 64:
            raise Unsupported("an assignment to elements that are not known")
        new = make.to_real(value.items[0]) if target.ty.base == _REAL else value.items[0]
        items = []
        for k, x in enumerate(old.items):
            condition = _is_place(unknown.places[0], k)
            items.append(make.if_(condition, new, x))
        env[unknown.name] = Value(old.ty, tuple(items))

    def _cast(self, ty: Type, items: tuple[Expr, ...]) -> tuple[Expr, ...]:
        if isinstance(ty.base, RecordType):
            return items
        return tuple(make.to_real(x) for x in items) if ty.base == _REAL else items

    def _cast1(self, old: Expr, new: Expr, ty: Type) -> Expr:
        return make.to_real(new) if ty.base == _REAL else new

    def _places(self, target: Expr, env: Env) -> tuple[str, list[int], Type]:
        """Where in the variable's row of scalars the target's scalars stand."""
        if isinstance(target, Ref):
            value = env[target.name]
            return target.name, list(range(len(value.items))), value.ty
        if isinstance(target, Field):
            name, places, ty = self._places(target.base, env)
            return name, *_field_places(places, ty, target.name)
        if isinstance(target, Index):
            name, places, ty = self._places(target.base, env)
            numbers = Value(ty, tuple(Int(i) for i in places))
            holder = "$places"
            picked = self._evaluator.value(Index(Ref(holder, ty), target.subs, target.ty), {**env, holder: numbers})
            chosen = [x.value for x in picked.items if isinstance(x, Int)]
            if len(chosen) != len(picked.items):
                raise _Unknown(name, picked.items)
            return name, chosen, picked.ty
        raise Unsupported("this target of an assignment")

    # ---------------------------------------------------------------------------------------------------- control flow

    def _if(self, s: IfStatement, env: Env) -> Flow:
        branches = [(c, body) for c, body in s.branches]
        return self._branches(branches, s.otherwise, env)

    def _branches(self, branches: list[tuple[Expr, list[Statement]]], otherwise: list[Statement], env: Env) -> Flow:
        if not branches:
            return self.run(otherwise, env)
        condition = self._evaluator.scalar(branches[0][0], env)
        if condition is TRUE:
            return self.run(branches[0][1], env)
        if condition is FALSE:
            return self._branches(branches[1:], otherwise, env)
        outer = self._condition
        then_env, else_env = dict(env), dict(env)
        self._condition = make.and_(outer, condition)
        first = self._guarded(lambda: self.run(branches[0][1], then_env))
        if first is not Flow.ON:
            self._leave(first, then_env)
        self._condition = make.and_(outer, make.not_(condition))
        second = self._guarded(lambda: self._branches(branches[1:], otherwise, else_env))
        if first is Flow.ON and second is not Flow.ON:
            self._leave(second, else_env)
        self._condition = outer
        if first is not Flow.ON:
            env.clear()
            env.update(else_env)
            return second
        if second is not Flow.ON:
            env.clear()
            env.update(then_env)
            return Flow.ON
        merge(condition, then_env, else_env, env, self._loose)
        return Flow.ON

    def _guarded(self, run: Callable[[], Flow]) -> Flow:
        """Under a condition that is not known: the evaluator is told."""
        self._evaluator.conditions += 1
        try:
            return run()
        finally:
            self._evaluator.conditions -= 1

    def _leave(self, flow: Flow, env: Env) -> None:
        """Take a picture of a path that leaves under the present condition."""
        if flow is Flow.BREAK:
            self._breaks[-1].append((self._condition, env))
            return
        broken: Expr = FALSE
        for pictures in self._breaks:
            for condition, _ in pictures:
                broken = make.or_(broken, condition)
        self._returns.append((make.and_(self._condition, make.not_(broken)), env))

    def _for(self, s: ForStatement, env: Env) -> Flow:
        shadowed = env.get(s.name)
        flow = Flow.ON
        self._breaks.append([])
        for element in elements(self._evaluator.value(s.range, env)):
            env[s.name] = element
            flow = self.run(s.body, env)
            if flow is not Flow.ON:
                break
        _settle(self._breaks.pop(), env, self._loose)
        env.pop(s.name, None)
        if shadowed is not None:
            env[s.name] = shadowed
        return Flow.RETURN if flow is Flow.RETURN else Flow.ON

    def _while(self, s: WhileStatement, env: Env) -> Flow:
        self._breaks.append([])
        try:
            return self._while_on(s, env)
        finally:
            _settle(self._breaks.pop(), env, self._loose)

    def _while_on(self, s: WhileStatement, env: Env) -> Flow:
        while True:
            condition = self._evaluator.scalar(s.condition, env)
            if condition is FALSE:
                return Flow.ON
            if condition is not TRUE:
                raise Unsupported("a while loop")
            flow = self.run(s.body, env)
            if flow is Flow.BREAK:
                return Flow.ON
            if flow is Flow.RETURN:
                return flow

    def _when(self, s: WhenStatement, env: Env) -> None:
        if self._effects is None:
            raise Unsupported("when in a function")
        taken: Expr = FALSE
        for condition, body in s.branches:
            conditions = self._evaluator.value(condition, env).items
            guard: Expr = FALSE
            for c in conditions:
                guard = make.or_(guard, Builtin("$when", (c,), BOOLEAN))
            guard_here = make.and_(guard, make.not_(taken)) if taken is not FALSE else guard
            inside = dict(env)
            outer, self._guard = self._guard, guard_here
            flow = self.run(body, inside)
            self._guard = outer
            if flow is not Flow.ON:
                raise Unsupported("break or return in a when")
            merge(guard_here, inside, dict(env), env, self._loose)
            taken = make.or_(taken, guard)


def reinits(s: Reinit, target: Value, value: Value) -> Iterator[Reinit]:
    """A `reinit` of each element."""
    for t, v in zip(target.items, broadcast(value, target.ty), strict=True):
        yield Reinit(t, make.to_real(v), s.origin)


_REAL = Type(make.ZERO.ty.base).base


def _known(declared: Type, assigned: Type) -> Type:
    return assigned if any(d is None for d in declared.dims) else declared


def _settle(pictures: list[tuple[Expr, Env]], env: Env, loose: frozenset[str]) -> None:
    """Merge the paths that left earlier into what the last one gives."""
    for condition, picture in reversed(pictures):
        merge(condition, picture, dict(env), env, loose)


def merge(condition: Expr, a: Env, b: Env, into: Env, loose: frozenset[str]) -> None:
    """`into` := a where the condition holds, else b."""
    for name, x in a.items():
        y = b.get(name)
        if y is None or y is x:
            into[name] = x
            continue
        if len(x.items) != len(y.items):
            raise Unsupported("arrays whose sizes depend on a condition")
        either = make.if_ if x.ty.dims or isinstance(x.ty.base, RecordType) or name in loose else _either
        into[name] = Value(x.ty, tuple(either(condition, p, q) for p, q in zip(x.items, y.items, strict=True)))
    for name, y in b.items():
        if name not in a:
            into[name] = y


def _either(condition: Expr, a: Expr, b: Expr) -> Expr:
    """Of a scalar that is never read without a value: so the other path speaks for both."""
    if is_unset(a):
        return b
    if is_unset(b):
        return a
    return make.if_(condition, a, b)


def _field_places(places: list[int], ty: Type, name: str) -> tuple[list[int], Type]:
    base = ty.base
    assert isinstance(base, RecordType)
    at = 0
    for field_name, field_type in base.fields:
        n = size(field_type)
        if field_name == name:
            step = width(ty.scalar())
            inside = [p for i in range(0, len(places), step) for p in places[i + at : i + at + n]]
            return inside, field_type.array_of(*shape(ty))
        at += n
    raise Unsupported(f"no field {name}")
