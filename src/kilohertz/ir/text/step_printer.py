"""The Step form as text."""

from __future__ import annotations

from kilohertz.ir.dae import show
from kilohertz.ir.expr import Ref
from kilohertz.ir.flat import Assert, CallEquation, Terminate
from kilohertz.ir.step import (
    HELPERS,
    Action,
    Assignment,
    Block,
    CallBlock,
    Kind,
    LinearLoop,
    MixedLoop,
    NonlinearLoop,
    SetState,
    Step,
    WhenBlock,
    lists,
)


def print_step(step: Step, *, helpers: bool = False) -> str:
    """A short text of the whole form, for people and golden tests; `helpers`: with its derivatives and inlined form."""
    lines = [f"step {step.name}"]
    for kind in Kind:
        if kind in HELPERS and not helpers:
            continue
        names = [v.name for v in step.of_kind(kind)]
        if names:
            lines.append(f"  {kind.value}: {', '.join(names)}")
    for title, blocks in lists(step):
        if blocks and (helpers or title not in ("directional", "inlined")):
            lines.append(f"{title}:")
            lines += [line for i, b in enumerate(blocks, 1) for line in print_block(b, str(i), "  ")]
    for c in step.crossings:
        lines.append(f"crossing r{c.index}: {show(c.relation)}  by {show(c.function)}")
    lines += [f"time event at {show(t.at)}" for t in step.time_events]
    lines += [f"sample {s.index}: start {show(s.start)} every {show(s.interval)}" for s in step.samples]
    lines += [f"delay {d.index}: {d.source.name} up to {show(d.maximum)}" for d in step.delays]
    for t in step.transports:
        lines.append(f"transport {t.index}: {', '.join(x.name for x in t.sources)}")
    for name, alias in step.aliases.items():
        if alias.target is None:
            lines.append(f"alias {name} = {show(alias.value) if alias.value is not None else '?'}")
        else:
            lines.append(f"alias {name} = {'-' if alias.sign < 0 else ''}{alias.target}")
    lines += [f"note {n}" for n in step.notes]
    return "\n".join(lines) + "\n"


def print_block(block: Block, number: str, indent: str) -> list[str]:
    """One block: a line for an assignment, a head and indented lines for a loop."""
    head = f"{indent}{number} {block.partition.value}"
    deeper = indent + "    "
    match block:
        case Assignment():
            return [f"{head}: {block.target.name} := {show(block.value)}"]
        case LinearLoop():
            lines = [f"{head}, linear ({block.matrix_partition.value}) in {_names(block.unknowns)}:"]
            lines += [f"{deeper}A[{e.row + 1},{e.column + 1}] = {show(e.value)}" for e in block.matrix]
            lines += [f"{deeper}b[{i}] = {show(e)}" for i, e in enumerate(block.rhs, 1)]
            return lines + [line for b in block.inner for line in print_block(b, "then", deeper)]
        case NonlinearLoop():
            lines = [f"{head}, nonlinear in {_names(block.unknowns)}:"]
            lines += [line for b in block.inner for line in print_block(b, "inner", deeper)]
            lines += [f"{deeper}residual {show(e)}" for e in block.residuals]
            if block.jacobian is None:
                return [*lines, f"{deeper}J by differences"]
            lines += [line for b in block.rates for line in print_block(b, "rate", deeper)]
            return lines + [f"{deeper}J[{e.row + 1},{e.column + 1}] = {show(e.value)}" for e in block.jacobian]
        case MixedLoop():
            lines = [f"{head}, mixed:"]
            lines += [x for i, b in enumerate(block.continuous, 1) for x in print_block(b, f"c{i}", deeper)]
            return lines + [x for i, b in enumerate(block.discrete, 1) for x in print_block(b, f"d{i}", deeper)]
        case CallBlock():
            outputs = ", ".join("(" + ", ".join("" if t is None else t.name for t in o) + ")" for o in block.targets)
            guard = f" when {show(block.guard)}" if block.guard is not None else ""
            return [f"{head}: ({outputs}) := {show(block.call)}{guard}"]
        case WhenBlock():
            return [f"{head}: when {show(block.guard)}", *(f"{deeper}{_action(a)}" for a in block.actions)]


def _action(action: Action) -> str:
    match action:
        case SetState():
            return f"reinit({action.target.name}, {show(action.value)})"
        case Assert():
            return f"assert({show(action.condition)}, {show(action.message)})"
        case Terminate():
            return f"terminate({show(action.message)})"
        case CallEquation():
            return show(action.call)


def _names(refs: tuple[Ref, ...]) -> str:
    return ", ".join(r.name for r in refs)
