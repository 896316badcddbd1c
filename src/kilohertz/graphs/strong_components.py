"""Strong components and topological order of a directed graph, without recursion.

A graph is, for each vertex, the list of the vertices it leads to.  R. Tarjan (1972), on an explicit stack: O(edges).
"""

from __future__ import annotations

from collections.abc import Sequence

from kilohertz.graphs.unionfind import UnionFind


def strong_components(successors: Sequence[Sequence[int]], first: Sequence[int] = ()) -> list[list[int]]:
    """Components, each after all it leads to (so with edges to what a vertex needs: in order of computation); those of
    the vertices `first` before others, with what they lead to.

    Members of a component are ascending.
    """
    n = len(successors)
    index, low, on_stack = [-1] * n, [0] * n, [False] * n
    position = [0] * n
    stack: list[int] = []
    components: list[list[int]] = []
    count = 0
    for root in (*first, *range(n)):
        if index[root] >= 0:
            continue
        path = [root]
        while path:
            v = path[-1]
            if index[v] < 0:
                index[v] = low[v] = count
                count += 1
                stack.append(v)
                on_stack[v] = True
            edges, at = successors[v], position[v]
            while at < len(edges):
                w = edges[at]
                at += 1
                if index[w] < 0:
                    break
                if on_stack[w] and index[w] < low[v]:
                    low[v] = index[w]
            else:
                position[v] = at
                path.pop()
                if path and low[v] < low[path[-1]]:
                    low[path[-1]] = low[v]
                if low[v] == index[v]:
                    components.append(_popped(stack, on_stack, v))
                continue
            position[v] = at
            path.append(w)
    return components


def _popped(stack: list[int], on_stack: list[bool], head: int) -> list[int]:
    component: list[int] = []
    while True:
        w = stack.pop()
        on_stack[w] = False
        component.append(w)
        if w == head:
            return sorted(component)


def topological_order(successors: Sequence[Sequence[int]]) -> list[int] | None:
    """Vertices with every edge leading forward, lowest number first among equals; None where there is a cycle."""
    waiting = [0] * len(successors)
    for edges in successors:
        for w in edges:
            waiting[w] += 1
    order = [v for v, count in enumerate(waiting) if count == 0]
    for v in order:  # grows while it is walked
        for w in successors[v]:
            waiting[w] -= 1
            if waiting[w] == 0:
                order.append(w)
    return order if len(order) == len(successors) else None


def weak_components(n: int, edges: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Parts of an undirected graph on 0 .. n-1; members ascending, parts by their smallest member."""
    sets = UnionFind(n)
    for a, b in edges:
        sets.union(a, b)
    return sets.groups()
