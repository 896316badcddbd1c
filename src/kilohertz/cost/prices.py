"""What operations and kernels of the runtime cost, as floating-point operations and as instructions.

Instructions are those of gcc -O2 for x86-64 with glibc, counted with callgrind and rounded up: a bound must not be
below what is measured (tests/cost/test_bound.py), and should not be far above it (docs/reference/step-cost.md); what
other targets make of them is in `targets.toml`.  An operand that is read from memory is part of the operation; what a
loop of the runtime does with an element is a coefficient here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cache

from kilohertz.cost.factors import ScatteredLoop, is_by_tables, is_written_out
from kilohertz.graphs import DefinitePlan, Elimination, PivotPlan
from kilohertz.ir import expr as x
from kilohertz.ir.builtins import BUILTINS
from kilohertz.runtime import constant

_FEW_STATES = 8  # loops over so many states have no turns in a step that is made for its method


@dataclass(frozen=True, slots=True)
class Cost:
    """Floating-point operations (a division counts 4, an elementary function 20), and instructions by what they do.

    Another compiler, another machine or another C library makes each group dearer or cheaper as a whole: `targets.py`.
    """

    operations: int = 0
    expressions: float = 0.0  # of generated code, in quarters
    functions: int = 0  # of the C library
    kernels: int = 0  # loops of the runtime with arithmetic in them, for the model's own loops
    moves: int = 0  # copies, addresses, branches
    vectors: int = 0  # what the stepper itself does with states, stages and its Jacobian
    few: int = 0  # the same for a few states
    calls: int = 0  # what each call of the runtime does once, however large the model is

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.operations + other.operations,
            self.expressions + other.expressions,
            self.functions + other.functions,
            self.kernels + other.kernels,
            self.moves + other.moves,
            self.vectors + other.vectors,
            self.few + other.few,
            self.calls + other.calls,
        )

    def times(self, n: int) -> Cost:
        return Cost(
            self.operations * n,
            self.expressions * n,
            self.functions * n,
            self.kernels * n,
            self.moves * n,
            self.vectors * n,
            self.few * n,
            self.calls * n,
        )

    def part(self, n: int) -> Cost:
        """One of n equal parts, rounded up."""
        return Cost(*(math.ceil(getattr(self, f.name) / n) for f in fields(self)))

    @property
    def instructions(self) -> int:
        """At the prices that stand here."""
        of_model = math.ceil(self.expressions) + self.functions + self.kernels + self.moves
        return of_model + self.vectors + self.few + self.calls

    def of_stepper(self, n_states: int) -> Cost:
        """The same as work of the stepper itself on so many states, where nothing of the model is in it."""
        here = self.kernels + self.moves + self.vectors + self.few
        vectors, few = (0, here) if n_states <= _FEW_STATES else (here, 0)
        return Cost(self.operations, self.expressions, self.functions, vectors=vectors, few=few, calls=self.calls)


@dataclass(frozen=True, slots=True)
class Count:
    """Costs: of a regular run, and at most."""

    regular: Cost = Cost()
    worst: Cost = Cost()

    def __add__(self, other: Count) -> Count:
        return Count(self.regular + other.regular, self.worst + other.worst)

    def times(self, regular: int, worst: int | None = None) -> Count:
        return Count(self.regular.times(regular), self.worst.times(regular if worst is None else worst))

    def of_stepper(self, n_states: int) -> Count:
        return Count(self.regular.of_stepper(n_states), self.worst.of_stepper(n_states))


def both(operations: float, instructions: float, calls: int = 0) -> Count:
    """A loop of the runtime, the same in either case; `calls` are those once around it."""
    return _always(Cost(round(operations), kernels=round(instructions), calls=calls))


def moves(instructions: float, calls: int = 0) -> Count:
    """Copies, addresses, branches: no arithmetic; `calls` are those once around them."""
    return _always(Cost(moves=round(instructions), calls=calls))


def calls(instructions: int) -> Count:
    """What is done once in a call of the runtime."""
    return moves(0, instructions)


def _always(cost: Cost) -> Count:
    return Count(cost, cost)


_NOTHING = Count()


@cache
def _expression(operations: int, instructions: float) -> Count:
    return _always(Cost(operations, expressions=instructions))


@cache
def _function(operations: int, instructions: int) -> Count:
    return _always(Cost(operations, functions=instructions))


def total(counts: Iterable[Count]) -> Count:
    every = [count for count in counts if count is not _NOTHING]
    if len(every) < 2:
        return every[0] if every else _NOTHING
    return Count(_sum([c.regular for c in every]), _sum([c.worst for c in every]))


def _sum(costs: Sequence[Cost]) -> Cost:
    """Without an object for every two; expressions are quarters, so their order changes nothing."""
    return Cost(
        sum([c.operations for c in costs]),
        sum([c.expressions for c in costs]),
        sum([c.functions for c in costs]),
        sum([c.kernels for c in costs]),
        sum([c.moves for c in costs]),
        sum([c.vectors for c in costs]),
        sum([c.few for c in costs]),
        sum([c.calls for c in costs]),
    )


def dearest(counts: Sequence[Count]) -> Count:
    """The dearest regular run, and the dearest at most, which may be another's."""
    regular = max((c.regular for c in counts), key=lambda c: c.instructions, default=Cost())
    return Count(regular, max((c.worst for c in counts), key=lambda c: c.instructions, default=Cost()))


