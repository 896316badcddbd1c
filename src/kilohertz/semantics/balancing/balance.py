"""Does a model have as many equations as unknowns, and can each be solved for one (MLS 4.7, 4.8)?

Counting is by scalars.  Where the counts differ, or a maximum matching leaves something free, alternating paths (as for
the Dulmage-Mendelsohn parts) name the culprits: from each equation left over they lead to the equations that take its
unknowns, from each unknown left over to the unknowns that could be left in its place.  Initial equations do not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kilohertz.base import Diagnostic, Note, Origin, Severity, Span
from kilohertz.graphs import FREE, Matching, maximum_matching, transposed
from kilohertz.ir.builtins import COMPARISONS, named
from kilohertz.ir.expr import TIME, Array, Binary, Builtin, Expr, Index, Record, Ref
from kilohertz.ir.flat import (
    CONSTANT,
    PARAMETER,
    Assign,
    Equality,
    Equation,
    Flat,
    IfEquation,
    Part,
    Statement,
    TupleTarget,
    WhenEquation,
    WhenStatement,
)
from kilohertz.ir.rules.function_record import Event
from kilohertz.ir.types import REAL
from kilohertz.semantics.balancing.equation_parts import assignments, bodies, expressions
from kilohertz.semantics.balancing.incidence import System, incidence, is_unknown, scalar_size
from kilohertz.semantics.balancing.local_balance import to_blame
from kilohertz.semantics.wording import counted

_MOST_NAMED = 10  # culprits in one report
_MOST_NOTES = 5  # further places to one culprit

_EVENT_FUNCTIONS = named(Event.STEPS, Event.QUOTIENT)
_QUIET = named(Event.QUIET)


@dataclass(frozen=True, slots=True)
class Balance:
    """Scalar counts of a model."""

    n_equations: int
    n_unknowns: int
    n_parameters: int
    n_constants: int
    n_inputs: int  # of the whole model: known from outside
    n_outputs: int
    n_states_declared: int  # unknowns under der()
    n_events: int  # relations and integer conversions outside noEvent and smooth, sample(), branches of when

    @property
    def is_balanced(self) -> bool:
        return self.n_equations == self.n_unknowns


def count(flat: Flat) -> Balance:
    """The numbers that `khz check` prints."""
    return check(flat)[0]


def check_balance(flat: Flat) -> list[Diagnostic]:
    """What keeps the equations from determining the unknowns; empty where nothing does."""
    return check(flat)[1]


def check(flat: Flat) -> tuple[Balance, list[Diagnostic]]:
    """Both, for the price of one."""
    system = incidence(flat)
    balance = _counted(flat, system)
    return balance, _diagnosed(flat, system, balance)


# ------------------------------------------------------------------------------------------------------------- counting


def _counted(flat: Flat, system: System) -> Balance:
    sizes = {CONSTANT: 0, PARAMETER: 0}
    inputs = outputs = 0
    for variable in flat.variables.values():
        if variable.variability in sizes:
            sizes[variable.variability] += scalar_size(variable.ty)
        elif variable.causality == "input" and not is_unknown(variable):
            inputs += scalar_size(variable.ty)
        elif variable.causality == "output":
            outputs += scalar_size(variable.ty)
    scan = _Scan(system)
    for variable in system.columns.unknowns:
        if variable.binding is not None:
            scan.expression(variable.binding)
    for equation in flat.equations:
        scan.part(equation)
    for algorithm in flat.algorithms:
        for statement in algorithm.statements:
            scan.part(statement)
    return Balance(
        n_equations=len(system.rows),
        n_unknowns=system.columns.n,
        n_parameters=sizes[PARAMETER],
        n_constants=sizes[CONSTANT],
        n_inputs=inputs,
        n_outputs=outputs,
        n_states_declared=len(scan.states),
        n_events=scan.n_whens + len(scan.events),
    )


class _Scan:
    """Derivatives and sources of events, each expression looked at once."""

    def __init__(self, system: System) -> None:
        self.states: set[int] = set()
        self.events: set[Expr] = set()
        self.n_whens = 0
        self._system = system
        self._seen: tuple[set[Expr], set[Expr]] = (set(), set())  # outside and inside of noEvent

    def part(self, part: Equation | Statement) -> None:
        pending: list[Equation | Statement] = [part]
        while pending:
            one = pending.pop()
            if isinstance(one, WhenEquation | WhenStatement):
                self.n_whens += len(one.branches)
            for e in expressions(one):
                self.expression(e)
            pending += bodies(one)

    def expression(self, expression: Expr) -> None:
        stack = [(expression, False)]
        while stack:
            e, quiet = stack.pop()
            seen = self._seen[quiet]
            if e in seen:
                continue
            seen.add(e)
            if isinstance(e, Builtin):
                if e.name == "der":
                    self.states |= self._columns_of(e.args[0])
                elif not quiet and (e.name in _EVENT_FUNCTIONS or e.name == "sample"):
                    self._event(e)
                elif e.name in _QUIET:
                    quiet = True
            elif isinstance(e, Binary) and e.op in COMPARISONS and not quiet and e.left.ty == REAL:
                self._event(e)
            stack += [(child, quiet) for child in e.children()]

    def _event(self, e: Expr) -> None:
        if (isinstance(e, Builtin) and e.name == "sample") or self._varies(e):
            self.events.add(e)

    def _varies(self, expression: Expr) -> bool:
        """Does a variable or the time occur in it?"""
        stack, seen = [expression], {expression}
        while stack:
            e = stack.pop()
            if e is TIME or (isinstance(e, Ref) and e.name in self._system.columns.offset):
                return True
            fresh = [child for child in e.children() if child not in seen]
            seen.update(fresh)
            stack += fresh
        return False

    def _columns_of(self, expression: Expr) -> set[int]:
        return {c for c in self._system.columns.occurring((expression,)) if self._system.columns.is_real[c]}


# ---------------------------------------------------------------------------------------------------------- diagnostics


def _diagnosed(flat: Flat, system: System, balance: Balance) -> list[Diagnostic]:
    diagnostics = [_uneven(equation, counts) for equation, counts in system.uneven]
    guilty: list[tuple[Part, int]] = []
    if not balance.is_balanced:
        sign = 1 if balance.n_equations > balance.n_unknowns else -1
        guilty = [(part, n) for part, n in to_blame(system, flat.parts) if n * sign > 0]
        sides = counted(balance.n_equations, "equation"), counted(balance.n_unknowns, "unknown")
        text = f"{flat.name} has {sides[0]} for {sides[1]}"
        diagnostics.append(Diagnostic("B401", text, notes=tuple(_blamed(p, n) for p, n in guilty[:_MOST_NOTES])))
    if not system.complete:
        return diagnostics
    matching = maximum_matching(system.rows, system.columns.n)
    if matching.is_perfect:
        return diagnostics or list(_made_up_for(system, flat.parts))
    free_rows = [r for r, c in enumerate(matching.column_of) if c == FREE]
    free_columns = [c for c, r in enumerate(matching.row_of) if r == FREE]
    culprits = _Culprits(system, matching, _spoken_of(flat, system), _set_by_element(flat))
    if balance.n_equations > balance.n_unknowns and guilty:
        free_rows = culprits.moved(free_rows, [p.path for p, _ in guilty])
    reports = culprits.of_rows(free_rows) + culprits.of_columns([culprits.likely(c) for c in free_columns])
    if len(reports) > _MOST_NAMED:
        rest = len(reports) - _MOST_NAMED
        last = reports[_MOST_NAMED - 1]
        more = Note(f"and {rest} more of this kind")
        reports[_MOST_NAMED - 1 :] = [_with_notes(last, (*last.notes, more))]
    return diagnostics + reports


def _blamed(part: Part, n: int) -> Note:
    return Note(f"component `{part.path}` of class `{part.class_name}` {_amiss(n)}", _span(part.origin))


def _amiss(n: int) -> str:
    return f"has {counted(n, 'equation')} more than it needs" if n > 0 else f"lacks {counted(-n, 'equation')}"


def _made_up_for(system: System, parts: list[Part]) -> Iterator[Diagnostic]:
    """B405, one per class: components with equations too few or too many, where others have as many too many or too
    few."""
    found: dict[tuple[str, str], list[Part]] = {}
    for part, n in to_blame(system, parts):
        found.setdefault((part.class_name, _amiss(n)), []).append(part)
    for (class_name, what), (first, *others) in found.items():
        text = f"component `{first.path}` of class `{class_name}` {what}; what is around it makes up for it"
        notes = tuple(Note(f"so does `{p.path}`", _span(p.origin)) for p in others[:_MOST_NOTES])
        yield Diagnostic("B405", text, _span(first.origin), notes=notes, severity=Severity.WARNING)


def _spoken_of(flat: Flat, system: System) -> set[int]:
    """Columns that stand alone on the left of an equation, or are assigned: somebody meant to determine them."""
    columns = system.columns
    determined: set[int] = set()
    pending: list[Equation | Statement] = [*flat.equations, *(s for a in flat.algorithms for s in a.statements)]
    while pending:
        part = pending.pop()
        pending += bodies(part)
        match part:
            case Equality(target, _) | Assign(target, _):
                parts = target.elements if isinstance(target, TupleTarget) else (target,)
            case _:
                continue
        for left in parts:
            if isinstance(left, Builtin) and left.name == "der":
                left = left.args[0]
            if isinstance(left, Ref | Index | Array | Record):
                determined |= columns.occurring((left,))
    for variable in columns.unknowns:
        if variable.binding is not None:
            determined |= columns.occurring((Ref(variable.name, variable.ty),))
    return determined


def _set_by_element(flat: Flat) -> dict[Span | None, set[str]]:
    """By algorithm the arrays of which it sets elements alone."""
    found: dict[Span | None, set[str]] = {}
    for algorithm in flat.algorithms:
        targets = [target for target, _ in assignments(algorithm.statements)]
        parts = [target.base for target in targets if isinstance(target, Index)]
        whole = {target.name for target in targets if isinstance(target, Ref)}
        found[_span(algorithm.origin)] = {base.name for base in parts if isinstance(base, Ref)} - whole
    return found


class _Culprits:
    """Turns what the matching left free into messages."""

    def __init__(
        self, system: System, matching: Matching, spoken_of: set[int], by_element: Mapping[Span | None, set[str]]
    ) -> None:
        self._system = system
        self._matching = matching
        self._spoken_of = spoken_of
        self._by_element = by_element
        self._columns = transposed(system.rows, system.columns.n)

    def moved(self, free: list[int], paths: list[str]) -> list[int]:
        """As many rows left over, each an equation of a component to blame where one could be left instead."""
        out: list[int] = []
        for row in free:
            out.append(self._moved(row, paths, out))
        return out

    def _moved(self, free: int, paths: list[str], taken: list[int]) -> int:
        matching, system = self._matching, self._system

        def is_own(row: int) -> bool:
            return system.owners[system.owner_of[row]].path in paths

        came: dict[int, tuple[int, int]] = {}  # by row: the column that it gives up, and the row that takes it
        queue = [free]
        for row in queue:
            for c in system.rows[row]:
                taker = matching.row_of[c]
                if taker != free and taker not in came:
                    came[taker] = c, row
                    queue.append(taker)
        own = [r for r in came if r not in taken and is_own(r)]
        if is_own(free) or not own:
            return free
        chosen = at = min(own, key=lambda r: (system.owner_of[r], r))  # sections come before connections
        while at != free:
            column, before = came[at]
            matching.row_of[column], matching.column_of[before] = before, column
            at = before
        matching.column_of[chosen] = FREE
        return chosen

    def of_rows(self, free: list[int]) -> list[Diagnostic]:
        """B402, one per equation of the source that has rows left over."""
        by_owner: dict[int, list[int]] = {}
        for row in free:
            by_owner.setdefault(self._system.owner_of[row], []).append(row)
        return [self._of_owner(owner, rows) for owner, rows in by_owner.items()]

    def _of_owner(self, owner: int, rows: list[int]) -> Diagnostic:
        origin = self._system.owners[owner]
        where = f" in component `{origin.path}`" if origin.path else ""
        many = "one equation is" if len(rows) == 1 else f"{len(rows)} equations are"
        text = f"{many} left without an unknown to solve for{where}"
        touched = self._system.rows[rows[0]]
        if not touched:
            return Diagnostic("B402", text, _span(origin), "no unknown stands in it")
        names = [self._system.columns.name(c) for c in touched[:3]]
        label = _listed(names, len(touched)) + (" is" if len(touched) == 1 else " are") + " already determined"
        notes = (*self._takers(rows[0]), *self._as_a_whole(origin, rows))
        return Diagnostic("B402", text, _span(origin), label, notes)

    def _as_a_whole(self, origin: Origin, rows: list[int]) -> Iterator[Note]:
        """Arrays with elements left over that no statement sets (MLS 11.1.2)."""
        left = {self._system.columns.name(c) for row in rows for c in self._system.rows[row]}
        for array in sorted(self._by_element.get(_span(origin), ())):
            if any(name.startswith(f"{array}[") for name in left):
                text = (
                    f"this algorithm determines all of `{array}`: what it does not set is the start value (MLS 11.1.2)"
                )
                yield Note(text, _span(origin))

    def _takers(self, free: int) -> Iterator[Note]:
        """The equations that take the unknowns of a free one, nearest first."""
        matching, owners, owner_of = self._matching, self._system.owners, self._system.owner_of
        reached, queue = {free}, [free]
        spans = {_span(owners[owner_of[free]])}
        for row in queue:
            for c in self._system.rows[row]:
                taker = matching.row_of[c]
                if taker in reached:
                    continue
                reached.add(taker)
                queue.append(taker)
                origin = owners[owner_of[taker]]
                if _span(origin) in spans:
                    continue
                spans.add(_span(origin))
                if len(spans) > _MOST_NOTES + 1:
                    return
                yield Note(f"`{self._system.columns.name(c)}` is determined here", _span(origin))

    def likely(self, free: int) -> int:
        """The culprit for a free column: itself, or the nearest that could be free instead and is no equation's own.

        So an input that nobody connects is named, and not the output computed from it.
        """
        if free not in self._spoken_of:
            return free
        row_of, column_of = self._matching.row_of, self._matching.column_of
        came: dict[int, int] = {free: FREE}  # by column: the one it was reached from
        queue = [free]
        for column in queue:
            for row in self._columns[column]:
                c = column_of[row]
                if c == FREE or c in came:
                    continue
                came[c] = column
                if c in self._spoken_of:
                    queue.append(c)
                    continue
                at = c
                while at != free:  # each column on the way takes the row of the one behind it
                    taken = row_of[at]
                    before = came[at]
                    row_of[before], column_of[taken] = taken, before
                    at = before
                row_of[c] = FREE
                return c
        return free

    def of_columns(self, free: list[int]) -> list[Diagnostic]:
        """B403, one per variable that has elements left over."""
        by_variable: dict[str, list[int]] = {}
        for column in free:
            by_variable.setdefault(self._system.columns.variable(column).name, []).append(column)
        return [self._of_variable(columns) for columns in by_variable.values()]

    def _of_variable(self, columns: list[int]) -> Diagnostic:
        names = self._system.columns
        variable = names.variable(columns[0])
        whole = len(columns) == scalar_size(variable.ty)
        name = variable.name if whole else ", ".join(names.name(c) for c in columns[:3])
        text = f"no equation is left to determine `{name}`"
        if not self._columns[columns[0]]:
            return Diagnostic("B403", text, _span(variable.origin), "stands in no equation that could be solved for it")
        return Diagnostic("B403", text, _span(variable.origin), "", tuple(self._alternatives(columns[0])))

    def _alternatives(self, free: int) -> Iterator[Note]:
        """Variables that could be left over instead, nearest first: the missing equation may be about any of them."""
        reached, queue = {free}, [free]
        names: dict[str, Span | None] = {}
        for column in queue:
            for row in self._columns[column]:
                c = self._matching.column_of[row]
                if c in reached or c == FREE:
                    continue
                reached.add(c)
                queue.append(c)
                variable = self._system.columns.variable(c)
                names.setdefault(variable.name, _span(variable.origin))
            if len(names) > _MOST_NOTES:
                break
        for name in list(names)[:_MOST_NOTES]:
            yield Note(f"or to determine `{name}`", names[name])


def _uneven(equation: IfEquation, counts: list[int]) -> Diagnostic:
    text = f"the branches of an if-equation have different numbers of equations: {', '.join(map(str, counts))}"
    return Diagnostic("B404", text, _span(equation.origin))


def _listed(names: list[str], n: int) -> str:
    quoted = [f"`{name}`" for name in names]
    if n > len(names):
        return ", ".join(quoted) + f" and {n - len(names)} more"
    return quoted[0] if n == 1 else ", ".join(quoted[:-1]) + " and " + quoted[-1]


def _span(origin: Origin) -> Span | None:
    return origin.spans[0] if origin.spans else None


def _with_notes(diagnostic: Diagnostic, notes: tuple[Note, ...]) -> Diagnostic:
    d = diagnostic
    return Diagnostic(d.code, d.message, d.span, d.label, notes, d.severity)
