"""What making blocks asks of the model, and what it remembers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from kilohertz.base import Diagnostic
from kilohertz.ir import traverse
from kilohertz.ir.builtins import is_past
from kilohertz.ir.dae import AnyEquation
from kilohertz.ir.expr import Binary, Expr, IfExp, Ref, Unary
from kilohertz.ir.flat import Function
from kilohertz.ir.step import Assignment, Block, LinearLoop, Partition
from kilohertz.ir.types import REAL
from kilohertz.passes.algebra import Occurrence
from kilohertz.passes.numeric import Numeric
from kilohertz.passes.ordered.columns import Columns
from kilohertz.passes.ordered.inverse import Linear


class Loop(Protocol):
    """An algebraic loop that was made before."""

    def settled(self, blocks: list[Block], context: Context) -> list[Block]: ...


@dataclass(slots=True)
class Context:
    """What making blocks asks of the model."""

    is_discrete: Callable[[str], bool]  # the unknown changes at events only and is not solved for in Real loops
    is_parameter: Callable[[str], bool]
    parameters: Numeric  # values of parameters as translated
    values: Mapping[str, float]  # the same, by name
    columns: Columns  # derivatives of loops
    starts: Mapping[str, float] = field(default_factory=dict)  # of states
    partition: Partition = Partition.STEP
    guess_weight: Callable[[str], int] = lambda _: 0
    has_start: Callable[[str], bool] = lambda _: False  # the model gives a value to begin from
    is_rate: Callable[[str], bool] = lambda _: False  # the derivative of a state
    whole: bool = False  # linear loops are not torn
    far: bool = False  # look for fewer iteration variables of nonlinear loops, at a price
    functions: Mapping[str, Function] = field(default_factory=dict)  # with the inverses they name
    formulas: Mapping[int, str] = field(default_factory=dict)  # of an inlined stage: by id of the equation, its state
    loops: dict[tuple[int, ...], tuple[tuple[str, ...], list[Block], Loop]] = field(default_factory=dict)  # made before
    solved: dict[tuple[Expr, Expr, str], Linear | None] = field(default_factory=dict)  # equations, by their sides
    point: Numeric | None = None  # numbers to try a choice with
    kept: list[AnyEquation] = field(default_factory=list)  # so that ids stay theirs
    warnings: list[Diagnostic] = field(default_factory=list)
    sources: dict[str, Expr] = field(default_factory=dict)  # of the simulated system: what variables are computed from
    switched: set[str] = field(default_factory=set)  # assigned what depends on a mode, or a product with that

    @property
    def occurrence(self) -> Occurrence:
        return self.columns.occurrence

    def has_mode(self, a: Expr) -> bool:
        """Depends on a mode as it stands, or on how long a delay is."""
        return (
            is_chosen(a)
            or any(map(is_past, traverse.walk(a)))
            or any(self.is_discrete(n) for n in self.occurrence.names(a))
        )

    def may_vanish(self, a: Expr) -> bool:
        """A coefficient that depends on a mode may be zero for good."""
        return self.has_mode(a) or not self.switched.isdisjoint(self.occurrence.names(a))

    def remember(self, blocks: Iterable[Block]) -> None:
        """Keep what Reals of the simulated system are computed from in every evaluation."""
        if self.partition is not Partition.STEP:
            return
        for b in blocks:
            for a in b.inner if isinstance(b, LinearLoop) else (b,):
                if isinstance(a, Assignment) and a.target.ty == REAL and not self.is_discrete(a.target.name):
                    self.sources[a.target.name] = a.value

    def is_switched(self, value: Expr) -> bool:
        match value:
            case Unary("-", part) | Binary("/", part, _):
                return self.is_switched(part)
            case Binary("*", left, right):
                return self.is_switched(left) or self.is_switched(right)
            case Ref(name):
                return name in self.switched or self.is_discrete(name)
        return is_chosen(value)


def is_chosen(e: Expr) -> bool:
    """Has branches."""
    return any(isinstance(n, IfExp) for n in traverse.walk(e))
