"""Plans of sparse factorisations as constant C data (khz_sparse.h): of the state Jacobian and of nonlinear loops."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Protocol

from kilohertz.codegen.writing.writer import Definition
from kilohertz.cost import is_written_out, loop_elimination, loop_pattern
from kilohertz.graphs import Elimination
from kilohertz.ir.step import NonlinearLoop
from kilohertz.runtime import formula

_LONG = 1000  # entries of a table that nobody reads
_LONG_ROW = 8  # entries of a row of L or U


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


def plan_lines(name: str, rows: list[list[int]], elimination: Elimination | None, often: bool = True) -> list[str]:
    """Order, fill and places as `static const khz_sparse_plan <name>`; nothing without an elimination.  What is
    factorised `often` is written out as well."""
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
        "lu_diagonal": [lu_first[i] + row.index(i) for i, row in enumerate(elimination.rows)],
    }
    written = often and is_written_out(elimination)
    return [
        *(line for part, values in arrays.items() for line in array(f"{name}_{part}", values, dense=not often)),
        *(written_out(name, with_diagonal, elimination) if written else []),
        f"static const khz_sparse_plan {name} = {{",
        f"    .n = {n}, .n_a = {first[-1]}, .n_jac = {sum(map(len, rows))}, .n_lu = {lu_first[-1]},",
        *(f"    .{part} = {pointer(f'{name}_{part}', not often)}," for part in arrays),
        f"    .n_products = {elimination.n_products}, .is_alike = {int(_are_alike(elimination))},",
        *([f"    .factor = {name}_factor, .solve = {name}_solve,"] if written else []),
        "};",
        "",
    ]


def _are_alike(elimination: Elimination) -> bool:
    """Whether a quarter of the entries of L and U stand in rows that follow one like them without gaps."""
    runs = [(0, 0)]  # entries beside the diagonal, to the left and to the right, where no column is missing
    n = 0
    for i, row in enumerate(elimination.rows):
        lower = bisect_left(row, i)
        upper = len(row) - lower - 1
        lower, upper = lower if row[0] == i - lower else 0, upper if row[-1] == i + upper else 0
        n += lower if lower >= _LONG_ROW and lower == runs[-1][0] + 1 else 0
        n += upper if upper >= _LONG_ROW and upper == runs[-1][1] - 1 else 0
        runs.append((lower, upper))
    return 4 * n > elimination.n_entries


def written_out(name: str, rows: list[list[int]], elimination: Elimination) -> list[str]:
    """khz_sparse_factor and khz_sparse_solve with the loops of this plan unrolled: the same operations in order."""
    order, first = elimination.order, starts(rows)
    begins = starts(elimination.rows)
    places = [{j: begins[i] + k for k, j in enumerate(row)} for i, row in enumerate(elimination.rows)]
    inverse = {v: k for k, v in enumerate(order)}
    factor = []
    for i, at in enumerate(places):
        entries = {inverse[j]: first[order[i]] + k for k, j in enumerate(rows[order[i]])}
        factor += ["{", *("    " + line for line in _row(i, at, entries, places)), "}"]
    solve = []
    for i, at in enumerate(places):
        lower = [f" - lu[{k}] * b[{order[j]}]" for j, k in at.items() if j < i]
        solve += [f"b[{order[i]}] = b[{order[i]}]{''.join(lower)};"] if lower else []
    for i, at in reversed(list(enumerate(places))):
        upper = "".join(f" - lu[{k}] * b[{order[j]}]" for j, k in reversed(at.items()) if j > i)
        solve.append(f"b[{order[i]}] = ({f'b[{order[i]}]{upper}'}) * lu[{at[i]}];")
    return [
        f"static KHZ_COMPACT int {name}_factor(const double *a, double *lu)",
        "{",
        f"    double peak[{len(places)}]; /* the largest entry of each row of U */",
        *("    " + line for line in factor),
        "    return 0;",
        "}",
        "",
        f"static KHZ_COMPACT void {name}_solve(const double *lu, double *b)",
        "{",
        *("    " + line for line in solve),
        "}",
        "",
    ]


def _row(i: int, at: dict[int, int], entries: dict[int, int], places: list[dict[int, int]]) -> list[str]:
    """One row of the factors: what it is made of, multiples of earlier rows subtracted, the checks."""
    lines = [f"double t{j} = {f'a[{entries[j]}]' if j in entries else '0.0'};" for j in at]
    lines += ["double largest = 0.0, reached = 0.0, most = 0.0;", f"double whole = fabs(t{i});"]
    lines += [f"largest = khz_larger(largest, fabs(a[{k}]));" for k in entries.values()]
    for j in (j for j in at if j < i):
        lines.append(f"const double f{j} = t{j} * lu[{places[j][j]}];")
        lines.append(f"lu[{at[j]}] = f{j};")
        for m, k in places[j].items():
            if m == i:
                lines.append(f"const double before{j} = t{i};")
            lines += [f"t{m} -= f{j} * lu[{k}];"] if m > j else []
            if m == i:
                lines.append(f"whole += fabs(t{i} - before{j});")
        lines.append(f"reached = khz_larger(reached, fabs(f{j}) * peak[{j}]);")
    for j in (j for j in at if j >= i):
        lines += [f"lu[{at[j]}] = t{j};"] if j > i else []
        lines.append(f"most = khz_larger(most, fabs(t{j}));")
    lines += [f"peak[{i}] = most;", f"if (!khz_suits(fabs(t{i}), whole, most, reached, largest)) {{", "    return 1;"]
    return [*lines, "}", f"lu[{at[i]}] = 1.0 / t{i};"]


def starts(rows: Sequence[Sequence[object]]) -> list[int]:
    """Where each row begins when they stand one after the other."""
    out = [0]
    for row in rows:
        out.append(out[-1] + len(row))
    return out


def pointer(name: str, dense: bool) -> str:
    """To a table."""
    return f"(const int32_t *){name}" if dense else name


def array(name: str, values: Sequence[int], *, dense: bool = False) -> list[str]:
    """A constant table of integers; where it is long and `dense`, as the text of 32-bit characters, which a compiler
    reads in a tenth of the time."""
    if dense and len(values) >= _LONG:
        texts = [f"\\x{v & 0xFFFFFFFF:x}" for v in values]
        quoted = (f'    U"{"".join(texts[k : k + 14])}"' for k in range(0, len(texts), 14))
        return [f"static const uint32_t {name}[] =", *quoted, ";", ""]
    lines = [f"static const int32_t {name}[] = {{"]
    for k in range(0, len(values), 16):
        lines.append("    " + " ".join(f"{v}," for v in values[k : k + 16]))
    return [*lines, "};", ""]
