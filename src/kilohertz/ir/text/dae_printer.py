"""Dae as text: declarations by role, equations, events; `dae_reader` reads all of it back except the origins.

dae Name
  state Real x(start = 1.0, fixed = true);
equation
  der(x) = -x + y;                        may be solved for any unknown
  b := $r0;                               computes b and nothing else
  call (a, b), (n, _) := f(x) when g;      outputs of a call, scalar by scalar
event
  when g then reinit(x, 0.0); end when;
  crossing 0: x > 1.0;
end Name;
"""

from __future__ import annotations

from collections.abc import Iterable

from kilohertz.ir.dae import (
    AliasOf,
    AnyEquation,
    CallEquation,
    Dae,
    DaeVariable,
    Delay,
    Effect,
    Equation,
    Reinit,
    Role,
    Sample,
    Select,
    TimeEvent,
    Transport,
    roots,
)
from kilohertz.ir.expr import Expr, IfExp
from kilohertz.ir.flat import Assert, Purpose
from kilohertz.ir.text.expr_printer import print_shared, print_type, quoted
from kilohertz.ir.text.flat_printer import print_declarations, print_experiment
from kilohertz.ir.types import Type


def print_dae(dae: Dae) -> str:
    """The whole form."""
    lines = [f"dae {dae.name}{described(dae.description)}"]
    lines += print_declarations(dae.functions, _types(dae), _roots(dae))
    lines += [f"  {_variable(v)};" for v in dae.variables.values()]
    for title, equations in (("initial equation", dae.initial_equations), ("equation", dae.equations)):
        if equations:
            lines += [title, *(f"  {equation_text(e)};" for e in equations)]
    events = list(_events(dae))
    if events:
        lines += ["event", *(f"  {text};" for text in events)]
    lines += [f"alias {_variable(a.variable)} is {_alias(a)};" for a in dae.aliases.values()]
    for s in dae.selections:
        lines.append(f"selection {', '.join(s.states)} of {', '.join(s.candidates)};")
    lines += [f"preferred {', '.join(dae.preferred)};"] if dae.preferred else []
    lines += [f"note {quoted(n)};" for n in dae.notes]
    experiment = print_experiment(dae.experiment)
    lines += [f"annotation({experiment});"] if experiment else []
    return "\n".join([*lines, f"end {dae.name};"]) + "\n"


def described(text: str) -> str:
    """A description behind a declaration."""
    return f" {quoted(text)}" if text else ""


def attribute_text(attributes: Iterable[tuple[str, str]]) -> str:
    """`(name = value, ...)`, nothing where none is given."""
    shown = ", ".join(f"{name} = {value}" for name, value in attributes if value)
    return f"({shown})" if shown else ""


def purpose(of: Purpose) -> str:
    """Why there is a variable; nothing where it is declared."""
    return "" if of is Purpose.DECLARED else of.value


def optional(e: Expr | None) -> str:
    """An expression that may be absent."""
    return "" if e is None else print_shared(e)


def flag(value: bool) -> str:
    """`true`, or nothing."""
    return "true" if value else ""


def _variable(v: DaeVariable) -> str:
    words = ["protected"] if v.protected else []
    words += ["final"] if v.final else []
    words += [v.role.value]
    words += [v.causality] if v.causality and v.role is not Role.INPUT else []
    usual = v.role in (Role.PARAMETER, Role.CONSTANT)
    attributes = attribute_text(
        [
            ("start", optional(v.start)),
            ("fixed", "" if v.fixed == usual else str(v.fixed).lower()),
            ("nominal", optional(v.nominal)),
            ("min", optional(v.min)),
            ("max", optional(v.max)),
            ("stateSelect", "" if v.select is Select.DEFAULT else v.select.name.lower()),
            ("unit", quoted(v.unit) if v.unit else ""),
            ("displayUnit", quoted(v.display_unit) if v.display_unit else ""),
            ("typical", flag(v.typical_start)),
            ("purpose", purpose(v.purpose)),
        ]
    )
    binding = "" if v.binding is None else f" = {print_shared(v.binding)}"
    return " ".join([*words, print_type(v.ty), f"{v.name}{attributes}{binding}{described(v.description)}"])


def equation_text(e: AnyEquation) -> str:
    """One equation."""
    match e:
        case Equation():
            left = f"({print_shared(e.left)})" if isinstance(e.left, IfExp) else print_shared(e.left)
            return f"{left} {':=' if e.directed else '='} {print_shared(e.right)}"
        case CallEquation():
            guard = "" if e.guard is None else f" when {print_shared(e.guard)}"
            return f"call {outputs_text(e.targets)} := {print_shared(e.call)}{guard}"


def outputs_text(targets: Iterable[Iterable[Expr | None]]) -> str:
    """Outputs of a call, the scalars of each in brackets, `_` for one that is dropped."""
    return ", ".join("(" + ", ".join("_" if t is None else print_shared(t) for t in output) + ")" for output in targets)


def assert_text(a: Assert) -> str:
    """An assertion as a call."""
    level = "" if a.level is None else f", {print_shared(a.level)}"
    return f"assert({print_shared(a.condition)}, {print_shared(a.message)}{level})"


def transport_text(t: Transport) -> str:
    """A transport line with its sources and its profile at the start."""
    sources, points, values = (", ".join(map(print_shared, x)) for x in (t.sources, t.points, t.values))
    return f"transport {t.index}: ({sources}), ({points}), ({values})"


def _action(a: Reinit | Effect) -> str:
    if isinstance(a, Reinit):
        return f"reinit({print_shared(a.target)}, {print_shared(a.value)});"
    args = ", ".join(map(print_shared, a.args))
    return f"{args};" if a.kind == "call" else f"{a.kind}({args});"


def _events(dae: Dae) -> Iterable[str]:
    for w in dae.whens:
        yield f"when {print_shared(w.guard)} then {' '.join(map(_action, w.actions))} end when"
    yield from (f"crossing {c.index}: {print_shared(c.relation)}{' passing' * c.passing}" for c in dae.crossings)
    yield from timed_texts(dae.time_events, dae.samples, dae.delays)
    yield from map(transport_text, dae.transports)
    yield from map(assert_text, dae.asserts)


def timed_texts(events: Iterable[TimeEvent], samples: Iterable[Sample], delays: Iterable[Delay]) -> Iterable[str]:
    """What happens by time, and lines that remember."""
    yield from (f"time event at {print_shared(t.at)}" for t in events)
    yield from (f"sample {s.index}: {print_shared(s.start)}, {print_shared(s.interval)}" for s in samples)
    for d in delays:
        past = "" if d.past is None else f", {print_shared(d.past)}"
        yield f"delay {d.index}: {print_shared(d.source)}, {print_shared(d.maximum)}{past}"


def _alias(a: AliasOf) -> str:
    return print_shared(a.value) if a.value is not None else f"{'-' if a.sign < 0 else ''}{a.target}"


def _types(dae: Dae) -> Iterable[Type]:
    yield from (v.ty for v in dae.variables.values())
    yield from (a.variable.ty for a in dae.aliases.values())


def _roots(dae: Dae) -> Iterable[Expr]:
    """Expressions in which a type may occur that no variable has."""
    yield from (x for e in (*dae.equations, *dae.initial_equations) for x in roots(e))
    for v in (*dae.variables.values(), *(a.variable for a in dae.aliases.values())):
        yield from (x for x in (v.binding, v.start) if x is not None)
    yield from (a.value for a in dae.aliases.values() if a.value is not None)
    yield from (x for a in dae.asserts for x in (a.condition, a.message))
