"""How many operations a block takes at most, with the caps of a bounded step.

An operation is an addition, a comparison or a move of a number; a division counts 4, an elementary function 20.  Each
count is a pair: of a *regular* run (loops converge within their cap, no pivot is lost) and of the *worst* one (every
cut of every Newton step, the minimum-norm solution of every singular system).  What has no bound that could be told
from the text (while loops, external code, recursion, loops over sizes that are not known) is named, not guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from kilohertz.codegen.plans import loop_elimination
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

MAX_CUTS, BISECTIONS, START_POINTS = 12, 50, 9  # khz_newton.c
EVENT_NEWTON = 4  # KHZ_EVENT_NEWTON
MIXED_TURNS = 1 + 12 + 300 + 3  # khz_loops.c: all at once, then every mode or a walk, then the best and its check
_WEIGHTS = {"/": 4, "^": 20}
_FUNCTION = 20
_CALL = 30  # arguments, arena, status
_BLOCK = 6  # of a generated function: prologue, status


@dataclass(frozen=True, slots=True)
class Count:
    """Operations: of a regular run, and at most."""

    regular: int = 0
    worst: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(self.regular + other.regular, self.worst + other.worst)

    def times(self, regular: int, worst: int | None = None) -> Count:
        return Count(self.regular * regular, self.worst * (regular if worst is None else worst))


def both(n: int) -> Count:
    return Count(n, n)


def total(counts: Iterable[Count]) -> Count:
    out = Count()
    for count in counts:
        out = out + count
    return out


def factorisation(n: int) -> Count:
    """Dense LU with scaled partial pivoting; at worst the minimum-norm solution too."""
    lu = 2 * n**3 + 12 * n**2 + 20 * n
    return Count(lu, lu + 8 * n**3 + 40 * n**2 + 60 * n)


def solution(n: int) -> Count:
    return both(3 * n**2 + 8 * n)


@dataclass(slots=True)
class Operations:
    """Counts for one model; `unbounded` collects what has no bound."""

    step: s.Step
    newton: int
    unbounded: dict[str, None] = field(default_factory=dict)
    _functions: dict[str, int] = field(default_factory=dict)
    _open: list[str] = field(default_factory=list)

    # --------------------------------------------------------------------------------------------------- expressions

    def expressions(self, roots: Iterable[x.Expr]) -> int:
        """Each node once: the writer shares common parts."""
        seen: set[int] = set()
        stack = list(roots)
        count = 0
        while stack:
            e = stack.pop()
            if id(e) in seen:
                continue
            seen.add(id(e))
            stack.extend(e.children())
            match e:
                case x.Binary():
                    count += _WEIGHTS.get(e.op, 1)
                case x.Builtin():
                    count += _FUNCTION
                case x.Call():
                    count += _CALL + self.function(e)
                case x.Comprehension():
                    self.unbounded.setdefault("an array whose size is known at run time only")
                case _:
                    count += 1
        return count

    def function(self, call: x.Call) -> int:
        """A call of a Modelica function, its loops unrolled where their length is a number."""
        name = call.function
        if name in self._functions:
            return self._functions[name]
        if name in self._open:
            self.unbounded.setdefault(f"function {name} calls itself")
            return 0
        found = self.step.functions.get(name)
        if found is None or found.external is not None:
            self.unbounded.setdefault(f"external function {name}")
            return 0
        self._open.append(name)
        count = self.statements(found.body, name)
        self._open.pop()
        self._functions[name] = count
        return count

    def statements(self, body: Sequence[Statement], where: str) -> int:
        return sum(self._statement(one, where) for one in body)

    def _statement(self, one: Statement, where: str) -> int:
        match one:
            case Assign(target, value):
                places = list(target.elements) if isinstance(target, TupleTarget) else [target]
                return 2 + self.expressions([value, *(p for p in places if p is not None)]) * self._width(value)
            case IfStatement(branches, otherwise):
                bodies = [self.statements(b, where) for _, b in branches] + [self.statements(otherwise, where)]
                return self.expressions(c for c, _ in branches) + max(bodies)
            case WhenStatement(branches):
                return self.expressions(c for c, _ in branches) + sum(self.statements(b, where) for _, b in branches)
            case ForStatement(_, range_, body):
                turns = self._length(range_)
                if turns is None:
                    self.unbounded.setdefault(f"a loop in {where} whose length is known at run time only")
                return (turns or 1) * (2 + self.statements(body, where)) + self.expressions((range_,))
            case WhileStatement(condition, body):
                self.unbounded.setdefault(f"a while loop in {where}")
                return self.expressions((condition,)) + self.statements(body, where)
            case Assert():
                return 2 + self.expressions((one.condition,))
            case Reinit():
                return 2 + self.expressions((one.value,))
            case CallEquation():
                return self.expressions((one.call,))
            case _:
                return 1

    def _width(self, value: x.Expr) -> int:
        """Elements of an array that is assigned at once."""
        size = 1
        for d in value.ty.dims:
            if not isinstance(d, int):
                self.unbounded.setdefault("an array whose size is known at run time only")
                return size
            size *= max(1, d)
        return size

    def _length(self, range_: x.Expr) -> int | None:
        match range_:
            case x.Range(x.Int(first), None, x.Int(last)):
                return max(0, last - first + 1)
            case x.Array(elements):
                return len(elements)
            case _:
                dims = range_.ty.dims
                return dims[0] if dims and isinstance(dims[0], int) else None

    # -------------------------------------------------------------------------------------------------------- blocks

    def blocks(self, blocks: Iterable[s.Block], in_event: bool = False, is_open: bool = False) -> Count:
        return total(self.block(b, in_event, is_open) for b in blocks)

    def block(self, block: s.Block, in_event: bool = False, is_open: bool = False) -> Count:
        """One run of a block; `is_open`: nonlinear loops give their residuals alone (index-1 form)."""
        match block:
            case s.LinearLoop():
                return both(_BLOCK) + self._linear(block, in_event)
            case s.NonlinearLoop():
                return both(_BLOCK) + (self._residual(block) if is_open else self._nonlinear(block, in_event))
            case s.MixedLoop():
                inner = self.blocks(block.continuous, in_event, is_open)
                if not in_event:
                    return inner
                turn = inner + self.blocks(block.discrete, in_event).times(3) + both(10 * len(block.discrete))
                return turn.times(2, MIXED_TURNS)
            case s.WhenBlock():
                acts = [a.value if isinstance(a, s.SetState) else None for a in block.actions]
                return both(_BLOCK + self.expressions([block.guard, *(a for a in acts if a is not None)]))
            case _:
                return both(_BLOCK + self.expressions(s.expressions(block)))

    def _linear(self, b: s.LinearLoop, in_event: bool) -> Count:
        n = len(b.unknowns)
        kept = b.matrix_partition in (s.Partition.ONCE, s.Partition.EVENT) and not in_event
        matrix = both(n * n + self.expressions(e.value for e in b.matrix)) + factorisation(n)
        rest = both(self.expressions([*b.rhs, *(a.value for a in b.inner)]) + 2 * n) + solution(n)
        return rest + (Count() if kept or b.again else matrix)

    def _residual(self, b: s.NonlinearLoop) -> Count:
        return self.blocks(b.inner) + both(self.expressions(b.residuals) + 4 * len(b.unknowns))

    def _nonlinear(self, b: s.NonlinearLoop, in_event: bool) -> Count:
        n = len(b.unknowns)
        residual = self._residual(b)
        if b.jacobian is not None:
            jacobian = both(n * n + self.expressions(e.value for e in b.jacobian))
        else:
            jacobian = residual.times(n, 2 * n) + both(n * n)
        plan = loop_elimination(b)
        sparse = both(0 if plan is None else 6 * plan.n_products + 20 * plan.n_entries + 40 * n)
        iteration = jacobian + sparse.times(0, 1) + factorisation(n) + solution(n) + both(4 * n * n + 40 * n)
        iteration = iteration + (residual + both(6 * n)).times(1, MAX_CUTS)
        cap = self.newton * (EVENT_NEWTON if in_event else 1)
        # at worst a second round with whole steps, each with a search along it
        bold = iteration.times(0, 1) + (residual + both(6 * n)).times(0, BISECTIONS)
        return residual.times(2, 4 + START_POINTS) + (iteration + bold).times(cap)
