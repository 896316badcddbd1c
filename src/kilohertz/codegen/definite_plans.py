"""Symmetric linear systems with the elimination written out: the C functions of a plan (graphs/definite.py).

One triangle is stored, by rows in the order of elimination: of each pivot itself and what is to the right of it.  Each
pivot must be positive and not lost beside the entry of the matrix it is what is left of: then the matrix is definite,
no number on the way exceeds those of the diagonal, and exchanges would gain nothing (Higham, Accuracy and Stability of
Numerical Algorithms, 10.1).  Where one is not, the dense way decides.
"""

from __future__ import annotations

from dataclasses import dataclass

from kilohertz.codegen.elimination_lines import braced, by_pairs, runs
from kilohertz.graphs import DefinitePlan, Pattern


@dataclass(frozen=True, slots=True)
class DefiniteElimination:
    """A plan with the places of its numbers: of the matrix by rows, of the factors by turns."""

    plan: DefinitePlan
    given: dict[tuple[int, int], int]  # one triangle of the matrix
    row: tuple[int, ...]  # where the pivot of a turn stands; what is right of it follows

    @classmethod
    def of(cls, pattern: Pattern, plan: DefinitePlan) -> DefiniteElimination:
        given = {at: k for k, at in enumerate((i, j) for i, row in enumerate(pattern) for j in row)}
        row, at = [], 0
        for right in plan.right:
            row.append(at)
            at += 1 + len(right)
        return cls(plan, given, tuple(row))

    def factor(self) -> list[str]:
        order = self.plan.order
        diagonal = [f"fabs(a[{self.given[i, i]}])" for i in order]
        body = [f"const double total = {' + '.join(diagonal)};", "if (!(total <= DBL_MAX)) {", "    return 1;", "}"]
        places, empty = [], []
        for k, i in enumerate(order):
            for to, j in enumerate((i, *self.plan.right[k]), self.row[k]):
                from_ = self.given.get((min(i, j), max(i, j)))
                if from_ is None:
                    empty.append(f"lu[{to}] = 0.0;")
                else:
                    places.append((to, from_))
        for to, from_, length in runs(places):
            body += by_pairs(to, from_, length, "{from_}", "a")
        body += empty
        for k in range(len(order)):
            body += braced(self._turn(k))
        return [*body, "return 0;"]

    def _turn(self, k: int) -> list[str]:
        """Check a pivot, and subtract its row from those below it."""
        i, right, at = self.plan.order[k], self.plan.right[k], self.row[k]
        lines = [f"if (!khz_is_pivot(lu[{at}], a[{self.given[i, i]}])) {{", "    return 1;", "}"]
        lines += [f"const double inverse = 1.0 / lu[{at}];", f"lu[{self._inverse(k)}] = inverse;"]
        turn = {j: t for t, j in enumerate(self.plan.order)}
        for m, j in enumerate(right):
            own = at + 1 + m
            place = {c: self.row[turn[j]] + n for n, c in enumerate((j, *self.plan.right[turn[j]]))}
            pairs = [(place[c], own + n) for n, c in enumerate(right[m:])]
            lines.append(f"const double f{j} = lu[{own}] * inverse;")
            for to, from_, length in runs(pairs):
                lines += by_pairs(to, from_, length, f"{{to}} - f{j} * {{from_}}", "lu")
        return lines

    def _inverse(self, k: int) -> int:
        return self.plan.n_entries + k

    def solve(self, number: str) -> list[str]:
        """Down in the order of the turns, and up again."""
        body: list[str] = []
        for k, i in enumerate(self.plan.order):
            body.append(f"const {number} y{i} = b[{i}] * lu[{self._inverse(k)}];")
            body += [f"b[{j}] -= lu[{self.row[k] + m}] * y{i};" for m, j in enumerate(self.plan.right[k], 1)]
        for k, i in reversed(list(enumerate(self.plan.order))):
            terms = " + ".join(f"lu[{self.row[k] + m}] * b[{j}]" for m, j in enumerate(self.plan.right[k], 1))
            body.append(f"b[{i}] = y{i}{f' - lu[{self._inverse(k)}] * ({terms})' if terms else ''};")
        return body
