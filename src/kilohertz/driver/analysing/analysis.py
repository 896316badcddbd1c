"""What symbolic processing made of a model: counts, states, loops, events, and where each comes from.

The fields of these classes are the keys of `khz analyse --json`; docs/reference/analyse.md says what they mean.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from kilohertz.base import Origin, SourceMap, Span
from kilohertz.cost import state_jacobian
from kilohertz.driver.analysing.check_report import Report
from kilohertz.ir.dae import print_equation, show
from kilohertz.ir.step import (
    Block,
    Kind,
    LinearLoop,
    MixedLoop,
    NonlinearLoop,
    Partition,
    Step,
    WhenBlock,
    targets,
)
from kilohertz.passes.contract import Log

_LONGEST_EQUATION = 120
_MATRIX = {Partition.ONCE: "constant", Partition.EVENT: "event"}  # else: every step


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands in the source."""

    component: str
    file: str
    line: int | None


@dataclass(frozen=True, slots=True)
class Reduced:
    """What one pass did to the numbers of equations and unknowns; None where the form cannot be counted."""

    name: str
    equations_before: int | None
    equations_after: int | None
    unknowns_before: int | None
    unknowns_after: int | None
    seconds: float


@dataclass(frozen=True, slots=True)
class State:
    name: str
    why: str
    place: Place