# ---------------------------------------------------------------------------------------------------------- expressions

# 1.6 in long code without loops, where half of the operands are read from memory
_BINARY = {"+": (1, 1.75), "-": (1, 1.75), "*": (1, 1.75), "/": (4, 3), "and": (1, 4), "or": (1, 4)}
_RELATION = (1, 5)
_POWERS = {2.0: (1, 2), 3.0: (2, 3), 4.0: (2, 3), 1.0: (0, 0)}
_POWERS |= {0.5: (20, 4), 0.25: (40, 7), -0.5: (24, 7), -0.75: (45, 12)}  # by roots
_POWER = (20, 150)
_IF = 5  # a test, a jump, and the value of one branch
_ELSE_IF = 2.5  # one that stands in a branch of another: that one has the value
_OTHER = (20, 160)  # what is not in the table of functions: derivatives of functions, ...


def node(e: x.Expr) -> Count:
    """One node of an expression, without its operands and without what a called function does."""
    match e:
        case x.Binary("^", _, exponent):
            value = _number(exponent)
            known = _POWERS.get(value) if value is not None else None
            return _function(*_POWER) if known is None else _expression(*known)
        case x.Binary():
            return _expression(*_BINARY.get(e.op, _RELATION))
        case x.Builtin():
            builtin = BUILTINS.get(e.name)
            if builtin is None:
                return _function(*_OTHER)
            most = max(builtin.instructions, builtin.far_instructions)
            usual = Cost(builtin.operations, functions=builtin.instructions)
            return Count(usual, Cost(builtin.operations, functions=most))
        case x.Call():
            return _expression(30, 80)  # arguments, arena, status
        case x.Ref() | x.Real() | x.Int() | x.Bool() | x.Enum():
            return _NOTHING
        case x.Unary():
            return _expression(1, 2)
        case x.IfExp():
            return _expression(1, _IF)
        case x.Index():
            return _expression(1, 8)
        case _:
            return _expression(1, 4)


def else_if() -> Count:
    """An if-expression that is a branch of another one."""
    return _expression(1, _ELSE_IF)


def second_of_angle() -> Count:
    """A sine beside a cosine that is computed anyway."""
    return Count(Cost(20, functions=50), Cost(20, functions=BUILTINS["sin"].far_instructions))


def _number(e: x.Expr) -> float | None:
    if isinstance(e, x.Builtin) and e.name == "real":
        return _number(e.args[0])
    return float(e.value) if isinstance(e, x.Real | x.Int) else None


# -------------------------------------------------------------------------------------------------------------- kernels


def copy(n: int) -> Count:
    """memcpy or memset of n doubles."""
    return moves(n, 24)


def dense_factor(n: int) -> Count:
    """khz_lu_factor; at worst khz_minimum_norm follows."""
    operations = 2 * n**3 // 3 + 2 * n**2
    counted = 1.45 * n**3 + 41 * n**2 + 125 * n + 20  # 1.09 of what 7 to 100 take, every row exchanged
    if 1 < n <= constant("KHZ_FEW_UNKNOWNS"):  # compiled apart: what they take with zig, a third more than with gcc
        counted = 170 if n == 2 else 52 * n**2 + 65
    if n >= constant("KHZ_PIVOTED_LEAST"):  # khz_pivoted_factor may have gone before, in vain
        counted += 10 * n**3 / constant("KHZ_PIVOTED_PRODUCTS") + 8 * n**2 + 200 * n
    lu = Cost(operations, kernels=round(counted))
    return _always(lu) + minimum_norm(n).times(0, 1)


def minimum_norm(n: int) -> Count:
    """khz_minimum_norm, and its matrix."""
    return both(3 * n**3 + 8 * n**2, 11 * n**3 + 55 * n**2 + 350 * n + 120) + copy(n * n)


