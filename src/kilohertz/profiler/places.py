"""The places of a profile: what each has of the model (blocks, equations, functions), and where that stands.

A probe goes around every C function that computes blocks, and around every function of the model.  A C function of
several blocks (a run of assignments) is one place; its time is shared out over its blocks by their operations, which a
report says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from kilohertz.base import Origin, Span, short_name
from kilohertz.codegen import BlockInfo, CProgram
from kilohertz.ir import step as s
from kilohertz.ir.expr import Call, Expr
from kilohertz.ir.flat import Function
from kilohertz.ir.text.expr_printer import print_shared
from kilohertz.ir.traverse import function_expressions, walk_all
from kilohertz.profiler.nonlinear import LONGEST, what_is_nonlinear
from kilohertz.runtime import family
from kilohertz.syntax import Libraries

_LOOPS: Mapping[str, str] = {"LinearLoop": "linear", "NonlinearLoop": "nonlinear", "MixedLoop": "mixed"}
_PHASE_WORDS = {
    "cycle": "rest of the cycle",
    "inputs": "inputs: commands, stimuli, connections",
    "tasks": "task itself",
    "outputs": "outputs",
    "recorder": "recorder",
    "live": "live values and accounting",
    "step": "stepper itself",
    "stage": "right-hand side outside its blocks",
    "jacobian": "Jacobian outside its blocks",
    "factor": "factorisation (LU)",
    "solve": "solution with the factors",
    "event": "event iteration outside its blocks",
    "crossing": "crossing functions",
    "output": "outputs outside their blocks",
}


@dataclass(frozen=True, slots=True)
class Line:
    """A line of source and its share of a place (all shares of a place sum to 1)."""

    file: str
    line: int
    component: str  # instance path, empty at the top
    share: float
    text: str = ""  # the line as written
    in_class: str = ""  # the class it stands in, by its full name


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop as its card shows it."""

    kind: str
    size: int
    torn: tuple[str, ...]  # iteration variables
    why: tuple[str, ...] = ()  # what is not linear in its equations; of a mixed loop: what is discrete
    others: tuple[str, ...] = ()  # unknowns of the model that are not iterated on


