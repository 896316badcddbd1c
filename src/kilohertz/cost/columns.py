"""The directional derivative for some columns of a Jacobian alone: what rests along all of them is left out.

  all columns                          that of x alone
  dir(a) := p*seed(x) + q*seed(y)      dir(a) := p*seed(x)
  dir(b) := r*dir(a)                   dir(b) := r*dir(a)
  dir(c) := u*seed(y)

Along the angle of the last joint of an arm the links before it rest, and along a velocity all positions do: with a list
of blocks for each two directions an arm of seven joints takes half the operations, and each list is shorter.  Zeros are
folded, nothing else is: the numbers are those of the whole list, but for the sign of a zero.  It pays up to a number of
operations, since the lists are code beside each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from kilohertz.cost.jacobian import StateJacobian
from kilohertz.ir import make
from kilohertz.ir import step as s
from kilohertz.ir.expr import Binary, Call, Expr, Ref, Unary
from kilohertz.ir.make import ZERO
from kilohertz.ir.traverse import map_expr, refs, walk_all
from kilohertz.ir.types import REAL

MOST = 20_000  # operations of all lists together
LEAST = 0.8  # of the operations of the whole list, run for all directions: narrower lists are worth their code


def columns(
    step: s.Step, jacobian: StateJacobian, lanes: int, *, narrow: bool = True
) -> tuple[tuple[s.Block, ...], ...]:
    """The blocks for each call of `directional` in a Jacobian, for so many colours: lists of their own where that is
    wanted and pays, else the same for all."""
    if step.directional is None:
        return ()
    n_calls = -(-jacobian.n_directions // lanes)
    whole = _operations(step.directional)
    if narrow and n_calls > 1 and whole <= MOST:
        work, lists, left = _Narrowing(step, jacobian), [], MOST
        for call in range(n_calls):
            lists.append(work.blocks(range(call * lanes, (call + 1) * lanes)))
            left -= _operations(lists[-1])
            if left < 0:
                break
        if left >= 0 and MOST - left <= LEAST * n_calls * whole:
            return tuple(lists)
    return (step.directional,) * n_calls


def _operations(blocks: Iterable[s.Block]) -> int:
    roots = (e for b in blocks for e in (b.rhs if isinstance(b, s.LinearLoop) else s.expressions(b)))
    return sum(isinstance(e, (Binary, Unary, Call)) for e in walk_all(roots))


def _folded(node: Expr) -> Expr:
    """Without zeros, and -a + b as b - a: the same bits."""
    if isinstance(node, Binary) and node.op == "+" and isinstance(node.left, Unary) and node.left.op == "-":
        return make.sub(node.right, node.left.operand)
    folded = make.folded(node)
    return ZERO if folded.ty == REAL and make.is_zero(folded) else folded


class _Narrowing:
    """Lists of blocks of one model."""

    def __init__(self, step: s.Step, jacobian: StateJacobian) -> None:
        self._step, self._jacobian = step, jacobian
        self._seeds = {v.slot.index: v.name for v in step.of_kind(s.Kind.SEED)}
        self._names: dict[Expr, frozenset[str]] = {}

    def blocks(self, colours: Sequence[int]) -> tuple[s.Block, ...]:
        """Those along the columns of some colours."""
        moving = {j for j, colour in enumerate(self._jacobian.directions) if colour in colours}
        resting: dict[str, Expr] = {name: ZERO for j, name in self._seeds.items() if j not in moving}
        memo: dict[Expr, Expr] = {}  # whether a rate rests is known before it is read
        out: list[s.Block] = []
        for block in self._step.directional or ():
            fresh = self._narrowed(block, resting, memo)
            if fresh is not None:
                out.append(fresh)
                continue
            resting |= dict.fromkeys((t.name for t in s.targets(block)), ZERO)
            out += (self._zero(t, block) for t in s.targets(block) if self._is_entry(t, moving))
        return tuple(out)

    def _narrowed(self, block: s.Block, resting: dict[str, Expr], memo: dict[Expr, Expr]) -> s.Block | None:
        """Without what rests; None where all of it does."""

        def replaced(node: Expr) -> Expr:
            return resting.get(node.name, node) if isinstance(node, Ref) else _folded(node)

        def narrow(e: Expr) -> Expr:
            return e if self._names_in(e).isdisjoint(resting) else map_expr(e, replaced, memo)

        match block:
            case s.Assignment(_, value):
                rate = narrow(value)
                return None if rate is ZERO else replace(block, value=rate)
            case s.LinearLoop():
                rhs = tuple(map(narrow, block.rhs))
                return None if all(e is ZERO for e in rhs) else replace(block, rhs=rhs)
            case s.CallBlock():
                call = narrow(block.call)
                assert isinstance(call, Call)
                return replace(block, call=call)
            case _:
                return block

    def _names_in(self, e: Expr) -> frozenset[str]:
        names = self._names.get(e)
        if names is None:
            names = self._names[e] = frozenset(r.name for r in refs(e))
        return names

    def _is_entry(self, target: Ref, moving: set[int]) -> bool:
        """Whether the rate of a derivative is read though it is zero."""
        slot = self._step.variables[target.name].slot
        if slot.kind is not s.Kind.DERIVATIVE_DIRECTION:
            return False
        return not moving.isdisjoint(self._jacobian.rates[slot.index])

    def _zero(self, target: Ref, block: s.Block) -> s.Block:
        return s.Assignment(target, ZERO, s.Partition.STEP, 1, block.origin)
