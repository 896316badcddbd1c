"""What a run had to cope with, as warnings with component and line."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kilohertz.base import Diagnostic, Note, Origin, Severity
from kilohertz.ir.flat import Purpose
from kilohertz.ir.step import (
    Block,
    Kind,
    MixedLoop,
    NonlinearLoop,
    SetState,
    Slot,
    Step,
    WhenBlock,
    mode_turns,
    targets,
)
from kilohertz.ir.text.expr_printer import print_expr
from kilohertz.runtime import constant
from kilohertz.simulate.program import Instance
from kilohertz.simulate.stepper import BlockCounts, Stepper
from kilohertz.solvers import StepSettings

if TYPE_CHECKING:
    from kilohertz.codegen import BlockInfo

_ERROR = constant("KHZ_SAID_ERROR")
_MOST = 5  # places named for each kind of fault
_LONGEST = 120  # characters of a condition that is shown


def faults(stepper: Stepper) -> list[Diagnostic]:
    """One warning for each place and kind of fault, the most frequent first; then totals without a place."""
    mixed = [*_cut(stepper), *unsettled(stepper.instance), *vague(stepper.instance)]
    begun = [*far(stepper.instance), *_loops(stepper)]
    return [*begun, *mixed, *_not_finite(stepper), *_chattering(stepper), *_missed(stepper), *_totals(stepper)]


def unsettled(instance: Instance) -> list[Diagnostic]:
    """A warning where events, with any solver, ended in a mode whose conditions contradict the solution."""
    c, blocks = instance.context, instance.program.code.blocks
    if not c.n_unsettled:
        return []
    events = "one event" if c.n_unsettled == 1 else f"{c.n_unsettled} events"
    text = f"conditions and the equations they choose contradict each other after {events}"
    known = 1 <= c.unsettled_first <= len(blocks)
    notes = [
        Note(f"first at time = {c.unsettled_time:g}; no mode agrees, the nearest one was taken"),
        Note("results after that may depend on this choice: have a look at the conditions of this component"),
    ]
    return [_warning("R734", text, blocks[c.unsettled_first - 1] if known else None, notes)]


def _cut(stepper: Stepper) -> list[Diagnostic]:
    """A warning where a search for a mode was ended by its cap."""
    c, blocks = stepper.instance.context, stepper.program.code.blocks
    if not c.n_cut:
        return []
    times = "once" if c.n_cut == 1 else f"{c.n_cut} times"
    cap = stepper.stepping.mode_cap or mode_turns(stepper.program.step)
    text = f"the search for a mode that agrees with its equations ended {times} at the cap of {cap} turns"
    notes = [
        Note(f"first at time = {c.cut_time:g}; the mode nearest to agreeing was taken"),
        Note("a larger `mode_cap` searches longer, and the bound of a step grows with it"),
    ]
    return [_warning("R749", text, blocks[c.cut_first - 1] if 1 <= c.cut_first <= len(blocks) else None, notes)]


def vague(instance: Instance) -> list[Diagnostic]:
    """A warning where a linear system had many solutions, with any solver."""
    c, blocks = instance.context, instance.program.code.blocks
    if not c.n_vague:
        return []
    info = blocks[c.vague_first - 1] if 1 <= c.vague_first <= len(blocks) else None
    named = _named(info.block, instance.program.step) if info is not None else "values"
    text = f"the equations do not determine {named}: of many solutions the smallest was taken {c.n_vague} times"
    notes = [Note(f"first at time = {c.vague_time:g}")]
    if info is not None:
        notes += [
            Note("one of these equations says nothing new" if k == 1 else "and this one", span)
            for k, span in enumerate(info.origin.spans[:_MOST], 1)
        ]
    return [_warning("R736", text, info, notes)]


def far(instance: Instance) -> list[Diagnostic]:
    """A warning where initial equations were solved far from start values that lead nowhere, with any solver."""
    c, blocks = instance.context, instance.program.code.blocks
    if not c.n_far:
        return []
    info = blocks[c.far_first - 1] if 1 <= c.far_first <= len(blocks) else None
    text = "start values lead to no solution of the initial equations; one was found from nominal values"
    named = "an unknown"
    if info is not None and isinstance(info.block, NonlinearLoop) and c.far_unknown < len(info.block.unknowns):
        named = f"`{info.block.unknowns[c.far_unknown].name}`"
    notes = [
        Note(f"{named} starts at {c.far_guess:g}, more than a million times its nominal value: is its unit right?"),
        Note("there may be other solutions: have a look at the values at the start"),
    ]
    return [_warning("R790", text, info, notes)]


def not_finite(instance: Instance, rows: int, number: int, place: int, time: float) -> list[Diagnostic]:
    """A warning where a run with step control recorded values that are no numbers, though the states were fine."""
    if not rows:
        return []
    blocks, step = instance.program.code.blocks, instance.program.step
    info = blocks[number - 1] if 1 <= number <= len(blocks) else None
    names = _names_at(step, place)
    blamed = _named(info.block, step) if info is not None else "a value"
    named = names[0] if names else blamed
    return [_warning("R727", f"{named} was not a number in {rows} rows", info, [Note(f"first at time = {time:g}")])]


def _names_at(step: Step, place: int) -> list[str]:
    """What the user calls a value: its place among the algebraic ones, or -1 less that among the rates."""
    slot = Slot(Kind.ALGEBRAIC, place) if place >= 0 else Slot(Kind.DERIVATIVE, -1 - place)
    found = [v for v in step.variables.values() if v.slot == slot]
    names = [v.name for v in found if v.purpose is Purpose.DECLARED]
    return names + [name for v in found for name, a in step.aliases.items() if a.target == v.name]


def branches(instance: Instance, rows: int, first: float, place: int, jump: tuple[float, float]) -> list[Diagnostic]:
    """A warning where a loop went to another of its solutions without an event."""
    if not rows:
        return []
    step, blocks = instance.program.step, instance.program.code.blocks
    names = _names_at(step, place)
    setting = [b for b in blocks if not {t.name for t in targets(b.block)}.isdisjoint(names)]
    loops = [b for b in setting if isinstance(b.block, NonlinearLoop | MixedLoop)]
    info = next(iter((*loops, *setting)), None)
    named = f"`{names[0]}` goes" if names else "a value goes"
    said = f"{named} from {jump[0]:g} to {jump[1]:g} without an event"
    text = f"{said}: equations have several solutions, and another one is taken"
    more = "" if rows == 1 else ", and in one more" if rows == 2 else f", and in {rows - 1} more"
    notes = [
        Note(f"in the row of time = {first:g}{more}; the solution so far ends there, or a step was too long"),
        Note("results behind it belong to the other solution; start values choose the one that a run begins with"),
    ]
    return [_warning("R753", text, info, notes)]


def leaps(times: int, first: float) -> list[Diagnostic]:
    """A warning where changes were over sooner than time can tell, and an implicit step went over them."""
    if not times:
        return []
    often = "once" if times == 1 else f"{times} times"
    text = f"{often} the model changed faster than time can tell; one implicit step went over each change"
    stiff = "at a stop that is too stiff or damped what it led to holds, not the way there"
    pole = "where a derivative grows without bound (1/0) there is no solution behind it, and what follows does not hold"
    return [_placed("R798", text, None, [Note(f"first at time = {first:g}"), Note(stiff), Note(pole)])]


def held(step: Step, times: int, first: float, relation: int) -> list[Diagnostic]:
    """A warning where rounding errors decided a condition in every pass of an event, and it was held."""
    if not times:
        return []
    crossing = next((c for c in step.crossings if c.index == relation), None)
    events = "one event" if times == 1 else f"{times} events"
    text = f"rounding errors alone changed a condition in every pass of {events}: it was held for the event"
    said = print_expr(crossing.relation) if crossing is not None else ""
    what = f"; the condition is `{said}`" if 0 < len(said) <= _LONGEST else ""
    notes = [
        Note(f"first at time = {first:g}{what}"),
        Note("each event was made anew with it held, so that `when` acts once; calls that act outside were made again"),
    ]
    return [_placed("R799", text, crossing.origin if crossing is not None else None, notes)]


def restless(step: Step, times: int, first: float, relation: int) -> list[Diagnostic]:
    """A warning where a condition would have had an event for every motion, however small."""
    if not times:
        return []
    crossing = next((c for c in step.crossings if c.index == relation), None)
    said = print_expr(crossing.relation) if crossing is not None else ""
    what = f"; the condition is `{said}`" if 0 < len(said) <= _LONGEST else ""
    text = "a condition changes again and again beside zero (chattering): there, it changes late from a time on"
    notes = [
        Note(f"from time = {first:g} on, by a thousandth of its largest value at most{what}"),
        Note("an event that brings its own condition back to zero has no end: an equation may say what is meant"),
    ]
    return [_placed("R728", text, crossing.origin if crossing is not None else None, notes)]


def not_finite_throughout(instance: Instance) -> list[Diagnostic]:
    """A warning for each variable that is a parameter's value all the time and no number: no block computes it."""
    program, step = instance.program, instance.program.step
    values = program.number.ctype * program.code.counts[Kind.PARAMETER]
    if np.isfinite(values.from_address(instance.address + program.offsets[Kind.PARAMETER])).all():
        return []
    parameters = {v.name: v for v in step.variables.values() if v.slot.kind is Kind.PARAMETER}
    odd = {name for name, v in parameters.items() if not math.isfinite(float(instance.read(v)))}
    named = [(name, a) for name, a in step.aliases.items() if a.target in odd] if odd else []
    return [
        _placed("R727", f"{name} is not a number", a.origin, [Note(f"it is the value of the parameter `{a.target}`")])
        for name, a in named[:_MOST]
    ]


