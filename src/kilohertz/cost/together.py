"""Which blocks share a C function, and with it what they have in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kilohertz.cost.factors import IN_PLACE
from kilohertz.ir import step as s
from kilohertz.ir.traverse import names_in

_MOST = 150  # blocks of one C function, where a step runs it: more of them share what they have in common
_SELDOM = 40  # the same where it runs seldom: compilers take more than linear time for a function full of stores


def runs(blocks: Iterable[s.Block]) -> Iterator[list[s.Block]]:
    """Blocks of one function after the other, in their order; a large loop stands alone."""
    run: list[s.Block] = []
    read: set[str] = set()
    for block in blocks:
        is_alone = is_large(block)
        most = _MOST if block.partition is s.Partition.STEP else _SELDOM
        stale = not is_alone and any(t.name in read for t in s.targets(block))
        if run and (is_alone or stale or len(run) >= most or run[0].partition is not block.partition):
            yield run
            run, read = [], set()
        if is_alone:
            yield [block]
        else:
            run.append(block)
            read |= reads(block)
    if run:
        yield run


def is_large(block: s.Block) -> bool:
    """A loop that gets a C function of its own."""
    if isinstance(block, s.LinearLoop):
        n = len(block.unknowns)
        return n > IN_PLACE or (n > 1 and block.matrix_partition in (s.Partition.ONCE, s.Partition.EVENT))
    return isinstance(block, (s.NonlinearLoop, s.MixedLoop))


def reads(block: s.Block) -> set[str]:
    """Names that a plain block reads."""
    return names_in(s.expressions(block))
