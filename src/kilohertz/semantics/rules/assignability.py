"""What may be assigned, what has a `pre`, what `reinit` may set: seen from the flat model (MLS 3.7.5, 11.2, 12.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeGuard

from kilohertz.base import Diagnostic, ModelError, Note, Origin, Severity
from kilohertz.ir.assigned import unset_uses
from kilohertz.ir.builtins import BUILTINS
from kilohertz.ir.expr import FALSE, TRUE, Binary, Builtin, Expr, Index, Real, Ref
from kilohertz.ir.flat import (
    CONSTANT,
    PARAMETER,
    Assert,
    Assign,
    Equality,
    Equation,
    Flat,
    Function,
    Reinit,
    Return,
    Statement,
    Variable,
)
from kilohertz.ir.traverse import refs
from kilohertz.ir.types import REAL
from kilohertz.semantics.balancing.equation_parts import assigned_variables, bodies
from kilohertz.semantics.rules.survey import Survey, inside
from kilohertz.semantics.wording import as_written

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
            text = f"the output `{output.name}` of `{as_written(function.id)}` never gets a value"
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
            where = "where it is read" if is_read else "its end"
            text = f"{what} of `{as_written(function.id)}` has no value on some path to {where}"
            notes = (Note("assign it on every path, or declare it with a value"),)
            place = use.origin.spans[0] if use.origin.spans else None
            yield Diagnostic("S344", text, place, notes=notes, severity=Severity.WARNING)


def _names_assigned(function: Function) -> set[str]:
    return {name for name, _ in assignments_in(function.body)}


def check_algorithms(flat: Flat) -> None:
    """Variables are assigned; in initial algorithms also parameters that are computed there (MLS 8.6, 11.2.1)."""
    for algorithm in flat.initial_algorithms:
        for name, origin in assignments_in(algorithm.statements):
            variable = flat.variables.get(name)
            if variable is not None and variable.variability == PARAMETER and not _may_be_computed(variable):
                raise _not_assignable(f"`{name}` is a parameter that is not `fixed = false`", origin)
    for algorithm in flat.algorithms:
        for name, origin in assignments_in(algorithm.statements):
            variable = flat.variables.get(name)
            if variable is not None and variable.variability in (PARAMETER, CONSTANT):
                raise _not_assignable(f"`{name}` is a {variable.variability}, which cannot be assigned", origin)


def _may_be_computed(variable: Variable) -> bool:
    return variable.attributes.get("fixed", TRUE) is not TRUE


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


# ------------------------------------------------------------------------------------------------- reinit of what moves


def check_reinits(survey: Survey) -> Iterator[Diagnostic]:
    """S284: `reinit` of a variable that nothing differentiates, nor what it may be equal to.

    Whether it is a state in the end is known after index reduction only, which has the last word: here equations are
    taken for equalities unless they plainly are none (`y = 2*x`, `y = sin(x)`).
    """
    set_anew = [part for when in survey.whens for part in inside(when) if isinstance(part, Reinit)]
    if not set_anew:
        return
    moving = {ref.name for use in survey.uses if _is_der(use.node) for ref in refs(use.node.args[0])}
    equations = [names for part in survey.parts if (names := _may_be_equal(part))]
    found = True
    while found:
        fresh = [names for names in equations if names & moving and not names <= moving]
        moving = moving.union(*fresh)
        found = bool(fresh)
    for one in set_anew:
        name = refs(one.target)[0].name
        if name not in moving:
            text = f"reinit sets a variable that is integrated; `{name}` follows from others"
            yield Diagnostic("S284", text, one.origin.spans[0] if one.origin.spans else None)


def _is_der(e: Expr) -> TypeGuard[Builtin]:
    return isinstance(e, Builtin) and e.name == "der"


def _may_be_equal(part: Equation | Statement) -> set[str]:
    """Variables of an equation that may turn out to be equal; none where it plainly gives another value."""
    if not isinstance(part, Equality) or not isinstance(part.left, Expr):
        return set()
    names = {ref.name for side in (part.left, part.right) for ref in refs(side)}
    return set() if any(_is_plainly_else(side) for side in (part.left, part.right)) else names


def _is_plainly_else(e: Expr) -> bool:
    """`2*x`, `sin(x)`: neither of both is x."""
    match e:
        case Binary("*", Real(value), Ref()) | Binary("/", Ref(), Real(value)):
            return abs(value) != 1.0
        case Builtin(name):
            return BUILTINS[name].takes is not None and BUILTINS[name].same_as is None if name in BUILTINS else False
        case _:
            return False
