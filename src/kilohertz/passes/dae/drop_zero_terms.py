"""drop-zero-terms: what a factor multiplies that is zero is dropped before the structure is analysed.

  i*R = v - u,  R = f(device) = 0            ->  0 = v - u
  i = C*der(v),  C = 0                       ->  i = 0           (v is no state any more)
  dv = (L1 - M)*der(i1),  L1 = M             ->  dv = 0
  i = c*der(v),  (c, ...) = f(device, v)     ->  i = 0           where f gives c = 0 whatever v is

The equation then says something else about its unknowns; index reduction and matching must know.  Zeros that the user
does not set directly are put into every equation that loses an unknown by it; another factor only where the equation
loses all its derivatives: nothing could be solved for them.  A note names the factors, and an assertion stops
a run in which one of them is no longer zero.  Cost: linear, but for the calls looked into.
Gives up on a factor that cannot be evaluated: it stays.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

from kilohertz.ir import make, traverse
from kilohertz.ir.dae import AnyEquation, CallEquation, Dae, Equation, Role, der_name, roots, show
from kilohertz.ir.expr import Binary, Expr, Real, Ref, Str
from kilohertz.ir.flat import Assert
from kilohertz.ir.types import BOOLEAN, REAL
from kilohertz.passes.algebra import simplify_node
from kilohertz.passes.contract import Fact, Log, Pass
from kilohertz.passes.dae.zero_outputs import zero_outputs
from kilohertz.passes.numeric import Numeric
from kilohertz.passes.parameter_values import parameter_values

_KNOWN = (Role.PARAMETER, Role.CONSTANT, Role.OBJECT)
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class DropZeroTerms(Pass):
    """What a computed parameter that is zero multiplies is not there, structurally."""

    name: ClassVar[str] = "drop-zero-terms"
    needs: ClassVar[frozenset[Fact]] = frozenset({Fact.DAE})
    gives: ClassVar[frozenset[Fact]] = frozenset({Fact.NO_ZERO_TERMS})
    breaks: ClassVar[frozenset[Fact]] = frozenset({Fact.ALIAS_FREE})

    def run(self, model: Dae, log: Log) -> Dae:
        return _Dropper(model).run()


class _Dropper:
    def __init__(self, dae: Dae) -> None:
        self._dae = dae
        self._values = parameter_values(dae)
        self._rates = _rates(dae)
        self._dropped: dict[Expr, None] = {}

    def run(self) -> Dae:
        always = zero_outputs(self._dae, self._values, self._factors_of_rates())
        numeric = Numeric(self._values | dict.fromkeys(always, 0.0))
        computed = self._computed()
        equations = [self._without(e, numeric, computed) for e in self._dae.equations]
        if not self._dropped:
            return self._dae
        factors = list(self._dropped)
        names = ", ".join(show(f) for f in factors[:_MOST_NAMED])
        more = f" and {len(factors) - _MOST_NAMED} more" if len(factors) > _MOST_NAMED else ""
        note = f"taken as zero, since equations lose an unknown by it: {names}{more}"
        asserts = [*self._dae.asserts, *(_still_zero(f) for f in factors)]
        dae = replace(self._dae, equations=equations, notes=[*self._dae.notes, note], asserts=asserts)
        return _without_lost_states(dae)

    def _factors_of_rates(self) -> set[str]:
        """Variables that multiply something with a derivative in it."""
        factors: set[str] = set()
        for e in self._dae.equations:
            if isinstance(e, Equation) and any(n in self._rates for n in _names(e)):
                for node in _products(e):
                    factors.update(f.name for f in (node.left, node.right) if isinstance(f, Ref))
        return factors

    def _without(self, e: AnyEquation, numeric: Numeric, computed: dict[str, Expr]) -> AnyEquation:
        if not isinstance(e, Equation) or e.left.ty != REAL:
            return e
        e = self._without_computed(e, computed)
        factors = list(dict.fromkeys(f for node in _products(e) for f in _zero_factors(node, numeric)))
        if not factors:
            return e
        before = _names(e)
        fresh = _with_zeros(e, factors)
        rates = {n for n in before if n in self._rates}
        if not rates or not rates.isdisjoint(_names(fresh)):
            return e
        self._dropped.update(dict.fromkeys(factors))
        return fresh

    def _without_computed(self, e: Equation, computed: dict[str, Expr]) -> Equation:
        before = _names(e)
        used = [n for n in before if n in computed]
        if not used:
            return e
        fresh = replace(e, left=make.substitute(e.left, computed), right=make.substitute(e.right, computed))
        if not any(self._is_unknown(n) for n in before - _names(fresh)):
            return e
        self._dropped.update((Ref(n, REAL), None) for n in sorted(used))
        return fresh

    def _is_unknown(self, name: str) -> bool:
        v = self._dae.variables.get(name)
        return v is None or v.role not in _KNOWN

    def _computed(self) -> dict[str, Expr]:
        """Zeros that follow from other values while the model is translated."""
        called = {t.name for e in self._dae.equations if isinstance(e, CallEquation) for t in _targets(e)}
        zeros: dict[str, Expr] = {}
        for name, value in self._values.items():
            v = self._dae.variables.get(name)
            if value != 0.0 or v is None or v.role is not Role.PARAMETER or v.ty != REAL:
                continue
            if name in called or (v.binding is not None and not make.is_literal(v.binding)):
                zeros[name] = Real(0.0)
        return zeros


def _targets(e: CallEquation) -> list[Ref]:
    return [t for o in e.targets for t in o if isinstance(t, Ref)]


def _rates(dae: Dae) -> set[str]:
    """Derivatives, and variables that are just another name of one."""
    rates = {der_name(v.name) for v in dae.variables.values() if v.role is Role.STATE}
    for e in dae.equations:
        if isinstance(e, Equation) and isinstance(e.left, Ref) and isinstance(e.right, Ref):
            pair = (e.left.name, e.right.name)
            if pair[0] in rates or pair[1] in rates:
                rates.update(n for n in pair if n in dae.variables and dae.variables[n].role is Role.ALGEBRAIC)
    return rates


def _names(e: Equation) -> set[str]:
    return {r.name for side in (e.left, e.right) for r in traverse.refs(side)}


def _products(e: Equation) -> Iterable[Binary]:
    for side in (e.left, e.right):
        for node in traverse.walk(side):
            if isinstance(node, Binary) and _factors(node):
                yield node


def _zero_factors(node: Binary, numeric: Numeric) -> list[Expr]:
    return [f for f in _factors(node) if not make.is_literal(f) and numeric(f) == 0.0]


def _factors(node: Binary) -> tuple[Expr, ...]:
    if node.op == "*":
        return node.left, node.right
    return (node.left,) if node.op == "/" else ()


def _with_zeros(e: Equation, factors: list[Expr]) -> Equation:
    zeros = set(factors)

    def replaced(node: Expr) -> Expr:
        if isinstance(node, Binary) and any(f in zeros for f in _factors(node)):
            return Real(0.0)
        return simplify_node(node)

    memo: dict[Expr, Expr] = {}
    left, right = traverse.map_expr(e.left, replaced, memo), traverse.map_expr(e.right, replaced, memo)
    return replace(e, left=left, right=right)


def _still_zero(factor: Expr) -> Assert:
    name = show(factor)
    text = f"{name} was zero when the model was translated; give it another value in the model and translate again"
    return Assert(Binary("==", factor, Real(0.0), BOOLEAN), Str(text), None)


def _without_lost_states(dae: Dae) -> Dae:
    """A variable whose derivative is gone from every equation is no state."""
    used = {r.name for e in (*dae.equations, *dae.initial_equations) for x in roots(e) for r in traverse.refs(x)}
    used |= {a.target.name for w in dae.whens for a in w.actions if hasattr(a, "target")}
    variables = {
        n: replace(v, role=Role.ALGEBRAIC) if v.role is Role.STATE and der_name(n) not in used else v
        for n, v in dae.variables.items()
    }
    return replace(dae, variables=variables)
