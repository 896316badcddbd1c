"""Rules that are looked at last, when the whole model is there.

Redeclarations (MLS 7.3) wait until no class is being built any more; what may be assigned and what has a `pre` is seen
from the flat model.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kilohertz.base import Diagnostic, ModelError, Note, Origin, Severity, Span
from kilohertz.ir.expr import Builtin, Expr, Index, Ref
from kilohertz.ir.flat import (
    CONSTANT,
    PARAMETER,
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
from kilohertz.semantics.classes.nodes import ClassNode, Element, View
from kilohertz.syntax import tree

# ------------------------------------------------------------------------------------------------------- redeclarations


@dataclass(frozen=True, slots=True)
class Redeclared:
    """`element` is replaced by `new`, which is written in `view`; `span` is where."""

    element: Element
    new: tree.Component | tree.ClassDef
    view: View
    span: Span


def check_redeclarations(redeclared: list[Redeclared]) -> Iterator[Diagnostic]:
    """S292: of what is not replaceable.  S294: by what lacks elements of the constraining type."""
    seen: set[tuple[int, int]] = set()
    for one in redeclared:
        old = one.element.decl
        key = (id(old), id(one.new))
        if key in seen:
            continue
        seen.add(key)
        try:
            yield from _check_redeclared(one, old)
        except ModelError:
            continue  # one of the classes is not used, or an error of its own


def _check_redeclared(one: Redeclared, old: tree.Component | tree.ClassDef) -> Iterator[Diagnostic]:
    new_class = _class_of(one.new, one.view)
    known = (Note("declared here", one.element.span),)
    if not old.replaceable:
        old_class = _class_of(old, one.element.view)
        if new_class is None or old_class is None or new_class.definition is not old_class.definition:
            text = f"`{one.element.name}` is redeclared, but is not replaceable"
            yield Diagnostic("S292", text, one.span, notes=known, severity=Severity.WARNING)
        return
    constraint = old.constraint
    wanted = _class_of(old, one.element.view) if constraint is None else one.element.view.lookup_class(constraint.type)
    if new_class is None or wanted is None or new_class.definition is wanted.definition:
        return
    lacking = [n for n, e in wanted.table.items() if not e.is_class and not e.protected and n not in new_class.table]
    if not lacking and wanted.builtin == new_class.builtin:
        return
    what = f"has no `{lacking[0]}`" if lacking else f"is no {wanted.builtin or wanted.kind}"
    text = (
        f"`{new_class.full_name}` does not fit `{wanted.full_name}`, which constrains `{one.element.name}`: it {what}"
    )
    yield Diagnostic("S294", text, one.span, notes=known, severity=Severity.WARNING)


def _class_of(decl: tree.Component | tree.ClassDef, view: View) -> ClassNode | None:
    """The class of a component, or what a short class stands for."""
    if isinstance(decl, tree.Component):
        found: ClassNode | None = view.lookup_class(decl.type)
    elif isinstance(decl.body, tree.ShortBody):
        found = view.lookup_class(decl.body.type)
    elif isinstance(decl.body, tree.Body) and not decl.body.is_extension:
        found = ClassNode(decl, view, view.world)
    else:
        return None
    return found


# ---------------------------------------------------------------------------------------------------------- assignments


def check_function(function: Function) -> None:
    """Inputs and iterators are not assigned (MLS 12.2, 11.2.2)."""
    inputs = {x.name for x in function.inputs}
    own = {x.name for x in (*function.outputs, *function.locals)}
    for name, origin in _assigned(function.body):
        if name in inputs:
            raise _not_assignable(f"`{name}` is an input of the function, which cannot be assigned", origin)
        if name not in own:
            raise _not_assignable(f"`{name.split('$')[0]}` is an iterator, which cannot be assigned", origin)


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
    known = _discrete(flat, parts)
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


def _discrete(flat: Flat, parts: list[Equation | Statement]) -> set[str]:
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
