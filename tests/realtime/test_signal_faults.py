"""Faults on signals: what a model gets and gives while they are active, in a scenario and in a running rig."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from live_tasks import attached

from kilohertz.base import ModelError
from kilohertz.cli import main
from kilohertz.realtime import (
    Built,
    Connection,
    Device,
    Recording,
    Running,
    Scenario,
    SignalFault,
    Stimulus,
    Task,
    Thread,
    Trigger,
    scenario_of_settings,
    start,
)
from kilohertz.realtime.faults import fault_of
from kilohertz.results import Result
from kilohertz.solvers import StepSettings

Build = Callable[[Scenario], Built]
RAMP = (Stimulus(formulas={"u": "time"}),)


def alone(lag: Scenario, *faults: SignalFault, **more: Any) -> Scenario:
    """The lag for 100 steps as fast as possible, its input the time, with faults."""
    quick = replace(lag, cycles=100, scale=None, tasks=(replace(lag.tasks[0], settings={}),))
    return replace(quick, **{"stimuli": RAMP, "faults": faults, **more})


def task(name: str, model: str, every: int = 1) -> Task:
    """A task at a multiple of a millisecond."""
    return Task(name, model, StepSettings("rk4", every * 1e-3), every)


def run(make: Build, s: Scenario) -> tuple[Result, tuple[dict[str, Any], ...]]:
    report = start(make(s)).wait()
    assert report.ok, report.as_text()
    return report.result, report.faults


def fault(kind: str, value: float = math.nan, **more: Any) -> SignalFault:
    return SignalFault("u", kind, value, **{"name": "f", "begin": 0.02, "until": 0.05, **more})


ACTIVE = slice(21, 51)  # rows: the step that begins at 20 ms is row 21
TIME = np.arange(100) / 1000


@pytest.mark.parametrize(
    ("planted", "expected"),
    [
        (fault("stuck", 7.0), np.full(30, 7.0)),
        (fault("stuck"), np.full(30, 0.02)),
        (fault("offset", 3.0), TIME[20:50] + 3.0),
        (fault("gain", -2.0), TIME[20:50] * -2.0),
        (fault("dropout", 1.0), np.full(30, 0.019)),
        (fault("delay", 0.005), TIME[15:45]),
    ],
    ids=lambda p: p.kind if isinstance(p, SignalFault) else "",
)
def test_what_a_model_gets(make: Build, lag: Scenario, planted: SignalFault, expected: Any) -> None:
    result, faults = run(make, alone(lag, planted))
    without = np.concatenate(([0.0], TIME))
    u = result["u"]
    assert u[ACTIVE] == pytest.approx(expected, abs=1e-15)
    assert u[:21] == pytest.approx(without[:21], abs=1e-15) and u[51:] == pytest.approx(without[51:], abs=1e-15)
    assert result["f.active"].tolist() == [0.0] * 21 + [1.0] * 30 + [0.0] * 50
    assert result["f.value"] == pytest.approx(u, abs=0.0)
    (told,) = faults
    assert (told["since"], told["ended"], told["passed"]) == (pytest.approx(0.02), pytest.approx(0.05), 30)
    assert (told["name"], told["signal"], told["kind"], told["live"]) == ("f", "u", planted.kind, False)


def test_random_faults_have_their_seed(make: Build, lag: Scenario) -> None:
    noises = [run(make, alone(lag, fault("noise", 0.5, seed=seed)))[0]["u"][ACTIVE] - TIME[20:50] for seed in (3, 3, 4)]
    assert np.array_equal(noises[0], noises[1]) and not np.array_equal(noises[0], noises[2])
    assert 0.3 < noises[0].std() < 0.7
    u = run(make, alone(lag, fault("dropout", 0.5, seed=3)))[0]["u"][ACTIVE]
    came = u == TIME[20:50]
    assert 5 < came.sum() < 25
    last = 0.019
    for value, there, now in zip(u, came, TIME[20:50], strict=True):
        last = now if there else last
        assert value == last


def test_a_condition_begins_a_fault_and_several_act_in_turn(make: Build, lag: Scenario) -> None:
    trigger = Trigger("y", ">", 0.01)
    first = fault("gain", 2.0, name="twice", begin=None, until=math.inf, when=trigger, lasts=0.01)
    second = fault("offset", 1.0, name="more", begin=None, until=math.inf, when=trigger, lasts=0.01)
    result, faults = run(make, alone(lag, first, second))
    begins = int(np.argmax(result["y"] > 0.01)) + 1
    assert result["u"][begins : begins + 10] == pytest.approx(2.0 * result.time[begins - 1 : begins + 9] + 1.0)
    assert result["u"][begins + 10] == pytest.approx(result.time[begins + 9])
    assert faults[0]["since"] == pytest.approx(result.time[begins - 1])
    never = replace(first, when=Trigger("y", ">", 99.0))
    assert run(make, alone(lag, never))[1][0]["since"] is None


def test_an_input_that_nothing_drives_comes_back(make: Build, lag: Scenario) -> None:
    s = alone(lag, fault("gain", 3.0), stimuli=())
    resting = replace(s, tasks=(replace(s.tasks[0], settings={"u": 2.0}),))
    u = run(make, resting)[0]["u"]
    assert set(u[ACTIVE]) == {6.0} and set(u[:21]) | set(u[51:]) == {2.0}


@pytest.mark.parametrize("exchange", ["parallel", "sequential"])
@pytest.mark.parametrize("threads", [1, 2])
def test_what_others_get(make: Build, lag: Scenario, exchange: str, threads: int) -> None:
    tasks = (task("clock", "Clock"), task("gain", "Gain"))
    several = (Thread("x"), Thread("y")) if threads == 2 else ()
    if several:
        tasks = (replace(tasks[0], thread="x"), replace(tasks[1], thread="y"))
    planted = SignalFault("clock.y", "stuck", 5.0, "f", 0.02, 0.05)
    s = replace(lag, tasks=tasks, cycles=100, scale=None, exchange=exchange, threads=several, faults=(planted,))
    result, faults = run(make, replace(s, connections=(Connection("clock.y", "gain.u"),)))
    y, got = result["clock.y"], result["gain.u"]
    assert y == pytest.approx(result.time)  # the model keeps its own
    late = exchange == "parallel" or threads == 2
    seen = np.flatnonzero(got == 5.0)
    assert seen.tolist() == list(range(21, 51) if late else range(20, 50))
    assert np.flatnonzero(result["f.value"] == 5.0).tolist() == list(range(20, 50))
    assert faults[0]["passed"] == 30


def test_what_a_device_gets(make: Build, lag: Scenario) -> None:
    echo = Device("echo", "loopback", {}, ({"signal": "u"},), ({"signal": "y"},))
    planted = SignalFault("y", "stuck", 4.0, "f", 0.02, 0.05, device="echo")
    result, _ = run(make, alone(lag, planted, stimuli=(), devices=(echo,)))
    assert np.flatnonzero(result["u"] == 4.0).tolist() == list(range(21, 51))
    assert not (result["y"] == 4.0).any()


def test_a_slower_task_and_a_recording_that_a_fault_begins(make: Build, lag: Scenario) -> None:
    tasks = (task("a", "Clock"), task("b", "Gain", every=4))
    planted = SignalFault("b.u", "offset", 100.0, "f", 0.0201, 0.04)
    s = replace(lag, tasks=tasks, cycles=100, scale=None, faults=(planted,))
    recording = Recording(signals=("b.u", "f.*"), begin=Trigger("f.active", ">", 0.5))
    result, _ = run(make, replace(s, connections=(Connection("a.y", "b.u"),), recording=recording))
    assert result.time[0] == pytest.approx(0.025)  # its period that begins at 24 ms
    assert result["b.u"][:4] == pytest.approx(100.024) and result["b.u"][20] == pytest.approx(0.044)


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"signal": "u", "kind": "stuk"}, "did you mean `stuck`"),
    ({"signal": "u"}, "`kind` is missing"),
    ({"kind": "stuck"}, "`signal` is missing"),
    ({"signal": "u", "kind": "offset"}, "a fault `offset` needs it"),
    ({"signal": "u", "kind": "offset", "offset": "much"}, "must be a number"),
    ({"signal": "u", "kind": "dropout", "share": 1.5}, "from 0 to 1"),
    ({"signal": "u", "kind": "delay", "delay": "0s"}, "a time such as"),
    ({"signal": "u", "kind": "gain", "gain": 2, "offset": 1}, "is for the kind `offset`"),
    ({"signal": "u", "kind": "gain", "gain": 2, "seed": 1}, "is for random faults"),
    ({"signal": "u", "kind": "stuck", "from": 2, "until": 1}, "never be active"),
    ({"signal": "u", "kind": "stuck", "when": "y is 3"}, "must be a condition"),
    ({"signal": "u", "kind": "stuck", "name": "a b"}, "letters, digits"),
    ({"signal": "u", "kind": "stuck", "ofset": 2}, "no setting `ofset`"),
]


@pytest.mark.parametrize(("keys", "said"), WRONG, ids=lambda p: p if isinstance(p, str) else "")
def test_a_wrong_fault_is_said(keys: dict[str, Any], said: str) -> None:
    with pytest.raises(ModelError, match=said):
        scenario_of_settings({"name": "x", "model": "M", "fault": [keys]})


def test_a_slow_step_is_no_fault_of_a_signal() -> None:
    with pytest.raises(ModelError, match=r"`kind` is `slow`, but must be one of stuck, .*, delay\b(?!, slow)"):
        fault_of({"signal": "u", "kind": "slow", "slow": "3ms"})


def test_a_slow_step_may_stand_among_them() -> None:
    faults: list[dict[str, Any]] = [{"kind": "slow", "slow": "3ms", "step": 5}, {"signal": "u", "kind": "stuck"}]
    s = scenario_of_settings({"name": "x", "model": "M", "fault": faults})
    assert (s.fault.ns, s.fault.step) == (3_000_000, 5)
    assert [f.name for f in s.faults] == ["fault2"]
    with pytest.raises(ModelError, match="one slow step"):
        scenario_of_settings({"name": "x", "model": "M", "fault": [faults[0], faults[0]]})
    with pytest.raises(ModelError, match="another fault"):
        scenario_of_settings({"name": "x", "model": "M", "fault": [{**faults[1], "name": "fault2"}, faults[1]]})


@pytest.mark.parametrize(
    ("planted", "said"),
    [
        (fault("stuck", 1.0), ""),
        (replace(fault("stuck"), signal="nothing"), "no signal `nothing`"),
        (replace(fault("stuck"), signal="T"), "a parameter"),
        (replace(fault("stuck"), signal="y"), "no connection and no device takes"),
        (replace(fault("stuck"), device="echo"), "does not get `u`"),
        (replace(fault("stuck"), when=Trigger("z", ">", 1.0)), "no signal `z`"),
        (replace(fault("delay", 1e5), until=math.inf), "longer than"),
    ],
    ids=lambda p: p if isinstance(p, str) else "",
)
def test_a_fault_that_cannot_be_there(make: Build, lag: Scenario, planted: SignalFault, said: str) -> None:
    if not said:
        make(alone(lag, planted))
        return
    with pytest.raises(ModelError, match=said):
        make(alone(lag, planted))


# ------------------------------------------------------------------------------------------------------- running rigs


@pytest.fixture
def driven(make: Build, lag: Scenario) -> Iterator[Running]:
    """The lag until stopped; a stimulus drives its input with 1."""
    resting = replace(lag, cycles=0, tasks=(replace(lag.tasks[0], settings={}),))
    running = start(make(replace(resting, stimuli=(Stimulus(formulas={"u": "1"}),))))
    try:
        yield running
    finally:
        running.stop()
        running.process.wait(20)


def test_override_and_release(driven: Running) -> None:
    with attached(driven) as live:
        with pytest.raises(ModelError, match="`--override`"):
            live.set("u", 5.0)
        live.pause()
        live.override("u", 5.0)
        live.step(3)
        assert live["u"] == 5.0
        live.override("u", 6.0)
        live.step(1)
        assert live["u"] == 6.0
        first, second = live.faults
        assert (first.state, first.passed, second.state, second.value) == ("over", 3, "active", 6.0)
        assert "active since" in second.as_text() and first.is_live
        assert live.release("u") == 1
        live.step(1)
        assert live["u"] == 1.0
        with pytest.raises(ModelError, match="no fault `u`"):
            live.release("u")
        live.stop()
    report = driven.wait()
    assert [f["passed"] for f in report.faults] == [3, 1]
    assert "stuck 6 on u (given while it ran), active from" in report.as_text()


def test_live_faults_of_every_kind_and_a_snapshot(driven: Running) -> None:
    with attached(driven) as live:
        live.pause()
        live.fault("u", "offset", 2.0, lasts="4ms")
        live.fault("u", "gain", 10.0, when="u > 0")
        live.fault("u", "noise", 0.1, seed=3)
        live.fault("u", "dropout", 0.5, seed=4)
        live.fault("u", "delay", "2ms")
        live.step(3)
        live.snapshot()
        seen = []
        for _ in range(2):
            values = []
            for _ in range(6):
                live.step(1)
                values.append(live["u"])
            seen.append((values, [f.as_text() for f in live.faults]))
            live.restore()
        assert seen[0] == seen[1] and len(set(seen[0][0])) > 2
        live.fault("u", "stuck", 3.0, from_=live.time + 2e-3)
        live.step(2)
        assert live["u"] != 3.0
        live.step(1)
        assert live["u"] == 3.0


def test_what_a_running_rig_refuses(driven: Running) -> None:
    with attached(driven) as live:
        for signal, kind, value, said in (
            ("T", "stuck", 1.0, "a parameter"),
            ("y", "stuck", 1.0, "no device takes it"),
            ("u", "delay", "100s", "longer than 4096 periods"),
            ("w", "stuck", 1.0, "no signal `w`"),
            ("u", "twist", 1.0, "must be one of"),
            ("u", "gain", "much", "must be a number"),
        ):
            with pytest.raises(ModelError, match=said):
                live.fault(signal, kind, value)
        with pytest.raises(ModelError, match="faults of a scenario"):
            live.fault("u", "stuck", 1.0, device="x")
        for i in range(40):  # places are used again; the report says how many it does not know
            live.fault("u", "stuck", float(i))
            live.release("u")
        live.stop()
    report = driven.wait()
    assert len(report.faults) == 16 and report.counts["faults_forgotten"] == 24
    assert "and 24 faults before them" in report.as_text()


def test_setting_an_input_below_its_fault(make: Build, lag: Scenario) -> None:
    running = start(make(replace(lag, cycles=0)))
    with attached(running) as live:
        live.pause()
        live.fault("u", "gain", 10.0)
        live.step(1)
        assert live["u"] == 10.0
        live.set("u", 2.0)
        live.step(1)
        assert live["u"] == 20.0
        live.release()
        live.step(1)
        assert live["u"] == 2.0
    running.stop()
    assert running.wait().ok


def test_the_command(driven: Running, capsys: pytest.CaptureFixture[str]) -> None:
    attached(driven).close()
    rig = ["--rig", driven.built.name]
    assert main(["fault", *rig]) == 0
    assert "no faults" in capsys.readouterr().out
    assert main(["set", *rig, "u=5"]) == 1
    assert "`--override`" in capsys.readouterr().err
    assert main(["set", *rig, "u=5", "--override"]) == 0
    assert main(["fault", *rig, "u", "noise", "0.1", "--seed", "3", "--lasts", "1min"]) == 0
    out = capsys.readouterr().out
    assert "stuck 5 on u" in out and "noise 0.1 on u" in out
    assert main(["set", *rig, "--release", "u"]) == 0
    assert main(["fault", *rig, "u", "gain", "2"]) == 0
    assert main(["fault", *rig, "--release"]) == 0
    assert "1 released" in capsys.readouterr().out
    assert main(["fault", *rig, "u"]) == 1
    assert main(["fault", *rig, "--release", "u"]) == 1


def test_values_outside_min_and_max_are_refused(make: Build, lag: Scenario) -> None:
    bounded = replace(lag, cycles=0, tasks=(replace(lag.tasks[0], model="Bounded", settings={}),))
    running = start(make(bounded))
    with attached(running) as live:
        for name, value, said in (
            ("k", 11.0, "its max is 10"),
            ("k", -1.0, "its min is 0"),
            ("u", 2.0, "its max is 1"),
            ("mode", 3.0, "numbers from 1 to 2"),
            ("mode", 0.0, "numbers from 1 to 2"),
        ):
            with pytest.raises(ModelError, match=said):
                live.set(name, value)
        live.set("k", 10.0)
        live.set("mode", 2.0)
    running.stop()
    assert running.wait().ok