@dataclass(frozen=True, slots=True)
class Place:
    """Something that is timed."""

    name: str  # for a person: `solve first.i`, `rk4 stage`, `Modelica.Math.sin`
    kind: str  # phase, loop, equations, function, device
    unit: str = ""  # the model of a scenario it belongs to
    phase: str = (
        ""  # of a block: block, directional, time_slope, inlined, initial, once; of a phase: its word in khz_probe.h
    )
    unknowns: tuple[str, ...] = ()
    lines: tuple[Line, ...] = ()
    loop: Loop | None = None
    symbol: str = ""  # the C function
    is_external: bool = False  # of a function: it is not written in Modelica
    is_open: bool = False  # of a function: nothing says whether it is inlined, so that its author may
    calls: tuple[tuple[str, int], ...] = ()  # functions that it calls itself, and how often they stand in it

    def as_data(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def of_data(data: Mapping[str, Any]) -> Place:
        of = data["loop"]
        loop = None
        if of:
            loop = Loop(of["kind"], of["size"], tuple(of["torn"]), tuple(of["why"]), tuple(of["others"]))
        lines = tuple(Line(**line) for line in data["lines"])
        calls = tuple((str(name), int(n)) for name, n in data["calls"])
        return Place(**{**data, "loop": loop, "lines": lines, "unknowns": tuple(data["unknowns"]), "calls": calls})


@dataclass(slots=True)
class _Where:
    """From origins to lines of source; from what is computed to what the user calls it."""

    libraries: Libraries | None
    made: frozenset[str]
    known: dict[tuple[str, int], tuple[str, int, str, str]] = field(default_factory=dict)
    class_of: Callable[[Span], str] = field(init=False)

    def __post_init__(self) -> None:
        self.class_of = self.libraries.class_names() if self.libraries is not None else lambda span: ""

    def declared_first(self, names: Iterable[str]) -> tuple[str, ...]:
        """What the user declared before what passes made (a relation, say)."""
        return tuple(sorted(names, key=lambda name: name in self.made))

    def lines(self, origin: Origin, share: float) -> list[Line]:
        places: list[tuple[str, int, str, str]] = []
        sources = self.libraries.sources if self.libraries is not None else None
        for span in origin.spans:
            key = (span.file, span.start)
            if key not in self.known:
                position = sources.position(span) if sources is not None else None
                line = position[0] if position is not None else 0
                text = sources.line_text(span.file, line).strip() if sources is not None else ""
                self.known[key] = (span.file, line, text, self.class_of(span))
            places.append(self.known[key])
        return [Line(file, line, origin.path, share / len(places), *more) for file, line, *more in places]


def cycle_places() -> tuple[Place, ...]:
    """The places that every thread has first."""
    return _phases("KHZ_PLACE_", "KHZ_PLACES_OF_CYCLE")


def model_places(code: CProgram, libraries: Libraries | None, unit: str = "") -> tuple[Place, ...]:
    """The places of a model in the order of their numbers."""
    where = _Where(libraries, code.made)
    by_function: dict[str, list[BlockInfo]] = {}
    for info in code.blocks:
        by_function.setdefault(info.function, []).append(info)
    places = [replace(p, unit=unit) for p in _phases("KHZ_PLACE_", "KHZ_PLACES_OF_MODEL")]
    for symbol in code.timed:
        infos = by_function.get(symbol) or by_function.get(symbol.removeprefix(code.prefix))
        if infos is None:  # numbers for the blocks of all directions, which are one phase
            infos = [info for info in code.blocks if symbol.removeprefix(code.prefix).startswith(info.phase + "_")]
            shared = replace(_blocks(symbol, infos, where, unit), name="compute what all directions share", loop=None)
            places.append(replace(shared, kind="equations"))
        else:
            places.append(_blocks(symbol, infos, where, unit))
    return (*places, *(_function(f, where, unit) for f in code.functions))


def _phases(prefix: str, past: str) -> tuple[Place, ...]:
    """Enumerators of one list of khz_probe.h: those of the cycle, or those of a model."""
    words = list(family(prefix))
    first = words.index("cycle") if past == "KHZ_PLACES_OF_CYCLE" else words.index("step")
    last = words.index("step") if past == "KHZ_PLACES_OF_CYCLE" else len(words)
    return tuple(Place(_PHASE_WORDS[word], "phase", phase=word) for word in words[first:last])


def _function(function: Function, where: _Where, unit: str) -> Place:
    external = function.external
    return Place(
        function.id,
        "function",
        unit,
        lines=tuple(where.lines(function.origin, 1.0)),
        symbol=external.symbol if external is not None else function.id,
        is_external=external is not None,
        is_open=external is None and function.inline is None and _is_written(function.origin),
        calls=_calls(function_expressions(function)),
    )


def _is_written(origin: Origin) -> bool:
    """By somebody, not made by a pass."""
    return bool(origin.spans) and not origin.passes


def _calls(expressions: Iterable[Expr]) -> tuple[tuple[str, int], ...]:
    """Functions that are called, and by how many different calls."""
    n_calls: dict[str, int] = {}
    for e in walk_all(expressions):
        if isinstance(e, Call):
            n_calls[e.function] = n_calls.get(e.function, 0) + 1
    return tuple(n_calls.items())


def _blocks(symbol: str, infos: Sequence[BlockInfo], where: _Where, unit: str) -> Place:
    whole = sum(max(1, info.cost) for info in infos)
    lines = [
        line
        for info in infos
        for origin, part in _shares(info.block)
        for line in where.lines(origin, part * max(1, info.cost) / whole)
    ]
    unknowns = where.declared_first(u for info in infos for u in info.unknowns)
    first = infos[0]
    loop = _loop(first, where) if len(infos) == 1 else None
    words = ", ".join(loop.torn[:3]) if loop is not None and loop.torn else ", ".join(unknowns[:3])
    more = ", ..." if len(unknowns) > 3 else ""
    verb = "compute" if loop is None else "settle" if loop.kind == "mixed" else "solve"
    return Place(
        f"{verb} {words}{more}",
        "equations" if loop is None else "loop",
        unit,
        first.phase,
        unknowns,
        _merged(lines),
        loop,
        symbol,
        calls=_calls(e for info in infos for e in s.expressions(info.block)),
    )


def _merged(lines: Iterable[Line]) -> tuple[Line, ...]:
    """Each line of a component once, with all that belongs to it."""
    shares: dict[Line, float] = {}
    for line in lines:
        alike = replace(line, share=0.0)
        shares[alike] = shares.get(alike, 0.0) + line.share
    return tuple(replace(line, share=share) for line, share in shares.items())


def _shares(block: s.Block) -> list[tuple[Origin, float]]:
    """Whose a block is, and by which part: a loop belongs to all equations in it, by their cost; what is its own (a
    matrix, residuals, iterations) to those it was made of."""
    inner: tuple[s.Block, ...] = ()
    if isinstance(block, s.LinearLoop | s.NonlinearLoop):
        inner = block.inner
    elif isinstance(block, s.MixedLoop):
        inner = (*block.continuous, *block.discrete)
    costs = [max(1, b.cost) for b in inner]
    rest = max(1 if not inner or block.origin.spans else 0, block.cost - sum(costs))
    whole = rest + sum(costs)
    below = [(o, part * c / whole) for b, c in zip(inner, costs, strict=True) for o, part in _shares(b)]
    return [(block.origin, rest / whole), *below] if rest else below


def relations(code: CProgram, libraries: Libraries | None) -> list[str]:
    """Relations of a model that make events, as its equations have them, with their lines."""
    where, texts = _Where(libraries, code.made), []
    for crossing in code.crossings:
        lines = where.lines(crossing.origin, 1.0)
        place = f" ({short_name(lines[0].file)}:{lines[0].line})" if lines and lines[0].line else ""
        texts.append(_cut(print_shared(crossing.relation)) + place)
    return texts


def _loop(info: BlockInfo, where: _Where) -> Loop | None:
    block = info.block
    if not isinstance(block, s.LinearLoop | s.NonlinearLoop | s.MixedLoop):
        return None
    torn = () if isinstance(block, s.MixedLoop) else tuple(u.name for u in block.unknowns)
    why: tuple[str, ...] = ()
    if isinstance(block, s.MixedLoop):
        why = _decided(block, where)
    elif isinstance(block, s.NonlinearLoop):
        why = what_is_nonlinear(block)
    others = tuple(u for u in info.unknowns if u not in torn and u not in where.made)
    return Loop(_LOOPS[type(block).__name__], len(info.unknowns), torn, why, others)


def _decided(block: s.MixedLoop, where: _Where) -> tuple[str, ...]:
    """What a mixed loop decides: relations as they are written, then the discrete variables that follow from them."""
    names = where.declared_first(t.name for b in block.discrete for t in s.targets(b))
    values = {b.target.name: b.value for b in block.discrete if isinstance(b, s.Assignment)}
    made = [_cut(print_shared(values[name])) for name in names if name in where.made and name in values]
    return (*made, *(name for name in names if name not in where.made or name not in values))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def listings(places: Sequence[Place], libraries: Libraries | None, around: int = 2) -> dict[str, dict[int, str]]:
    """The text of every line that has a cost, and of a few around it: a report shows them without the files."""
    sources = libraries.sources if libraries is not None else None
    wanted: dict[str, set[int]] = {}
    for line in (line for place in places for line in place.lines if line.line > 0):
        wanted.setdefault(line.file, set()).update(range(max(1, line.line - around), line.line + around + 1))
    texts: dict[str, dict[int, str]] = {}
    for file, numbers in sorted(wanted.items()):
        text = sources.text(file) if sources is not None else None
        n_lines = text.count("\n") + 1 if text is not None else 0
        if sources is not None and n_lines:
            texts[file] = {n: sources.line_text(file, n) for n in sorted(numbers) if n <= n_lines}
    return texts
