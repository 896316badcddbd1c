"""inline-told: calls that stood for what is handed in with its derivatives give way to what they read.

  s = place({u1, u2, u3}, time);  v = speed({u1, u2, u3}, time, 1);   ->   s = u1;  v = u2

Such a call has to outlive index reduction: the derivative of its result is what its annotation says, not that of what
it reads (`noDerivative`, MLS 12.7.1).  After it, only what is read counts: for matching, loops and Jacobians.
Cost: linear.  Gives up on a call that has no scalar form: it stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kilohertz.ir import traverse
from kilohertz.ir.dae import AnyEquation, CallEquation, Dae
from kilohertz.ir.expr import Builtin, Call, Expr, Ref
from kilohertz.passes.contract import Fact, Log, Pass
from kilohertz.passes.flat.calls import Inliner
from kilohertz.passes.flat.symbolic_evaluator import Evaluator, Unsupported
from kilohertz.passes.flat.values import Value
from kilohertz.passes.function_derivative import only_told
from kilohertz.passes.rewriting import copied, rewritten_equation, rewritten_rest


@dataclass(frozen=True, slots=True)
class InlineTold(Pass):
    """Functions that read only what their derivatives leave out are inlined."""

    name: ClassVar[str] = "inline-told"
    needs: ClassVar[frozenset[Fact]] = frozenset({Fact.DAE, Fact.INDEX_1})
    gives: ClassVar[frozenset[Fact]] = frozenset({Fact.READS})
    breaks: ClassVar[frozenset[Fact]] = frozenset({Fact.ALIAS_FREE})

    def run(self, model: Dae, log: Log) -> Dae:
        return without_told(model)


def without_told(dae: Dae) -> Dae:
    """With every such call inlined; the same object where there is none."""
    told = [f for f in dae.functions.values() if only_told(f)]
    if not told:
        return dae
    inlining = _Inlining(dae, {f.id for f in told} | {d.function for f in told for d in f.derivatives})
    out = copied(dae)
    out.equations = [inlining.equation(e) for e in out.equations]
    out.initial_equations = [inlining.equation(e) for e in out.initial_equations]
    rewritten_rest(out, inlining.rule)
    return out


class _Inlining:
    """A scope in which every name stands for itself."""

    def __init__(self, dae: Dae, names: set[str]) -> None:
        self._names = names
        self._evaluator = Evaluator(self)
        self._inliner = Inliner(dae.functions, lambda: self._evaluator, keeps_told=False)
        self._memo: dict[Expr, Expr] = {}

    def equation(self, e: AnyEquation) -> AnyEquation:
        return e if isinstance(e, CallEquation) else rewritten_equation(e, self.rule)

    def rule(self, e: Expr) -> Expr:
        return traverse.map_expr(e, self._node, self._memo)

    def _node(self, e: Expr) -> Expr:
        if not isinstance(e, Call) or e.function not in self._names:
            return e
        n_calls = len(self._inliner.calls)
        try:
            outputs = self.call(e, [self._evaluator.model(a) for a in e.args])
        except (Unsupported, ValueError):
            return e
        if len(self._inliner.calls) > n_calls or len(outputs) != 1 or outputs[0].ty.dims:
            return e
        return traverse.map_expr(outputs[0].scalar, _without_no_event)

    # ---------------------------------------------------------------------------------------------- Scope of Evaluator

    def model_value(self, ref: Ref) -> Value:
        return Value(ref.ty, (ref,))

    def call(self, call: Call, args: list[Value]) -> list[Value]:
        return self._inliner.call(call, args)


def _without_no_event(e: Expr) -> Expr:
    """A comparison that is left in a Dae makes no event as it stands."""
    return e.args[0] if isinstance(e, Builtin) and e.name in ("noEvent", "$noEvent") else e
