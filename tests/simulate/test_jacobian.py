"""The state Jacobian in C: along colours, symbolic and by differences, against `interp`; and a run with either."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from flat_models import ALL, LINEAR, NONLINEAR
from interpreted import Interpreted
from linearised import Point

from kilohertz import load
from kilohertz.building import model_units
from kilohertz.codegen import Jacobians, generate
from kilohertz.driver.pipeline import compile_flat
from kilohertz.ir import read_flat
from kilohertz.ir.step import Kind, Step, without_directional
from kilohertz.simulate import Program, Statistics, Stepper, build_program, load_program, simulate
from kilohertz.solvers import StepSettings
from kilohertz.toolchain import STRICT

ROOT = """
model Root
  Real x(start = 0.0, fixed = true);
  Real y(start = 1.0, fixed = true);
equation
  der(x) = y - 1.0;
  der(y) = sqrt(x) - y;
end Root;
"""


def program_of(step: Step) -> Program:
    return build_program(step, flags=STRICT)


@pytest.mark.parametrize("text", ALL, ids=[t.split()[1] for t in ALL])
def test_columns_are_those_of_interp(text: str) -> None:
    step = compile_flat(read_flat(text))
    model = Interpreted(step)
    start = np.array([float(model.values[v.name]) for v in step.of_kind(Kind.STATE)])
    symbolic, differences = program_of(step), program_of(without_directional(step))
    rng = np.random.default_rng(2)
    for _ in range(3):
        x, t = start + 0.05 * rng.standard_normal(len(start)), float(rng.uniform(0.1, 0.9))
        model.derivatives(x, t)
        columns = [model.direction(seed, 0.0) for seed in np.eye(len(x))]
        expected, slope = np.column_stack(columns), model.direction(np.zeros(len(x)), 1.0)
        for program, tolerance in ((symbolic, 1e-9), (differences, 1e-6)):
            at = Point(program, x, t)
            assert np.allclose(at.jacobian(), expected, rtol=tolerance, atol=tolerance)
            assert np.allclose(at.slope(), slope, rtol=tolerance, atol=tolerance)
            assert at.states() == list(x)
            assert at.instance.context.n_differences == 0


@pytest.mark.parametrize("text", ALL, ids=[t.split()[1] for t in ALL])
def test_two_directions_at_once_have_the_bits_of_one(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    step = compile_flat(read_flat(text))
    together = program_of(step)
    monkeypatch.setattr("kilohertz.codegen.model.n_lanes", lambda *_: 1)
    alone = program_of(step)
    start = np.array([float(Interpreted(step).values[v.name]) for v in step.of_kind(Kind.STATE)])
    columns = [Point(program, start + 0.01, 0.3).jacobian() for program in (together, alone)]
    assert columns[0].tobytes() == columns[1].tobytes()


@pytest.mark.parametrize("text", ALL, ids=[t.split()[1] for t in ALL])
def test_parts_are_the_whole(text: str) -> None:
    """One, two and more parts than there are colours; by differences loops begin where the one before ended."""
    step = compile_flat(read_flat(text))
    start = np.array([float(Interpreted(step).values[v.name]) for v in step.of_kind(Kind.STATE)])
    for program, tolerance in ((program_of(step), 0.0), (program_of(without_directional(step)), 1e-6)):
        at = Point(program, start + 0.01, 0.3)
        whole = at.parts(1)
        for n_parts in (2, 3, len(start) + 2):
            assert np.allclose(at.parts(n_parts), whole, rtol=tolerance, atol=tolerance)


RESTING = """
model Resting
  Real x(start = 1.0, fixed = true);
  Real y(start = 0.0, fixed = true);
  discrete Real k(start = 1.0, fixed = true);
equation
  der(x) = k*y + sin(time);
  der(y) = -4.0*x - 0.1*y{};
  when time >= 0.0045 then
    k = 2.0;
  end when;
