"""Whether an off-line run evaluates the model at the end of every step for what it asserts.

Assertions over parameters and discrete values alone change at events, after which all of them are looked at; so are
they at every row.  An evaluation beside the solver's own would be half of a run.
"""

from __future__ import annotations

from kilohertz.ir import step as s
from kilohertz.ir.builtins import is_past
from kilohertz.ir.expr import Builtin, Call, Expr, Ref
from kilohertz.ir.traverse import walk_all

_RESTING = frozenset({s.Kind.PARAMETER, s.Kind.INT_PARAMETER, s.Kind.STRING_PARAMETER})
_RESTING |= {s.Kind.INT_DISCRETE, s.Kind.PRE_INT_DISCRETE, s.Kind.DISCRETE, s.Kind.PRE_DISCRETE}
_PLAIN = (s.Assignment, s.LinearLoop)


def are_moving(step: s.Step) -> bool:
    """An assertion may fail between events, or what is computed for outputs and assertions does more than that: it is
    iterated on, or calls a function."""
    for_outputs = step.in_partition(s.Partition.CROSSING, s.Partition.OUTPUT)
    if step.asserts and any(not isinstance(b, _PLAIN) for b in for_outputs):
        return True
    at_events = {t.name for b in step.in_partition(s.Partition.EVENT) for t in s.targets(b)}
    nodes = walk_all(e for a in step.asserts for e in (a.condition, a.message))
    return any(_moves(e, step, at_events) for e in nodes)


def _moves(e: Expr, step: s.Step, at_events: set[str]) -> bool:
    if isinstance(e, Ref):
        variable = step.variables.get(e.name)  # None: time
        return e.name not in at_events and (variable is None or variable.slot.kind not in _RESTING)
    if isinstance(e, Call):
        f = step.functions.get(e.function)
        return f is None or not f.pure
    return isinstance(e, Builtin) and (is_past(e) or e.name == "terminal")
