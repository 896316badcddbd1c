"""Clock inference: which equations and variables run under which clock (MLS 16.7).

Variables that share an equation run together.  The operators part them:

  sample(u), hold(u)                          two base partitions: u on one side, the value on the other
  subSample, superSample, shiftSample, ...    one base partition, two sub-partitions whose ticks are related
  noClock(u)                                  one base partition, two sub-partitions with no relation

(In Flat the clocked sample is `sampled`; `sample` is the event generator.)

So every expression falls into zones: what stands outside of these operators, and the argument of each.  A zone and its
variables are joined by union-find, once for base partitions and once for sub-partitions.  A base partition is clocked
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
from kilohertz.graphs import UnionFind
from kilohertz.ir.expr import Builtin, Expr, Int, Real, Ref
from kilohertz.ir.flat import (
    CONSTANT,
    PARAMETER,
    ClockPartition,
    Equation,
    Flat,
    Statement,
    WhenEquation,
    WhenStatement,
)
from kilohertz.ir.types import CLOCK, ExternalObjectType
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
        self._flat = flat

    def declare(self) -> None:
        """All variables take part, and their bindings are equations."""
        for name, variable in self._flat.variables.items():
            if not _varies(self._flat, name):
                continue
            number = self._variable(name)
            if variable.ty.base == CLOCK.base:
                self.clocked.setdefault(number, variable.origin)
            if variable.binding is not None:
                self._expression(variable.binding, number, variable.origin)

    def of_part(self, part: Equation | Statement) -> int:
        """The zone of an equation or statement with all that stands in it."""
        zone = self._zone()
        pending = [part]
        while pending:
            one = pending.pop()
            if isinstance(one, WhenEquation | WhenStatement) and one.branches[0][0].ty.base == CLOCK.base:
                self.clocked.setdefault(zone, one.origin)
            for e in expressions(one):
                self._expression(e, zone, one.origin)
            pending += bodies(one)
        return zone

    def of_algorithm(self, statements: list[Statement]) -> int:
        zone = self._zone()
        for statement in statements:
            self._join(zone, self.of_part(statement))
        return zone

    def _zone(self) -> int:
        self.base.add()
        return self.sub.add()

    def _variable(self, name: str) -> int:
        number = self.variables.get(name)
        if number is None:
            number = self.variables[name] = self._zone()
        return number

    def _join(self, a: int, b: int) -> None:
        self.base.union(a, b)
        self.sub.union(a, b)

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
                    self._join(here, self._variable(e.name))
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
            self.relations.append(_Relation(here, inner, e.name, self._amount(e), origin))

    def _clock(self, e: Builtin, here: int, origin: Origin) -> Iterator[tuple[Expr, int]]:
        self.clocked.setdefault(here, origin)
        if not e.args:
            return  # inferred
        if e.args[0].ty.base == CLOCK.base:  # Clock(c, solverMethod): the ticks of c, a partition of its own
            inner = self._zone()
            self.base.union(here, inner)
            self.relations.append(_Relation(here, inner, "shiftSample", Fraction(0), origin))
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


def _integer(flat: Flat, e: Expr) -> int | None:
    """The value of an Integer literal, or of a parameter bound to one."""
    for _ in range(100):  # a chain of parameters; a longer one is a cycle
        if isinstance(e, Int):
            return e.value
        variable = flat.variables.get(e.name) if isinstance(e, Ref) else None
        if variable is None or variable.binding is None or _varies(flat, variable.name):
            return None
        e = variable.binding
    return None


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

    def result(self) -> ClockResult:
        clocked = self._clocked_bases()
        self._spread()
        self._check()
        return ClockResult(tuple(self._partitions(clocked)), tuple(self._diagnostics))

    def _clocked_bases(self) -> set[int]:
        base = self._zones.base
        why: dict[int, Origin] = {}
        for zone, origin in self._zones.clocked.items():
            why.setdefault(base.find(zone), origin)
        told: set[int] = set()
        for zone, origin in self._zones.unclocked.items():
            root = base.find(zone)
            if root in why and root not in told:
                told.add(root)
                self._diagnostics.append(_mixed(why[root], origin))
        return set(why)

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
                        self._ticks[other] = _related(self._ticks[at], relation, outwards)
                        queue.append(other)

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
                note = Note("the other clock is defined here", first.origin.spans[0] if first.origin.spans else None)
                self._diagnostics.append(_at("S471", "two different clocks meet here", definition.origin, note))
        for ticks in self._ticks.values():
            if ticks.shift < 0 and ticks.anchor in self._clock_of:
                text = "backSample makes a clock start before its base clock"
                self._diagnostics.append(_at("S473", text, self._clock_of[ticks.anchor].origin))
                return

    def _check_inferred(self, relation: _Relation, outer: _Ticks | None, inner: _Ticks | None) -> None:
        """A factor left out must come out as a whole number from the clocks on both sides."""
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
    first = clock.args[0]
    if isinstance(first, Real):  # a decimal as it was written: 0.02 is 1/50
        return Fraction(repr(first.value)) if 0 < first.value < math.inf else None
    n = _integer(flat, first)
    resolution = _integer(flat, clock.args[1]) if len(clock.args) > 1 else 1
    return Fraction(n, resolution) if n and resolution and n * resolution > 0 else None


def _at(code: str, text: str, origin: Origin, *notes: Note) -> Diagnostic:
    return Diagnostic(code, text, origin.spans[0] if origin.spans else None, "", notes)


def _mixed(clocked: Origin, unclocked: Origin) -> Diagnostic:
    text = "clocked and continuous variables meet without sample or hold between them"
    note = Note("continuous because of this", unclocked.spans[0] if unclocked.spans else None)
    return _at("S470", text, clocked, note)
