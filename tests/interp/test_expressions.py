"""Expressions to values: operators, built-in functions, arrays, records, laziness, errors."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kilohertz.interp import ArrayValue, Context, EvaluationError, Evaluator, NotConstant
from kilohertz.ir import (
    BOOLEAN,
    FALSE,
    INTEGER,
    REAL,
    STRING,
    TRUE,
    Array,
    Binary,
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
    Range,
    Real,
    Record,
    RecordType,
    Ref,
    Str,
    Type,
    make,
)

EVALUATOR = Evaluator()
VECTOR = REAL.array_of(None)
MATRIX = REAL.array_of(None, None)
x, v, w, m = Ref("x", REAL), Ref("v", VECTOR), Ref("w", VECTOR), Ref("m", MATRIX)


def value(e: Expr, **env: Any) -> Any:
    return EVALUATOR.evaluate(e, {k: ArrayValue.of(a) if isinstance(a, list) else a for k, a in env.items()})


def call(name: str, *args: Any, ty: Type = REAL) -> Any:
    """A built-in function of literal arguments."""
    return value(Builtin(name, tuple(as_literal(a) for a in args), ty))


def as_literal(a: Any) -> Expr:
    if isinstance(a, Expr):
        return a
    if isinstance(a, list):
        elements = [as_literal(x) for x in a]
        return make.array(elements, REAL)
    literals: dict[type, Callable[[Any], Expr]] = {float: Real, int: Int, bool: Bool, str: Str}
    return literals[type(a)](a)


# ------------------------------------------------------------------------------------------------------------ scalars

finite = st.floats(-1e6, 1e6)


@given(finite, finite)
def test_arithmetic_is_that_of_doubles(a: float, b: float) -> None:
    y = Ref("y", REAL)
    assert value(make.add(x, y), x=a, y=b) == a + b
    assert value(make.sub(x, y), x=a, y=b) == a - b
    assert value(make.mul(x, y), x=a, y=b) == a * b
    assert value(make.relation("<", x, y), x=a, y=b) is (a < b)
    if b != 0:
        assert value(make.div(x, y), x=a, y=b) == a / b
    if a > 0 and abs(b * math.log(a)) < 700:  # math.pow raises an error where C gives infinity
        assert value(make.pow_(x, y), x=a, y=b) == math.pow(a, b)


@pytest.mark.parametrize("name", ["sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log"])
@given(a=st.floats(0.01, 0.99))
def test_elementary_functions_are_those_of_math(name: str, a: float) -> None:
    assert call(name, a) == getattr(math, name)(a)
    assert call(name, [a, a / 2], ty=REAL.array_of(2)).data == [getattr(math, name)(a), getattr(math, name)(a / 2)]


@given(st.integers(-50, 50), st.integers(-50, 50).filter(bool))
def test_integer_division_as_the_language_defines_it(a: int, b: int) -> None:
    quotient = call("div", a, b, ty=INTEGER)
    assert quotient == math.trunc(a / b)
    assert call("rem", a, b, ty=INTEGER) == a - quotient * b
    assert call("mod", a, b, ty=INTEGER) == a - math.floor(a / b) * b
    assert call("mod", float(a), float(b)) == a - math.floor(a / b) * b


def test_rounding_and_sign() -> None:
    assert call("floor", -2.5) == -3.0
    assert call("ceil", -2.5) == -2.0
    assert call("integer", -2.5, ty=INTEGER) == -3
    assert call("sign", -2.5, ty=INTEGER) == -1
    assert call("abs", -3, ty=INTEGER) == 3
    assert call("atan2", 1.0, -1.0) == math.atan2(1.0, -1.0)
    assert call("semiLinear", -2.0, 3.0, 5.0) == -10.0
    assert isinstance(call("real", 3), float)


def test_too_large_is_infinite_and_undefined_is_an_error() -> None:
    assert call("exp", 1000.0) == math.inf
    assert call("sinh", -1000.0) == -math.inf
    assert value(make.pow_(x, Real(400.0)), x=-10.0) == math.inf
    assert value(make.pow_(x, Real(401.0)), x=-10.0) == -math.inf
    for name, argument in (("sqrt", -1.0), ("log", 0.0), ("asin", 2.0)):
        with pytest.raises(EvaluationError, match="is not defined"):
            call(name, argument)
    with pytest.raises(EvaluationError, match="not defined"):
        value(make.pow_(x, Real(0.5)), x=-1.0)
    with pytest.raises(EvaluationError, match="division by zero"):
        value(make.div(Real(1.0), x), x=0.0)
    with pytest.raises(EvaluationError, match="division by zero"):
        call("mod", 1, 0, ty=INTEGER)


def test_logic_is_lazy() -> None:
    missing = Ref("missing", BOOLEAN)
    assert value(Binary("and", Ref("b", BOOLEAN), missing, BOOLEAN), b=False) is False
    assert value(Binary("or", Ref("b", BOOLEAN), missing, BOOLEAN), b=True) is True
    assert value(IfExp(Ref("b", BOOLEAN), Int(1), Ref("missing", INTEGER)), b=True) == 1
    with pytest.raises(NotConstant) as caught:
        value(IfExp(Ref("b", BOOLEAN), Int(1), Ref("missing", INTEGER)), b=False)
    assert caught.value.name == "missing"


def test_names_may_come_from_a_function() -> None:
    asked = []

    def lookup(name: str) -> float:
        asked.append(name)
        if name == "x":
            return 2.0
        raise KeyError(name)

    assert EVALUATOR.evaluate(make.mul(x, x), lookup) == 4.0
    assert asked == ["x", "x"]
    with pytest.raises(NotConstant):
        EVALUATOR.evaluate(Ref("y", REAL), lookup)


# ------------------------------------------------------------------------------------------------------------- arrays


@st.composite
def matrices(draw: st.DrawFn, rows: int, columns: int) -> list[list[float]]:
    return [[draw(st.floats(-100, 100)) for _ in range(columns)] for _ in range(rows)]


@settings(max_examples=50)
@given(st.data(), st.integers(1, 4), st.integers(1, 4), st.integers(1, 4))
def test_matrix_products_are_those_of_numpy(data: st.DataObject, n: int, k: int, l: int) -> None:  # noqa: E741
    a, b = data.draw(matrices(n, k)), data.draw(matrices(k, l))
    u = data.draw(st.lists(st.floats(-100, 100), min_size=k, max_size=k))
    other = Ref("other", MATRIX)
    np.testing.assert_allclose(value(make.mul(m, other), m=a, other=b).to_numpy(), np.array(a) @ np.array(b), atol=1e-9)
    np.testing.assert_allclose(value(make.mul(m, v), m=a, v=u).to_numpy(), np.array(a) @ np.array(u), atol=1e-9)
    np.testing.assert_allclose(value(make.mul(v, other), v=u, other=b).to_numpy(), np.array(u) @ np.array(b), atol=1e-9)
    assert value(make.mul(v, w), v=u, w=u) == pytest.approx(np.dot(u, u))


def test_a_large_product_agrees_with_a_small_one() -> None:
    a = np.arange(400.0).reshape(20, 20)
    product = EVALUATOR.evaluate(make.mul(m, m), {"m": ArrayValue.of(a)})
    np.testing.assert_allclose(product.to_numpy(), a @ a)


def test_products_over_nothing_are_zero() -> None:
    empty = ArrayValue((2, 0), [])
    other = ArrayValue((0, 3), [])
    product = EVALUATOR.evaluate(make.mul(m, Ref("o", MATRIX)), {"m": empty, "o": other})
    assert product == ArrayValue((2, 3), [0.0] * 6)
    assert EVALUATOR.evaluate(make.mul(v, w), {"v": ArrayValue((0,), []), "w": ArrayValue((0,), [])}) == 0.0


def test_elementwise_operators() -> None:
    assert value(make.add(v, w), v=[1.0, 2.0], w=[3.0, 4.0]).data == [4.0, 6.0]
    assert value(make.mul(x, v), x=2.0, v=[1.0, 2.0]).data == [2.0, 4.0]
    assert value(make.div(v, x), x=2.0, v=[1.0, 2.0]).data == [0.5, 1.0]
    assert value(make.elementwise("./", x, v), x=2.0, v=[1.0, 2.0]).data == [2.0, 1.0]
    assert value(make.elementwise(".^", v, Real(2.0)), v=[1.0, 3.0]).data == [1.0, 9.0]
    assert value(make.elementwise(".*", v, w), v=[1.0, 2.0], w=[3.0, 4.0]).data == [3.0, 8.0]
    assert value(make.neg(v), v=[1.0, -2.0]).data == [-1.0, 2.0]
    assert value(make.pow_(m, Int(3)), m=[[1.0, 1.0], [0.0, 1.0]]).data == [1.0, 3.0, 0.0, 1.0]
    flags = Ref("flags", BOOLEAN.array_of(None))
    assert value(make.not_(flags), flags=[True, False]).data == [False, True]
    assert value(make.and_(flags, make.not_(flags)), flags=[True, False]).data == [False, False]
    with pytest.raises(EvaluationError, match="sizes"):
        value(make.add(v, w), v=[1.0], w=[3.0, 4.0])


def test_array_functions_follow_numpy() -> None:
    a = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    n = np.array(a)
    assert call("transpose", a, ty=MATRIX).tolist() == n.T.tolist()
    assert call("cat", 1, a, a, ty=MATRIX).tolist() == np.concatenate([n, n]).tolist()
    assert call("cat", 2, a, a, ty=MATRIX).tolist() == np.concatenate([n, n], axis=1).tolist()
    assert call("outerProduct", [1.0, 2.0], [3.0, 4.0], ty=MATRIX).tolist() == [[3.0, 4.0], [6.0, 8.0]]
    assert (
        call("cross", [1.0, 2.0, 3.0], [4.0, 5.0, 7.0], ty=VECTOR).tolist() == np.cross([1, 2, 3], [4, 5, 7]).tolist()
    )
    skewed = call("skew", [1.0, 2.0, 3.0], ty=MATRIX).to_numpy()
    assert (skewed @ [4.0, 5.0, 7.0]).tolist() == np.cross([1, 2, 3], [4, 5, 7]).tolist()
    assert call("symmetric", [[1.0, 2.0], [9.0, 3.0]], ty=MATRIX).tolist() == [[1.0, 2.0], [2.0, 3.0]]
    assert call("diagonal", [1.0, 2.0], ty=MATRIX).tolist() == [[1.0, 0.0], [0.0, 2.0]]
    assert call("identity", 2, ty=INTEGER.array_of(2, 2)).tolist() == [[1, 0], [0, 1]]
    assert call("linspace", 1.0, 2.0, 3, ty=VECTOR).tolist() == [1.0, 1.5, 2.0]
    assert call("fill", 2.0, 2, 1, ty=MATRIX).tolist() == [[2.0], [2.0]]
    assert call("zeros", 2, ty=REAL.array_of(2)).tolist() == [0.0, 0.0]
    assert call("sum", a) == 21.0
    assert call("product", a) == 720.0
    assert call("min", a) == 1.0
    assert call("max", 2.0, 3.0) == 3.0
    assert call("sum", [], ty=REAL) == 0.0
    assert call("scalar", [[5.0]]) == 5.0
    assert call("vector", [[1.0], [2.0]], ty=VECTOR).tolist() == [1.0, 2.0]
    assert call("matrix", [1.0, 2.0], ty=MATRIX).tolist() == [[1.0], [2.0]]
    assert call("promote", [1.0, 2.0], 3, ty=REAL.array_of(2, 1, 1)).shape == (2, 1, 1)
    assert call("array", 1.0, 2.0, ty=VECTOR).tolist() == [1.0, 2.0]
    assert call("ndims", a, ty=INTEGER) == 2


def test_sizes_the_type_knows_need_no_value() -> None:
    unknown = Ref("unknown", REAL.array_of(3, 4))
    assert value(Builtin("size", (unknown, Int(2)), INTEGER)) == 4
    assert value(Builtin("size", (unknown,), INTEGER.array_of(2))).tolist() == [3, 4]
    assert value(Builtin("size", (m, Int(2)), INTEGER), m=[[1.0, 2.0]]) == 2


def test_subscripts() -> None:
    a = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    assert value(make.index(m, (Int(2), Int(3))), m=a) == 6.0
    assert value(make.index(m, (Int(2),)), m=a).tolist() == [4.0, 5.0, 6.0]
    assert value(make.index(m, (Colon(), Int(2))), m=a).tolist() == [2.0, 5.0]
    picked = make.array([Int(3), Int(1)])
    assert value(make.index(m, (Colon(), picked)), m=a).tolist() == [[3.0, 1.0], [6.0, 4.0]]
    backwards = make.range_(Int(2), Int(-1), Int(1))
    assert value(make.index(m, (backwards, Int(1))), m=a).tolist() == [4.0, 1.0]
    with pytest.raises(EvaluationError, match=r"subscripts \[3, 1\] are out of range \[1:2, 1:3\]"):
        value(make.index(m, (Int(3), Int(1))), m=a)
    with pytest.raises(EvaluationError, match="subscript 0 of `v` is out of range 1:2"):
        value(make.index(v, (Int(0),)), v=[1.0, 2.0])


def test_ranges() -> None:
    def elements(first: Expr, step: Expr | None, last: Expr) -> list[Any]:
        return value(make.range_(first, step, last)).tolist()  # type: ignore[no-any-return]  # nested lists

    assert elements(Int(2), None, Int(4)) == [2, 3, 4]
    assert elements(Int(4), None, Int(2)) == []
    assert elements(Int(5), Int(-2), Int(1)) == [5, 3, 1]
    assert elements(Real(0.0), Real(0.1), Real(0.3)) == [0.0, 0.1, 0.2, 0.1 * 3]
    colour = EnumType("Colour", ("red", "green", "blue"))
    assert elements(Enum(colour, 2), None, Enum(colour, 3)) == [2, 3]
    assert elements(FALSE, None, TRUE) == [False, True]


def test_comprehensions_and_reductions() -> None:
    i, j = Ref("i", INTEGER), Ref("j", INTEGER)
    to3, to2 = make.range_(Int(1), None, Int(3)), make.range_(Int(1), None, Int(2))
    body = make.add(make.mul(Int(10), i), j)
    both = Comprehension("", body, (("i", to3), ("j", to2)), INTEGER.array_of(2, 3))
    assert value(both).tolist() == [[11, 21, 31], [12, 22, 32]]
    assert value(Comprehension("sum", body, (("i", to3), ("j", to2)), INTEGER)) == 129
    assert value(Comprehension("product", i, (("i", to3),), INTEGER)) == 6
    assert value(Comprehension("max", make.neg(i), (("i", to3),), INTEGER)) == -1
    nothing = make.range_(Int(1), None, Int(0))
    assert value(Comprehension("sum", make.to_real(i), (("i", nothing),), REAL)) == 0.0
    assert value(Comprehension("", i, (("i", nothing),), INTEGER.array_of(0))).shape == (0,)


def test_arrays_of_nothing_keep_their_shape() -> None:
    assert value(Array((), REAL.array_of(0, 3))).shape == (0, 3)
    nested = Array((Array((), REAL.array_of(0)), Array((), REAL.array_of(0))), REAL.array_of(2, 0))
    assert value(nested) == ArrayValue((2, 0), [])
    assert value(nested).tolist() == [[], []]


# ----------------------------------------------------------------------------------------------------- records, strings

POINT = Type(RecordType("Point", (("x", REAL), ("n", REAL.array_of(2)))))


def test_records_and_arrays_of_them() -> None:
    point = Record((Real(1.0), make.array([Real(2.0), x])), POINT)
    assert value(point, x=3.0) == {"x": 1.0, "n": ArrayValue.of([2.0, 3.0])}
    points = Ref("points", POINT.array_of(2))
    held = ArrayValue((2,), [{"x": 1.0, "n": ArrayValue.of([2.0, 3.0])}, {"x": 4.0, "n": ArrayValue.of([5.0, 6.0])}])
    assert EVALUATOR.evaluate(Field(points, "x"), {"points": held}).tolist() == [1.0, 4.0]
    assert EVALUATOR.evaluate(Field(points, "n"), {"points": held}).tolist() == [[2.0, 3.0], [5.0, 6.0]]
    element = make.index(Field(points, "n"), (Int(2), Int(1)))
    assert EVALUATOR.evaluate(element, {"points": held}) == 5.0


def test_string() -> None:
    colour = EnumType("Colour", ("red", "green"))
    assert call("String", 1.5, ty=STRING) == "1.5"
    assert call("String", math.pi, ty=STRING) == "3.14159"
    assert call("String", math.pi, 3, ty=STRING) == "3.14"
    assert call("String", math.pi, 3, 6, ty=STRING) == "3.14  "
    assert call("String", math.pi, 3, 6, False, ty=STRING) == "  3.14"
    assert call("String", math.pi, "8.3f", ty=STRING) == "   3.142"
    assert call("String", 1e-10, ty=STRING) == "1e-10"
    assert call("String", 42, ty=STRING) == "42"
    assert call("String", 42, 5, False, ty=STRING) == "   42"
    assert call("String", 42, "05d", ty=STRING) == "00042"
    assert call("String", True, 6, ty=STRING) == "true  "
    assert value(Builtin("String", (Enum(colour, 2),), STRING)) == "green"
    assert value(make.add(Ref("s", STRING), Str("b")), s="a") == "ab"
    with pytest.raises(EvaluationError, match="format"):
        call("String", 1.0, "nonsense", ty=STRING)


def test_enumerations_are_positions() -> None:
    colour = EnumType("Colour", ("red", "green"))
    assert value(Enum(colour, 2)) == 2
    assert value(Builtin("Integer", (Enum(colour, 2),), INTEGER)) == 2
    assert value(Builtin("Colour", (Int(1),), Type(colour))) == 1
    with pytest.raises(EvaluationError, match="no literal number 3"):
        value(Builtin("Colour", (Int(3),), Type(colour)))


# -------------------------------------------------------------------------------------------------- context and limits


def test_operators_of_the_simulation_ask_the_context() -> None:
    class Running(Context):
        def apply(self, node: Builtin, value: Any) -> Any:
            return True if node.name == "initial" else value(node.args[0]) - 1.0

    pre = Builtin("pre", (x,), REAL)
    assert Evaluator({}, context=Running()).evaluate(pre, {"x": 3.0}) == 2.0
    with pytest.raises(NotConstant, match="pre"):
        value(pre, x=3.0)
    assert value(Builtin("noEvent", (x,), REAL), x=1.0) == 1.0
    assert value(Builtin("smooth", (Int(1), x), REAL), x=1.0) == 1.0
    assert value(Builtin("homotopy", (x, Ref("simple", REAL)), REAL), x=1.0) == 1.0


@pytest.mark.parametrize("left", [True, False])
def test_long_chains_do_not_exhaust_the_stack(left: bool) -> None:
    e: Expr = x
    for k in range(100_000):
        e = make.sub(e, Ref(f"y{k % 7}", REAL)) if left else make.sub(Ref(f"y{k % 7}", REAL), e)
    limit = sys.getrecursionlimit()
    assert isinstance(Evaluator().evaluate(e, lambda name: 1.0), float)
    assert sys.getrecursionlimit() == limit


def test_scalars_need_no_numpy() -> None:
    program = (
        "import sys; from kilohertz.interp import Evaluator; from kilohertz.ir import REAL, Real, Ref, make\n"
        "v = Ref('v', REAL.array_of(2))\n"
        "e = make.mul(make.array([Real(1.0), Real(2.0)]), make.array([Real(1.0), Real(2.0)]))\n"
        "assert Evaluator().evaluate(e) == 5.0\n"
        "assert 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_ranges_in_index_positions_are_integers() -> None:
    e = Index(v, (Range(Int(1), None, Int(2), INTEGER.array_of(2)),), REAL.array_of(2))
    assert value(e, v=[1.0, 2.0, 3.0]).tolist() == [1.0, 2.0]
