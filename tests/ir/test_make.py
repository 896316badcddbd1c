"""Smart constructors: types, folding, and walks that do not recurse."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kilohertz.base import InternalError
from kilohertz.interp import ArrayValue, Evaluator
from kilohertz.ir import (
    BOOLEAN,
    FALSE,
    INTEGER,
    REAL,
    TRUE,
    Array,
    Bool,
    Builtin,
    Colon,
    Comprehension,
    Enum,
    EnumType,
    Expr,
    Field,
    IfExp,
    Index,
    Int,
    Real,
    Record,
    RecordType,
    Ref,
    Str,
    Type,
    Unary,
    make,
    map_expr,
    print_expr,
    refs,
    walk,
)

x, y, n, b = Ref("x", REAL), Ref("y", REAL), Ref("n", INTEGER), Ref("b", BOOLEAN)
v, m = Ref("v", REAL.array_of(3)), Ref("m", REAL.array_of(2, 3))
ZERO, ONE = Real(0.0), Real(1.0)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (make.add(x, ZERO), x),
        (make.add(Int(0), x), x),
        (make.sub(x, ZERO), x),
        (make.sub(ZERO, x), Unary("-", x)),
        (make.mul(ONE, x), x),
        (make.mul(x, ZERO), ZERO),
        (make.mul(x, Real(-1.0)), Unary("-", x)),
        (make.div(x, Int(1)), x),
        (make.div(ZERO, x), ZERO),
        (make.pow_(x, Int(1)), x),
        (make.pow_(x, Int(0)), ONE),
        (make.pow_(Real(2.0), Int(3)), Real(8.0)),
        (make.neg(make.neg(x)), x),
        (make.add(x, make.neg(y)), make.sub(x, y)),
        (make.sub(x, make.neg(y)), make.add(x, y)),
        (make.not_(make.not_(b)), b),
        (make.and_(TRUE, b), b),
        (make.and_(b, FALSE), FALSE),
        (make.or_(b, TRUE), TRUE),
        (make.or_(FALSE, b), b),
        (make.if_(TRUE, x, y), x),
        (make.if_(b, x, x), x),
        (make.if_(b, TRUE, FALSE), b),
        (make.if_(b, FALSE, TRUE), make.not_(b)),
        (make.relation("<", Int(1), Real(2.0)), TRUE),
        (make.add(Str("a"), Str("b")), Str("ab")),
        (make.to_real(Int(2)), Real(2.0)),
        (make.to_real(n), Builtin("real", (n,), REAL)),
    ],
)
def test_folding(made: Expr, expected: Expr) -> None:
    assert made is expected


def test_what_cannot_be_computed_stays() -> None:
    assert print_expr(make.div(ONE, ZERO)) == "1.0/0.0"
    assert print_expr(make.div(ZERO, ZERO)) == "0.0/0.0"
    assert print_expr(make.pow_(Real(-1.0), Real(0.5))) == "(-1.0)^0.5"
    assert print_expr(make.pow_(Real(1e200), Real(2.0))) == "1e+200^2.0"
    assert print_expr(make.mul(v, ZERO)) == "v .* 0.0"


def test_operators_find_their_spelling_and_type() -> None:
    assert (print_expr(make.add(v, x)), make.add(v, x).ty) == ("v .+ x", v.ty)
    assert print_expr(make.add(v, v)) == "v + v"
    assert print_expr(make.mul(x, v)) == "x .* v"
    assert print_expr(make.elementwise(".*", v, v)) == "v .* v"
    assert print_expr(make.elementwise(".*", x, y)) == "x*y"
    assert print_expr(make.div(v, x)) == "v ./ x"
    assert make.mul(m, v).ty == REAL.array_of(2)
    assert make.mul(v, v).ty == REAL
    assert make.relation("<", n, x).ty == BOOLEAN
    assert print_expr(make.relation("<", n, x)) == "real(n) < x"
    assert print_expr(make.div(n, n)) == "real(n)/real(n)"
    assert make.add(n, n).ty == INTEGER
    unknown = Ref("unknown", REAL.array_of(None))
    assert make.add(unknown, v).ty == v.ty
    with pytest.raises(InternalError):
        make.add(x, b)
    with pytest.raises(InternalError):
        make.add(v, m)


def test_subscripts_fold() -> None:
    rows = make.array([make.array([x, y]), make.array([ONE, ZERO])])
    assert make.index(rows, (Int(1), Int(2))) is y
    assert make.index(rows, (Colon(), Int(1))) is make.array([x, ONE])
    assert make.index(rows, (Int(2),)) is make.array([ONE, ZERO])
    assert make.index(v, (Colon(),)) is v
    assert make.index(make.index(m, (Int(2),)), (Int(3),)) is Index(m, (Int(2), Int(3)), REAL)
    assert make.index(make.index(m, (Colon(), Int(3))), (Int(2),)) is Index(m, (Int(2), Int(3)), REAL)
    picked = make.array([Int(3), Int(1)])
    assert make.index(make.index(v, (picked,)), (Int(2),)) is Index(v, (Int(1),), REAL)
    assert make.index(m, (Int(1), picked)).ty == REAL.array_of(2)
    assert make.index(make.range_(Int(3), Int(2), Int(9)), (Int(2),)) is Int(5)
    assert isinstance(make.index(rows, (Int(3), Int(1))), Index)
    with pytest.raises(InternalError):
        make.index(v, (Int(1), Int(1)))


def test_fields_fold() -> None:
    point = Type(RecordType("Point", (("x", REAL), ("n", REAL.array_of(2)))))
    made = Record((x, make.array([y, ONE])), point)
    points = Ref("points", point.array_of(3))
    assert make.field(made, "x") is x
    assert make.field(make.array([made, made]), "x") is make.array([x, x])
    assert make.index(Field(points, "n"), (Int(2), Int(1))) is Index(
        Field(Index(points, (Int(2),), point), "n"), (Int(1),), REAL
    )
    assert make.zeros(point) is Record((ZERO, make.array([ZERO, ZERO])), point)


def test_literals_come_back_from_values() -> None:
    colour = Type(EnumType("Colour", ("red", "green")))
    point = Type(RecordType("Point", (("x", REAL), ("c", colour))))
    assert make.literal(2, REAL) is Real(2.0)
    assert make.literal(2, colour) is Enum(colour.base, 2)  # type: ignore[arg-type]  # an EnumType
    assert make.literal({"x": 1.0, "c": 1}, point).ty == point
    matrix = make.array([make.array([ONE, ZERO])])
    for value in ([[1.0, 0.0]], np.array([[1.0, 0.0]]), ArrayValue.of([[1.0, 0.0]])):
        assert make.literal(value, REAL.array_of(None, None)) is matrix
    assert make.literal(ArrayValue((0, 3), []), REAL.array_of(None, 3)) is Array((), REAL.array_of(0, 3))
    assert make.literal(np.zeros((2, 0)), REAL.array_of(2, None)).ty == REAL.array_of(2, 0)
    assert make.is_literal(matrix)
    assert not make.is_literal(make.array([x]))


@given(st.lists(st.lists(st.floats(allow_nan=False), min_size=2, max_size=2), max_size=4))
def test_literal_and_evaluation_are_inverse(rows: list[list[float]]) -> None:
    value = ArrayValue((len(rows), 2), [c for row in rows for c in row])
    assert Evaluator().evaluate(make.literal(value, REAL.array_of(None, 2))) == value


# ------------------------------------------------------------------------- folding never changes what comes out

leaves = st.sampled_from([x, y, ZERO, ONE, Real(-1.0), Real(2.0), Real(0.5)])
trees: st.SearchStrategy[Expr] = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(make.add, inner, inner),
        st.builds(make.sub, inner, inner),
        st.builds(make.mul, inner, inner),
        st.builds(make.neg, inner),
        st.builds(lambda a, c, d: make.if_(make.relation("<", a, c), c, d), inner, inner, inner),
    ),
    max_leaves=12,
)


@given(trees, st.floats(-10, 10), st.floats(-10, 10))
def test_substitution_folds_to_the_value(e: Expr, a: float, c: float) -> None:
    expected = Evaluator().evaluate(e, {"x": a, "y": c})
    result = make.substitute(e, {"x": Real(a), "y": Real(c)})
    assert isinstance(result, Real)
    assert math.isclose(result.value, expected, rel_tol=1e-12, abs_tol=1e-12)


def test_chains_of_any_length() -> None:
    e: Expr = x
    for k in range(100_000):
        e = make.sub(Real(float(k)), e) if k % 2 else IfExp(b, e, y)
    assert len(list(walk(e))) == 150_003
    assert {r.name for r in refs(e)} == {"b", "x", "y"}
    assert map_expr(e, make.folded) is e
    swapped = map_expr(e, lambda node: y if node is x else node)
    assert {r.name for r in refs(swapped)} == {"b", "y"}
    memo: dict[Expr, Expr] = {}
    assert {r.name for r in refs(make.substitute(e, {"x": Real(7.0)}, memo))} == {"b", "y"}
    assert len(memo) == 150_003


def test_iterators_are_not_free() -> None:
    i = Ref("i", INTEGER)
    e = Comprehension("sum", make.mul(i, n), (("i", make.range_(Int(1), None, n)),), INTEGER)
    assert refs(e) == [n]


def test_equal_expressions_are_one() -> None:
    made: list[Any] = [make.add(make.mul(Real(2.0), x), y) for _ in range(2)]
    assert made[0] is made[1]
    assert Bool(True) is TRUE
