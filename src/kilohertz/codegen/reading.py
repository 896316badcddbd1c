"""What decides whether blocks may share a C function: their size and what they read."""

from __future__ import annotations

from collections.abc import Iterator

from kilohertz.ir import step as s
from kilohertz.ir.expr import Call, Expr, Index, Ref


def is_large(block: s.Block) -> bool:
    """A loop that gets a C function of its own."""
    if isinstance(block, s.LinearLoop):
        n = len(block.unknowns)
        return n > 3 or (n > 1 and block.matrix_partition in (s.Partition.ONCE, s.Partition.EVENT))
    return isinstance(block, (s.NonlinearLoop, s.MixedLoop))


def reads(block: s.Block) -> set[str]:
    """Names that a plain block reads."""
    return {e.name for e in _nodes(block) if isinstance(e, Ref)}


def may_fail(block: s.Block) -> bool:
    """Functions do not know where they are called from: the block is noted before."""
    if isinstance(block, (s.CallBlock, s.WhenBlock)):
        return True
    return any(isinstance(e, (Call, Index)) for e in _nodes(block))


def _nodes(block: s.Block) -> Iterator[Expr]:
    """Every node of a block's expressions, once."""
    seen: set[int] = set()
    stack = list(s.expressions(block))
    while stack:
        e = stack.pop()
        if id(e) not in seen:
            seen.add(id(e))
            yield e
            stack.extend(e.children())
