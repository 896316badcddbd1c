"""Maximum matching of a bipartite graph, and what it tells about the parts that do not fit.

A graph is a list of rows, each the columns it touches.  Least degree first (after Karp and Sipser) gives a start that
is perfect or nearly so on systems of equations; Hopcroft-Karp phases complete it, at most O(edges · sqrt(vertices)).

Dulmage-Mendelsohn splits rows and columns by the alternating paths that start at free vertices:

  over    what free rows reach: more rows than columns
  under   what free columns reach: more columns than rows
  square  the rest, matched perfectly

Everything is iterative; ties go to the lower index.  A. L. Dulmage, N. S. Mendelsohn (1958); J. E. Hopcroft, R. M. Karp
(1973); R. M. Karp, M. Sipser (1981).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Rows = Sequence[Sequence[int]]

FREE = -1


@dataclass(frozen=True, slots=True)
class Matching:
    """`column_of[r]` and `row_of[c]`, `FREE` where unmatched."""

    column_of: list[int]
    row_of: list[int]

    @property
    def size(self) -> int:
        return len(self.column_of) - self.column_of.count(FREE)

    @property
    def is_perfect(self) -> bool:
        return FREE not in self.column_of and FREE not in self.row_of


@dataclass(frozen=True, slots=True)
class Parts:
    """The coarse Dulmage-Mendelsohn parts; members ascending."""

    over_rows: list[int]
    over_columns: list[int]
    under_rows: list[int]
    under_columns: list[int]
    square_rows: list[int]
    square_columns: list[int]


def maximum_matching(rows: Rows, n_columns: int) -> Matching:
    """A maximum matching of rows and columns."""
    matching = _by_least_degree(rows, n_columns)
    while _phase(rows, matching):
        pass
    return matching


def dulmage_mendelsohn(rows: Rows, n_columns: int, matching: Matching) -> Parts:
    """The coarse parts of a graph, from a maximum matching of it."""
    columns = transposed(rows, n_columns)
    over_rows, over_columns = _reached(rows, matching.column_of, matching.row_of)
    under_columns, under_rows = _reached(columns, matching.row_of, matching.column_of)
    return Parts(
        _members(over_rows),
        _members(over_columns),
        _members(under_rows),
        _members(under_columns),
        [r for r in range(len(rows)) if not over_rows[r] and not under_rows[r]],
        [c for c in range(n_columns) if not over_columns[c] and not under_columns[c]],
    )


def transposed(rows: Rows, n_columns: int) -> list[list[int]]:
    """For each column the rows that touch it, ascending."""
    columns: list[list[int]] = [[] for _ in range(n_columns)]
    for r, row in enumerate(rows):
        for c in row:
            columns[c].append(r)
    return columns


# ---------------------------------------------------------------------------------------------------------- the start


def _by_least_degree(rows: Rows, n_columns: int) -> Matching:
    """Match the vertex with the fewest free neighbours to that neighbour with the fewest of its own; repeat.

    Vertices are numbered rows first, then columns, and wait in buckets by degree; outdated entries are skipped.
    """
    n_rows = len(rows)
    columns_of = [list(dict.fromkeys(row)) for row in rows]
    neighbours = [[n_rows + c for c in row] for row in columns_of] + transposed(columns_of, n_columns)
    degree = [len(around) for around in neighbours]
    buckets: list[list[int]] = [[] for _ in range(max(degree, default=0) + 1)]
    for v in range(len(degree) - 1, -1, -1):
        buckets[degree[v]].append(v)
    partner = [FREE] * len(degree)
    at = 1
    while at < len(buckets):
        if not buckets[at]:
            at += 1
            continue
        v = buckets[at].pop()
        if degree[v] != at or partner[v] != FREE:
            continue
        w = min((w for w in neighbours[v] if partner[w] == FREE), key=degree.__getitem__)
        partner[v], partner[w] = w, v
        for taken in (v, w):
            for other in neighbours[taken]:
                if partner[other] == FREE:
                    fewer = degree[other] = degree[other] - 1
                    buckets[fewer].append(other)
                    if 0 < fewer < at:
                        at = fewer
    column_of = [c if c == FREE else c - n_rows for c in partner[:n_rows]]
    return Matching(column_of, partner[n_rows:])


# ------------------------------------------------------------------------------------------------------ Hopcroft-Karp


def _phase(rows: Rows, matching: Matching) -> bool:
    """Augment along a maximal set of disjoint shortest paths; False where there is none."""
    level, reaches_free = _levels(rows, matching)
    if not reaches_free:
        return False
    position = [0] * len(rows)
    for root in range(len(rows)):
        if matching.column_of[root] == FREE:
            _augment(root, rows, matching, level, position)
    return True


def _levels(rows: Rows, matching: Matching) -> tuple[list[int], bool]:
    """Distance of every row from the free rows, up to the first free column; -1 beyond."""
    level = [-1] * len(rows)
    frontier = [r for r in range(len(rows)) if matching.column_of[r] == FREE]
    for r in frontier:
        level[r] = 0
    reaches_free, depth = False, 0
    row_of = matching.row_of
    while frontier and not reaches_free:
        depth += 1
        following: list[int] = []
        for r in frontier:
            for c in rows[r]:
                owner = row_of[c]
                if owner == FREE:
                    reaches_free = True
                elif level[owner] < 0:
                    level[owner] = depth
                    following.append(owner)
        frontier = following
    return level, reaches_free


def _augment(root: int, rows: Rows, matching: Matching, level: list[int], position: list[int]) -> None:
    """Follow levels from a free row to a free column; `position` remembers what failed."""
    column_of, row_of = matching.column_of, matching.row_of
    path = [root]
    while path:
        row = path[-1]
        columns = rows[row]
        step = FREE
        while position[row] < len(columns):
            step = columns[position[row]]
            owner = row_of[step]
            if owner == FREE or level[owner] == level[row] + 1:
                break
            position[row] += 1
        else:
            path.pop()
            level[row] = -1
            if path:
                position[path[-1]] += 1
            continue
        owner = row_of[step]
        if owner != FREE:
            path.append(owner)
            continue
        for row in reversed(path):
            previous = column_of[row]
            column_of[row], row_of[step] = step, row
            level[row] = -1
            step = previous
        return


def _reached(graph: Rows, partner: list[int], partner_back: list[int]) -> tuple[list[bool], list[bool]]:
    """What alternating paths from the free vertices of this side reach: on this side, and on the other."""
    here, there = [False] * len(partner), [False] * len(partner_back)
    stack = [v for v, p in enumerate(partner) if p == FREE]
    for v in stack:
        here[v] = True
    while stack:
        for other in graph[stack.pop()]:
            if there[other]:
                continue
            there[other] = True
            back = partner_back[other]
            if back != FREE and not here[back]:
                here[back] = True
                stack.append(back)
    return here, there


def _members(flags: list[bool]) -> list[int]:
    return [k for k, flag in enumerate(flags) if flag]
