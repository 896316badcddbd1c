"""What is held has a name: `y = hold(subSample(u, 2))` becomes `$held1 = subSample(u, 2); y = hold($held1)`.

The argument of hold runs under a clock of its own where a clock operator stands in it, so it needs a variable that
keeps its value between the ticks of that clock.
"""

from __future__ import annotations

from kilohertz.base import Origin
from kilohertz.ir import traverse
from kilohertz.ir.expr import Builtin, Expr, Ref
from kilohertz.ir.flat import Assign, Equality, Equation, Flat, Purpose, Statement, Variable
from kilohertz.ir.types import REAL
from kilohertz.semantics.balancing.clock_zones import CLOCKED
from kilohertz.semantics.balancing.equation_parts import bodies


def name_held(flat: Flat) -> bool:
    """Give a variable to each clocked expression under hold; whether there was one."""
    held: dict[Expr, Ref] = {}
    definitions: list[Equality] = []
    pending: list[Equation | Statement] = [*flat.equations, *(s for a in flat.algorithms for s in a.statements)]
    pending.reverse()
    while pending:
        part = pending.pop()
        pending += reversed(list(bodies(part)))
        if isinstance(part, Equality | Assign):
            _name(part, flat, held, definitions)
    flat.equations += definitions
    return bool(definitions)


def _name(part: Equality | Assign, flat: Flat, held: dict[Expr, Ref], definitions: list[Equality]) -> None:
    def named(node: Expr) -> Expr:
        if not isinstance(node, Builtin) or node.name != "hold" or not _is_clocked(node.args[0]):
            return node
        inner = node.args[0]
        if inner not in held:
            held[inner] = _variable(inner, part.origin, flat, f"$held{len(held) + 1}")
            definitions.append(Equality(held[inner], inner, part.origin))
        return Builtin("hold", (held[inner],), node.ty)

    if isinstance(part, Equality):
        part.right = traverse.map_expr(part.right, named)
    else:
        part.value = traverse.map_expr(part.value, named)


def _variable(inner: Expr, origin: Origin, flat: Flat, name: str) -> Ref:
    variability = "continuous" if inner.ty.base == REAL.base else "discrete"
    flat.variables[name] = Variable(name, inner.ty, variability, protected=True, origin=origin, purpose=Purpose.MADE)
    return Ref(name, inner.ty)


def _is_clocked(e: Expr) -> bool:
    """Whether a clock operator stands in an expression."""
    return any(isinstance(x, Builtin) and x.name in CLOCKED for x in traverse.walk(e))
