"""Which variables of a function may be used before they have a value (MLS 12.4.4): definite assignment.

Along every path through the statements: what is assigned for certain.  An array or record counts as assigned once a
part of it is; which part is not followed.  What one `if` assigned has its value where another asks the same.  Numbers
that are plain from the statements before decide conditions, and the first turn of a loop is looked at apart: `if n ==
1` in it assigns for all turns.  A flag that is set beside a variable (`found := true`) tells that it has a value.  A
path ends at `return`, at `assert(false, ...)` and at a call that never returns.
Cost: every statement once, twice for each loop with an `if` in it, and for each round in which its flags turn out not
to keep what they promise.
J. Gosling et al., The Java Language Specification, chapter 16.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kilohertz.base import Origin
from kilohertz.ir import make
from kilohertz.ir.expr import (
    FALSE,
    TRUE,
    Binary,
    Bool,
    Builtin,
    Call,
    Colon,
    Comprehension,
    Enum,
    Expr,
    Field,
    IfExp,
    Index,
    Int,
    Range,
    Real,
    Ref,
)
from kilohertz.ir.flat import (
    Assert,
    Assign,
    Break,
    CallEquation,
    ForStatement,
    Function,
    IfStatement,
    Local,
    Return,
    Statement,
    Terminate,
    TupleTarget,
    WhileStatement,
)
from kilohertz.ir.types import EnumType, ExternalObjectType, FunctionType

_NO_RETURN = frozenset({"ModelicaError", "ModelicaFormatError", "ModelicaVFormatError"})  # MLS 12.9.6.1
_PLAIN = (Int, Real, Bool, Enum)
_SIZES = frozenset({"size", "ndims"})  # of a variable: known before it has a value
# Names that have a value, and pairs: a condition under which a name has one, or a name and the number that it is.
Names = frozenset[str | tuple[Expr, str] | tuple[str, Expr]]


@dataclass(frozen=True, slots=True)
class UnsetUse:
    """A variable that may have no value where it is used: a statement reads it, or None: it is returned at the end."""

    local: Local
    statement: Statement | None
    origin: Origin


def unset_uses(f: Function, functions: Mapping[str, Function], lenient: bool) -> list[UnsetUse]:
    """Every use of an output or local, in order, that some path reaches without a value for it.

    `lenient`: as one who reads the function would see it.  Loops run at least once, a `while` until it has found what
    it sets, lists of cases are complete, an `if` reads what an earlier one set only where that did, arrays whose size
    the inputs tell are empty where nothing sets them, unless an element of one is read that is only set as a whole.
    """
    if f.external is not None or f.partial_of or f.is_record_constructor:
        return []
    paths = _Paths(f, functions, lenient)
    end = paths.block(f.body, paths.at_first())
    if end is not None:
        paths.returned(end, None, f.origin)
    return list(paths.uses.values())


@dataclass(slots=True)
class _Paths:
    """Walks statements with the names assigned so far; None where no path comes."""

    function: Function
    functions: Mapping[str, Function]
    lenient: bool
    uses: dict[tuple[str, int], UnsetUse] = field(default_factory=dict)  # by name and statement
    watched: dict[str, Local] = field(default_factory=dict)
    sized: dict[str, Local] = field(default_factory=dict)  # may be empty, set as a whole: elements are watched
    breaks: list[list[Names]] = field(default_factory=list)
    met: set[str] = field(default_factory=set)  # names assigned on any path so far
    n_ifs: int = 0  # around

    def __post_init__(self) -> None:
        for v in (*self.function.outputs, *self.function.locals):
            if v.default is not None or 0 in v.ty.dims or isinstance(v.ty.base, ExternalObjectType | FunctionType):
                continue
            if not self.lenient or None not in v.ty.dims:
                self.watched[v.name] = v
            elif v.name not in set_in_parts(self.function):
                self.sized[v.name] = v

    def at_first(self) -> Names:
        """What declarations tell."""
        given: Names = frozenset()
        for v in (*self.function.outputs, *self.function.locals):
            if isinstance(v.default, _PLAIN):
                given |= {(v.name, v.default)}
            if isinstance(v.default, Bool):
                given |= self._flagged(Ref(v.name, v.ty), v.default.value, frozenset())
        return given

    def returned(self, done: Names, statement: Statement | None, origin: Origin) -> None:
        for v in self.function.outputs:
            if v.name in self.watched and v.name not in done:
                self._note(v, statement, origin)

    def _note(self, v: Local, statement: Statement | None, origin: Origin) -> None:
        self.uses.setdefault((v.name, id(statement)), UnsetUse(v, statement, origin))

    def block(self, body: list[Statement], done: Names) -> Names | None:
        for s in body:
            after = self._statement(s, done)
            if after is None:
                return None
            done = after
        return done

    def _statement(self, s: Statement, done: Names) -> Names | None:
        match s:
            case Assign(target, value):
                return self._assign(s, target, value, done)
            case IfStatement():
                return self._if(s, done)
            case ForStatement() | WhileStatement():
                return self._loop(s, done)
            case Break():
                self.breaks[-1].append(done)
                return None
            case Return(origin):
                self.returned(done, s, origin)
                return None
            case Assert(condition, message):
                self._read(s, (condition, message) if condition is not FALSE else (message,), done)
                return None if condition is FALSE else done
            case Terminate():
                return None
            case CallEquation(call):
                self._read(s, (call,), done)
                return None if isinstance(call, Call) and _never_returns(call.function, self.functions) else done
            case _:
                return done

    def _read(self, s: Statement, expressions: tuple[Expr, ...], done: Names) -> None:
        """Note the variables that expressions of a statement read without a value, once for each statement."""
        for e in expressions:
            for name in names_read(e, surely=self.lenient):
                if self.lenient and self.n_ifs > 0 and name in self.met:
                    continue
                if name in self.watched and name not in done:
                    self._note(self.watched[name], s, s.origin)
            for name in _elements_read(e) if self.sized else ():
                if name in self.sized and name not in done and not (self.n_ifs > 0 and name in self.met):
                    self._note(self.sized[name], s, s.origin)

    def _assign(self, s: Statement, target: Expr | TupleTarget, value: Expr, done: Names) -> Names:
        targets = [t for t in target.elements if t is not None] if isinstance(target, TupleTarget) else [target]
        inside = tuple(e for t in targets for e in subscripts(t))
        self._read(s, (value, *inside), done)
        written = {root(t) for t in targets}
        self.met |= written
        after = _kept(done, written) | written
        if not isinstance(target, Ref):
            return after
        number = _decided(value, done)
        if isinstance(number, Bool):
            after |= self._flagged(target, number.value, after)
        return after | {(target.name, number)} if isinstance(number, _PLAIN) else after

    def _flagged(self, flag: Ref, value: bool, after: Names) -> Names:
        """`found := true` beside what is found: wherever it holds later, that has a value; `false` promises nothing."""
        names = [name for name in after if isinstance(name, str)]
        opposite = make.not_(flag)
        holds, fails = (flag, opposite) if value else (opposite, flag)
        return frozenset({(holds, name) for name in names} | {(fails, name) for name in self.watched})

    def _if(self, s: IfStatement, done: Names) -> Names | None:
        ends: list[Names] = []
        pairs: set[tuple[Expr, str]] = set()
        around = done
        for k, (condition, body) in enumerate(s.branches):
            self._read(s, (condition,), around)
            decided = _decided(condition, around)
            if decided is FALSE:
                self.met |= set(_targets(body))
                continue
            end = self._end(body, _under(condition, around), ends)
            if decided is TRUE:
                return _on_all(ends)
            if k == 0:  # a later branch is not taken whenever its condition holds
                pairs |= {(condition, name) for name in end if isinstance(name, str)}
            around = _under(make.not_(condition), around)
        conditions = [c for c, _ in s.branches]
        if not _is_complete(conditions) and (s.otherwise or not (self.lenient and _is_list(conditions))):
            end = self._end(s.otherwise, around, ends)
            if len(s.branches) == 1:
                pairs |= {(make.not_(s.branches[0][0]), name) for name in end if isinstance(name, str)}
        after = _on_all(ends)
        return None if after is None else after | _kept(frozenset(pairs), set(_targets([s])))

    def _end(self, body: list[Statement], done: Names, ends: list[Names]) -> Names:
        """What a branch leads to, which joins `ends`; nothing where it leads nowhere."""
        self.n_ifs += 1
        end = self.block(body, done)
        self.n_ifs -= 1
        if end is None:
            return frozenset()
        ends.append(end)
        return end

    def _loop(self, s: ForStatement | WhileStatement, done: Names) -> Names | None:
        over = s.range if isinstance(s, ForStatement) else s.condition
        self._read(s, (over,), done)
        self.breaks.append([])
        end = self._turns(s, done)
        ends = self.breaks.pop()
        if isinstance(s, WhileStatement) and over is TRUE:
            return _on_all(ends)  # only a break leads on
        if end is not None:
            ends.append(end)
        if not self.lenient and not _is_filled(_decided(over, done)):
            ends.append(done)
        after = _on_all(ends)
        if after is not None and self.lenient and isinstance(s, WhileStatement):
            after |= set(_targets(s.body))
        return after

    def _turns(self, s: ForStatement | WhileStatement, done: Names) -> Names | None:
        """What the last turn of a loop leads to: of any of them, or where an `if` may tell the first one, of that."""
        written = set(_targets(s.body))
        end: Names | None = None
        if any(isinstance(one, IfStatement) for one in s.body):
            first = done
            if isinstance(s, ForStatement) and isinstance(s.range, Range) and isinstance(s.range.first, Int):
                written.add(s.name)
                first = _kept(done, {s.name}) | {(s.name, s.range.first)}
            end = self.block(s.body, first)
            if end is None:
                return None
        later = self._later(s.body, done if end is None else end, written)
        return later if end is None else end if later is None else end & later

    def _later(self, body: list[Statement], done: Names, written: set[str]) -> Names | None:
        """What any further turn leads to; what a flag promised before it serves where the turn keeps the promise."""
        plain = _kept(done, written)
        promised = frozenset(one for one in done - plain if isinstance(one, tuple) and isinstance(one[0], Expr))
        while promised:
            later = self.block(body, plain | promised)
            if later is None or promised <= later:
                return later
            promised &= later
        return self.block(body, plain)


def set_in_parts(f: Function) -> frozenset[str]:
    """Arrays and records of which some statement sets elements or fields."""
    return frozenset(root(t) for t in places_set(f.body) if not isinstance(t, Ref))


def set_whole(f: Function) -> frozenset[str]:
    """Variables that some statement sets as a whole."""
    return frozenset(t.name for t in places_set(f.body) if isinstance(t, Ref))


def _targets(body: list[Statement]) -> Iterator[str]:
    """Names assigned somewhere in statements."""
    yield from (root(t) for t in places_set(body))


def places_set(body: Sequence[Statement]) -> Iterator[Expr]:
    """Targets of all assignments in statements."""
    stack = list(body)
    while stack:
        match stack.pop():
            case Assign(TupleTarget(elements)):
                yield from (t for t in elements if t is not None)
            case Assign(target):
                assert isinstance(target, Expr)
                yield target
            case IfStatement(branches, otherwise):
                stack += [s for _, inner in branches for s in inner] + otherwise
            case ForStatement(_, _, inner) | WhileStatement(_, inner):
                stack += inner
            case _:
                continue


def _on_all(ends: list[Names]) -> Names | None:
    return frozenset.intersection(*ends) if ends else None


def _under(condition: Expr, done: Names) -> Names:
    """What has a value once a condition is known to hold."""
    holding = [condition]
    for c in holding:
        if isinstance(c, Binary) and c.op == "and":
            holding += (c.left, c.right)
    named = (one for one in done if isinstance(one, tuple))
    return done | {name for c, name in named if isinstance(name, str) and c in holding}


def _kept(done: Names, written: set[str]) -> Names:
    """Without pairs whose condition reads, or whose number is of what is written."""
    return frozenset(one for one in done if isinstance(one, str) or not written & _of_pair(one[0]))


def _of_pair(first: Expr | str) -> set[str]:
    return {first} if isinstance(first, str) else set(names_read(first))


def _decided(e: Expr, done: Names) -> Expr:
    """An expression with the numbers that its names are known to be."""
    numbers = {one[0]: one[1] for one in done if isinstance(one, tuple) and isinstance(one[0], str)}
    return make.substitute(e, numbers) if numbers else e


def _is_filled(over: Expr) -> bool:
    """A range or array that is known to have an element, or a condition that holds at first."""
    if over is TRUE:
        return True
    if isinstance(over, Range) and isinstance(over.first, Int) and isinstance(over.last, Int) and over.step is None:
        return over.first.value <= over.last.value
    return any(d is not None and d > 0 for d in over.ty.dims[:1])


def _is_complete(conditions: list[Expr]) -> bool:
    """One condition is another's opposite, or one variable is compared with every literal of its enumeration."""
    if any(make.not_(c) in conditions for c in conditions):
        return True
    alternatives = list(conditions)
    for c in alternatives:
        if isinstance(c, Binary) and c.op == "or":
            alternatives += (c.left, c.right)
    cases = _cases(alternatives)
    return any(isinstance(e.ty.base, EnumType) and len(cases[e]) == len(e.ty.base.literals) for e in cases)


