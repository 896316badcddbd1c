"""What the scalar forms ask of their expressions: known names, scalar nodes, no operator that is gone."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from kilohertz.base import InternalError
from kilohertz.ir.builtins import named
from kilohertz.ir.expr import Array, Builtin, Call, Expr, Item, Record, Ref
from kilohertz.ir.rules.function_record import Event
from kilohertz.ir.text.expr_printer import print_expr

# operators with time or events in them that the Dae form makes explicit
LOWERED = named(Event.RATE, Event.BEFORE, Event.QUIET, Event.CLOCKED) | {"$when"}


class Expressions:
    """Checks expressions against names; each node once."""

    def __init__(self, known: Collection[str], gone: Collection[str]) -> None:
        self._known, self._gone = known, gone
        self._checked: set[int] = set()
        self._kept: list[Expr] = []  # so that ids stay theirs

    def check(self, roots: Iterable[Expr], where: str) -> None:
        stack = list(roots)
        self._kept += stack
        while stack:
            e = stack.pop()
            if id(e) in self._checked:
                continue
            self._checked.add(id(e))
            if isinstance(e, Ref) and e.name not in self._known:
                raise InternalError(f"{where}: {e.name} is not declared")
            if isinstance(e, Builtin) and e.name in self._gone:
                raise InternalError(f"{where}: {e.name} is left: {print_expr(e)}")
            if e.ty.dims and not isinstance(e, (Array, Record, Call, Item)):
                raise InternalError(f"{where}: not scalar: {print_expr(e)}")
            stack.extend(e.children())
