"""Rows of the state Jacobian that are sums over all units: few colours, with the numbers of one for each column."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import numpy as np
import pytest
from linearised import Point

from kilohertz import load
from kilohertz.building import model_units
from kilohertz.codegen import Jacobians
from kilohertz.cost import cost_bound, state_jacobian
from kilohertz.driver.pipeline import compile_flat
from kilohertz.ir.step import Kind, Step, without_directional
from kilohertz.simulate import Program, Statistics, Stepper, build_program, load_program, simulate
from kilohertz.solvers import StepSettings

N = 20
UNITS = """
model Units "heated from one store; what they take is a rate, and is counted"
  parameter Integer n = {n};
  Real T(start = 340, fixed = true), e(start = 0, fixed = true), q[n], taken;
  Real t[n](each start = 290, each fixed = true), x[n](each start = 0.1, each fixed = true);
equation
  for i in 1:n loop
    q[i] = (3 + i)*(T - t[i])*(1 + x[i]^2);
    i*der(t[i]) = q[i] - (t[i] - 280);
    der(x[i]) = sin(t[i]) - x[i];
  end for;
  taken = sum(q);
  5*n*der(T) = 1000 - taken{root};
  der(e) = sum(q[i]*x[i] for i in 1:n)/3 + T*x[1] - 2*taken;
end Units;
"""


@pytest.fixture(scope="module")
def units(tmp_path_factory: pytest.TempPathFactory) -> tuple[Step, Step]:
    """With sums apart, and without."""
    return steps_of(UNITS.format(n=N, root=""), tmp_path_factory.mktemp("units"))


def steps_of(text: str, folder: Path) -> tuple[Step, Step]:
    (source := folder / "Units.mo").write_text(text)
    apart = load(str(source)).process()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kilohertz.passes.step.gather_sums.LEAST", 10_000)
        return apart, compile_flat(load(str(source)).flatten())


def points(*programs: Program) -> list[Point]:
    x = np.array([float(i % 7) + 280.0 for i in range(2 * N + 2)])
    return [Point(program, x, 0.3) for program in programs]


def test_colours_are_few(units: tuple[Step, Step]) -> None:
    apart, whole = map(state_jacobian, units)
    assert apart.rows == whole.rows and whole.n_directions == whole.n_colours == 2 * N + 1
    assert apart.sums is not None and apart.sums.n == 2 and apart.n_directions <= 5
    assert apart.n_colours == whole.n_colours  # differences know nothing of sums


@pytest.mark.parametrize("jacobians", [Jacobians.OFTEN, Jacobians.SELDOM])
@pytest.mark.parametrize("lists", [20_000, 0])
def test_numbers_are_those_of_a_colour_for_each_column(
    units: tuple[Step, Step], jacobians: Jacobians, lists: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["kilohertz.cost.columns"], "MOST", lists)
    programs = [load_program(model_units(step, jacobians=jacobians)) for step in units]
    apart, whole = points(*programs)
    (differences,) = points(build_program(without_directional(units[0])))
    assert np.allclose(apart.jacobian(), whole.jacobian(), rtol=1e-14, atol=0.0)
    assert np.allclose(apart.jacobian(), differences.jacobian(), rtol=1e-5, atol=1e-4)
    assert apart.instance.context.n_differences == 0


def test_parts_are_the_whole(units: tuple[Step, Step]) -> None:
    (at,) = points(build_program(units[0]))
    whole = at.parts(1)
    for n_parts in (2, 3, 5, 40):
        assert np.array_equal(at.parts(n_parts), whole)


def test_one_column_after_the_other(units: tuple[Step, Step]) -> None:
    """As an FMU asks for them."""
    for jacobians in (Jacobians.OFTEN, Jacobians.SELDOM):
        (at,) = points(load_program(model_units(units[0], jacobians=jacobians)))
        library, whole = at.program.library, at.jacobian()
        library.khz_along_column.argtypes = [*[ctypes.c_void_p] * 2, ctypes.c_int32, ctypes.c_double]
        library.khz_rate_along.argtypes = [*[ctypes.c_void_p] * 2, *[ctypes.c_int32] * 2]
        library.khz_rate_along.restype = ctypes.c_double
        for j in range(at.n):
            assert library.khz_along_column(at.program.model, at.instance.address, j, 2.0) == 0
            rates = [library.khz_rate_along(at.program.model, at.instance.address, i, j) for i in range(at.n)]
            assert np.allclose(rates, 2.0 * whole[:, j], rtol=1e-14, atol=0.0)


def test_differences_take_over_where_a_rate_is_infinite(tmp_path: Path) -> None:
    apart, _ = steps_of(UNITS.format(n=N, root=" + sqrt(x[3])"), tmp_path)
    program = build_program(apart)
    x = np.array([297.0 if "t[" in v.name or v.name == "T" else 0.0 for v in apart.of_kind(Kind.STATE)])
    at, by_differences = Point(program, x, 0.3), Point(build_program(without_directional(apart)), x, 0.3)
    for n_parts in (1, 3):
        assert np.array_equal(at.parts(n_parts), by_differences.parts(1))
    assert at.instance.context.n_differences == 4


def test_runs_are_the_same(units: tuple[Step, Step]) -> None:
    finals, statistics = [], [Statistics(), Statistics()]
    for step, counted in zip(units, statistics, strict=True):
        result = simulate(build_program(step), stop=5.0, tolerance=1e-10, statistics=counted)
        finals.append([float(result[v.name][-1]) for v in step.of_kind(Kind.STATE)])
    assert np.allclose(finals[0], finals[1], rtol=1e-7)
    assert abs(statistics[0].steps - statistics[1].steps) < 10 and statistics[0].jacobians > 0


@pytest.mark.parametrize("spread", [False, True])
@pytest.mark.parametrize("method", ["lie", "sdirk2"])
def test_bounded_methods_take_them(units: tuple[Step, Step], method: str, spread: bool) -> None:
    settings = StepSettings(method, 1e-3, jacobian_every=4 if spread else 1, jacobian_spread=spread)
    rows = []
    for step in units:
        stepper = Stepper(build_program(step), settings)
        stepper.start(0.0)
        for _ in range(50):
            stepper.step()
        assert stepper.counts["held"] == 0
        rows.append([float(stepper.instance.read(v)) for v in step.of_kind(Kind.STATE)])
    tolerances = (1e-4, 1e-3) if spread else (1e-12, 0.0)  # parts have other columns
    assert np.allclose(rows[0], rows[1], *tolerances)
    apart, whole = (cost_bound(step, settings) for step in units)
    assert apart["regular"]["directional"] < whole["regular"]["directional"] / 4
    # entries of a whole Jacobian are taken by code that knows them, those of sums by tables
    assert apart["regular"]["instructions"] < 1.25 * whole["regular"]["instructions"]


def test_a_full_jacobian_stays(tmp_path: Path) -> None:
    """What every unit feels of all others has as many entries as there are pairs."""
    apart, whole = steps_of(
        "model Units parameter Integer n = 20; Real t[n](each start = 1, each fixed = true); equation\n"
        "  for i in 1:n loop der(t[i]) = sum(t)/n - i*t[i]^2; end for; end Units;",
        tmp_path,
    )
    assert apart.sums == whole.sums == () and apart.directional == whole.directional
