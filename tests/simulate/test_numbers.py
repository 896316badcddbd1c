"""Steps in single precision: the numbers of doubles within rounding, at the same events, the same bits in a task."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kilohertz
from kilohertz import Model, ModelError
from kilohertz.codegen.writing.number_type import in_single, single
from kilohertz.driver import export
from kilohertz.driver.job import job_of_model
from kilohertz.results import Result
from kilohertz.simulate import Statistics, Stepper
from kilohertz.solvers import StepSettings

FILE = Path(__file__).with_name("numbers.mo")
EPS = float(np.finfo(np.float32).eps)


@cache
def model(name: str) -> Model:
    return kilohertz.load(f"{FILE}:Numbers.{name}")


def both(name: str, **how: Any) -> tuple[tuple[Result, Statistics], ...]:
    made = []
    for number in ("double", "single"):
        counted = Statistics()
        made.append((model(name).simulate(number=number, statistics=counted, **how), counted))
    return tuple(made)


@pytest.mark.parametrize(
    ("name", "solver", "stop", "most"),
    [
        ("Lorenz", "rk4", 0.5, 1e-5),
        ("Lorenz", "rodas4", 0.5, 1e-5),
        ("Hybrid", "rk4", 1.0, 1e-5),
        ("Hybrid", "lie", 1.0, 1e-5),
        ("Hybrid", "sdirk2", 1.0, 1e-5),
        ("Stiff", "lie", 1.0, 1e-4),
        ("Stiff", "ros34pw2", 1.0, 1e-4),
    ],
)
def test_as_doubles_within_rounding(name: str, solver: str, stop: float, most: float) -> None:
    (exact, in_doubles), (rounded, counted) = both(name, solver=solver, step=1e-3, stop=stop, intervals=200)
    assert (in_doubles.state_events, in_doubles.time_events) == (counted.state_events, counted.time_events)
    np.testing.assert_allclose(rounded.time, exact.time, rtol=0, atol=4 * EPS * stop)
    for v in model(name).process().variables.values():
        if v.slot.kind.value in ("x", "d") and not v.name.startswith("$"):
            a, b = np.asarray(exact[v.name]), np.asarray(rounded[v.name])
            assert np.max(np.abs(a - b)) <= most * np.ptp(a), v.name
            assert np.any(a != b), "a run in doubles"


def test_time_is_a_double_after_hours() -> None:
    """A single after 10 000 s tells no step of 1 ms from the next: samples would be lost, a sine would be steps."""
    start = 10_000.0
    for result, counted in both("Hybrid", solver="rk4", step=1e-3, start=start, stop=start + 0.2, intervals=200):
        assert counted.time_events == 20
        at = np.asarray(result.time)
        assert np.max(np.abs(np.asarray(result["phase"]) - np.sin(6.28 * at))) < 1e-6
        off = np.asarray(result["w"]) - np.mod(at, 0.3)
        assert np.max(np.abs(off - 0.3 * np.round(off / 0.3))) < 1e-6  # at its end one period is as good as none


def test_a_time_event_in_the_numbers_of_the_model_is_not_late() -> None:
    """0.1 is a little more as a single: without slack its event would be handled at 0.101."""
    result = model("Hybrid").simulate(solver="rk4", step=1e-3, stop=0.12, intervals=120, number="single")
    begun = np.asarray(result.time)[np.asarray(result["has_begun"]) > 0.5][0]
    assert begun == pytest.approx(0.1, abs=4 * EPS)
    assert not result.problems


@pytest.mark.parametrize("events", ["none", "mid", "linear", "catch-up", "hermite", "predict", "exact"])
def test_events_inside_a_step(events: str) -> None:
    (exact, _), (rounded, _) = both("Hybrid", solver="rk4", step=2e-3, stop=0.6, intervals=300, events=events)
    a, b = (np.interp(np.linspace(0, 0.6, 100), r.time, r["x"]) for r in (exact, rounded))
    assert np.max(np.abs(a - b)) < 1e-3 * np.ptp(a)


@pytest.mark.parametrize("form", [{"inline": True}, {"index1": True}, {"implicit": "x"}])
def test_other_forms(form: dict[str, Any]) -> None:
    solver = "imex1" if "implicit" in form else "lie" if "index1" in form else "ieuler"
    (exact, _), (rounded, _) = both("Hybrid", solver=solver, step=1e-3, stop=0.5, intervals=100, **form)
    a, b = np.asarray(exact["x"]), np.asarray(rounded["x"])
    assert np.max(np.abs(a - b)) < 1e-4 * np.ptp(a)


def test_values_are_kept_as_singles_and_read_as_numbers() -> None:
    program = model("Lorenz").compile(number="single")
    stepper = Stepper(program, StepSettings("rk4", 1e-3))
    stepper.instance.set("rho", 0.1)
    assert stepper.instance.read(program.step.variables["rho"]) == float(np.float32(0.1))
    assert stepper.start(0.0) == 0
    assert program.size < model("Lorenz").compile().size


@pytest.mark.parametrize("solver", ["rk4", "lie"])
def test_a_task_has_the_bits_of_an_off_line_run(solver: str, tmp_path: Path) -> None:
    how: dict[str, Any] = {"solver": solver, "step": 1e-3, "number": "single"}
    offline = model("Hybrid").simulate(stop=0.2, intervals=200, record=("x", "v", "sum"), **how)
    report = model("Hybrid").run(duration=0.2, folder=tmp_path, **how)
    last = {name: float(np.asarray(offline[name])[-1]) for name in ("x", "v", "sum")}
    assert {name: float(np.asarray(report.result[name])[-1]) for name in last} == last
    assert f"made for {solver}, single precision" in str(report) or "generic" in str(report)


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"hands records of doubles to external functions: `pair_sum`") as caught:
        model("HandsRecords").simulate(solver="rk4", step=1e-3, stop=0.1, number="single")
    assert caught.value.diagnostics[0].code == "R776"
    with pytest.raises(ModelError, match=r"`k` = 1e\+40 is beyond single precision") as caught:
        model("Lost").simulate(solver="rk4", step=1e-3, stop=0.1, number="single", settings={"k": 1e40})
    assert caught.value.diagnostics[0].code == "R779"
    with pytest.raises(ModelError, match="beyond single precision"):
        model("Lost").run(solver="rk4", step=1e-3, duration=0.1, number="single", settings={"k": 1e-40})
    with pytest.raises(ModelError, match=r"`number` is for fixed-step solvers, not for `cvode`"):
        model("Lorenz").simulate(solver="cvode", stop=0.1, number="single")
    with pytest.raises(ModelError, match="an FMU speaks and computes in doubles"):
        export(model("Lorenz"), tmp_path / "x.fmu", solver="rk4", step=1e-3, number="single")
    with pytest.raises(ModelError, match="settings are searched for in doubles"):
        model("Lorenz").tune(error=1e-3, number="single", stop=1.0)
    with pytest.raises(ModelError, match="`number` is `half`"):
        model("Lorenz").simulate(solver="rk4", step=1e-3, stop=0.1, number="half")


def test_external_functions_compute_in_doubles(tmp_path: Path) -> None:
    how: dict[str, Any] = {"solver": "rk4", "step": 1e-3}
    (exact, _), (rounded, _) = both("Outside", stop=0.5, intervals=100, **how)
    for name in ("x", "b[1]", "b[2]", "b[3]", "total", "now"):
        np.testing.assert_allclose(rounded[name], exact[name], rtol=1e-5, atol=1e-6)
        assert name == "b[3]" or np.any(np.asarray(rounded[name]) != np.asarray(exact[name]))
    assert np.all(np.asarray(rounded["due"]) == float(np.finfo(np.float32).max))  # "never", not infinity
    report = model("Outside").run(duration=0.5, folder=tmp_path, number="single", **how)
    assert float(np.asarray(report.result["total"])[-1]) == float(np.asarray(rounded["total"])[-1])


def test_a_cut_step_is_no_solution() -> None:
    """Cut to 1/4096 a step of a hundredth is below the tolerance of singles: out was at its limits, without a word."""
    (exact, _), (rounded, counted) = both("Amplifier", solver="rk4", step=1e-3, stop=0.1, intervals=100)
    assert np.max(np.abs(np.asarray(exact["out"]) - np.asarray(rounded["out"]))) < 0.1
    assert not counted.counts.get("newton_caps")


def test_what_singles_lose_is_said() -> None:
    counted = Statistics()
    how: dict[str, Any] = {"solver": "rk4", "step": 1e-3, "statistics": counted}
    model("Lost").simulate(stop=0.1, number="single", **how)
    (warning,) = counted.warnings
    assert warning.code == "R778"
    assert "1e-60 of `tiny`, 1e+60 of a condition, 1e-50 of `der(x)`" in warning.message
    model("Lost").simulate(start=9000.0, stop=9000.1, number="single", **how)
    instants = counted.warnings[1]
    assert instants.code == "R766"
    assert instants.message.startswith(
        "`next` holds an instant, and at 9000.1 s neighbouring singles are 0.0011 s apart"
    )
    model("Lost").simulate(start=9000.0, stop=9000.1, **how)
    assert not counted.warnings
    with pytest.raises(ModelError) as caught:
        model("Patient").simulate(stop=0.1, number="single", **how)
    assert "7 digits" in caught.value.diagnostics[0].notes[-1].text


def test_a_task_says_what_singles_lose(tmp_path: Path) -> None:
    said: list[str] = []
    job = job_of_model(model("Lost")).changed(StepSettings.of(solver="rk4", step=1e-3, number="single"), duration=0.1)
    job.build(folder=tmp_path, announce=said.append)
    assert any("R778" in line and "`tiny`" in line for line in said)


def test_one_type_in_an_executable() -> None:
    from kilohertz.building import linked_units

    units = model("Lorenz").built(model("Lorenz").process())
    assert units.in_numbers("double") is units
    assert units.in_numbers("single").number.name == "single"
    with pytest.raises(ModelError, match="one number type"):
        linked_units([units, units.in_numbers("single")], offline=False)
    with pytest.raises(StopIteration):
        next(f for f in units.in_numbers("single").code.files if "double" in f.text and "time" not in f.text)


def test_spelling() -> None:
    assert single("0x1.999999999999ap-4") == "0x1.99999ap-4f"
    assert single("0.5") == "0.5f"
    assert single("1e60") == "3.40282347e+38f"
    assert single("1e-60") == "1.17549435e-38f"
    text = 'x = 0.1 * y; /* 0.1 */ s = "double 0.1"; const double t1 = 6.28 * z->c.time; double a[3]; f(1, 2u);'
    assert in_single(text) == (
        'x = 0.1f * y; /* 0.1 */ s = "double 0.1"; const double t1 = 6.28 * z->c.time; khz_real a[3]; f(1, 2u);'
    )
    assert in_single("z->xd_dir[0] = cos(2.0 * z->c.time) * z->seed[0];") == (
        "z->xd_dir[0] = cos(2.0f * (khz_real)z->c.time) * z->seed[0];"
    )


def test_double_is_what_it_was() -> None:
    units = model("Hybrid").built(model("Hybrid").process())
    assert replace(units) == units.in_numbers("double")
    assert not any("khz_real" in f.text.replace("sizeof(khz_real)", "") for f in units.code.files)
