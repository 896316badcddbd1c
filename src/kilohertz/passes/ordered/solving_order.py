"""Which equation computes which unknown, and in what order: matching, then Tarjan's components.

Rows are equations; a call equation takes one row for each scalar it sets (the first row runs the call, the others need
the first).  A directed equation may only compute its left side; a non-Real one only a variable that stands alone on one
side.  Cost: O(incidences * sqrt(n)) at worst, near-linear on models.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from kilohertz.base import Diagnostic, ModelError, Note, Origin
from kilohertz.graphs import FREE, Matching, dulmage_mendelsohn, maximum_matching, strong_components
from kilohertz.ir import make, traverse
from kilohertz.ir.dae import AnyEquation, CallEquation, Equation, print_equation, roots
from kilohertz.ir.expr import Binary, Builtin, Expr, IfExp, Ref
from kilohertz.ir.ordered import Component, Row
from kilohertz.ir.step import Block, expressions, targets
from kilohertz.ir.types import REAL
from kilohertz.passes.algebra import Occurrence, linear_coefficient
from kilohertz.passes.numeric import Numeric

MOST_INVERTIBLE = 200  # results of a call; with more of them its rows would make a graph of quadratic size


def rows_of(equations: Sequence[AnyEquation]) -> list[Row]:
    rows: list[Row] = []
    for e in equations:
        if isinstance(e, Equation):
            target = e.left.name if e.directed and isinstance(e.left, Ref) else None
            rows.append(Row(e, target))
            continue
        first = len(rows)
        results = target_refs(e)
        large = len(results) > MOST_INVERTIBLE
        for result in results:
            invertible = isinstance(e, CallEquation) and e.guard is None and result.ty == REAL and not large
            follows = len(rows) > first
            lead = results[0].name if large and follows else None
            rows.append(Row(e, result.name, first if follows else None, invertible, lead))
    return rows


def _of_these(rows: list[Row], results: Collection[str]) -> list[Row]:
    """Without the rows of other results of calls; the first of each call that is left runs it."""
    kept: list[Row] = []
    first: dict[int, int] = {}  # by call
    for row in rows:
        if isinstance(row.equation, CallEquation):
            if row.target not in results:
                continue
            row = replace(row, head=first.get(id(row.equation)))
            first.setdefault(id(row.equation), len(kept))
        kept.append(row)
    return kept


def target_refs(e: CallEquation) -> list[Ref]:
    return [t for output in e.targets for t in output if isinstance(t, Ref)]


def targets_of(e: CallEquation) -> list[str]:
    return [t.name for t in target_refs(e)]


def names_in(e: AnyEquation, occurrence: Occurrence) -> list[str]:
    """Every name in an equation, once, in order."""
    names: dict[str, None] = {}
    for root in roots(e):
        for name in occurrence.names(root):
            names[name] = None
    return list(names)


def incidence(rows: list[Row], index: dict[str, int], occurrence: Occurrence) -> list[list[int]]:
    """For each row the unknowns it contains."""
    columns_of: list[list[int]] = []
    for row in rows:
        e = row.equation
        names = names_in(e, occurrence) if isinstance(e, Equation) else call_names(e, row, occurrence)
        columns_of.append([index[n] for n in names if n in index])
    return columns_of


def call_names(e: CallEquation, row: Row, occurrence: Occurrence) -> list[str]:
    """What a row of a call touches: its own target and the arguments."""
    names: dict[str, None] = {} if row.target is None else {row.target: None}
    if row.lead is not None:
        return [*names, row.lead]
    for x in inputs_of(e):
        for n in occurrence.names(x):
            names[n] = None
    return list(names)


def inputs_of(e: AnyEquation) -> tuple[Expr, ...]:
    """What an equation reads to compute its targets."""
    if isinstance(e, CallEquation):
        return (e.call,) if e.guard is None else (e.call, e.guard)
    return (e.right,)


def candidates(row: Row, columns: list[int], index: dict[str, int]) -> list[int]:
    """The unknowns a row may be solved for."""
    if row.target is not None and not row.invertible:
        return [index[row.target]] if row.target in index else []
    e = row.equation
    if isinstance(e, Equation) and e.left.ty != REAL:
        return [index[s.name] for s in (e.left, e.right) if isinstance(s, Ref) and s.name in index]
    return columns


class Vanishing:
    """Which unknowns an equation cannot be solved for because their coefficient is a parameter that is zero.

    `i*R = v` with R = 0 says something about v, not about i.
    """

    def __init__(self, values: Mapping[str, float], occurrence: Occurrence) -> None:
        self._zeros = {name for name, value in values.items() if value == 0.0}
        self._values = values
        self._numeric = Numeric(values)
        self._occurrence = occurrence

    def names(self, e: AnyEquation, among: Sequence[str]) -> set[str]:
        if not isinstance(e, Equation) or e.directed or e.left.ty != REAL:
            return set()
        inside = (*self._occurrence.names(e.left), *self._occurrence.names(e.right))
        if self._zeros.isdisjoint(inside):
            return set()
        residual = make.sub(e.left, e.right)
        beside = self._beside_zeros(residual)
        return {name for name in among if name in beside and self._vanishes(residual, name)}

    def _beside_zeros(self, residual: Expr) -> set[str]:
        """Names that stand in a product (or quotient) with a parameter that is zero; only they can vanish."""
        names: set[str] = set()
        for node in traverse.walk(residual):
            if isinstance(node, Binary) and node.op in ("*", "/"):
                for one, other in ((node.left, node.right), (node.right, node.left)):
                    if not self._zeros.isdisjoint(self._occurrence.names(one)):
                        names.update(self._occurrence.names(other))
            elif isinstance(node, IfExp | Builtin) and not self._zeros.isdisjoint(self._occurrence.names(node)):
                names.update(self._occurrence.names(node))
        return names

    def _vanishes(self, residual: Expr, name: str) -> bool:
        factor = linear_coefficient(residual, name)
        if factor is None or not all(n in self._values for n in self._occurrence.names(factor)):
            return False
        return self._numeric(factor) == 0.0


def solvable_graph(
    rows: list[Row], columns: list[list[int]], unknowns: Sequence[Ref], index: dict[str, int], vanishing: Vanishing
) -> list[list[int]]:
    """For each row the unknowns it may be solved for."""
    graph = []
    for row, touched in zip(rows, columns, strict=True):
        open_columns = candidates(row, touched, index)
        never = vanishing.names(row.equation, [unknowns[c].name for c in open_columns])
        graph.append([c for c in open_columns if unknowns[c].name not in never] if never else open_columns)
    return graph


def order(
    equations: Sequence[AnyEquation],
    unknowns: Sequence[Ref],
    occurrence: Occurrence,
    vanishing: Vanishing | None = None,
    results: Collection[str] | None = None,
) -> tuple[Component, ...]:
    """Components in order of computation; a structurally singular system is a ModelError.

    `results`: those of calls that belong to it, where a call gives others that nothing in it reads.
    """
    return components(*matched(equations, unknowns, occurrence, vanishing, results))


class Matched(NamedTuple):
    """A system of which is known which row computes which unknown; `touched`: the unknowns in each row."""

    rows: list[Row]
    touched: list[list[int]]
    unknowns: Sequence[Ref]
    place: dict[str, int]  # of each unknown, by name
    matching: Matching


def matched(
    equations: Sequence[AnyEquation],
    unknowns: Sequence[Ref],
    occurrence: Occurrence,
    vanishing: Vanishing | None = None,
    results: Collection[str] | None = None,
) -> Matched:
    """Which equation computes which unknown, as `order` has it."""
    rows = rows_of(equations)
    if results is not None:
        rows = _of_these(rows, results)
    index = {u.name: i for i, u in enumerate(unknowns)}
    columns = incidence(rows, index, occurrence)
    graph = [candidates(r, c, index) for r, c in zip(rows, columns, strict=True)]
    if vanishing is not None:
        matching = maximum_matching(solvable_graph(rows, columns, unknowns, index, vanishing), len(unknowns))
        if matching.is_perfect:
            return Matched(rows, columns, unknowns, index, matching)
    matching = maximum_matching(graph, len(unknowns))
    if not matching.is_perfect:
        raise singular(rows, graph, unknowns, matching)
    return Matched(rows, columns, unknowns, index, matching)


def components(
    rows: list[Row],
    touched: list[list[int]],
    unknowns: Sequence[Ref],
    index: dict[str, int],
    matching: Matching,
    first: Sequence[str] = (),
) -> tuple[Component, ...]:
    """Strong components of a matched system, those that give the unknowns `first` as early as they can be.  Who
    computes the result of a call elsewhere is solved with the call."""
    needs: list[list[int]] = []
    for i, (row, columns) in enumerate(zip(rows, touched, strict=True)):
        needed = [matching.row_of[c] for c in columns if matching.row_of[c] != i]
        needs.append(needed if row.head is None else [*needed, row.head])
    for i, row in enumerate(rows):
        if row.invertible and row.target in index:
            owner = matching.row_of[index[row.target]]
            if owner != i:
                needs[owner].append(i if row.head is None else row.head)
    in_order = []
    for members in strong_components(needs, [matching.row_of[index[name]] for name in first]):
        theirs = tuple(unknowns[matching.column_of[i]] for i in members)
        in_order.append(Component(tuple(rows[i] for i in members), theirs))
    return tuple(in_order)


def singular(rows: list[Row], graph: list[list[int]], unknowns: Sequence[Ref], matching: Matching) -> ModelError:
    """Name what is over- and what is underdetermined."""
    parts = dulmage_mendelsohn(graph, len(unknowns), matching)
    free_rows = [i for i, c in enumerate(matching.column_of) if c == FREE]
    free_columns = [unknowns[c].name for c, r in enumerate(matching.row_of) if r == FREE]
    notes: list[Note] = []
    span = None
    if free_rows:
        head = rows[free_rows[0]].equation
        span = head.origin.spans[0] if head.origin.spans else None
        determined = ", ".join(unknowns[c].name for c in parts.over_columns[:5])
        too_many = f"too many where {determined} is already determined" if determined else "that say nothing new"
        message = f"the model is structurally singular: {len(free_rows)} equation(s) {too_many}"
        for i in parts.over_rows[:6] if determined else ():
            notes.append(_note("in conflict", rows[i].equation))
    else:
        message = "the model is structurally singular: too few equations"
    if free_columns:
        reached = [unknowns[c].name for c in parts.under_columns]
        notes += _missing_level([rows[i].equation for i in parts.under_rows], reached)
        notes.append(Note(f"not determined: {', '.join(free_columns[:8])} (among {', '.join(reached[:8])})"))
        for i in parts.under_rows[:4]:
            notes.append(_note("part of it", rows[i].equation))
    return ModelError(Diagnostic("B201", message, span, notes=tuple(notes)))


def _missing_level(equations: list[AnyEquation], names: list[str]) -> list[Note]:
    """The remedy where only differences are determined."""
    from kilohertz.passes.ordered.levels import open_levels

    level = open_levels(equations, names)
    if not level:
        return []
    shown = ", ".join(level[:6]) + (", ..." if len(level) > 6 else "")
    missing = "something that fixes one of them is missing: a ground, a fixed point, a reference"
    return [Note(f"only differences of {shown} are determined; {missing}")]


def _note(label: str, e: AnyEquation) -> Note:
    text = print_equation(e)
    text = text if len(text) < 160 else text[:157] + "..."
    where = f" of {e.origin.path}" if e.origin.path else ""
    return Note(f"{label}{where}: {text}", e.origin.spans[0] if e.origin.spans else None)


def joined(rows: Sequence[Row]) -> Origin:
    origin = Origin()
    for row in rows[:8]:
        o = row.equation.origin
        origin = Origin(origin.spans + tuple(s for s in o.spans if s not in origin.spans), origin.path or o.path)
    return origin


def sorted_steps(steps: list[Block], occurrence: Occurrence) -> list[Block]:
    """Discrete steps in order of need; a cycle among them is left to the iteration."""
    owner = {t.name: i for i, b in enumerate(steps) for t in targets(b)}
    needs = []
    for b in steps:
        needed: dict[int, None] = {}
        for e in expressions(b):
            for n in occurrence.names(e):
                if n in owner:
                    needed[owner[n]] = None
        needs.append(list(needed))
    return [steps[i] for members in strong_components(needs) for i in members]