@dataclass(frozen=True, slots=True)
class Differentiation:
    """An equation that index reduction differentiated `order` times."""

    equation: str
    order: int
    place: Place


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop: its kind, when it is solved, its size before and after tearing, its iteration variables, its places.

    `matrix` tells of a linear loop that is solved again and again when its matrix changes: constant, event or step.
    """

    kind: str
    partition: str
    size: int
    torn_size: int
    matrix: str | None
    unknowns: tuple[str, ...]
    operations: int
    components: tuple[str, ...]
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Event:
    """What can make an event: a crossing, an instant, a sample; or what happens at one: a when, a delay line."""

    kind: str
    text: str
    place: Place


@dataclass(frozen=True, slots=True)
class Jacobian:
    """The state Jacobian: its size, the entries that may differ from zero, and the colours that compress it."""

    rows: int
    entries: int
    colours: int
    symbolic: bool  # else by differences
    without_derivative: str  # why not, empty where it is


@dataclass(frozen=True, slots=True)
class Work:
    """Blocks of one partition, and the operations to evaluate them once."""

    partition: str
    blocks: int
    operations: int


@dataclass(frozen=True, slots=True)
class Stage:
    """What an implicit stage leaves to solve once its formula is joined with the equations."""

    states: int
    nonlinear: int  # iteration variables of the nonlinear systems
    inside: int  # of nonlinear systems of the model itself, which are solved for given values of the others
    linear: int  # unknowns of all linear systems, those inside nonlinear ones included
    loops: tuple[Loop, ...]
    operations: int


@dataclass(frozen=True, slots=True)
class Analysis:
    """The numbers that `khz analyse` prints."""

    name: str
    counts: dict[str, int]
    reductions: tuple[Reduced, ...]
    states: tuple[State, ...]
    differentiated: tuple[Differentiation, ...]
    dummy_derivatives: tuple[str, ...]
    blocks: dict[str, int]
    loops: tuple[Loop, ...]
    initial_loops: tuple[Loop, ...]
    events: tuple[Event, ...]
    jacobian: Jacobian
    operations: tuple[Work, ...]
    notes: tuple[str, ...]
    inlined: Stage | None = None  # only where it was asked for
    algebraic: tuple[str, ...] = ()  # what the method finds besides the states: index-1 form
    bound: dict[str, Any] | None = None  # cost bound of a period, where a fixed-step method was named

    def as_json(self) -> str:
        import json

        return json.dumps(asdict(self), indent=1)

    def as_text(self) -> str:
        from kilohertz.driver.analysing.analysis_text import text

        return text(self)


def analyse(report: Report, step: Step, log: Log, flatten_seconds: float, sources: SourceMap) -> Analysis:
    """Count and locate."""
    where = _Places(sources)
    reduction = log.reduction
    blocks = Counter(f"{block.partition.value}: {kind_of(block)}" for block in step.blocks)
    return Analysis(
        name=step.name,
        counts=_counts(report, step),
        reductions=tuple(_reductions(report, log, flatten_seconds)),
        states=tuple(_states(step, log, where)),
        differentiated=tuple(_differentiated(log, where)),
        dummy_derivatives=tuple(reduction.dummies) if reduction is not None else (),
        blocks=dict(sorted(blocks.items())),
        loops=tuple(_loops(step.blocks, where)),
        initial_loops=tuple(_loops(step.initial, where)),
        events=tuple(_events(step, where)),
        jacobian=_jacobian(step),
        operations=tuple(_operations(step)),
        notes=step.notes,
        inlined=_stage(step, where),
        algebraic=tuple(z.name for z in step.algebraic),
    )


class _Places:
    """From origins to lines."""

    def __init__(self, sources: SourceMap) -> None:
        self._sources = sources

    def of(self, origin: Origin) -> Place:
        return self._at(origin.spans[0] if origin.spans else None, origin.path)

    def all_of(self, origins: Sequence[Origin]) -> tuple[Place, ...]:
        """Each place once, in order.  Of a joined origin only the first span is known to belong to its component."""
        exact = [self.of(o) for o in origins if o.spans]
        known = {(p.file, p.line) for p in exact}
        joined = (self._at(span, "") for o in origins for span in o.spans[1:])
        return tuple(dict.fromkeys([*exact, *(p for p in joined if (p.file, p.line) not in known)]))

    def _at(self, span: Span | None, path: str) -> Place:
        position = self._sources.position(span) if span is not None else None
        return Place(path, span.file if span is not None else "", position[0] if position is not None else None)


def _counts(report: Report, step: Step) -> dict[str, int]:
    kinds = Counter(v.slot.kind for v in step.variables.values())
    return {
        "equations": report.equations,
        "unknowns": report.unknowns,
        "aliases": len(step.aliases),
        "parameters": kinds[Kind.PARAMETER] + kinds[Kind.INT_PARAMETER] + kinds[Kind.STRING_PARAMETER],
        "inputs": kinds[Kind.INPUT] + kinds[Kind.INT_INPUT],
        "states": kinds[Kind.STATE],
        "algebraic": kinds[Kind.ALGEBRAIC],
        "discrete": kinds[Kind.DISCRETE] + kinds[Kind.INT_DISCRETE] + kinds[Kind.STRING_DISCRETE],
        "crossings": len(step.crossings),
        "time_events": len(step.time_events),
        "samples": len(step.samples),
        "delays": len(step.delays) + len(step.transports),
    }


def _reductions(report: Report, log: Log, seconds: float) -> Iterator[Reduced]:
    yield Reduced("flatten", None, report.equations, None, report.unknowns, seconds)
    for r in log.records:
        before, after = r.before, r.after
        yield Reduced(
            r.name,
            before.equations if before else None,
            after.equations if after else None,
            before.unknowns if before else None,
            after.unknowns if after else None,
            r.seconds,
        )


def _states(step: Step, log: Log, where: _Places) -> Iterator[State]:
    reasons = log.reduction.reasons() if log.reduction is not None else {}
    for v in step.of_kind(Kind.STATE):
        yield State(v.name, reasons.get(v.name, "made by a pass"), where.of(v.origin))


def _differentiated(log: Log, where: _Places) -> Iterator[Differentiation]:
    """Each equation once, with the highest order it reached."""
    if log.reduction is None:
        return
    highest = {id(d.equation): d for d in log.reduction.differentiated}  # orders rise
    for d in highest.values():
        shown = print_equation(d.equation)
        shown = shown if len(shown) <= _LONGEST_EQUATION else shown[: _LONGEST_EQUATION - 3] + "..."
        yield Differentiation(shown, d.order, where.of(d.equation.origin))


def kind_of(block: Block) -> str:
    """A block's kind in words."""
    words = {"LinearLoop": "linear loop", "NonlinearLoop": "nonlinear loop", "MixedLoop": "mixed loop"}
    words |= {"CallBlock": "function call", "WhenBlock": "when"}
    name = type(block).__name__
    return words.get(name, name.lower())


