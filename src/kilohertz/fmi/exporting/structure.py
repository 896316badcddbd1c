"""What depends on what at one instant, from the incidence of the Step's blocks: the ModelStructure of an FMU.

A block's targets depend on all that its expressions mention; what they mention depends on what computed it, block after
block in the order in which they run.  `pre(v)` and what a delay line remembers are known values; what enters a delay
line counts, since its delay may be zero.
"""

from __future__ import annotations

from collections.abc import Iterable

from kilohertz.ir.expr import Builtin, Expr, Int
from kilohertz.ir.step import Kind, Step, expressions, targets
from kilohertz.ir.traverse import refs, walk

_KNOWN = (Kind.INPUT, Kind.INT_INPUT, Kind.STATE)


class Dependencies:
    """For each variable of a model the inputs and states that it depends on, as a set of bits."""

    def __init__(self, step: Step) -> None:
        self.step = step
        self.known = [v.name for kind in _KNOWN for v in step.of_kind(kind)]
        self._masks = {name: 1 << i for i, name in enumerate(self.known)}
        for block in step.blocks:
            mask = self._of(expressions(block))
            for target in targets(block):
                self._masks[target.name] = self._masks.get(target.name, 0) | mask

    def _of(self, roots: Iterable[Expr]) -> int:
        mask = 0
        for e in roots:
            for ref in refs(e):
                mask |= self._masks.get(ref.name, 0)
            for node in walk(e):
                if isinstance(node, Builtin) and node.name in ("delay", "transport") and isinstance(node.args[0], Int):
                    mask |= self._remembered(node.name, node.args[0].value)
        return mask

    def _remembered(self, name: str, index: int) -> int:
        if name == "delay":
            return self._masks.get(self.step.delays[index].source.name, 0)
        return self._of(self.step.transports[index].recorded())

    def of(self, name: str) -> list[str]:
        """The inputs and states that a variable depends on."""
        mask = self._masks.get(name, 0)
        return [known for i, known in enumerate(self.known) if mask >> i & 1]

    def of_indicator(self, index: int) -> list[str]:
        """Those that an event indicator depends on."""
        crossing = next(c for c in self.step.crossings if c.index == index)
        mask = self._of((crossing.relation, crossing.function))
        return [known for i, known in enumerate(self.known) if mask >> i & 1]
