"""Clock inference: which equations and variables run under which clock (MLS 16.7).

Variables that share an equation run together.  The operators part them:

  sample(u), hold(u)                          two base partitions: u on one side, the value on the other
  subSample, superSample, shiftSample, ...    one base partition, two sub-partitions whose ticks are related
  noClock(u)                                  one base partition, two sub-partitions with no relation

(In Flat the clocked sample is `sampled`; `sample` is the event generator.)

So every expression falls into zones: what stands outside of these operators, and the argument of each.  A zone and its
variables are joined by union-find, once for base partitions and once for sub-partitions; the elements of an array of
clocks are on their own.  A base partition is clocked
when anything in it says so (a clock, previous, the value of sample, the argument of hold).  Its sub-partitions then get
their clock from a definition `Clock(...)` in one of them, through the relations

  y = subSample(u, f)        interval(y) = f · interval(u)
  y = superSample(u, f)      interval(y) = interval(u) / f
  y = shiftSample(u, k, r)   start(y) = start(u) + k/r · interval(u);   backSample: minus

as exact fractions.  Cost: near-linear; a model without clocks is scanned once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from kilohertz.base import Diagnostic, ModelError, Note, Origin
from kilohertz.ir.expr import Builtin, Expr, Real
from kilohertz.ir.flat import (
    ClockPartition,
    Equation,
    Flat,
    Statement,
    Variable,
)
from kilohertz.ir.types import CLOCK, ExternalObjectType
from kilohertz.semantics.balancing.clock_zones import CLOCKED, Definition, Edge, Relation, Zones, bound, integer, varies
from kilohertz.semantics.balancing.equation_parts import bodies, expressions

_K = TypeVar("_K")


@dataclass(frozen=True, slots=True)
class ClockResult:
    partitions: tuple[ClockPartition, ...]  # the continuous one first
    diagnostics: tuple[Diagnostic, ...]


def clock_partitions(flat: Flat) -> list[ClockPartition]:
    """The partitions of a model, the continuous one first; raises where its clocks contradict each other."""
    result = infer_clocks(flat)
    if result.diagnostics:
        raise ModelError(*result.diagnostics)
    return list(result.partitions)


def infer_clocks(flat: Flat) -> ClockResult:
    """The partitions of a model and what is wrong with its clocks."""
    if not _has_clocks(flat):
        variables = tuple(name for name, v in flat.variables.items() if varies(flat, name) and not _is_object(v))
        equations, algorithms = tuple(range(len(flat.equations))), tuple(range(len(flat.algorithms)))
        return ClockResult((_continuous(equations, algorithms, variables),), ())
    zones = Zones(flat)
    equation_zones = [zones.of_part(e) for e in flat.equations]
    algorithm_zones = [zones.of_algorithm(a.statements) for a in flat.algorithms]
    zones.declare()
    return _Inference(flat, zones, equation_zones, algorithm_zones).result()


def _is_object(variable: Variable) -> bool:
    """Objects tie what uses them to one clock, but are no variables of a partition."""
    return isinstance(variable.ty.base, ExternalObjectType)


def _continuous(equations: tuple[int, ...], algorithms: tuple[int, ...], variables: tuple[str, ...]) -> ClockPartition:
    return ClockPartition(None, None, Fraction(1), Fraction(0), None, equations, algorithms, variables)


def _has_clocks(flat: Flat) -> bool:
    if any(v.ty.base == CLOCK.base for v in flat.variables.values()):
        return True
    seen: set[Expr] = set()
    stack = [v.binding for v in flat.variables.values() if v.binding is not None]
    parts: list[Equation | Statement] = [*flat.equations, *(s for a in flat.algorithms for s in a.statements)]
    while parts or stack:
        if not stack:
            part = parts.pop()
            stack += expressions(part)
            parts += bodies(part)
            continue
        e = stack.pop()
        if isinstance(e, Builtin) and e.name in CLOCKED:
            return True
        for child in e.children():
            if child not in seen:
                seen.add(child)
                stack.append(child)
    return False


@dataclass(frozen=True, slots=True)
class _Ticks:
    """Ticks relative to the clock of sub-partition `anchor`."""

    anchor: int
    factor: Fraction
    shift: Fraction


class _Inference:
    def __init__(self, flat: Flat, zones: Zones, equations: list[int], algorithms: list[int]) -> None:
        self._flat = flat
        self._zones = zones
        self._equations = equations
        self._algorithms = algorithms
        self._diagnostics: list[Diagnostic] = []
        self._ticks: dict[int, _Ticks] = {}  # by sub-partition
        self._clock_of: dict[int, Definition] = {}  # by sub-partition: its first definition
        self._too_early: Relation | None = None  # it leads to before the first tick of a clock

    def result(self) -> ClockResult:
        clocked = self._clocked_bases()
        self._spread()
        self._check()
        return ClockResult(tuple(self._partitions(clocked)), tuple(self._diagnostics))

    def _clocked_bases(self) -> set[int]:
        base = self._zones.base
        why: dict[int, list[int]] = {}
        for zone in self._zones.clocked:
            why.setdefault(base.find(zone), []).append(zone)
        mixed: dict[int, list[int]] = {}
        for zone in self._zones.unclocked:
            root = base.find(zone)
            if root in why:
                mixed.setdefault(root, []).append(zone)
        self._diagnostics += [self._mixed(why[root], zones) for root, zones in mixed.items()]
        return set(why)

    def _mixed(self, clocked: list[int], unclocked: list[int]) -> Diagnostic:
        first, last, between = self._way(clocked, unclocked, self._zones.edges)
        origins = self._zones.clocked[first], self._zones.unclocked[last]
        where = between[len(between) // 2].origin if between else origins[1]
        notes = [
            Note(f"{kind} because of this", origin.spans[0])
            for kind, origin in zip(("clocked", "continuous"), origins, strict=True)
            if origin.spans and origin.spans[:1] != where.spans[:1]
        ]
        return _at("S470", "clocked and continuous variables meet without sample or hold between them", where, *notes)

    def _meeting(self, first: Definition, other: Definition) -> Diagnostic:
        between = self._way([first.zone], [other.zone], [e for e in self._zones.edges if e.related])[2]
        where = between[len(between) // 2].origin if between else other.origin
        notes = [
            Note(f"{which} clock is defined here", d.origin.spans[0])
            for which, d in (("one", first), ("the other", other))
            if d.origin.spans and d.origin.spans[:1] != where.spans[:1]
        ]
        return _at("S471", "two different clocks meet here", where, *notes)

    def _way(self, starts: list[int], ends: list[int], edges: list[Edge]) -> tuple[int, int, list[Edge]]:
        """The shortest way between zones of one partition: its ends, and what joins them."""
        near: dict[int, list[tuple[int, Edge]]] = {}
        for edge in edges:
            near.setdefault(edge.a, []).append((edge.b, edge))
            near.setdefault(edge.b, []).append((edge.a, edge))
        goals = set(ends)
        came: dict[int, tuple[int, Edge] | None] = dict.fromkeys(starts)
        queue = list(came)
        for at in queue:
            if at in goals:
                way: list[Edge] = []
                last = at
                while (step := came[at]) is not None:
                    way.append(step[1])
                    at = step[0]
                return at, last, way[::-1]
            for other, edge in near.get(at, ()):
                if other not in came:
                    came[other] = at, edge
                    queue.append(other)
        return starts[0], ends[0], []

    def _spread(self) -> None:
        """Give every sub-partition its ticks, starting where a clock is defined."""
        sub = self._zones.sub
        for definition in self._zones.definitions:
            self._clock_of.setdefault(sub.find(definition.zone), definition)
        links: dict[int, list[tuple[int, Relation, bool]]] = {}
        for relation in self._zones.relations:
            outer, inner = sub.find(relation.outer), sub.find(relation.inner)
            if relation.amount is not None:
                links.setdefault(inner, []).append((outer, relation, True))
                links.setdefault(outer, []).append((inner, relation, False))
        for start in [*self._clock_of, *sorted(links)]:
            if start in self._ticks:
                continue
            self._ticks[start] = _Ticks(start, Fraction(1), Fraction(0))
            queue = [start]
            for at in queue:
                for other, relation, outwards in links.get(at, ()):
                    if other not in self._ticks:
                        ticks = self._ticks[other] = _related(self._ticks[at], relation, outwards)
                        queue.append(other)
                        if ticks.shift < 0 and start in self._clock_of and self._too_early is None:
                            self._too_early = relation

    def _check(self) -> None:
        """Every relation must hold, and definitions that meet must agree."""
        sub = self._zones.sub
        for relation in self._zones.relations:
            outer, inner = self._ticks.get(sub.find(relation.outer)), self._ticks.get(sub.find(relation.inner))
            if relation.amount is None:
                self._check_inferred(relation, outer, inner)
            elif inner is not None and outer != _related(inner, relation, True):
                text = f"the clocks before and after {relation.operator} do not differ by its factor"
                self._diagnostics.append(_at("S472", text, relation.origin))
        for definition in self._zones.definitions:
            ticks = self._ticks[sub.find(definition.zone)]
            first = self._clock_of[ticks.anchor]
            if not self._agree(first, definition, ticks):
                self._diagnostics.append(self._meeting(first, definition))
        if self._too_early is not None:
            text = f"{self._too_early.operator} makes a clock start before its base clock"
            self._diagnostics.append(_at("S473", text, self._too_early.origin))

    def _check_inferred(self, relation: Relation, outer: _Ticks | None, inner: _Ticks | None) -> None:
        """A factor left out must come out as a whole number from the clocks on both sides."""
        if outer is not None and inner is not None and outer.anchor == inner.anchor:
            ends: tuple[Fraction | None, Fraction | None] = outer.factor, inner.factor
        else:
            ends = self._interval(outer), self._interval(inner)
        if ends[0] is None or ends[1] is None:
            text = f"the factor of {relation.operator} cannot be inferred: both of its clocks must be known"
            self._diagnostics.append(_at("S474", text, relation.origin))
            return
        ratio = ends[0] / ends[1] if relation.operator == "subSample" else ends[1] / ends[0]
        if ratio.denominator != 1:
            text = f"{relation.operator} would need a factor of {ratio}, which is not whole"
            self._diagnostics.append(_at("S472", text, relation.origin))

    def _interval(self, ticks: _Ticks | None) -> Fraction | None:
        """Seconds between ticks, where the clock is periodic and known."""
        if ticks is None or ticks.anchor not in self._clock_of:
            return None
        period = _period(self._flat, self._clock_of[ticks.anchor].clock)
        return None if period is None else period * ticks.factor

    def _agree(self, first: Definition, other: Definition, ticks: _Ticks) -> bool:
        if first.clock is other.clock:
            return ticks.factor == 1 and ticks.shift == 0
        a, b = _period(self._flat, first.clock), _period(self._flat, other.clock)
        return a is not None and b is not None and a * ticks.factor == b and ticks.shift == 0

    def _partitions(self, clocked: set[int]) -> Iterator[ClockPartition]:
        base = self._zones.base
        numbers_of = self._zones.variables
        objects = {n for n, v in self._flat.variables.items() if _is_object(v)}
        variables = [(n, numbers_of[n]) for n in self._flat.variables if n in numbers_of and n not in objects]
        names = self._members(variables, clocked)
        equations = self._members(enumerate(self._equations), clocked)
        algorithms = self._members(enumerate(self._algorithms), clocked)
        yield _continuous(equations.pop(-1, ()), algorithms.pop(-1, ()), names.pop(-1, ()))
        solvers = self._solvers()
        numbers: dict[int, int] = {}
        for root in dict.fromkeys([*names, *equations, *algorithms]):
            ticks = self._ticks.get(root, _Ticks(root, Fraction(1), Fraction(0)))
            definition = self._clock_of.get(ticks.anchor)
            yield ClockPartition(
                numbers.setdefault(base.find(root), len(numbers) + 1),
                definition.clock if definition is not None else None,
                ticks.factor,
                ticks.shift,
                solvers.get(root),
                equations.get(root, ()),
                algorithms.get(root, ()),
                names.get(root, ()),
            )

    def _solvers(self) -> dict[int, Expr]:
        """Methods by sub-partition; one that has none takes that of its neighbours (MLS 16.8.4)."""
        sub = self._zones.sub
        methods = {sub.find(zone): method for zone, method in self._zones.solvers.items()}
        near: dict[int, list[int]] = {}
        ways = [(r.outer, r.inner) for r in self._zones.relations if r.operator != "Clock"]
        ways += [(e.a, e.b) for e in self._zones.edges if not e.related]  # noClock
        for outer, inner in ways:
            a, b = sub.find(outer), sub.find(inner)
            if a != b:
                near.setdefault(a, []).append(b)
                near.setdefault(b, []).append(a)
        queue = list(methods)
        for at in queue:
            for other in near.get(at, ()):
                if other not in methods:
                    methods[other] = methods[at]
                    queue.append(other)
        return methods

    def _members(self, numbered: Iterable[tuple[_K, int]], clocked: set[int]) -> dict[int, tuple[_K, ...]]:
        """Things by their sub-partition; by -1 what is continuous."""
        base, sub = self._zones.base, self._zones.sub
        members: dict[int, list[_K]] = {}
        for thing, zone in numbered:
            root = sub.find(zone) if base.find(zone) in clocked else -1
            members.setdefault(root, []).append(thing)
        return {root: tuple(things) for root, things in members.items()}


def _related(ticks: _Ticks, relation: Relation, outwards: bool) -> _Ticks:
    """Ticks on the other side of a rate change: of its value (outwards) or of its argument."""
    assert relation.amount is not None
    amount, factor, shift = relation.amount, ticks.factor, ticks.shift
    match relation.operator:
        case "subSample":
            factor = factor * amount if outwards else factor / amount
        case "superSample":
            factor = factor / amount if outwards else factor * amount
        case _:
            forward = outwards == (relation.operator == "shiftSample")
            shift = shift + amount * factor if forward else shift - amount * factor
    return _Ticks(ticks.anchor, factor, shift)


def _period(flat: Flat, clock: Builtin) -> Fraction | None:
    """Seconds between the ticks of `Clock(n, resolution)` or `Clock(interval)`, where they are literal and sensible."""
    first = bound(flat, clock.args[0])
    if isinstance(first, Real):  # a decimal as it was written: 0.02 is 1/50
        return Fraction(repr(first.value)) if 0 < first.value < math.inf else None
    n = integer(flat, first)
    resolution = integer(flat, clock.args[1]) if len(clock.args) > 1 else 1
    return Fraction(n, resolution) if n and resolution and n * resolution > 0 else None


def _at(code: str, text: str, origin: Origin, *notes: Note) -> Diagnostic:
    return Diagnostic(code, text, origin.spans[0] if origin.spans else None, "", notes)
