"""lighten-modes: a search for a mode solves for what its relations need, and for nothing else.

  mixed $r1 := s > 0, linear in s: (m + L*sin(x))*s = (if $r1 then f else 0) + k*x, then a := s/m
      ->   $m1 := m + L*sin(x);  $m2 := k*x;  mixed linear in s: $m1*s = (if $r1 then f else 0) + $m2;  a := s/m

A mixed loop is solved once for every mode that is tried.  What its equations have in them that no mode changes is
computed before it, the largest such parts as variables; what follows from its Reals, and is read by no condition, is
computed behind it.  The same operations on the same numbers, so the same bits.  What may fail stays: it tells that a
mode has no solution.  So do parts of a branch, which is not always taken.  Loops for which this saves little stay as
they are.  `directional` and `time_slope` were made before and keep the equations as they were.  Linear in
the expressions.  It never gives up: what it does not know stays.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from kilohertz.ir import make
from kilohertz.ir.expr import Binary, Builtin, Expr, Ref
from kilohertz.ir.flat import Purpose
from kilohertz.ir.scopes import opens_scope
from kilohertz.ir.step import (
    Assignment,
    Block,
    Kind,
    LinearLoop,
    MixedLoop,
    Partition,
    Slot,
    Step,
    StepVariable,
    expressions,
    targets,
)
from kilohertz.ir.traverse import bottom_up
from kilohertz.ir.types import REAL
from kilohertz.passes.algebra import Occurrence, cost
from kilohertz.passes.contract import Fact, Log, Pass
from kilohertz.passes.step.partition_blocks import is_quiet, is_quiet_part

_LEAST = 500  # operations of a turn that have to be saved
_PART = 2  # operations of a part that becomes a variable
_REALS = frozenset({Kind.ALGEBRAIC, Kind.DERIVATIVE})


@dataclass(frozen=True, slots=True)
class LightenModes(Pass):
    """What a search for a mode does not need leaves mixed loops."""

    name: ClassVar[str] = "lighten-modes"
    needs: ClassVar[frozenset[Fact]] = frozenset({Fact.STEP, Fact.PARTITIONED, Fact.DIRECTIONAL, Fact.GATHERED})
    gives: ClassVar[frozenset[Fact]] = frozenset({Fact.LIGHT})

    def run(self, model: Step, log: Log) -> Step:
        work = _Lighten(model, log.occurrence)
        blocks = [part for b in model.blocks for part in work.parts(b)]
        return replace(model, variables={**model.variables, **work.variables}, blocks=tuple(blocks))


@dataclass(slots=True)
class _Lighten:
    """Takes mixed loops apart, and declares what is computed before them."""

    step: Step
    occurrence: Occurrence
    variables: dict[str, StepVariable] = field(default_factory=dict)
    _next: int = field(init=False)

    def __post_init__(self) -> None:
        self._next = 1 + max((v.slot.index for v in self.step.of_kind(Kind.ALGEBRAIC)), default=-1)

    def parts(self, b: Block) -> Sequence[Block]:
        """What stands for a block: what is before a mixed loop, the loop, what is behind it."""
        if not isinstance(b, MixedLoop) or b.partition is Partition.EVENT:
            return (b,)
        loop, behind = self._shortened(b)
        before = _Before(frozenset(t.name for t in targets(b)), self._declared)
        continuous = tuple(before.block(c) for c in loop.continuous)
        behind = [before.assignment(a) for a in behind]
        left = cost(e for c in continuous for e in expressions(c))
        total = cost(e for c in b.continuous for e in expressions(c))
        if total - left < _LEAST:
            self._forget(before.names.values())
            return (b,)
        made = [Assignment(v, e, b.partition, cost((e,)), b.origin) for e, v in before.names.items()]
        return (*made, replace(loop, continuous=continuous, cost=max(1, loop.cost - total + left)), *behind)

    def _declared(self) -> Ref:
        name = f"$m{len(self.variables) + 1}"
        slot = Slot(Kind.ALGEBRAIC, self._next)
        self._next += 1
        self.variables[name] = StepVariable(name, REAL, slot, make.ZERO, protected=True, purpose=Purpose.MADE)
        return Ref(name, REAL)

    def _forget(self, names: Collection[Ref]) -> None:
        self._next -= len(names)
        for v in names:
            del self.variables[v.name]

    # ---------------------------------------------------------------------------------------------------------- behind

    def _shortened(self, b: MixedLoop) -> tuple[MixedLoop, list[Assignment]]:
        """The loop with what its conditions need, and the rest of it."""
        own = {self.step.slot(t.name).index for t in targets(b) if self.step.slot(t.name).kind is Kind.RELATION}
        read = set(self.occurrence.names_of(e for d in b.discrete for e in expressions(d)))
        read.update(n for c in self.step.crossings if c.index in own for n in self.occurrence.names(c.function))
        kept: list[Block] = []
        behind: list[Assignment] = []
        for c in reversed(b.continuous):
            if isinstance(c, LinearLoop):
                inner = self._needed(c.inner, read, behind)
                kept.append(replace(c, inner=inner, n_apart=c.n_apart + len(c.inner) - len(inner)))
                read.update(self.occurrence.names_of(expressions(replace(c, inner=()))))
            elif isinstance(c, Assignment):
                kept += self._needed((c,), read, behind)
            else:
                kept.append(c)
                read.update(self.occurrence.names_of(expressions(c)))
        return replace(b, continuous=tuple(reversed(kept))), behind[::-1]

    def _needed(
        self, assignments: Sequence[Assignment], read: set[str], behind: list[Assignment]
    ) -> tuple[Assignment, ...]:
        """Those that lead to names that are read; the others go behind, the last first."""
        kept: list[Assignment] = []
        for a in reversed(assignments):
            if a.target.name not in read and self.step.slot(a.target.name).kind in _REALS and is_quiet(a):
                behind.append(a)
            else:
                kept.append(a)
                read.update(self.occurrence.names(a.value))
        return tuple(reversed(kept))


class _Before:
    """Largest parts of expressions in which nothing of a loop occurs, as variables."""

    def __init__(self, own: Collection[str], declared: Callable[[], Ref]) -> None:
        self._own, self._declared = own, declared
        self._steady: dict[Expr, bool] = {}
        self._memo: dict[tuple[Expr, bool], Expr] = {}
        self.names: dict[Expr, Ref] = {}

    def block(self, b: Block) -> Block:
        match b:
            case LinearLoop():
                matrix = b.matrix  # one that rests between events does so as it is
                if b.matrix_partition is b.partition:
                    matrix = tuple(replace(e, value=self._without(e.value)) for e in matrix)
                rhs = tuple(map(self._without, b.rhs))
                return replace(b, matrix=matrix, rhs=rhs, inner=tuple(map(self.assignment, b.inner)))
            case Assignment():
                return self.assignment(b)
            case _:
                return b

    def assignment(self, a: Assignment) -> Assignment:
        return replace(a, value=self._without(a.value))

    def _without(self, root: Expr) -> Expr:
        """The expression with variables for its parts; those in branches stay."""
        memo = self._memo
        stack = [(root, False)]
        while stack:
            key = stack[-1]
            e, inside = key
            if key in memo:
                stack.pop()
            elif not inside and self._is_part(e):
                memo[key] = self._variable(e)
            else:
                keys = [(c, inside or opens_scope(e, k)) for k, c in enumerate(e.children())]
                missing = [k for k in keys if k not in memo]
                stack.extend(missing)
                if not missing:
                    fresh = tuple(memo[k] for k in keys)
                    memo[key] = e if fresh == e.children() else e.rebuilt(fresh)
        return memo[root, False]

    def _is_part(self, e: Expr) -> bool:
        return e.ty == REAL and isinstance(e, Binary | Builtin) and self._is_steady(e) and cost((e,)) >= _PART

    def _is_steady(self, root: Expr) -> bool:
        """Whether nothing of the loop occurs in it, and nothing that may fail."""

        def visit(e: Expr, steady: list[bool]) -> bool:
            return is_quiet_part(e) and not (isinstance(e, Ref) and e.name in self._own) and all(steady)

        return bottom_up(root, visit, self._steady)

    def _variable(self, e: Expr) -> Ref:
        if e not in self.names:
            self.names[e] = self._declared()
        return self.names[e]
