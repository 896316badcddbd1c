"""What symbolic processing made of a model: counts, states, loops, events, and where each loop comes from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from kilohertz.base import Origin, SourceMap
from kilohertz.driver.report import Report
from kilohertz.ir.step import AlgorithmBlock, Block, CallBlock, Kind, LinearLoop, MixedLoop, NonlinearLoop, Step

_LONGEST_LIST = 8  # names shown of one loop in the text


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop: its kind, when it is solved, its size before and after tearing, its iteration variables, its place."""

    kind: str
    partition: str
    size: int
    torn_size: int
    unknowns: tuple[str, ...]
    place: str


@dataclass(frozen=True, slots=True)
class Analysis:
    """The numbers that `khz analyse` prints."""

    name: str
    counts: dict[str, int]
    blocks: dict[str, int]
    states: tuple[str, ...]
    loops: tuple[Loop, ...]
    initial_loops: tuple[Loop, ...]
    state_jacobian: tuple[int, int]  # rows, entries that may differ from zero
    notes: tuple[str, ...]

    def as_json(self) -> str:
        import json

        return json.dumps(asdict(self), indent=1)

    def as_text(self) -> str:
        lines = [self.name]
        lines += [f"  {label.replace('_', ' '):34} {number:8}" for label, number in self.counts.items()]
        lines += ["blocks"] + [f"  {label:34} {number:8}" for label, number in self.blocks.items()]
        lines += [f"states: {', '.join(self.states) or 'none'}"]
        rows, entries = self.state_jacobian
        if rows:
            lines.append(f"state Jacobian: {rows} x {rows}, {entries} entries ({100 * entries / rows**2:.0f} %)")
        for title, loops in (("loops", self.loops), ("loops of the initial problem", self.initial_loops)):
            if loops:
                lines.append(title)
                lines += [f"  {_loop_text(loop)}" for loop in loops]
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines)


def analyse(report: Report, step: Step, sources: SourceMap) -> Analysis:
    """Count and locate."""
    kinds = Counter(v.slot.kind for v in step.variables.values())
    counts = {
        "equations": report.equations,
        "unknowns": report.unknowns,
        "names read from another (aliases)": len(step.aliases),
        "parameters": kinds[Kind.PARAMETER] + kinds[Kind.INT_PARAMETER] + kinds[Kind.STRING_PARAMETER],
        "states": kinds[Kind.STATE],
        "algebraic unknowns left": kinds[Kind.ALGEBRAIC],
        "discrete unknowns left": kinds[Kind.DISCRETE] + kinds[Kind.INT_DISCRETE],
        "crossing functions": len(step.crossings),
        "time events": len(step.time_events),
        "samples": len(step.samples),
        "delays": len(step.delays),
    }
    blocks = Counter(f"{block.partition.value}: {_kind(block)}" for block in step.blocks)
    states = tuple(v.name for v in step.variables.values() if v.slot.kind is Kind.STATE)
    return Analysis(
        step.name,
        counts,
        dict(sorted(blocks.items())),
        states,
        tuple(_loops(step.blocks, sources)),
        tuple(_loops(step.initial, sources)),
        (len(step.state_sparsity), sum(map(len, step.state_sparsity))),
        step.notes,
    )


def _kind(block: Block) -> str:
    match block:
        case LinearLoop():
            return "linear loop"
        case NonlinearLoop():
            return "nonlinear loop"
        case MixedLoop():
            return "mixed loop"
        case CallBlock():
            return "function call"
        case AlgorithmBlock():
            return "algorithm"
        case _:
            return type(block).__name__.lower().removesuffix("block")


def _loops(blocks: tuple[Block, ...], sources: SourceMap) -> Iterator[Loop]:
    for block in blocks:
        place = _place(block.origin, sources)
        when = block.partition.value
        if isinstance(block, LinearLoop | NonlinearLoop):
            names = tuple(r.name for r in block.unknowns)
            yield Loop(_kind(block), when, len(names) + len(block.inner), len(names), names, place)
        elif isinstance(block, MixedLoop):
            inside = tuple(_loops(block.continuous, sources))
            size = len(block.continuous) + len(block.discrete)
            torn = sum(loop.torn_size for loop in inside)
            yield Loop(_kind(block), when, size, torn, tuple(n for loop in inside for n in loop.unknowns), place)
            yield from inside


def _place(origin: Origin, sources: SourceMap) -> str:
    position = sources.position(origin.spans[0]) if origin.spans else None
    line = f"{origin.spans[0].file}:{position[0]}" if position is not None else ""
    return " ".join(part for part in (origin.path, line) if part)


def _loop_text(loop: Loop) -> str:
    names = ", ".join(loop.unknowns[:_LONGEST_LIST]) + (", ..." if len(loop.unknowns) > _LONGEST_LIST else "")
    torn = f"{loop.size} -> {loop.torn_size}"
    return f"{loop.kind:15} {loop.partition:9} {torn:>12}  torn on {names or 'nothing'}  ({loop.place})"
