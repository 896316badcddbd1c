"""Runs of hand-made models against what is known of their solutions."""

from __future__ import annotations

import math
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import hand_made
import numpy as np
import pytest

from kilohertz import load
from kilohertz.base import ModelError
from kilohertz.ir import make as b
from kilohertz.ir.dae import Delay
from kilohertz.ir.expr import TIME, Builtin, Int, Real
from kilohertz.ir.step import Assignment, Kind, NonlinearLoop, Partition
from kilohertz.ir.types import REAL
from kilohertz.simulate import Program, RunInterrupted, Statistics, build_program, simulate
from kilohertz.simulate.experiment import experiment_times
from kilohertz.toolchain import STRICT


def built(name: str) -> Program:
    return build_program(getattr(hand_made, name)(), flags=STRICT)


def test_decay_with_cvode() -> None:
    statistics = Statistics()
    result = simulate(built("decay"), stop=2.0, tolerance=1e-8, statistics=statistics)
    assert np.abs(result["x"] - np.exp(-result.time)).max() < 1e-6
    assert len(result.time) == 501
    assert result.time[-1] == 2.0
    assert statistics.jacobians >= 1


@pytest.mark.parametrize(("solver", "order"), [("euler", 1), ("rk4", 4)])
def test_fixed_steps_have_their_order(solver: str, order: int) -> None:
    program = built("decay")
    errors = []
    for step in (0.1, 0.05):
        result = simulate(program, stop=1.0, solver=solver, step=step)
        errors.append(abs(result.final("x") - math.exp(-1.0)))
    assert math.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.15)


def test_aliases_constants_and_settings() -> None:
    result = simulate(built("decay"), stop=1.0, settings={"k": 2.0})
    assert result.final("x") == pytest.approx(math.exp(-2.0), rel=1e-4)
    assert (result["y"] == -result["x"]).all()
    assert result.final("c") == 0.1
    assert result.parameters["k"] == 2.0


@pytest.mark.parametrize(("settings", "code"), [({"kk": 1.0}, "R719"), ({"x": 1.0}, "R720"), ({"k": "much"}, "R720")])
def test_wrong_settings(settings: dict[str, float | str], code: str) -> None:
    with pytest.raises(ModelError) as caught:
        simulate(built("decay"), settings=settings)
    assert caught.value.diagnostics[0].code == code


def test_the_ball_bounces_when_it_should() -> None:
    statistics = Statistics()
    result = simulate(built("ball"), stop=1.2, tolerance=1e-9, statistics=statistics)
    first = math.sqrt(2.0 / 9.81)
    jumps = result.time[:-1][(np.diff(result.time) == 0) & (np.diff(result["v"]) > 1.0)]
    assert jumps[0] == pytest.approx(first, rel=1e-7)
    assert jumps[1] == pytest.approx(first * (1 + 2 * 0.7), rel=1e-7)
    assert result["h"].min() > -1e-9


def test_samples_and_time_events_are_exact() -> None:
    result = simulate(built("sampled"), stop=1.0)
    jumps = result.time[1:][np.diff(result["n"]) > 0]
    assert jumps == pytest.approx([0.1 * i for i in range(1, 11)], abs=1e-15)
    assert result["n"][0] == 1.0
    assert result.time[1:][np.diff(result["y"]) > 0] == [0.55]


def test_loops() -> None:
    result = simulate(built("loops"), stop=1.0)
    t = result.time
    assert result["a"] == pytest.approx((3 + t) / 2)
    assert result["b"] == pytest.approx((3 - t) / 2)
    assert result["c"] == pytest.approx(np.ones_like(t))
    assert result["d"] == pytest.approx(np.ones_like(t))
    assert result["z"] ** 3 + result["z"] == pytest.approx(t, abs=1e-12)


def test_mixed_loop_of_a_diode() -> None:
    statistics = Statistics()
    result = simulate(built("diode"), stop=10.0, statistics=statistics)
    assert result["i"] == pytest.approx(np.maximum(np.sin(result.time), 0.0), abs=1e-12)
    assert statistics.state_events == 3


