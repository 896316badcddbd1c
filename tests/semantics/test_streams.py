"""inStream in its cases (MLS 15.2), checked as expressions and, for the mixture, as numbers."""

from __future__ import annotations

import math
from itertools import combinations

import pytest

from kilohertz.base import InternalError, Origin
from kilohertz.ir.expr import Binary, Builtin, Expr, IfExp, Int, Real, Ref, Unary
from kilohertz.ir.flat import Equality
from kilohertz.ir.types import REAL
from kilohertz.semantics.connecting.connect_sets import Connection, Leaf, connection_equations
from kilohertz.semantics.connecting.streams import StreamTable, StreamVariable


def h(name: str) -> Leaf:
    return Leaf.of(f"{name}.h", REAL, "stream")


def variable(name: str, low: float = -math.inf, high: float = math.inf) -> StreamVariable:
    return StreamVariable(h(name), Leaf.of(f"{name}.m", REAL, "flow"), low, high)


def table(variables: list[StreamVariable], *edges: str) -> StreamTable:
    """Edges like `a b` or `^p a`, where ^ marks an outside connector."""
    connections = []
    for edge in edges:
        left, right = edge.split()
        sides = h(left.lstrip("^")), h(right.lstrip("^"))
        connections.append(Connection((sides[0],), (sides[1],), left[0] == "^", right[0] == "^", Origin()))
    sets = connection_equations(connections, []).stream_sets
    return StreamTable(sets, {v.leaf.name: v for v in variables})


def value(e: Expr, at: dict[str, float]) -> float:
    match e:
        case Ref(name):
            return at[name]
        case Real(number) | Int(number):
            return number
        case Unary("-", operand):
            return -value(operand, at)
        case Binary(op, left, right):
            a, b = value(left, at), value(right, at)
            return {"+": a + b, "*": a * b, ">": float(a > b)}[op] if op != "/" else a / b
        case Builtin("max", (a, b)):
            return max(value(a, at), value(b, at))
        case Builtin("smooth", (_, a)):
            return value(a, at)
        case IfExp(c, a, b):
            return value(a, at) if value(c, at) else value(b, at)
    raise AssertionError(e)


def test_alone_it_sees_itself() -> None:
    assert table([variable("a")]).in_stream("a.h") is Ref("a.h", REAL)


def test_two_see_each_other() -> None:
    both = table([variable("a"), variable("b")], "a b")
    assert both.in_stream("a.h") is Ref("b.h", REAL)
    assert both.in_stream("b.h") is Ref("a.h", REAL)
    assert not both.equations


def test_one_inside_one_outside_passes_through_to_the_level_above() -> None:
    names = [variable(n) for n in ("m.p", "m.a", "s")]
    through = table(names, "^m.p m.a", "m.p s")
    assert through.in_stream("m.a.h") is Ref("s.h", REAL)
    assert through.in_stream("m.p.h") is Ref("s.h", REAL)
    (equation,) = through.equations
    assert equation.left is Ref("m.p.h", REAL)
    assert equation.right is Ref("m.a.h", REAL)


def test_an_outside_connector_of_the_top_level_sees_itself() -> None:
    top = table([variable("p"), variable("a")], "^p a")
    assert top.in_stream("a.h") is Ref("p.h", REAL)


def test_two_outside_connectors_cross() -> None:
    top = table([variable("p"), variable("q")], "^p ^q")
    assert [(e.left, e.right) for e in top.equations] == [
        (Ref("p.h", REAL), Ref("q.h", REAL)),
        (Ref("q.h", REAL), Ref("p.h", REAL)),
    ]


def test_three_mix_by_what_flows_in() -> None:
    mix = table([variable(n) for n in "abc"], "a b", "b c")
    at = {"a.m": 3.0, "b.m": -2.0, "c.m": -1.0, "a.h": 7.0, "b.h": 10.0, "c.h": 40.0}
    assert value(mix.in_stream("a.h"), at) == pytest.approx(20.0)
    assert value(mix.in_stream("b.h"), at) == pytest.approx(40.0, rel=1e-5)  # a takes, so only c feeds
    assert value(mix.actual_stream("a.h"), at) == pytest.approx(20.0)
    assert value(mix.actual_stream("b.h"), at) == 10.0
    still = dict(at, **{"a.m": 0.0, "b.m": 0.0, "c.m": 0.0})
    assert value(mix.in_stream("a.h"), still) == pytest.approx(25.0)


def test_outside_members_feed_when_their_flow_is_positive() -> None:
    mix = table([variable(n) for n in ("p", "a", "b")], "^p a", "a b")
    at = {"p.m": 2.0, "a.m": 3.0, "b.m": -1.0, "p.h": 10.0, "a.h": 0.0, "b.h": 40.0}
    assert value(mix.in_stream("a.h"), at) == pytest.approx(20.0)
    (equation,) = mix.equations
    assert equation.left is Ref("p.h", REAL)
    assert value(equation.right, dict(at, **{"a.m": -1.0})) == pytest.approx(20.0)


def test_members_that_never_feed_have_no_term() -> None:
    sensor = table([variable("a"), variable("b"), variable("s", low=0.0)], "a b", "b s")
    assert sensor.in_stream("a.h") is Ref("b.h", REAL)
    assert sensor.in_stream("b.h") is Ref("a.h", REAL)
    assert isinstance(sensor.in_stream("s.h"), Binary)
    sinks = table([variable("a"), variable("b", low=0.0), variable("c", low=0.0)], "a b", "b c")
    assert sinks.in_stream("a.h") is Ref("a.h", REAL)


def test_nothing_ever_leaves_by_the_outside_connector() -> None:
    sinks = table([variable("p"), variable("b", low=0.0), variable("c", low=0.0)], "^p b", "b c")
    (equation,) = sinks.equations
    assert equation.right is Real(0.0)


def test_arrays_are_mixed_whole() -> None:
    ty = REAL.array_of(2)
    leaves = {n: Leaf.of(f"{n}.X", ty, "stream") for n in "abc"}
    variables = {f"{n}.X": StreamVariable(leaf, Leaf.of(f"{n}.m", REAL, "flow")) for n, leaf in leaves.items()}
    connections = [Connection((leaves[a],), (leaves[b],), False, False, Origin()) for a, b in combinations("abc", 2)]
    mix = StreamTable(connection_equations(connections, []).stream_sets, variables).in_stream("a.X")
    assert isinstance(mix, Binary)
    assert (mix.op, mix.ty) == ("./", ty)
    assert mix.left.ty == ty
    assert mix.right.ty == REAL


def test_a_connector_that_feeds_itself_does_not_hang() -> None:
    loop = table([variable("w"), variable("m")], "^m w", "m w")
    assert isinstance(loop.in_stream("m.h"), Expr)
    assert all(isinstance(e, Equality) for e in loop.equations)


def test_an_unknown_name_is_our_mistake() -> None:
    with pytest.raises(InternalError):
        table([]).in_stream("x.h")
