"""The index-1 form: the method finds the unknowns of nonlinear loops, and nothing is iterated on in a step."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from kilohertz import load
from kilohertz.base import ModelError
from kilohertz.cli.main import main
from kilohertz.driver.api import Model
from kilohertz.driver.plan import make_plan
from kilohertz.results import Result
from kilohertz.simulate import Stepper
from kilohertz.solvers import INDEX_1, METHODS, RungeKutta, StepSettings
from kilohertz.solvers.integrate import step

SOURCE = Path(__file__).with_name("index1.mo")
# order on the index-1 problem; 0: an error of the algebraic unknowns does not fade at once
ORDERS = {
    "euler": 0,
    "rk2": 0,
    "rk3": 0,
    "rk4": 0,
    "lie": 1,
    "litr": 0,
    "ros2": 2,
    "li3": 2,
    "ros3p": 0,
    "ros34pw2": 3,
    "ros3prl": 3,
    "rodas3": 3,
    "ros4l": 2,
    "ros34pw3": 0,
    "rodas4": 4,
    "rodasp": 4,
    "ieuler": 1,
    "trapezoidal": 2,
    "sdirk2": 2,
    "sdirk3": 3,
    "sdirk4": 4,
    "trbdf2": 2,
    "esdirk3": 3,
    "esdirk4": 4,
}
ERRORS = {  # of y and z at h = 1/40, as published for the same problem
    "lie": (2.69e-3, 1.44e-3),
    "ros2": (1.99e-5, 3.43e-4),
    "ros34pw2": (3.98e-7, 1.85e-6),
    "ros3prl": (6.12e-7, 2.77e-6),
    "rodas3": (7.53e-7, 5.67e-7),
    "rodas4": (6.67e-9, 4.37e-9),
    "rodasp": (6.35e-9, 4.23e-9),
}


@cache
def model(name: str) -> Model:
    return load(f"{SOURCE}:Index1.{name}")


def started(name: str, method: str, period: float = 1e-3, **how: object) -> Stepper:
    newton = {"newton": newton_of(method), **how}
    made = StepSettings(method, period, index1=True, **newton)  # type: ignore[arg-type]
    stepper = Stepper(model(name).compile(index1=True), made)
    assert stepper.start(0.0) == 0
    return stepper


def newton_of(method: str) -> int:
    m = METHODS[method]
    return max(2, m.index1_newton) if isinstance(m, RungeKutta) else 2


def value(stepper: Stepper, name: str) -> float:
    return float(stepper.instance.read(stepper.program.step.variables[name]))


# ------------------------------------------------------------------------------------------------------------- orders


def known(t: float) -> np.ndarray:
    return np.array([2 + math.cos(t), 1 + 0.5 * math.sin(2 * t)])


def right_hand_side(t: float, y: np.ndarray) -> np.ndarray:
    a, b = known(t)
    factor = 1 + 0.2 * math.sin(t)
    algebraic = y[1] + 0.1 * y[1] ** 3 - y[0] * factor - (b + 0.1 * b**3 - a * factor)
    return np.array([-y[0] * y[1] - math.sin(t) + a * b, algebraic])


def jacobian(t: float, y: np.ndarray) -> np.ndarray:
    return np.array([[-y[1], -y[0]], [-(1 + 0.2 * math.sin(t)), 1 + 0.3 * y[1] ** 2]])


def time_slope(t: float, y: np.ndarray) -> np.ndarray:
    d = 1e-5
    return np.asarray((right_hand_side(t + d, y) - right_hand_side(t - d, y)) / (2 * d))


def slow_errors(method: str, n: int) -> np.ndarray:
    """Largest errors of y and z over 0 .. 2 s by the steps in Python, with a mass matrix."""
    y, worst, mass = known(0), np.zeros(2), np.array([1.0, 0.0])
    for k in range(2 * n):
        y = step(METHODS[method], right_hand_side, jacobian, time_slope, k / n, y, 1 / n, newton_of(method), mass)
        worst = np.maximum(worst, abs(y - known((k + 1) / n)))
    return worst


def errors(method: str, n: int) -> np.ndarray:
    """The same from Modelica source, in C."""
    stepper, worst = started("Known", method, 1 / n), np.zeros(2)
    for _ in range(2 * n):
        stepper.step()
        worst = np.maximum(worst, abs(np.array([value(stepper, "y"), value(stepper, "z")]) - known(stepper.time)))
    assert stepper.counts["held"] == stepper.counts["corrected"] == stepper.instance.context.n_caps == 0
    return worst


@pytest.mark.parametrize("method", INDEX_1)
def test_order_on_differential_and_algebraic_unknowns(method: str) -> None:
    """In C from Modelica source, and in Python."""
    found = [errors(method, n) for n in (80, 160)]
    assert np.log2(found[0] / found[1]) == pytest.approx(METHODS[method].order, abs=0.15)
    assert found[0] == pytest.approx(slow_errors(method, 80), rel=1e-3)
    if method in ERRORS:
        assert slow_errors(method, 40) == pytest.approx(ERRORS[method], rel=5e-3)


def test_which_methods_keep_their_order() -> None:
    assert {name: m.index1_order for name, m in METHODS.items()} == ORDERS
    assert set(INDEX_1) == {name for name, order in ORDERS.items() if order == METHODS[name].order}


@pytest.mark.parametrize("method", ["sdirk3", "esdirk4"])
def test_an_iteration_less_costs_an_order(method: str) -> None:
    m = METHODS[method]
    assert isinstance(m, RungeKutta)
    mass = np.array([1.0, 0.0])
    found = []
    for n in (40, 80):
        y = known(0)
        for k in range(2 * n):
            newton = m.index1_newton - 1
            y = step(m, right_hand_side, jacobian, time_slope, k / n, y, 1 / n, newton, mass)
        found.append(abs(y - known(2))[1])
    assert math.log2(found[0] / found[1]) < m.order - 0.7
    with pytest.raises(ModelError, match="Newton iterations per stage for its order"):
        StepSettings(method, 1e-3, index1=True, newton=m.index1_newton - 1).check_fixed()


def test_an_explicit_method_has_no_place_for_algebraic_unknowns() -> None:
    with pytest.raises(ValueError, match="rk4"):
        step(METHODS["rk4"], right_hand_side, jacobian, time_slope, 0.0, known(0), 0.1, mass=np.array([1.0, 0.0]))


# ------------------------------------------------------------------------------------------------------------- models


def apart(ours: Result, theirs: Result, names: tuple[str, ...]) -> float:
    """Largest difference on our rows without events, as a part of the range."""
    at = np.array([i for i, t in enumerate(ours.time) if np.sum(ours.time == t) == 1])
    worst = 0.0
    for name in names:
        other = np.interp(ours.time[at], theirs.time, theirs[name])
        worst = max(worst, float(np.abs(ours[name][at] - other).max() / np.ptp(theirs[name])))
    return worst


MODELS = {  # signals, step, most that a signal may be off, as a part of its range
    "Rectifier": (("c1.u", "c2.u", "d1.i", "load.v"), 1e-4, 2e-3),
    "Orifices": (("v1.p", "v2.p", "o1.a.q", "o3.a.q"), 1e-3, 2e-3),
    "Valve": (("x", "q", "z"), 1e-3, 1e-5),
    "Implicit": (("x", "v"), 1e-3, 1e-6),
    "Switched": (("x", "i"), 1e-3, 1e-5),
}


@pytest.mark.parametrize("solver", ["ros3prl", "rodas4", "sdirk3"])
@pytest.mark.parametrize("name", MODELS)
def test_the_answer_is_that_of_cvode(name: str, solver: str) -> None:
    signals, h, most = MODELS[name]
    reference = model(name).simulate(tolerance=1e-9, intervals=2500)
    ours = model(name).simulate(solver=solver, step=h, index1=True, events="hermite", intervals=500)
    assert apart(ours, reference, signals) < most


@pytest.mark.parametrize("method", ["ros3prl", "sdirk2"])
def test_nothing_is_iterated_on_in_a_step(method: str) -> None:
    stepper = started("Switched", method)
    assert stepper.program.step.algebraic
    for _ in range(100):
        before = stepper.instance.context.n_iterations
        flags = stepper.step()
        assert flags or stepper.instance.context.n_iterations == before


def test_where_a_loop_bends_too_much_it_is_solved() -> None:
    """A diode that begins to conduct: the step is that of the ordinary form then."""
    stepper = started("Rectifier", "rodas4", 1e-4)
    ordinary = Stepper(model("Rectifier").compile(), StepSettings("rodas4", 1e-4))
    assert ordinary.start(0.0) == 0
    for _ in range(8):
        stepper.step()
        ordinary.step()
    assert stepper.counts["corrected"] >= 5
    for name in ("c1.u", "d1.i", "d2.v"):
        assert value(stepper, name) == pytest.approx(value(ordinary, name), rel=1e-4)


@pytest.mark.parametrize(("method", "newton"), [("sdirk3", 3), ("ieuler", 4), ("sdirk4", 4), ("rodasp", 2), ("lie", 2)])
@pytest.mark.parametrize("h", [1e-4, 5e-4])
def test_however_much_a_loop_bends_the_answer_is_that_of_the_ordinary_form(method: str, newton: int, h: float) -> None:
    """Iterations that settle on a wrong point, stages that overshoot: nothing of it gets into the states unseen."""
    reference = model("Rectifier").simulate(tolerance=1e-9, intervals=2500)
    both = []
    for index1 in (False, True):
        found = model("Rectifier").simulate(solver=method, step=h, newton=newton, index1=index1, intervals=600)
        both.append(apart(found, reference, ("c1.u", "c2.u")))
    assert both[1] < 2 * both[0] + 1e-3


@pytest.mark.parametrize("mode", ["held", "linear"])
def test_an_input_that_jumps(mode: str) -> None:
    stepper = started("Driven", "ros3prl", input_mode=mode)
    ordinary = Stepper(model("Driven").compile(), StepSettings("ros3prl", 1e-3, input_mode=mode))
    assert ordinary.start(0.0) == 0
    for k in range(60):
        for one in (stepper, ordinary):
            one.instance.set("u", 0.0 if k < 10 else 5.0 if k < 40 else -3.0)
            one.step()
        assert value(stepper, "z") == pytest.approx(value(ordinary, "z"), abs=2e-4)


@pytest.mark.parametrize(("name", "method"), [("Valve", "rodas4"), ("Rectifier", "sdirk3"), ("Orifices", "ros3prl")])
def test_a_snapshot_is_a_copy(name: str, method: str) -> None:
    stepper = started(name, method, events="linear")
    for _ in range(50):
        stepper.step()
    before = stepper.snapshot()
    for _ in range(1000):
        stepper.step()
    after = stepper.snapshot()
    stepper.restore(before)
    for _ in range(1000):
        stepper.step()
    assert stepper.snapshot() == after


# --------------------------------------------------------------------------------------------------------- what is said


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("Valve", ("--solver", "rk4"), "`rk4` is not for the index-1 form (no such form)"),
        ("Valve", ("--solver", "li3"), "it keeps order 2 of 3"),
        ("Valve", ("--solver", "ros3p"), "goes on with -0.73 times its size in each step"),
        ("Valve", ("--solver", "ars222", "--implicit", "*"), "exclude each other"),
        ("Valve", ("--solver", "sdirk4", "--newton", "2"), "needs 3 Newton iterations per stage"),
        ("Valve", ("--solver", "sdirk2", "--inline"), "exclude each other"),
    ],
)
def test_what_does_not_go(name: str, arguments: tuple[str, ...], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", f"{SOURCE}:Index1.{name}", "--index1", "--step", "1ms", *arguments]) == 1
    told = capsys.readouterr().err
    assert "error[R738]" in told
    assert text in told


def test_without_nonlinear_loops_it_is_the_ordinary_form(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", f"{SOURCE}:Index1.NoLoop", "--index1", "--solver", "lie", "--step", "10ms"]) == 0
    assert "no nonlinear loop leads to the derivatives" in capsys.readouterr().out


def test_auto_says_where_its_choice_has_no_such_form() -> None:
    plan = make_plan(model("Switched"), StepSettings.of(solver="auto", step=1e-3, index1=True))
    solver = plan.stepping.solver
    assert plan.stepping.index1 == (solver in INDEX_1)
    if not plan.stepping.index1:
        assert plan.notes[-1] == f"{solver} has no index-1 form: loops are solved in each stage"


def test_too_many_steps_that_solve_after_all_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", f"{SOURCE}:Index1.Rectifier", "--index1", "--solver", "lie", "--step", "0.1ms"]) == 0
    assert "warning[R739]" in capsys.readouterr().err


def test_the_analysis_shows_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyse", f"{SOURCE}:Index1.Orifices", "--index1", "--inline"]) == 1
    assert "error[R738]" in capsys.readouterr().err
    assert main(["analyse", f"{SOURCE}:Index1.Orifices", "--index1", "--solver", "sdirk4"]) == 0
    text = capsys.readouterr().out
    assert "index-1 form: 2 states and 2 unknowns of nonlinear loops: " in text
    assert "Jacobian of the index-1 form: 4 x 4" in text
    assert "right-hand sides (loops solved in 0)" in text
