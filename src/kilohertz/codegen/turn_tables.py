"""Linear systems whose elimination is run through by tables: a plan as constant C data (khz_turns.h)."""

from __future__ import annotations

from collections.abc import Sequence

from kilohertz.codegen.plans import array, pointer, starts
from kilohertz.graphs import Pattern, PivotPlan


def turn_tables(name: str, pattern: Pattern, plan: PivotPlan, dense: bool) -> list[str]:
    """`static const khz_turns <name>_turns`; rows that are alike are not exchanged."""
    begins = starts(plan.rows)
    place = [{j: begins[i] + k for k, j in enumerate(row)} for i, row in enumerate(plan.rows)]
    above: list[list[int]] = [[] for _ in pattern]  # by column
    of_turn: list[list[int]] = []
    for p in plan.pivots:
        of_turn.append(above[p.column])
        for j in p.right:
            above[j].append(place[p.row][j])
    below = [[(place[i][p.column], i) for i in p.below] for p in plan.pivots]
    right = [sorted(p.right, key=place[p.row].__getitem__) for p in plan.pivots]
    arrays: dict[str, Sequence[int]] = {
        "a_row": starts(pattern),
        "a_to": [place[i][j] for i, row in enumerate(pattern) for j in row],
        "lu_row": begins,
        "lu_column": [j for row in plan.rows for j in row],
        "row": [p.row for p in plan.pivots],
        "pivot": [place[p.row][p.column] for p in plan.pivots],
        "above_of": starts(of_turn),
        "above": [at for places in of_turn for at in places],
        "below_of": starts(below),
        "below": [at for places in below for at, _ in places],
        "below_row": [i for places in below for _, i in places],
        "to": [place[i][j] for p, columns in zip(plan.pivots, right, strict=True) for i in p.below for j in columns],
    }
    return [
        *(line for part, values in arrays.items() for line in array(f"{name}_{part}", values, dense=dense)),
        f"static const khz_turns {name}_turns = {{",
        f"    .n = {len(pattern)},",
        *(f"    .{part} = {pointer(f'{name}_{part}', dense)}," for part in arrays),
        "};",
        "",
    ]
