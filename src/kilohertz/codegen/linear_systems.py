"""A linear loop in C: its matrix where that changed, its right-hand side, its solution, and what follows from it.

A long one (a network of thousands of branches) is written in functions of bounded length, since compilers take more
than linear time and memory for one: each shares within itself what its statements have in common, and equal statements
become loops.  The same operations in the same order, so the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from kilohertz.codegen.kept import Kept
from kilohertz.codegen.layout import Layout
from kilohertz.codegen.plain import PlainBlocks
from kilohertz.codegen.rolling import Line, in_parts
from kilohertz.codegen.writing.expressions import Writer
from kilohertz.codegen.writing.writer import STATUS
from kilohertz.cost import Listed, Shapes
from kilohertz.ir import step as s
from kilohertz.ir.expr import Expr

_LONG = 4000  # entries, right-hand sides and values that follow
_MOST = 1000  # of them in one function


def is_long(block: s.LinearLoop) -> bool:
    return len(block.matrix) + len(block.rhs) + len(block.inner) > _LONG


@dataclass(frozen=True, slots=True)
class Parts:
    """How the functions of a long loop are made: a writer for each, and what defines one, given what it does, the
    parameter that it takes and its body; that gives its C name."""

    writer: Callable[[], Writer]
    define: Callable[[str, str, list[str]], str]
    shapes: Shapes


@dataclass(frozen=True, slots=True)
class LinearSystem:
    """Writes one loop into the function that a writer is at, or in parts."""

    w: Writer
    layout: Layout
    plain: PlainBlocks
    parts: Parts | None

    def matrix(self, block: s.LinearLoop, kept: Kept, a: str) -> None:
        """Its entries, into an array."""
        w, places = self.w, kept.places(block)
        if self.parts is None:
            for e, at in places:
                w.put(f"{a}[{at}] = {w.text(e.value)};")
        elif self.layout.lane is None:
            values = [e.value for e, _ in places]
            bodies = self._plainly(self.parts, values, lambda v, i, e: v.put(f"a[{places[i][1]}] = {v.text(e)};"))
            self._in_parts("fill", "double *a", a, bodies)
        else:
            lines = [Line(Listed("entry", (("a", at),), (e.value,)), _assigned) for e, at in places]
            self._in_parts("fill", "double *a", a, self._bodies(self.parts, lines))

    def rhs(self, block: s.LinearLoop, b: str) -> None:
        """The right-hand side, into an array."""
        w = self.w
        if self.parts is None:
            for i, rhs in enumerate(block.rhs):
                w.put(f"{b}[{i}] = {w.assigned(rhs)};")
        elif self.layout.lane is None:
            bodies = self._plainly(self.parts, block.rhs, lambda v, i, e: v.put(f"b[{i}] = {v.assigned(e)};"))
            self._in_parts("right", "khz_lanes *b", b, bodies)
        else:
            lines = [Line(Listed("right", (("b", i),), (e,)), _assigned) for i, e in enumerate(block.rhs)]
            self._in_parts("right", "double *b", b, self._bodies(self.parts, lines))

    def solution(self, block: s.LinearLoop, b: str) -> None:
        """The unknowns, from an array."""
        places = [(self.layout.step.slot(u.name), u, i) for i, u in enumerate(block.unknowns)]
        if self.parts is None or self.layout.lane is None:
            self.w.put(*(f"{self.layout.variable(u)} = {b}[{i}];" for _, u, i in places))
            return
        lines = [Line(Listed("solved", ((at.kind, at.index), ("b", i)), ()), _copied) for at, _, i in places]
        self._in_parts("take", "double *b", b, self._bodies(self.parts, lines))

    def inner(self, block: s.LinearLoop) -> None:
        """What follows from the solution."""
        if self.parts is None:
            for one in block.inner:
                self.plain.assign(self.w, one.target, one.value)
            return
        targets = [one.target for one in block.inner]
        values = [one.value for one in block.inner]
        bodies = self._plainly(self.parts, values, lambda v, i, e: self.plain.assign(v, targets[i], e))
        self._in_parts("follow", "", "", bodies)

    def _bodies(self, parts: Parts, lines: Sequence[Line]) -> list[list[str]]:
        return in_parts(lines, _MOST, parts.writer, self.layout, parts.shapes)

    def _plainly(
        self, parts: Parts, values: Sequence[Expr], put: Callable[[Writer, int, Expr], None]
    ) -> Iterable[list[str]]:
        """The same of statements that are not rolled."""
        for first in range(0, len(values), _MOST):
            some, w = values[first : first + _MOST], parts.writer()
            w.plan(some)
            for i, e in enumerate(some, first):
                put(w, i, e)
            yield w.scope.lines

    def _in_parts(self, verb: str, parameter: str, pointer: str, bodies: Iterable[list[str]]) -> None:
        assert self.parts is not None
        for body in bodies:
            symbol = self.parts.define(verb, parameter, body)
            arguments = f"z, {pointer}" if pointer else "z"
            self.w.put(f"if ({symbol}({arguments}) != KHZ_OK) {{", f"    {STATUS}", "}")


def _assigned(at: Sequence[str], texts: Sequence[str]) -> str:
    return f"{at[0]} = {texts[0]};"


def _copied(at: Sequence[str], texts: Sequence[str]) -> str:
    return f"{at[0]} = {at[1]};"
