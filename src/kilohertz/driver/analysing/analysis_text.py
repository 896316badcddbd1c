"""An analysis as text for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kilohertz.driver.analysing.analysis import Analysis, Loop, Place, Stage

_MOST_NAMES = 8  # names shown of one loop
_MOST_LINES = 40  # lines of one list, then only how many more there are
_MOST_PLACES = 3


def text(a: Analysis) -> str:
    """All sections that have something to say."""
    sections = (
        _counts(a),
        _reductions(a),
        _states(a),
        _index(a),
        _loops("loops", a.loops),
        _loops("loops of the initial problem", a.initial_loops),
        _stage(a),
        _index1(a),
        _events(a),
        _operations(a),
        _bound(a),
        [f"note: {n}" for n in a.notes],
    )
    return "\n".join([a.name, *(line for section in sections for line in section)])


def _counts(a: Analysis) -> Iterator[str]:
    for label, number in a.counts.items():
        if number:
            yield f"  {label.replace('_', ' '):20} {number:8}"


def _reductions(a: Analysis) -> Iterator[str]:
    yield "passes                   equations  unknowns        ms"
    for r in a.reductions:
        equations, unknowns = (f"{n}" if n is not None else "" for n in (r.equations_after, r.unknowns_after))
        yield f"  {r.name:20} {equations:>11} {unknowns:>9} {1e3 * r.seconds:9.1f}"


def _states(a: Analysis) -> Iterator[str]:
    yield f"states: {len(a.states) or 'none'}"
    width = min(40, max((len(s.name) for s in a.states), default=0))
    yield from _at_most(f"  {s.name:{width}}  {s.why}" for s in a.states)
    j = a.jacobian
    what = "Jacobian of the index-1 form" if a.algebraic else "state Jacobian"
    if j.rows:
        share = 100 * j.entries / j.rows**2
        how = "symbolic" if j.symbolic else f"by differences: {j.without_derivative} has no derivative"
        yield f"{what}: {j.rows} x {j.rows}, {j.entries} entries ({share:.0f} %), {j.colours} colours, {how}"


def _index(a: Analysis) -> Iterator[str]:
    if not a.differentiated:
        return
    yield f"index reduction, equations differentiated: {len(a.differentiated)}"
    yield from _at_most(f"  {_times(d.order):7} {d.equation}  ({place(d.place)})" for d in a.differentiated)


def _times(n: int) -> str:
    return {1: "once", 2: "twice"}.get(n, f"{n} times")


def _loops(title: str, loops: tuple[Loop, ...]) -> Iterator[str]:
    if not loops:
        return
    yield f"{title}: {len(loops)}"
    yield from _at_most(line for loop in loops for line in _loop(loop))


def _loop(loop: Loop) -> Iterator[str]:
    names = ", ".join(loop.unknowns[:_MOST_NAMES]) + (", ..." if len(loop.unknowns) > _MOST_NAMES else "")
    matrix = (
        f", matrix {'changes every ' if loop.matrix == 'step' else ''}{_MATRIX[loop.matrix]}" if loop.matrix else ""
    )
    size = f"{loop.size} unknown{'s' if loop.size != 1 else ''} torn to {loop.torn_size}"
    head = f"{loop.kind} in {loop.partition}, {size}{matrix}"
    yield f"  {head}; {loop.operations} operations"
    yield f"    torn on {names or 'nothing'}"
    shown = [place(p) for p in loop.places[:_MOST_PLACES]]
    left_out = len(loop.places) - len(shown)
    yield f"    from {'; '.join(shown) or 'no source'}" + (f"; and {left_out} more places" if left_out > 0 else "")


_MATRIX = {"constant": "constant", "event": "changes at events only", "step": "step"}


def _stage(a: Analysis) -> Iterator[str]:
    stage = a.inlined
    if stage is not None:
        yield f"implicit stage, inlined: {stage_text(stage)}"
        yield f"  {stage.operations} operations for one iteration of everything"
        yield from _loops("  loops of the stage", stage.loops)


def _index1(a: Analysis) -> Iterator[str]:
    if a.algebraic:
        names = ", ".join(a.algebraic[:_MOST_NAMES]) + (", ..." if len(a.algebraic) > _MOST_NAMES else "")
        yield f"index-1 form: {len(a.states)} states and {len(a.algebraic)} unknowns of nonlinear loops: {names}"


def stage_text(stage: Stage) -> str:
    """What an inlined stage leaves to solve, in a line."""
    left = f"{stage.nonlinear} nonlinear unknown{'s' if stage.nonlinear != 1 else ''}"
    inside = f", {stage.inside} in nonlinear loops inside" if stage.inside else ""
    linear = [loop for loop in stage.loops if loop.kind == "linear"]
    systems = f" ({len(linear)}, the largest of {max(loop.torn_size for loop in linear)})" if linear else ""
    return f"{stage.states} states -> {left}{inside}, {stage.linear} in linear systems{systems}"


def _events(a: Analysis) -> Iterator[str]:
    if a.events:
        yield f"events: {len(a.events)}"
        yield from _at_most(f"  {e.kind:9} {_cut(e.text)}  ({place(e.place)})" for e in a.events)


def _operations(a: Analysis) -> Iterator[str]:
    if a.operations:
        yield "operations when evaluated once"
    for w in a.operations:
        yield f"  {w.partition:10} {w.operations:8} in {w.blocks} block{'s' if w.blocks != 1 else ''}"


def _bound(a: Analysis) -> Iterator[str]:
    if a.bound is not None:
        yield from bound_lines(a.bound)


def bound_lines(b: Mapping[str, Any]) -> Iterator[str]:
    """A cost bound in words."""
    lu = b["lu"]
    yield f"one period with {b['method']}, events {b['events']}: at most"
    for kind in ("regular", "kept", "event", "worst"):
        if kind not in b:
            continue
        w = b[kind]
        yield (
            f"  {kind:8} {w['rhs']} right-hand sides{_solved(w, b)}, "
            f"{w['jacobians']} Jacobians, {w['factorisations']} LU, {w['solves']} solves, "
            f"{w['event_passes']} event passes in {w['steps']} steps; {w['operations']} operations, "
            f"{w['instructions']} instructions"
        )
    if b["worst"]["factorisations"]:
        yield f"  LU of {lu['n']} x {lu['n']} with {lu['nnz']} entries{' (dense)' if lu['dense'] else ''}"
    for what in b["unbounded"]:
        yield f"  without a bound: {what}"
    if "step" in b:
        yield f"  the step of a task is {b['step']}"
    yield f"  {_prices(b['prices'])}"


def _prices(p: Mapping[str, Any]) -> str:
    """Whose instructions, and how well the bound fits them."""
    head, fit = f"instructions of {p['compiler']} for {p['architecture']}", p["fit"]
    if fit is None:
        return f"{head}: not measured there, taken from the dearest of other targets"
    fits = f"{fit['least']:g} to {fit['most']:g} times what was measured in {fit['measured']} regular steps"
    return f"{head}: {fits}"


def _solved(work: Mapping[str, Any], bound: Mapping[str, Any]) -> str:
    """In the index-1 form: how many of the right-hand sides solve nonlinear loops."""
    return f" (loops solved in {work['solved']})" if bound["algebraic"] else ""


def place(p: Place) -> str:
    """`component file:line`, the file as short as it can be told from here."""
    line = f"{_short(p.file)}:{p.line}" if p.line is not None else ""
    return " ".join(part for part in (p.component, line) if part) or "no source"


def _short(file: str) -> str:
    path = Path(file)
    if not path.is_absolute():
        return file
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(Path(*path.parts[-2:]))


def _cut(line: str, width: int = 90) -> str:
    return line if len(line) <= width else line[: width - 3] + "..."


def _at_most(lines: Iterable[str]) -> Iterator[str]:
    everything = list(lines)
    yield from everything[:_MOST_LINES]
    if len(everything) > _MOST_LINES:
        yield f"  ... and {len(everything) - _MOST_LINES} more lines (--json has all)"
