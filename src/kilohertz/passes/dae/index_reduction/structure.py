"""Whether index reduction can end: variables and their derivatives taken as one must find a row each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kilohertz.graphs import FREE, maximum_matching
from kilohertz.ir.expr import Ref
from kilohertz.ir.ordered import Row
from kilohertz.ir.types import REAL
from kilohertz.passes.ordered.solving_order import singular


def check_structure(
    rows: list[Row], touched: Sequence[Sequence[int]], number: Mapping[str, int], previous: Sequence[int]
) -> None:
    """Refuse what never ends: no perfect matching of rows and variables, each with all of its derivatives."""
    names = list(number)
    head = list(range(len(names)))
    for i in range(len(head)):
        j = i
        while previous[j] != FREE:
            j = previous[j]
        head[i] = j
    heads = sorted(set(head))
    column = {h: k for k, h in enumerate(heads)}
    graph = []
    for row, columns in zip(rows, touched, strict=True):
        if row.target is not None and not row.invertible:
            target = number.get(row.target)
            graph.append([] if target is None else [column[head[target]]])
        else:
            graph.append(list(dict.fromkeys(column[head[i]] for i in columns)))
    matching = maximum_matching(graph, len(heads))
    if not matching.is_perfect:
        raise singular(rows, graph, [Ref(names[h], REAL) for h in heads], matching)
