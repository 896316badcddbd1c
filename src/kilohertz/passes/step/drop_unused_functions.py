"""drop-unused-functions: only functions that are called stay.

  functions f, g, $D(f);  y := f(x)       ->   functions f

Roots are blocks, start values and asserts; functions bring what they call themselves.  Cost: linear.  Never gives up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from kilohertz.ir import step
from kilohertz.ir.expr import Expr
from kilohertz.ir.flat import Function
from kilohertz.ir.step import Step
from kilohertz.passes.called_functions import called_in_expressions, called_in_function
from kilohertz.passes.contract import Fact, Log, Pass


@dataclass(frozen=True, slots=True)
class DropUnusedFunctions(Pass):
    """Functions that nothing calls leave the model."""

    name: ClassVar[str] = "drop-unused-functions"
    needs: ClassVar[frozenset[Fact]] = frozenset({Fact.STEP})
    gives: ClassVar[frozenset[Fact]] = frozenset({Fact.CALLED})

    def run(self, model: Step, log: Log) -> Step:
        return replace(model, functions=used_functions(model.functions, model))


def used_functions(functions: Mapping[str, Function], out: Step) -> dict[str, Function]:
    """Functions called from blocks, parameters, asserts, and from one another; in the order they are given."""
    roots: list[Expr] = [e for _, blocks in step.lists(out) for b in blocks for e in step.expressions(b)]
    roots += [x for a in out.asserts for x in (a.condition, a.message)]
    roots += [v.start for v in out.variables.values() if v.start is not None]
    names = called_in_expressions(roots)
    used: dict[str, Function] = {}
    while names:
        name = names.pop()
        if name in used or name not in functions:
            continue
        used[name] = functions[name]
        names += called_in_function(functions[name])
    return {k: used[k] for k in functions if k in used}
