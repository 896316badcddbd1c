"""A component of the ordered system becomes a block: assignment, call, linear, nonlinear or mixed loop.

  a*x = b, a free of x            ->  x := b/a
  the same, a may vanish in a mode ->  1x1 linear loop (so that 0*x = 0 has the smallest solution)
  loop linear in its unknowns     ->  torn, A z = b:  A by differentiating the residuals through the torn assignments,
                                      b the residuals at z = 0
  other loops                     ->  torn, residuals and their Jacobian, differentiated likewise
  with discrete unknowns          ->  mixed: the Real part ordered with the discrete unknowns known, and the reverse;
                                      discrete Reals that Reals need and that need them are solved for with those

All matrices are expressions over known variables, so that codegen shares what they have in common.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from kilohertz.base import ModelError
from kilohertz.ir import make
from kilohertz.ir.dae import AnyEquation, CallEquation, Equation
from kilohertz.ir.expr import Expr, Real, Ref
from kilohertz.ir.ordered import Component, Row
from kilohertz.ir.step import (
    Assignment,
    Block,
    CallBlock,
    Entry,
    Inner,
    LinearLoop,
    MixedLoop,
    NonlinearLoop,
    Partition,
    WhenBlock,
)
from kilohertz.ir.types import REAL
from kilohertz.passes.algebra import cost, degree, linear_coefficient, linear_parts, simplify
from kilohertz.passes.ordered.block_parts import call_block, is_safe, iterated, moved, unsolvable
from kilohertz.passes.ordered.columns import through
from kilohertz.passes.ordered.context import Context
from kilohertz.passes.ordered.diagonal import with_diagonal
from kilohertz.passes.ordered.followers import joined_by_rates
from kilohertz.passes.ordered.guesses import Torn, tear, untorn
from kilohertz.passes.ordered.inner_loops import Split, split
from kilohertz.passes.ordered.inverse import as_linear, by_inverse, explicit, quotient
from kilohertz.passes.ordered.kept_sparse import chosen_pivots, loosened
from kilohertz.passes.ordered.mirrored import LEAST, MOST, dual, mirrored, symmetric_rows
from kilohertz.passes.ordered.solving_order import inputs_of, joined, names_in, order, sorted_steps, targets_of
from kilohertz.passes.ordered.sound_tearing import soundly_torn
from kilohertz.passes.ordered.trial_point import are_regular
from kilohertz.passes.rates_apart import rates_apart
from kilohertz.passes.rounding import rounded_away

Plain: TypeAlias = Assignment | CallBlock


def make_blocks(components: Sequence[Component], context: Context) -> list[Block]:
    """Blocks in order."""
    blocks: list[Block] = []
    for component in joined_by_rates(components, context, lambda c: _Loop(c, context).guessed()):
        made = _Maker(component, context).run()
        context.remember(made)
        blocks += made
    return blocks


class _Maker:
    def __init__(self, component: Component, context: Context) -> None:
        self._c = component
        self._context = context
        self._names = {u.name for u in component.unknowns}

    def run(self) -> list[Block]:
        c = self._c
        if len(c.rows) == 1 and not self._is_loop(c.rows[0]):
            return self._single(c.rows[0], c.unknowns[0])
        discrete = [self._is_discrete(r, u) for r, u in zip(c.rows, c.unknowns, strict=True)]
        # discrete Reals among themselves are numbers to be found like any others
        numbers = all(u.ty == REAL for u in c.unknowns) and (
            self._context.partition is Partition.INITIAL or all(discrete)
        )
        if any(discrete) and not numbers:
            return self._mixed(discrete)
        return self._loop()

    def _is_discrete(self, row: Row, unknown: Ref) -> bool:
        """Computed in events only; a call with a Real result runs with the Real part as a whole."""
        if not self._context.is_discrete(unknown.name) and unknown.ty == REAL:
            return False  # what is not Real is no number to be guessed: a parameter that the initial system gives
        return isinstance(row.equation, Equation) or all(self._context.is_discrete(n) for n in targets_of(row.equation))

    def _is_loop(self, row: Row) -> bool:
        """One equation that needs its own result: only where it may not be solved."""
        e = row.equation
        if isinstance(e, Equation):
            return row.target is not None and row.target in self._context.occurrence.names(e.right)
        if row.head is not None:
            return False
        return any(u in self._context.occurrence.names(a) for u in self._names for a in inputs_of(e))

    # ---------------------------------------------------------------------------------------------------------- single

    def _single(self, row: Row, unknown: Ref) -> list[Block]:
        if row.head is not None:
            return []
        e = row.equation
        if isinstance(e, CallEquation):
            return [call_block(e, self._context.partition)]
        value = explicit(e, unknown, self._context.occurrence)
        if value is not None:
            return [self._assignment(unknown, value, e)]
        linear = as_linear(e, unknown, self._context.solved)
        if linear is None:
            value = by_inverse(e, unknown, self._context.functions, self._context.occurrence)
            return self._loop() if value is None else [self._assignment(unknown, value, e)]
        if self._context.has_mode(linear.a):
            return [self._tiny(unknown, linear.a, linear.b, e)]
        return [self._assignment(unknown, linear.solution, e)]

    def _assignment(self, unknown: Ref, value: Expr, e: AnyEquation) -> Assignment:
        if self._context.is_switched(value):
            self._context.switched.add(unknown.name)
        return Assignment(unknown, value, self._context.partition, cost((value,)), e.origin)

    def _tiny(self, unknown: Ref, a: Expr, b: Expr, e: Equation) -> LinearLoop:
        rhs = simplify(make.neg(b))
        entries = (Entry(0, 0, a),)
        p = self._context.partition
        return LinearLoop((unknown,), entries, (rhs,), (), p, p, cost((a, rhs)) + 8, e.origin)

    # ----------------------------------------------------------------------------------------------------------- mixed

    def _mixed(self, discrete: list[bool]) -> list[Block]:
        rows, unknowns = self._c.rows, self._c.unknowns
        real_part = [i for i, d in enumerate(discrete) if not d]
        steps: list[Block] = []
        coupled = self._coupled(discrete)
        for component in coupled:
            steps += _Maker(component, self._context)._loop()
        solved = {u.name for component in coupled for u in component.unknowns}
        for i, d in enumerate(discrete):
            if d and unknowns[i].name not in solved:
                steps += self._discrete_step(rows[i], unknowns[i])
        continuous = make_blocks(self._ordered(real_part), self._context)  # last: `forms` of loops go by unknowns
        steps = sorted_steps(steps, self._context.occurrence)
        origin = joined(rows)
        total = sum(b.cost for b in continuous) + sum(b.cost for b in steps)
        return [MixedLoop(tuple(continuous), tuple(steps), self._context.partition, total, origin)]

    def _coupled(self, discrete: list[bool]) -> list[Component]:
        """Loops of Reals and discrete Reals with all other discrete values known: iterating on them may diverge."""
        rows, unknowns = self._c.rows, self._c.unknowns
        numbers = [u.ty == REAL and isinstance(r.equation, Equation) for r, u in zip(rows, unknowns, strict=True)]
        part = [i for i, d in enumerate(discrete) if not d or numbers[i]]
        is_discrete = {unknowns[i].name: discrete[i] for i in part}
        if all(is_discrete.values()) or not any(is_discrete.values()):
            return []
        kinds = [(c, {is_discrete[u.name] for u in c.unknowns}) for c in self._ordered(part)]
        return [c for c, kinds_of in kinds if len(kinds_of) == 2]

    def _ordered(self, part: list[int]) -> tuple[Component, ...]:
        rows, unknowns = self._c.rows, self._c.unknowns
        equations: dict[int, AnyEquation] = {id(rows[i].equation): rows[i].equation for i in part}
        results = {target for i in part if (target := rows[i].target) is not None}
        ours = [unknowns[i] for i in part]
        return order(list(equations.values()), ours, self._context.occurrence, results=results)

    def _discrete_step(self, row: Row, unknown: Ref) -> list[Block]:
        e = row.equation
        if row.head is not None:
            return []
        if isinstance(e, CallEquation):
            return [call_block(e, self._context.partition)]
        if e.directed:
            return [self._assignment(unknown, e.right, e)]
        value = explicit(e, unknown, self._context.occurrence)
        if value is None:
            parts = linear_parts(make.sub(e.left, e.right), unknown.name)
            if parts is None:
                raise ModelError(unsolvable(e, unknown))
            value = quotient(parts[1], parts[0])
        return [self._assignment(unknown, value, e)]

    # ----------------------------------------------------------------------------------------------------------- loops

    def _loop(self) -> list[Block]:
        """The same loop may stand in the initial and in the simulated system: it is torn once."""
        key = tuple(id(r.equation) for r in self._c.rows)
        names = tuple(sorted(u.name for u in self._c.unknowns))
        torn_before = self._context.loops.get(key)
        if torn_before is not None and torn_before[0] == names:
            blocks = [moved(b, self._context.partition) for b in torn_before[1]]
            return torn_before[2].settled(blocks, self._context)
        loop = _Loop(self._c, self._context)
        blocks = loop.run()
        self._context.loops[key] = (names, blocks, loop)
        self._context.kept.extend(r.equation for r in self._c.rows)
        return loop.settled(blocks, self._context)


class _Loop:
    """One algebraic loop of Real unknowns."""

    def __init__(self, component: Component, context: Context) -> None:
        self._names = frozenset(u.name for u in component.unknowns)
        self._rows = rates_apart(component.rows, self._names, context.functions, context.occurrence)
        self._unknowns = component.unknowns
        self._context = context
        self._index = {u.name: i for i, u in enumerate(component.unknowns)}
        self._degrees: dict[Expr, int] = {}
        self._forced: dict[int, int] = {}
        self._eases: dict[tuple[int, int], int] = {}
        self._called: set[int] = set()  # results of calls of this loop
        self._residuals: list[Expr | None] = []
        self._torn: tuple[list[list[int]], Torn] | None = None  # where it is linear
        self._is_loose = False  # its matrix is sparse, with more unknowns than torn

    def run(self) -> list[Block]:
        columns, cut = self._cut()
        if cut is not None:
            self._torn = columns, cut
            loose = self._loosened(columns, cut)
            if loose is not None:
                return [loose]
            return self._linear(cut)
        torn = self.torn(columns, self._forced)
        parts = self._apart(columns)
        if parts is not None:
            inside = self._solved_inside(parts)
            if len(parts.guessed) + sum(map(iterated, inside)) < len(torn.guessed):
                return [self._nonlinear(inside, parts.guessed, parts.residuals)]
        return [self._nonlinear(self._inner(torn), torn.guessed, torn.residuals)]

    def _loosened(self, columns: list[list[int]], torn: Torn) -> LinearLoop | None:
        """With more unknowns and a sparse matrix, where that promises less work; modes could make it singular."""
        loose = None if self._context.whole else loosened(columns, torn)
        if loose is None:
            return None
        n_warnings = len(self._context.warnings)
        (loop,) = self._linear(loose)
        assert isinstance(loop, LinearLoop)
        if not any(self._context.may_vanish(e.value) for e in loop.matrix):
            self._is_loose = True
            return loop
        del self._context.warnings[n_warnings:]
        return None

    def settled(self, blocks: list[Block], context: Context) -> list[Block]:
        """The same loop with an order of elimination, or with a symmetric matrix, in a step."""
        if self._torn is None or context.partition is not Partition.STEP or context.whole:
            return blocks
        self._context = context
        if self._is_loose:
            (loop,) = blocks
            assert isinstance(loop, LinearLoop)
            pivots = chosen_pivots(loop, len(self._torn[1].guessed), context.sources, context.values, context.starts)
            if pivots is not None:
                return [replace(loop, pivots=pivots)]
            blocks = self._linear(self._torn[1])
        return self._mirrored(blocks, *self._torn)

    def _mirrored(self, blocks: list[Block], columns: list[list[int]], first: Torn) -> list[Block]:
        """The same loop with a symmetric matrix, where it is torn on rates and has one."""
        context = self._context
        if not LEAST <= len(first.guessed) <= MOST or not all(
            context.is_rate(self._unknowns[c].name) for c in first.guessed
        ):
            return blocks
        for torn in (first, self._dual(columns, first)):
            parts = None if torn is None else self._parts(torn)
            rows = None if parts is None else symmetric_rows(*parts, context.sources)
            if torn is None or rows is None:
                continue
            (loop,) = blocks if torn is first else self._linear(torn)
            assert isinstance(loop, LinearLoop)
            loop = mirrored(loop, rows, context.sources, context.values)
            if loop.symmetric:
                return [loop]
        return blocks

    def _dual(self, columns: list[list[int]], torn: Torn) -> Torn | None:
        """Torn on what the guesses follow from by a sum; None where that is no choice."""

        def is_unit(row: int, column: int) -> bool:
            a = self._coefficient(row, column)
            return isinstance(a, Real) and abs(a.value) == 1.0

        instead = dual(columns, torn, is_unit)
        if instead is None:
            return None

        def weight(column: int) -> int:
            return self._weight(column) + (1_000_000 if column in instead else 0)

        cut = partial(tear, columns, len(columns), forced=self._forced, weight=weight)
        found = soundly_torn(columns, cut, self._ease, self._factor)
        return found if set(found.guessed) == instead else None

    def guessed(self) -> list[str] | None:
        """What is guessed of a linear loop; None of another."""
        _, cut = self._cut()
        return None if cut is None else [self._unknowns[c].name for c in cut.guessed]

    def _cut(self) -> tuple[list[list[int]], Torn | None]:
        """The unknowns of each row; and how the loop is torn, where it is linear."""
        columns = [self._columns(i, row) for i, row in enumerate(self._rows)]
        sides = (r.equation for r in self._rows)
        self._residuals = [make.sub(e.left, e.right) if isinstance(e, Equation) else None for e in sides]
        if any(e is None or degree(e, self._names, self._degrees) > 1 for e in self._residuals):
            return columns, None
        if self._context.whole:
            return columns, untorn(len(columns))
        rates = self._weight_of_rates
        cut = partial(tear, columns, len(columns), forced=self._forced, weight=self._weight, preferred=rates)
        return columns, soundly_torn(columns, cut, self._ease, self._factor)

    def _coefficient(self, row: int, column: int) -> Expr | None:
        e = self._residuals[row]
        return None if e is None else self._context.columns.coefficient(e, self._unknowns[column].name)

    # ---------------------------------------------------------------------------------------------------------- apart

    def torn(self, rows: list[list[int]], forced: dict[int, int]) -> Torn:
        """Guesses for a nonlinear loop; what is forced is guessed last."""
        closed = set(forced.values())

        def weight(c: int) -> int:
            return -1_000_000 if c in closed else self._weight(c)

        def has_start(c: int) -> bool:
            return self._context.has_start(self._unknowns[c].name)

        return tear(rows, len(rows), self._ease, forced, weight, self._context.far, None, has_start)

    def _apart(self, columns: list[list[int]]) -> Split | None:
        """What is linear for given values of a few unknowns, where the loop holds formulas of a stage."""
        states = {self._context.formulas.get(id(r.equation)): i for i, r in enumerate(self._rows)}
        formulas = {self._index[name]: i for name, i in states.items() if name in self._index}
        if not formulas:
            return None
        place = {id(r.equation): i for i, r in reversed(list(enumerate(self._rows))) if r.head is None}
        heads = {i: place[k] for i, r in enumerate(self._rows) if r.head is not None and (k := id(r.equation)) in place}
        return split(self, columns, self._forced, heads, formulas)

    def is_sound(self, row: int, column: int) -> bool:
        factor = self._coefficient(row, column)
        if factor is None:
            return self._residuals[row] is not None
        return not self._context.has_mode(factor) and self._context.parameters(factor) != 0.0

    def _factor(self, row: int, column: int) -> float | None:
        return None if (a := self._coefficient(row, column)) is None else self._context.parameters(a)

    def is_solvable(self, row: int, column: int) -> bool:
        return self._ease(row, column) > 0

    def is_linear(self, rows: Sequence[int], columns: Iterable[int]) -> bool:
        names = frozenset(self._unknowns[c].name for c in columns)
        memo: dict[Expr, int] = {}
        return all((e := self._residuals[i]) is not None and degree(e, names, memo) <= 1 for i in rows)

    def is_regular(self, rows: Sequence[int], columns: Sequence[int]) -> bool:
        point, names = self._context.point, [self._unknowns[c].name for c in columns]
        residuals = [e for i in rows if (e := self._residuals[i]) is not None]
        return point is None or are_regular(residuals, names, point, self._context.occurrence)

    def is_steady(self, rows: Sequence[int], columns: Iterable[int]) -> bool:
        names = {self._unknowns[c].name for c in columns}
        for i in rows:
            e = self._residuals[i]
            for name in names.intersection(self._context.occurrence.names(e)) if e is not None else ():
                factor = linear_coefficient(e, name) if e is not None else None
                if factor is None or not self._names.isdisjoint(self._context.occurrence.names(factor)):
                    return False
        return True

    def _solved_inside(self, parts: Split) -> list[Inner]:
        """Assignments and loops for given values of what is guessed."""
        components = []
        for members in parts.parts:
            rows = tuple(self._rows[i] for i, _ in members)
            components.append(Component(rows, tuple(self._unknowns[c] for _, c in members)))
        inner: list[Inner] = []
        for b in make_blocks(components, self._context):
            assert not isinstance(b, MixedLoop | WhenBlock)
            inner.append(b)
        return inner

    # ----------------------------------------------------------------------------------------------------------- torn

    def _columns(self, i: int, row: Row) -> list[int]:
        e = row.equation
        if isinstance(e, Equation):
            if row.target is not None and row.target not in self._context.occurrence.names(e.right):
                self._forced[i] = self._index[row.target]  # what needs itself has to be guessed
            return [self._index[n] for n in names_in(e, self._context.occurrence) if n in self._index]
        assert row.target is not None
        target = self._index[row.target]
        self._forced[i] = target
        self._called.add(target)
        columns = {target: None}
        for argument in inputs_of(e):
            for n in self._context.occurrence.names(argument):
                if n in self._index:
                    columns[self._index[n]] = None
        return list(columns)

    def _weight(self, column: int) -> int:
        if column in self._called:
            return -1_000_000
        return self._context.guess_weight(self._unknowns[column].name)

    def _weight_of_rates(self, column: int) -> int:
        """Derivatives of states before all else: forces follow from accelerations by products alone."""
        return self._weight(column) + (100_000 if self._context.is_rate(self._unknowns[column].name) else 0)

    def _ease(self, i: int, column: int) -> int:
        """0: row i cannot compute the unknown, 1: it can without a division, 2: with one."""
        key = (i, column)
        ease = self._eases.get(key)
        if ease is None:
            ease = self._eases[key] = self._ease_of(i, column)
        return ease

    def _ease_of(self, i: int, column: int) -> int:
        a = None if column in self._called else self._coefficient(i, column)
        if a is None or not is_safe(a, self._context):
            return 0
        return 1 if isinstance(a, Real) else 2

    def _inner(self, torn: Torn) -> list[Plain]:
        inner: list[Plain] = []
        emitted: set[int] = set()
        for i, column in torn.sequence:
            e, unknown = self._rows[i].equation, self._unknowns[column]
            if isinstance(e, Equation):
                value = explicit(e, unknown, self._context.occurrence)
                if value is None:
                    residual = self._residuals[i]
                    assert residual is not None
                    parts = linear_parts(residual, unknown.name)
                    assert parts is not None
                    value = quotient(parts[1], parts[0])
                inner.append(Assignment(unknown, value, self._context.partition, cost((value,)), e.origin))
            elif id(e) not in emitted:
                emitted.add(id(e))
                inner.append(call_block(e, self._context.partition))
        return inner

    def _parts(self, torn: Torn) -> tuple[list[Ref], list[Assignment], list[Expr]]:
        """Of a linear loop: what is guessed, what follows, what must vanish."""
        inner = [b for b in self._inner(torn) if isinstance(b, Assignment)]
        return [self._unknowns[c] for c in torn.guessed], inner, self._left_over(torn.residuals)

    def _linear(self, torn: Torn) -> list[Block]:
        guessed, inner, residuals = self._parts(torn)
        derived = self._context.columns.entries(guessed, inner, residuals)
        assert derived is not None
        entries = derived[0]
        if inner:
            equations = [self._rows[i].equation for i in torn.residuals]
            self._context.warnings += rounded_away(equations, residuals, entries, self._context.parameters, self._names)
        at_zero: dict[str, Expr] = {z.name: make.ZERO for z in guessed}
        rhs = [simplify(make.neg(e)) for e in through(inner, residuals, at_zero)]
        total = cost([e.value for e in entries] + rhs + [b.value for b in inner]) + len(guessed) ** 3
        p, origin = self._context.partition, joined(self._rows)
        if len(guessed) == 1 and entries and not self._context.may_vanish(entries[0].value):
            value = quotient(make.neg(rhs[0]), entries[0].value)
            return [Assignment(guessed[0], value, p, cost((value,)), origin), *inner]
        loop = LinearLoop(tuple(guessed), entries, tuple(rhs), tuple(inner), p, p, total, origin)
        return [replace(loop, through=tuple(inner), residuals=tuple(residuals))]

    def _left_over(self, rows: Sequence[int]) -> list[Expr]:
        residuals = []
        for i in rows:
            e = self._residuals[i]
            if e is None:
                raise ModelError(unsolvable(self._rows[i].equation, self._unknowns[0]))
            residuals.append(e)
        return residuals

    def _nonlinear(self, inner: Sequence[Inner], columns: Sequence[int], rows: Sequence[int]) -> NonlinearLoop:
        guessed = [self._unknowns[c] for c in columns]
        residuals = [simplify(e) for e in self._left_over(rows)]
        sparsity = self._context.columns.sparsity(guessed, inner, residuals)
        derived = self._context.columns.entries(guessed, inner, residuals)
        entries, rates = derived if derived is not None else (None, ())
        total = cost(residuals) + sum(b.cost for b in (*inner, *rates)) + cost([e.value for e in entries or ()])
        p, origin = self._context.partition, joined(self._rows)
        loop = NonlinearLoop(tuple(guessed), tuple(inner), tuple(residuals), entries, sparsity, p, total, origin, rates)
        return with_diagonal(loop, lambda a: is_safe(a, self._context))
