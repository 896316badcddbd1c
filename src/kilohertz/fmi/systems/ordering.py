"""In which order components are stepped, and which of them need each other at one instant.

A vertex of the fine graph is an output or an input: a connection leads from one to the other, and inside a component
from an input to the outputs that follow from it at once (its FMU says so).  A circle in it is an algebraic loop.

The order is of components: each behind those that drive it, so that chains have their values at the start and in every
step.  Components that drive each other are ordered by the inputs alone that something follows from at once; where these
are in each other's way too, they stay in the order of the file.
"""

from __future__ import annotations

from kilohertz.fmi.systems.flattening import FlatSystem
from kilohertz.graphs import strong_components

_Vertex = tuple[int, str]  # a part and a variable of it


def loops(flat: FlatSystem) -> list[tuple[str, ...]]:
    """Algebraic loops, each as the variables on its way, `part.variable`; it ends where it begins."""
    return [tuple(f"{flat.parts[p].name}.{name}" for p, name in way) for way in _ways(flat)]


def loop_members(flat: FlatSystem) -> list[list[int]]:
    """The parts of each algebraic loop."""
    return [sorted({p for p, _ in way}) for way in _ways(flat)]


def in_order(flat: FlatSystem) -> list[int]:
    """Parts in the order of their steps."""
    every: list[list[int]] = [[] for _ in flat.parts]
    at_once: list[list[int]] = [[] for _ in flat.parts]
    for wire in flat.wires:
        (a, _), (b, variable) = wire.source, wire.target
        if a != b:
            every[b].append(a)
            if any(variable.name in inputs for inputs in flat.parts[b].description.feeds.values()):
                at_once[b].append(a)
    order: list[int] = []
    for group in _sorted(every, list(range(len(flat.parts)))):
        order += [part for inner in _sorted(at_once, group) for part in inner]
    return order


def _sorted(needs: list[list[int]], members: list[int]) -> list[list[int]]:
    """Groups of members that need each other, each behind what it needs; else what stands first in the file first."""
    number = {part: i for i, part in enumerate(members)}
    inside = [[number[a] for a in needs[part] if a in number] for part in members]
    groups = strong_components(inside)
    of = {part: k for k, group in enumerate(groups) for part in group}
    waiting = [{of[a] for part in group for a in inside[part]} - {k} for k, group in enumerate(groups)]
    out: list[list[int]] = []
    done: set[int] = set()
    while len(done) < len(groups):
        ready = (k for k in range(len(groups)) if k not in done and waiting[k] <= done)
        k = min(ready, key=lambda k: groups[k][0])
        done.add(k)
        out.append([members[i] for i in groups[k]])
    return out


def _ways(flat: FlatSystem) -> list[list[_Vertex]]:
    vertices: dict[_Vertex, int] = {}
    edges: list[list[int]] = []

    def number(vertex: _Vertex) -> int:
        if vertex not in vertices:
            vertices[vertex] = len(edges)
            edges.append([])
        return vertices[vertex]

    for wire in flat.wires:
        edges[number((wire.source[0], wire.source[1].name))].append(number((wire.target[0], wire.target[1].name)))
    for p, part in enumerate(flat.parts):
        for output, inputs in part.description.feeds.items():
            for name in sorted(inputs):
                if (p, output) in vertices and (p, name) in vertices:
                    edges[vertices[p, name]].append(vertices[p, output])
    named = list(vertices)
    found = [group for group in strong_components(edges) if len(group) > 1 or group[0] in edges[group[0]]]
    return [[named[v] for v in _way(edges, group)] for group in sorted(found)]


def _way(edges: list[list[int]], group: list[int]) -> list[int]:
    """A shortest circle through the first member."""
    inside, first = set(group), group[0]
    before: dict[int, int] = {}
    front = [first]
    while first not in before:
        front = [w for v in front for w in edges[v] if w in inside and before.setdefault(w, v) == v]
    way, v = [first], before[first]
    while v != first:
        way.append(v)
        v = before[v]
    return [first, *reversed(way[1:]), first]
