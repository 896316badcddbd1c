"""order-parameters: parameters, each after those it is computed from; the first pass of the Ordered form.

  b = 2*a;  a = f(c);  c = 3          ->   a := f(c);  b := 2*a         (c may be set before a run: no block)

Left out are parameters with fixed=false and what depends on them: the initial system has them as unknowns.  Cost:
linear.  Gives up (B203) where parameters depend on each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kilohertz.base import Diagnostic, ModelError, Severity
from kilohertz.graphs import strong_components
from kilohertz.ir import make, step, traverse
from kilohertz.ir.dae import CallEquation, Dae, DaeVariable, Role
from kilohertz.ir.expr import Ref
from kilohertz.ir.flat import Purpose
from kilohertz.ir.ordered import Ordered
from kilohertz.ir.step import Assignment, Block, CallBlock, Partition
from kilohertz.ir.text.expr_printer import print_expr
from kilohertz.passes.algebra import Occurrence, cost
from kilohertz.passes.contract import Fact, Log, Pass
from kilohertz.passes.flat.algorithms import default_start
from kilohertz.passes.numeric import free_names
from kilohertz.passes.parameter_values import is_parametric, parameter_values


@dataclass(frozen=True, slots=True)
class OrderParameters(Pass):
    """Parameters in the order in which they need each other."""

    name: ClassVar[str] = "order-parameters"
    needs: ClassVar[frozenset[Fact]] = frozenset({Fact.DAE, Fact.INDEX_1, Fact.ALIAS_FREE})
    gives: ClassVar[frozenset[Fact]] = frozenset({Fact.ORDERED})
    breaks: ClassVar[frozenset[Fact]] = frozenset({Fact.DAE})

    def run(self, model: Dae, log: Log) -> Ordered:
        log.warnings += dict.fromkeys([*model.warnings, *_without_value(model)])
        once = tuple(_ordered(_jobs(model), log.occurrence))
        return Ordered(model, once, parameter_values(model), functions=model.functions, notes=tuple(model.notes))


def _without_value(dae: Dae) -> list[Diagnostic]:
    """Parameters that nobody gives a value."""
    return [default_taken(v) for v in dae.variables.values() if v.fixed and lacks_value(v)]


def lacks_value(v: DaeVariable) -> bool:
    """A parameter of the user without a value of its own; results of calls get theirs there."""
    is_users = v.role is Role.PARAMETER and v.purpose is Purpose.DECLARED
    return is_users and v.binding is None and v.start is None


def default_taken(v: DaeVariable) -> Diagnostic:
    """What stands for the value that a parameter lacks; the label names it, for runs that set it."""
    text = f"parameter `{v.name}` has neither a value nor a start: {print_expr(default_start(v.ty))} is taken"
    span = v.origin.spans[0] if v.origin.spans else None
    return Diagnostic("B214", text, span, v.name, severity=Severity.WARNING)


def is_tunable(v: DaeVariable) -> bool:
    """A parameter whose value stands by itself, so that it may be changed before a run."""
    if not v.fixed:
        return False
    return v.binding is None or (make.is_literal(v.binding) and not v.final)


def free_parameters(dae: Dae) -> set[str]:
    """Parameters with fixed=false, what is made of variables (external objects; parameters that take the results of a
    call whose arguments are free), and what depends on them: unknowns of the initial system."""
    parameters = [v for v in dae.variables.values() if v.role in (Role.PARAMETER, Role.OBJECT)]
    roots = {v.name for v in parameters if _is_late(v, dae) or (v.role is Role.PARAMETER and not v.fixed)}
    return free_names({v.name: v.binding for v in parameters}, roots)


def _is_late(v: DaeVariable, dae: Dae) -> bool:
    """Made of what the initial system gives."""
    known = (Role.PARAMETER, Role.CONSTANT, Role.OBJECT)
    names = [] if v.binding is None else [r.name for r in traverse.refs(v.binding)]
    return any(n in dae.variables and dae.variables[n].role not in known for n in names)


def _jobs(dae: Dae) -> list[Assignment | CallBlock]:
    """What is computed once, in the order of the declarations."""
    free = free_parameters(dae)
    jobs: list[Assignment | CallBlock] = []
    for v in dae.variables.values():
        computed = v.role is Role.OBJECT or (v.role is Role.PARAMETER and not is_tunable(v))
        if computed and v.binding is not None and v.name not in free:
            jobs.append(Assignment(v.ref, v.binding, Partition.ONCE, cost((v.binding,)), v.origin))
    for e in dae.equations:
        if isinstance(e, CallEquation) and is_parametric(e, dae):
            targets = tuple(tuple(t if isinstance(t, Ref) else None for t in o) for o in e.targets)
            jobs.append(CallBlock(targets, e.call, Partition.ONCE, None, cost((e.call,)), e.origin))
    return jobs


def _ordered(jobs: list[Assignment | CallBlock], occurrence: Occurrence) -> list[Block]:
    owner = {t.name: i for i, job in enumerate(jobs) for t in step.targets(job)}
    needs = []
    for job in jobs:
        names = occurrence.names(job.value if isinstance(job, Assignment) else job.call)
        needs.append([owner[n] for n in names if n in owner])
    blocks: list[Block] = []
    for members in strong_components(needs):
        if len(members) > 1 or members[0] in needs[members[0]]:
            first = jobs[members[0]]
            span = first.origin.spans[0] if first.origin.spans else None
            cycle = [t.name for i in members for t in step.targets(jobs[i])]
            raise ModelError(Diagnostic("B203", f"parameters depend on each other: {', '.join(cycle[:8])}", span))
        blocks.append(jobs[members[0]])
    return blocks
