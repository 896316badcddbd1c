"""Properties: passes keep the solution set; all is deterministic and near-linear; wrong models are named."""

from __future__ import annotations

import gc
import itertools
import math
import random
import sys
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

import pytest

from kilohertz.base import ModelError
from kilohertz.driver.pipeline import compile_flat, up_to
from kilohertz.ir import PARAMETER, REAL, Builtin, Equality, Expr, Flat, Real, Ref, Variable, make, read_flat, traverse
from kilohertz.ir.dae import CallEquation, Equation
from kilohertz.ir.expr import TIME
from kilohertz.ir.step import Assignment, Block, LinearLoop, MixedLoop, NonlinearLoop, Step
from kilohertz.ir.text.step_printer import print_step
from kilohertz.passes.algebra import degree, linear_parts, simplify
from kilohertz.passes.contract import Log, run_passes
from kilohertz.passes.derivative import Differentiator
from kilohertz.passes.numeric import Numeric
from kilohertz.passes.ordered.guesses import FAR, Torn, _Tearing, tear

NAMES = ("a", "b", "c", "d")


def after(name: str, flat: Flat) -> Any:
    """The form after a pass."""
    return run_passes(up_to(name), flat, Log(), verify=True)


def random_expression(rng: random.Random, depth: int) -> Expr:
    """Smooth where its variables are in (0.5, 1.5)."""
    if depth == 0:
        return Ref(rng.choice(NAMES), REAL) if rng.random() < 0.7 else Real(round(rng.uniform(0.5, 2.0), 3))
    kind = rng.randrange(7)
    x = random_expression(rng, depth - 1)
    if kind == 0:
        return Builtin(rng.choice(("sin", "cos", "exp", "atan", "tanh")), (x,), REAL)
    if kind == 1:
        return make.neg(x)
    y = random_expression(rng, depth - 1)
    if kind == 2:
        return make.div(x, make.add(Real(3.0), make.mul(y, y)))
    op = ("+", "-", "*", "*")[kind - 3]
    return make.binary(op, x, y)


def point(rng: random.Random) -> dict[str, float]:
    return {n: rng.uniform(0.5, 1.5) for n in NAMES}


