"""Names in several expressions are those in each, in order, though what these share is looked at once."""

from __future__ import annotations

from kilohertz.ir import make
from kilohertz.ir.expr import Comprehension, Expr, Real, Ref
from kilohertz.ir.types import REAL
from kilohertz.passes.algebra import Occurrence

A, B, C, D, K = (Ref(name, REAL) for name in "abcdk")


def one_by_one(expressions: list[Expr]) -> list[str]:
    return list(dict.fromkeys(n for e in expressions for n in Occurrence().names(e)))


def test_names_of_several() -> None:
    shared = make.mul(make.add(B, A), C)
    expressions = [make.sub(D, shared), shared, make.add(shared, make.mul(A, D)), Real(1.0), make.div(C, K)]
    occurrence = Occurrence()
    assert occurrence.names_of(expressions) == one_by_one(expressions) == ["d", "b", "a", "c", "k"]
    occurrence.names(expressions[2])  # what is known already is taken over
    assert occurrence.names_of(expressions) == ["d", "b", "a", "c", "k"]


def test_an_iterator_is_free_elsewhere() -> None:
    total = Comprehension("sum", make.mul(K, A), (("k", Ref("range", REAL)),), REAL)
    expressions: list[Expr] = [total, make.add(K, B)]
    assert Occurrence().names_of(expressions) == one_by_one(expressions) == ["a", "range", "k", "b"]
