"""How much a block takes at most, with the caps of a bounded step.

Each count is a pair: of a *regular* run (loops converge within the usual iterations, no pivot is lost, a mixed loop
settles in its first turn) and of the *worst* one (the minimum-norm solution of every singular system).  What a period
has for all loops together (`runtime/loops/khz_spare.h`) is priced here and counted in `bound.py`.  What has no bound
that could be told from the text (while loops, external code, recursion, loops over sizes that are not known) is named,
not guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import TypeAlias

from kilohertz.cost.branches import idle
from kilohertz.cost.costly import costly
from kilohertz.cost.factors import IN_PLACE, linear_plan, loop_elimination, scattered
from kilohertz.cost.prices import (
    Cost,
    Count,
    both,
    calls,
    copy,
    dense_factor,
    dense_solve,
    else_if,
    in_place,
    moves,
    node,
    planned_factor,
    planned_solve,
    second_of_angle,
    sparse_factor,
    sparse_solve,
    total,
    unplanned,
)
from kilohertz.cost.rolled import Listed, Shapes, rolls, steady
from kilohertz.cost.rolled_blocks import Rolled, stretches
from kilohertz.cost.together import is_large
from kilohertz.ir import expr as x
from kilohertz.ir import step as s
from kilohertz.ir.flat import (
    Assert,
    Assign,
    CallEquation,
    ForStatement,
    IfStatement,
    Reinit,
    Statement,
    TupleTarget,
    WhenStatement,
    WhileStatement,
)
from kilohertz.ir.scopes import may_fail, opens_scope
from kilohertz.ir.traverse import bottom_up
from kilohertz.runtime import constant

_USUAL, _USUAL_KEPT = constant("KHZ_USUAL_NEWTON"), constant("KHZ_USUAL_KEPT")
_FEW, _FEW_CAP, _USUAL_FEW = constant("KHZ_FEW"), constant("KHZ_FEW_CAP"), constant("KHZ_USUAL_FEW")
_USUAL_FEW_NEW = constant("KHZ_USUAL_FEW_NEW")
_LESSONS = constant("KHZ_KEPT_LESSONS")
_UNPLANNED, _SINGULAR = constant("KHZ_MIXED_UNPLANNED"), constant("KHZ_MIXED_SINGULAR")
_COMPILED_APART = 2  # unknowns of a nonlinear loop that khz_newton.c has code of its own for
_STORE = moves(2)
_SET = moves(1)  # a variable of the instance or an entry of a matrix, from a register
_ELEMENT, _ARRAY, _TURN = moves(12), moves(60), moves(6)  # of an array that is assigned at once; of a loop
_BLOCK = calls(30)  # a generated function: call, prologue, status

_Dims: TypeAlias = tuple[int | None, ...]
_Sizes: TypeAlias = tuple[_Dims, ...]


@dataclass(slots=True)
class Operations:
    """Counts for one model; `unbounded` collects what has no bound."""

    step: s.Step
    newton: int
    is_apart: Callable[[x.Expr, x.Expr], bool] | None = None  # an operand of a node that is computed elsewhere
    in_stage: bool = False  # blocks of an inlined stage are counted
    keeps: bool = False  # ... with the Jacobians of an earlier one
    in_search: bool = False  # ... of a mode under trial: detours of its linear systems are paid for with turns
    kept: set[x.Expr] = field(default_factory=set)  # functions that stand in variables of a step
    unbounded: dict[str, None] = field(default_factory=dict)
    _functions: dict[tuple[str, _Sizes], Count] = field(default_factory=dict)
    _open: list[str] = field(default_factory=list)
    _inputs: dict[str, _Dims] = field(default_factory=dict)  # of the function that is counted: their sizes in this call
    _matrices: dict[tuple[x.Ref, ...], s.LinearLoop] = field(init=False)  # whose factors are used again, by unknowns
    _here: _Function | None = None  # the C function that is counted
    _failing: dict[x.Expr, bool] = field(default_factory=dict)
    _shapes: Shapes = field(init=False)

    def __post_init__(self) -> None:
        blocks = [*self.step.blocks, *(self.step.inlined or ())]
        inner = [i for b in blocks if isinstance(b, s.MixedLoop) for i in b.continuous]
        self._shapes = Shapes(self.step.variables)
        self._matrices = {b.unknowns: b for b in (*blocks, *inner) if isinstance(b, s.LinearLoop)}

    # --------------------------------------------------------------------------------------------------- expressions

    def expressions(self, roots: Iterable[x.Expr]) -> Count:
        """Each node once in a C function: the writer shares common parts."""
        here = self._here or _Function()
        seen: set[x.Expr] = set()
        stack = [(root, False) for root in roots]
        counts: list[Count] = []
        while stack:
            e, guarded = stack.pop()
            if e in seen or e in here.known or e in self.kept:
                continue
            seen.add(e)
            for k, child in enumerate(e.children()):
                if self.is_apart is None or not self.is_apart(e, child):
                    stack.append((child, guarded or opens_scope(e, k)))
            if isinstance(e, x.IfExp):
                here.chained.update(b for b in (e.then, e.otherwise) if isinstance(b, x.IfExp))
            if e in here.idle and not self._open:
                continue
            counts.append(here.price(e, guarded))
            if isinstance(e, x.Call):
                counts.append(self.function(e))
            elif isinstance(e, x.Comprehension):
                self.unbounded.setdefault("an array whose size is known at run time only")
        here.known.update(e for e in seen if not self._may_fail(e))
        return total(counts)

    def listed(self, statements: Sequence[Listed]) -> Count:
        """Those of a list of statements: equal ones in loops, the others share what they have in common."""
        counts, left, at = [], list[x.Expr](), 0
        for roll in rolls(statements, self._shapes):
            left += (e for one in statements[at : roll.first] for e in one.roots)
            at = roll.end
            rolled = statements[roll.first : at]
            roots = [e for one in rolled[: roll.size] for e in one.roots]
            with self._in_function(roots):
                counts.append(self.expressions(steady(rolled, roll, self._shapes)) + _TURN)
                turn = self.expressions(roots)
            counts.append((turn + _TURN + _STORE.times(roll.n_places)).times(roll.turns))
        return total([*counts, self.expressions([*left, *(e for one in statements[at:] for e in one.roots)])])

    def _node(self, e: x.Expr) -> Count:
        return node(e) + self.function(e) if isinstance(e, x.Call) else node(e)

    def _may_fail(self, root: x.Expr) -> bool:
        """What may fail is computed in each branch that needs it."""
        known = self._failing.get(root)
        return (
            known if known is not None else bottom_up(root, lambda e, below: may_fail(e) or any(below), self._failing)
        )

    @contextmanager
    def _in_function(self, roots: Iterable[x.Expr]) -> Iterator[None]:
        """Around what stands in one C function: all its expressions, of which the dearer branches are counted."""
        outer, self._here = self._here, _Function(idle(roots, self._node))
        yield
        self._here = outer

    def function(self, call: x.Call) -> Count:
        """A call of a Modelica function, its loops unrolled where their length is a number with these arguments."""
        name, sizes = call.function, tuple(self._dims(a) for a in call.args)
        if (name, sizes) in self._functions:
            return self._functions[name, sizes]
        if name in self._open:
            self.unbounded.setdefault(f"function {name} calls itself")
            return Count()
        definition = self.step.functions.get(name)
        if definition is None or definition.external is not None:
            self.unbounded.setdefault(f"external function {name}")
            return Count()
        self._open.append(name)
        outer, self._inputs = self._inputs, {i.name: d for i, d in zip(definition.inputs, sizes, strict=True)}
        count = self.statements(definition.body, name)
        self._inputs = outer
        self._open.pop()
        self._functions[name, sizes] = count
        return count

    def statements(self, body: Sequence[Statement], where: str) -> Count:
        return total(self._statement(one, where) for one in body)

    def _statement(self, one: Statement, where: str) -> Count:
        match one:
            case Assign(target, value):
                places = list(target.elements) if isinstance(target, TupleTarget) else [target]
                width = self._width(value)
                parts = self.expressions([value, *(p for p in places if p is not None)]) + _STORE
                return parts if width == 1 else (parts + _ELEMENT).times(width) + _ARRAY
            case IfStatement(branches, otherwise):
                bodies = [self.statements(b, where) for _, b in branches] + [self.statements(otherwise, where)]
                conditions = self.expressions(c for c, _ in branches) + _STORE.times(len(branches))
                return conditions + _larger(bodies)
            case WhenStatement(branches):
                bodies = [self.statements(b, where) for _, b in branches]
                return self.expressions(c for c, _ in branches) + total(bodies) + _STORE.times(2 * len(branches))
            case ForStatement(_, range_, body):
                turns = self._length(range_)
                if turns is None:
                    self.unbounded.setdefault(f"a loop in {where} whose length is known at run time only")
                return (self.statements(body, where) + _TURN).times(turns or 1) + self.expressions((range_,)) + _TURN
            case WhileStatement(condition, body):
                self.unbounded.setdefault(f"a while loop in {where}")
                return self.expressions((condition,)) + self.statements(body, where) + _TURN
            case Assert():
                return self.expressions((one.condition,)) + _STORE.times(2)
            case Reinit():
                return self.expressions((one.value,)) + _STORE.times(2)
            case CallEquation():
                return self.expressions((one.call,))
            case _:
                return _STORE

    def _width(self, value: x.Expr) -> int:
        """Elements of an array that is assigned at once."""
        size = 1
        for d in self._dims(value):
            if d is None:
                self.unbounded.setdefault("an array whose size is known at run time only")
                return size
            size *= max(1, d)
        return size

    def _dims(self, e: x.Expr) -> _Dims:
        return self._inputs.get(e.name, e.ty.dims) if isinstance(e, x.Ref) else e.ty.dims

    def _length(self, range_: x.Expr) -> int | None:
        match range_:
            case x.Range(first, None, last):
                low, high = self._integer(first), self._integer(last)
                return None if low is None or high is None else max(0, high - low + 1)
            case x.Array(elements):
                return len(elements)
            case _:
                dims = self._dims(range_)
                return dims[0] if dims else None

    def _integer(self, e: x.Expr) -> int | None:
        """An Integer that numbers and sizes of inputs give."""
        match e:
            case x.Int(value):
                return value
            case x.Builtin("size", (array, x.Int(k))):
                dims = self._dims(array)
                return dims[k - 1] if k <= len(dims) else None
            case x.Binary("+" | "-" | "*" as op, left, right):
                a, b = self._integer(left), self._integer(right)
                return None if a is None or b is None else a + b if op == "+" else a - b if op == "-" else a * b
            case _:
                return None

    # -------------------------------------------------------------------------------------------------------- blocks

    def stage(self, blocks: Iterable[s.Block], *, kept: bool = False) -> Count:
        """One inlined stage; `kept`: its loops need no new Jacobian."""
        self.in_stage, self.keeps = True, kept
        count = self.blocks(blocks)
        self.in_stage = self.keeps = False
        return count

    def blocks(self, blocks: Iterable[s.Block], in_event: bool = False, is_open: bool = False) -> Count:
        return total(self.run(run, lambda b: self.block(b, in_event, is_open)) for run in self._stretches(blocks))

    def partition(self, partition: s.Partition) -> Count:
        return total(self.run(run, self.block) for run in self._of_partition(partition))

    def _of_partition(self, partition: s.Partition) -> list[list[s.Block] | Rolled]:
        stretches = self._stretches(self.step.blocks)
        return [r for r in stretches if (r if isinstance(r, Rolled) else r[0]).partition is partition]

    def _stretches(self, blocks: Iterable[s.Block]) -> Iterator[list[s.Block] | Rolled]:
        return stretches(list(blocks), self._shapes)

    def run(self, run: Sequence[s.Block] | Rolled, count: Callable[[s.Block], Count]) -> Count:
        """Blocks that share a C function."""
        blocks = run.first if isinstance(run, Rolled) else run
        apart = (s.NonlinearLoop, s.MixedLoop)  # have functions of their own
        with self._in_function(e for b in blocks if not isinstance(b, apart) for e in s.expressions(b)):
            return self._rolled(run, count) if isinstance(run, Rolled) else total(map(count, run))

    def _rolled(self, run: Rolled, count: Callable[[s.Block], Count]) -> Count:
        """A loop: what is the same in all turns once; what earlier blocks left in variables is computed again."""
        once = self.expressions(run.steady)
        kept, self.kept = self.kept, set()
        turn = total(map(count, run.first)) + _TURN + _STORE.times(run.roll.n_places)
        self.kept = kept
        return once + _TURN + turn.times(run.roll.turns)

    def step_blocks(self, is_open: bool = False) -> Count:
        """Those of a step between events; functions that stand in variables are `kept` from then on."""
        self.kept = set()

        def count(b: s.Block) -> Count:
            counted = self.block(b, is_open=is_open)
            self.kept.update(e for e, _ in costly(b, self.step.variables))
            return counted

        counts = []
        for run in self._of_partition(s.Partition.STEP):
            counts.append(self.run(run, count))
            for b in run.blocks if isinstance(run, Rolled) else ():
                self.kept.update(e for e, _ in costly(b, self.step.variables))
        return total(counts)

    def block(self, block: s.Block, in_event: bool = False, is_open: bool = False) -> Count:
        """One run of a block; `is_open`: nonlinear loops give their residuals alone (index-1 form)."""
        match block:
            case s.LinearLoop():
                return self._linear(block, in_event) + (_BLOCK if is_large(block) else Count())
            case s.NonlinearLoop():
                kept, self.kept = self.kept, set()  # its functions do not know what stands in variables
                count = _BLOCK + (self._residual(block) if is_open else self._nonlinear(block))
                self.kept = kept
                return count
            case s.MixedLoop():
                return _BLOCK + self._mixed(block, in_event, is_open)
            case s.WhenBlock():
                values = [a.value for a in block.actions if isinstance(a, s.SetState)]
                return self.expressions([block.guard, *values]) + _STORE.times(2 + 2 * len(block.actions))
            case _:
                stores = len(s.targets(block))
                return _SET.times(max(1, stores)) + self.expressions(s.expressions(block))

    def _mixed(self, b: s.MixedLoop, in_event: bool, is_open: bool) -> Count:
        """Between events the Reals alone; in an event the mode as it was, and one turn.

        All further turns are counted over a whole period, and the nearest mode once more over an event: `turn`.
        """
        return self.turn(b, is_open).times(2) if in_event else self.blocks(b.continuous, in_event, is_open)

    def turn(self, b: s.MixedLoop, is_open: bool = False, in_search: bool = True) -> Count:
        """One mode of a mixed loop: its Reals, and what its conditions say of them."""
        self.in_search = in_search
        inner = self.blocks(b.continuous, True, is_open)
        self.in_search = False
        relations = [o for o in b.discrete if isinstance(o, s.Assignment) and self._is_relation(o.target.name)]
        functions = {c.index: c.function for c in self.step.crossings}
        distances = self.expressions(functions[self.step.slot(o.target.name).index] for o in relations)
        return inner + distances + self.blocks(b.discrete, True).times(2) + moves(60 + 75 * len(relations))

    def _is_relation(self, name: str) -> bool:
        return self.step.slot(name).kind is s.Kind.RELATION

    def _linear(self, b: s.LinearLoop, in_event: bool) -> Count:
        n = len(b.unknowns)
        constant = b.matrix_partition in (s.Partition.ONCE, s.Partition.EVENT)
        # of a stage: the first after an event has it anew
        kept = constant and not in_event and (self.keeps or not self.in_stage)
        inner = _SET.times(len(b.inner)) + self.expressions([*b.rhs, *(a.value for a in b.inner)])
        if n == 1:
            return inner + self.expressions(e.value for e in b.matrix) + both(4, 25)
        solved = self._matrices.get(b.again) if b.again else b  # None: the Jacobian of a nonlinear loop
        planned = linear_plan(solved) if solved is not None else None
        plan, n_stored = (None, len(b.matrix)) if planned is None else (planned.plan, sum(map(len, planned.pattern)))
        filled = _SET.times(n_stored) + self.expressions(e.value for e in b.matrix)
        if n <= IN_PLACE and not constant:
            return inner + filled + moves(4 * n, 10) + in_place(n)
        way_out, solve, _ = unplanned(None if solved is None else scattered(solved), n)
        matrix = filled + (way_out if plan is None else planned_factor(plan, n, way_out))
        solve = solve if plan is None else planned_solve(plan, n, solve)
        if self.in_search:
            matrix, solve = Count(matrix.regular, matrix.regular), Count(solve.regular, solve.regular)
        return inner + moves(6 * n, 60) + solve + (Count() if kept or (b.again and n > IN_PLACE) else matrix)

    def detours(self, b: s.MixedLoop) -> list[tuple[Count, int]]:
        """What linear systems of a mode take beyond their usual way, and how many turns they pay for it."""
        found: list[tuple[Count, int]] = []
        for loop in _linear_loops(b):
            n = len(loop.unknowns)
            if n > 1:
                factor, solve, singular = unplanned(scattered(loop), n)
                found.append((Count(factor.regular, factor.regular) + solve, _UNPLANNED))
                found.append((singular, _SINGULAR))
        return found

    def _residual(self, b: s.NonlinearLoop) -> Count:
        n = len(b.unknowns)
        apart = self.blocks(i for i in b.inner if is_large(i))
        roots = [e for i in b.inner if not is_large(i) for e in s.expressions(i)]
        with self._in_function([*roots, *b.residuals]):
            inside = total(self.block(i) for i in b.inner if not is_large(i))
            return apart + inside + self.expressions(b.residuals) + both(n, 10 * n + 40)

    def _nonlinear(self, b: s.NonlinearLoop) -> Count:
        """One solution with the iterations that it has for itself."""
        n, cap, residual = len(b.unknowns), self.newton, self._residual(b)
        head = moves(12 * n, 200)
        one = self.iteration(b, is_spare=False)
        if not self.in_stage:
            if b.jacobian is not None and n <= _FEW and loop_elimination(b) is None:  # khz_newton_few.c comes first
                few = residual + both(8 * n, 15 * n)
                anew = (self._entries(b) + both(8 * n, 20 * n + 15)).times(min(cap, _USUAL_FEW_NEW), min(cap, _FEW_CAP))
                first = residual + anew + few.times(min(cap, _USUAL_FEW), min(cap, _FEW_CAP))
                return head + first + residual.times(0, 5) + one.times(0, cap)
            return head + residual.times(1, 5) + one.times(min(cap, _USUAL), cap)
        # khz_kept.c comes first; where there is a Jacobian and it ends without a solution the rest is a detour
        first = self._kept_solution(b, residual) if b.jacobian is not None else residual
        return head + first + residual.times(0, 5) + one.times(min(cap, _USUAL) if b.jacobian is None else 0, cap)

    def _kept_solution(self, b: s.NonlinearLoop, residual: Count) -> Count:
        """By a Jacobian that is renewed once, or not at all where the stage `keeps` it; at worst in every iteration."""
        n, cap = len(b.unknowns), self.newton
        plan, entries = loop_elimination(b), self._entries(b)
        factor = copy(n * n) + dense_factor(n) if plan is None else sparse_factor(plan, n)
        solve = (dense_solve(n) if plan is None else sparse_solve(plan, n)) + moves(10 * n)
        anew = factor + solve
        usual = min(cap, _USUAL_KEPT)
        n_anew = 1 + (usual - 1) // _LESSONS  # one that has learnt before, and one after so many lessons
        one = residual + solve + both(2 * n * n + 8 * n, 10 * n * n + 60 * n + 200)
        first = residual + both(20 * n, 60 * n + 250)  # where solutions before point to
        regular = first + one.times(usual) + anew.times(n_anew) + (entries + anew).times(0 if self.keeps else 1)
        worst = first + (one + residual.times(2) + entries + anew).times(2 * cap)
        return Count(regular.regular, worst.worst)

    def iteration(self, b: s.NonlinearLoop, is_spare: bool = True) -> Count:
        """One iteration of a loop; those that a period has to spare may meet a singular Jacobian."""
        n = len(b.unknowns)
        around = both(6 * n, 24 * n + 60 if n <= _COMPILED_APART else 40 * n + 120)
        return self._jacobian(b, self._residual(b), is_spare) + self.trial(b) + around

    def trial(self, b: s.NonlinearLoop) -> Count:
        """A point of a loop, and how good it is."""
        n = len(b.unknowns)
        return self._residual(b) + both(6 * n, 20 * n + 30 if n <= _COMPILED_APART else 32 * n + 40)

    def _jacobian(self, b: s.NonlinearLoop, residual: Count, may_be_singular: bool = False) -> Count:
        """The Jacobian of a loop, sizes of its rows, and the direction that follows from it."""
        n = len(b.unknowns)
        lu = dense_factor(n)
        lu = lu if may_be_singular else Count(lu.regular, lu.regular)
        dense = copy(n * n).times(2) + both(2 * n * n, 14 * n * n) + lu + dense_solve(n)
        if b.jacobian is None:
            return dense + residual.times(n, 2 * n) + both(4 * n * n, 12 * n * n)
        entries = self._entries(b)
        plan = loop_elimination(b)
        if plan is None:
            return entries + dense
        count = len(b.jacobian)
        planned = both(2 * count, 24 * count + 40 * n) + sparse_factor(plan, n) + sparse_solve(plan, n)
        return entries + planned + dense.times(0, 1)

    def _entries(self, b: s.NonlinearLoop) -> Count:
        """The entries of a Jacobian; functions that its residuals left in variables are read there."""
        kept, self.kept = self.kept, {e for e, _ in costly(b, self.step.variables)}
        roots = [e for r in b.rates for e in s.expressions(r)]
        with self._in_function([*roots, *(e.value for e in b.jacobian or ())]):
            rates = total(map(self.block, b.rates))
            count = rates + _SET.times(len(b.jacobian or ())) + self.expressions(e.value for e in b.jacobian or ())
        self.kept = kept
        return count


@dataclass(slots=True)
class _Function:
    """What a C function has computed so far."""

    idle: set[x.Expr] = field(default_factory=set)  # in the cheaper of two branches
    known: set[x.Expr] = field(default_factory=set)
    angles: set[x.Expr] = field(default_factory=set)  # of which there is a sine or cosine
    chained: set[x.Expr] = field(default_factory=set)  # if-expressions that are a branch of another one

    def price(self, e: x.Expr, guarded: bool) -> Count:
        """Of one node; sine and cosine of the same angle are one call, and of a chain of branches one has the value."""
        if e in self.chained:
            return else_if()
        if not isinstance(e, x.Builtin) or e.name not in ("sin", "cos") or guarded:
            return node(e)
        is_second = e.args[0] in self.angles
        self.angles.add(e.args[0])
        return second_of_angle() if is_second else node(e)


def _linear_loops(b: s.MixedLoop) -> list[s.LinearLoop]:
    """Of a mode, those inside nonlinear loops included."""
    found: list[s.LinearLoop] = []
    stack: list[s.Block] = list(b.continuous)
    while stack:
        match stack.pop():
            case s.LinearLoop() as loop:
                found.append(loop)
            case s.NonlinearLoop(inner=inner, rates=rates):
                stack.extend((*inner, *rates))
            case _:
                pass
    return found


def _larger(counts: Sequence[Count]) -> Count:
    """The most that one of several ways takes, of each kind of instruction."""

    def most(costs: Sequence[Cost]) -> Cost:
        return Cost(*(max(getattr(c, f.name) for c in costs) for f in fields(Cost)))

    return Count(most([c.regular for c in counts]), most([c.worst for c in counts]))
