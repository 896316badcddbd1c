"""Zones of clocks: what stands together in an expression, and how it is related to what stands apart.

The first half of clock inference (`clock_inference.py` has the idea and the rules).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from kilohertz.base import Origin
from kilohertz.graphs import UnionFind
from kilohertz.ir.expr import Array, Builtin, Expr, Index, Int, Ref
from kilohertz.ir.flat import (
    CONSTANT,
    PARAMETER,
    Equality,
    Equation,
    Flat,
    Statement,
    TupleTarget,
    WhenEquation,
    WhenStatement,
)
from kilohertz.ir.types import CLOCK
from kilohertz.semantics.balancing.equation_parts import bodies, expressions
from kilohertz.semantics.balancing.incidence import scalar_size

RATE_CHANGES = frozenset({"subSample", "superSample", "shiftSample", "backSample"})
CLOCKED = frozenset({"previous", "firstTick", "interval", "noClock", "Clock", "sampled", "hold", *RATE_CHANGES})


def varies(flat: Flat, name: str) -> bool:
    """Whether a name takes part: variables do, and objects that a tick makes."""
    variable = flat.variables.get(name)
    return variable is not None and variable.variability not in (PARAMETER, CONSTANT)


@dataclass(frozen=True, slots=True)
class Relation:
    """`outer` is the rate-changed `inner`; amount None where the factor is to be inferred."""

    outer: int
    inner: int
    operator: str
    amount: Fraction | None
    origin: Origin


@dataclass(frozen=True, slots=True)
class Definition:
    zone: int
    clock: Builtin
    origin: Origin


@dataclass(frozen=True, slots=True)
class Edge:
    """Why two zones are in one base partition, and (`related`) why the ticks of one follow from those of the other."""

    a: int
    b: int
    origin: Origin
    related: bool = True


class Zones:
    """Zones and variables as numbers, joined in base partitions and in sub-partitions."""

    def __init__(self, flat: Flat) -> None:
        self.base = UnionFind()
        self.sub = UnionFind()
        self.variables: dict[str, int] = {}
        self.relations: list[Relation] = []
        self.definitions: list[Definition] = []
        self.solvers: dict[int, Expr] = {}
        self.clocked: dict[int, Origin] = {}  # zones that must be clocked, and why
        self.unclocked: dict[int, Origin] = {}
        self.edges: list[Edge] = []
        self._flat = flat

    def declare(self) -> None:
        """All variables take part, and their bindings are equations."""
        for name, variable in self._flat.variables.items():
            if not varies(self._flat, name):
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
        self.edges.append(Edge(a, b, origin))

    def _relate(self, outer: int, inner: int, operator: str, amount: Fraction | None, origin: Origin) -> None:
        self.relations.append(Relation(outer, inner, operator, amount, origin))
        self.edges.append(Edge(outer, inner, origin))

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
                if varies(self._flat, e.name):
                    several = scalar_size(e.ty) if e.ty.base == CLOCK.base else 1
                    for k in range(several):
                        self._join(here, self._variable(e.name) + k, origin)
            elif (position := _position(e)) is not None:
                self._join(here, self._variable(position[0]) + position[1], origin)
            elif isinstance(e, Builtin) and e.name in CLOCKED:
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
        if e.name in RATE_CHANGES:
            self._relate(here, inner, e.name, self._amount(e), origin)
        elif e.name == "noClock":
            self.edges.append(Edge(here, inner, origin, related=False))

    def _clock(self, e: Builtin, here: int, origin: Origin) -> Iterator[tuple[Expr, int]]:
        self.clocked.setdefault(here, origin)
        if not e.args:
            return  # inferred
        if e.args[0].ty.base == CLOCK.base:  # Clock(c, solverMethod): the ticks of c, a partition of its own
            inner = self._zone()
            self.base.union(here, inner)
            self._relate(here, inner, "Clock", Fraction(0), origin)
            if len(e.args) > 1:
                self.solvers.setdefault(here, e.args[1])
            yield e.args[0], inner
            return
        self.definitions.append(Definition(here, e, origin))
        for argument in e.args:  # an interval or a condition comes from elsewhere
            yield argument, self._zone()

    def _amount(self, e: Builtin) -> Fraction | None:
        values = [integer(self._flat, argument) for argument in e.args[1:]]
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


def integer(flat: Flat, e: Expr) -> int | None:
    """The value of an Integer literal, or of a parameter bound to one."""
    e = bound(flat, e)
    return e.value if isinstance(e, Int) else None


def bound(flat: Flat, e: Expr) -> Expr:
    """What a parameter is bound to in the end; anything else as it is."""
    for _ in range(100):  # a chain of parameters; a longer one is a cycle
        variable = flat.variables.get(e.name) if isinstance(e, Ref) else None
        if variable is None or variable.binding is None or varies(flat, variable.name):
            break
        e = variable.binding
    return e
