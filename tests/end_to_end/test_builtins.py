"""The table of built-in functions through every room: one value, one derivative, one behaviour at events."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

import pytest

from kilohertz.driver.pipeline import compile_flat
from kilohertz.interp import Evaluator
from kilohertz.ir import make, traverse
from kilohertz.ir.builtins import BUILTINS, fold
from kilohertz.ir.expr import Binary, Builtin, Expr, Int, Real, Ref, Unary
from kilohertz.ir.flat import Flat
from kilohertz.ir.rules import result_types
from kilohertz.ir.rules.arithmetic import EvaluationError
from kilohertz.ir.rules.function_record import BuiltinFunction, Event, Slope, Takes
from kilohertz.ir.step import Assignment, Kind, Partition, Slot, Step, StepVariable
from kilohertz.ir.types import INTEGER, REAL, Type
from kilohertz.passes.contract import Log
from kilohertz.passes.derivative import Differentiator
from kilohertz.passes.numeric import Numeric
from kilohertz.passes.step.hoist import Hoist
from kilohertz.semantics import flatten
from kilohertz.simulate import Instance, build_program
from kilohertz.syntax.library import Libraries
from kilohertz.toolchain import STRICT

SCALAR = [f for f in BUILTINS.values() if f.value is not None and f.same_as is None and f.name != "$subscript"]
POINTS = 12


@dataclass(frozen=True, slots=True)
class Use:
    """A function applied to variables of one type, and points at which it has a value."""

    function: BuiltinFunction
    call: Builtin
    points: list[list[float]]

    @property
    def names(self) -> list[str]:
        return [a.name for a in self.call.args if isinstance(a, Ref)]


def use(f: BuiltinFunction, base: Type, rng: random.Random) -> Use:
    args = [Ref(f"{f.name}_{base}_{k}", base) for k in range(f.count)]
    low, high = max(f.domain[0], -4.0), min(f.domain[1], 4.0)
    points: list[list[float]] = []
    for _ in range(POINTS):
        if base == REAL:
            first, rest = rng.uniform(low, high), [rng.choice((-1, 1)) * rng.uniform(0.3, 3.0) for _ in args[1:]]
            points.append([first, *rest])
        else:
            points.append([rng.randint(-9, 9), *(rng.choice((-1, 1)) * rng.randint(1, 5) for _ in args[1:])])
    return Use(f, Builtin(f.name, tuple(args), f.type(args)), points)


def uses() -> list[Use]:
    rng = random.Random(7)
    found = [use(f, INTEGER if f.name == "real" else REAL, rng) for f in SCALAR]
    return found + [use(f, INTEGER, rng) for f in SCALAR if f.c_integers]


USES = uses()
IDS = [f"{u.function.name}-{u.call.args[0].ty}" for u in USES]


def literals(point: list[float]) -> tuple[Expr, ...]:
    return tuple(Int(v) if isinstance(v, int) else Real(v) for v in point)


def folded(u: Use, point: list[float]) -> float:
    e = fold(Builtin(u.function.name, literals(point), u.call.ty))
    assert isinstance(e, Real | Int), (u.function.name, point)
    return e.value


@pytest.fixture(scope="module")
def generated() -> list[list[float | str]]:
    """Values by the generated C: use by use, point by point."""
    step, counts = Step("Table"), dict.fromkeys(Kind, 0)

    def add(name: str, ty: Type, kind: Kind, tunable: bool) -> None:
        step.variables[name] = StepVariable(name, ty, Slot(kind, counts[kind]), tunable=tunable)
        counts[kind] += 1

    blocks = []
    for i, u in enumerate(USES):
        for name, arg in zip(u.names, u.call.args, strict=True):
            add(name, arg.ty, Kind.PARAMETER if arg.ty == REAL else Kind.INT_PARAMETER, True)
        add(f"y{i}", u.call.ty, Kind.ALGEBRAIC if u.call.ty == REAL else Kind.INT_DISCRETE, False)
        blocks.append(Assignment(Ref(f"y{i}", u.call.ty), u.call, Partition.EVENT))
    step.blocks = tuple(blocks)
    program = build_program(step, flags=STRICT)
    values: list[list[float | str]] = [[] for _ in USES]
    for k in range(POINTS):
        instance = Instance(program)
        for u in USES:
            for name, value in zip(u.names, u.points[k], strict=True):
                instance.set(name, value)
        instance.initialize(0.0)
        for i, row in enumerate(values):
            row.append(instance.read(step.variables[f"y{i}"]))
    return values


@pytest.mark.parametrize("i", range(len(USES)), ids=IDS)
def test_all_rooms_agree_on_the_value(i: int, generated: list[list[float | str]]) -> None:
    u = USES[i]
    for point, c in zip(u.points, generated[i], strict=True):
        env = dict(zip(u.names, point, strict=True))
        value = Evaluator().evaluate(u.call, env)
        assert type(value) is (float if u.call.ty == REAL else int)
        assert folded(u, point) == value == Numeric(env)(u.call)
        close = 1e-14 if u.function.is_elementary or u.function.name == "atan2" else 0.0
        assert isinstance(c, int | float) and math.isclose(value, c, rel_tol=close), (point, value, c)


@pytest.mark.parametrize("f", SCALAR, ids=lambda f: f.name)
def test_the_derivative_is_that_of_the_value(f: BuiltinFunction) -> None:
    assert f.derivative is not None
    if f.name == "real":  # of an Integer, which does not move
        return
    u, h = USES[SCALAR.index(f)], 1e-6
    for point in u.points:
        at = dict(zip(u.names, point, strict=True))
        for name in u.names:
            rate = Differentiator(lambda r, name=name: make.ONE if r.name == name else make.ZERO)(u.call)  # type: ignore[misc]
            slope = Numeric(at)(rate)
            up, down = (Numeric({**at, name: at[name] + s})(u.call) for s in (h, -h))
            assert slope is not None and up is not None and down is not None
            assert math.isclose(slope, (up - down) / (2 * h), rel_tol=1e-5, abs_tol=1e-8), (point, name)
            assert f.derivative is not Slope.STILL or slope == 0.0


def flat_of(text: str) -> Flat:
    libraries = Libraries([])
    libraries.load_text(text, "Test.mo")
    return flatten(libraries, "Test")[0]


def arguments(f: BuiltinFunction) -> str:
    low, high = max(f.domain[0], -1.0), min(f.domain[1], 3.0)
    return ", ".join([f"{(low + high) / 2} + {(high - low) / 4}*x", *["1.5 + 0.1*x"] * (f.count - 1)])


@pytest.mark.parametrize("f", [f for f in SCALAR if f.name != "real"], ids=lambda f: f.name)
def test_events_come_from_steps_alone(f: BuiltinFunction) -> None:
    """MLS 3.7.2: floor, ceil, integer, div, mod and rem make events, and none of the others; nothing in noEvent."""
    for is_quiet in (False, True):
        call = f"{f.name}({arguments(f)})"
        text = f"noEvent({call})" if is_quiet else call
        flat = flat_of(
            f"model Test Real x(start = 0, fixed = true); Real y; equation der(x) = 1; y = {text}; end Test;"
        )
        step = compile_flat(flat)
        assert bool(step.crossings) == (not is_quiet and f.event in (Event.STEPS, Event.QUOTIENT))


@pytest.mark.parametrize("f", SCALAR, ids=lambda f: f.name)
def test_parameters_alone_are_computed_ahead(f: BuiltinFunction) -> None:
    """Every function of scalars leaves the step where its operands are parameters."""
    args = [Ref(f"p{k}", REAL) for k in range(f.count)]
    call = make.to_real(Builtin(f.name, tuple(args), f.type(args)))
    step = Step("Test")
    for k, ref in enumerate(args):
        step.variables[ref.name] = StepVariable(ref.name, REAL, Slot(Kind.PARAMETER, k))
    for k, name in enumerate(("x", "y")):
        step.variables[name] = StepVariable(name, REAL, Slot(Kind.ALGEBRAIC, k))
    value = make.mul(make.mul(call, args[0]), Ref("x", REAL))
    step.blocks = (Assignment(Ref("y", REAL), value, Partition.STEP),)
    first, last = Hoist().run(step, Log()).blocks
    assert isinstance(first, Assignment) and first.partition is Partition.EVENT and call in traverse.walk(first.value)
    assert isinstance(last, Assignment) and call not in traverse.walk(last.value)


@pytest.mark.parametrize("name", [f.name for f in SCALAR if f.domain[0] >= -1.0])
def test_outside_its_domain_there_is_no_value(name: str) -> None:
    with pytest.raises(EvaluationError, match=rf"{name}\(-2.0\) is not defined"):
        Evaluator().evaluate(Builtin(name, (Ref("u", REAL),), REAL), {"u": -2.0})
    call = Builtin(name, (Real(-2.0),), REAL)
    assert fold(call) is call and Numeric({})(call) is None


@pytest.mark.parametrize("op", ["+", "-", "*"])
def test_integers_have_32_bits(op: str) -> None:
    """Beyond them nothing is folded, and evaluating says so."""
    left, right = Int(-2_000_000_000 if op == "-" else 2_000_000_000), Int(1_000_000_000)
    e = make.binary(op, left, right)
    assert isinstance(e, Binary)
    with pytest.raises(EvaluationError, match="beyond the Integers of 32 bits"):
        Evaluator().evaluate(e)
    assert make.neg(Int(-(2**31))) is Unary("-", Int(-(2**31)))
    assert isinstance(make.mul(Real(1e300), Real(1e300)), Binary)


def test_a_new_function_is_one_record(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the Modelica text to a number of the C library, and its derivative, with this record alone."""
    cube_root = BuiltinFunction(
        "cbrt",
        result_types.elementwise(REAL),
        takes=Takes.REALS,
        value=lambda x: math.copysign(abs(x) ** (1 / 3), x),
        derivative=lambda u, d, e: make.div(d[0], make.mul(Real(3.0), make.mul(e, e))),
        c="cbrt({0})",
    )
    monkeypatch.setitem(BUILTINS, "cbrt", cube_root)
    flat = flat_of(
        "model Test parameter Real p = 8; Real x(start = 1, fixed = true); Real v[2] = cbrt({27*x, x}); Real w;"
        " equation der(x) = cbrt(p) + 0*w; w = der(v[1]); end Test;"
    )
    step = compile_flat(flat)
    instance = Instance(build_program(step, flags=STRICT))
    instance.initialize(0.0)
    values = {name: instance.read(v) for name, v in step.variables.items()}
    assert values["der(x)"] == pytest.approx(2.0)
    assert values["v[1]"] == pytest.approx(3.0) and values["w"] == pytest.approx(2.0)
