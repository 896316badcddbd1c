"""What crosses from one clock to another has a name: `y = hold(subSample(u, 2))` becomes
`$held1 = subSample(u, 2); y = hold($held1)`, and so does what stands in `superSample` and the like.

Such an argument runs under a clock of its own where a clock operator stands in it, so it needs a variable that
keeps its value between the ticks of that clock: at a tick of `superSample(previous(x), 2)` alone `previous(x)` is what
it was at the last tick of x.
"""

from __future__ import annotations

from kilohertz.base import Origin
from kilohertz.ir import traverse
from kilohertz.ir.expr import TIME, Builtin, Expr, Ref
from kilohertz.ir.flat import (
    Assign,
    Equality,
    Equation,
    Flat,
    IfEquation,
    IfStatement,
    Purpose,
    Statement,
    TupleTarget,
    Variable,
    WhenEquation,
    WhenStatement,
)
from kilohertz.ir.types import CLOCK, REAL
from kilohertz.semantics.balancing.clock_zones import CLOCKED, RATE_CHANGES
from kilohertz.semantics.balancing.equation_parts import bodies

_CROSSINGS = frozenset({"hold", "noClock", *RATE_CHANGES})


def name_held(flat: Flat) -> bool:
    """Give a variable to each clocked expression that crosses to another clock; whether there was one."""
    names = _Names(flat)
    pending: list[Equation | Statement] = [*flat.equations, *(s for a in flat.algorithms for s in a.statements)]
    pending.reverse()
    while pending:
        part = pending.pop()
        pending += reversed(list(bodies(part)))
        match part:
            case Equality():
                part.right = names.in_(part.right, part.origin)
                if not isinstance(part.left, TupleTarget):
                    part.left = names.in_(part.left, part.origin)
            case Assign():
                part.value = names.in_(part.value, part.origin)
            case IfEquation() | WhenEquation():
                part.branches = [(names.in_(c, part.origin), body) for c, body in part.branches]
            case IfStatement() | WhenStatement():
                part.branches = [(names.in_(c, part.origin), body) for c, body in part.branches]
    flat.equations += names.definitions
    return bool(names.definitions)


class _Names:
    """The variables that were made, by what they stand for."""

    def __init__(self, flat: Flat) -> None:
        self.definitions: list[Equality] = []
        self._flat = flat
        self._held: dict[Expr, Ref] = {}

    def in_(self, e: Expr, origin: Origin) -> Expr:
        def named(node: Expr) -> Expr:
            if not isinstance(node, Builtin) or node.name not in _CROSSINGS or not self._needs_name(node.args[0]):
                return node
            return Builtin(node.name, (self._named(node.args[0], origin), *node.args[1:]), node.ty)

        return traverse.map_expr(e, named)

    def _needs_name(self, e: Expr) -> bool:
        """Whether a clock operator stands in an expression that is no clock itself, nor of an iterator."""
        if e.ty.base == CLOCK.base or not _is_clocked(e):
            return False
        return all(r is TIME or r.name in self._flat.variables for r in traverse.refs(e))

    def _named(self, inner: Expr, origin: Origin) -> Ref:
        if inner not in self._held:
            name = f"$held{len(self._held) + 1}"
            variability = "continuous" if inner.ty.base == REAL.base else "discrete"
            made = Variable(name, inner.ty, variability, protected=True, origin=origin, purpose=Purpose.MADE)
            self._flat.variables[name] = made
            self._held[inner] = Ref(name, inner.ty)
            self.definitions.append(Equality(self._held[inner], inner, origin))
        return self._held[inner]


def _is_clocked(e: Expr) -> bool:
    return any(isinstance(x, Builtin) and x.name in CLOCKED for x in traverse.walk(e))
