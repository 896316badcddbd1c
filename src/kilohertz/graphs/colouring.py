"""Colouring for compressed Jacobians: columns that share no row may be evaluated together.

Greedy on bit sets: each row remembers the colours in it, a column takes the lowest colour none of its rows has.  Two
orders are tried, as given and longest column first, and the better result is kept.  Cost: edges times colours / 64.
A. R. Curtis, M. J. D. Powell, J. K. Reid (1974); T. F. Coleman, J. J. Moré (1983).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kilohertz.graphs.matching import Rows, transposed


def colour_columns(rows: Rows, n_columns: int) -> list[int]:
    """A colour (from zero) for every column, such that no row holds one colour twice."""
    columns = transposed(rows, n_columns)
    natural = _greedy(len(rows), columns, range(n_columns))
    longest = sorted(range(n_columns), key=lambda c: (-sum(len(rows[r]) for r in columns[c]), c))
    other = _greedy(len(rows), columns, longest)
    return other if max(other, default=0) < max(natural, default=0) else natural


def colour_distance_2(neighbours: Sequence[Sequence[int]]) -> list[int]:
    """Colours of an undirected graph such that vertices at distance one or two differ."""
    closed = [sorted({v, *around}) for v, around in enumerate(neighbours)]
    return colour_columns(closed, len(closed))


def groups_of(colours: Sequence[int]) -> list[list[int]]:
    """The columns of each colour, ascending."""
    groups: list[list[int]] = [[] for _ in range(max(colours, default=-1) + 1)]
    for column, colour in enumerate(colours):
        groups[colour].append(column)
    return groups


def _greedy(n_rows: int, columns: Sequence[Sequence[int]], order: Iterable[int]) -> list[int]:
    used = [0] * n_rows  # by row: bit k stands for colour k
    colours = [0] * len(columns)
    for column in order:
        taken = 0
        for r in columns[column]:
            taken |= used[r]
        free = ~taken & (taken + 1)
        colours[column] = free.bit_length() - 1
        for r in columns[column]:
            used[r] |= free
    return colours
