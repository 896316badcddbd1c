"""Plans of sparse factorisations as constant C data (khz_sparse.h): of the state Jacobian and of nonlinear loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kilohertz.codegen.writing.writer import Definition
from kilohertz.cost import loop_elimination, loop_pattern
from kilohertz.graphs import Elimination
from kilohertz.ir.step import NonlinearLoop
from kilohertz.runtime import formula


class Memory(Protocol):
    """Where doubles of loop memory are handed out."""

    memory: int


class Host(Protocol):
    """Who writes functions; see `BlockWriter`."""

    @property
    def layout(self) -> Memory: ...
    @property
    def functions(self) -> list[Definition]: ...


def sparse_loop(name: str, block: NonlinearLoop, host: Host) -> str:
    """Last arguments of khz_loop: the plan of a sparse factorisation, which is written, and its memory."""
    rows, elimination = loop_pattern(block), loop_elimination(block)
    if rows is None or elimination is None:
        return ", NULL, NULL"
    host.functions.append(Definition(plan_lines(f"{name}_plan", rows, elimination), is_local=True))
    at = host.layout.memory
    host.layout.memory += formula("KHZ_SPARSE_ROOM", elimination.n_entries, len(rows)) + sum(
        map(len, rows)
    )  # and the matrix
    return f", &{name}_plan, z->memory + {at}"


def plan_lines(name: str, rows: list[list[int]], elimination: Elimination | None) -> list[str]:
    """Order, fill and places as `static const khz_sparse_plan <name>`; nothing without an elimination."""
    if elimination is None:
        return []
    n = len(rows)
    with_diagonal = [sorted({i, *row}) for i, row in enumerate(rows)]
    first = starts(with_diagonal)
    place = {(i, j): first[i] + k for i, row in enumerate(with_diagonal) for k, j in enumerate(row)}
    inverse = [0] * n
    for k, v in enumerate(elimination.order):
        inverse[v] = k
    lu_first = starts(elimination.rows)
    lu_column = [j for row in elimination.rows for j in row]
    arrays = {
        "a_row": first,
        "a_column": [j for row in with_diagonal for j in row],
        "a_of_jac": [place[i, j] for i, row in enumerate(rows) for j in row],
        "a_diagonal": [place[i, i] for i in range(n)],
        "order": list(elimination.order),
        "inverse": inverse,
        "lu_row": lu_first,
        "lu_column": lu_column,
        "lu_origin": [elimination.order[j] for j in lu_column],
        "lu_diagonal": [lu_first[i] + row.index(i) for i, row in enumerate(elimination.rows)],
    }
    return [
        *(line for part, values in arrays.items() for line in array(f"{name}_{part}", values)),
        f"static const khz_sparse_plan {name} = {{",
        f"    .n = {n}, .n_a = {first[-1]}, .n_jac = {sum(map(len, rows))}, .n_lu = {lu_first[-1]},",
        *(f"    .{part} = {name}_{part}," for part in arrays),
        f"    .n_products = {elimination.n_products},",
        "};",
        "",
    ]


def starts(rows: Sequence[Sequence[object]]) -> list[int]:
    """Where each row begins when they stand one after the other."""
    out = [0]
    for row in rows:
        out.append(out[-1] + len(row))
    return out


def array(name: str, values: Sequence[int]) -> list[str]:
    """A constant table of integers."""
    lines = [f"static const int32_t {name}[] = {{"]
    for k in range(0, len(values), 16):
        lines.append("    " + " ".join(f"{v}," for v in values[k : k + 16]))
    return [*lines, "};", ""]
