"""Several directions of a Jacobian in one call: how many, which blocks give all of them at once, what these share.

Two is what a vector register of every x86-64 and aarch64 has.  Four or eight of them would share more of what does not
move, and spill more: an arm with seven joints takes 98 664, 116 810 and 114 326 instructions a step with 2, 4 and 8.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kilohertz.cost.jacobian import StateJacobian
from kilohertz.cost.prices import Cost, Count
from kilohertz.ir import expr as x
from kilohertz.ir import step as s
from kilohertz.ir.expr import Expr
from kilohertz.ir.traverse import bottom_up, walk_all
from kilohertz.ir.types import REAL
from kilohertz.runtime import constant

LANES = constant("KHZ_LANES")
MANY = 32  # directions; a solver with steps of its own makes some 20 right-hand sides for each Jacobian
_OPERATORS = frozenset({"+", "-", "*", "/"})


def n_lanes(step: s.Step, jacobian: StateJacobian, often: bool = True) -> int:
    """Directions that one call of `directional` takes; with Jacobians that are not made `often` several where they have
    so many directions that they are a large part of a run all the same."""
    fewest = 2 if often else MANY
    return LANES if step.directional is not None and jacobian.n_directions >= fewest else 1


class Moving:
    """Which expressions depend on a seed."""

    def __init__(self, variables: Iterable[s.StepVariable]) -> None:
        self._names = {v.name for v in variables if v.slot.kind in s.DIRECTIONS}
        self._known: dict[Expr, bool] = {}

    def __call__(self, root: Expr) -> bool:
        known = self._known.get(root)
        if known is not None:
            return known

        def visit(e: Expr, children: list[bool]) -> bool:
            return e.name in self._names if isinstance(e, x.Ref) else any(children)

        return bottom_up(root, visit, self._known, lambda e: () if isinstance(e, x.Ref) else e.children())

    def add(self, name: str) -> None:
        """Another name for a rate; nothing with this name was asked for before."""
        self._names.add(name)

    def fits(self, block: s.Block) -> bool:
        """Whether a block can be written for several directions at once."""
        if not isinstance(block, (s.Assignment, s.LinearLoop)):
            return False
        return all(self._fits(e) for e in walk_all(s.expressions(block)) if self(e))

    def _fits(self, e: Expr) -> bool:
        match e:
            case x.Ref():
                return True
            case x.Unary(op):
                return op == "-"
            case x.Binary(op):
                return op in _OPERATORS and e.ty == REAL
            case x.IfExp(condition):
                return e.ty == REAL and not self(condition)
            case _:
                return False

    def numbers(self, blocks: Iterable[s.Block]) -> dict[Expr, int]:
        """Numbers beside rates, by place: the same for all directions.  What stands in a branch may not be valid where
        that is not taken: of it variables alone."""
        roots = (e for b in blocks if self.fits(b) for e in s.expressions(b))
        stack = [(root, False) for root in roots if self(root)]
        seen, found = set(stack), dict[Expr, int]()
        while stack:
            e, guarded = stack.pop()
            for k, child in enumerate(e.children()):
                below = child, guarded or (isinstance(e, x.IfExp) and k > 0)
                if self(child):
                    stack += [] if below in seen else [below]
                    seen.add(below)
                elif isinstance(e, (x.Binary, x.Unary)) and _is_safe(*below):
                    found.setdefault(child, len(found))
        return found

    def price(self, block: s.Block, one: Count) -> Count:
        """Of a block for several directions, from what it takes for one."""
        if not self.fits(block):
            return one.times(LANES)
        return Count(_together(one.regular), _together(one.worst))


def _is_safe(e: Expr, guarded: bool) -> bool:
    """Whether a number can be computed whatever conditions say; literals stay where they are."""
    return e.ty == REAL and (isinstance(e, x.Ref) if guarded else not isinstance(e, x.Real))


def _together(one: Cost) -> Cost:
    """Each instruction does for all directions; loops of the runtime have half of them once more to spread a number
    over these."""
    return replace(one, operations=LANES * one.operations, kernels=3 * one.kernels // 2)
