"""gather-sums: the terms of long sums that rates depend on become rows of the Jacobian of their own.

  dir(der(x)) := (dir(q1) + ... + dir(qn))/c        ->   dir($sum1[1]) := dir(q1);  ...  dir($sum1[n]) := dir(qn)
                                                         dir(der(x)) := seed($sum1)/c

A row that depends on all columns takes as many colours as there are columns, each through all blocks.  Its terms depend
on few columns each, so that columns may share colours; the row is put together from its slope along the sum and those
of the terms, by the chain rule (`khz_sums` in khz_model.h).  A. Griewank, Ph. L. Toint, On the unconstrained
optimization of partially separable functions, 1982.

It pays where few rows are long, and where the others have half as many colours at most; else it gives up, and the step
stays as it is.
A sum inside a condition stays where it is, and so does one whose terms depend on another sum that is gathered.
Cost: linear in blocks times their patterns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from kilohertz.cost import rate_patterns, state_jacobian
from kilohertz.ir import make
from kilohertz.ir import step as s
from kilohertz.ir.expr import Binary, Expr, Ref, Unary
from kilohertz.ir.flat import Purpose
from kilohertz.ir.make import ZERO
from kilohertz.ir.traverse import map_expr, names_in
from kilohertz.ir.types import REAL
from kilohertz.passes.algebra import cost
from kilohertz.passes.contract import Fact, Log, Pass
from kilohertz.passes.step.differentiate import direction_name, seed_name

LEAST = 16  # columns of a row that is long, and terms of a sum
MOST = 4  # long rows are one of so many at most
GAIN = 2  # colours are this many times fewer


@dataclass(frozen=True, slots=True)
class GatherSums(Pass):
    """Long sums apart from the rates that depend on them."""

    name: ClassVar[str] = "gather-sums"
    needs: ClassVar[frozenset[Fact]] = frozenset({Fact.DIRECTIONAL, Fact.SPARSITY})
    gives: ClassVar[frozenset[Fact]] = frozenset({Fact.GATHERED})

    def run(self, model: s.Step, log: Log) -> s.Step:
        return gathered(model)


def gathered(step: s.Step) -> s.Step:
    """The step with its long sums apart, where that pays."""
    rows = state_jacobian(step).rows
    longest = max(map(len, rows), default=0)
    n_long = sum(2 * len(row) >= longest for row in rows)
    if step.directional is None or longest < LEAST or MOST * n_long > len(rows):
        return step
    apart = _Gathering(step, len(rows), longest).gathered()
    if not apart.sums or GAIN * state_jacobian(apart).n_directions > longest:
        return step
    return apart


class _Gathering:
    """Long sums of one step."""

    def __init__(self, step: s.Step, n: int, longest: int) -> None:
        self._step, self._longest, self._n = step, longest, n
        self._patterns = rate_patterns(step)
        self._sums: list[s.Sum] = []
        self._made: list[s.StepVariable] = []
        self._fed: set[str] = set()  # rates that depend on a sum

    def gathered(self) -> s.Step:
        """All that are long, whether it pays or not."""
        out: list[s.Block] = []
        for b in self._step.directional or ():
            fresh = b
            for chain in dict.fromkeys(chain for root in _roots(b) for chain in self._chains(root)):
                fresh = _with(fresh, chain, self._gather(chain, b, out))
            if fresh is not b or any(name in self._fed for name in names_in(s.expressions(b))):
                self._fed |= {t.name for t in s.targets(b)}
            out.append(fresh)
        variables = {**self._step.variables, **{v.name: v for v in self._made}}
        return replace(self._step, variables=variables, directional=tuple(out), sums=tuple(self._sums))

    def _mask(self, e: Expr) -> int:
        mask = 0
        for name in names_in((e,)):
            mask |= self._patterns.get(name, 0)
        return mask

    def _chains(self, root: Expr) -> Iterator[Expr]:
        """Long sums in an expression, the outermost of each."""
        stack = [root]
        while stack:
            e = stack.pop()
            if 2 * self._mask(e).bit_count() < self._longest or not isinstance(e, (Binary, Unary)):
                continue
            terms = [t for t, _ in _terms(e)]
            if len(terms) >= LEAST and all(4 * self._mask(t).bit_count() <= self._longest for t in terms):
                if self._fed.isdisjoint(names_in((e,))):
                    yield e
            else:
                stack += terms if len(terms) > 1 else e.children()

    def _gather(self, chain: Expr, b: s.Block, out: list[s.Block]) -> Ref:
        """The terms of a sum as blocks of their own; gives what stands for it."""
        name = f"$sum{len(self._sums) + 1}"
        seed, terms = Ref(seed_name(name), REAL), []
        self._made.append(_variable(seed.name, s.Kind.SEED, self._n + len(self._sums)))
        n_terms = sum(len(one.terms) for one in self._sums)
        for k, (term, negative) in enumerate(_terms(chain)):
            target = Ref(direction_name(f"{name}[{k + 1}]"), REAL)
            rate = make.neg(term) if negative else term
            self._made.append(_variable(target.name, s.Kind.DERIVATIVE_DIRECTION, self._n + n_terms + k))
            out.append(s.Assignment(target, rate, s.Partition.STEP, cost((rate,)), b.origin))
            terms.append(target)
        self._sums.append(s.Sum(seed, tuple(terms)))
        return seed


def _roots(b: s.Block) -> tuple[Expr, ...]:
    """Expressions of a block in which sums are looked for."""
    match b:
        case s.Assignment():
            return (b.value,)
        case s.LinearLoop():
            return b.rhs
        case _:
            return ()


def _terms(e: Expr) -> Iterator[tuple[Expr, bool]]:
    """What is added, and whether it is subtracted, from left to right."""
    stack = [(e, False)]
    while stack:
        node, negative = stack.pop()
        if isinstance(node, Binary) and node.op in ("+", "-"):
            stack += ((node.right, negative != (node.op == "-")), (node.left, negative))
        elif isinstance(node, Unary) and node.op == "-":
            stack.append((node.operand, not negative))
        else:
            yield node, negative


def _with(b: s.Block, chain: Expr, seed: Ref) -> s.Block:
    """A block with one variable for a sum in it."""

    def put(root: Expr) -> Expr:
        return map_expr(root, lambda e: seed if e == chain else e)

    match b:
        case s.Assignment():
            return replace(b, value=put(b.value))
        case s.LinearLoop():
            return replace(b, rhs=tuple(map(put, b.rhs)))
        case _:
            return b


def _variable(name: str, kind: s.Kind, index: int) -> s.StepVariable:
    return s.StepVariable(name, REAL, s.Slot(kind, index), ZERO, protected=True, purpose=Purpose.MADE)
