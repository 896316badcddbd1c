"""Clock inference: what parts and what joins, rates as fractions, contradictions."""

from __future__ import annotations

from fractions import Fraction

import pytest

from kilohertz.base import ModelError
from kilohertz.ir.expr import TIME, Binary, Builtin, Expr, Int, Real, Ref, Str
from kilohertz.ir.flat import (
    PARAMETER,
    Algorithm,
    Assign,
    ClockPartition,
    Equality,
    Equation,
    Flat,
    Variable,
    WhenEquation,
)
from kilohertz.ir.types import BOOLEAN, CLOCK, INTEGER, REAL, Type
from kilohertz.semantics.balancing.clock_inference import clock_partitions, infer_clocks


def r(name: str) -> Ref:
    return Ref(name, REAL)


def c(name: str) -> Ref:
    return Ref(name, CLOCK)


def op(name: str, *args: Expr | int, ty: Type = REAL) -> Expr:
    return Builtin(name, tuple(Int(a) if isinstance(a, int) else a for a in args), ty)


def clock(*args: Expr | int) -> Expr:
    return op("Clock", *args, ty=CLOCK)


def eq(left: Expr | str, right: Expr) -> Equality:
    return Equality(r(left) if isinstance(left, str) else left, right)


def model(names: str, clocks: str, *equations: Equation, extra: list[Variable] | None = None) -> Flat:
    variables = (
        [Variable(n, REAL) for n in names.split()] + [Variable(n, CLOCK) for n in clocks.split()] + (extra or [])
    )
    return Flat("M", {v.name: v for v in variables}, list(equations))


def of(partitions: list[ClockPartition], name: str) -> ClockPartition:
    (found,) = [p for p in partitions if name in p.variables]
    return found


def codes(flat: Flat) -> list[str]:
    return [d.code for d in infer_clocks(flat).diagnostics]


def test_without_clocks_there_is_one_continuous_partition() -> None:
    tick = op("sample", Real(0.0), Real(1.0), ty=BOOLEAN)
    flat = model("x y", "", eq("x", TIME), WhenEquation([(tick, [eq("y", r("x"))])]))
    (only,) = clock_partitions(flat)
    assert (only.base, only.equations, only.variables) == (None, (0, 1), ("x", "y"))


def test_sample_and_hold_make_three_partitions_of_two_kinds() -> None:
    flat = model(
        "u ud yd y",
        "",
        eq("u", TIME),
        eq("ud", op("sampled", r("u"), clock(1, 50))),
        eq("yd", Binary("+", r("ud"), op("previous", r("yd")), REAL)),
        eq("y", op("hold", r("yd"))),
    )
    continuous, clocked = clock_partitions(flat)
    assert continuous.variables == ("u", "y")
    assert continuous.equations == (0, 3)
    assert clocked.variables == ("ud", "yd")
    assert clocked.equations == (1, 2)
    assert clocked.clock is clock(1, 50)
    assert clocked.base == 1
    assert (clocked.factor, clocked.shift) == (Fraction(1), Fraction(0))


def test_rates_go_both_ways_through_rate_changes() -> None:
    flat = model(
        "u a b d e f",
        "k",
        eq(c("k"), clock(Real(0.02))),
        eq("u", TIME),
        eq("b", op("subSample", r("a"), 3)),  # a only gets its clock from b
        eq("b", op("sampled", r("u"), c("k"))),
        eq("d", op("superSample", r("b"), 2)),
        eq("e", op("shiftSample", r("d"), 1, 4)),
        eq("f", op("backSample", r("e"), 1, 8)),
    )
    partitions = clock_partitions(flat)
    rates = {n: (of(partitions, n).factor, of(partitions, n).shift) for n in "abdef"}
    half = Fraction(1, 2)
    assert rates == {
        "a": (Fraction(1, 3), 0),
        "b": (1, 0),
        "d": (half, 0),
        "e": (half, half / 4),
        "f": (half, half / 8),
    }
    assert {of(partitions, n).base for n in "abdef"} == {1}
    assert all(of(partitions, n).clock is clock(Real(0.02)) for n in "abdef")
    assert "k" in of(partitions, "b").variables


def test_factors_come_from_parameters() -> None:
    n = Variable("n", INTEGER, PARAMETER, binding=Ref("m", INTEGER))
    m = Variable("m", INTEGER, PARAMETER, binding=Int(4))
    flat = model(
        "a b",
        "",
        eq("a", op("sampled", TIME, clock(1))),
        eq("b", op("subSample", r("a"), Ref("n", INTEGER))),
        extra=[n, m],
    )
    assert of(clock_partitions(flat), "b").factor == 4


def test_two_base_clocks_stay_apart() -> None:
    flat = model(
        "a b", "", eq("a", op("sampled", TIME, clock(1))), eq("b", op("sampled", op("hold", r("a")), clock(2)))
    )
    partitions = clock_partitions(flat)
    assert of(partitions, "a").base != of(partitions, "b").base