def _loops(stepper: Stepper) -> list[Diagnostic]:
    blocks, counts = stepper.program.code.blocks, stepper.blocks
    table = np.frombuffer(memoryview(counts).cast("B"), np.dtype(BlockCounts))
    out = []
    for field, code, what in (
        ("newton_caps", "R724", "a loop reached its cap of {cap} Newton iterations {n} times"),
        ("pivots", "R725", "a linear system had no solution {n} times"),
        ("failures", "R726", "a function or an equation failed {n} times"),
        ("not_finite", "R727", "{what} was not a number {n} times"),
        (
            "event_caps",
            "R730",
            "event iterations reached their cap of {passes} {n} times, {what} still changing",
        ),
    ):
        counted = [(int(table[field][i]), int(i)) for i in np.flatnonzero(table[field])]
        for n, i in sorted(counted, key=lambda f: (-f[0], f[1]))[:_MOST]:
            if field == "newton_caps" and i < len(blocks) and isinstance(blocks[i].block, MixedLoop):
                continue  # see `unsettled` and `_cut`
            how = stepper.stepping
            named = _named(blocks[i].block, stepper.program.step) if i < len(blocks) else "a value"
            text = what.format(n=n, cap=how.loop_newton, passes=_passes(stepper), what=named)
            notes = [Note(f"first at time = {counts[i].first_time:g}, last at {counts[i].time:g}")]
            if field == "failures":
                notes += _said_first(stepper.instance, counts[i].first_time)
            if field == "newton_caps":
                notes.append(Note(f"largest residual {counts[i].residual:.3g}; the values went on from there"))
            out.append(_warning(code, text, blocks[i] if i < len(blocks) else None, notes))
    return out


