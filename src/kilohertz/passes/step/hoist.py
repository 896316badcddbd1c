"""hoist: what depends on parameters alone is computed at events, not in every step.

  der(w) := (tau - m*L/2*s*g) / (J + m*L^2)    ->    $h1 := m*L/2;  $h2 := J + m*L^2              (at events)
                                                     der(w) := (tau - $h1*s*g) / $h2

The largest such parts of the moving blocks' expressions become variables; in a product of parameters and one factor
that moves, `m*(L*s)`, the parameters are put together first: `$h3*s`.  Events compute them, not `once`: so they are
right after initial equations have found parameters (`fixed = false`) and after a parameter was changed in a run.  Parts
of a branch, or behind `and` and `or`, may not be valid where a condition keeps from them: there sums, differences and
products alone are moved; calls never are.  Linear in the expressions.  It never gives up: what it does not know stays.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from kilohertz.ir import make
from kilohertz.ir.builtins import BUILTINS
from kilohertz.ir.expr import Binary, Builtin, Call, Expr, Int, Real, Ref, Unary
from kilohertz.ir.flat import Purpose
from kilohertz.ir.scopes import opens_scope
from kilohertz.ir.step import (
    Assignment,
    Block,
    CallBlock,
    Kind,
    LinearLoop,
    MixedLoop,
    NonlinearLoop,
    Partition,
    Slot,
    Step,
    StepVariable,
)
from kilohertz.ir.traverse import bottom_up, walk
from kilohertz.ir.types import REAL
from kilohertz.passes.algebra import cost
from kilohertz.passes.contract import Fact, Log, Pass

MOVING = frozenset({Partition.STEP, Partition.CROSSING, Partition.OUTPUT, Partition.VIEW})
_STEADY = frozenset({Kind.PARAMETER, Kind.INT_PARAMETER})
_SUMS = frozenset({"+", "-", "*"})
_ARITHMETIC = _SUMS | {"/", "^"}
_FUNCTIONS = frozenset(f.name for f in BUILTINS.values() if f.value is not None)


@dataclass(frozen=True, slots=True)
class Hoist(Pass):
    """Parts that depend on parameters alone become blocks of events, in front of the others."""

    name: ClassVar[str] = "hoist"
    needs: ClassVar[frozenset[Fact]] = frozenset({Fact.STEP, Fact.PARTITIONED})
    gives: ClassVar[frozenset[Fact]] = frozenset({Fact.HOISTED})

    def run(self, model: Step, log: Log) -> Step:
        work = _Hoist(model)
        blocks = [work.block(b) if b.partition in MOVING else b for b in model.blocks]
        return replace(model, variables={**model.variables, **work.variables}, blocks=(*work.made, *blocks))


class _Hoist:
    def __init__(self, step: Step) -> None:
        self._step = step
        self._steady: dict[Expr, bool] = {}
        self._names: dict[Expr, Ref] = {}
        self._next = 1 + max((v.slot.index for v in step.of_kind(Kind.ALGEBRAIC)), default=-1)
        self._memo: dict[tuple[Expr, bool], Expr] = {}
        self.made: list[Block] = []
        self.variables: dict[str, StepVariable] = {}

    # ---------------------------------------------------------------------------------------------------------- blocks

    def block(self, b: Block) -> Block:
        match b:
            case Assignment():
                return self._assignment(b)
            case LinearLoop():
                matrix = b.matrix
                if b.matrix_partition in MOVING:
                    matrix = tuple(replace(e, value=self.whole(e.value)) for e in matrix)
                inner = tuple(self._assignment(x) for x in b.inner)
                rhs, residuals = (tuple(map(self.whole, each)) for each in (b.rhs, b.residuals))
                through = tuple(self._assignment(x) for x in b.through)
                return replace(b, matrix=matrix, rhs=rhs, inner=inner, through=through, residuals=residuals)
            case NonlinearLoop():
                entries = b.jacobian
                if entries is not None:
                    entries = tuple(replace(e, value=self.whole(e.value)) for e in entries)
                inside = tuple(self._assignment(x) if isinstance(x, Assignment) else x for x in b.inner)
                return replace(b, inner=inside, residuals=tuple(map(self.whole, b.residuals)), jacobian=entries)
            case MixedLoop():
                return replace(b, continuous=tuple(map(self.block, b.continuous)))
            case CallBlock():
                call = b.call.rebuilt(tuple(self.whole(a) for a in b.call.args))
                assert isinstance(call, Call)
                return replace(b, call=call)
            case _:
                return b

    def _assignment(self, b: Assignment) -> Assignment:
        return replace(b, value=self.whole(b.value))

    # ----------------------------------------------------------------------------------------------------- expressions

    def whole(self, e: Expr) -> Expr:
        """The expression with its largest steady parts as variables."""
        return self._rewritten(e, False)

    def _rewritten(self, root: Expr, guarded: bool) -> Expr:
        memo = self._memo
        stack = [(root, guarded)]
        while stack:
            key = stack[-1]
            if key in memo:
                stack.pop()
                continue
            e, inside = key
            if self._is_part(e, inside):
                memo[key] = self._variable(e)
                continue
            e = self._grouped(e, inside)
            children = e.children()
            if not children or isinstance(e, Ref):
                memo[key] = e
                continue
            keys = [(c, inside or opens_scope(e, k)) for k, c in enumerate(children)]
            missing = [k for k in keys if k not in memo]
            if missing:
                stack.extend(missing)
                continue
            fresh = tuple(memo[k] for k in keys)
            memo[key] = e if fresh == children else e.rebuilt(fresh)
        return memo[root, guarded]

    def _grouped(self, e: Expr, inside: bool) -> Expr:
        """p*(q*x) as (p*q)*x, where p and q are steady and x is not."""
        if not isinstance(e, Binary) or e.op != "*" or e.ty != REAL:
            return e
        steady: list[Expr] = []
        moving: list[Expr] = []
        stack: list[Expr] = [e]
        while stack and len(moving) < 2:
            node = stack.pop()
            if self._is_steady(node):
                steady.append(node)
            elif isinstance(node, Binary) and node.op == "*" and node.ty == REAL:
                stack += [node.right, node.left]
            else:
                moving.append(node)
        if len(moving) != 1 or len(steady) < 2:
            return e
        product = steady[0]
        for factor in steady[1:]:
            product = make.mul(product, factor)
        return make.mul(product, moving[0]) if self._is_part(product, inside) else e

    def _is_part(self, e: Expr, inside: bool) -> bool:
        if e.ty != REAL or not isinstance(e, (Binary, Builtin)) or not self._is_steady(e):
            return False
        if isinstance(e, Builtin) and e.name == "real":
            return False
        if not any(isinstance(n, Ref) for n in walk(e)):
            return False
        return not inside or all(
            isinstance(n, (Ref, Real, Int)) or (isinstance(n, (Binary, Unary)) and n.op in _SUMS) for n in walk(e)
        )

    def _is_steady(self, root: Expr) -> bool:
        def visit(e: Expr, steady: list[bool]) -> bool:
            return self._may_be_steady(e) and all(steady)

        return bottom_up(root, visit, self._steady, lambda e: e.children() if self._may_be_steady(e) else ())

    def _may_be_steady(self, e: Expr) -> bool:
        match e:
            case Real() | Int():
                return True
            case Ref(name):
                v = self._step.variables.get(name)
                return v is not None and v.slot.kind in _STEADY
            case Unary(op):
                return op in _SUMS
            case Binary(op):
                return op in _ARITHMETIC
            case Builtin(name):
                return name in _FUNCTIONS
            case _:
                return False

    def _variable(self, e: Expr) -> Ref:
        variable = self._names.get(e)
        if variable is None:
            name = f"$h{len(self._names) + 1}"
            variable = self._names[e] = Ref(name, REAL)
            slot = Slot(Kind.ALGEBRAIC, self._next)
            self._next += 1
            declared = StepVariable(name, REAL, slot, make.ZERO, protected=True, purpose=Purpose.MADE)
            self.variables[name] = declared
            self.made.append(Assignment(variable, e, Partition.EVENT, cost((e,))))
        return variable
