"""The flat model looked through once, for all rules on what stands where (MLS 3.7, 8.3.5)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from kilohertz.ir.expr import Binary, Builtin, Call, Expr, Ref
from kilohertz.ir.flat import Assign, Equality, Equation, Flat, Statement, WhenEquation, WhenStatement
from kilohertz.ir.types import CLOCK
from kilohertz.semantics.balancing.equation_parts import assigned_variables, bodies, expressions


class Use(NamedTuple):
    """An operator or a call, where it is first met, and whether that is outside of every when."""

    node: Builtin | Call | Binary
    part: Equation | Statement
    outside: bool


class Survey:
    """What the equations and algorithms of a model hold; nothing initial, no bodies of functions."""

    def __init__(self, flat: Flat) -> None:
        self.flat = flat
        self.parts: list[Equation | Statement] = [*flat.equations, *(s for a in flat.algorithms for s in a.statements)]
        self.whens: list[WhenEquation | WhenStatement] = []
        self.assigned: list[Assign] = []  # outside of them
        self.uses: list[Use] = []
        self.strays: dict[Ref, Equation | Statement] = {}  # names of no variable of the model, where first met
        self._seen: set[Expr] = set()
        self._look_through(self.parts, outside=True)
        self._look_through(self.whens, outside=False)  # last: what also stands outside of them counts as outside

    def _look_through(self, parts: Sequence[Equation | Statement], outside: bool) -> None:
        pending = list(reversed(parts))
        while pending:
            part = pending.pop()
            if outside and isinstance(part, WhenEquation | WhenStatement):
                self.whens.append(part)
                continue
            self._look_into(part, outside)
            if outside and isinstance(part, Assign):
                self.assigned.append(part)
            if not isinstance(part, Equality | Assign):
                pending += reversed(list(bodies(part)))

    def _look_into(self, part: Equation | Statement, outside: bool) -> None:
        seen = self._seen
        stack = list(expressions(part))
        while stack:
            node = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            if isinstance(node, Builtin | Call) or (isinstance(node, Binary) and node.op in ("==", "<>")):
                self.uses.append(Use(node, part, outside))
            elif isinstance(node, Ref) and "." in node.name and node.name not in self.flat.variables:
                self.strays.setdefault(node, part)
            stack += node.children()

    def whens_at_events(self) -> list[WhenEquation | WhenStatement]:
        """All but those at a clock, where equations are of any form."""
        return [when for when in self.whens if when.branches[0][0].ty.base != CLOCK.base]

    @cached_property
    def clocked(self) -> set[str]:
        """Variables of clocked partitions."""
        return {name for p in self.flat.clocks if p.base is not None for name in p.variables}

    @cached_property
    def discrete(self) -> set[str]:
        """Variables that change at events only: declared so, set in when or clocked, or equal to such ones."""
        known = {v.name for v in self.flat.variables.values() if v.variability != "continuous"}
        known |= self.clocked | {name for when in self.whens for name in assigned_in(when)}
        equal: dict[str, list[str]] = {}
        for part in self.parts:
            if isinstance(part, Equality) and isinstance(part.left, Ref) and isinstance(part.right, Ref):
                equal.setdefault(part.left.name, []).append(part.right.name)
                equal.setdefault(part.right.name, []).append(part.left.name)
        queue = [name for name in equal if name in known]
        for name in queue:
            fresh = [other for other in equal[name] if other not in known]
            known.update(fresh)
            queue += fresh
        return known


def inside(when: WhenEquation | WhenStatement) -> list[Equation | Statement]:
    """Everything in the branches of a when, however deep."""
    parts = list(bodies(when))
    for part in parts:
        parts += bodies(part)
    return parts


def assigned_in(when: WhenEquation | WhenStatement) -> set[str]:
    """The variables that a when sets."""
    return {
        name
        for part in inside(when)
        if isinstance(part, Equality | Assign)
        for name, _ in assigned_variables(part.left if isinstance(part, Equality) else part.target)
    }