def _is_list(conditions: list[Expr]) -> bool:
    """One variable is compared with several numbers or literals: who writes such a list takes them for all."""
    return len(conditions) > 1 and [len(of) for of in _cases(conditions).values()] == [len(conditions)]


def _cases(conditions: list[Expr]) -> dict[Expr, set[Expr]]:
    """What variables are compared with."""
    cases: dict[Expr, set[Expr]] = {}
    for c in conditions:
        if isinstance(c, Binary) and c.op == "==" and isinstance(c.right, Enum | Int):
            cases.setdefault(c.left, set()).add(c.right)
    return cases


def names_read(e: Expr, surely: bool = False) -> Iterator[str]:
    """Variables whose values an expression needs; that of `size(a, 1)` is none.  `surely`: whatever is chosen in it."""
    bound: set[str] = set()
    seen: set[Expr] = set()
    stack = [e]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if isinstance(node, Ref):
            if node.name not in bound:
                yield node.name
            continue
        if isinstance(node, Comprehension):
            bound.update(name for name, _ in node.iterators)
        stack += _needed(node, surely)


def _elements_read(e: Expr) -> Iterator[str]:
    """Arrays of which an expression needs an element or a row, whatever is chosen in it."""
    seen: set[Expr] = set()
    stack = [e]
    while stack:
        node = stack.pop()
        if node in seen or isinstance(node, Comprehension):
            continue
        seen.add(node)
        is_part = isinstance(node, Index) and any(not n.ty.dims and not isinstance(n, Colon) for n in node.subs)
        if is_part and isinstance(node, Index) and isinstance(node.base, Ref):
            yield node.base.name
        stack += _needed(node, surely=True)


def _needed(node: Expr, surely: bool) -> tuple[Expr, ...]:
    children = node.children()
    if isinstance(node, Builtin) and node.name in _SIZES:
        return children[1:]
    is_choice = isinstance(node, IfExp) or (isinstance(node, Binary) and node.op in ("and", "or"))
    return children[:1] if surely and is_choice else children


def subscripts(target: Expr) -> Iterator[Expr]:
    """The expressions that say which part of a variable a target is."""
    while isinstance(target, Index | Field):
        if isinstance(target, Index):
            yield from target.subs
        target = target.base


def root(target: Expr) -> str:
    """The variable that a target is, or is a part of."""
    while isinstance(target, Index | Field):
        target = target.base
    assert isinstance(target, Ref)
    return target.name


def _never_returns(id: str, functions: Mapping[str, Function]) -> bool:
    """Whether a function only ever fails."""
    f = functions.get(id)
    if f is None:
        return False
    if f.external is not None:
        return f.external.symbol in _NO_RETURN
    last = f.body[-1] if f.body else None
    if isinstance(last, CallEquation) and isinstance(last.call, Call) and last.call.function != id:
        return _never_returns(last.call.function, functions)
    return isinstance(last, Assert) and last.condition is FALSE
