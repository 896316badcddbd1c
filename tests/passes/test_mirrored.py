"""Linear loops with a symmetric matrix: shown exactly, with rows in order, one expression for two entries."""

from __future__ import annotations

import pytest

from kilohertz.driver.pipeline import compile_flat
from kilohertz.ir import Ref, make, read_flat
from kilohertz.ir.expr import Builtin, Expr, Real
from kilohertz.ir.step import LinearLoop
from kilohertz.ir.types import REAL
from kilohertz.passes.exact import Exact
from kilohertz.passes.ordered.guesses import Torn
from kilohertz.passes.ordered.mirrored import dual

# Rows of unknowns 2, 1, 3 and 4, that of 3 with another sign; [3,4] and [4,3] are equal by a rule of angles.
LOOP = """
    model Loop
      {parameters}
      Real q(start = 0.4, fixed = true);
      Real r(start = 0.1, fixed = true);
      Real x1(start = 0.0, fixed = true);
      Real x2(start = 0.0, fixed = true);
      Real x3(start = 0.0, fixed = true);
      Real x4(start = 0.0, fixed = true);
      Real s;
    equation
      der(q) = r;
      der(r) = -q;
      s = sin(q);
      cos(q)*der(x1) + (7.0 + r^2.0)*der(x2) + s*r*der(x3) + {upper}*der(x4) = 1.0;
      (6.0 + q^2.0)*der(x1) + cos(q)*der(x2) + q*der(x3) = r;
      -(q*der(x1) + r*s*der(x2) + {diagonal}*der(x3) + (s^2.0 + cos(q)^2.0)*r*der(x4)) = q;
      {lower}*der(x2) + r*der(x3) + (8.0 + r)*der(x4) = 2.0;
    end Loop;
    """


def _loop(parameters: str = "", upper: str = "q", lower: str = "q", diagonal: str = "(9.0 + q)") -> LinearLoop:
    text = LOOP.format(parameters=parameters, upper=upper, lower=lower, diagonal=diagonal)
    step = compile_flat(read_flat(text))
    (loop,) = (b for b in step.blocks if isinstance(b, LinearLoop))
    return loop


def test_rows_are_put_in_order_and_entries_are_one() -> None:
    loop = _loop()
    assert loop.symmetric
    entries = {(e.row, e.column): e.value for e in loop.matrix}
    assert len(entries) == 14  # x1 and x4 have nothing in common
    assert all(entries[j, i] is e for (i, j), e in entries.items())


@pytest.mark.parametrize(
    "changed",
    [
        {"lower": "(q + 1e-15*r)"},  # nearly equal is not equal
        {"lower": "abs(q)"},  # here and there is not everywhere
        {"diagonal": "(q - 9.0)"},  # symmetric, but not definite
        {"parameters": "parameter Real a = 1.0; parameter Real b = 1.0;", "upper": "a*q", "lower": "b*q"},
        {"parameters": "parameter Real a = 1.0; final parameter Real b = a + 1.0;", "upper": "a*q", "lower": "b*q"},
    ],
)
def test_it_is_left_as_it_is(changed: dict[str, str]) -> None:
    assert not _loop(**changed).symmetric


@pytest.mark.parametrize(
    "both",
    [
        {"parameters": "parameter Real a = 1.0; final parameter Real b = 2.0*a;", "upper": "2.0*a*q", "lower": "b*q"},
        {"upper": "(if q > 0.0 then q else 2.0*q)", "lower": "(if q > 0.0 then q else 2.0*q)"},
        {"upper": "sqrt(2.0 + q + r)", "lower": "sqrt(r + q + 2.0)"},
    ],
)
def test_what_is_computed_from_the_same_is_equal(both: dict[str, str]) -> None:
    assert _loop(**both).symmetric


def test_exact_values_have_no_rounding() -> None:
    a, b = Ref("a", REAL), Ref("b", REAL)

    def square(e: Expr) -> Expr:
        return make.mul(e, e)

    exact = Exact({"b": Builtin("sin", (a,), REAL)})
    one = make.add(square(b), square(Builtin("cos", (a,), REAL)))
    assert exact(one) == 1
    assert exact(make.sub(Real(0.1), Real(0.3))) != exact(make.neg(Real(0.2)))
    assert exact(make.div(make.mul(a, b), b)) == exact(a)
    with pytest.raises(ZeroDivisionError):
        exact(make.div(a, make.sub(b, b)))


def test_a_guess_gives_way_to_what_a_sum_makes_of_it() -> None:
    """`z = y + a` with a guessed: z is guessed; where z is a product of a guess, or of two, nothing changes."""
    rows = [[0, 2, 3], [1, 4], [0, 1, 5]]
    torn = Torn(guessed=[0, 1], sequence=[(0, 3), (1, 4), (2, 5)])
    assert dual(rows, torn, lambda i, c: i != 1) == {3, 1}
    assert dual(rows, torn, lambda i, c: False) is None
