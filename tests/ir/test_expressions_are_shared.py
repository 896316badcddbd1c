"""Expressions are shared while somebody holds them, and go with the forms they stand in."""

from __future__ import annotations

from kilohertz.driver.pipeline import compile_flat
from kilohertz.ir import REAL, read_flat
from kilohertz.ir.expr import TIME, TRUE, Bool, Builtin, Expr, Ref
from kilohertz.ir.make import add
from kilohertz.ir.sharing import n_expressions, release

MODEL = """
model Run{k}
  parameter Real p{k} = 2.0;
  Real x{k}(start = 1.0, fixed = true);
  Real y{k};
equation
  der(x{k}) = -p{k}*y{k};
  y{k} = sin(x{k}) + x{k}/(1.0 + p{k}^2.0);
end Run{k};
"""


def compiled(k: int) -> None:
    compile_flat(read_flat(MODEL.replace("{k}", str(k))))


def test_the_table_is_what_it_was_after_twenty_compilations() -> None:
    compiled(0)
    release(0)
    before = n_expressions()
    for k in range(1, 21):
        compiled(k)
    assert n_expressions() > before + 20 * 10  # different names: nothing is shared between them
    release(0)
    assert n_expressions() <= before  # it may have held what others let go of meanwhile


def test_what_is_held_stays_one_object() -> None:
    held = add(Ref("held", REAL), Builtin("sin", (Ref("inside", REAL),), REAL))
    Ref("not held", REAL)
    release(0)
    assert add(Ref("held", REAL), Builtin("sin", (Ref("inside", REAL),), REAL)) is held
    assert Bool(True) is TRUE and Ref("time", REAL) is TIME


def test_a_few_are_not_looked_through() -> None:
    Ref("of no use", REAL)
    before = n_expressions()
    release(before)
    assert n_expressions() == before


def test_a_long_chain_goes_without_a_deep_stack() -> None:
    release(0)
    before = n_expressions()
    chain: Expr = Ref("x", REAL)
    for k in range(100_000):
        chain = add(chain, Ref(f"x{k}", REAL))
    assert n_expressions() > before + 100_000
    del chain
    release(0)
    assert n_expressions() == before