end Resting;
"""

SAMPLED = """
model Sampled
  Real x(start = 1.0, fixed = true);
  Real y(start = 0.0, fixed = true);
  discrete Real u(start = 0.0, fixed = true);
  Boolean on(start = false, fixed = true);
equation
  der(x) = y + u*sin(50.0*time);
  der(y) = (if on then -4.0 else -5.0)*x - 0.1*y + u;
  when sample(0.0005, 0.001) then
    u = pre(u) - 0.3*x;
  end when;
  when time >= 0.0055 then
    on = true;
  end when;
end Sampled;
"""


@pytest.mark.parametrize(("more", "jacobians"), [("", 2), (" - 1e-3*y^2.0", 10)], ids=["linear", "nonlinear"])
@pytest.mark.parametrize("method", ["lie", "ros34pw2", "sdirk2"])
def test_a_jacobian_that_rests_is_evaluated_once_after_an_event(more: str, jacobians: int, method: str) -> None:
    step = compile_flat(read_flat(RESTING.format(more)))
    rows = []
    for rests in (True, False):
        with pytest.MonkeyPatch.context() as patch:
            if not rests:
                patch.setattr("kilohertz.codegen.model_table.jacobian_rests", lambda _: False)
            stepper = Stepper(program_of(step), StepSettings(method, 1e-3))
        stepper.start(0.0)
        for _ in range(10):
            stepper.step()
        assert stepper.counts["jacobians"] == (jacobians if rests else 10)
        rows.append([stepper.instance.read(v) for v in step.of_kind(Kind.STATE)])
    assert rows[0] == rows[1]  # to the last bit


@pytest.mark.parametrize("events", ["none", "catch-up"])
@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("method", ["lie", "ros34pw2", "sdirk2"])
def test_an_event_that_changes_nothing_in_it_leaves_a_jacobian(method: str, every: int, events: str) -> None:
    """A controller is sampled in every step; only the switch stands in the Jacobian."""
    step = compile_flat(read_flat(SAMPLED))
    rows, jacobians = [], []
    for looks in (True, False):
        with pytest.MonkeyPatch.context() as patch:
            if not looks:
                patch.setattr("kilohertz.codegen.model_table.stirring", lambda _: None)
            settings = StepSettings(method, 1e-3, jacobian_every=every, events=events)
            stepper = Stepper(program_of(step), settings)
        stepper.start(0.0)
        for _ in range(10):
            stepper.step()
        jacobians.append(stepper.counts["jacobians"])
        rows.append([stepper.instance.read(v) for v in step.of_kind(Kind.STATE)])
    assert jacobians[0] == 2 and jacobians[1] >= 10
    assert rows[0] == rows[1]  # to the last bit


@pytest.mark.parametrize("spread", [False, True])
@pytest.mark.parametrize("method", ["ieuler", "sdirk2"])
def test_a_jacobian_that_iterations_diverge_with_is_not_kept(method: str, spread: bool, tmp_path: Path) -> None:
    """Stiff in every other 7 ms: by the Jacobian of the soft ones a step takes ninefold what it should, and back."""
    (source := tmp_path / "Stiffens.mo").write_text(
        "model Stiffens Real x(start=1, fixed=true); Real y(start=0, fixed=true); equation\n"
        "  der(x) = 1 - (if noEvent(sin(448.8*time) > 0) then 1e4 else 100)*x; der(y) = x; end Stiffens;"
    )
    stepper = Stepper(
        load(str(source)).compile(), StepSettings(method, 1e-3, jacobian_every=20, jacobian_spread=spread)
    )
    stepper.start(0.0)
    for _ in range(2000):
        stepper.step()
    assert stepper.counts["held"] == 0
    x = stepper.instance.read(stepper.instance.program.step.of_kind(Kind.STATE)[0])
    assert isinstance(x, float) and abs(x) < 1.0
    assert 2000 / 20 + 20 < stepper.counts["jacobians"] < 1500


def test_the_derivative_is_generated_when_asked_for() -> None:
    step = compile_flat(read_flat(LINEAR))
    often, seldom, never = ("".join(f.text for f in generate(step, jacobians=j).files) for j in Jacobians)
    assert ".directional = directional" in often and ".directional = directional" in seldom
    assert ".directional" not in never and "dir(" not in never


@pytest.mark.parametrize("text", ALL, ids=[t.split()[1] for t in ALL])
def test_short_code_for_seldom_jacobians_has_their_numbers(text: str) -> None:
    step = compile_flat(read_flat(text))
    programs = [load_program(model_units(step, jacobians=j)) for j in (Jacobians.OFTEN, Jacobians.SELDOM)]
    start = np.array([float(Interpreted(step).values[v.name]) for v in step.of_kind(Kind.STATE)])
    often, seldom = (Point(program, start + 0.01, 0.3).jacobian() for program in programs)
    assert np.array_equal(often, seldom)
    assert "khz_lanes" not in "".join(f.text for f in programs[1].code.files)


def test_differences_take_over_where_a_rate_is_infinite() -> None:
    step = compile_flat(read_flat(ROOT))
    at = Point(program_of(step), np.array([0.0, 1.0]), 0.0)
    found = at.jacobian()
    assert at.instance.context.n_differences == 1
    assert np.isfinite(found).all() and found[0, 1] == pytest.approx(1.0) and found[1, 1] == pytest.approx(-1.0)
    assert at.instance.context.status == 0


@pytest.mark.parametrize("text", [LINEAR, NONLINEAR], ids=["linear", "nonlinear"])
def test_a_run_needs_fewer_evaluations_with_it(text: str) -> None:
    step = compile_flat(read_flat(text))
    finals, rhs = [], []
    for form in (step, without_directional(step)):
        statistics = Statistics()
        result = simulate(program_of(form), stop=0.5, tolerance=1e-9, statistics=statistics)
        finals.append([float(result[v.name][-1]) for v in step.of_kind(Kind.STATE)])
        rhs.append(statistics.rhs)
    assert finals[0] == pytest.approx(finals[1], rel=1e-6)
    assert rhs[0] < rhs[1]


def chain(n: int) -> str:
    """A rod of n cells: heat passes on, the ends radiate."""
    cells = "\n".join(f"  Real T{i}(start = {1.0 + 0.01 * i}, fixed = true);" for i in range(n))
    inner = "\n".join(f"  der(T{i}) = {n}.0*(T{i - 1} - 2.0*T{i} + T{i + 1});" for i in range(1, n - 1))
    ends = f"  der(T0) = T1 - T0^4.0;\n  der(T{n - 1}) = T{n - 2} - T{n - 1} - T{n - 1}^4.0;"
    return f"model Rod\n{cells}\nequation\n{inner}\n{ends}\nend Rod;\n"


@pytest.mark.parametrize("solver", ["cvode", "ida"])
def test_a_large_model_is_factorised_by_its_plan(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    step = compile_flat(read_flat(chain(40)))
    planned, dense = Statistics(), Statistics()
    sparse = simulate(program_of(step), stop=1.0, tolerance=1e-8, solver=solver, statistics=planned)
    monkeypatch.setattr("kilohertz.cost.factors.plan_elimination", lambda *_: None)
    full = simulate(program_of(step), stop=1.0, tolerance=1e-8, solver=solver, statistics=dense)
    assert planned.sparse_factorisations >= planned.jacobians > 0
    assert dense.sparse_factorisations == 0
    for v in step.of_kind(Kind.STATE):
        assert np.allclose(sparse[v.name], full[v.name], rtol=1e-6)


def test_a_sparse_matrix_gives_the_bits_of_a_dense_one(monkeypatch: pytest.MonkeyPatch) -> None:
    program, statistics = program_of(compile_flat(read_flat(chain(40)))), Statistics()
    sparse = simulate(program, stop=1.0, tolerance=1e-8, statistics=statistics)
    monkeypatch.setattr("kilohertz.simulate.offline_run.MANY_STATES", 1000)
    dense = simulate(program, stop=1.0, tolerance=1e-8)
    assert statistics.sparse_factorisations > 0
    assert np.array_equal(sparse.data, dense.data)


def test_a_sparse_matrix_has_a_dense_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    step = compile_flat(read_flat(chain(40)))
    by_plan = simulate(program_of(step), stop=1.0, tolerance=1e-8)
    monkeypatch.setattr("kilohertz.codegen.plans._row", lambda *_: ["return 1;"])  # no pivot suits
    statistics = Statistics()
    dense = simulate(build_program(step), stop=1.0, tolerance=1e-8, statistics=statistics)
    assert statistics.sparse_factorisations == 0 and statistics.jacobians > 0
    assert np.allclose(dense.data, by_plan.data, rtol=1e-6)


@pytest.mark.parametrize("text", [chain(40), LINEAR], ids=["a band", "dense"])
def test_factors_written_out_have_the_bits_of_the_tables(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    step = compile_flat(read_flat(text))
    rows = []
    for most in (10_000, 0):
        monkeypatch.setattr("kilohertz.cost.factors.WRITTEN_OUT", most)
        assert ("lu_plan_factor" in "".join(f.text for f in generate(step).files)) == (most > 0 and text != LINEAR)
        stepper = Stepper(program_of(step), StepSettings("ros34pw2", 1e-3))
        stepper.start(0.0)
        for _ in range(20):
            stepper.step()
        rows.append([stepper.instance.read(v) for v in step.of_kind(Kind.STATE)])
    assert rows[0] == rows[1]


@pytest.mark.parametrize("text", [chain(40), LINEAR], ids=["a band", "dense"])
def test_entries_taken_by_code_have_the_bits_of_the_tables(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    step = compile_flat(read_flat(text))
    start = np.array([float(Interpreted(step).values[v.name]) for v in step.of_kind(Kind.STATE)])
    found = []
    for most in (10_000, 0):
        monkeypatch.setattr("kilohertz.cost.jacobian._BY_CODE", most)
        assert ("around_1(" in "".join(f.text for f in generate(step).files)) == (most > 0)
        at = Point(program_of(step), start + 0.01, 0.3)
        found.append(at.jacobian().tobytes() + at.parts(3).tobytes())
    assert found[0] == found[1]


def test_an_array_of_one_that_moves_with_time_alone(tmp_path: Path) -> None:
    """Its derivative by time is an array of one too, not a number."""
    text = """
model One
  function f
    input Real t;
    input Real x[:];
    output Real y[1];
  external "C" one_f(t, x, y)
    annotation(Include = "static void one_f(double t, const double *x, double *y) { y[0] = t - x[0]; }");
    annotation(derivative = f_d);
  end f;
  function f_d
    input Real t;
    input Real x[:];
    input Real t_d;
    input Real x_d[:];
    output Real y[1];
  external "C" one_f_d(t, x, t_d, x_d, y)
    annotation(Include = "static void one_f_d(double t, const double *x, double t_d, const double *x_d, double *y)
      { (void)t; (void)x; y[0] = t_d - x_d[0]; }");
  end f_d;
  Real x[1](each start = 1, each fixed = true);
equation
  der(x) = f(time, x);
end One;
"""
    (tmp_path / "One.mo").write_text(text, encoding="utf-8")
    result = load(tmp_path / "One.mo").simulate(solver="ros3prl", step=1e-3, stop=0.1, intervals=10)
    t = np.asarray(result.time)
    assert np.allclose(result["x[1]"], t - 1 + 2 * np.exp(-t), rtol=0, atol=1e-9)
