"""Maximum matching of a bipartite graph, and what it tells about the parts that do not fit.

A graph is a list of rows, each the columns it touches.  Karp-Sipser (vertices of degree one first) gives a start that
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
    matching = _karp_sipser(rows, n_columns)
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


def _karp_sipser(rows: Rows, n_columns: int) -> Matching:
    """Match vertices of degree one as long as there are any, then any row; repeat."""
    graph = [list(dict.fromkeys(row)) for row in rows]
    n_rows = len(graph)
    columns = transposed(graph, n_columns)
    matching = Matching([FREE] * n_rows, [FREE] * n_columns)
    row_degree, column_degree = [len(r) for r in graph], [len(c) for c in columns]
    singles = [r for r in range(n_rows) if row_degree[r] == 1]
    singles += [n_rows + c for c in range(n_columns) if column_degree[c] == 1]
    singles.reverse()

    def take(r: int, c: int) -> None:
        matching.column_of[r], matching.row_of[c] = c, r
        for other in columns[c]:
            row_degree[other] -= 1
            if row_degree[other] == 1 and matching.column_of[other] == FREE:
                singles.append(other)
        for other in graph[r]:
            column_degree[other] -= 1
            if column_degree[other] == 1 and matching.row_of[other] == FREE:
                singles.append(n_rows + other)

    for row in range(n_rows):
        while singles:
            pair = _partner_of(singles.pop(), graph, columns, matching)
            if pair is not None:
                take(*pair)
        if matching.column_of[row] != FREE:
            continue
        free = [c for c in graph[row] if matching.row_of[c] == FREE]
        if free:
            take(row, min(free, key=lambda c: column_degree[c]))
    while singles:
        pair = _partner_of(singles.pop(), graph, columns, matching)
        if pair is not None:
            take(*pair)
    return matching


def _partner_of(vertex: int, graph: Rows, columns: Rows, matching: Matching) -> tuple[int, int] | None:
    """The edge from a vertex (rows first, then columns) to its one free neighbour."""
    n_rows = len(graph)
    if vertex < n_rows:
        if matching.column_of[vertex] == FREE:
            for c in graph[vertex]:
                if matching.row_of[c] == FREE:
                    return vertex, c
        return None
    column = vertex - n_rows
    if matching.row_of[column] == FREE:
        for r in columns[column]:
            if matching.column_of[r] == FREE:
                return r, column
    return None


# ------------------------------------------------------------------------------------------------------ Hopcroft-Karp


def _phase(rows: Rows, matching: Matching) -> bool:
    """Augment along a maximal set of disjoint shortest paths; False where there is none."""
    level, found = _levels(rows, matching)
    if not found:
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
    found, depth = False, 0
    row_of = matching.row_of
    while frontier and not found:
        depth += 1
        following: list[int] = []
        for r in frontier:
            for c in rows[r]:
                owner = row_of[c]
                if owner == FREE:
                    found = True
                elif level[owner] < 0:
                    level[owner] = depth
                    following.append(owner)
        frontier = following
    return level, found


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
