"""Random expressions: C equals the interpreter to rounding; the same step gives the same bytes."""

from __future__ import annotations

import math
import os
import random
import subprocess
import sys

from kilohertz.codegen import generate
from kilohertz.interp import EvaluationError, Evaluator, NotConstant
from kilohertz.ir import make as b
from kilohertz.ir.expr import (
    Array,
    Binary,
    Bool,
    Builtin,
    Comprehension,
    Expr,
    IfExp,
    Index,
    Int,
    Range,
    Real,
    Ref,
    Unary,
)
from kilohertz.ir.step import Assignment, Kind, Partition, Slot, Step, StepVariable
from kilohertz.ir.types import BOOLEAN, INTEGER, REAL, Type
from kilohertz.simulate import Instance, build_program
from kilohertz.toolchain import STRICT

REALS = tuple(Ref(f"x{i}", REAL) for i in range(4))
INTEGERS = tuple(Ref(f"k{i}", INTEGER) for i in range(2))
FLAGS = tuple(Ref(f"p{i}", BOOLEAN) for i in range(2))
COUNT, POINTS = 150, 6


def away_from_zero(e: Expr) -> Expr:
    """abs(e) + 0.5: keeps most of the expressions within the domain of their functions."""
    return b.add(Builtin("abs", (e,), REAL), Real(0.5))


