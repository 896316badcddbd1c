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
from itertools import product
from typing import TypeVar

from kilohertz.base import Diagnostic, ModelError, Note, Origin
from kilohertz.graphs import UnionFind
from kilohertz.ir.expr import Array, Builtin, Expr, Index, Int, Real, Ref
from kilohertz.ir.flat import (
    CONSTANT,
    PARAMETER,
    ClockPartition,
    Equality,
    Equation,
    Flat,
    Statement,
    TupleTarget,
    WhenEquation,
    WhenStatement,
)
from kilohertz.ir.types import CLOCK, ExternalObjectType
from kilohertz.semantics.balancing.incidence import scalar_size
from kilohertz.semantics.balancing.parts import bodies, expressions

_K = TypeVar("_K")

_RATE_CHANGES = frozenset({"subSample", "superSample", "shiftSample", "backSample"})
_CLOCKED = frozenset({"previous", "firstTick", "interval", "noClock", "Clock", "sampled", "hold", *_RATE_CHANGES})


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
        variables = tuple(name for name in flat.variables if _varies(flat, name))
        equations, algorithms = tuple(range(len(flat.equations))), tuple(range(len(flat.algorithms)))
        return ClockResult((_continuous(equations, algorithms, variables),), ())
    zones = _Zones(flat)
    equation_zones = [zones.of_part(e) for e in flat.equations]
    algorithm_zones = [zones.of_algorithm(a.statements) for a in flat.algorithms]
    zones.declare()
    return _Inference(flat, zones, equation_zones, algorithm_zones).result()


def _continuous(equations: tuple[int, ...], algorithms: tuple[int, ...], variables: tuple[str, ...]) -> ClockPartition:
    return ClockPartition(None, None, Fraction(1), Fraction(0), None, equations, algorithms, variables)


def _varies(flat: Flat, name: str) -> bool:
    variable = flat.variables.get(name)
    if variable is None or variable.variability in (PARAMETER, CONSTANT):
        return False
    return not isinstance(variable.ty.base, ExternalObjectType)


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
        if isinstance(e, Builtin) and e.name in _CLOCKED:
            return True
        for child in e.children():
            if child not in seen:
                seen.add(child)
                stack.append(child)
    return False


# ---------------------------------------------------------------------------------------------------------------- zones


@dataclass(frozen=True, slots=True)
class _Relation:
    """`outer` is the rate-changed `inner`; amount None where the factor is to be inferred."""

    outer: int
    inner: int
    operator: str
    amount: Fraction | None
    origin: Origin


@dataclass(frozen=True, slots=True)
class _Definition:
    zone: int
    clock: Builtin
    origin: Origin


@dataclass(frozen=True, slots=True)
class _Edge:
    """Why two zones are in one base partition, and (`related`) why the ticks of one follow from those of the other."""

    a: int
    b: int
    origin: Origin
    related: bool = True