def dense_solve(n: int) -> Count:
    """khz_lu_solve: compiled apart for few unknowns (what 2 to 6 take with zig, the dearer), else by loops."""
    few = n <= constant("KHZ_FEW_UNKNOWNS")
    return both(2 * n**2 + 4 * n, 3.1 * n**2 + 2.5 * n + 21 if few else 6.2 * n**2 + 24 * n + 45)


def in_place(n: int) -> Count:
    """khz_linear_2 and khz_linear_3: by determinants; where these are lost in rounding by factors, a detour."""
    by_factors = copy(n * n).times(2) + dense_factor(n) + dense_solve(n)
    return both(9 if n == 2 else 45, 44 if n == 2 else 138) + Count(Cost(), by_factors.worst)


def sparse_factor(plan: Elimination, n: int) -> Count:
    """khz_sparse_factor by its tables, or what is written out of it."""
    if is_written_out(plan):
        return both(2 * plan.n_products + 4 * n, 5 * plan.n_products + 13 * plan.n_entries + 4 * n, 40)
    return both(2 * plan.n_products + 4 * n, 13 * plan.n_products + 30 * plan.n_entries + 190 * n + 80)


def sparse_solve(plan: Elimination, n: int) -> Count:
    if is_written_out(plan):
        return both(2 * plan.n_entries + 4 * n, 3.6 * plan.n_entries + 2 * n, 20)
    return both(2 * plan.n_entries + 4 * n, 10.5 * plan.n_entries + 25 * n + 50)


def scattered_factor(system: ScatteredLoop) -> Count:
    """A large linear loop without zeros; at worst as many columns as may be have no pivot."""
    n, entries, lost = len(system.pattern), system.order.n_entries, constant("KHZ_MOST_LOST")
    n_a, products = sum(map(len, system.pattern)), system.order.n_products
    # 1.1 to 1.3 of what 332 to 900 unknowns take: the search for columns is half of it
    regular = both(2 * products + 4 * n + n_a, 18 * products + 60 * entries + 60 * n_a + 300 * n + 200)
    more = both(2 * lost * products // n, 18 * lost * products // n + 60 * lost * n)  # a row more in each column
    directions = scattered_solve(system).times(lost) + both(6 * lost**2 * n, 12 * lost**2 * n)
    return regular + (more + directions).times(0, 1)


def scattered_solve(system: ScatteredLoop) -> Count:
    """At worst projected twice on each direction in which the solution is free."""
    n, entries, lost = len(system.pattern), system.order.n_entries, constant("KHZ_MOST_LOST")
    singular = both(8 * lost * n, 30 * lost * n)
    return both(2 * entries + 4 * n, 12 * entries + 40 * n + 100) + singular.times(0, 1)


def unplanned(system: ScatteredLoop | None, n: int) -> tuple[Count, Count, Count]:
    """A linear loop without a plan: a new matrix, a solution, that of a singular one in a search for a mode."""
    if system is None:
        return copy(n * n).times(2) + dense_factor(n), dense_solve(n), minimum_norm(n)
    factor, solve = scattered_factor(system), scattered_solve(system)
    return factor, solve, Count(factor.worst, factor.worst) + Count(solve.worst, solve.worst)


def planned_factor(plan: PivotPlan | DefinitePlan, n: int, way_out: Count) -> Count:
    """A linear loop by its plan; at worst the way out follows."""
    products, entries = plan.n_products, plan.n_entries
    if isinstance(plan, DefinitePlan):  # 1.04 to 1.22 of what 4 to 16 unknowns take
        kernels = 3.1 * products + 1.5 * entries + 12 * n + 15
    elif is_by_tables(plan):
        kernels = 9.5 * products + 16 * entries + 40 * n + 60
    else:  # 1.05 to 1.25 of what 4 to 25 take, every row exchanged that can be
        kernels = 3.6 * products + 8 * entries + 16 * plan.n_alike + 36 * n + 40
    written = Cost(2 * products + 4 * n, kernels=round(kernels))
    return Count(written, written) + way_out.times(0, 1)


def planned_solve(plan: PivotPlan | DefinitePlan, n: int, way_out: Count) -> Count:
    if isinstance(plan, DefinitePlan):
        entries = plan.n_entries
        return both(4 * entries, 7 * (entries - n) + 4 * n + 12) + way_out.times(0, 1)
    if is_by_tables(plan):
        return both(2 * plan.n_entries + 4 * n, 9.5 * plan.n_entries + 30 * n + 50) + way_out.times(0, 1)
    return both(2 * plan.n_entries + 4 * n, 4 * plan.n_entries + 5 * n + 30) + way_out.times(0, 1)