def _said_first(instance: Instance, time: float) -> list[Note]:
    """In the words of the model: an assertion, or what a function could not do.  The first failure of a run is kept."""
    said = instance.context.said[_ERROR]
    text = bytes(said.text).split(b"\0")[0].decode("utf-8", "replace").strip()
    return [Note(f"it said: {text}")] if said.n and said.time == time and text else []


def _passes(stepper: Stepper) -> str:
    """The cap of an event iteration, in words."""
    how, step = stepper.stepping, stepper.program.step
    if not any(isinstance(b, MixedLoop) for b in step.blocks):
        return f"{how.event_cap} passes"
    return f"{how.event_cap} passes, or of {how.mode_cap or mode_turns(step)} turns for modes,"


def _not_finite(stepper: Stepper) -> list[Diagnostic]:
    states = {v.slot.index: v.name for v in stepper.program.step.of_kind(Kind.STATE)}
    counted = sorted(((n, i) for i, n in enumerate(stepper.not_finite) if n), key=lambda f: (-f[0], f[1]))
    out = []
    for n, i in counted[:_MOST]:
        block = _block_of(stepper, f"der({states[i]})")
        out.append(_warning("R727", f"{states[i]} was not a number in a stage of the method {n} times", block, []))
    return out


def _named(block: Block, step: Step) -> str:
    """What a block sets of what the user declared."""
    if isinstance(block, WhenBlock):
        names = [a.target.name for a in block.actions if isinstance(a, SetState)]
    else:
        names = [t.name for t in targets(block)]
    known = [name for name in names if step.variables[name].purpose is Purpose.DECLARED]
    if not known:
        return "what a call gives" if names else "a value"
    return ", ".join(known[:3]) + (", ..." if len(known) > 3 else "")


