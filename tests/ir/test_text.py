"""Printing and reading: what is printed reads back as the same expression, a Flat as the same text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kilohertz.base import Origin, SourceMap, Span
from kilohertz.ir import (
    BOOLEAN,
    INTEGER,
    REAL,
    STRING,
    TIME,
    Array,
    Binary,
    Bool,
    Builtin,
    Call,
    Colon,
    Comprehension,
    Enum,
    EnumType,
    Expr,
    Field,
    FunctionRef,
    FunctionType,
    IfExp,
    Index,
    Int,
    Item,
    Range,
    ReadError,
    Real,
    Record,
    RecordType,
    Ref,
    Scope,
    Str,
    TupleType,
    Type,
    Unary,
    make,
    print_expr,
    read_expr,
)

COLOUR = EnumType("Lib.Colour", ("red", "green", "blue"))
POINT = RecordType("Lib.Point", (("x", REAL), ("n", INTEGER.array_of(2))))
SCOPE = Scope(
    {
        "time": REAL,
        "x": REAL,
        "r[2].p.v": REAL,
        "'a b'.c": REAL,
        "n": INTEGER,
        "i": INTEGER,
        "b": BOOLEAN,
        "s": STRING,
        "v": REAL.array_of(3),
        "m": REAL.array_of(2, 3),
        "point": Type(POINT),
        "points": Type(POINT, (4,)),
        "g": Type(FunctionType((("u", REAL),), (REAL,))),
    },
    {
        "Lib.f": FunctionType((("u", REAL), ("k", REAL)), (REAL,)),
        "Lib.two": FunctionType((("u", REAL),), (REAL, INTEGER)),
    },
    {COLOUR.name: COLOUR},
    {POINT.name: POINT},
)
x, n, b, v, m = (Ref(name, SCOPE.variables[name]) for name in ("x", "n", "b", "v", "m"))
points = Ref("points", SCOPE.variables["points"])


@pytest.mark.parametrize(
    ("e", "text"),
    [
        (make.sub(x, make.sub(x, TIME)), "x - (x - time)"),
        (make.sub(make.sub(x, x), TIME), "x - x - time"),
        (make.mul(Real(-2.0), x), "(-2.0)*x"),
        (Unary("-", make.mul(Real(2.0), x)), "-2.0*x"),
        (Unary("-", Real(2.0)), "-(2.0)"),
        (Real(-2.0), "-2.0"),
        (Real(-0.0), "-0.0"),
        (make.add(Unary("-", x), x), "-x + x"),
        (make.pow_(make.neg(x), Real(2.0)), "(-x)^2.0"),
        (make.neg(make.pow_(x, Real(2.0))), "-x^2.0"),
        (make.pow_(make.pow_(x, x), x), "(x^x)^x"),
        (make.div(make.mul(x, x), make.mul(x, TIME)), "x*x/(x*time)"),
        (make.and_(make.not_(b), make.relation("<", x, Real(1.0))), "not b and x < 1.0"),
        (make.not_(make.and_(b, make.relation("<", x, x))), "not (b and x < x)"),
        (make.add(make.if_(b, x, Real(1.0)), x), "(if b then x else 1.0) + x"),
        (IfExp(b, x, IfExp(make.not_(b), TIME, x)), "if b then x elseif not b then time else x"),
        (make.mul(m, v), "m*v"),
        (make.mul(x, v), "x .* v"),
        (Index(m, (Int(1), Colon()), REAL.array_of(3)), "m[1, :]"),
        (Index(make.add(v, v), (n,), REAL), "(v + v)[n]"),
        (Field(Index(points, (n,), Type(POINT)), "x"), "points[n].x"),
        (Index(Field(points, "n"), (Int(1), Int(2)), INTEGER), "points.n[1, 2]"),
        (Ref("r[2].p.v", REAL), "r[2].p.v"),
        (Ref("'a b'.c", REAL), "'a b'.c"),
        (Enum(COLOUR, 2), "Lib.Colour.green"),
        (Str('a "b"\n\\c'), '"a \\"b\\"\\n\\\\c"'),
        (Array((), REAL.array_of(0, 3)), "fill(0.0, 0, 3)"),
        (Array((), Type(POINT, (0,))), "fill(Lib.Point(), 0)"),
        (Record((x, make.array([n, Int(2)])), Type(POINT)), "Lib.Point(x = x, n = {n, 2})"),
        (make.to_real(n), "real(n)"),
        (Call("Lib.f", (x, Real(1.0)), REAL), "Lib.f(x, 1.0)"),
        (Call("g", (x,), REAL), "g(x)"),
        (Item(Call("Lib.two", (x,), Type(TupleType((REAL, INTEGER)))), 1), "item(Lib.two(x), 2)"),
        (
            FunctionRef("Lib.f", (("k", x),), Type(FunctionType((("u", REAL),), (REAL,)))),
            "function Lib.f(k = x)",
        ),
        (make.range_(Int(1), None, make.add(n, Int(1))), "1:n + 1"),
        (make.range_(Int(1), Int(2), Int(9)), "1:2:9"),
        (
            Comprehension(
                "", make.mul(Ref("j", INTEGER), n), (("j", make.range_(Int(1), None, n)),), INTEGER.array_of(None)
            ),
            "{j*n for j in 1:n}",
        ),
        (Comprehension("sum", Ref("j", REAL), (("j", v),), REAL), "sum(j for j in v)"),
        (Builtin("der", (x,), REAL), "der(x)"),
        (Real(float("inf")), "1e999"),
        (Real(1e-20), "1e-20"),
        (Binary(".^", v, Real(2.0), v.ty), "v.^2.0"),
    ],
)
def test_printed_and_read_back(e: Expr, text: str) -> None:
    assert print_expr(e) == text
    assert read_expr(text, SCOPE) is e


# --------------------------------------------------------------------------------------- any expression at all

numbers = st.floats(allow_nan=False).map(Real)
reals: st.SearchStrategy[Expr] = st.deferred(
    lambda: st.one_of(
        numbers,
        st.sampled_from([x, TIME, Ref("r[2].p.v", REAL), Ref("'a b'.c", REAL)]),
        st.builds(lambda op, l, r: Binary(op, l, r, REAL), st.sampled_from("+-*/^"), reals, reals),  # noqa: E741
        st.builds(lambda e: Unary("-", e), reals),
        st.builds(IfExp, booleans, reals, reals),
        st.builds(lambda f, e: Builtin(f, (e,), REAL), st.sampled_from(["sin", "der", "pre", "noEvent"]), reals),
        st.builds(lambda e, k: Call("Lib.f", (e, k), REAL), reals, reals),
        st.builds(lambda e, k: Index(e, (k,), REAL), vectors, integers),
        st.builds(lambda e, j, k: Index(e, (j, k), REAL), matrices, integers, integers),
        st.builds(lambda k: Field(Index(points, (k,), Type(POINT)), "x"), integers),
        st.builds(lambda e: Field(e, "x"), records),
        st.builds(lambda e: Builtin("real", (e,), REAL), integers),
        st.builds(lambda a, c: Binary("*", a, c, REAL), vectors, vectors),
        st.builds(lambda e: Builtin("sum", (e,), REAL), vectors),
    )
)
integers: st.SearchStrategy[Expr] = st.deferred(
    lambda: st.one_of(
        st.integers(-10, 10).map(Int),
        st.just(n),
        st.builds(lambda op, l, r: Binary(op, l, r, INTEGER), st.sampled_from("+-*"), integers, integers),  # noqa: E741
        st.builds(lambda e: Unary("-", e), integers),
        st.builds(lambda e: Builtin("integer", (e,), INTEGER), reals),
        st.builds(lambda e: Item(Call("Lib.two", (e,), Type(TupleType((REAL, INTEGER)))), 1), reals),
    )
)
booleans: st.SearchStrategy[Expr] = st.deferred(
    lambda: st.one_of(
        st.booleans().map(Bool),
        st.just(b),
        st.builds(lambda op, l, r: Binary(op, l, r, BOOLEAN), st.sampled_from(["and", "or"]), booleans, booleans),  # noqa: E741
        st.builds(
            lambda op, l, r: Binary(op, l, r, BOOLEAN),  # noqa: E741
            st.sampled_from(["<", "<=", ">", ">=", "==", "<>"]),
            reals,
            reals,
        ),
        st.builds(lambda e: Unary("not", e), booleans),
        st.builds(lambda a, c: Binary("==", a, c, BOOLEAN), strings, strings),
    )
)
strings: st.SearchStrategy[Expr] = st.deferred(
    lambda: st.one_of(
        st.text(st.characters(codec="utf-8"), max_size=10).map(Str),
        st.just(Ref("s", STRING)),
        st.builds(lambda a, c: Binary("+", a, c, STRING), strings, strings),
        st.builds(lambda e: Builtin("String", (e,), STRING), reals),
    )
)
VECTOR = REAL.array_of(3)
vectors: st.SearchStrategy[Expr] = st.deferred(
    lambda: st.one_of(
        st.just(v),
        st.builds(lambda a, c, d: Array((a, c, d), VECTOR), reals, reals, reals),
        st.builds(lambda op, l, r: Binary(op, l, r, VECTOR), st.sampled_from(["+", "-", ".*", "./"]), vectors, vectors),  # noqa: E741
        st.builds(lambda op, l, r: Binary(op, l, r, VECTOR), st.sampled_from([".+", ".*", ".^"]), reals, vectors),  # noqa: E741
        st.builds(lambda a, k: Index(a, (k, Colon()), VECTOR), matrices, integers),
        st.builds(lambda e: Unary("-", e), vectors),
        st.builds(
            lambda e: Comprehension("", Binary("*", e, Ref("j", REAL), REAL), (("j", v),), VECTOR),
            reals,
        ),
    )
)
matrices: st.SearchStrategy[Expr] = st.deferred(
    lambda: st.one_of(
        st.just(m),
        st.builds(lambda a, c: Array((a, c), REAL.array_of(2, 3)), vectors, vectors),
        st.builds(lambda a, c: Binary("+", a, c, REAL.array_of(2, 3)), matrices, matrices),
    )
)
records: st.SearchStrategy[Expr] = st.deferred(
    lambda: st.one_of(
        st.just(Ref("point", Type(POINT))),
        st.builds(
            lambda a, c, d: Record((a, Array((c, d), INTEGER.array_of(2))), Type(POINT)), reals, integers, integers
        ),
        st.builds(IfExp, booleans, records, records),
    )
)


@settings(max_examples=150, deadline=None)
@given(st.one_of(reals, integers, booleans, strings, vectors, matrices, records))
def test_whatever_is_printed_reads_back(e: Expr) -> None:
    assert read_expr(print_expr(e), SCOPE) is e


def test_long_sums_print_and_read() -> None:
    e: Expr = x
    for k in range(100_000):
        e = make.add(e, make.mul(Real(k + 2.0), x))
    text = print_expr(e)
    assert text.startswith("x + 2.0*x + 3.0*x")
    assert read_expr(text, SCOPE) is e
    nested: Expr = x
    for _ in range(50_000):
        nested = make.sub(Real(1.0), nested)
    assert print_expr(nested).count("(") == 49_999


@pytest.mark.parametrize("text", ["x +", "unknown", "x[", "{x", "{}", "x ? x", "nonsense(x)", "x x"])
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(ReadError):
        read_expr(text, SCOPE)


def test_a_range_type_is_kept() -> None:
    assert isinstance(read_expr("1:3", SCOPE), Range)
    assert read_expr("1:3").ty == INTEGER.array_of(3)


def test_origins_become_comments() -> None:
    from kilohertz.ir import Equality, Flat, print_flat

    sources = SourceMap()
    sources.add("resistor.mo", "model R\nequation\n  v = R*i;\nend R;\n")
    origin = Origin((Span("resistor.mo", 19, 26),), "r1", ("alias",))
    flat = Flat("M", equations=[Equality(x, Real(1.0), origin)])
    assert "  x = 1.0; // resistor.mo:3 r1 [alias]\n" in print_flat(flat, sources)
    assert "  x = 1.0; // resistor.mo r1 [alias]\n" in print_flat(flat)
