"""Which blocks share a C function, and what it is called: spelling, whatever is chosen computes the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile

from kilohertz.base import Dotted
from kilohertz.cost import IN_PLACE
from kilohertz.ir import step as s
from kilohertz.ir.expr import Builtin, Call, Expr, Field, Index, Ref
from kilohertz.ir.flat import Purpose
from kilohertz.ir.traverse import walk_all


def is_large(block: s.Block) -> bool:
    """A loop that gets a C function of its own."""
    if isinstance(block, s.LinearLoop):
        n = len(block.unknowns)
        return n > IN_PLACE or (n > 1 and block.matrix_partition in (s.Partition.ONCE, s.Partition.EVENT))
    return isinstance(block, (s.NonlinearLoop, s.MixedLoop))


def is_system(block: s.Block) -> bool:
    """Several equations that are solved together."""
    return isinstance(block, s.LinearLoop) and len(block.unknowns) > 1


def system(block: s.Block) -> list[Expr]:
    """Matrix and right-hand side of a linear loop."""
    return [*(e.value for e in block.matrix), *block.rhs] if isinstance(block, s.LinearLoop) else []


def is_scalar(roots: Iterable[Expr]) -> bool:
    """Numbers throughout: no arrays, records or function calls."""
    return not any(e.ty.dims or isinstance(e, (Call, Field, Index)) for e in walk_all(roots))


def reads(block: s.Block) -> set[str]:
    """Names that a plain block reads."""
    return {e.name for e in walk_all(s.expressions(block)) if isinstance(e, Ref)}


def may_fail(block: s.Block) -> bool:
    """Functions do not know where they are called from: the block is noted before."""
    if isinstance(block, (s.CallBlock, s.WhenBlock)):
        return True
    return any(isinstance(e, (Call, Index)) or _is_checked(e) for e in walk_all(s.expressions(block)))


def _is_checked(e: Expr) -> bool:
    return isinstance(e, Builtin) and e.name == "$subscript"


def loop_subject(block: s.Block, variables: Mapping[str, s.StepVariable]) -> str:
    """What the function of a loop is named after: the instance all its unknowns belong to, else the first of them."""
    torn = block.unknowns if isinstance(block, (s.LinearLoop, s.NonlinearLoop)) else s.targets(block)
    unknowns = [t.name for t in torn]
    if len(unknowns) == 1:
        return unknowns[0]
    paths = [Dotted.read(variables[name].of or name).owner.parts for name in unknowns]
    shared = takewhile(lambda parts: len(set(parts)) == 1, zip(*paths, strict=False))
    instance = Dotted(tuple(parts[0] for parts in shared))
    return f"{instance if instance.parts else unknowns[0]}.loop"


def group_subject(blocks: Sequence[s.Block], variables: Mapping[str, s.StepVariable]) -> str:
    """The first variable of a run of blocks that the user knows; an instance where they set none."""
    written = [t.name for block in blocks for t in s.targets(block)]
    known = [name for name in written if variables[name].purpose is Purpose.DECLARED]
    return next(iter([*known, *written]), blocks[0].origin.path)
