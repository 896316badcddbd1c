"""How the residuals of a torn loop move with each unknown that is guessed, through what is computed inside.

  w := g(z);  f(z, w)                       ->  df/dz + df/dw * dg/dz                      an expression
  A(z) y = b(z) inside, f(z, y)             ->  A dy = db - dA y for each guessed z        a linear system, in `rates`
  F(y, z) = 0 inside                        ->  dF/dy dy = -dF/dz                          likewise, with its Jacobian

The systems have the matrix of the loop inside, which is factorised already.  Their right-hand sides are the residuals
of that loop, differentiated with its unknowns at rest: cheaper than to differentiate a matrix.  Forward mode; what
does not move with an unknown costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from kilohertz.ir import make
from kilohertz.ir.expr import Call, Expr, Item, Ref
from kilohertz.ir.step import (
    Assignment,
    CallBlock,
    Entry,
    Inner,
    LinearLoop,
    NonlinearLoop,
    expressions,
    targets,
)
from kilohertz.ir.types import REAL, TupleType
from kilohertz.passes.algebra import Occurrence, cost, linear_coefficient, simplify, substitute
from kilohertz.passes.derivative import Differentiator, NoDerivative
from kilohertz.passes.ordered.long_sums import LongSum

Thing = TypeVar("Thing")
CallRule = Callable[[Call, list[Expr], int | None], Expr]
Form = tuple[Sequence[Inner], Sequence[Expr]]  # of a loop: what follows from its unknowns, and what must vanish


@dataclass(slots=True)
class Columns:
    """Derivatives of loops; `fresh` makes variables."""

    occurrence: Occurrence
    call_rule: CallRule | None
    fresh: Callable[[], Ref] | None = None
    _simple: dict[Expr, Expr] = field(default_factory=dict)  # rates go through all that follows: simplified once
    _sums: dict[Expr, LongSum | None] = field(default_factory=dict)

    def entries(
        self, guessed: Sequence[Ref], inner: Sequence[Inner], residuals: Sequence[Expr]
    ) -> tuple[tuple[Entry, ...], tuple[LinearLoop, ...]] | None:
        """d residuals / d guessed and the systems to solve before; None where a function has no derivative."""
        slopes: list[Entry] = []
        rates: list[LinearLoop] = []
        masks, touched = self._touched(guessed, inner, residuals)
        moving = _by_bit(masks, inner, len(guessed))
        moved = _by_bit(touched, list(enumerate(residuals)), len(guessed))
        try:
            for j, z in enumerate(guessed):
                column = _Column(self, z)
                column.blocks(moving[j])
                slopes += [Entry(i, j, rate) for i, e in moved[j] if (rate := column.rate(e)) is not make.ZERO]
                rates += column.rates
        except NoDerivative:
            return None
        return tuple(sorted(slopes, key=lambda e: (e.row, e.column))), tuple(rates)

    def form(self, b: LinearLoop) -> Form:
        """The residuals a linear loop was made from, or those of its matrix (one equation with a coefficient that may
        vanish is written as one at once)."""
        if b.residuals:
            return b.through, b.residuals
        residuals = [make.neg(e) for e in b.rhs]
        for entry in b.matrix:
            part = make.mul(entry.value, b.unknowns[entry.column])
            residuals[entry.row] = make.add(residuals[entry.row], part)
        return b.inner, residuals

    def long_sum(self, e: Expr) -> LongSum | None:
        """The terms of an expression, where it is a sum of many."""
        if e not in self._sums:
            self._sums[e] = LongSum.of(e, self.occurrence)
        return self._sums[e]

    def coefficient(self, e: Expr, name: str) -> Expr | None:
        """`linear_coefficient`, of long sums by the terms with the name alone."""
        terms = self.long_sum(e)
        moving = None if terms is None else terms.moving((name,))
        return linear_coefficient(e, name) if moving is None else moving.coefficient(name)

    def simplified(self, e: Expr) -> Expr:
        return simplify(e, self._simple)

    def sparsity(
        self, guessed: Sequence[Ref], inner: Sequence[Inner], residuals: Sequence[Expr]
    ) -> tuple[tuple[int, int], ...]:
        """(residual, guessed) pairs that may depend on each other."""
        _, touched = self._touched(guessed, inner, residuals)
        return tuple((i, j) for i, mask in enumerate(touched) for j in _bits(mask))

    def _touched(
        self, guessed: Sequence[Ref], inner: Sequence[Inner], residuals: Sequence[Expr]
    ) -> tuple[list[int], list[int]]:
        """For each block inside and for each residual a bit for each unknown that it may depend on; all bits for blocks
        that are no assignments."""
        touched: dict[str, int] = {z.name: 1 << j for j, z in enumerate(guessed)}
        blocks: list[int] = []
        for b in inner:
            mask = self._mask(_inputs(b), touched)
            touched.update(dict.fromkeys((t.name for t in targets(b)), mask))
            blocks.append(mask if isinstance(b, Assignment) else (1 << len(guessed)) - 1)
        return blocks, [self._mask((e,), touched) for e in residuals]

    def _mask(self, read: Iterable[Expr], touched: Mapping[str, int]) -> int:
        mask = 0
        for e in read:
            for n in self.occurrence.names(e):
                mask |= touched.get(n, 0)
        return mask


def _bits(mask: int) -> Iterator[int]:
    """Those that are set, from the lowest on."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def _by_bit(masks: Sequence[int], things: Sequence[Thing], n: int) -> list[list[Thing]]:
    """For each bit the things whose mask has it, in order."""
    found: list[list[Thing]] = [[] for _ in range(n)]
    for mask, thing in zip(masks, things, strict=True):
        for j in _bits(mask):
            found[j].append(thing)
    return found


