"""What a function is told together with its derivatives counts as known while these are taken (MLS 12.7.1).

  s = place({u1, u2, u3}, time)   ->   s = place({$told u1, $told u2, $told u3}, time)

Otherwise u1 would be differentiated with s, though `place` leaves its derivative out; an input has none at all.
"""

from __future__ import annotations

from collections.abc import Iterable

from kilohertz.ir import traverse
from kilohertz.ir.dae import AnyEquation, Dae, Equation, Role
from kilohertz.ir.expr import Call, Expr, Ref
from kilohertz.passes.algebra import substitute
from kilohertz.passes.function_derivative import only_told
from kilohertz.passes.rewriting import rewritten_equation

_PREFIX = "$told "
_KNOWN = (Role.PARAMETER, Role.CONSTANT)


class HandedIn:
    """Hides what functions of a Dae are told, and shows it again."""

    def __init__(self, dae: Dae) -> None:
        self._variables = dae.variables
        self._left_out: dict[str, list[int]] = {}  # by function: numbers of the inputs that its derivatives leave out
        for f in dae.functions.values():
            if only_told(f):
                names = {n for d in f.derivatives for n in d.no_derivative}
                self._left_out[f.id] = [k for k, local in enumerate(f.inputs) if local.name in names]
        self._shown: dict[str, Expr] = {}
        self._memos: tuple[dict[Expr, Expr], dict[Expr, Expr]] = ({}, {})

    def hidden(self, equations: Iterable[AnyEquation]) -> list[AnyEquation]:
        return [rewritten_equation(e, self._hide) if self._applies(e) else e for e in equations]

    def shown(self, equations: Iterable[AnyEquation]) -> list[AnyEquation]:
        if not self._shown:
            return list(equations)
        return [rewritten_equation(e, self._show) for e in equations]

    def _applies(self, e: AnyEquation) -> bool:
        return bool(self._left_out) and isinstance(e, Equation)

    def _hide(self, e: Expr) -> Expr:
        return traverse.map_expr(e, self._node, self._memos[0])

    def _show(self, e: Expr) -> Expr:
        return substitute(e, self._shown, self._memos[1])

    def _node(self, e: Expr) -> Expr:
        if not isinstance(e, Call) or e.function not in self._left_out:
            return e
        args = list(e.args)
        for k in self._left_out[e.function]:
            args[k] = traverse.map_expr(args[k], self._renamed)
        return e.rebuilt(tuple(args))

    def _renamed(self, e: Expr) -> Expr:
        if not isinstance(e, Ref) or e.name.startswith(_PREFIX):
            return e
        v = self._variables.get(e.name)
        if v is not None and v.role in _KNOWN:
            return e
        self._shown[_PREFIX + e.name] = e
        return Ref(_PREFIX + e.name, e.ty)
