"""Inlined stages: the same numbers as the same method on the derivatives, with less to iterate on."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from kilohertz import load
from kilohertz.cli.main import main
from kilohertz.cost import loop_elimination
from kilohertz.driver.pipeline import compile_flat
from kilohertz.ir.step import Kind, LinearLoop, NonlinearLoop, Partition, Step, targets
from kilohertz.passes import Inlining
from kilohertz.passes.step.inline_stage import InlineStage
from kilohertz.simulate import Instance, Program, Statistics, build_program
from kilohertz.simulate import Stepper as FixedStepper
from kilohertz.simulate.stiffness import reference_run
from kilohertz.solvers import METHODS, RungeKutta, StepSettings

SOURCE = Path(__file__).parent / "inlined.mo"
NAMES = ("Chain", "Pendulum", "Circuit", "Loop", "Called", "Bridge", "Star", "Switched", "Drive", "Cranks")


def inlined(name: str, choice: Inlining | None = None) -> Step:
    return compile_flat(load(f"{SOURCE}:Inlined.{name}").flatten(), InlineStage(choice or Inlining()))


class Stepper:
    """A diagonally implicit method in Python: stages through the inlined phase, or by Newton on the derivatives."""

    def __init__(self, program: Program, method: RungeKutta, use_inlined: bool) -> None:
        self.instance, self.program, self.method, self.use_inlined = Instance(program), program, method, use_inlined
        assert self.instance.initialize(0.0) == 0
        self.n = program.code.counts[Kind.STATE]
        self.x = self.area(Kind.STATE).copy()

    def area(self, kind: Kind) -> np.ndarray:
        at = self.instance.address + self.program.offsets[kind]
        return np.ctypeslib.as_array((ctypes.c_double * self.n).from_address(at))

    def derivatives(self, t: float, x: np.ndarray) -> np.ndarray:
        out, x = np.empty(self.n), np.ascontiguousarray(x)
        status = self.program.library.khz_derivatives(
            self.program.model, self.instance.address, t, x.ctypes.data, out.ctypes.data
        )
        assert status == 0
        return out

    def stage(self, t: float, base: np.ndarray, gamma_h: float) -> np.ndarray:
        """The derivatives at x = base + gamma_h*xd."""
        if self.use_inlined:
            library = self.program.library
            library.khz_stage.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_double, ctypes.c_void_p]
            library.khz_stage.argtypes = [*library.khz_stage.argtypes, ctypes.c_double]
            base = np.ascontiguousarray(base)
            assert library.khz_stage(self.program.model, self.instance.address, t, base.ctypes.data, gamma_h) == 0
            return self.area(Kind.DERIVATIVE).copy()
        x = self.x.copy()
        for _ in range(40):
            f = self.derivatives(t, x)
            residual = x - base - gamma_h * f
            matrix = np.eye(self.n)
            for j in range(self.n):
                d = 1e-7 * max(1.0, abs(x[j]))
                shifted = x.copy()
                shifted[j] += d
                matrix[:, j] -= gamma_h * (self.derivatives(t, shifted) - f) / d
            change = np.linalg.solve(matrix, residual)
            x -= change
            if np.abs(change).max() < 1e-13 * max(1.0, np.abs(x).max()):
                break
        return self.derivatives(t, x)

    def step(self, t: float, h: float) -> None:
        a = self.method.a
        stages: list[np.ndarray] = []
        for i in range(self.method.n_stages):
            base = self.x + h * sum((a[i, j] * stages[j] for j in range(i)), np.zeros(self.n))
            at = t + self.method.c[i] * h
            stages.append(self.stage(at, base, h * a[i, i]) if a[i, i] else self.derivatives(at, base))
        self.x = self.x + h * sum(b * k for b, k in zip(self.method.b, stages, strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_the_trajectory_is_that_of_the_method(name: str) -> None:
    program = build_program(inlined(name))
    for solver in ("ieuler", "sdirk2", "trbdf2", "esdirk4"):
        method = METHODS[solver]
        assert isinstance(method, RungeKutta)
        plain, joined = Stepper(program, method, False), Stepper(program, method, True)
        h = 0.01
        for k in range(25):
            plain.step(k * h, h)
            joined.step(k * h, h)
            assert np.allclose(plain.x, joined.x, rtol=1e-8, atol=1e-9), (solver, k)


def sizes(step: Step) -> dict[str, tuple[int, int]]:
    """Iteration variables of linear and of nonlinear loops."""
    found = {}
    for kind in (LinearLoop, NonlinearLoop):
        loops = [b for b in step.inlined or () if isinstance(b, kind)]
        found[kind.__name__] = (len(loops), sum(len(b.unknowns) for b in loops))
    return found


def test_a_linear_model_is_solved_without_iteration() -> None:
    assert sizes(inlined("Chain"))["NonlinearLoop"] == (0, 0)


def test_two_states_of_a_pendulum_leave_one_unknown() -> None:
    found = sizes(inlined("Pendulum"))
    assert found == {"LinearLoop": (0, 0), "NonlinearLoop": (1, 1)}


def test_what_is_linear_for_given_guesses_is_solved_inside() -> None:
    (loop,) = (b for b in inlined("Drive").inlined or () if isinstance(b, NonlinearLoop))
    (circuit,) = (b for b in loop.inner if isinstance(b, LinearLoop))
    assert len(loop.unknowns) == 1 and len(circuit.unknowns) == 2
    assert circuit.matrix_partition is Partition.EVENT  # parameters and gamma_h: the factors are kept
    assert [rate.again for rate in loop.rates] == [circuit.unknowns]


def test_closed_loops_of_the_model_stay_loops_inside() -> None:
    (loop,) = (b for b in inlined("Cranks").inlined or () if isinstance(b, NonlinearLoop))
    inside = [b for b in loop.inner if isinstance(b, NonlinearLoop)]
    assert len(loop.unknowns) == 1 and [len(b.unknowns) for b in inside] == [1, 1]


def test_a_kept_matrix_follows_events() -> None:
    """The circuit inside has another matrix in each mode."""
    step = inlined("Chopper")
    (loop,) = (b for b in step.inlined or () if isinstance(b, NonlinearLoop))
    assert [b.matrix_partition for b in loop.inner if isinstance(b, LinearLoop)] == [Partition.EVENT]
    model = load(f"{SOURCE}:Inlined.Chopper")
    for solver in ("ieuler", "trbdf2"):
        joined = model.simulate(solver=solver, step=1e-3, stop=0.1, inline=True)
        plain = model.simulate(solver=solver, step=1e-3, stop=0.1, newton=30)
        for name in ("i", "v", "c"):
            assert np.allclose(joined[name], plain[name], rtol=1e-8, atol=1e-9), (solver, name)


@pytest.mark.parametrize("name", ["Drive", "Chopper"])
def test_a_snapshot_holds_what_is_kept(name: str) -> None:
    """Jacobian and factors too: the same steps give the same bits."""
    steps = FixedStepper(build_program(inlined(name)), StepSettings("sdirk2", 1e-3, inline=True))
    steps.start(0.0)
    for _ in range(30):
        steps.step()
    before = steps.snapshot()
    first = [steps.step() for _ in range(60)], steps.snapshot()
    steps.restore(before)
    assert ([steps.step() for _ in range(60)], steps.snapshot()) == first


def test_nothing_is_inlined_unless_asked_for() -> None:
    step = compile_flat(load(f"{SOURCE}:Inlined.Pendulum").flatten())
    assert step.inlined is None
    assert "base(phi)" not in step.variables


@pytest.mark.parametrize("name", NAMES)
def test_blocks_satisfy_the_equations_at_random_points(name: str) -> None:
    """Where the inlined phase ends, the blocks of the step, run by the slow evaluator, give the same derivatives."""
    step = inlined(name)
    program = build_program(step)
    rng = np.random.default_rng(5)
    method = METHODS["ieuler"]
    assert isinstance(method, RungeKutta)
    stepper = Stepper(program, method, True)
    for _ in range(10):
        base, gamma_h = rng.uniform(0.1, 0.9, stepper.n), float(rng.uniform(1e-4, 1e-2))
        xd = stepper.stage(0.3, base, gamma_h)
        assert np.allclose(stepper.derivatives(0.3, base + gamma_h * xd), xd, rtol=1e-7, atol=1e-7)


def test_a_call_inside_a_loop_has_a_derivative() -> None:
    step = inlined("Called")
    loops = [b for b in (*step.blocks, *(step.inlined or ())) if isinstance(b, NonlinearLoop)]
    assert len(loops) == 2 and all(b.jacobian is not None for b in loops)
    assert step.directional is not None
    point = reference_run(build_program(step), stop=1.0, intervals=4).points[1]
    method = METHODS["ieuler"]
    assert isinstance(method, RungeKutta)
    stepper = Stepper(build_program(step), method, False)
    x = reference_run(build_program(step), stop=point.time, intervals=4).result["x"][-1:]
    d = 1e-6
    slope = (stepper.derivatives(point.time, x + d) - stepper.derivatives(point.time, x - d)) / (2 * d)
    assert point.jacobian[0, 0] == pytest.approx(slope[0], rel=1e-5)


def test_a_large_loop_is_factorised_along_its_pattern() -> None:
    (loop,) = (b for b in inlined("Star").inlined or () if isinstance(b, NonlinearLoop))
    plan = loop_elimination(loop)
    assert plan is not None and 12 <= len(loop.unknowns) <= 26
    assert plan.n_entries < 0.6 * len(loop.unknowns) ** 2


def test_the_other_states_of_mixed_mode_are_known_in_a_stage() -> None:
    """x stands where the explicit half of a pair has put it; y is solved for with it."""
    program = build_program(inlined("Switched", Inlining(frozenset({"y"}))))
    method = METHODS["ieuler"]
    assert isinstance(method, RungeKutta)
    stepper = Stepper(program, method, True)
    base, gamma_h, t = np.array([0.8, 0.1]), 0.02, 0.3
    xd = stepper.stage(t, base, gamma_h)
    y = (0.1 + 100 * gamma_h * np.cos(t)) / (1 + 100 * gamma_h)
    assert np.allclose(stepper.area(Kind.STATE), [0.8, y], rtol=1e-14)
    assert np.allclose(xd, [-2 * 0.8 + 0.1 * y, -100 * (y - np.cos(t))], rtol=1e-12)


def test_a_part_leaves_the_rest_out() -> None:
    """Sub-steps of y alone do not compute der(x), which is held."""
    step = inlined("Switched", Inlining(frozenset({"y"}), frozenset({"y"})))
    assert {t.name for b in step.inlined or () for t in targets(b)} == {"x", "y", "der(y)"}


def test_analyse_shows_what_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    model = load(f"{SOURCE}:Inlined.Pendulum")
    assert model.analyse().inlined is None
    stage = model.analyse(inline=True).inlined
    assert stage is not None
    assert (stage.states, stage.nonlinear, stage.inside, stage.linear) == (2, 1, 0, 0)
    assert main(["analyse", "--inline", f"{SOURCE}:Inlined.Pendulum"]) == 0
    assert "2 states -> 1 nonlinear unknown" in capsys.readouterr().out
    assert main(["analyse", "--inline", f"{SOURCE}:Inlined.Cranks"]) == 0
    assert "2 states -> 1 nonlinear unknown, 2 in nonlinear loops inside" in capsys.readouterr().out


def test_simulate_inlined_gives_the_same_as_tight_newton() -> None:
    model = load(f"{SOURCE}:Inlined.Loop")
    for solver in ("ieuler", "sdirk2", "trapezoidal"):
        joined = model.simulate(solver=solver, step=0.01, stop=0.5, inline=True)
        plain = model.simulate(solver=solver, step=0.01, stop=0.5, newton=30)
        assert np.allclose(joined["x"], plain["x"], rtol=1e-7, atol=1e-8), solver
        assert np.allclose(joined["q"], plain["q"], rtol=1e-7, atol=1e-8), solver


def test_explicit_euler_inlined_is_explicit_euler() -> None:
    model = load(f"{SOURCE}:Inlined.Loop")
    joined = model.simulate(solver="euler", step=0.005, stop=0.5, inline=True)
    plain = model.simulate(solver="euler", step=0.005, stop=0.5)
    assert np.allclose(joined["y"], plain["y"], rtol=1e-9, atol=1e-10)


def test_mixed_mode_is_as_good_as_its_order_and_says_what_it_does() -> None:
    model = load(f"{SOURCE}:Inlined.Circuit")
    reference = model.simulate(stop=0.5, tolerance=1e-9)
    errors = []
    for h in (1e-3, 5e-4):
        statistics = Statistics()
        result = model.simulate(
            solver="ieuler", step=h, stop=0.5, implicit=["u[1]", "u[3]"], substeps={"u": 10}, statistics=statistics
        )
        difference = np.interp(reference.time, result.time, result["u[2]"]) - reference["u[2]"]
        errors.append(float(np.abs(difference).max()))
        assert any("10 sub-steps for 3 of 4 states" in n for n in statistics.notes)
        assert any("implicit Euler for 2 of 4 states: u[1], u[3]" in n for n in statistics.notes)
    assert errors[0] < 0.1
    assert 1.6 < errors[0] / errors[1] < 2.5, errors


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--solver", "auto", "--step", "1ms"], "auto takes rodas4: the fastest mode"),
        (["--solver", "auto"], "auto takes rodas4: the fastest mode"),  # for the default step
        (["--solver", "auto", "--step", "1ms", "--inline"], "auto takes sdirk4, inlined"),
        (["--solver", "ieuler", "--step", "1ms", "--implicit", "auto"], "implicit Euler for all 4 states"),
    ],
)
def test_the_command_line_tells_what_was_chosen(
    options: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", f"{SOURCE}:Inlined.Circuit", "--stop", "0.1", *options]) == 0
    assert expected in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--solver", "rk4", "--step", "1ms", "--substeps", "u=10"], "R723"),
        (["--solver", "ieuler", "--step", "1ms", "--implicit", "motor"], "R733"),
        (["--solver", "ieuler", "--step", "1ms", "--implicit", "il", "--substeps", "u=2"], "R723"),
    ],
)
def test_what_makes_no_sense_is_refused(options: list[str], code: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", f"{SOURCE}:Inlined.Circuit", "--stop", "0.1", *options]) == 1
    assert f"error[{code}]" in capsys.readouterr().err


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("method", ["ieuler", "sdirk2"])
def test_values_at_the_end_of_a_step_are_those_of_its_last_stage(name: str, method: str) -> None:
    step = inlined(name)
    program = build_program(step)
    stepper = FixedStepper(program, StepSettings(method, 1e-3, inline=True))
    stepper.start(0.0)
    for _ in range(7):
        stepper.step()
    variables = [v for kind in (Kind.DERIVATIVE, Kind.ALGEBRAIC) for v in step.of_kind(kind)]
    left = np.array([stepper.instance.read(v) for v in variables])
    x = np.array([stepper.instance.read(v) for v in step.of_kind(Kind.STATE)])
    evaluate = program.library.khz_evaluate_all
    evaluate.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_double, ctypes.c_void_p]
    time = stepper.instance.context.time
    assert evaluate(program.model, stepper.instance.address, time, x.ctypes.data) == 0
    anew = np.array([stepper.instance.read(v) for v in variables])
    assert left == pytest.approx(anew, rel=1e-7, abs=1e-7)