def test_delay() -> None:
    m = hand_made.Maker("Delayed")
    u = m.var("u", Kind.ALGEBRAIC)
    y = m.var("y", Kind.ALGEBRAIC)
    m.step.delays = (Delay(0, u, Real(0.5)),)
    step = m.done(
        [
            Assignment(u, Builtin("sin", (TIME,), REAL), Partition.STEP),
            Assignment(y, Builtin("delay", (Int(0), Real(0.5)), REAL), Partition.OUTPUT),
        ]
    )
    result = simulate(build_program(step, flags=STRICT), stop=3.0, intervals=3000)
    wanted = np.sin(np.maximum(result.time - 0.5, 0.0))
    assert np.abs(result["y"] - wanted).max() < 1e-5


def test_a_failed_assert_ends_the_run() -> None:
    with pytest.raises(ModelError, match="x is too large") as caught:
        simulate(built("asserting"))
    assert caught.value.diagnostics[0].code == "R714"
    assert "time = 0.69" in caught.value.diagnostics[0].message


def test_a_loop_without_solution_names_its_unknown() -> None:
    m = hand_made.Maker("NoRoot")
    z = m.var("z", Kind.ALGEBRAIC, Real(3.0))
    residual = b.add(b.pow_(z, Real(2.0)), TIME)
    loop = NonlinearLoop((z,), (), (b.sub(residual, Real(0.5)),), None, ((0, 0),), Partition.STEP)
    with pytest.raises(ModelError) as caught:
        simulate(build_program(m.done([loop])), stop=1.0)
    diagnostic = caught.value.diagnostics[0]
    assert diagnostic.code == "R712"
    assert any("z = " in note.text for note in diagnostic.notes)


def test_nan_in_the_middle_names_the_equation() -> None:
    m = hand_made.Maker("Nan")
    x, xd = m.state("x", 1.0)
    w = m.var("w", Kind.ALGEBRAIC)
    root = Builtin("sqrt", (b.sub(Real(0.5), TIME),), REAL)
    step = m.done([Assignment(w, root, Partition.STEP), Assignment(xd, b.mul(w, x), Partition.STEP)])
    with pytest.raises(ModelError) as caught:
        simulate(build_program(step), stop=1.0)
    diagnostic = caught.value.diagnostics[0]
    assert diagnostic.code == "R713"
    assert any("w = " in note.text and "nan" in note.text for note in diagnostic.notes)


@pytest.mark.parametrize(
    ("options", "code"),
    [({"solver": "magic"}, "R721"), ({"solver": "euler", "step": 0.0}, "R723"), ({"start": 2.0, "stop": 1.0}, "R723")],
)
def test_wrong_experiments(options: dict[str, object], code: str) -> None:
    with pytest.raises(ModelError) as caught:
        simulate(built("decay"), **options)  # type: ignore[arg-type]
    assert caught.value.diagnostics[0].code == code


@pytest.mark.parametrize(
    ("annotated", "given", "times"),
    [
        ((None, None), (None, None), (0.0, 1.0)),
        ((0.1, None), (None, None), (0.1, 1.0)),
        ((3.0, None), (None, None), (3.0, 4.0)),
        ((0.1, None), (0.2, None), (0.2, 1.2)),
        ((0.1, 5.0), (None, 2.0), (0.1, 2.0)),
    ],
)
def test_the_stop_that_nobody_says(annotated: Any, given: Any, times: Any) -> None:
    program: Any = SimpleNamespace(
        step=SimpleNamespace(experiment=SimpleNamespace(start=annotated[0], stop=annotated[1]))
    )
    assert experiment_times(program, *given) == times


def test_recording_is_selective_and_progress_is_told() -> None:
    told: list[float] = []
    result = simulate(built("ball"), stop=0.5, record=["h", "der(*"], progress=told.append)
    assert set(result.names) == {"h", "der(h)", "der(v)"}
    assert told[-1] == 1.0


