"""The virtual connection graph: which connections break, who is root, what `rooted` says."""

from __future__ import annotations

import random

from kilohertz.base import Severity
from kilohertz.graphs import UnionFind
from kilohertz.semantics.connecting.overconstrained import Branch, BreakableEdge, Forest, Root, spanning_forest


def forest(roots: str, potential: str, branches: str, connections: str) -> Forest:
    """Words: `a b`, `a=3 b`, `a-b c-d`."""
    pairs = [edge.split("-") for edge in branches.split()]
    edges = [edge.split("-") for edge in connections.split()]
    return spanning_forest(
        [],
        [Root(name) for name in roots.split()],
        [Root(*((w := word.split("="))[0], int(w[1]))) for word in potential.split()],
        [Branch(a, b) for a, b in pairs],
        [BreakableEdge(k, a, b) for k, (a, b) in enumerate(edges)],
    )


def test_a_chain_breaks_nothing() -> None:
    chain = forest("w", "", "a-b c-d", "w-a b-c")
    assert not chain.broken
    assert chain.roots == ("w",)
    assert [chain.rooted(n) for n in "abcd"] == [True, False, True, False]
    assert chain.is_root("w")
    assert not chain.is_root("a")
    assert not chain.diagnostics


def test_a_loop_breaks_at_the_connection_that_closes_it() -> None:
    loop = forest("w", "", "a-b c-d", "w-a w-c b-d")
    assert loop.broken == {2}
    assert not loop.redundant


def test_two_roots_break_what_joins_them() -> None:
    two = forest("w v", "", "a-b", "w-a b-v")
    assert two.broken == {1}
    assert two.roots == ("w", "v")


def test_two_roots_joined_by_branches_are_an_error() -> None:
    assert [d.code for d in forest("w v", "", "w-v", "").diagnostics] == ["S461"]


def test_branches_that_close_a_loop_are_an_error() -> None:
    assert [d.code for d in forest("a", "", "a-b b-c c-a", "").diagnostics] == ["S462"]


def test_the_potential_root_of_lowest_priority_is_taken() -> None:
    free = forest("", "a=2 c=1 d=1", "a-b c-d", "b-c")
    assert free.roots == ("c",)
    assert [free.rooted(n) for n in "abcd"] == [False, True, True, False]
    definite = forest("b", "a=0", "a-b", "")
    assert definite.roots == ("b",)


def test_of_equal_potential_roots_the_highest_component_is_taken() -> None:
    net = forest("", "plant.generator.p=0 'a.b'.p=0 other.p=0", "", "plant.generator.p-'a.b'.p 'a.b'.p-other.p")
    assert net.roots == ("'a.b'.p",)
    assert forest("", "plant.generator.p=0 grid.p=1", "", "plant.generator.p-grid.p").roots == ("plant.generator.p",)


def test_a_loop_of_connections_alone_is_redundant_not_broken() -> None:
    ring = forest("a", "", "", "a-b b-c c-a a-b")
    assert ring.redundant == {2, 3}
    assert not ring.broken


def test_without_a_root_a_warning() -> None:
    lost = forest("", "", "a-b", "")
    assert [(d.code, d.severity) for d in lost.diagnostics] == [("S463", Severity.WARNING)]
    assert lost.is_root("a")


def test_a_node_on_its_own_is_its_root_silently() -> None:
    lone = spanning_forest(["x"], [], [], [], [])
    assert lone.is_root("x")
    assert not lone.diagnostics


def test_kept_edges_are_a_forest_with_one_root_per_tree() -> None:
    rng = random.Random(1)
    for _ in range(200):
        n = rng.randint(2, 12)
        names = [f"n{k}" for k in range(n)]
        branches = [Branch(names[k], names[k + 1]) for k in range(0, n - 1, 2)]
        pairs = [rng.sample(names, 2) for _ in range(rng.randint(0, 15))]
        edges = [BreakableEdge(k, a, b) for k, (a, b) in enumerate(pairs)]
        roots = [Root(name) for name in names[::2] if rng.random() < 0.3]
        found = spanning_forest(names, roots, [], branches, edges)
        sets = UnionFind(n)
        number = {name: k for k, name in enumerate(names)}
        assert all(sets.union(number[b.left], number[b.right]) for b in branches)
        kept = [e for e in edges if e.index not in found.broken | found.redundant]
        assert all(sets.union(number[e.left], number[e.right]) for e in kept)
        trees = sets.groups()
        assert sorted(sets.find(number[r]) for r in found.roots) == sorted(sets.find(tree[0]) for tree in trees)
