"""Where two runs of a known model part: which signal first, the block and component that compute it, the event before.

Every signal gets the time at which it leaves a tube a tenth as high as the one it is judged with.  Of those that leave
within one row of the first, the one is named that depends on no other of them: its block reads, through what is
computed in between, only signals that still agree.  A state counts as computed by the block of its derivative.  Where
parameters differ, signals that depend on none of them are left out: what they are off by is the error of a method.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from kilohertz.base import Origin, SourceMap
from kilohertz.base.units import UnitError
from kilohertz.compare import Pair, Verdict
from kilohertz.compare.curve import Curve
from kilohertz.compare.event_matching import Jump, jumps, match
from kilohertz.compare.measures import Size, outside, tube_size
from kilohertz.compare.verdict import curves
from kilohertz.driver.analysing.analysis import kind_of
from kilohertz.ir.step import Block, Kind, Step, expressions, targets
from kilohertz.ir.traverse import refs
from kilohertz.results import Result

_FINER = 0.1  # of the height of the tube
_TOLERANCE, _NOMINAL = 0.002, 0.001
_DISCRETE = (Kind.DISCRETE, Kind.INT_DISCRETE)


class _Parted(NamedTuple):
    """A signal that leaves its reference."""

    pair: Pair
    time: float
    result: Curve
    reference: Curve


def why(
    verdict: Verdict, result: Result, reference: Result, step: Step, sources: SourceMap, *, is_result: bool
) -> tuple[str, ...]:
    """Sentences; none where nothing parts.  `is_result`: whose model `step` is."""
    known = _Known(step)
    parted: dict[str, _Parted] = {}
    discrete: list[tuple[Pair, Curve, Curve, Size]] = []
    for pair in verdict.pairing.pairs:
        name = known.variable(pair.result if is_result else pair.reference)
        both = _curves(pair, result, reference) if name is not None else None
        if name is None or both is None:
            continue
        size = tube_size(both[1], _TOLERANCE, _NOMINAL)
        time = _leaves(*both, size)
        if time is not None and (name not in parted or time < parted[name].time):
            parted[name] = _Parted(pair, time, *both)
        if step.variables[name].slot.kind in _DISCRETE:
            discrete.append((pair, *both, size))
    if not parted:
        return ()
    values = {n: (a, b) for n, a, b in verdict.pairing.parameters}
    moved = known.affected(n for n in map(known.variable, values) if n is not None)
    suspects = {n: p for n, p in parted.items() if n in moved} or parted
    first = _first(suspects, known, _resolution(result, reference))
    reasons = [_signal_text(parted[first]), *known.place(first, sources)]
    reasons += known.differing(first, values, sources)
    reasons += _event_text(discrete, parted[first].time)
    return tuple(reasons)


def _curves(pair: Pair, result: Result, reference: Result) -> tuple[Curve, Curve] | None:
    try:
        both = curves(pair, result, reference)
    except UnitError:
        return None
    finite = all(np.isfinite(c.value).all() for c in both)
    return both if finite and all(len(c.time) for c in both) else None


def _leaves(result: Curve, reference: Curve, size: Size) -> float | None:
    """When either curve first leaves the finer tube around the other."""
    fine = size._replace(dy=_FINER * size.dy)
    start, stop = max(result.time[0], reference.time[0]), min(result.time[-1], reference.time[-1])
    instants = (
        outside(reference, result.clipped(start, stop), fine).first,
        outside(result, reference.clipped(start, stop), fine).first,
    )
    return min((t for t in instants if t is not None), default=None)


def _resolution(result: Result, reference: Result) -> float:
    """Rows are so far apart, in the coarser of the two."""
    return max(float(np.median(np.diff(r.time))) if len(r.time) > 1 else 0.0 for r in (result, reference))


def _first(parted: Mapping[str, _Parted], known: _Known, resolution: float) -> str:
    earliest = min(p.time for p in parted.values())
    early = {n for n, p in parted.items() if p.time <= earliest + resolution}
    roots = [n for n in parted if n in early and not (known.upstream(n) & early)] or sorted(early)
    return min(roots, key=lambda n: (parted[n].time, known.block_of.get(n, -1), n))


def _signal_text(p: _Parted) -> str:
    at = np.array([p.time])
    mine, theirs = float(p.result.after(at)[0]), float(p.reference.after(at)[0])
    return f"`{p.pair.name}` parts first, at t = {p.time:g} s: {mine:g}, in the reference {theirs:g}"


def _event_text(discrete: list[tuple[Pair, Curve, Curve, Size]], before: float) -> Iterator[str]:
    """The first event up to then that only one side has; else the last one that comes at another time."""
    alone: list[tuple[float, str]] = []
    moved: list[tuple[float, str]] = []
    for pair, mine, theirs, size in discrete:
        matched = match(jumps(mine, size.dy), jumps(theirs, size.dy), size.dx)
        for side, lonely in (("result", matched.only_result), ("reference", matched.only_reference)):
            alone += [(j.time, f"{_change(pair, j)} in the {side} only") for j in lonely if j.time <= before + size.dx]
        for a, b in matched.pairs:
            if a.time != b.time and min(a.time, b.time) <= before:
                late = f"{abs(a.time - b.time):.3g} s {'later' if a.time > b.time else 'earlier'} than in the reference"
                moved.append((min(a.time, b.time), f"{_change(pair, a)}, {late}"))
    if alone:
        yield f"event: {min(alone)[1]}"
    elif moved:
        yield f"the last event before it: {max(moved)[1]}"


def _change(pair: Pair, jump: Jump) -> str:
    return f"`{pair.name}` changes from {jump.before:g} to {jump.after:g} at t = {jump.time:g} s"


class _Known:
    """Which block computes what, from what."""

    def __init__(self, step: Step) -> None:
        self.step = step
        self.blocks: tuple[Block, ...] = (*step.once, *step.blocks)  # parameters too are computed from parameters
        self.block_of = {t.name: i for i, b in enumerate(self.blocks) for t in targets(b)}
        self._reads: dict[int, tuple[str, ...]] = {}

    def variable(self, name: str) -> str | None:
        """The variable that a name reads; None where the model has none."""
        alias = self.step.aliases.get(name)
        target = alias.target if alias is not None else name
        return target if target in self.step.variables else None

    def _block(self, name: str) -> int | None:
        direct = self.block_of.get(name)
        return direct if direct is not None else self.block_of.get(f"der({name})")

    def reads(self, block: int) -> tuple[str, ...]:
        """Every variable in the expressions of a block, each once."""
        if block not in self._reads:
            names = (r.name for e in expressions(self.blocks[block]) for r in refs(e))
            self._reads[block] = tuple(dict.fromkeys(names))
        return self._reads[block]

    def upstream(self, name: str) -> set[str]:
        """What a variable is computed from at one instant; states are where this ends."""
        start = self._block(name)
        seen: set[str] = set()
        work = [start] if start is not None else []
        visited = set(work)
        while work:
            for n in self.reads(work.pop()):
                seen.add(n)
                block = self.block_of.get(n)
                if block is not None and block not in visited:
                    visited.add(block)
                    work.append(block)
        with_it = {t.name for t in targets(self.blocks[start])} if start is not None else set()
        return seen - with_it - {name}

    def affected(self, names: Iterable[str]) -> set[str]:
        """What is computed from these, at whatever instant: through blocks, states and initial values."""
        blocks = (*self.blocks, *self.step.initial)
        readers: dict[str, list[Block]] = {}
        for block in blocks:
            for name in dict.fromkeys(r.name for e in expressions(block) for r in refs(e)):
                readers.setdefault(name, []).append(block)
        work = list(names)
        reached = set(work)
        while work:
            for block in readers.get(work.pop(), ()):
                computed = [self.step.variables[t.name] for t in targets(block)]
                affected = [v.name for v in computed] + [v.of for v in computed if v.slot.kind is Kind.DERIVATIVE]
                work += [n for n in affected if n not in reached]
                reached.update(affected)
        return reached

    def place(self, name: str, sources: SourceMap) -> Iterator[str]:
        """The block, its component and its line."""
        at = self._block(name)
        if at is not None:
            yield f"it is computed in {self._described(at, sources)}"

    def _described(self, at: int, sources: SourceMap) -> str:
        block, number = self.blocks[at], at - len(self.step.once)
        called = f"block {number}" if number >= 0 else "the parameters"
        where = f"{_component(block.origin)}{_line(block.origin, sources)}"
        return f"{called} ({kind_of(block)} for {_solved(block)}){where}"

    def differing(self, name: str, values: Mapping[str, tuple[float, float]], sources: SourceMap) -> Iterator[str]:
        """The nearest parameter with another value on the other side, through blocks and states, and who reads it."""
        by_variable = {self.variable(n) or n: n for n in values}
        start = self._block(name)
        work, seen = ([start], {start}) if start is not None else ([], set())
        for block in work:  # grows: breadth first
            parameters = [by_variable[n] for n in self.reads(block) if n in by_variable]
            if parameters:
                origin = self._origin_of(parameters[0], by_variable)
                a, b = values[origin]
                through = "" if origin == parameters[0] else f", which gives `{parameters[0]}`"
                reader = "" if block == start else f"; read in {self._described(block, sources)}"
                yield f"it depends on `{origin}`: {a:g}, in the reference {b:g}{through}{reader}"
                return
            for n in self.reads(block):
                further = self._block(n)
                if further is not None and further not in seen:
                    seen.add(further)
                    work.append(further)

    def _origin_of(self, name: str, by_variable: Mapping[str, str]) -> str:
        """The parameter that another one is computed from, as far back as they differ."""
        seen = {name}
        while (block := self.block_of.get(self.variable(name) or name)) is not None:
            before = [by_variable[n] for n in self.reads(block) if n in by_variable and by_variable[n] not in seen]
            if not before:
                break
            name = before[0]
            seen.add(name)
        return name


def _solved(block: Block) -> str:
    names = [f"`{t.name}`" for t in targets(block)]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _component(origin: Origin) -> str:
    return f" of component `{origin.path}`" if origin.path else ""


def _line(origin: Origin, sources: SourceMap) -> str:
    position = sources.position(origin.spans[0]) if origin.spans else None
    return f", {origin.spans[0].file}:{position[0]}" if position is not None else ""