def test_interrupting_from_the_progress_callback() -> None:
    def stop(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate(built("decay"), progress=stop)


def test_an_interrupt_ends_a_run_with_what_there_is() -> None:
    """Ctrl-C in any line that C calls: nothing is printed, and the handler is what it was."""
    told: list[float] = []

    def stop(share: float) -> None:
        told.append(share)
        signal.raise_signal(signal.SIGINT)
        told.append(share)  # not raised here, where Python would print it and go on

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(RunInterrupted) as caught:
            simulate(built("decay"), progress=stop)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(told) == 2
    assert not caught.value.partial.ok


def test_an_interrupt_where_rows_are_full_leaves_those_that_were_written() -> None:
    def stop(share: float) -> None:
        if share > 0.4:
            raise KeyboardInterrupt

    with pytest.raises(RunInterrupted) as caught:
        simulate(built("decay"), stop=1.0, intervals=500_000, progress=stop)
    partial = caught.value.partial
    assert 0.4 < partial.time[-1] < 1.0
    assert (np.diff(partial.time) >= 0).all()


def test_a_handler_of_somebody_else_stays() -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        result = simulate(built("decay"), progress=lambda _: signal.raise_signal(signal.SIGINT))
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard
    assert result.ok


def test_same_run_same_bits() -> None:
    program = built("ball")
    first, second = (simulate(program, stop=1.0) for _ in range(2))
    assert first.data.tobytes() == second.data.tobytes()


@pytest.mark.parametrize(("how", "error"), [({"solver": "cvode"}, 1e-3), ({"solver": "rk4", "step": 1e-3}, 1e-5)])
def test_a_delay_of_many_steps(how: dict[str, Any], error: float) -> None:
    """More steps than the delay line has points; and few steps, where nothing but the delay asks for more."""
    result = load(str(Path(__file__).parent / "late.mo")).simulate(stop=25, **how)
    late = result.time > 10.1
    assert np.abs(result["y"][late] - np.sin(result.time[late] - 10)).max() < error


@pytest.mark.parametrize(
    "how", [{"solver": "cvode"}, {"solver": "ida"}, {"solver": "rk4", "step": 1e-3, "events": "exact"}]
)
def test_a_crossing_at_the_end_is_an_event(how: dict[str, Any]) -> None:
    """Even where a tick one rounding error before the end leaves no step in which it could be found."""
    result = load(str(Path(__file__).with_name("at_the_end.mo"))).simulate(stop=0.1, **how)
    assert result["ticks"][-1] == 10
    assert result["last"][-1] == result.time[-1] == 0.1


def test_an_event_iteration_without_end_names_the_variable(tmp_path: Path) -> None:
    file = tmp_path / "restless.mo"
    file.write_text("model Restless\n  Boolean b(start = false);\nequation\n  b = not pre(b);\nend Restless;\n")
    with pytest.raises(ModelError) as caught:
        load(file).simulate()
    (problem,) = caught.value.diagnostics
    assert problem.code == "R715"
    assert problem.span is not None
    assert problem.notes[0].text == "`b` changes in every pass"


STORM = """
model Storm "A relay whose band makes a million switchings in each interval of the output"
  parameter Real width = 1e-10;
  Real x(start = 0, fixed = true);
  Boolean up(start = true, fixed = true);
equation
  der(x) = if up then 1 else -1;
  up = x < (if pre(up) then width else -width);
end Storm;
"""


def test_a_storm_of_events_is_given_up(tmp_path: Path) -> None:
    file = tmp_path / "storm.mo"
    file.write_text(STORM)
    with pytest.raises(ModelError) as caught:
        load(file).simulate(stop=1.0)
    assert caught.value.diagnostics[0].code == "R715"
    assert load(file).simulate(stop=0.5e-6)["x"].size > 1000  # as many as a run of that length has anyway


def test_rows_are_at_the_instants_that_were_asked_for_and_at_the_stop() -> None:
    program = load(f"{Path(__file__).with_name('internal.mo')}:Internal.Oscillator").compile()
    wanted = np.array([0.0, 0.013, 0.2, 0.7, 1.0, 1.5])
    ways: list[dict[str, Any]] = [{}, {"solver": "rk4", "step": 1e-3}]
    for keywords in ways:
        result = simulate(program, stop=1.0, instants=wanted, **keywords)
        assert result.time.tolist() == pytest.approx([0.0, 0.013, 0.2, 0.7, 1.0])
        assert result["x"][1:4] == pytest.approx(
            np.cos(np.sqrt(40) * wanted[1:4]) * np.exp(-0.025 * wanted[1:4]), abs=5e-3
        )
