"""What may be assigned, and what has a `pre`: seen from the flat model (MLS 3.7.5, 11.2, 12.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kilohertz.base import Diagnostic, ModelError, Note, Origin, Severity
from kilohertz.ir.assigned import unset_uses
from kilohertz.ir.expr import FALSE, Builtin, Index, Ref
from kilohertz.ir.flat import (
    CONSTANT,
    PARAMETER,
    Assert,
    Assign,
    Equation,
    Flat,
    Function,
    Return,
    Statement,
)
from kilohertz.ir.types import REAL
from kilohertz.semantics.balancing.equation_parts import assigned_variables, bodies
from kilohertz.semantics.rules.survey import Survey

# ---------------------------------------------------------------------------------------------------------- assignments


def check_function(function: Function, iterators: Mapping[str, str]) -> None:
    """Inputs and iterators (as written, by their names) are not assigned (MLS 12.2, 11.2.2)."""
    inputs = {x.name for x in function.inputs}
    assignable = {x.name for x in (*function.outputs, *function.locals)}
    for name, origin in assignments_in(function.body):
        if name in inputs:
            raise _not_assignable(f"`{name}` is an input of the function, which cannot be assigned", origin)
        if name not in assignable:
            raise _not_assignable(f"`{iterators[name]}` is an iterator, which cannot be assigned", origin)


def check_outputs(function: Function) -> Iterator[Diagnostic]:
    """S318: each output of a function gets a value (MLS 12.4.4)."""
    if function.external is not None or function.partial_of or function.is_record_constructor:
        return
    if any(isinstance(s, Assert) and s.condition is FALSE for s in function.body):
        return  # it is there to say that it cannot be called
    assigned = _names_assigned(function)
    for output in function.outputs:
        if output.name not in assigned and output.default is None and 0 not in output.ty.dims:
            text = f"the output `{output.name}` of `{function.id}` never gets a value"
            yield Diagnostic("S318", text, function.origin.spans[0] if function.origin.spans else None)


def check_values(flat: Flat) -> Iterator[Diagnostic]:
    """S344: what a function uses or returns has a value on every path (MLS 12.4.4); one for each variable."""
    for function in flat.functions.values():
        outputs = {x.name for x in function.outputs}
        told: set[str] = set()
        for use in unset_uses(function, flat.functions, lenient=True):
            name = use.local.name
            if name in told or (use.statement is None and name not in _names_assigned(function)):
                continue  # of what never gets a value S318 speaks
            told.add(name)
            what = f"the output `{name}`" if name in outputs else f"`{name}`"
            is_read = use.statement is not None and not isinstance(use.statement, Return)
            text = (
                f"{what} of `{function.id}` has no value on some path to {'where it is read' if is_read else 'its end'}"
            )
            notes = (Note("assign it on every path, or declare it with a value"),)
            place = use.origin.spans[0] if use.origin.spans else None
            yield Diagnostic("S344", text, place, notes=notes, severity=Severity.WARNING)


def _names_assigned(function: Function) -> set[str]:
    return {name for name, _ in assignments_in(function.body)}


def check_algorithms(flat: Flat) -> None:
    """Only variables are assigned outside of initial algorithms (MLS 11.2.1)."""
    for algorithm in flat.algorithms:
        for name, origin in assignments_in(algorithm.statements):
            variable = flat.variables.get(name)
            if variable is not None and variable.variability in (PARAMETER, CONSTANT):
                raise _not_assignable(f"`{name}` is a {variable.variability}, which cannot be assigned", origin)


def _not_assignable(text: str, origin: Origin) -> ModelError:
    return ModelError(Diagnostic("S288", text, origin.spans[0] if origin.spans else None))


def assignments_in(statements: list[Statement]) -> Iterator[tuple[str, Origin]]:
    """Names that statements assign, each with its statement, in no order."""
    pending: list[Equation | Statement] = list(statements)
    while pending:
        one = pending.pop()
        if isinstance(one, Assign):
            yield from ((name, one.origin) for name, _ in assigned_variables(one.target))
        pending += bodies(one)


# --------------------------------------------------------------------------------------------------- pre of what varies


def check_pre(survey: Survey) -> Iterator[Diagnostic]:
    """S295: outside of when, only what changes at events has a value before them (MLS 3.7.5)."""
    reported: set[str] = set()
    for node, part, outside in survey.uses:
        if not outside or not isinstance(node, Builtin) or node.name not in ("pre", "change"):
            continue
        target = node.args[0].base if isinstance(node.args[0], Index) else node.args[0]
        if not isinstance(target, Ref) or target.ty.base != REAL.base or target.name in reported:
            continue
        reported.add(target.name)
        if target.name not in survey.discrete:
            text = f"`pre` outside of a when is of what changes at events only; `{target.name}` varies continuously"
            place = part.origin.spans[0] if part.origin.spans else None
            yield Diagnostic("S295", text, place, severity=Severity.WARNING)