def _loops(blocks: tuple[Block, ...], where: _Places) -> Iterator[Loop]:
    for block in blocks:
        if isinstance(block, LinearLoop):
            names = tuple(r.name for r in block.unknowns)
            matrix = None if block.partition is Partition.INITIAL else _MATRIX.get(block.matrix_partition, "step")
            yield _loop(block, names, matrix, [b.origin for b in block.inner], where)
        elif isinstance(block, NonlinearLoop):
            names = tuple(r.name for r in block.unknowns)
            yield _loop(block, names, None, [b.origin for b in block.inner], where)
            yield from _loops(block.inner, where)
        elif isinstance(block, MixedLoop):
            inside = tuple(_loops(block.continuous, where))
            names = tuple(n for loop in inside for n in loop.unknowns)
            yield _loop(block, names, None, [b.origin for b in (*block.continuous, *block.discrete)], where)
            yield from inside


def _loop(block: Block, names: tuple[str, ...], matrix: str | None, inner: list[Origin], where: _Places) -> Loop:
    origins = [block.origin, *inner]
    components = tuple(dict.fromkeys(o.path for o in origins if o.path))
    linear = [b for b in (block.continuous if isinstance(block, MixedLoop) else (block,)) if isinstance(b, LinearLoop)]
    size = len(targets(block)) + sum(b.n_apart for b in linear)
    operations, partition = operations_of(block), block.partition.value
    return Loop(
        kind_of(block).removesuffix(" loop"),
        partition,
        size,
        len(names),
        matrix,
        names,
        operations,
        components,
        where.all_of(origins),
    )


def _stage(step: Step, where: _Places) -> Stage | None:
    if step.inlined is None:
        return None
    loops = tuple(_loops(step.inlined, where))
    nonlinear = sum(len(b.unknowns) for b in step.inlined if isinstance(b, NonlinearLoop))
    inside = sum(loop.torn_size for loop in loops if loop.kind == "nonlinear") - nonlinear
    linear = sum(loop.torn_size for loop in loops if loop.kind == "linear")
    total = sum(map(operations_of, step.inlined))
    return Stage(len(step.of_kind(Kind.STATE)), nonlinear, inside, linear, loops, total)


def _events(step: Step, where: _Places) -> Iterator[Event]:
    for c in step.crossings:
        yield Event("crossing", show(c.relation), where.of(c.origin))
    for t in step.time_events:
        yield Event("time", f"time = {show(t.at)}", where.of(t.origin))
    for s in step.samples:
        yield Event("sample", f"from {show(s.start)} every {show(s.interval)}", where.of(s.origin))
    for d in step.delays:
        yield Event("delay", f"{d.source.name} by at most {show(d.maximum)}", where.of(d.origin))
    for line in step.transports:
        yield Event("delay", f"{line.sources[0].name} to the other end and back", where.of(line.origin))
    for b in step.blocks:
        if isinstance(b, WhenBlock):
            yield Event("when", f"{show(b.guard)}: {len(b.actions)} action(s)", where.of(b.origin))


def _jacobian(step: Step) -> Jacobian:
    j, symbolic = state_jacobian(step), step.directional is not None
    n_colours = j.n_directions if symbolic else j.n_colours
    return Jacobian(len(j.rows), j.n_entries, n_colours, symbolic, step.no_directional)


def operations_of(block: Block) -> int:
    """Operations to run a block once; a mixed loop is counted with one turn."""
    if isinstance(block, MixedLoop):
        return max(block.cost, sum(operations_of(b) for b in (*block.continuous, *block.discrete)))
    return block.cost


def _operations(step: Step) -> Iterator[Work]:
    by_partition: dict[str, list[Block]] = {Partition.ONCE.value: list(step.once)}
    by_partition[Partition.INITIAL.value] = list(step.initial)
    for b in step.blocks:
        by_partition.setdefault(b.partition.value, []).append(b)
    for p in Partition:
        blocks = by_partition.get(p.value)
        if blocks:
            yield Work(p.value, len(blocks), sum(map(operations_of, blocks)))