@pytest.mark.parametrize("seed", range(40))
def test_simplify_keeps_the_value(seed: int) -> None:
    rng = random.Random(seed)
    e = random_expression(rng, 5)
    at = point(rng)
    before, after = Numeric(at)(e), Numeric(at)(simplify(e))
    assert before is not None and after is not None
    assert math.isclose(before, after, rel_tol=1e-9, abs_tol=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_derivatives_match_differences(seed: int) -> None:
    rng = random.Random(seed)
    e = random_expression(rng, 4)
    at = point(rng)
    rate = Differentiator(lambda r: make.ONE if r.name == "a" else make.ZERO)(e)
    h = 1e-6
    up, down = Numeric({**at, "a": at["a"] + h})(e), Numeric({**at, "a": at["a"] - h})(e)
    slope = Numeric(at)(rate)
    assert up is not None and down is not None and slope is not None
    assert math.isclose(slope, (up - down) / (2 * h), rel_tol=1e-4, abs_tol=1e-6)


@pytest.mark.parametrize("seed", range(40))
def test_linear_parts_add_up(seed: int) -> None:
    rng = random.Random(seed)
    e = random_expression(rng, 4)
    parts = linear_parts(e, "a")
    if parts is None:
        assert degree(e, frozenset(("a",)), {}) == 2
        return
    at = point(rng)
    whole, a, b = Numeric(at)(e), Numeric(at)(parts[0]), Numeric(at)(parts[1])
    assert whole is not None and a is not None and b is not None
    assert math.isclose(whole, a * at["a"] + b, rel_tol=1e-9, abs_tol=1e-9)


# ------------------------------------------------------------------------------------- blocks against the equations


def run(blocks: tuple[Block, ...], values: dict[str, float]) -> None:
    """Execute assignments and linear loops, as the Step form says."""
    for b in blocks:
        match b:
            case Assignment():
                value = Numeric(values)(b.value)
                assert value is not None, b.target.name
                values[b.target.name] = value
            case LinearLoop():
                solve(b, values)
                run(b.inner, values)
            case MixedLoop() | NonlinearLoop():
                raise AssertionError("not in these models")
            case _:
                raise AssertionError(type(b).__name__)


def solve(b: LinearLoop, values: dict[str, float]) -> None:
    import numpy as np

    n = len(b.unknowns)
    matrix, rhs = np.zeros((n, n)), np.zeros(n)
    for entry in b.matrix:
        matrix[entry.row, entry.column] = Numeric(values)(entry.value)
    for i, e in enumerate(b.rhs):
        rhs[i] = Numeric(values)(e)
    for ref, x in zip(b.unknowns, np.linalg.solve(matrix, rhs), strict=True):
        values[ref.name] = float(x)


def network(rng: random.Random, n: int) -> Flat:
    """Random linear equations with a nonsingular diagonal, some states among the unknowns."""
    flat = Flat("Network")
    flat.variables["p"] = Variable("p", REAL, PARAMETER, binding=Real(1.7))
    refs = [Ref(f"x{i}", REAL) for i in range(n)]
    for i, x in enumerate(refs):
        flat.variables[x.name] = Variable(x.name, REAL, attributes={"start": Real(rng.uniform(-1, 1))})
        total: Expr = make.mul(Real(4.0 + rng.random()), Builtin("der", (x,), REAL) if i % 3 == 0 else x)
        for j in rng.sample(range(n), k=min(3, n)):
            if j != i:
                factor: Expr = Ref("p", REAL) if rng.random() < 0.3 else Real(rng.uniform(-1, 1))
                total = make.add(total, make.mul(factor, refs[j]))
        flat.equations.append(Equality(total, Builtin("sin", (make.mul(Real(1.0 + i), TIME),), REAL)))
    return flat


@pytest.mark.parametrize("seed", range(25))
def test_blocks_solve_the_equations(seed: int) -> None:
    rng = random.Random(seed)
    flat = network(rng, rng.randrange(3, 15))
    step = compile_flat(flat)
    values = {"time": 0.3, "p": 1.7}
    for v in step.variables.values():
        if v.slot.kind.value == "x":
            values[v.name] = rng.uniform(-1, 1)
    run(step.blocks, values)
    for alias, entry in step.aliases.items():
        if entry.target is not None:
            values[alias] = entry.sign * values[entry.target]
    for e in after("lower-events", flat).equations:
        assert isinstance(e, Equation)
        left, right = Numeric(values)(e.left), Numeric(values)(e.right)
        assert left is not None and right is not None
        assert math.isclose(left, right, rel_tol=1e-8, abs_tol=1e-8)


@pytest.mark.parametrize("seed", range(25))
def test_tearing_is_complete(seed: int) -> None:
    """Every unknown is guessed or computed once, from what is known by then; the rest are residuals."""
    rng = random.Random(seed)
    n = rng.randrange(2, 30)
    rows = [sorted({i, *rng.sample(range(n), k=min(n, 3))}) for i in range(n)]
    easy = {(i, c): rng.choice((0, 1, 1, 2)) for i, row in enumerate(rows) for c in row}
    torn = tear(rows, n, lambda i, c: easy[i, c], {}, lambda _: 0)
    known = set(torn.guessed)
    for i, c in torn.sequence:
        assert easy[i, c] and set(rows[i]) - {c} <= known and c not in known
        known.add(c)
    assert known == set(range(n))
    assert len(torn.residuals) == len(torn.guessed)


@pytest.mark.parametrize("seed", range(40))
def test_what_tearing_remembers_changes_no_choice(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a guess leads to is kept while the rows that it went through stay what they were; some rows are long."""
    rng = random.Random(seed)
    n = rng.randrange(5, 50)
    rows = [sorted({i, *rng.sample(range(n), k=rng.choice((1, 2, 2, 3, n // 2)))}) for i in range(n)]
    easy = {(i, c): rng.choice((0, 1, 1, 2)) for i, row in enumerate(rows) for c in row}
    forced = {i: rng.choice(rows[i]) for i in range(n) if rng.random() < 0.05}

    def torn() -> Torn:
        return _Tearing(rows, n, lambda i, c: easy[i, c], forced, lambda c: c % 3, FAR).run()

    remembered = torn()
    monkeypatch.setattr(_Tearing, "_reach", _Tearing._count_reach)
    monkeypatch.setattr(_Tearing, "_ahead", _Tearing._count_ahead)
    assert remembered == torn()


# ------------------------------------------------------------------------------------------------------------ the rest


def test_same_text_twice() -> None:
    flat = network(random.Random(7), 12)
    assert print_step(compile_flat(flat)) == print_step(compile_flat(flat))


def ladder(n: int) -> Flat:
    flat = Flat("Ladder")
    flat.variables["R"] = Variable("R", REAL, PARAMETER, binding=Real(2.0))
    for k in range(n):
        v, i = Ref(f"c[{k}].v", REAL), Ref(f"c[{k}].i", REAL)
        following = Ref(f"c[{k + 1}].i", REAL) if k + 1 < n else make.ZERO
        before = Ref(f"c[{k - 1}].v", REAL) if k else Builtin("sin", (TIME,), REAL)
        flat.variables[v.name], flat.variables[i.name] = Variable(v.name, REAL), Variable(i.name, REAL)
        flat.equations.append(Equality(Builtin("der", (v,), REAL), make.sub(i, following)))
        flat.equations.append(Equality(make.mul(Ref("R", REAL), i), make.sub(before, v)))
    return flat


def calls(function: Callable[[], object]) -> int:
    """How many functions a call comes to, of Python and of C: the same on every machine, whatever else it does."""
    counter = itertools.count()

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        if event in ("call", "c_call"):
            next(counter)

    before = sys.getprofile()
    gc.disable()  # what it frees, and when, is another's work
    sys.setprofile(count)
    try:
        function()
    finally:
        sys.setprofile(before)
        gc.enable()
    return next(counter)


def test_calls_are_counted() -> None:
    def twice(n: int) -> int:
        return sum(abs(i) + abs(j) for i in range(n) for j in range(n))

    assert calls(lambda: twice(40)) > 3.5 * calls(lambda: twice(20))


def test_cost_is_near_linear() -> None:
    compile_flat(ladder(50))  # what is made once
    small, large = (calls(partial(compile_flat, ladder(n))) for n in (150, 600))
    assert large < 4.5 * small


def test_a_long_sum_goes_through() -> None:
    n = 3000
    flat = Flat("Sum")
    total: Expr = Ref("i0", REAL)
    flat.variables["i0"] = Variable("i0", REAL)
    for k in range(1, n):
        ref = Ref(f"i{k}", REAL)
        flat.variables[ref.name] = Variable(ref.name, REAL)
        flat.equations.append(Equality(ref, make.mul(Real(float(k)), TIME)))
        total = make.add(total, ref)
    flat.equations.append(Equality(make.ZERO, total))
    step: Step = compile_flat(flat)
    assert "i0" in step.variables


def test_a_singular_model_is_named() -> None:
    flat = read_flat(
        "model Twice\n  Real x;\n  Real y;\n  Real z;\nequation\n  x + sin(y) = 1.0;\n  x - cos(y) = 2.0;\n"
        "  x*y = 3.0;\nend Twice;\n"
    )
    with pytest.raises(ModelError) as failure:
        compile_flat(flat)
    (diagnostic,) = failure.value.diagnostics
    assert diagnostic.code == "B201"
    assert "1 equation(s) too many" in diagnostic.message
    assert any("not determined: z" in note.text for note in diagnostic.notes)


def test_parameters_that_need_each_other_are_named() -> None:
    flat = read_flat(
        "model P\n  parameter Real a = b;\n  parameter Real b = a;\n  Real x;\nequation\n  x = a;\nend P;\n"
    )
    with pytest.raises(ModelError) as failure:
        compile_flat(flat)
    assert failure.value.diagnostics[0].code == "B203"


def test_a_call_with_results_is_one_node() -> None:
    flat = read_flat(
        "model Calls\n  function f\n    input Real x;\n    output Real y;\n    output Real z;\n  algorithm\n"
        "    y := x;\n    while y > 1.0 loop\n      y := y - 1.0;\n    end while;\n    z := 2.0*x;\n  end f;\n"
        "  Real a;\n  Real b;\nequation\n  (a, b) = f(time);\nend Calls;\n"
    )
    dae = after("lower-events", flat)
    calls = [e for e in dae.equations if isinstance(e, CallEquation)]
    assert len(calls) == 1
    assert "Calls" in print_step(compile_flat(flat))


def test_a_computed_zero_takes_its_term_out_of_the_structure() -> None:
    flat = read_flat(
        "model P\n  parameter Real k = 3.0;\n  final parameter Real r = k - 3.0;\n  Real i;\n  Real v;\n  Real u;\n"
        "equation\n  i*r = v - u;\n  u = time;\n  i = 2.0*v;\nend P;\n"
    )
    dae = after("drop-zero-terms", flat)
    assert [n for n in dae.notes if "taken as zero" in n]
    assert all("r" not in {ref.name for ref in traverse.refs(e.left)} for e in dae.equations if hasattr(e, "left"))
    assert "i" in print_step(compile_flat(flat))
