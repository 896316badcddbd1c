"""What a model in singles cannot hold: numbers beyond their range, and instants closer than they tell apart.

Nothing of it stops a run, but a value that is given: that is refused.  Limits (`min`, `max`) and nominal values are not
looked at: nothing is computed from them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from kilohertz.base import Diagnostic, ModelError, Note, Origin, Severity
from kilohertz.codegen.writing.number_type import LARGEST, LEAST, NumberType
from kilohertz.ir import expr as x
from kilohertz.ir import step as s
from kilohertz.ir.expr import Expr
from kilohertz.ir.flat import Purpose
from kilohertz.ir.traverse import function_expressions, walk_all

_MOST = 4  # named
_EPSILON = 2.0**-23
_QUARTER = 0.25  # of a period: so far apart may instants be that count as one (khz_cycle.c)


def is_beyond(value: float) -> bool:
    """Whether a single has no number like this one: too large, or not zero and too small."""
    return math.isfinite(value) and value != 0.0 and not LEAST <= abs(value) <= LARGEST


def refuse_values(number: NumberType, values: Mapping[str, object]) -> None:
    """ModelError where a value that is given for a parameter, start value or input cannot be held."""
    if number.is_double:
        return
    for name, value in values.items():
        if isinstance(value, float) and is_beyond(value):
            text = f"`{name}` = {value:g} is beyond single precision, whose numbers go from 1.2e-38 to 3.4e+38"
            raise ModelError(Diagnostic("R779", text, notes=(Note("with `number = double` it can be used"),)))


def lost_numbers(step: s.Step) -> list[Diagnostic]:
    """Numbers of the model that are taken as the largest or least of singles, each once, in one warning."""
    found: dict[float, tuple[str, Origin]] = {}
    seen: set[Expr] = set()
    for name, origin, expressions in _places(step):
        for e in walk_all(expressions, seen):
            if isinstance(e, x.Real) and is_beyond(e.value):
                found.setdefault(e.value, (name, origin))
    if not found:
        return []
    texts = [f"{value:g} of {name}" for value, (name, _) in list(found.items())[:_MOST]]
    more = f" and {len(found) - _MOST} more" if len(found) > _MOST else ""
    origin = next(iter(found.values()))[1]
    text = f"numbers beyond single precision are taken as 3.4e+38 or 1.2e-38: {', '.join(texts)}{more}"
    return [Diagnostic("R778", text, next(iter(origin.spans), None), severity=Severity.WARNING)]


def vague_instants(step: s.Step, stop: float, period: float) -> list[Diagnostic]:
    """Where a run is so long that what the model keeps of time is rounded to a part of a step that matters."""
    apart = abs(stop) * _EPSILON
    if not math.isfinite(stop) or apart <= _QUARTER * period:
        return []
    kept = next(_instants(step), None)
    if kept is None:
        return []
    name, origin = kept
    text = (
        f"{name} holds an instant, and at {stop:g} s neighbouring singles are {apart:.2g} s apart, at a step of "
        f"{period:g} s: its events may be steps early or late"
    )
    until = _QUARTER * period / _EPSILON
    note = Note(f"until {until:.3g} s, or with `number = double`, they come in their step")
    return [Diagnostic("R766", text, next(iter(origin.spans), None), notes=(note,), severity=Severity.WARNING)]


def lost_in(number: NumberType, step: s.Step, stop: float, period: float) -> list[Diagnostic]:
    """All that is said of a run in this number type."""
    return [] if number.is_double else [*lost_numbers(step), *vague_instants(step, stop, period)]


def _places(step: s.Step) -> Iterator[tuple[str, Origin, list[Expr]]]:
    """What numbers stand in, with the name it goes by."""
    for v in step.variables.values():
        if v.start is not None and (v.tunable or v.slot.kind is s.Kind.STATE):
            yield f"`{v.name}`", v.origin, [v.start]
    for _, blocks in s.lists(step):
        for block in blocks:
            names = s.targets(block)
            yield _called(step, names[0].name) if names else "an equation", block.origin, list(s.expressions(block))
    for c in step.crossings:
        yield "a condition", c.origin, [c.relation, c.function]
    for f in step.functions.values():
        yield f"`{f.id}`", f.origin, list(function_expressions(f))


def _called(step: s.Step, name: str) -> str:
    """A name that the user knows, else what it is."""
    known = step.variables[name]
    if known.slot.kind is s.Kind.RELATION:
        return "a condition"
    return f"`{name}`" if known.purpose is Purpose.DECLARED else "an equation"


def _instants(step: s.Step) -> Iterator[tuple[str, Origin]]:
    """Variables that are time, or time and a distance; those that time is compared with."""
    for c in step.crossings:
        if isinstance(c.relation, x.Binary):
            sides = c.relation.left, c.relation.right
            for one, other in (sides, sides[::-1]):
                if _is_instant(one):
                    held = [r for r in walk_all([other]) if isinstance(r, x.Ref)]
                    if held:
                        yield f"`{held[0].name}`", c.origin
    for _, blocks in s.lists(step):
        for block in blocks:
            if isinstance(block, s.Assignment) and _is_instant(block.value):
                yield f"`{block.target.name}`", block.origin


def _is_instant(e: Expr) -> bool:
    """Time itself, a sum with it, or one of those in a branch."""
    match e:
        case x.Ref(name):
            return name == "time"
        case x.Binary("+", left, right):
            return _is_instant(left) or _is_instant(right)
        case x.IfExp(_, then, other):
            return _is_instant(then) or _is_instant(other)
        case _:
            return False