def test_noclock_parts_without_relation() -> None:
    flat = model(
        "a b",
        "",
        eq("a", op("sampled", TIME, clock(1))),
        eq("b", Binary("+", op("noClock", r("a")), op("sampled", TIME, clock(2)), REAL)),
    )
    partitions = clock_partitions(flat)
    assert of(partitions, "a").clock is clock(1)
    assert of(partitions, "b").clock is clock(2)
    assert of(partitions, "a").base == of(partitions, "b").base


def test_a_clocked_when_joins_its_body() -> None:
    body: list[Equation] = [eq("x", op("sampled", TIME)), eq("y", r("z"))]
    flat = model("x y z", "k", WhenEquation([(c("k"), body)]), eq(c("k"), clock(5)))
    _, clocked = clock_partitions(flat)
    assert clocked.variables == ("x", "y", "z", "k")


def test_bindings_and_algorithms_take_part() -> None:
    flat = model("a b", "", extra=[Variable("s", REAL, binding=op("sampled", TIME, clock(1)))])
    flat.algorithms = [Algorithm([Assign(r("a"), r("s")), Assign(r("b"), r("a"))])]
    continuous, clocked = clock_partitions(flat)
    assert not continuous.variables
    assert clocked.variables == ("a", "b", "s")
    assert clocked.algorithms == (0,)


def test_a_solver_method_has_its_own_partition_at_the_same_rate() -> None:
    euler = Str("ExplicitEuler")
    flat = model(
        "x y",
        "j k",
        eq(c("j"), clock(2)),
        eq(c("k"), clock(c("j"), euler)),
        eq("x", op("sampled", TIME, c("k"))),
        eq("y", op("sampled", TIME, c("j"))),
    )
    partitions = clock_partitions(flat)
    x, y = of(partitions, "x"), of(partitions, "y")
    assert (x.solver, y.solver) == (euler, None)
    assert x.clock is y.clock is clock(2)
    assert x.factor == y.factor == 1


def test_an_event_clock_takes_its_condition_from_outside() -> None:
    condition = Binary(">", r("x"), Real(1.0), BOOLEAN)
    flat = model("x y", "", eq("x", TIME), eq("y", op("sampled", r("x"), clock(condition, Real(0.1)))))
    continuous, clocked = clock_partitions(flat)
    assert continuous.variables == ("x",)
    assert clocked.variables == ("y",)


def test_an_inferred_clock_may_stay_open() -> None:
    flat = model("y", "", eq("y", op("sampled", TIME)))
    assert of(clock_partitions(flat), "y").clock is None


def test_clocked_meets_continuous() -> None:
    flat = model(
        "a b x",
        "",
        eq("a", op("sampled", TIME, clock(1))),
        eq("b", op("hold", r("a"))),
        eq("x", Binary("+", r("a"), r("b"), REAL)),
    )
    assert codes(flat) == ["S470"]
    with pytest.raises(ModelError):
        clock_partitions(flat)


def test_two_clocks_meet() -> None:
    flat = model("a", "", eq("a", Binary("+", op("sampled", TIME, clock(1)), op("sampled", TIME, clock(2)), REAL)))
    assert codes(flat) == ["S471"]
    same = model(
        "a b",
        "",
        eq("a", op("sampled", TIME, clock(1, 10))),
        eq("b", Binary("+", op("subSample", r("a"), 5), op("sampled", TIME, clock(1, 2)), REAL)),
    )
    assert codes(same) == []


def test_a_loop_of_rates_that_does_not_close() -> None:
    flat = model("a b", "", eq("b", op("subSample", r("a"), 2)), eq("a", op("superSample", r("b"), 3)))
    assert codes(flat) == ["S472"]
    closed = model("a b", "", eq("b", op("subSample", r("a"), 2)), eq("a", op("superSample", r("b"), 2)))
    assert codes(closed) == []


def test_a_factor_left_out_follows_from_the_clocks() -> None:
    def between(first: Expr, second: Expr) -> Flat:
        sampled = eq("a", op("sampled", TIME, first))
        return model(
            "a b", "", sampled, eq("b", Binary("+", op("subSample", r("a")), op("sampled", TIME, second), REAL))
        )

    assert codes(between(clock(1, 10), clock(3, 10))) == []
    assert codes(between(clock(2, 10), clock(3, 10))) == ["S472"]
    assert codes(between(clock(), clock(3, 10))) == ["S474"]


def test_a_clock_cannot_start_before_its_base() -> None:
    flat = model("a b", "", eq("a", op("sampled", TIME, clock(1))), eq("b", op("backSample", r("a"), 1, 2)))
    assert codes(flat) == ["S473"]
