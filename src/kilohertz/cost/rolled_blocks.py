"""Lists of blocks as what becomes one C function after the other: equal ones rolled, the others in runs.

Blocks of one turn that are needed at different times become loops of their own, one after the other, where that changes
nothing that they read:

  a[1] (EVENT), b[1] (STEP), a[2], b[2], ...       a[1], a[2], ...; b[1], b[2], ...
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kilohertz.cost.lanes import Moving
from kilohertz.cost.rolled import Cell, Listed, Roll, Shapes, may_repeat, rolls, steady
from kilohertz.cost.together import runs
from kilohertz.ir import step as s
from kilohertz.ir.expr import Binary, Expr, Ref, Unary
from kilohertz.ir.traverse import bottom_up
from kilohertz.ir.types import REAL

_LOOSE = frozenset({s.Kind.OBJECT, s.Kind.STRING_PARAMETER, s.Kind.STRING_DISCRETE, s.Kind.PRE_STRING_DISCRETE})


@dataclass(frozen=True, slots=True)
class Rolled:
    """Blocks that one loop in C runs, turn by turn."""

    blocks: Sequence[s.Assignment]
    statements: Sequence[Listed]
    roll: Roll
    shapes: Shapes

    @property
    def steady(self) -> list[Expr]:
        """What is computed in every turn and the same in all."""
        return list(steady(self.statements, self.roll, self.shapes))

    @property
    def partition(self) -> s.Partition:
        return self.blocks[0].partition

    @property
    def first(self) -> Sequence[s.Assignment]:
        """The blocks of the first turn."""
        return self.blocks[: self.roll.size]

    def reads(self, k: int) -> list[str]:
        """Variables that a block reads."""
        return [leaf.name for leaf in self.roll.leaves[k] if isinstance(leaf, Ref)]

    def of(self, partition: s.Partition) -> Rolled:
        """Those of one partition."""
        size, n = self.roll.size, len(self.blocks)
        chosen = [k for k in range(n) if self.blocks[k % size].partition is partition]
        leaves = tuple(self.roll.leaves[k] for k in chosen)
        roll = replace(self.roll, size=len(chosen) // self.roll.turns, leaves=leaves)
        return replace(
            self, blocks=[self.blocks[k] for k in chosen], statements=[self.statements[k] for k in chosen], roll=roll
        )


class LaneShapes(Shapes):
    """Of rates in several directions at once: numbers beside them stand in an area of their own (see `lanes`)."""

    def __init__(self, variables: Mapping[str, s.StepVariable], moving: Moving, numbers: Mapping[Expr, int]) -> None:
        super().__init__(variables)
        self._moving, self._places = moving, numbers
        self._memo: dict[Expr, Expr] = {}

    def root(self, e: Expr) -> Expr:
        def visit(node: Expr, operands: list[Expr]) -> Expr:
            if not operands:
                return node
            if isinstance(node, (Binary, Unary)):
                operands = [self._number(o) for o in operands]
            return node.rebuilt(tuple(operands))

        return bottom_up(e, visit, self._memo, lambda node: node.children() if self._moving(node) else ())

    def outline(self, e: Expr) -> Hashable:
        """`root` leaves what stands outermost."""
        return type(e), getattr(e, "op", "")

    def _number(self, e: Expr) -> Expr:
        place = self._places.get(e)
        if place is None:
            return e
        named = Ref(f"$resting{place}", REAL)
        self._others[named.name] = ("z->resting", place)
        return named


def stretches(blocks: Sequence[s.Block], shapes: Shapes) -> Iterator[list[s.Block] | Rolled]:
    """Blocks of one C function after the other, in their order: equal ones rolled, the others as `runs` has them."""
    if not may_repeat((_outline(block, shapes) for block in blocks), len(blocks), shapes):
        yield from runs(blocks)
        return
    statements = [_statement(block, shapes) for block in blocks]
    at = 0
    for roll in rolls(statements, shapes):
        part = range(roll.first, roll.end)
        found = Rolled(
            [b for k in part if isinstance(b := blocks[k], s.Assignment)],
            [one for k in part if (one := statements[k]) is not None],
            roll,
            shapes,
        )
        loops = _apart(found)
        if loops and all(map(_is_in_order, loops)):
            yield from runs(blocks[at : roll.first])
            yield from loops
            at = roll.end
    yield from runs(blocks[at:])


def _outline(block: s.Block, shapes: Shapes) -> Hashable | None:
    if not isinstance(block, s.Assignment):
        return None
    return block.partition, shapes.slot(block.target).kind, shapes.outline(block.value)


def _statement(block: s.Block, shapes: Shapes) -> Listed | None:
    """An assignment to a number; a relation may be forced to stay as it is."""
    if not isinstance(block, s.Assignment):
        return None
    slot = shapes.slot(block.target)
    cells: tuple[Cell, ...] = ((slot.kind, slot.index),)
    if slot.kind is s.Kind.RELATION:
        cells += (("z->forced", slot.index),)
    return None if slot.kind in _LOOSE else Listed(block.partition, cells, (shapes.root(block.value),))


def _apart(rolled: Rolled) -> list[Rolled]:
    """A loop for each partition, in an order in which all of them read what they did; nothing where there is none."""
    left = list(dict.fromkeys(b.partition for b in rolled.first))
    if len(left) == 1:
        return [rolled]
    set_at = {b.target.name: k for k, b in enumerate(rolled.blocks)}
    if len(set_at) < len(rolled.blocks):
        return []
    before: set[tuple[s.Partition, s.Partition]] = set()
    for k, b in enumerate(rolled.blocks):
        for at in (set_at[name] for name in rolled.reads(k) if name in set_at):
            both = (rolled.blocks[at].partition, b.partition)
            before.add(both if at < k else both[::-1])
    loops: list[Rolled] = []
    while left:
        first = next((p for p in left if not any((q, p) in before for q in left if q is not p)), None)
        if first is None:
            return []
        loops.append(rolled.of(first))
        left.remove(first)
    return loops


def _is_in_order(rolled: Rolled) -> bool:
    """Whether no turn sets what it has read before: what its statements share would be stale."""
    size = rolled.roll.size
    for at in range(0, len(rolled.blocks) if size > 1 else 0, size):
        read: set[str] = set()
        for k in range(at, at + size):
            if rolled.blocks[k].target.name in read:
                return False
            read.update(rolled.reads(k))
    return True
