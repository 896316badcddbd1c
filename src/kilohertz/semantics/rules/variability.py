"""What may vary how: seen from the flat model (MLS 3.5, 3.7.4, 3.7.5, 3.8, 4.5, 8.3.5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf
from typing import TYPE_CHECKING

from kilohertz.base import Diagnostic, Note, Origin, Severity, Span
from kilohertz.ir import traverse
from kilohertz.ir.builtins import BUILTINS, changing_at_events
from kilohertz.ir.dae import show
from kilohertz.ir.expr import (
    FALSE,
    TIME,
    Array,
    Binary,
    Builtin,
    Call,
    Expr,
    Field,
    Index,
    Int,
    Real,
    Record,
    Ref,
    Unary,
)
from kilohertz.ir.flat import (
    CONSTANT,
    PARAMETER,
    Assign,
    Equality,
    Equation,
    Flat,
    IfEquation,
    TupleTarget,
    Variable,
    WhenEquation,
    WhenStatement,
)
from kilohertz.ir.types import REAL, STRING, ExternalObjectType, Type
from kilohertz.semantics.balancing.equation_parts import assigned_variables
from kilohertz.semantics.rules.survey import Survey, assigned_in, inside

if TYPE_CHECKING:
    from kilohertz.semantics.instances import Comp

_EVENTS = changing_at_events()
_DOMAINS = {f.name: f.domain for f in BUILTINS.values() if f.domain != (-inf, inf)}


def check_variability(survey: Survey, comps: Mapping[str, Comp]) -> Iterator[Diagnostic]:
    """All rules on what varies; `comps` are the instances of the variables by name."""
    flat = survey.flat
    yield from _constants(flat)
    for ref, part in survey.strays.items():
        yield Diagnostic("S322", f"the constant `{ref.name}` has no value", _place(part.origin))
    for when in survey.whens_at_events():
        yield from _assigned(when, comps)
        if isinstance(when, WhenEquation):
            yield from _same_in_all(when, flat)
    for part in flat.equations:
        if isinstance(part, Equality):
            for left in _discrete_targets(part.left):
                yield from _set_continuously(left, part.right, part.origin, survey)
    for one in survey.assigned:  # what is no String moves with what it is made of (`passes/dae/lowering/`)
        for left in _discrete_targets(one.target):
            if left.ty.base == STRING.base:
                yield from _set_continuously(left, one.value, one.origin, survey)
    yield from _discrete_reals(survey)
    yield from _operators(survey)
    yield from _impure_calls(survey)


def _constants(flat: Flat) -> Iterator[Diagnostic]:
    """S322: a constant has a value.  S223: parameters do not hang on what changes (MLS 3.8.1)."""
    for variable in flat.variables.values():
        if variable.variability == CONSTANT and variable.binding is None and not _is_object(variable.ty):
            yield Diagnostic("S322", f"the constant `{variable.name}` has no value", _place(variable.origin))
        if variable.variability == CONSTANT and variable.attributes.get("fixed") is FALSE:
            yield Diagnostic(
                "S322", f"the constant `{variable.name}` cannot be `fixed = false`", _place(variable.origin)
            )
        binding = variable.binding if variable.variability in (PARAMETER, CONSTANT) else None
        if isinstance(binding, Builtin) and binding.name in ("initial", "terminal"):
            text = f"the {variable.variability} `{variable.name}` depends on `{binding.name}()`, which changes"
            yield Diagnostic("S223", text, _place(variable.origin))


def _is_object(ty: Type) -> bool:
    return isinstance(ty.base, ExternalObjectType)


# ---------------------------------------------------------------------------------------------------------------- when


def _assigned(when: WhenEquation | WhenStatement, comps: Mapping[str, Comp]) -> Iterator[Diagnostic]:
    """S324: a variable stands alone on the left (MLS 8.3.5.2)."""
    for part in inside(when):
        if isinstance(part, Equality) and not _is_target(part.left):
            text = "inside a when, a variable stands alone on the left of an equation"
            yield Diagnostic("S324", text, _place(part.origin))
        elif isinstance(part, Equality | Assign):
            for name, _ in assigned_variables(part.left if isinstance(part, Equality) else part.target):
                yield from _own_variable(name, when.origin, comps)


def _same_in_all(when: WhenEquation, flat: Flat) -> Iterator[Diagnostic]:
    """S341: all branches of a when-equation, and of an if in it, set the same variables (MLS 8.3.5.2)."""
    bodies = [body for _, body in when.branches]
    for one in (part for part in inside(when) if isinstance(part, IfEquation)):
        conditions = [ref for condition, _ in one.branches for ref in traverse.refs(condition)]
        if not all(ref.name in flat.variables and _is_fixed(flat.variables[ref.name]) for ref in conditions):
            # an empty one is let alone: libraries in use leave it out, and what is not set keeps its value
            inner = [body for body in (*(body for _, body in one.branches), one.otherwise) if body]
            yield from _differing(inner, one.origin, "if-equation inside of a when")
    if not any(isinstance(e, IfEquation) for body in bodies for e in body):
        yield from _differing(bodies, when.origin, "when-equation")


def _is_fixed(variable: Variable) -> bool:
    return variable.variability in (PARAMETER, CONSTANT)


def _differing(bodies: list[list[Equation]], origin: Origin, what: str) -> Iterator[Diagnostic]:
    """S341 of the first variable that some branches set and others do not."""
    sets: list[set[str]] = []
    elements: list[set[str]] = []
    n_whole = 0
    for body in bodies:
        targets = [e.left for e in body if isinstance(e, Equality) and _is_target(e.left)]
        if len(targets) != sum(isinstance(e, Equality | IfEquation) for e in body):
            return
        sets.append({name for target in targets for name, _ in assigned_variables(target)})
        elements.append({show(target) for target in targets if isinstance(target, Index)})
        n_whole += sum(not isinstance(target, Index) for target in targets)
    if not n_whole and elements:
        sets = elements
    for other in sets[1:]:
        for name in sorted(other ^ sets[0]):
            text = f"`{name}` is not set in all branches of this {what}"
            yield Diagnostic("S341", text, _place(origin))
            return


def _is_target(left: Expr | TupleTarget) -> bool:
    """MLS 8.3.5.2: a variable, or several in parentheses or in an array."""
    match left:
        case TupleTarget():
            return True
        case Ref():
            return True
        case Index(base) | Field(base):
            return _is_target(base)
        case Array(elements):
            return all(map(_is_target, elements))
        case Record(fields):
            return all(map(_is_target, fields))
    return False


def _own_variable(name: str, origin: Origin, comps: Mapping[str, Comp]) -> Iterator[Diagnostic]:
    """S323: what a when assigns is no variable of a model or block inside (MLS 4.5)."""
    at = comps[name].parent if name in comps else None
    while at is not None and at.path != origin.path:
        if at.node.kind in ("model", "block"):
            text = f"`{name}` belongs to the {at.node.kind} `{at.path}`, so a when outside of it cannot set it"
            # an input is for others to set: libraries in use do so in a when, where nothing says it is discrete
            is_input = comps[name].causality == "input" and comps[name].variability != "discrete"
            severity = Severity.WARNING if is_input else Severity.ERROR
            yield Diagnostic("S323", text, _place(origin), severity=severity)
            return
        at = at.parent


# ------------------------------------------------------------------------------------------------------ discrete values


def _discrete_targets(left: Expr | TupleTarget) -> Iterator[Ref]:
    """Variables on the left of an equation, whole or by element, that are not Reals.

    Of several results Strings alone: the others move with what they are made of (`passes/dae/lowering/moving_results`).
    """
    for target in left.elements if isinstance(left, TupleTarget) else (left,):
        whole = target.base if isinstance(target, Index) else target
        if isinstance(whole, Ref) and whole.ty.base != REAL.base and (left is target or whole.ty.base == STRING.base):
            yield whole


def _set_continuously(left: Ref, value: Expr, origin: Origin, survey: Survey) -> Iterator[Diagnostic]:
    """S326: an Integer, Boolean, enumeration or String changes at events only (MLS 3.8.4).

    A warning: models in use take such a field of a record that a function makes.
    """
    variable = survey.flat.variables.get(left.name)
    if variable is None or _is_object(variable.ty):
        return
    cause = "" if isinstance(value, Field) else _continuous(value, survey.flat, survey.discrete)
    if cause:
        text = f"`{left.name}` changes at events only, but it is set by {cause}"
        note = Note("declared here", _place(variable.origin))
        yield Diagnostic("S326", text, _place(origin), notes=(note,), severity=Severity.WARNING)


def _continuous(e: Expr, flat: Flat, known: set[str]) -> str:
    """What makes an expression change between events; empty where nothing does."""
    match e:
        case Ref():
            variable = flat.variables.get(e.name)
            varies = e is TIME or (variable is not None and e.ty.base == REAL.base and e.name not in known)
            return f"`{e.name}`, which varies continuously" if varies else ""
        case Binary(op, left, _) if op in ("<", "<=", ">", ">=", "==", "<>") and left.ty.base == REAL.base:
            return ""
        case Builtin(name) if name in _EVENTS:
            return ""
        case Builtin("noEvent", args):
            return _inside_no_event(args[0], flat, known)
        case Call(function, args):
            for argument in args:
                if _continuous(argument, flat, known):
                    return f"a call of `{function}` with an argument that varies continuously"
            return ""
    return next((cause for child in e.children() if (cause := _continuous(child, flat, known))), "")


def _inside_no_event(e: Expr, flat: Flat, known: set[str]) -> str:
    for ref in traverse.refs(e):
        if _continuous(ref, flat, known):
            return f"`noEvent` of `{ref.name}`, which varies continuously"
    return ""


def _discrete_reals(survey: Survey) -> Iterator[Diagnostic]:
    """S325: a Real declared discrete is set in a when (MLS 4.5)."""
    variables = survey.flat.variables
    declared = {v.name for v in variables.values() if v.variability == "discrete" and v.ty.base == REAL.base}
    if not declared:
        return
    at_events = {name for when in survey.whens_at_events() for name in assigned_in(when)}
    suspect = declared - at_events - survey.clocked
    for part in survey.flat.equations:
        if not isinstance(part, Equality) or not isinstance(part.left, Ref) or part.left.name not in suspect:
            continue
        other = variables.get(part.right.name) if isinstance(part.right, Ref) else None
        if other is None or (other.variability == "continuous" and other.name not in at_events):
            text = f"the discrete variable `{part.left.name}` is set outside of a when"
            yield Diagnostic("S325", text, _place(part.origin))


# ------------------------------------------------------------------------------------------------------------ operators


def _operators(survey: Survey) -> Iterator[Diagnostic]:
    """S327: arguments that must be parameters.  S328: Reals compared for equality.  S329: outside of a domain."""
    for node, part, _ in survey.uses:
        if isinstance(node, Builtin) and node.name in ("sample", "delay", "smooth"):
            yield from _parameters_needed(node, survey.flat, part.origin)
        elif isinstance(node, Builtin) and node.name in _DOMAINS:
            yield from _outside_domain(node, part.origin)
        elif isinstance(node, Binary) and node.left.ty.base == REAL.base:
            yield from _equal_reals(node, survey.flat, part.origin)


def _impure_calls(survey: Survey) -> Iterator[Diagnostic]:
    """S339: an impure function is called in a when, at the start or in another impure one (MLS 12.3); a warning."""
    impure = {f.id for f in survey.flat.functions.values() if not f.pure}
    for node, part, outside in survey.uses if impure else ():
        if outside and isinstance(node, Call) and node.function in impure:
            text = f"the impure function `{node.function}` is called outside of a when"
            yield Diagnostic("S339", text, _place(part.origin), severity=Severity.WARNING)


def _parameters_needed(node: Builtin, flat: Flat, origin: Origin) -> Iterator[Diagnostic]:
    """MLS 3.7: both of sample; the order of smooth; the time of `delay(u, T)`, the maximum of `delay(u, T, Tmax)`."""
    fixed = {"sample": node.args, "delay": node.args[-1:], "smooth": node.args[:1]}[node.name]
    if node.name == "delay" and len(node.args) == 3 and all(isinstance(a, Real | Int) for a in node.args[1:]):
        time, most = (float(a.value) for a in node.args[1:] if isinstance(a, Real | Int))
        if time > most:
            yield Diagnostic("S327", f"the delay {time:g} is longer than its maximum {most:g}", _place(origin))
    for argument in fixed:
        for ref in traverse.refs(argument):
            variable = flat.variables.get(ref.name)
            if ref is TIME or (variable is not None and variable.variability not in (PARAMETER, CONSTANT)):
                text = f"`{node.name}` needs parameters here, but `{ref.name}` varies"
                yield Diagnostic("S327", text, _place(origin))
                return


def _outside_domain(node: Builtin, origin: Origin) -> Iterator[Diagnostic]:
    """MLS 3.7.3: a number for which the function has no value."""
    argument = node.args[0]
    value = argument.operand if isinstance(argument, Unary) and argument.op == "-" else argument
    if not isinstance(value, Real | Int):
        return
    number = float(value.value) if value is argument else -float(value.value)
    low, high = _DOMAINS[node.name]
    if not low <= number <= high:
        yield Diagnostic("S329", f"`{node.name}` has no value for {number:g}", _place(origin))


def _equal_reals(node: Binary, flat: Flat, origin: Origin) -> Iterator[Diagnostic]:
    """MLS 3.5: rounding decides whether two Reals that vary are equal."""
    for ref in (*traverse.refs(node.left), *traverse.refs(node.right)):
        variable = flat.variables.get(ref.name)
        if ref is TIME or (variable is not None and variable.variability == "continuous"):
            text = f"`{node.op}` compares Reals, and `{ref.name}` varies continuously: rounding decides"
            yield Diagnostic("S328", text, _place(origin), severity=Severity.WARNING)
            return


def _place(origin: Origin) -> Span | None:
    return origin.spans[0] if origin.spans else None