class Maker:
    """Random typed expressions from a seed; earlier ones are used again, so that parts are shared."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.made: dict[Type, list[Expr]] = {REAL: [*REALS], INTEGER: [*INTEGERS], BOOLEAN: [*FLAGS]}

    def pick(self, ty: Type, depth: int) -> Expr:
        r = self.random
        if depth <= 0 or r.random() < 0.1:
            if r.random() < 0.3:
                literals = {REAL: Real(r.choice([0.0, 1.0, 2.0, 0.1, -3.5])), INTEGER: Int(r.randint(-3, 5))}
                return literals.get(ty, Bool(r.random() < 0.5))
            return r.choice(self.made[ty])
        make = {REAL: self.real, INTEGER: self.integer, BOOLEAN: self.boolean}[ty]
        e = make(depth - 1)
        self.made[ty].append(e)
        return e

    def real(self, d: int) -> Expr:
        r = self.random

        def one() -> Expr:
            return self.pick(REAL, d)

        two = one
        match r.randrange(11):
            case 0:
                return b.add(one(), two())
            case 1:
                difference = Binary("-", one(), two(), REAL)
                return Unary("-", difference) if r.random() < 0.4 else difference
            case 2:
                return b.mul(one(), two())
            case 3:
                return b.div(one(), away_from_zero(two()))
            case 4:
                return b.pow_(
                    away_from_zero(Builtin("tanh", (one(),), REAL)), Real(r.choice([2.0, 3.0, 0.5, 0.25, -1.0]))
                )
            case 5:
                return IfExp(self.pick(BOOLEAN, d), one(), two())
            case 6:
                if r.random() < 0.3:
                    return Builtin(
                        r.choice(["exp", "log", "sqrt"]), (away_from_zero(Builtin("sin", (one(),), REAL)),), REAL
                    )
                return Builtin(r.choice(["sin", "tanh", "atan", "abs", "floor"]), (one(),), REAL)
            case 7:
                name = r.choice(["min", "max", "mod", "rem", "div", "atan2"])
                return Builtin(name, (one(), away_from_zero(two())), REAL)
            case 8:
                return Builtin("real", (self.pick(INTEGER, d),), REAL)
            case 9:
                items = Array(tuple(self.pick(REAL, d) for _ in range(3)), REAL.array_of(3))
                return Index(items, (Int(r.randint(1, 3)),), REAL)
            case _:
                i = Ref(f"i{r.random()}", INTEGER)
                body = b.add(Builtin("real", (i,), REAL), one())
                return Comprehension("sum", body, ((i.name, Range(Int(1), None, Int(3), INTEGER.array_of(3))),), REAL)

    def integer(self, d: int) -> Expr:
        r = self.random
        one, two = self.pick(INTEGER, d), self.pick(INTEGER, d)
        match r.randrange(5):
            case 0:
                return b.add(one, two)
            case 1:
                return b.sub(one, two)
            case 2:
                return Builtin(r.choice(["mod", "div", "rem", "min", "max"]), (one, Int(r.choice([-3, 2, 7]))), INTEGER)
            case 3:
                return Builtin("sign", (self.pick(REAL, d),), INTEGER)
            case _:
                return IfExp(self.pick(BOOLEAN, d), one, two)

    def boolean(self, d: int) -> Expr:
        r = self.random
        match r.randrange(4):
            case 0:
                return Binary(r.choice(["and", "or"]), self.pick(BOOLEAN, d), self.pick(BOOLEAN, d), BOOLEAN)
            case 1:
                return b.not_(self.pick(BOOLEAN, d))
            case 2:
                return Binary(r.choice(["<", "<=", ">", ">="]), self.pick(REAL, d), self.pick(REAL, d), BOOLEAN)
            case _:
                return Binary(r.choice(["==", "<>", "<"]), self.pick(INTEGER, d), self.pick(INTEGER, d), BOOLEAN)


def random_step(seed: int) -> tuple[Step, list[Expr]]:
    maker = Maker(seed)
    step = Step("Random")
    areas = ((REALS, Kind.PARAMETER), (INTEGERS, Kind.INT_PARAMETER), (FLAGS, Kind.INT_PARAMETER))
    counts: dict[Kind, int] = {}

    def add(name: str, ty: Type, kind: Kind, tunable: bool = False) -> None:
        step.variables[name] = StepVariable(name, ty, Slot(kind, counts.get(kind, 0)), tunable=tunable)
        counts[kind] = counts.get(kind, 0) + 1

    for refs, kind in areas:
        for ref in refs:
            add(ref.name, ref.ty, kind, True)
    blocks, expressions = [], []
    for i in range(COUNT):
        ty = maker.random.choice([REAL, REAL, INTEGER, BOOLEAN])
        e = maker.pick(ty, 4)
        add(f"y{i}", ty, Kind.ALGEBRAIC if ty == REAL else Kind.INT_DISCRETE)
        blocks.append(Assignment(Ref(f"y{i}", ty), e, Partition.EVENT))
        expressions.append(e)
    step.blocks = tuple(blocks)
    return step, expressions


def same(c: float | str, value: object) -> bool:
    assert isinstance(c, (int, float)) and isinstance(value, (int, float))
    if math.isinf(value) or math.isnan(value):
        return not math.isfinite(c)
    return math.isclose(c, value, rel_tol=1e-12, abs_tol=1e-300)


def test_c_equals_interp_on_random_expressions() -> None:
    step, expressions = random_step(1)
    program = build_program(step, flags=STRICT)
    evaluator, values = Evaluator({}), random.Random(2)
    compared = 0
    for _ in range(POINTS):
        env: dict[str, float | int | bool] = {r.name: values.uniform(-3, 3) for r in REALS}
        env |= {r.name: values.randint(-4, 6) for r in INTEGERS} | {r.name: values.random() < 0.5 for r in FLAGS}
        instance = Instance(program)
        for name, value in env.items():
            instance.set(name, value)
        instance.initialize(0.0)
        for i, e in enumerate(expressions):
            try:
                wanted = evaluator.evaluate(e, env)
            except (EvaluationError, NotConstant):
                continue
            got = instance.read(step.variables[f"y{i}"])
            assert same(got, wanted), (i, got, wanted, e)
            compared += 1
    assert compared > COUNT * POINTS * 0.7


PRINT = """
import sys
sys.path.insert(0, sys.argv[1])
from test_expressions import random_step
from kilohertz.codegen import generate
code = generate(random_step(3)[0])
print(code.header.text, *(f.text for f in code.files))
"""


def test_two_hash_seeds_one_output() -> None:
    from pathlib import Path

    here = str(Path(__file__).parent)
    texts = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-c", PRINT, here], capture_output=True, env=environment, check=True)
        texts.add(done.stdout)
    assert len(texts) == 1


def test_constants_are_exact_and_shared_parts_computed_once() -> None:
    step = Step("Exact")
    for i, kind in enumerate((Kind.PARAMETER, Kind.ALGEBRAIC, Kind.ALGEBRAIC)):
        name = "pyz"[i]
        step.variables[name] = StepVariable(name, REAL, Slot(kind, max(0, i - 1)), Real(0.1), tunable=i == 0)
    root = Builtin("sqrt", (b.add(Ref("p", REAL), Real(0.1)),), REAL)
    step.blocks = (
        Assignment(Ref("y", REAL), b.mul(root, Real(2.0)), Partition.EVENT),
        Assignment(Ref("z", REAL), b.div(root, Real(3.0)), Partition.EVENT),
    )
    text = "".join(f.text for f in generate(step).files)
    assert "0x1.999999999999ap-4 /* 0.1 */" in text
    assert text.count("sqrt(") == 1
    assert "* 2.0;" in text