class _Column:
    """How everything moves with one unknown."""

    def __init__(self, owner: Columns, z: Ref) -> None:
        self._owner = owner
        self._rates: dict[str, Expr] = {z.name: make.ONE}
        self._differentiate = Differentiator(lambda r: self._rates.get(r.name, make.ZERO), owner.call_rule)
        self.rates: list[LinearLoop] = []

    def rate(self, e: Expr) -> Expr:
        terms = self._owner.long_sum(e)
        moving = None if terms is None else terms.moving(self._rates)
        if moving is not None:
            return self._owner.simplified(moving.rate(self._differentiate))
        if not any(n in self._rates for n in self._owner.occurrence.names(e)):
            return make.ZERO
        return self._owner.simplified(self._differentiate(e))

    def blocks(self, blocks: Sequence[Inner]) -> None:
        for b in blocks:
            match b:
                case LinearLoop():
                    self._loop(b, b.matrix, *self._owner.form(b))
                case NonlinearLoop():
                    self._loop(b, b.jacobian, b.inner, b.residuals)
                case _:
                    self._plain(b)

    def _plain(self, b: Inner) -> None:
        for target, value in inner_values(b):
            rate = self.rate(value)
            if rate is not make.ZERO:
                self._rates[target.name] = rate

    def _loop(
        self,
        b: LinearLoop | NonlinearLoop,
        matrix: tuple[Entry, ...] | None,
        inner: Sequence[Inner],
        residuals: Sequence[Expr],
    ) -> None:
        """Solve for the rates of the unknowns; then those of what follows from them."""
        before = dict(self._rates)
        self.blocks(inner)  # with the unknowns at rest
        rhs = [self._owner.simplified(make.neg(self.rate(e))) for e in residuals]
        self._restart(before)
        if all(e is make.ZERO for e in rhs):
            return
        if matrix is None or self._owner.fresh is None:
            raise NoDerivative("a loop inside a loop")
        directions = tuple(self._owner.fresh() for _ in b.unknowns)
        total = cost(rhs) + len(directions) ** 2
        p = b.partition
        loop = LinearLoop(directions, matrix, tuple(rhs), (), p, p, total, b.origin, b.unknowns)
        if isinstance(b, LinearLoop):
            loop = replace(loop, symmetric=b.symmetric, pivots=b.pivots)
        self.rates.append(loop)
        self._restart(before | {u.name: d for u, d in zip(b.unknowns, directions, strict=True)})
        self.blocks(inner)

    def _restart(self, rates: dict[str, Expr]) -> None:
        self._rates.clear()
        self._rates.update(rates)
        self._differentiate = Differentiator(lambda r: self._rates.get(r.name, make.ZERO), self._owner.call_rule)


def inner_values(b: Inner) -> list[tuple[Ref, Expr]]:
    """What a block computes, as expressions that can be differentiated."""
    if isinstance(b, Assignment):
        return [(b.target, b.value)]
    if not isinstance(b, CallBlock) or b.guard is not None:
        raise NoDerivative("a guarded call")
    whole = b.call.ty
    several = isinstance(whole.base, TupleType)
    types = whole.base.elements if isinstance(whole.base, TupleType) else (whole,)
    values: list[tuple[Ref, Expr]] = []
    for k, output in enumerate(b.targets):
        real = [t for t in output if t is not None and t.ty == REAL]
        if real and types[k] != REAL:  # an array, even of one element, or a record
            raise NoDerivative(b.call.function)
        values += [(t, Item(b.call, k) if several else b.call) for t in real]
    return values


def through(inner: Sequence[Assignment], roots: Sequence[Expr], values: dict[str, Expr]) -> list[Expr]:
    """Expressions with the inner assignments put in, starting from given values.

    Substitution adds names as it goes, so the memo must not outlive a change: each inner value is substituted with the
    names known before it, which are all it can contain.
    """
    memo: dict[Expr, Expr] = {}
    for b in inner:
        values[b.target.name] = substitute(b.value, values, memo)
    return [substitute(e, values, memo) for e in roots]


def _inputs(b: Inner) -> Iterator[Expr]:
    """What decides on the results of a block."""
    return iter((b.call,)) if isinstance(b, CallBlock) else expressions(b)
