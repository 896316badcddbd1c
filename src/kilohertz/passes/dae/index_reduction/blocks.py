"""Parts of a constraint Jacobian in which states can be chosen one by one.

  Q*der(Q) = 0;  r*der(r) = 0;  der(p) + a(Q)*der(Q) = der(r)   dummies: one of Q, one of r, all of p
  ->  the blocks {Q*der(Q)}, {r*der(r)}, {the last}

Dummies of one block follow from its own equations, given those of the blocks it reads.  Whichever of the candidates in
a block are taken, the order of the blocks stays: each choice is made for itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from kilohertz.graphs import maximum_matching, strong_components
from kilohertz.passes.dae.index_reduction.pivots import SparseRow

Block = tuple[dict[int, SparseRow], list[int]]  # rows, and the dummies that follow from them


def blocks(part: dict[int, SparseRow], picked: Sequence[int], wanted: Sequence[int]) -> list[Block]:
    """The finest blocks; none where an equation has no dummy of its own to give."""
    position = {c: k for k, c in enumerate(picked)}
    rows = [[position[c] for c in row if c in position] for row in part.values()]
    matching = maximum_matching(rows, len(picked))
    if not matching.is_perfect:
        return []
    partner = matching.column_of
    keys = list(part)
    groups = [[i] for i in range(len(keys))]
    while True:
        made = [({keys[i]: part[keys[i]] for i in group}, [picked[partner[i]] for i in group]) for group in groups]
        merged = strong_components(_readers(made, wanted))
        if len(merged) == len(groups):
            return made
        groups = [sorted(i for k in component for i in groups[k]) for component in merged]


def _readers(made: Sequence[Block], wanted: Sequence[int]) -> list[list[int]]:
    """By block: those that have candidates of it in their equations."""
    touched = [{c for row in rows.values() for c in row} for rows, _ in made]
    graph: list[list[int]] = []
    for k, (_, columns) in enumerate(made):
        top = max(wanted[c] for c in columns)
        mine = {*columns, *(c for c in touched[k] if wanted[c] == top)}
        graph.append([j for j, others in enumerate(touched) if j != k and not mine.isdisjoint(others)])
    return graph