class _Zones:
    """Zones and variables as numbers, joined in base partitions and in sub-partitions."""

    def __init__(self, flat: Flat) -> None:
        self.base = UnionFind()
        self.sub = UnionFind()
        self.variables: dict[str, int] = {}
        self.relations: list[_Relation] = []
        self.definitions: list[_Definition] = []
        self.solvers: dict[int, Expr] = {}
        self.clocked: dict[int, Origin] = {}  # zones that must be clocked, and why
        self.unclocked: dict[int, Origin] = {}
        self.edges: list[_Edge] = []
        self._flat = flat

    def declare(self) -> None:
        """All variables take part, and their bindings are equations."""
        for name, variable in self._flat.variables.items():
            if not _varies(self._flat, name):
                continue
            number = self._variable(name)
            if variable.ty.base == CLOCK.base:
                for k in range(scalar_size(variable.ty)):
                    self.clocked.setdefault(number + k, variable.origin)
            if variable.binding is None:
                continue
            pairs = self._pairs(Ref(name, variable.ty), variable.binding)
            for zone, e in pairs or [(number, variable.binding)]:
                self._expression(e, zone, variable.origin)

    def of_part(self, part: Equation | Statement) -> int:
        """The zone of an equation or statement with all that stands in it."""
        zone = self._zone()
        pending = [part]
        while pending:
            one = pending.pop()
            if isinstance(one, WhenEquation | WhenStatement) and one.branches[0][0].ty.base == CLOCK.base:
                self.clocked.setdefault(zone, one.origin)
            pairs = self._pairs(one.left, one.right) if isinstance(one, Equality) else []
            for at, e in pairs or [(zone, e) for e in expressions(one)]:
                self._expression(e, at, one.origin)
            pending += bodies(one)
        return zone

    def of_algorithm(self, statements: list[Statement]) -> int:
        zone = self._zone()
        for statement in statements:
            self._join(zone, self.of_part(statement), statement.origin)
        return zone

    def _pairs(self, left: Expr | TupleTarget, right: Expr) -> list[tuple[int, Expr]]:
        """An equation between arrays of clocks as scalar ones: expressions with the zone of each; else empty."""
        if isinstance(left, TupleTarget) or left.ty.base != CLOCK.base or not left.ty.dims:
            return []
        these, those = _elements(left), _elements(right)
        if these is None or those is None or len(these) != len(those):
            return []
        zones = [self._zone() for _ in these]
        return [*zip(zones, these, strict=True), *zip(zones, those, strict=True)]

    def _zone(self) -> int:
        self.base.add()
        return self.sub.add()

    def _variable(self, name: str) -> int:
        """Its number; elements of an array of clocks have this one and those behind it."""
        number = self.variables.get(name)
        if number is None:
            number = self.variables[name] = self._zone()
            ty = self._flat.variables[name].ty
            for _ in range(scalar_size(ty) - 1 if ty.base == CLOCK.base else 0):
                self._zone()
        return number

    def _join(self, a: int, b: int, origin: Origin) -> None:
        self.base.union(a, b)
        self.sub.union(a, b)
        self.edges.append(_Edge(a, b, origin))

    def _relate(self, outer: int, inner: int, operator: str, amount: Fraction | None, origin: Origin) -> None:
        self.relations.append(_Relation(outer, inner, operator, amount, origin))
        self.edges.append(_Edge(outer, inner, origin))

    def _expression(self, expression: Expr, zone: int, origin: Origin) -> None:
        stack = [(expression, zone)]
        seen: set[tuple[Expr, int]] = set()
        while stack:
            view = stack.pop()
            if view in seen:
                continue
            seen.add(view)
            e, here = view
            if isinstance(e, Ref):
                if _varies(self._flat, e.name):
                    several = scalar_size(e.ty) if e.ty.base == CLOCK.base else 1
                    for k in range(several):
                        self._join(here, self._variable(e.name) + k, origin)
            elif (position := _position(e)) is not None:
                self._join(here, self._variable(position[0]) + position[1], origin)
            elif isinstance(e, Builtin) and e.name in _CLOCKED:
                stack += self._operator(e, here, origin)
            else:
                stack += [(child, here) for child in e.children()]

    def _operator(self, e: Builtin, here: int, origin: Origin) -> Iterator[tuple[Expr, int]]:
        """What a clock operator does to the zone it stands in; gives its arguments with theirs."""
        if e.name == "Clock":
            yield from self._clock(e, here, origin)
            return
        if e.name == "hold":
            self.unclocked.setdefault(here, origin)
        else:
            self.clocked.setdefault(here, origin)
        if e.name in ("previous", "firstTick", "interval"):
            yield from ((argument, here) for argument in e.args)
            return
        inner = self._zone()
        yield e.args[0], inner
        if e.name == "sampled":
            self.unclocked.setdefault(inner, origin)
            yield from ((clock, here) for clock in e.args[1:])
            return
        self.clocked.setdefault(inner, origin)
        if e.name != "hold":
            self.base.union(here, inner)
        if e.name in _RATE_CHANGES:
            self._relate(here, inner, e.name, self._amount(e), origin)
        elif e.name == "noClock":
            self.edges.append(_Edge(here, inner, origin, related=False))

    def _clock(self, e: Builtin, here: int, origin: Origin) -> Iterator[tuple[Expr, int]]:
        self.clocked.setdefault(here, origin)
        if not e.args:
            return  # inferred
        if e.args[0].ty.base == CLOCK.base:  # Clock(c, solverMethod): the ticks of c, a partition of its own
            inner = self._zone()
            self.base.union(here, inner)
            self._relate(here, inner, "shiftSample", Fraction(0), origin)
            if len(e.args) > 1:
                self.solvers.setdefault(here, e.args[1])
            yield e.args[0], inner
            return
        self.definitions.append(_Definition(here, e, origin))
        for argument in e.args:  # an interval or a condition comes from elsewhere
            yield argument, self._zone()

    def _amount(self, e: Builtin) -> Fraction | None:
        values = [_integer(self._flat, argument) for argument in e.args[1:]]
        if e.name in ("subSample", "superSample"):
            return Fraction(values[0]) if values and values[0] else None
        if not values or values[0] is None:
            return None
        resolution = values[1] if len(values) > 1 else 1
        return Fraction(values[0], resolution) if resolution else None


def _position(e: Expr) -> tuple[str, int] | None:
    """Array and row-major position of an element of an array of clocks."""
    if not isinstance(e, Index) or e.ty != CLOCK or not isinstance(e.base, Ref):
        return None
    position = 0
    for sub, size in zip(e.subs, e.base.ty.dims, strict=True):
        if not isinstance(sub, Int) or size is None:
            return None
        position = position * size + sub.value - 1
    return e.base.name, position


def _elements(e: Expr) -> list[Expr] | None:
    """The elements of an array of clocks, where it is spelt out or a variable."""
    if not e.ty.dims:
        return [e]
    if isinstance(e, Array):
        inner = [_elements(item) for item in e.elements]
        return None if None in inner else [x for items in inner if items is not None for x in items]
    if isinstance(e, Ref) and all(n is not None for n in e.ty.dims):
        ranges = [range(1, n + 1) for n in e.ty.dims if n is not None]
        return [Index(e, tuple(map(Int, at)), CLOCK) for at in product(*ranges)]
    return None


