"""Probes in generated C (khz_probe.h): each place that can be timed has its number here, and its spelling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kilohertz.ir.expr import Call
from kilohertz.ir.flat import ForStatement, Function, WhileStatement
from kilohertz.ir.traverse import function_expressions, walk_all
from kilohertz.runtime import constant

_SHORT = 12  # nodes of all expressions of a function that is not timed


@dataclass(slots=True)
class Probes:
    """Numbers places in the order in which they are written: functions of blocks first, then Modelica functions."""

    blocks: list[str] = field(default_factory=list)  # C functions
    functions: list[Function] = field(default_factory=list)

    @property
    def n_places(self) -> int:
        """Of the model, after KHZ_PLACES_OF_MODEL."""
        return len(self.blocks) + len(self.functions)

    def call(self, symbol: str, arguments: Sequence[str], probe: str) -> str:
        """The call of the function of a block, or of a run of blocks, timed by one of the macros of calls."""
        place = self._next()
        self.blocks.append(symbol)
        return f"{probe}(&z->c, {place}, {symbol}({', '.join(('z', *arguments))}))"

    def function(self, function: Function) -> FunctionProbe:
        """Those of the body of a Modelica function."""
        place = self._next()
        self.functions.append(function)
        return FunctionProbe(place, not _is_short(function))

    def _next(self) -> int:
        return constant("KHZ_PLACES_OF_MODEL") + self.n_places


@dataclass(frozen=True, slots=True)
class FunctionProbe:
    """Where a function is entered and left; of one that is not timed its calls are counted."""

    place: int
    is_timed: bool

    def around(self, body: Sequence[str]) -> list[str]:
        """A body that is gone through to its end."""
        if not self.is_timed:
            return [f"KHZ_TOUCHED(c, {self.place});", *body]
        return [f"KHZ_CALLED(c, {self.place});", *body, f"KHZ_RETURNS(c, {self.place});"]

    def before(self, leave: str) -> str:
        """A statement that leaves the function before its end."""
        return leave if not self.is_timed else f"KHZ_RETURNS(c, {self.place}); {leave}"


def _is_short(function: Function) -> bool:
    """A function of a few operations: a clock would cost more than it does, so its time is that of its caller."""
    if function.external is not None or any(isinstance(s, ForStatement | WhileStatement) for s in function.body):
        return False
    nodes = list(walk_all(function_expressions(function)))
    return len(nodes) <= _SHORT and not any(isinstance(e, Call) for e in nodes)
