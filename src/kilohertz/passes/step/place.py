"""place: every variable gets a slot; blocks, events and aliases become a Step.

  state x, algebraic y, Boolean discrete b     ->   x[0], xd[0] for der(x);  w[0];  m[0], pre_m[0] for pre(b)

Slots are given out kind by kind in the order of the declarations; what calls only pass on to calls comes last.  A
constant needs none: it is an alias of its value.  `when initial()` has done its work in the initial system and goes.
Cost: linear.  It gives up where `reinit` sets what is no state.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from kilohertz.base import Diagnostic, ModelError
from kilohertz.ir import make, step
from kilohertz.ir.dae import AliasOf, Dae, DaeVariable, Effect, Equation, Reinit, Role, When, der_name, pre_name
from kilohertz.ir.expr import FALSE, Binary, Ref
from kilohertz.ir.flat import Assert, Purpose
from kilohertz.ir.ordered import Ordered
from kilohertz.ir.step import TWINS, Alias, Kind, Partition, Slot, Step, StepVariable, WhenBlock
from kilohertz.ir.types import REAL, STRING, Type
from kilohertz.passes.algebra import cost, simplify_node
from kilohertz.passes.contract import Fact, Log, Pass
from kilohertz.passes.dae.prune import passed_on
from kilohertz.passes.flat.algorithms import default_start
from kilohertz.passes.ordered.initialise import is_of_start
from kilohertz.passes.ordered.order_parameters import is_tunable
from kilohertz.passes.ordered.present import with_present
from kilohertz.passes.ordered.simulation import after_start, done, equation_after_start
from kilohertz.passes.rewriting import Rule


@dataclass(frozen=True, slots=True)
class Place(Pass):
    """Variables get slots; the blocks and events of the model become a Step."""

    name: ClassVar[str] = "place"
    needs: ClassVar[frozenset[Fact]] = frozenset({Fact.ORDERED, Fact.TORN})
    gives: ClassVar[frozenset[Fact]] = frozenset({Fact.STEP})
    breaks: ClassVar[frozenset[Fact]] = frozenset({Fact.ORDERED})

    def run(self, model: Ordered, log: Log) -> Step:
        assert model.initial is not None and model.simulation is not None
        dae, blocks = model.dae, model.simulation.blocks or ()
        variables, aliases = _slots(dae)
        aliases.update({name: _alias(a) for name, a in dae.aliases.items()})
        present = partial(with_present, dae)
        whens = (_when(w, dae, present) for w in dae.whens)
        return Step(
            dae.name,
            variables,
            aliases,
            once=model.once,
            initial=model.initial.blocks or (),
            simplified=None if model.simplified is None else model.simplified.blocks,
            blocks=(*blocks, *(w for w in whens if w is not None)),
            crossings=_crossings(dae, variables, present),
            time_events=tuple(dae.time_events),
            samples=tuple(dae.samples),
            delays=tuple(dae.delays),
            transports=tuple(dae.transports),
            asserts=tuple(_assert(a, present) for a in dae.asserts if not is_of_start(a)),
            functions=model.functions,
            experiment=dae.experiment,
            notes=model.notes,
            description=dae.description,
            dae=dae,
        )


# ------------------------------------------------------------------------------------------------------------ variables


def _slots(dae: Dae) -> tuple[dict[str, StepVariable], dict[str, Alias]]:
    """Variables with their places, among algebraic ones last what is only passed on; constants as aliases."""
    passed = {name for name in passed_on(dae) if _kind(dae.variables[name]) is Kind.ALGEBRAIC}
    counts: dict[Kind, int] = {}
    variables: dict[str, StepVariable] = {}
    aliases: dict[str, Alias] = {}
    for v in (v for last in (False, True) for v in dae.variables.values() if (v.name in passed) is last):
        if v.role is Role.CONSTANT:
            aliases[v.name] = Alias(None, value=v.binding, purpose=v.purpose, min=v.min, max=v.max, origin=v.origin)
            continue
        kind = _kind(v)
        index = counts.get(kind, 0)
        counts[kind] = index + 1
        placed = _placed(v if v.name not in passed else replace(v, purpose=Purpose.PASSED), Slot(kind, index))
        variables[v.name] = placed
        twin = TWINS.get(kind)
        if twin is not None:
            name = der_name(v.name) if kind is Kind.STATE else pre_name(v.name)
            start = None if kind is Kind.STATE else placed.start
            variables[name] = StepVariable(
                name,
                v.ty,
                Slot(twin, index),
                start,
                protected=v.protected,
                origin=v.origin,
                purpose=v.purpose,
                of=v.name,
            )
    return variables, aliases


def _placed(v: DaeVariable, slot: Slot) -> StepVariable:
    is_parameter = v.role is Role.PARAMETER
    start = v.binding if is_parameter and v.binding is not None else v.start
    if start is None and v.role is not Role.OBJECT:
        start = default_start(v.ty)
    return StepVariable(
        v.name,
        v.ty,
        slot,
        start,
        v.fixed,
        v.nominal,
        v.min,
        v.max,
        v.unit,
        v.display_unit,
        v.description,
        v.causality,
        v.protected,
        is_parameter and is_tunable(v),
        v.origin,
        v.purpose,
    )


def _kind(v: DaeVariable) -> Kind:
    match v.role:
        case Role.OBJECT:
            return Kind.OBJECT
        case Role.STATE:
            return Kind.STATE
        case Role.ALGEBRAIC:
            return Kind.ALGEBRAIC
        case Role.RELATION:
            return Kind.RELATION
        case Role.PARAMETER:
            return _by_type(v.ty, Kind.PARAMETER, Kind.INT_PARAMETER, Kind.STRING_PARAMETER)
        case Role.INPUT:
            return _by_type(v.ty, Kind.INPUT, Kind.INT_INPUT, Kind.STRING_PARAMETER)
        case _:
            return _by_type(v.ty, Kind.DISCRETE, Kind.INT_DISCRETE, Kind.STRING_DISCRETE)


def _by_type(ty: Type, real: Kind, integer: Kind, string: Kind) -> Kind:
    return real if ty == REAL else string if ty == STRING else integer


def _alias(a: AliasOf) -> Alias:
    v = a.variable
    return Alias(a.target, a.sign, a.value, v.unit, v.description, v.causality, v.purpose, v.min, v.max, v.origin)


# --------------------------------------------------------------------------------------------------------------- events


def _crossings(dae: Dae, variables: dict[str, StepVariable], present: Rule) -> tuple[step.Crossing, ...]:
    """Relations that are left, in slot order."""
    crossings = []
    passing = {f"$r{c.index}" for c in dae.crossings if c.passing}
    for e in dae.equations:
        if not isinstance(e, Equation) or not e.directed or not isinstance(e.left, Ref):
            continue
        v = variables.get(e.left.name)
        if v is None or v.slot.kind is not Kind.RELATION:
            continue
        later = equation_after_start(e)
        assert isinstance(later, Equation) and isinstance(later.right, Binary)
        relation = present(later.right)
        assert isinstance(relation, Binary)
        function = simplify_node(make.sub(relation.left, relation.right))
        crossings.append(step.Crossing(v.slot.index, relation, function, e.origin, e.left.name in passing))
    return tuple(sorted(crossings, key=lambda c: c.index))


def _assert(a: Assert, present: Rule) -> Assert:
    return replace(a, condition=present(a.condition), message=present(a.message))


def _when(w: When, dae: Dae, present: Rule) -> WhenBlock | None:
    guard = present(after_start(w.guard))
    if guard is FALSE:
        return None
    actions = tuple(_action(a, dae, present) for a in w.actions)
    return WhenBlock(guard, actions, Partition.EVENT, cost((guard,)), w.origin)


def _action(a: Reinit | Effect, dae: Dae, present: Rule) -> step.Action:
    if not isinstance(a, Reinit):
        return done(a, lambda e: present(after_start(e)))
    if dae.variables[a.target.name].role is not Role.STATE:
        text = f"reinit sets a variable that is integrated; `{a.target.name}` follows from others"
        raise ModelError(Diagnostic("S284", text, a.origin.spans[0] if a.origin.spans else None))
    return step.SetState(a.target, present(after_start(a.value)), a.origin)
