"""Failed runs as diagnostics: what happened, where in the model, when, and the values around it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kilohertz.base import Diagnostic, ModelError, Note, Origin, Span
from kilohertz.ir import step as s
from kilohertz.ir.expr import Expr, Ref
from kilohertz.ir.flat import Purpose
from kilohertz.results import Result
from kilohertz.runtime import constant
from kilohertz.simulate.program import Instance

if TYPE_CHECKING:
    from kilohertz.codegen import BlockInfo

GAVE_UP = constant("KHZ_RUN_SOLVER_FAILED")
_STANDS_STILL = constant("KHZ_RUN_STANDS_STILL")
CODES = {
    constant("KHZ_SINGULAR"): ("R711", "an equation system has no solution"),
    constant("KHZ_NO_CONVERGENCE"): ("R712", "a nonlinear equation system could not be solved"),
    constant("KHZ_NOT_FINITE"): ("R713", "a value is not a number"),
    constant("KHZ_ASSERTION"): ("R714", "assertion failed"),
    constant("KHZ_EVENT_CAP"): ("R715", "the event iteration does not come to an end"),
    constant("KHZ_OUT_OF_MEMORY"): ("R716", "out of room inside a function"),
    constant("KHZ_BAD_INDEX"): ("R717", "an array subscript is out of bounds"),
    constant("KHZ_DOMAIN"): ("R717", "a function was called outside its domain"),
    GAVE_UP: ("R718", "the solver gave up"),
    _STANDS_STILL: ("R752", "the solution stays at a jump of derivatives without an event: steps come to no end"),
    constant("KHZ_RUN_CHATTERS"): ("R715", "events follow each other without time going on (chattering)"),
}
SOLVER = {  # what CVODE and IDA return
    -3: "the error test failed again and again, or the step became too small",
    -4: "the corrector did not converge, or the step became too small",
    -8: "the right-hand side failed",
    -9: "the right-hand side failed at the first call",
    -10: "the right-hand side failed again and again",
    -11: "the right-hand side failed and the solver cannot step back",
    -12: "a crossing function failed",
}
_MOST_VALUES = 12
_UNSOLVED = (constant("KHZ_SINGULAR"), constant("KHZ_NO_CONVERGENCE"))
_NOT_FINITE = constant("KHZ_NOT_FINITE")
_BY_DIGITS = ("R711", "R712", "R713", "R717")  # what doubles may have a way out of
_EVENT_CAP = constant("KHZ_EVENT_CAP")
_NOTED = tuple(
    constant(f"KHZ_{n}") for n in ("ASSERTION", "OUT_OF_MEMORY", "BAD_INDEX", "DOMAIN")
)  # of functions, asserts


class RunFailed(ModelError):
    """A run that did not come to its end; `partial` is what was recorded until then."""

    def __init__(self, diagnostic: Diagnostic, partial: Result) -> None:
        super().__init__(diagnostic)
        self.partial = partial


class RunInterrupted(KeyboardInterrupt):
    """Ctrl-C; `partial` is what was recorded until then."""

    def __init__(self, partial: Result) -> None:
        super().__init__("the run was interrupted")
        self.partial = partial


def failure(instance: Instance, status: int, when: str, solver_code: int = 0) -> Diagnostic:
    """The diagnostic for a run that ended with `status`."""
    c = instance.context
    inner = int(c.status)
    code, what = CODES.get(inner if status == GAVE_UP and inner in CODES else status, ("R718", f"status {status}"))
    text = bytes(c.message).split(b"\0")[0].decode("utf-8", "replace")
    notes = [Note(SOLVER.get(solver_code, f"solver code {solver_code}"))] if status == GAVE_UP else []
    block = _failed_block(instance, inner if status == GAVE_UP else status)
    span, component = _place(instance, block)
    if status == _STANDS_STILL:
        span, notes = _at_a_jump(instance, solver_code)
    if block is not None:
        notes += _values(instance, block)
    elif code == "R714":
        notes += _asserted(instance, span)
    if status == _EVENT_CAP and (name := _restless(instance)):
        notes.insert(0, Note(f"`{name}` changes in every pass"))
    if code in _BY_DIGITS and not instance.program.built.number.is_double:
        notes.append(Note("it is computed in singles, with 7 digits: a finer tolerance is out of reach"))
    where = f" in {component}" if component else ""
    detail = f": {text}" if text and text != what and inner != 0 else ""
    return Diagnostic(code, f"{when}, time = {c.time:g}: {what}{where}{detail}", span, notes=tuple(notes))


def _at_a_jump(instance: Instance, at: int) -> tuple[Span | None, list[Note]]:
    """The state that derivatives on both sides of a jump lead back to."""
    state = instance.program.step.of_kind(s.Kind.STATE)[at]
    spans = state.origin.spans
    return (spans[0] if spans else None), [
        Note(f"`der({state.name})` changes most from step to step, {state.name} is {float(instance.read(state)):g}"),
        Note("`noEvent`, `sign`, `abs` and comparisons in functions make no events: a condition in an equation does"),
    ]


def _failed_block(instance: Instance, status: int) -> BlockInfo | None:
    blocks = instance.program.code.blocks
    if status in _UNSOLVED and 1 <= instance.context.failed_block <= len(blocks):
        return blocks[int(instance.context.failed_block) - 1]
    if status in (_NOT_FINITE, GAVE_UP):
        return _first_not_finite(instance)
    if status == _EVENT_CAP:
        name = _restless(instance)
        return next((b for b in blocks if b.phase == "block" and name in b.unknowns), None)
    return _noted_block(instance) if status in _NOTED else None


def _restless(instance: Instance) -> str:
    """The variable that the last pass of an event changed."""
    step, at = instance.program.step, int(instance.context.restless)
    order = [v.name for kind in s.EVENT_ORDER for v in step.of_kind(kind)]
    return order[at] if 0 <= at < len(order) else ""


def _noted_block(instance: Instance) -> BlockInfo | None:
    """The block whose function, algorithm or assertion failed, unless the place of the failure is another one."""
    blocks, places = instance.program.code.blocks, instance.program.code.places
    number, place = int(instance.context.failed_block), int(instance.context.place)
    if not 1 <= number <= len(blocks):
        return None
    block = blocks[number - 1]
    return block if not 0 <= place < len(places) or places[place] == block.origin else None


def _first_not_finite(instance: Instance) -> BlockInfo | None:
    """The first block in order of computation that gave NaN or infinity."""
    variables = instance.program.step.variables
    for info in instance.program.code.blocks:
        if info.phase != "block" or isinstance(info.block, s.MixedLoop):
            continue
        for name in info.unknowns:
            value = instance.read(variables[name])
            if isinstance(value, float) and not math.isfinite(value):
                return info
    return None


def _place(instance: Instance, block: BlockInfo | None) -> tuple[Span | None, str]:
    places = instance.program.code.places
    origin: Origin | None = None
    if block is not None:
        origin = block.origin
    elif 0 <= instance.context.place < len(places):
        origin = places[instance.context.place]
    if origin is None:
        return None, ""
    return (origin.spans[0] if origin.spans else None), f"component `{origin.path}`" if origin.path else ""


def _values(instance: Instance, info: BlockInfo) -> list[Note]:
    """The unknowns and what the block reads, with their present values: what the model names, not what passes added."""
    variables = {n: v for n, v in instance.program.step.variables.items() if _is_told(v)}
    unknowns = [n for n in info.unknowns if n in variables][:_MOST_VALUES]
    reads = [n for n in _reads(info.block) if n in variables and n not in info.unknowns][:_MOST_VALUES]
    notes = []
    if unknowns:
        notes.append(Note("solves for " + ", ".join(f"{n} = {_show(instance.read(variables[n]))}" for n in unknowns)))
    if reads:
        notes.append(Note("with " + ", ".join(f"{n} = {_show(instance.read(variables[n]))}" for n in reads)))
    return notes


def _asserted(instance: Instance, span: Span | None) -> list[Note]:
    """What the condition of an equation's assertion reads, with its present values."""
    step = instance.program.step
    failed = [a for a in (*step.asserts, *step.initial_asserts) if span is not None and span in a.origin.spans]
    relations = {v.name: v.slot.index for v in step.variables.values() if v.slot.kind is s.Kind.RELATION}
    crossings = {c.index: c.relation for c in step.crossings}
    names: dict[str, None] = {}
    for name in _named_in([a.condition for a in failed[:1]]):
        relation = crossings.get(relations[name]) if name in relations else None
        names |= dict.fromkeys([name] if relation is None else _named_in([relation]))
    told = [step.variables[n] for n in names if n in step.variables and _is_told(step.variables[n])]
    values = ", ".join(f"{v.name} = {_show(instance.read(v))}" for v in told[:_MOST_VALUES])
    return [Note(f"with {values}")] if values else []


def _is_told(variable: s.StepVariable) -> bool:
    return variable.purpose is Purpose.DECLARED and variable.slot.kind not in (s.Kind.OBJECT, s.Kind.RELATION)


def _show(value: float | str) -> str:
    return f"{value:.6g}" if isinstance(value, (float, int)) else f'"{value}"'


def _reads(block: s.Block) -> list[str]:
    return _named_in(list(s.expressions(block)))


def _named_in(stack: list[Expr]) -> list[str]:
    seen: set[int] = set()
    out: dict[str, None] = {}
    while stack:
        e = stack.pop()
        if id(e) not in seen:
            seen.add(id(e))
            if isinstance(e, Ref):
                out[e.name] = None
            stack.extend(e.children())
    return list(out)
