"""assemble: a Dae of index one becomes a Step: slots, ordered blocks, partitions, initial system, alias table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from kilohertz.base import Diagnostic, ModelError
from kilohertz.graphs import strong_components
from kilohertz.ir import build, step
from kilohertz.ir.dae import (
    AliasOf,
    AnyEquation,
    CallEquation,
    Dae,
    DaeVariable,
    Effect,
    Equation,
    Reinit,
    Role,
    der_name,
    pre_name,
)
from kilohertz.ir.expr import FALSE, TRUE, Binary, Builtin, Call, Expr, Ref
from kilohertz.ir.flat import Assert, Function, Terminate
from kilohertz.ir.flat import CallEquation as FlatCall
from kilohertz.ir.step import Alias, Assignment, Block, Kind, Partition, Slot, Step, StepVariable, WhenBlock
from kilohertz.ir.types import REAL, STRING, Type
from kilohertz.passes.algebra import Occurrence, cost, simplify_node
from kilohertz.passes.flat.algorithms import default_start
from kilohertz.passes.function_derivative import FunctionDerivatives
from kilohertz.passes.numeric import Numeric
from kilohertz.passes.ordered.blocks import Context, make_blocks
from kilohertz.passes.ordered.columns import Columns
from kilohertz.passes.ordered.components import Vanishing, order
from kilohertz.passes.ordered.initialise import free_parameters, initial_blocks
from kilohertz.passes.parameter_values import is_parametric, parameter_values
from kilohertz.passes.step.differentiate import directional
from kilohertz.passes.step.hoist import hoist
from kilohertz.passes.step.partition import partitioned, state_sparsity

KNOWN = (Role.PARAMETER, Role.CONSTANT, Role.OBJECT)


def assemble(dae: Dae, *, with_directional: bool = True) -> Step:
    """The Step form of an index-one Dae whose states are chosen."""
    return _Assembler(dae).run(with_directional)


class _Assembler:
    def __init__(self, dae: Dae) -> None:
        self._dae = dae
        self._derivatives = FunctionDerivatives(dict(dae.functions))
        self._occurrence = Occurrence()
        self._values = parameter_values(dae)
        self._out = Step(dae.name, experiment=dae.experiment, description=dae.description)

    def run(self, with_directional: bool) -> Step:
        dae, out = self._dae, self._out
        out.once = tuple(self._once())
        self._slots()
        context = make_context(dae, self._values, self._derivatives, self._occurrence)
        out.initial, notes = initial_blocks(dae, context)
        out.notes = (*dae.notes, *notes)
        unknowns = simulation_unknowns(dae)
        equations = simulation_equations(dae)
        vanishing = Vanishing(self._values, self._occurrence)
        blocks = make_blocks(order(equations, unknowns, self._occurrence, vanishing), context)
        out.crossings = tuple(self._crossings(equations))
        out.time_events = tuple(step.TimeEvent(t.at, t.origin) for t in dae.time_events)
        out.samples = tuple(step.Sample(s.index, s.start, s.interval, s.origin) for s in dae.samples)
        out.delays = tuple(step.Delay(d.index, d.source, d.maximum, d.origin) for d in dae.delays)
        out.transports = tuple(dae.transports)
        whens = [self._when(w.guard, w.actions, w) for w in dae.whens]
        out.asserts = tuple(dae.asserts)
        out.blocks = tuple(partitioned([*blocks, *(w for w in whens if w is not None)], out, self._occurrence))
        hoist(out)
        out.state_sparsity = state_sparsity(out, self._occurrence)
        out.aliases.update({name: _alias(a) for name, a in dae.aliases.items()})
        if with_directional:
            directional(out, self._derivatives, self._occurrence)
        out.functions = used_functions(self._derivatives.functions, out)
        step.verify(out)
        return out

    # ------------------------------------------------------------------------------------------------------ parameters

    def _once(self) -> list[Block]:
        """Parameters in the order in which they need each other."""
        free = free_parameters(self._dae)
        jobs: list[Assignment | step.CallBlock] = []
        owner: dict[str, int] = {}
        for v in self._dae.variables.values():
            if v.role is Role.OBJECT or (v.role is Role.PARAMETER and v.binding is not None and not is_tunable(v)):
                if v.binding is None or v.name in free:
                    continue
                owner[v.name] = len(jobs)
                jobs.append(Assignment(v.ref, v.binding, Partition.ONCE, cost((v.binding,)), v.origin))
        for e in self._dae.equations:
            if isinstance(e, CallEquation) and is_parametric(e, self._dae):
                targets = tuple(tuple(t if isinstance(t, Ref) else None for t in o) for o in e.targets)
                owner.update({t.name: len(jobs) for o in targets for t in o if t is not None})
                jobs.append(step.CallBlock(targets, e.call, Partition.ONCE, None, cost((e.call,)), e.origin))
        needs = []
        for job in jobs:
            names = self._occurrence.names(job.value if isinstance(job, Assignment) else job.call)
            needs.append([owner[n] for n in names if n in owner])
        found: list[Block] = []
        for members in strong_components(needs):
            if len(members) > 1 or members[0] in needs[members[0]]:
                first = jobs[members[0]]
                span = first.origin.spans[0] if first.origin.spans else None
                cycle = [t.name for i in members for t in step.targets(jobs[i])]
                raise ModelError(Diagnostic("B203", f"parameters depend on each other: {', '.join(cycle[:8])}", span))
            found.append(jobs[members[0]])
        return found

    # ----------------------------------------------------------------------------------------------------------- slots

    def _slots(self) -> None:
        counts: dict[Kind, int] = {}
        for v in self._dae.variables.values():
            if v.role is Role.CONSTANT:
                self._out.aliases[v.name] = Alias(None, value=v.binding)
                continue
            kind = _kind(v)
            index = counts.get(kind, 0)
            counts[kind] = counts.get(kind, 0) + 1
            self._place(v, kind, index)

    def _place(self, v: DaeVariable, kind: Kind, index: int) -> None:
        tunable = v.role is Role.PARAMETER and is_tunable(v)
        start = (v.binding if v.binding is not None else v.start) if v.role is Role.PARAMETER else v.start
        if start is None and v.role is not Role.OBJECT:
            start = default_start(v.ty)
        variables = self._out.variables
        variables[v.name] = StepVariable(
            v.name,
            v.ty,
            Slot(kind, index),
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
            tunable,
            v.origin,
        )
        twin = _TWINS.get(kind)
        if twin is not None:
            name = der_name(v.name) if kind is Kind.STATE else pre_name(v.name)
            own = None if kind is Kind.STATE else start
            variables[name] = StepVariable(name, v.ty, Slot(twin, index), own, protected=v.protected, origin=v.origin)

    def _crossings(self, equations: list[AnyEquation]) -> list[step.Crossing]:
        """Relations that are left, in slot order."""
        found = []
        for e in equations:
            if not isinstance(e, Equation) or not isinstance(e.left, Ref):
                continue
            v = self._out.variables.get(e.left.name)
            if v is None or v.slot.kind is not Kind.RELATION or not e.directed:
                continue
            assert isinstance(e.right, Binary)
            function = simplify_node(build.sub(e.right.left, e.right.right))
            found.append(step.Crossing(v.slot.index, e.right, function, e.origin))
        return sorted(found, key=lambda c: c.index)

    # ------------------------------------------------------------------------------------------------------------ when

    def _when(self, guard: Expr, actions: Iterable[Reinit | Effect], w: object) -> WhenBlock | None:
        guard = _replace_initial(guard, FALSE)
        if guard is FALSE:
            return None
        made = tuple(_action(a) for a in actions)
        return WhenBlock(guard, made, Partition.EVENT, cost((guard,)), getattr(w, "origin"))  # noqa: B009


_TWINS = {
    Kind.STATE: Kind.DERIVATIVE,
    Kind.DISCRETE: Kind.PRE_DISCRETE,
    Kind.INT_DISCRETE: Kind.PRE_INT_DISCRETE,
    Kind.STRING_DISCRETE: Kind.PRE_STRING_DISCRETE,
}


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


def is_tunable(v: DaeVariable) -> bool:
    """A parameter whose value stands by itself, so that it may be changed before a run."""
    if not v.fixed:
        return False
    return v.binding is None or (build.is_literal(v.binding) and not v.final)


def simulation_unknowns(dae: Dae) -> list[Ref]:
    """Derivatives of states, algebraics, discretes and relations."""
    found: list[Ref] = []
    for v in dae.variables.values():
        if v.role is Role.STATE:
            found.append(Ref(der_name(v.name), REAL))
        elif v.role in (Role.ALGEBRAIC, Role.DISCRETE, Role.RELATION):
            found.append(v.ref)
    return found


def simulation_equations(dae: Dae) -> list[AnyEquation]:
    """What holds after the start, parameters apart."""
    return [_without_initial(e, FALSE) for e in dae.equations if not is_parametric(e, dae)]


def make_context(
    dae: Dae, values: Mapping[str, float], derivatives: FunctionDerivatives, occurrence: Occurrence
) -> Context:
    """What making blocks asks of this model."""
    variables = dae.variables

    def is_discrete(name: str) -> bool:
        v = variables.get(name)
        return v is not None and v.role in (Role.DISCRETE, Role.RELATION)

    def is_parameter(name: str) -> bool:
        v = variables.get(name)
        return v is not None and v.role in KNOWN

    rates = {der_name(v.name) for v in variables.values() if v.role is Role.STATE}
    columns = Columns(occurrence, derivatives.rule)
    context = Context(is_discrete, is_parameter, Numeric(values), values, columns, functions=derivatives.functions)
    return replace(context, is_rate=rates.__contains__)


def _replace_initial(e: Expr, value: Expr) -> Expr:
    def f(node: Expr) -> Expr:
        if isinstance(node, Builtin):
            if node.name == "initial":
                return value
            if node.name == "homotopy" and value is FALSE:
                return node.args[0]
            if node.name == "sample" and value is TRUE:
                return FALSE
        return simplify_node(node)

    return build.map_expr(e, f)


def _needs_replacing(e: Expr) -> bool:
    return any(isinstance(n, Builtin) and n.name in ("initial", "homotopy", "sample") for n in build.walk(e))


def _without_initial(e: AnyEquation, value: Expr) -> AnyEquation:
    if isinstance(e, Equation):
        if _needs_replacing(e.left) or _needs_replacing(e.right):
            left, right = _replace_initial(e.left, value), _replace_initial(e.right, value)
            return Equation(left, right, e.origin, e.directed)
        return e
    if isinstance(e, CallEquation) and (_needs_replacing(e.call) or (e.guard and _needs_replacing(e.guard))):
        call = _replace_initial(e.call, value)
        assert isinstance(call, Call)
        return CallEquation(e.targets, call, e.origin, e.guard and _replace_initial(e.guard, value))
    return e


def _action(a: Reinit | Effect) -> step.Action:
    if isinstance(a, Reinit):
        return step.SetState(a.target, _replace_initial(a.value, FALSE), a.origin)
    args = [_replace_initial(x, FALSE) for x in a.args]
    if a.kind == "assert":
        return Assert(args[0], args[1], args[2] if len(args) > 2 else None, a.origin)
    if a.kind == "terminate":
        return Terminate(args[0], a.origin)
    return FlatCall(args[0], a.origin)


def _alias(a: AliasOf) -> Alias:
    v = a.variable
    return Alias(a.target, a.sign, a.value, v.unit, v.description, v.causality)


def used_functions(functions: dict[str, Function], out: Step) -> dict[str, Function]:
    """Functions called from blocks, parameters, asserts, and from one another."""
    from kilohertz.passes.functions import called_in_expressions, called_in_function

    roots: list[Expr] = [e for _, blocks in step.lists(out) for b in blocks for e in step.expressions(b)]
    roots += [x for a in out.asserts for x in (a.condition, a.message)]
    roots += [v.start for v in out.variables.values() if v.start is not None]
    names = called_in_expressions(roots)
    found: dict[str, Function] = {}
    while names:
        name = names.pop()
        if name in found or name not in functions:
            continue
        found[name] = functions[name]
        names += called_in_function(functions[name])
    return {k: found[k] for k in functions if k in found}
