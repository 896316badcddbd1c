"""Step as text: variables by storage area, lists of blocks, events; `step_reader` reads it back except origins, costs.

step Name
  p: k(start = 2.0, tunable = true);             der(x) of a state and pre(v) of a discrete variable are implied
  x: x(start = 1.0);
blocks
  1 step: y := k*x;
  2 step, linear (event) in a, b:                a loop ends with `end;`
      A[1,1] = 2.0; ...  b[1] = u; ...
      then step: c := a + b;
  end;
end Name;
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kilohertz.ir import step as s
from kilohertz.ir.expr import Expr, Ref
from kilohertz.ir.flat import Assert, CallEquation, Terminate
from kilohertz.ir.text.dae_printer import (
    assert_text,
    attribute_text,
    described,
    flag,
    optional,
    outputs_text,
    purpose,
    timed_texts,
    transport_text,
)
from kilohertz.ir.text.expr_printer import print_shared, print_type, quoted
from kilohertz.ir.text.flat_printer import print_declarations, print_experiment
from kilohertz.ir.types import BOOLEAN, INTEGER, REAL, STRING, Type

WIDTH = 110  # of a line of variables
USUAL_TYPES: dict[s.Kind, Type] = {  # others stand before the name
    **dict.fromkeys((s.Kind.INT_PARAMETER, s.Kind.INT_INPUT, s.Kind.INT_DISCRETE), INTEGER),
    **dict.fromkeys((s.Kind.STRING_PARAMETER, s.Kind.STRING_DISCRETE), STRING),
    s.Kind.RELATION: BOOLEAN,
}


def print_step(step: s.Step, *, helpers: bool = True) -> str:
    """The whole form; without `helpers` its derivatives and inlined stage are left out."""
    lines = [f"step {step.name}{described(step.description)}"]
    lines += print_declarations(step.functions, (v.ty for v in step.variables.values()), _roots(step))
    for kind in s.Kind:
        if kind not in s.TWINS.values() and (helpers or kind not in s.HELPERS):
            lines += _wrapped(kind, step.of_kind(kind))
    for title, blocks in s.lists(step):
        if blocks and (helpers or title not in ("directional", "time_slope", "inlined")):
            lines += [title, *(line for i, b in enumerate(blocks, 1) for line in print_block(b, str(i), "  "))]
    events = list(_events(step))
    lines += ["event", *(f"  {text};" for text in events)] if events else []
    lines += [f"alias {name}{_alias(a)};" for name, a in step.aliases.items()]
    lines += [f"algebraic {_names(step.algebraic)};"] if step.algebraic else []
    lines += [f"sum {_names((one.seed, *one.terms))};" for one in step.sums if helpers]
    if step.state_sparsity:
        rows = ", ".join("(" + ", ".join(str(i + 1) for i in row) + ")" for row in step.state_sparsity)
        lines.append(f"pattern {rows};")
    lines += [f"without derivative {quoted(step.no_directional)};"] if step.no_directional else []
    lines += [f"note {quoted(n)};" for n in step.notes]
    experiment = print_experiment(step.experiment)
    lines += [f"annotation({experiment});"] if experiment else []
    return "\n".join([*lines, f"end {step.name};"]) + "\n"


def _roots(step: s.Step) -> Iterable[Expr]:
    """Expressions in which a type may occur that no variable has."""
    yield from (e for _, blocks in s.lists(step) for b in blocks for e in s.expressions(b))
    yield from (x for a in step.aliases.values() for x in (a.value, a.min, a.max) if x is not None)
    yield from (v.start for v in step.variables.values() if v.start is not None)
    yield from (x for a in step.asserts for x in (a.condition, a.message))


# ------------------------------------------------------------------------------------------------------------ variables


def _wrapped(kind: s.Kind, variables: Sequence[s.StepVariable]) -> list[str]:
    """One area, as many variables in a line as fit."""
    lines: list[str] = []
    current = f"  {kind.value}:"
    for i, v in enumerate(variables, 1):
        text = f" {_variable(v)}{';' if i == len(variables) else ','}"
        if len(current) + len(text) > WIDTH and not current.endswith(":"):
            lines.append(current)
            current = "    "
        current += text
    return [*lines, current] if variables else []


def _variable(v: s.StepVariable) -> str:
    usual = USUAL_TYPES.get(v.slot.kind, REAL)
    attributes = attribute_text(
        [
            ("start", optional(v.start)),
            ("fixed", flag(v.fixed)),
            ("nominal", optional(v.nominal)),
            ("min", optional(v.min)),
            ("max", optional(v.max)),
            ("unit", quoted(v.unit) if v.unit else ""),
            ("displayUnit", quoted(v.display_unit) if v.display_unit else ""),
            ("causality", v.causality),
            ("protected", flag(v.protected)),
            ("tunable", flag(v.tunable)),
            ("purpose", purpose(v.purpose)),
        ]
    )
    ty = "" if v.ty == usual else f"{print_type(v.ty)} "
    return f"{ty}{v.name}{attributes}{described(v.description)}"


def _alias(a: s.Alias) -> str:
    value = f"{'-' if a.sign < 0 else ''}{a.target}" if a.target is not None else optional(a.value)
    unit = quoted(a.unit) if a.unit else ""
    limits = [("min", optional(a.min)), ("max", optional(a.max))]
    attributes = attribute_text([*limits, ("unit", unit), ("causality", a.causality), ("purpose", purpose(a.purpose))])
    return f"{attributes}{described(a.description)} is {value}"


# --------------------------------------------------------------------------------------------------------------- blocks


def print_block(block: s.Block, number: str, indent: str) -> list[str]:
    """One block: a line for an assignment, a head and indented lines for a loop."""
    head = f"{indent}{number} {block.partition.value}"
    deeper = indent + "    "
    match block:
        case s.Assignment():
            return [f"{head}: {block.target.name} := {print_shared(block.value)};"]
        case s.LinearLoop():
            return [*_linear(block, head, deeper), f"{indent}end;"]
        case s.NonlinearLoop():
            return [*_nonlinear(block, head, deeper), f"{indent}end;"]
        case s.MixedLoop():
            lines = [f"{head}, mixed:"]
            lines += [x for b in block.continuous for x in print_block(b, "continuous", deeper)]
            lines += [x for b in block.discrete for x in print_block(b, "discrete", deeper)]
            return [*lines, f"{indent}end;"]
        case s.CallBlock():
            guard = f" when {print_shared(block.guard)}" if block.guard is not None else ""
            return [f"{head}, call: {outputs_text(block.targets)} := {print_shared(block.call)}{guard};"]
        case s.WhenBlock():
            actions = (f"{deeper}{_action(a)};" for a in block.actions)
            return [f"{head}, when {print_shared(block.guard)} then", *actions, f"{indent}end;"]


def _linear(b: s.LinearLoop, head: str, deeper: str) -> list[str]:
    again = f" again {_names(b.again)}" if b.again else ""
    apart = (f" apart {b.n_apart}" if b.n_apart else "") + (" symmetric" if b.symmetric else "")
    apart += f" along {', '.join(f'[{i + 1},{j + 1}]' for i, j in b.pivots)}" if b.pivots else ""
    lines = [f"{head}, linear ({b.matrix_partition.value}) in {_names(b.unknowns)}{again}{apart}:"]
    lines += [f"{deeper}A[{e.row + 1},{e.column + 1}] = {print_shared(e.value)};" for e in b.matrix]
    lines += [f"{deeper}b[{i}] = {print_shared(e)};" for i, e in enumerate(b.rhs, 1)]
    lines += [line for x in b.inner for line in print_block(x, "then", deeper)]
    lines += [line for x in b.through for line in print_block(x, "through", deeper)]
    return lines + [f"{deeper}residual {print_shared(e)};" for e in b.residuals]


def _nonlinear(b: s.NonlinearLoop, head: str, deeper: str) -> list[str]:
    lines = [f"{head}, nonlinear in {_names(b.unknowns)}:"]
    lines += [line for x in b.inner for line in print_block(x, "inner", deeper)]
    lines += [f"{deeper}residual {print_shared(e)};" for e in b.residuals]
    lines += [line for x in b.rates for line in print_block(x, "rate", deeper)]
    lines += [f"{deeper}J[{e.row + 1},{e.column + 1}] = {print_shared(e.value)};" for e in b.jacobian or ()]
    places = () if b.jacobian is None else tuple((e.row, e.column) for e in b.jacobian)
    if b.jacobian is None or places != b.sparsity:
        how = "differences" if b.jacobian is None else "within"
        lines.append(f"{deeper}{how} {', '.join(f'[{i + 1},{j + 1}]' for i, j in b.sparsity)};")
    return lines


def _action(action: s.Action) -> str:
    match action:
        case s.SetState():
            return f"reinit({action.target.name}, {print_shared(action.value)})"
        case Assert():
            return assert_text(action)
        case Terminate():
            return f"terminate({print_shared(action.message)})"
        case CallEquation():
            return print_shared(action.call)


def _names(refs: Iterable[Ref]) -> str:
    return ", ".join(r.name for r in refs)


def _events(step: s.Step) -> Iterable[str]:
    for c in step.crossings:
        yield f"crossing {c.index}: {print_shared(c.relation)} by {print_shared(c.function)}{' passing' * c.passing}"
    yield from timed_texts(step.time_events, step.samples, step.delays)
    yield from map(transport_text, step.transports)
    yield from map(assert_text, step.asserts)
    yield from (f"initially {assert_text(a)}" for a in step.initial_asserts)
