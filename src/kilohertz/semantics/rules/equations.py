"""What may be assigned, and what has a `pre`: seen from the flat model (MLS 3.7.5, 11.2, 12.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kilohertz.base import Diagnostic, ModelError, Origin, Severity
from kilohertz.ir.expr import FALSE, Builtin, Expr, Index, Ref
from kilohertz.ir.flat import (
    CONSTANT,
    PARAMETER,
    Assert,
    Assign,
    Equality,
    Equation,
    Flat,
    Function,
    Statement,
    WhenEquation,
    WhenStatement,
)
from kilohertz.ir.types import REAL
from kilohertz.semantics.balancing.parts import assigned_variables, bodies, expressions

# ---------------------------------------------------------------------------------------------------------- assignments


def check_function(function: Function, iterators: Mapping[str, str]) -> None:
    """Inputs and iterators (as written, by their names) are not assigned (MLS 12.2, 11.2.2)."""
    inputs = {x.name for x in function.inputs}
    own = {x.name for x in (*function.outputs, *function.locals)}
    for name, origin in _assigned(function.body):
        if name in inputs:
            raise _not_assignable(f"`{name}` is an input of the function, which cannot be assigned", origin)
        if name not in own:
            raise _not_assignable(f"`{iterators[name]}` is an iterator, which cannot be assigned", origin)


def check_outputs(function: Function) -> Iterator[Diagnostic]:
    """S318: each output of a function gets a value (MLS 12.4.4)."""
    if function.external is not None or function.partial_of or function.is_record_constructor:
        return
    if any(isinstance(s, Assert) and s.condition is FALSE for s in function.body):
        return  # it is there to say that it cannot be called
    assigned = {name for name, _ in _assigned(function.body)}
    for output in function.outputs:
        if output.name not in assigned and output.default is None and 0 not in output.ty.dims:
            text = f"the output `{output.name}` of `{function.id}` never gets a value"
            yield Diagnostic("S318", text, function.origin.spans[0] if function.origin.spans else None)


def check_algorithms(flat: Flat) -> None:
    """Only variables are assigned outside of initial algorithms (MLS 11.2.1)."""
    for algorithm in flat.algorithms:
        for name, origin in _assigned(algorithm.statements):
            variable = flat.variables.get(name)
            if variable is not None and variable.variability in (PARAMETER, CONSTANT):
                raise _not_assignable(f"`{name}` is a {variable.variability}, which cannot be assigned", origin)


def _not_assignable(text: str, origin: Origin) -> ModelError:
    return ModelError(Diagnostic("S288", text, origin.spans[0] if origin.spans else None))


def _assigned(statements: list[Statement]) -> Iterator[tuple[str, Origin]]:
    pending: list[Equation | Statement] = list(statements)
    while pending:
        one = pending.pop()
        if isinstance(one, Assign):
            yield from ((name, one.origin) for name, _ in assigned_variables(one.target))
        pending += bodies(one)


# --------------------------------------------------------------------------------------------------- pre of what varies


def check_pre(flat: Flat) -> Iterator[Diagnostic]:
    """S295: outside of when, only what changes at events has a value before them (MLS 3.7.5)."""
    parts: list[Equation | Statement] = [*flat.equations, *(s for a in flat.algorithms for s in a.statements)]
    found = [(name, part) for part in parts for name in _with_pre(part)]
    if not found:
        return
    known = discrete_variables(flat, parts)
    told: set[str] = set()
    for name, part in found:
        if name in told or name in known:
            continue
        told.add(name)
        text = f"`pre` outside of a when is of what changes at events only; `{name}` varies continuously"
        yield Diagnostic("S295", text, part.origin.spans[0] if part.origin.spans else None, severity=Severity.WARNING)


def _with_pre(part: Equation | Statement) -> Iterator[str]:
    """Real variables under pre, outside of when."""
    pending = [part]
    while pending:
        one = pending.pop()
        if isinstance(one, WhenEquation | WhenStatement):
            stack: list[Expr] = []
        else:
            stack = list(expressions(one))
            pending += bodies(one)
        seen = set(stack)
        while stack:
            e = stack.pop()
            if isinstance(e, Builtin) and e.name in ("pre", "change"):
                target = e.args[0].base if isinstance(e.args[0], Index) else e.args[0]
                if isinstance(target, Ref) and target.ty.base == REAL.base:
                    yield target.name
                continue
            fresh = [child for child in e.children() if child not in seen]
            seen.update(fresh)
            stack += fresh


def discrete_variables(flat: Flat, parts: list[Equation | Statement]) -> set[str]:
    """Variables that change at events only: declared so, set in when or clocked, or equal to such ones."""
    known = {v.name for v in flat.variables.values() if v.variability != "continuous"}
    known |= {name for p in flat.clocks if p.base is not None for name in p.variables}
    inside: list[Equation | Statement] = []
    pending = list(parts)
    while pending:
        one = pending.pop()
        pending += bodies(one)
        if isinstance(one, WhenEquation | WhenStatement):
            inside += bodies(one)
    while inside:
        one = inside.pop()
        inside += bodies(one)
        match one:
            case Equality(target, _) | Assign(target, _):
                known |= {name for name, _ in assigned_variables(target)}
            case _:
                pass
    equal: dict[str, list[str]] = {}
    for part in parts:
        if isinstance(part, Equality) and isinstance(part.left, Ref) and isinstance(part.right, Ref):
            equal.setdefault(part.left.name, []).append(part.right.name)
            equal.setdefault(part.right.name, []).append(part.left.name)
    queue = [name for name in equal if name in known]
    for name in queue:
        fresh = [other for other in equal[name] if other not in known]
        known.update(fresh)
        queue += fresh
    return known
