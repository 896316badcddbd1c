"""Inverses that are none: S345, a warning, and the equation is solved without (MLS 12.8 takes the author's word).

`y = f(x, p)` names `x = g(y, p)`: then f(g(f(x, p), p), p) is f(x, p), whichever solution g takes.  That is tried with
a few numbers where all inputs are scalars; numbers that a function refuses say nothing, nor do those of which it makes
one and the same (a pressure far below its range).  It is a warning where most
trials are off by more than approximations are.  Cost: a few short evaluations of each function that names an inverse.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from kilohertz.base import Diagnostic, Note, Severity
from kilohertz.interp import EvaluationError, Evaluator, NotConstant
from kilohertz.ir.flat import Flat, Function, Inverse
from kilohertz.ir.types import REAL

_TRIED = ((1.0, 1.0), (2.0, 1.0), (0.5, 2.0), (3.0, 0.5))  # the input that is solved for, and all others
_OFF = 0.1  # of the value: inverses of tables and of media are approximate
_FEWEST = 2
_CALLS, _TURNS = 50, 1000


def false_inverses(flat: Flat) -> Iterator[tuple[Function, Inverse, Diagnostic]]:
    """Functions that are called, each with what it wrongly names as its inverse."""
    evaluator = Evaluator(flat.functions, max_calls=_CALLS, max_iterations=_TURNS)
    for f in flat.functions.values():
        for named in tuple(f.inverses):
            solved, inverse, _ = named
            if not _is_tried(f, inverse, flat):
                continue
            made = [t for x, p in _TRIED if (t := _trial(evaluator, f, named, x, p)) is not None]
            trials = [t for t in made if all(t is other or t[1] != other[1] for other in made)]
            wrong = [(x, y, back) for x, y, back in trials if abs(back - y) > _OFF * abs(y)]
            if len(wrong) >= _FEWEST and 2 * len(wrong) > len(trials):
                x, y, back = wrong[0]
                text = f"`{inverse}` is not the inverse that `{f.id}` names it, and is not used"
                said = f"with `{solved}` = {x:g} the function gives {y:g}, and of what the inverse gives {back:g}"
                notes = (Note(said),)
                place = f.origin.spans[0] if f.origin.spans else None
                yield f, named, Diagnostic("S345", text, place, notes=notes, severity=Severity.WARNING)


def _is_tried(f: Function, inverse: str, flat: Flat) -> bool:
    return inverse in flat.functions and len(f.outputs) == 1 and all(v.ty == REAL for v in (*f.inputs, *f.outputs))


def _trial(evaluator: Evaluator, f: Function, named: Inverse, x: float, p: float) -> tuple[float, float, float] | None:
    """The input, what the function gives, and what it gives of its inverse; None where there are no such numbers."""
    solved, inverse, names = named
    values = {v.name: x if v.name == solved else p for v in f.inputs}
    try:
        y = evaluator.call(f.id, *values.values())
        again = evaluator.call(inverse, *({**values, f.outputs[0].name: y}[n] for n in names))
        back = evaluator.call(f.id, *{**values, solved: again}.values())
    except (EvaluationError, NotConstant, RecursionError, KeyError):
        return None
    numbers = all(isinstance(v, int | float) and math.isfinite(v) for v in (y, again, back))
    return (x, y, back) if numbers else None
