"""Linear systems with the elimination written out: the C functions of a plan (khz_planned.h, graphs/pivots.py).

Rows are scaled by a power of two to a largest entry below one; of the rows that are alike the one with the largest
entry becomes the pivot.  On a full matrix these are the operations of khz_lu_factor and khz_lu_solve, in their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kilohertz.codegen.definite_plans import DefiniteElimination
from kilohertz.codegen.elimination_lines import braced, by_pairs, runs
from kilohertz.codegen.plans import array, pointer
from kilohertz.codegen.scattered_tables import Tables
from kilohertz.codegen.turn_tables import turn_tables
from kilohertz.cost import PlannedLoop, is_by_tables
from kilohertz.graphs import DefinitePlan, Pattern, Pivot, PivotPlan
from kilohertz.runtime import formula


@dataclass(frozen=True, slots=True)
class _Elimination:
    """A plan with the places of its numbers: of the matrix by rows, of the factors by rows with fill."""

    pattern: Pattern
    plan: PivotPlan
    given: tuple[dict[int, int], ...]
    lu: tuple[dict[int, int], ...]

    def factor(self) -> list[str]:
        n = len(self.pattern)
        body = ["double total = 0.0, most = 0.0;"]
        for i in range(n):
            body += braced(self._scaled(i))
        body += ["if (!(total <= DBL_MAX)) {", "    return 1;", "}"]
        for k, pivot in enumerate(self.plan.pivots):
            body += braced(self._turn(k, pivot))
        return [*body, "return most <= KHZ_PLANNED_MULTIPLE ? 0 : 1;"]

    def _scaled(self, i: int) -> list[str]:
        """A row of the matrix, brought to size one."""
        given, lu = self.given[i], self.lu[i]
        lines = _largest("largest", [f"a[{k}]" for k in given.values()])
        lines += [f"total += fabs(a[{k}]);" for k in given.values()]
        lines += ["if (largest == 0.0) {", "    return 1;", "}"]
        lines += ["const double scale = khz_power_to_one(largest);", f"lu[{self._scale(i)}] = scale;"]
        places = [(lu[j], k) for j, k in sorted(given.items(), key=lambda item: lu[item[0]])]
        for to, from_, length in runs(places):
            lines += by_pairs(to, from_, length, "scale * {from_}", "a")
        return [*lines, *(f"lu[{k}] = 0.0;" for j, k in lu.items() if j not in given)]

    def _scale(self, row: int) -> int:
        return self.plan.n_entries + row

    def _turn(self, k: int, p: Pivot) -> list[str]:
        """Choose the pivot, and subtract its row from those below."""
        at = self.lu[p.row][p.column]
        above = [f"lu[{self.lu[q.row][p.column]}]" for q in self.plan.pivots[:k] if p.column in q.right]
        lines = [f"double best = fabs(lu[{at}]);", *_largest("above", above)]
        lines += self._choice(k, p) if p.alike else []
        n = len(self.pattern)
        check = f"khz_is_chosen_pivot({n}, best, above)" if self.plan.is_chosen else "khz_is_pivot(best, above)"
        lines += [f"if (!{check}) {{", "    return 1;", "}"]
        lines += [f"const double inverse = 1.0 / lu[{at}];"] if p.below else []
        for i in p.below:
            own = self.lu[i][p.column]
            lines += [f"const double f{i} = lu[{own}] * inverse;", f"lu[{own}] = f{i};"]
            lines += [f"most = khz_larger(most, fabs(f{i}));"] if i in p.other else []
            for to, from_, length in runs(self._pairs(i, p)):
                lines += by_pairs(to, from_, length, f"{{to}} - f{i} * {{from_}}", "lu")
        return lines

    def _choice(self, k: int, p: Pivot) -> list[str]:
        """Exchange the row of the pivot with the best of those that are alike."""
        lines = [f"int32_t row = {p.row};"]
        cases: list[str] = []
        for i in p.alike:
            place = f"fabs(lu[{self.lu[i][p.column]}])"
            lines += [f"if ({place} > best) {{", f"    best = {place};", f"    row = {i};", "}"]
            swaps = [(self.lu[i][j], self.lu[p.row][j]) for j in (p.column, *p.right)]
            calls = [f"    khz_exchange({n}, lu + {a}, lu + {b});" for a, b, n in runs(sorted(swaps))]
            cases += [f"case {i}:", *calls, "    break;"]
        return [*lines, f"order[{k}] = row;", "switch (row) {", *cases, "default:", "    break;", "}"]

    def _pairs(self, i: int, p: Pivot) -> list[tuple[int, int]]:
        return sorted((self.lu[i][j], self.lu[p.row][j]) for j in p.right)

    def solve(self, number: str) -> list[str]:
        """Forward in the order of the turns, with their exchanges, and back."""
        body = [f"{number} w[{len(self.pattern)}];"]
        body += [f"w[{i}] = b[{i}] * lu[{self._scale(i)}];" for i in range(len(self.pattern))]
        for k, p in enumerate(self.plan.pivots):
            if p.alike:
                body += braced(
                    [f"const {number} t = w[order[{k}]];", f"w[order[{k}]] = w[{p.row}];", f"w[{p.row}] = t;"]
                )
            body += [f"w[{i}] -= lu[{self.lu[i][p.column]}] * w[{p.row}];" for i in p.below]
        for p in reversed(self.plan.pivots):
            lu = self.lu[p.row]
            right = sorted(p.right, key=lu.__getitem__, reverse=self.plan.is_chosen)  # as khz_turns_solve
            terms = "".join(f" - lu[{lu[j]}] * b[{j}]" for j in right)
            body.append(f"b[{p.column}] = (w[{p.row}]{terms}) / lu[{lu[p.column]}];")
        return body


@dataclass(frozen=True, slots=True)
class _ByTables:
    """Calls of khz_turns.h with the tables of a plan."""

    name: str
    n: int

    def factor(self) -> list[str]:
        return [f"return khz_turns_factor(&{self.name}_turns, a, lu);"]

    def solve(self, number: str) -> list[str]:
        lanes = "" if number == "double" else "_lanes"
        return [f"{number} work[{self.n}];", f"khz_turns_solve{lanes}(&{self.name}_turns, lu, b, work);"]


def linear_plan_lines(
    name: str, planned: PlannedLoop, with_lanes: bool, often: bool = True, tables: Tables | None = None
) -> list[str]:
    """Its functions, and `const khz_linear_plan <name>` for all files; `often`: it is for steps of real time.
    `tables`: of the way out, where that is not a full matrix."""
    pattern, plan = planned
    n = len(pattern)
    solved = "(const double *lu, const int32_t *order,"
    elimination: _Elimination | _ByTables | DefiniteElimination
    if isinstance(plan, DefinitePlan):
        elimination, is_ordered = DefiniteElimination.of(pattern, plan), False
    elif is_by_tables(plan, often):
        elimination, is_ordered = _ByTables(name, n), False
    else:
        elimination = _Elimination(pattern, plan, _places(pattern), _places(plan.rows))
        is_ordered = any(p.alike for p in plan.pivots)
    turns: list[str] = []
    if isinstance(plan, PivotPlan) and is_by_tables(plan, often):
        turns = turn_tables(name, pattern, plan, not often)
    unused = [] if is_ordered else ["    (void)order;"]

    def function(head: str, body: Sequence[str]) -> list[str]:
        return [f"static KHZ_COMPACT {head}", "{", *unused, *("    " + line for line in body), "}", ""]

    full = f"{name}_dense"
    places = [] if tables is not None else [i * n + j for i, row in enumerate(pattern) for j in row]
    return [
        *(array(full, places, dense=not often) if places else []),
        *turns,
        *function(f"int {name}_factor(const double *a, double *lu, int32_t *order)", elimination.factor()),
        *function(f"void {name}_solve{solved} double *b)", elimination.solve("double")),
        *(
            function(f"void {name}_solve_lanes{solved} khz_lanes *b)", elimination.solve("khz_lanes"))
            if with_lanes
            else []
        ),
        f"const khz_linear_plan {name} = {{",
        f"    .n = {n}, .n_a = {sum(map(len, pattern))},",
        f"    .room = {formula('KHZ_PLANNED_ROOM', n)}, .dense = {pointer(full, not often)},"
        if tables is None
        else f"    .room = {tables.system.room}, .scattered = &{tables.name},",
        *(["    .is_symmetric = 1,"] if isinstance(plan, DefinitePlan) else []),
        f"    .factor = {name}_factor, .solve = {name}_solve,",
        *([f"    .solve_lanes = {name}_solve_lanes,"] if with_lanes else []),
        "};",
        "",
    ]


def _places(rows: Pattern) -> tuple[dict[int, int], ...]:
    """By row and column, where rows stand one after the other."""
    out, at = [], 0
    for row in rows:
        out.append({j: at + k for k, j in enumerate(row)})
        at += len(row)
    return tuple(out)


def _largest(name: str, numbers: Sequence[str]) -> list[str]:
    """A variable for the largest size of some numbers; not a number where the first is none."""
    first = f"fabs({numbers[0]})" if numbers else "0.0"
    return [f"double {name} = {first};", *(f"{name} = khz_larger({name}, fabs({one}));" for one in numbers[1:])]