def _chattering(stepper: Stepper) -> list[Diagnostic]:
    crossings = {c.index: c.origin for c in stepper.program.step.crossings}
    out = []
    for i, n in enumerate(stepper.chattering):
        if n:
            text = f"a condition changes in every step (chattering), {n} times over many steps"
            out.append(_placed("R728", text, crossings.get(i), [_meant(stepper.stepping)]))
    return out[:_MOST]


def _missed(stepper: Stepper) -> list[Diagnostic]:
    """A warning for each condition that a late event made last for ever."""
    crossings = {c.index: c for c in stepper.program.step.crossings}
    out = []
    for i, n in enumerate(stepper.missed):
        if n:
            crossing = crossings.get(i)
            said = print_expr(crossing.relation) if crossing is not None else ""
            what = f"`{said}`" if 0 < len(said) <= _LONGEST else "a condition"
            times = "" if n == 1 else f", {n} times"
            text = f"{what} came late and did not end again: what its event had set turned back before{times}"
            notes = [
                Note("met in time it ends at once, and comes again; here no event follows (a ball is under its floor)"),
                Note("`--events catch-up` and `exact` meet it in time; so does a shorter step, for longer"),
            ]
            out.append(_placed("R755", text, crossing.origin if crossing is not None else None, notes))
    return out[:_MOST]


def _meant(stepping: StepSettings) -> Note:
    """What chatters, and what is meant to switch, look the same."""
    most = stepping.events_per_step
    if stepping.meets_events:
        met = f"is met where it does, {most} times in {'an internal' if stepping.internal_steps > 1 else 'a'} step"
    else:
        met = "is met where it does by `--events exact`"
    return Note(f"a hysteresis ends chattering; what is meant to switch so often (PWM) {met}")


def _totals(stepper: Stepper) -> list[Diagnostic]:
    c = stepper.counts
    out = []
    if c["held"]:
        text = f"{c['held']} of {c['steps']} steps failed; the states before them were held"
        if c["held"] > c["steps"]:  # parts of steps, between events
            text = f"parts of steps failed {c['held']} times in {c['steps']} steps; the states before them were held"
        note = Note("a smaller step may hold, or a method for stiff models; `--solver auto` looks for one")
        out.append(_placed("R729", text, None, [note]))
    if c["late_time_events"]:
        text = f"{c['late_time_events']} time events inside a step were handled at its end"
        note = Note("`--events exact --events-per-step N` meets N events in a step exactly")
        out.append(_placed("R731", text, None, [note]))
    if 4 * c["corrected"] > c["steps"]:
        text = f"in {c['corrected']} of {c['steps']} steps of the index-1 form loops were solved after all"
        advice = "they bend too much for this step: a smaller one, or the form without --index1, costs less"
        out.append(_placed("R739", text, None, [Note(advice)]))
    return out


def _block_of(stepper: Stepper, name: str) -> BlockInfo | None:
    return next((b for b in stepper.program.code.blocks if b.phase == "block" and name in b.unknowns), None)


def _warning(code: str, text: str, block: BlockInfo | None, notes: list[Note]) -> Diagnostic:
    return _placed(code, text, block.origin if block is not None else None, notes)


def _placed(code: str, text: str, origin: Origin | None, notes: list[Note]) -> Diagnostic:
    where = f" in component `{origin.path}`" if origin is not None and origin.path else ""
    span = origin.spans[0] if origin is not None and origin.spans else None
    return Diagnostic(code, text + where, span, notes=tuple(notes), severity=Severity.WARNING)
