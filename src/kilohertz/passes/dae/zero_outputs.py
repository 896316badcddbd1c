"""Outputs of functions that are zero whatever the unknowns are, for the parameters as the model is translated.

A device function may give capacitances among its results; with a device that has none they are zero for every voltage.
Found by running the function symbolically on the values of its parameters and on the names of everything else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kilohertz.ir import make
from kilohertz.ir.dae import CallEquation, Dae, Equation
from kilohertz.ir.expr import Call, Expr, Ref
from kilohertz.passes.flat.calls import Inliner
from kilohertz.passes.flat.symbolic_evaluator import Evaluator, Unsupported
from kilohertz.passes.flat.values import Value
from kilohertz.passes.parameter_values import is_parametric

_MOST_STATEMENTS = 2000
_MOST_NODES = 200_000


def zero_outputs(dae: Dae, values: Mapping[str, float], wanted: set[str]) -> set[str]:
    """Those of the `wanted` variables (and their other names) that some call always sets to zero."""
    others = _other_names(dae)
    reachable = _closure(wanted, others)
    calls = [e for e in dae.equations if isinstance(e, CallEquation) and _sets(e, reachable)]
    if not calls:
        return set()
    trial = _Trial(dae, values)
    zeros = {n for e in calls if not is_parametric(e, dae) for n in trial.zeros(e)}
    return _closure(zeros & reachable, others)


def _sets(e: CallEquation, names: set[str]) -> bool:
    return any(isinstance(t, Ref) and t.name in names for o in e.targets for t in o)


def _other_names(dae: Dae) -> dict[str, list[str]]:
    """Pairs of plain variables that an equation says are equal."""
    equals: dict[str, list[str]] = {}
    for e in dae.equations:
        if isinstance(e, Equation) and isinstance(e.left, Ref) and isinstance(e.right, Ref):
            equals.setdefault(e.left.name, []).append(e.right.name)
            equals.setdefault(e.right.name, []).append(e.left.name)
    return equals


def _closure(names: set[str], others: Mapping[str, list[str]]) -> set[str]:
    reached = set(names)
    stack = sorted(names)
    while stack:
        for n in others.get(stack.pop(), ()):
            if n not in reached:
                reached.add(n)
                stack.append(n)
    return reached


class _Trial:
    """A scope in which parameters have their values and all else stays a name."""

    def __init__(self, dae: Dae, values: Mapping[str, float]) -> None:
        self._dae = dae
        self._values = values
        self._evaluator = Evaluator(self)
        functions = {n: replace(f, inline=None) for n, f in dae.functions.items()}  # looking inside is no inlining
        self._inliner = Inliner(
            functions, lambda: self._evaluator, _MOST_STATEMENTS, _MOST_STATEMENTS // 8, _MOST_NODES
        )

    def zeros(self, e: CallEquation) -> list[str]:
        try:
            outputs = self._outputs(e.call)
        except (Unsupported, ValueError):
            return []
        zero_targets = []
        for targets, output in zip(e.targets, outputs, strict=False):
            for target, item in zip(targets, output.items, strict=False):
                if isinstance(target, Ref) and make.is_zero(item):
                    zero_targets.append(target.name)
        return zero_targets

    def _outputs(self, call: Call) -> list[Value]:
        args = [self._evaluator.model(a) for a in call.args]
        return self.call(call, args)

    # ---------------------------------------------------------------------------------------------- Scope of Evaluator

    def model_value(self, ref: Ref) -> Value:
        value = self._values.get(ref.name)
        item: Expr = ref if value is None else make.literal(value, ref.ty)
        return Value(ref.ty, (item,))

    def call(self, call: Call, args: list[Value]) -> list[Value]:
        return self._inliner.call(call, args)

    def is_pure(self, function: str) -> bool:
        f = self._dae.functions.get(function)
        return f is not None and f.pure and f.external is None
