"""Sums of many terms: what moves with one unknown is found without a walk along all of them."""

from __future__ import annotations

import pytest

from kilohertz.ir import Ref, make
from kilohertz.ir.expr import Expr
from kilohertz.ir.types import REAL
from kilohertz.passes.algebra import Occurrence, linear_coefficient, simplify
from kilohertz.passes.derivative import Differentiator
from kilohertz.passes.ordered.long_sums import LongSum

N = 40


def _ref(name: str) -> Ref:
    return Ref(name, REAL)


def _sum() -> Expr:
    """u = g1*x1 - g2*x2 + ... + x7*k, one of them twice, one in a bracket behind a minus."""
    total: Expr = make.ZERO
    for i in range(1, N + 1):
        term = make.mul(_ref(f"g{i}"), _ref(f"x{i}"))
        total = make.sub(total, term) if i % 3 == 0 else make.add(total, term)
    total = make.add(total, make.mul(_ref("x7"), _ref("k")))
    return make.sub(_ref("u"), make.add(total, make.neg(make.mul(_ref("y"), _ref("k")))))


@pytest.mark.parametrize("name", ["u", "x1", "x3", "x7", "y", "x40", "elsewhere"])
def test_the_coefficient_is_that_of_the_whole_sum(name: str) -> None:
    e = _sum()
    terms = LongSum.of(e, Occurrence())
    assert terms is not None
    moving = terms.moving((name,))
    assert moving is not None
    assert moving.coefficient(name) == linear_coefficient(e, name)


def test_a_rate_is_that_of_the_whole_sum() -> None:
    e, rates = _sum(), {"x3": make.ONE, "x8": _ref("v")}
    differentiate = Differentiator(lambda r: rates.get(r.name, make.ZERO), None)
    terms = LongSum.of(e, Occurrence())
    assert terms is not None
    moving = terms.moving(rates)
    assert moving is not None and len(moving.terms) == 2
    point = {f"g{i}": 1.0 + i for i in range(1, N + 1)} | {"v": 3.0}
    assert _value(simplify(moving.rate(differentiate)), point) == _value(simplify(differentiate(e)), point)


def _value(e: Expr, point: dict[str, float]) -> float | None:
    from kilohertz.passes.numeric import Numeric

    return Numeric(point)(e)


def test_where_many_terms_move_or_there_are_few_the_sum_stays_whole() -> None:
    terms = LongSum.of(_sum(), Occurrence())
    assert terms is not None
    assert terms.moving(("x1", "x2", "x3")) is None
    assert terms.moving(("k",)) is not None and terms.moving(("k", "x1")) is None
    assert LongSum.of(make.add(_ref("a"), _ref("b")), Occurrence()) is None


def test_a_term_that_is_not_linear_has_no_coefficient() -> None:
    e = make.add(_sum(), make.mul(_ref("q"), _ref("q")))
    terms = LongSum.of(e, Occurrence())
    assert terms is not None
    moving = terms.moving(("q",))
    assert moving is not None and moving.coefficient("q") is None
