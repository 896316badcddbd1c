"""A clocked partition with continuous equations, before it is discretised: its states are chosen (MLS 16.8).

  inverse model in a partition:   x = filtered;  der(x) = v;  m*der(v) = f
  ->  x and v follow from `filtered` and its derivatives; what is integrated are the states of the filter

The equations of such a partition, taken alone, are a DAE: it goes through the same passes as the continuous part of a
model.  What comes from other partitions is known and has no derivative: it changes at ticks only.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from kilohertz.base import Diagnostic, ModelError
from kilohertz.ir import make
from kilohertz.ir.dae import (
    AliasOf,
    AnyEquation,
    Dae,
    DaeVariable,
    Equation,
    Reinit,
    Role,
    When,
    der_name,
    pre_name,
    roots,
)
from kilohertz.ir.expr import Expr, Ref
from kilohertz.ir.flat import Purpose
from kilohertz.ir.types import REAL
from kilohertz.passes.algebra import substitute
from kilohertz.passes.contract import Log, run_passes
from kilohertz.passes.dae.drop_zero_terms import DropZeroTerms
from kilohertz.passes.dae.eliminate_aliases import EliminateAliases
from kilohertz.passes.dae.prefer_states import PreferStates
from kilohertz.passes.dae.prune import Prune
from kilohertz.passes.dae.reduce_index import ReduceIndex
from kilohertz.passes.dae.reveal_constraints import RevealConstraints
from kilohertz.passes.rewriting import Rule, rewritten_equation

KNOWN = (Role.PARAMETER, Role.CONSTANT, Role.OBJECT)
_PASSES = (DropZeroTerms(), EliminateAliases(), Prune(), RevealConstraints(), PreferStates(), ReduceIndex())


@dataclass(slots=True)
class Partition:
    """What holds at a tick of one clock."""

    equations: list[AnyEquation] = field(default_factory=list)
    starts: list[AnyEquation] = field(default_factory=list)  # initial equations: they hold at the first tick
    resets: list[When] = field(default_factory=list)  # their actions are Reinit
    slopes: dict[str, str] = field(default_factory=dict)  # a state: the variable that holds its derivative
    active: dict[int, Expr] = field(default_factory=dict)  # by id of an equation: it holds only where this does

    def take(self, other: Partition, active: Expr) -> None:
        """The equations of a state of a state machine."""
        self.equations += other.equations
        self.resets += other.resets
        self.active |= {id(e): active for e in other.equations} | other.active

    def rewritten(self, rule: Rule) -> None:
        """Every expression rewritten."""
        self.equations = [rewritten_equation(e, rule) for e in self.equations]
        self.starts = [rewritten_equation(e, rule) for e in self.starts]
        self.resets = [
            When(rule(w.guard), tuple(_reset(a, rule) for a in w.actions if isinstance(a, Reinit)), w.origin)
            for w in self.resets
        ]


def _reset(a: Reinit, rule: Rule) -> Reinit:
    target = rule(a.target)
    assert isinstance(target, Ref)
    return Reinit(target, rule(a.value), a.origin)


def reduced(dae: Dae, part: Partition, members: dict[str, None], differentiated: Collection[str]) -> Partition:
    """The partition with states that nothing ties; new variables are added to the Dae, their names to `own`."""
    earlier = _earlier(dae, part)
    alone = _alone(dae, part, members, differentiated, earlier)
    free: Dae = run_passes(_PASSES, alone, Log())
    if free.selections:
        names = ", ".join(free.selections[0].candidates[:4])
        v = free.variables[free.selections[0].candidates[0]]
        text = f"the states of a clocked partition must be chosen when it is translated: {names} change places"
        raise ModelError(Diagnostic("B216", text, v.origin.spans[0] if v.origin.spans else None))
    dae.functions.update(free.functions)
    dae.asserts += free.asserts
    dae.notes += free.notes
    dae.warnings += free.warnings
    for name in [n for n in members if n not in free.variables and n not in free.aliases]:
        del members[name], dae.variables[name]
    values = _taken_back(dae, free, members, {now.name: Ref(before, now.ty) for before, now in earlier.items()})
    partition = Partition(
        [*free.equations, *(_equation(a) for n, a in free.aliases.items() if n in members)],
        free.initial_equations,
        free.whens,
        {_name(v.name, values): f"$slope({v.name})" for v in free.variables.values() if v.role is Role.STATE},
    )
    memo: dict[Expr, Expr] = {}
    partition.rewritten(lambda e: substitute(e, values, memo))
    return partition


def _earlier(dae: Dae, part: Partition) -> dict[str, Ref]:
    """By `pre(v)` the inputs that stand for what variables were before."""
    names = _names(part)
    known = (v for v in dae.variables.values() if v.role not in KNOWN)
    return {pre_name(v.name): Ref(f"$previous({v.name})", v.ty) for v in known if pre_name(v.name) in names}


def _alone(
    dae: Dae, part: Partition, members: dict[str, None], differentiated: Collection[str], earlier: dict[str, Ref]
) -> Dae:
    """The partition as a Dae; what it takes from elsewhere is an input, and so is what its variables were before."""
    variables = {v.name: v for v in dae.variables.values() if v.role in KNOWN}
    directed = {e.left for e in part.equations if isinstance(e, Equation) and e.directed}
    for name in members:
        v = dae.variables[name]
        role = Role.DISCRETE if v.ty != REAL or v.ref in directed else Role.ALGEBRAIC
        role = Role.STATE if name in differentiated else role
        variables[name] = v if v.role is Role.INPUT else replace(v, role=role)
    for name in _names(part):
        if name in dae.variables and name not in variables:
            variables[name] = replace(dae.variables[name], role=Role.INPUT)
    for ref in earlier.values():
        variables[ref.name] = DaeVariable(ref.name, ref.ty, Role.INPUT, purpose=Purpose.MADE)
    memo: dict[Expr, Expr] = {}
    part.rewritten(lambda e: substitute(e, earlier, memo))
    return Dae(dae.name, variables, part.equations, part.starts, part.resets, functions=dict(dae.functions))


def _taken_back(dae: Dae, free: Dae, members: dict[str, None], before: Mapping[str, Expr]) -> dict[str, Expr]:
    """What names of the reduced system stand for in the model; its new variables are added."""
    values: dict[str, Expr] = dict(before)
    for v in free.variables.values():
        if v.name in members:
            dae.variables[v.name] = replace(v, role=Role.INPUT if v.role is Role.INPUT else Role.DISCRETE)
        elif v.name not in dae.variables and v.name not in before:
            values[v.name] = Ref(f"$made({v.name})", v.ty)
            _add(dae, replace(v, name=f"$made({v.name})"), members)
        if v.role is Role.STATE:
            _add(dae, DaeVariable(f"$slope({v.name})", REAL, Role.DISCRETE), members)
            values[der_name(v.name)] = Ref(f"$slope({v.name})", REAL)
    for alias in free.aliases.values():
        if alias.variable.name in members:
            dae.variables[alias.variable.name] = replace(alias.variable, role=Role.DISCRETE)
    return values


def _add(dae: Dae, v: DaeVariable, members: dict[str, None]) -> None:
    dae.variables[v.name] = replace(v, role=Role.DISCRETE, protected=True, purpose=Purpose.MADE)
    members[v.name] = None


def _name(state: str, values: dict[str, Expr]) -> str:
    """What a state of the reduced system is called in the model."""
    ref = values.get(state)
    return ref.name if isinstance(ref, Ref) else state


def _equation(a: AliasOf) -> Equation:
    """What elimination took out is computed beside the others."""
    value = a.value if a.target is None else Ref(a.target, a.variable.ty)
    assert value is not None
    if a.sign < 0:
        value = make.neg(value) if a.variable.ty == REAL else make.not_(value)
    return Equation(a.variable.ref, value, a.variable.origin, directed=True)


def _names(part: Partition) -> dict[str, None]:
    names: dict[str, None] = {}
    expressions = [x for e in (*part.equations, *part.starts) for x in roots(e)]
    for w in part.resets:
        expressions.append(w.guard)
        expressions += [x for a in w.actions if isinstance(a, Reinit) for x in (a.target, a.value)]
    seen: set[Expr] = set()
    while expressions:
        e = expressions.pop()
        if e in seen:
            continue
        seen.add(e)
        if isinstance(e, Ref):
            names[e.name] = None
        expressions.extend(e.children())
    return names
