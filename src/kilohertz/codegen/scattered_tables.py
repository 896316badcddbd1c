"""Large linear systems that are kept without zeros: what is known of one as constant C data (khz_scattered.h)."""

from __future__ import annotations

from typing import NamedTuple

from kilohertz.codegen.plans import array, pointer, starts
from kilohertz.cost import ScatteredLoop


class Tables(NamedTuple):
    """The C name of the tables of a loop."""

    name: str
    system: ScatteredLoop


def scattered_lines(tables: Tables, dense: bool, *, here: bool = False) -> list[str]:
    """`const khz_scattered <name>` for all files, or for what stands `here`."""
    name, system = tables
    columns: list[list[tuple[int, int]]] = [[] for _ in system.pattern]  # row and number of each entry
    numbers = ((i, j) for i, row in enumerate(system.pattern) for j in row)
    for number, (i, j) in enumerate(numbers):
        columns[j].append((i, number))
    arrays = {
        "start": starts(columns),
        "row": [i for column in columns for i, _ in column],
        "place": [number for column in columns for _, number in column],
        "order": list(system.order.columns),
    }
    n, n_a = len(columns), sum(map(len, columns))
    return [
        *(line for part, values in arrays.items() for line in array(f"{name}_{part}", values, dense=dense)),
        f"{'static ' if here else ''}const khz_scattered {name} = {{",
        f"    .n = {n}, .n_a = {n_a}, .n_lu = {system.n_entries},",
        *(f"    .{part} = {pointer(f'{name}_{part}', dense)}," for part in arrays),
        "};",
        "",
    ]