def _integer(flat: Flat, e: Expr) -> int | None:
    """The value of an Integer literal, or of a parameter bound to one."""
    e = _bound(flat, e)
    return e.value if isinstance(e, Int) else None


def _bound(flat: Flat, e: Expr) -> Expr:
    """What a parameter is bound to in the end; anything else as it is."""
    for _ in range(100):  # a chain of parameters; a longer one is a cycle
        variable = flat.variables.get(e.name) if isinstance(e, Ref) else None
        if variable is None or variable.binding is None or _varies(flat, variable.name):
            break
        e = variable.binding
    return e


# ------------------------------------------------------------------------------------------------------------ inference


@dataclass(frozen=True, slots=True)
class _Ticks:
    """Ticks relative to the clock of sub-partition `anchor`."""

    anchor: int
    factor: Fraction
    shift: Fraction


class _Inference:
    def __init__(self, flat: Flat, zones: _Zones, equations: list[int], algorithms: list[int]) -> None:
        self._flat = flat
        self._zones = zones
        self._equations = equations
        self._algorithms = algorithms
        self._diagnostics: list[Diagnostic] = []
        self._ticks: dict[int, _Ticks] = {}  # by sub-partition
        self._clock_of: dict[int, _Definition] = {}  # by sub-partition: its first definition
        self._too_early: _Relation | None = None  # it leads to before the first tick of a clock

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

    def _meeting(self, first: _Definition, other: _Definition) -> Diagnostic:
        between = self._way([first.zone], [other.zone], [e for e in self._zones.edges if e.related])[2]
        where = between[len(between) // 2].origin if between else other.origin
        notes = [
            Note(f"{which} clock is defined here", d.origin.spans[0])
            for which, d in (("one", first), ("the other", other))
            if d.origin.spans and d.origin.spans[:1] != where.spans[:1]
        ]
        return _at("S471", "two different clocks meet here", where, *notes)

    def _way(self, starts: list[int], ends: list[int], edges: list[_Edge]) -> tuple[int, int, list[_Edge]]:
        """The shortest way between zones of one partition: its ends, and what joins them."""
        near: dict[int, list[tuple[int, _Edge]]] = {}
        for edge in edges:
            near.setdefault(edge.a, []).append((edge.b, edge))
            near.setdefault(edge.b, []).append((edge.a, edge))
        goals = set(ends)
        came: dict[int, tuple[int, _Edge] | None] = dict.fromkeys(starts)
        queue = list(came)
        for at in queue:
            if at in goals:
                way: list[_Edge] = []
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
        links: dict[int, list[tuple[int, _Relation, bool]]] = {}
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

    def _check_inferred(self, relation: _Relation, outer: _Ticks | None, inner: _Ticks | None) -> None:
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

    def _agree(self, first: _Definition, other: _Definition, ticks: _Ticks) -> bool:
        if first.clock is other.clock:
            return ticks.factor == 1 and ticks.shift == 0
        a, b = _period(self._flat, first.clock), _period(self._flat, other.clock)
        return a is not None and b is not None and a * ticks.factor == b and ticks.shift == 0

    def _partitions(self, clocked: set[int]) -> Iterator[ClockPartition]:
        base, sub = self._zones.base, self._zones.sub
        numbers_of = self._zones.variables
        names = self._members([(n, numbers_of[n]) for n in self._flat.variables if n in numbers_of], clocked)
        equations = self._members(enumerate(self._equations), clocked)
        algorithms = self._members(enumerate(self._algorithms), clocked)
        yield _continuous(equations.pop(-1, ()), algorithms.pop(-1, ()), names.pop(-1, ()))
        solvers = {sub.find(zone): method for zone, method in self._zones.solvers.items()}
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

    def _members(self, numbered: Iterable[tuple[_K, int]], clocked: set[int]) -> dict[int, tuple[_K, ...]]:
        """Things by their sub-partition; by -1 what is continuous."""
        base, sub = self._zones.base, self._zones.sub
        members: dict[int, list[_K]] = {}
        for thing, zone in numbered:
            root = sub.find(zone) if base.find(zone) in clocked else -1
            members.setdefault(root, []).append(thing)
        return {root: tuple(things) for root, things in members.items()}


def _related(ticks: _Ticks, relation: _Relation, outwards: bool) -> _Ticks:
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
    first = _bound(flat, clock.args[0])
    if isinstance(first, Real):  # a decimal as it was written: 0.02 is 1/50
        return Fraction(repr(first.value)) if 0 < first.value < math.inf else None
    n = _integer(flat, first)
    resolution = _integer(flat, clock.args[1]) if len(clock.args) > 1 else 1
    return Fraction(n, resolution) if n and resolution and n * resolution > 0 else None


def _at(code: str, text: str, origin: Origin, *notes: Note) -> Diagnostic:
    return Diagnostic(code, text, origin.spans[0] if origin.spans else None, "", notes)
