"""Graph algorithms against brute force on small random graphs, and against size on large ones."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kilohertz.graphs import (
    FREE,
    UnionFind,
    colour_columns,
    colour_distance_2,
    dulmage_mendelsohn,
    groups_of,
    maximum_matching,
    strong_components,
    topological_order,
    weak_components,
)

bipartite = st.integers(1, 7).flatmap(
    lambda m: st.tuples(st.just(m), st.lists(st.lists(st.integers(0, m - 1), max_size=5), max_size=7))
)
digraph = st.integers(1, 8).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, n - 1), max_size=4), min_size=n, max_size=n)
)


def best_size(rows: list[list[int]]) -> int:
    """Size of a maximum matching, by trying everything (states: rows done, columns taken)."""
    sizes = {0: 0}
    for row in rows:
        grown = dict(sizes)
        for taken, size in sizes.items():
            for c in row:
                if not taken >> c & 1:
                    key = taken | 1 << c
                    grown[key] = max(grown.get(key, 0), size + 1)
        sizes = grown
    return max(sizes.values())


@settings(deadline=None, max_examples=400)
@given(bipartite)
def test_matching_is_valid_and_maximum(graph: tuple[int, list[list[int]]]) -> None:
    m, rows = graph
    matching = maximum_matching(rows, m)
    assert matching.size == best_size(rows)
    for r, c in enumerate(matching.column_of):
        assert c == FREE or (c in rows[r] and matching.row_of[c] == r)
    assert sum(r != FREE for r in matching.row_of) == matching.size


@settings(deadline=None, max_examples=400)
@given(bipartite)
def test_dulmage_mendelsohn_parts(graph: tuple[int, list[list[int]]]) -> None:
    m, rows = graph
    matching = maximum_matching(rows, m)
    parts = dulmage_mendelsohn(rows, m, matching)
    assert sorted(parts.over_rows + parts.under_rows + parts.square_rows) == list(range(len(rows)))
    assert sorted(parts.over_columns + parts.under_columns + parts.square_columns) == list(range(m))
    assert len(parts.square_rows) == len(parts.square_columns)
    assert len(parts.over_rows) - len(parts.over_columns) == matching.column_of.count(FREE)
    assert len(parts.under_columns) - len(parts.under_rows) == matching.row_of.count(FREE)
    over_columns = set(parts.over_columns)
    assert all(set(rows[r]) <= over_columns for r in parts.over_rows)
    # a row is in `over` exactly when the graph without it has a matching of the same size
    for r in range(len(rows)):
        without = best_size([*rows[:r], *rows[r + 1 :]]) if len(rows) > 1 else 0
        assert (without == matching.size) == (r in parts.over_rows)


@settings(deadline=None, max_examples=300)
@given(digraph)
def test_strong_components_are_mutual_reachability_in_order(graph: list[list[int]]) -> None:
    n = len(graph)
    reach = [{v} for v in range(n)]
    for _ in range(n):
        for v in range(n):
            reach[v] |= {x for w in graph[v] for x in reach[w]}
    components = strong_components(graph)
    assert sorted(v for c in components for v in c) == list(range(n))
    number = {v: k for k, c in enumerate(components) for v in c}
    for v in range(n):
        for w in range(n):
            assert (number[v] == number[w]) == (w in reach[v] and v in reach[w])
        assert all(number[w] <= number[v] for w in graph[v])
    order = topological_order(graph)
    acyclic = len(components) == n and all(v not in graph[v] for v in range(n))
    assert (order is not None) == acyclic
    if order is not None:
        place = {v: k for k, v in enumerate(order)}
        assert all(place[v] < place[w] for v in range(n) for w in graph[v])


@settings(deadline=None, max_examples=300)
@given(bipartite)
def test_colours_differ_within_a_row(graph: tuple[int, list[list[int]]]) -> None:
    m, rows = graph
    colours = colour_columns([sorted(set(r)) for r in rows], m)
    for row in rows:
        assert len({colours[c] for c in set(row)}) == len(set(row))
    assert sorted(c for g in groups_of(colours) for c in g) == list(range(m))


def test_a_band_matrix_needs_its_width() -> None:
    rows = [[c for c in (r - 1, r, r + 1) if 0 <= c < 500] for r in range(500)]
    assert max(colour_columns(rows, 500)) == 2
    assert max(colour_columns([[*range(500)]], 500)) == 499


def test_distance_2_on_a_path() -> None:
    path = [[w for w in (v - 1, v + 1) if 0 <= w < 9] for v in range(9)]
    assert max(colour_distance_2(path)) == 2


def test_disjoint_sets() -> None:
    sets = UnionFind(4)
    assert sets.union(0, 2)
    assert not sets.union(2, 0)
    assert sets.add() == 4
    assert sets.groups() == [[0, 2], [1], [3], [4]]
    assert weak_components(4, [(3, 1)]) == [[0], [1, 3], [2]]


@pytest.mark.parametrize("shape", ["chain", "random", "grid", "deficient"])
def test_large_graphs_go_through(shape: str) -> None:
    n = 30_000
    rng = random.Random(3)
    if shape == "chain":  # the greedy start in natural order is as wrong as can be
        rows = [[(r + 1) % n, r] for r in range(n - 1)] + [[n - 1]]
    elif shape == "random":
        rows = [[r, *(rng.randrange(n) for _ in range(4))] for r in range(n)]
        rng.shuffle(rows)
    elif shape == "grid":
        rows = [[c for c in (r, r - 1, r + 1, r - 150, r + 150) if 0 <= c < n] for r in range(n)]
        rng.shuffle(rows)
    else:
        rows = [[rng.randrange(n // 2) for _ in range(4)] for _ in range(n)]
    matching = maximum_matching(rows, n)
    assert matching.is_perfect or shape == "deficient"
    dulmage_mendelsohn(rows, n, matching)
    assert len(strong_components([[r for c in row if (r := matching.row_of[c]) != FREE] for row in rows])) >= 1
