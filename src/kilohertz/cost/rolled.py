"""Equal statements one after the other: one loop over indices instead of each written out.

  xd[1] := (x[0] - x[1])/p[0]
  xd[2] := (x[1] - x[2])/p[0]        for i in 0 .. n - 1:  xd[1 + i] := (x[i] - x[1 + i])/p[0]
  xd[3] := (x[2] - x[3])/p[0]

Two statements have one shape where they differ in the places of their variables, in numbers that are terms or factors,
and in nothing else.  A few statements that come again and again in the same order are rolled together, each turn in the
order that they had: the same operations in the same order, so the same bits.  What may fail names its block, and is
left as it is.  Every statement is walked over once; a turn has few statements, so that finding it is linear too.  Lists
in which not even the outermost operations come again so often are not walked over at all.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import eq
from typing import TypeAlias

from kilohertz.ir import expr as x
from kilohertz.ir.expr import Expr
from kilohertz.ir.scopes import may_fail
from kilohertz.ir.step import Kind, Slot, StepVariable
from kilohertz.ir.traverse import bottom_up
from kilohertz.ir.types import STRING

# turns: with fewer of them, code for real time is faster written out, since neighbours share what they have in common;
# off-line the C compiler's time counts
LEAST, LEAST_OFF_LINE = 300, 100
_LONGEST = 64  # statements of a turn
_CANDIDATES = 6  # statements of one shape that a turn may have
_LARGEST = 4000  # nodes of a statement

Cell: TypeAlias = tuple[Kind | str, int]  # an area of the instance, or an array in C, and a place in it; "": a number
Leaf: TypeAlias = x.Ref | x.Real
_Shape: TypeAlias = tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class Listed:
    """What is written in C for one of many: how it is spelled, places that it sets or names, what it computes."""

    form: Hashable
    cells: tuple[Cell, ...]
    roots: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Roll:
    """`turns` times the same `size` statements, from number `first` of a list on."""

    first: int
    size: int
    turns: int
    leaves: tuple[tuple[Leaf, ...], ...]  # of each statement

    @property
    def end(self) -> int:
        return self.first + self.size * self.turns

    @property
    def n_places(self) -> int:
        """Variables and numbers that a turn names."""
        return sum(map(len, self.leaves[: self.size]))


class Shapes:
    """Numbers shapes of statements over some variables; `least` turns are rolled."""

    def __init__(self, variables: Mapping[str, StepVariable], is_off_line: bool = False) -> None:
        self.is_off_line = is_off_line
        self.least = LEAST_OFF_LINE if is_off_line else LEAST
        self._variables = variables
        self._numbers: dict[_Shape, int] = {}
        self._others: dict[str, Cell] = {}  # names that stand for no variable of the model

    def root(self, e: Expr) -> Expr:
        """What a statement computes, with names for what stands in areas of its own."""
        return e

    def outline(self, e: Expr) -> Hashable:
        """What is the same in all roots of one shape, without walking over them: `e` is to become one."""
        parts = e.children()
        return type(e), *(getattr(part, "op", "") for part in (e, *parts)), *map(type, parts)

    def slot(self, ref: x.Ref) -> Slot:
        return self._variables[ref.name].slot

    def cell(self, ref: x.Ref) -> Cell | None:
        """Where a variable stands; time has no place."""
        variable = self._variables.get(ref.name)
        return self._others.get(ref.name) if variable is None else (variable.slot.kind, variable.slot.index)

    def of(self, statement: Listed) -> tuple[int, tuple[Leaf, ...]] | None:
        """The number of its shape, and what it differs in from others of this shape; None where it is not rolled."""
        found = self._walked(statement.roots, frozenset())
        if found is None:
            return None
        tokens, leaves, literal = found
        mixed = literal.intersection(leaves)
        if mixed:  # a number that is an exponent and a factor stays a number
            again = self._walked(statement.roots, frozenset(mixed))
            assert again is not None
            tokens, leaves, _ = again
        shape = (statement.form, tuple(area for area, _ in statement.cells), tuple(tokens))
        return self._numbers.setdefault(shape, len(self._numbers)), tuple(leaves)

    def _walked(
        self, roots: tuple[Expr, ...], fixed: frozenset[Expr]
    ) -> tuple[list[Hashable], list[Leaf], set[Expr]] | None:
        """Nodes from the roots down, each once; those that may differ apart; and numbers that belong to the shape."""
        tokens: list[Hashable] = []
        leaves: list[Leaf] = []
        literal: set[Expr] = set()
        number: dict[Expr, int] = {}
        stack = list(roots)
        while stack:
            e = stack.pop()
            if e in number:
                tokens.append(number[e])
                continue
            number[e] = len(number)
            if type(e) is x.Ref:
                variable = self._variables.get(e.name)
                area = variable.slot.kind if variable is not None else self._others.get(e.name, ("", 0))[0]
                tokens.append(area or e)
                leaves += (e,) if area else ()
            elif type(e) is x.Real and e not in fixed:
                tokens.append(x.Real)
                leaves.append(e)
            else:
                token, operands, inside = _parts(e)
                if token is None or len(number) > _LARGEST:
                    return None
                tokens.append(token)
                literal.update(inside)
                stack.extend(operands)
        return tokens, leaves, literal


_Parts: TypeAlias = tuple[Hashable | None, Sequence[Expr], Sequence[x.Real]]
_NONE: _Parts = None, (), ()


def _parts(e: Expr) -> _Parts:
    """What a node is besides its operands (None: it may fail, or is more than a number); the operands that are looked
    at; numbers among the others, which belong to the shape: how a power or a function is spelled depends on them."""
    if may_fail(e):
        return _NONE
    match e:
        case x.Real() | x.Int() | x.Bool() | x.Enum():
            return e, (), ()
        case x.Binary("^", base, x.Real() as exponent):
            return ("^", exponent), (base,), (exponent,)
        case x.Binary(op, left, right):
            return ((op, left.ty), (left, right), ()) if left.ty is not STRING else _NONE
        case x.Unary(op, operand):
            return ("unary", op), (operand,), ()
        case x.IfExp():
            return ("if", e.children(), ()) if e.ty is not STRING else _NONE
        case x.Builtin(name, args):
            if e.ty is STRING:
                return _NONE
            numbers = [a for a in args if type(a) is x.Real]
            token = (name, e.ty, *(a if type(a) is x.Real else a.ty for a in args))
            return token, [a for a in args if type(a) is not x.Real], numbers
        case _:
            return _NONE


def rolls(statements: Sequence[Listed | None], shapes: Shapes) -> Iterator[Roll]:
    """What is rolled of a list, in order; None: a statement that is not."""
    if not may_repeat((None if one is None else _outline(one, shapes) for one in statements), len(statements), shapes):
        return
    found = [None if one is None else shapes.of(one) for one in statements]
    ids = [-1 - k if shape is None else shape[0] for k, shape in enumerate(found)]
    following = _following(ids)
    ends: dict[int, int] = {}
    at = 0
    while at + shapes.least <= len(ids):
        size, turns = _repeated(ids, following, ends, at, shapes.least)
        if turns < shapes.least:
            at += 1
            continue
        end = at + size * turns
        yield Roll(at, size, turns, tuple(shape[1] for shape in found[at:end] if shape is not None))
        at = end


def may_repeat(outlines: Iterable[Hashable | None], n: int, shapes: Shapes) -> bool:
    """Whether a few of n come again and again at once, often enough to be rolled; None: one that is like no other."""
    least = shapes.least
    if n < least:
        return False
    numbers: dict[Hashable, int] = {}
    ids = [-1 - k if o is None else numbers.setdefault(o, len(numbers)) for k, o in enumerate(outlines)]
    for size in range(1, min(_LONGEST, len(ids) // least) + 1):
        if b"\1" * ((least - 1) * size) in bytes(map(eq, ids, ids[size:])):
            return True
    return False


def _outline(one: Listed, shapes: Shapes) -> Hashable:
    return one.form, tuple(area for area, _ in one.cells), *(shapes.outline(root) for root in one.roots)


def steady(statements: Sequence[Listed], roll: Roll, shapes: Shapes) -> Iterator[Expr]:
    """The largest parts of a turn that are the same in every turn; in a branch as well: nothing of it can fail."""
    varying: set[Expr] = set()
    for k in range(roll.size):
        for leaf, values in zip(roll.leaves[k], zip(*roll.leaves[k :: roll.size], strict=True), strict=True):
            varying.update((leaf,) if any(value is not leaf for value in values) else ())
    cells = {cell for one in statements for cell in one.cells}

    def differs(e: Expr, below: list[bool]) -> bool:
        if isinstance(e, x.Ref):
            return e in varying or shapes.cell(e) in cells
        return e in varying or any(below)

    memo: dict[Expr, bool] = {}
    seen: set[Expr] = set()
    stack = [root for one in statements[: roll.size] for root in one.roots][::-1]
    while stack:
        e = stack.pop()
        if e in seen:
            continue
        seen.add(e)
        if bottom_up(e, differs, memo):
            stack.extend(e.children())
        elif e.children():
            yield e


def _following(ids: list[int]) -> list[int]:
    """For each statement the next one of its shape; 0: there is none."""
    next_of: dict[int, int] = {}
    following = [0] * len(ids)
    for k in range(len(ids) - 1, -1, -1):
        following[k] = next_of.get(ids[k], 0)
        next_of[ids[k]] = k
    return following


def _repeated(ids: list[int], following: list[int], ends: dict[int, int], at: int, least: int) -> tuple[int, int]:
    """How many statements from one on come again at once, and how often they stand there.

    `ends`: by size, where statements last ceased to be those before; what lies before that is not compared again.
    """
    other = at
    for _ in range(_CANDIDATES):
        other = following[other]
        size = other - at
        if not 0 < size <= _LONGEST:
            break
        end = ends.get(size, 0)
        if end < other:
            end = other
            while end < len(ids) and ids[end] == ids[end - size]:
                end += 1
            ends[size] = end
        turns = (end - at) // size
        if turns >= least:
            return size, turns
    return 1, 1
