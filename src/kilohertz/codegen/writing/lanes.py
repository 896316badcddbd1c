"""Several directions side by side: what moves along them is a vector of C, one element for each; the rest is shared.

Rates are sums of products of numbers with one rate, so that C's operators on vectors say all of it, element by element
with the bits of one direction alone.  A block where that does not do (a call with a rate among its arguments, a
condition that depends on one) is written for one direction, in a loop over all.

A number beside a rate is the same for all directions of a Jacobian: it is computed once, and kept as a vector with this
number in every element.  A call that a condition guards is made by the first direction, and left in memory of the
instance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kilohertz.codegen.writing.expressions import Writer
from kilohertz.codegen.writing.writer import Host, Text
from kilohertz.cost import Moving
from kilohertz.ir.expr import Binary, Call, Expr, Unary
from kilohertz.ir.types import REAL

LANES = "khz_lanes"  # khz_vector.h


def resting_text(place: int) -> str:
    """The vector of a number beside rates."""
    return f"z->resting[{place}]"


class LaneWriter(Writer):
    """Writes the statements of one C function for several directions."""

    def __init__(
        self,
        host: Host,
        context: str,
        moving: Moving,
        numbers: Mapping[Expr, int],
        room_for: Callable[[int], int],
    ) -> None:
        super().__init__(host, context)
        self._moving = moving
        self._numbers = numbers  # beside rates, by their place
        self._room_for = room_for  # so many numbers in memory of the instance: where they begin
        self._beside = False  # what is written is an operand of something that moves

    def moves(self, name: str) -> None:
        """A name for a rate."""
        self._moving.add(name)

    def ctype(self, e: Expr) -> str:
        return LANES if self._moving(e) else super().ctype(e)

    def declared(self, e: Expr, name: str) -> str:
        return f"{LANES} {name}" if self._moving(e) else super().declared(e, name)

    def assigned(self, e: Expr) -> str:
        return self.text(e) if self._moving(e) else f"khz_spread({self.text(e)})"

    def text(self, e: Expr, least: int = 0) -> str:
        place = self._numbers.get(e) if self._beside and not self._moving(e) else None
        return super().text(e, least) if place is None else resting_text(place)

    def _scalar(self, e: Expr) -> Text:
        outer, self._beside = self._beside, isinstance(e, (Binary, Unary)) and self._moving(e)
        text = super()._scalar(e)
        self._beside = outer
        return text

    def _is_one_sum(self, e: Expr, part: Expr) -> bool:
        return super()._is_one_sum(e, part) and self._moving(e) == self._moving(part)

    def _branch(self, owner: Expr, child: int, e: Expr, least: int) -> tuple[str, list[str]]:
        text, lines = super()._branch(owner, child, e, least)
        spread = self._moving(owner) and not self._moving(e)
        return f"khz_spread({text})" if spread else text, lines

    def _write_call(self, call: Call) -> None:
        outputs = self.host.callee(call).outputs
        if self._moving(call) or any(ty != REAL for ty in outputs):
            super()._write_call(call)
            return
        at = self._room_for(len(outputs))
        kept = [f"z->memory[{at + k}]" for k in range(len(outputs))]

        def first() -> None:
            self.plan((call,))  # its arguments are of no use later
            super(LaneWriter, self)._write_call(call)
            self.put(*(f"{place} = {text};" for place, text in zip(kept, self.scope.results[id(call)], strict=True)))

        placement = self.placement
        self.put("if (!z->c.is_again) {", *self.inside(first), "}")
        self.placement = placement
        self.scope.results[id(call)] = kept
