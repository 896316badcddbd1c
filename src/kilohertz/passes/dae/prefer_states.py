"""prefer-states: variables wanted as states that no `der` names (MLS 4.8.8.1: `prefer` and `always`).

  m = V*rho(p, h); U = m*u(p, h); der(m) = ..; der(U) = ..;   p, h: stateSelect = prefer
  ->  p and h may be states: index reduction then differentiates the first two and makes m and U algebraic

Without it p and h come from m and U by iteration at every step.  A variable is taken where the equations that give it
lead to states alone (not to derivatives, inputs or time) and every one of them can be differentiated; there the wish
costs nothing but these derivatives.  So is the rate of a state that a constraint ties to states whose rates are states:

  v_rel = der(s_rel); s_rel = b.s - a.s; a.v = der(a.s); b.v = der(b.s);   v_rel: stateSelect = prefer, a.v, b.v states

There the constraint is differentiated once more.  `preferred` names those that were made candidates: where index
reduction fails with them it goes on without.  Cost: one matching; each equation is tried once.  Gives up on a variable
where that does not hold: it stays algebraic.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from kilohertz.graphs import FREE, maximum_matching
from kilohertz.ir import make, traverse
from kilohertz.ir.builtins import is_past
from kilohertz.ir.dae import AnyEquation, CallEquation, Dae, Equation, Role, Select, der_name
from kilohertz.ir.expr import Expr, Ref
from kilohertz.ir.ordered import Row
from kilohertz.ir.types import REAL
from kilohertz.passes.algebra import Occurrence
from kilohertz.passes.contract import Fact, Log, Pass
from kilohertz.passes.dae.rates import rates_of
from kilohertz.passes.derivative import Differentiator, NoDerivative
from kilohertz.passes.function_derivative import FunctionDerivatives
from kilohertz.passes.ordered.solving_order import candidates, incidence, names_in, rows_of

_WANTED = (Select.PREFER, Select.ALWAYS)


@dataclass(frozen=True, slots=True)
class PreferStates(Pass):
    """What is wanted as a state and may be one becomes a candidate."""

    name: ClassVar[str] = "prefer-states"
    needs: ClassVar[frozenset[Fact]] = frozenset({Fact.DAE, Fact.ALIAS_FREE, Fact.USED, Fact.REVEALED})
    gives: ClassVar[frozenset[Fact]] = frozenset({Fact.WISHES})

    def run(self, model: Dae, log: Log) -> Dae:
        return _preferred(model)


def without_preferred(dae: Dae) -> Dae:
    """The Dae with the wishes undone."""
    back = {n: replace(dae.variables[n], role=Role.ALGEBRAIC) for n in dae.preferred}
    return replace(dae, variables={**dae.variables, **back}, preferred=())


def _preferred(dae: Dae) -> Dae:
    wanted = [v.name for v in dae.variables.values() if v.role is Role.ALGEBRAIC and v.select in _WANTED]
    if not wanted:
        return dae
    search = _Search(dae)
    taken = {name for name in wanted if search.leads_to_states(name)} | search.tied_rates(wanted)
    if not taken:
        return dae
    variables = {n: replace(v, role=Role.STATE) if n in taken else v for n, v in dae.variables.items()}
    return replace(dae, variables=variables, preferred=tuple(n for n in wanted if n in taken))


class _Search:
    def __init__(self, dae: Dae) -> None:
        self._dae = dae
        self._occurrence = Occurrence()
        names = [v.name for v in dae.variables.values() if v.role is Role.ALGEBRAIC]
        names += [der_name(v.name) for v in dae.variables.values() if v.role is Role.STATE]
        self._index = {n: i for i, n in enumerate(names)}
        self._rows = [r for r in rows_of([e for e in dae.equations if _is_continuous(e)]) if self._has_target(r)]
        columns = incidence(self._rows, self._index, self._occurrence)
        graph = [candidates(r, c, self._index) for r, c in zip(self._rows, columns, strict=True)]
        self._row_of = maximum_matching(graph, len(names)).row_of
        self._derivatives = FunctionDerivatives(dict(dae.functions))
        self._smooth: dict[int, bool] = {}

    def _has_target(self, row: Row) -> bool:
        return row.target is None or row.target in self._index

    def leads_to_states(self, name: str) -> bool:
        """What gives the variable is states, parameters and discrete values, through equations with derivatives."""
        return bool(self._states_behind(self._row_of[self._index[name]]))

    def tied_rates(self, wanted: list[str]) -> set[str]:
        """Wanted rates of states in a constraint, where the rates of all others in it are states already."""
        rates = rates_of(self._dae)
        found: set[str] = set()
        for row in sorted(set(range(len(self._rows))) - set(self._row_of)):
            open_rates = [
                rates.get(x, "")
                for x in self._states_behind(row)
                if x not in rates or self._dae.variables[rates[x]].role is not Role.STATE
            ]
            if len(open_rates) == 1 and open_rates[0] in wanted:
                found.add(open_rates[0])
        return found

    def _states_behind(self, row: int) -> list[str]:
        """The states an equation leads to, through those that give what is in it; none where it leads elsewhere."""
        seen: set[str] = set()
        stack, states = [row], []
        while stack:
            row = stack.pop()
            if row == FREE or not self._is_smooth(self._rows[row].equation):
                return []
            for n in names_in(self._rows[row].equation, self._occurrence):
                variable = self._dae.variables.get(n)
                if variable is None or variable.role is Role.INPUT:
                    return []  # a derivative, time, or something from outside
                if n in seen:
                    continue
                seen.add(n)
                if variable.role is Role.STATE:
                    states.append(n)
                elif n in self._index:
                    stack.append(self._row_of[self._index[n]])
        return states

    def _is_smooth(self, e: AnyEquation) -> bool:
        if id(e) not in self._smooth:
            self._smooth[id(e)] = self._try(e)
        return self._smooth[id(e)]

    def _try(self, e: AnyEquation) -> bool:
        differentiate = Differentiator(self._seed, self._derivatives.rule)
        try:
            if isinstance(e, Equation):
                differentiate(e.left)
                differentiate(e.right)
                return not any(_is_delayed(side) for side in (e.left, e.right))
            if isinstance(e, CallEquation) and e.guard is None:
                self._derivatives.whole(e.call, [differentiate(a) for a in e.call.args])
                return True
        except NoDerivative:
            return False
        return False

    def _seed(self, ref: Ref) -> Expr:
        v = self._dae.variables.get(ref.name)
        moves = v is not None and v.role in (Role.ALGEBRAIC, Role.STATE)
        return Ref(der_name(ref.name), REAL) if moves else make.ZERO


def _is_continuous(e: AnyEquation) -> bool:
    if isinstance(e, Equation):
        return e.left.ty == REAL and not e.directed
    return isinstance(e, CallEquation)


def _is_delayed(e: Expr) -> bool:
    return any(is_past(n) for n in traverse.walk(e))
