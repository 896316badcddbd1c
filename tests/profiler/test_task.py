"""Profiles of real-time tasks: modes, places, switching while they run, traces that are torn or foreign."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kilohertz.base import ModelError
from kilohertz.cli import main
from kilohertz.driver import open_job
from kilohertz.driver.profiling import keep_profiles
from kilohertz.profiler import Profile, headline, read_profile, read_trace, worst_causes
from kilohertz.profiler.timing import MODES
from kilohertz.realtime import Built, Live, Running, attach, start, trace_path
from kilohertz.realtime.live import FOLDER

MODEL = "Kilohertz.Examples.RCCircuit"


def run(folder: Path, mode: str, duration: float = 0.6) -> Profile:
    job = open_job(MODEL, solver="rk4", duration=duration, profile=mode)
    job = replace(job, scenario=replace(job.scenario, name=f"profile-{mode}-{os.getpid()}"))
    report = job.run(folder=folder, check=False)
    assert report.ok
    return read_profile(report.profiles[0])


def test_every_place_of_every_cycle_in_a_burst(tmp_path: Path) -> None:
    profile = run(tmp_path, "burst")
    assert len(profile.records) == 600
    assert profile.period_ns == 1_000_000
    burst = profile.times.is_burst
    without = ~burst & (profile.records["head"]["window"] == 0)  # on a slow machine others have a window only
    assert without.sum() == 600 // 61 * 4
    parts = profile.records["places"]["ticks"][burst].astype(np.int64).sum(axis=1)
    assert (parts == profile.records["head"]["ticks"][burst]).all()
    seen = {p.name for p, s in zip(profile.places, profile.statistics, strict=True) if s.calls > 0}
    assert {"recorder", "outputs", "live values and accounting", "stepper itself"} <= seen
    assert profile.about["dropped"] == 0
    assert not profile.about["killed"]
    assert not list(tmp_path.glob("*.trace.0"))


def test_always_on_windows_go_over_all_places(tmp_path: Path) -> None:
    profile = run(tmp_path, "always", 2.0)
    head = profile.records["head"]
    assert 2000 // 64 <= len(profile.records) <= 2000  # those that the allowance pays for, and slow ones
    assert profile.counted.tolist() == (head["every"] > 0).tolist()
    assert (head["mode"] == MODES.index("always")).all()
    assert 0 < (head["window"] > 0).sum() < len(head)
    assert head["n_borders"].max() <= 8
    assert len(profile.times.sweeps_ns) > 1
    called = {p.name: s.calls for p, s in zip(profile.places, profile.statistics, strict=True)}
    assert called["stepper itself"] == called["task itself"] == called["recorder"] == 1.0
    assert called["right-hand side outside its blocks"] == 4.0 or called["right-hand side outside its blocks"] == 3.0
    assert sum(s.share for s in profile.statistics) == pytest.approx(1.0)
    assert profile.own_ns.sum(axis=1) == pytest.approx(profile.cycle_ns)  # every cycle can be opened


def wait_until_live(running: Running) -> None:
    while (live := running.live()) is None:
        time.sleep(0.02)
    live.close()


def test_a_running_task_is_switched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job = open_job(MODEL, solver="rk4", duration=60.0, profile="off")
    job = replace(job, scenario=replace(job.scenario, name="profile-switched"))
    built = job.build(folder=tmp_path)
    running = start(built)
    try:
        wait_until_live(running)
        assert main(["watch", "profile-switched", "--profile", "burst", "--once"]) == 0
        assert "profile burst" in capsys.readouterr().out
        with attach("profile-switched") as live:
            before = live.counts["steps"]
            while live.counts["steps"] < before + 200:
                time.sleep(0.02)
            live.profile("off")
            live.stop()
    finally:
        running.stop()
        running.wait()
    (file,) = keep_profiles(built, job.session.libraries)
    profile = read_profile(file)
    assert len(profile.records) + profile.about["dropped"] >= 200
    assert profile.times.is_burst.any()


def test_a_task_without_probes_is_not_switched(tmp_path: Path) -> None:
    job = open_job(MODEL, solver="rk4", duration=30.0)
    job = replace(job, scenario=replace(job.scenario, name="profile-without"))
    running = start(job.build(folder=tmp_path))
    try:
        wait_until_live(running)
        with attach("profile-without") as live, pytest.raises(ModelError, match="was built without probes"):
            live.profile("burst")
    finally:
        running.stop()
        running.wait()


def test_an_executable_without_probes_says_so(tmp_path: Path) -> None:
    built = open_job(MODEL, solver="rk4", duration=0.1).build(folder=tmp_path)
    with pytest.raises(ModelError) as caught:
        start(built, {"profile.mode": 2, "profile.file": tmp_path / "trace"}).wait()
    assert "this executable was built without probes" in str(caught.value.diagnostics[0].notes)


def test_a_mode_that_is_none_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ModelError, match="`profile` is `sometimes`, but must be one of off, always, burst"):
        open_job(MODEL, profile="sometimes")
    assert main(["watch", "nothing", "--profile", "sometimes"]) == 1
    assert "R742" in capsys.readouterr().err
    (scenario := tmp_path / "s.toml").write_text(f'model = "{MODEL}"\nprofile = "sometimes"\n')
    assert main(["run", str(scenario)]) == 1
    assert "R742" in capsys.readouterr().err


def test_a_scenario_is_profiled_by_one_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (scenario := tmp_path / "rc.toml").write_text(f'name = "profiled-rc"\nmodel = "{MODEL}"\nsolver = "rk4"\n')
    page = tmp_path / "p.html"
    assert main(["profile", str(scenario), "--duration", "0.3s", "--page", str(page)]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("profiled-rc: ")
    assert "recorder" in shown
    assert page.exists()
    assert main(["profile", str(scenario), "--steps", "3"]) == 1
    assert "R793" in capsys.readouterr().err
    assert main(["profile", str(scenario), "--instructions"]) == 1
    assert main(["profile", MODEL, "--duration", "3"]) == 1
    assert capsys.readouterr().err.count("R793") == 2


def built_and_run(folder: Path) -> tuple[Built, Path]:
    built = open_job(MODEL, solver="rk4", duration=0.2, profile="burst").build(folder=folder)
    start(built).wait()
    return built, trace_path(built).with_name(f"{trace_path(built).name}.0")


def test_traces_that_are_torn_foreign_or_none(tmp_path: Path) -> None:
    built, trace = built_and_run(tmp_path)
    codes = {"model": built.models[0].built.code}

    def read() -> Profile:
        return read_trace(trace, "m", codes, None, built.build_id, {})

    whole = trace.read_bytes()
    assert len(read().records) == 200
    trace.write_bytes(whole[: len(whole) * 9 // 10])  # the task was killed while it wrote
    assert 100 <= len(read().records) < 200  # the costliest cycles stand twice: some of what is cut is there still
    codes_seen = []
    for data, words in (
        (whole[:100], "not the trace of a task"),
        (b"x" * len(whole), "not the trace of a task"),
        (whole.replace(built.build_id.encode(), b"0" * 16), "of another build"),
        (whole.replace(b"places ", b"places 9", 1), "of another build"),
        (whole.replace(b"\ntask model\n", b"\ntask other\n", 1), "times of `other`, which is no model of this task"),
        (whole.replace(b"khz-trace 3", b"khz-trace 1", 1), "another version built .*: build it again"),
        (whole.replace(b"\nblocks ", b"\nbl0cks ", 1), "its head was not written whole"),
    ):
        trace.write_bytes(data)
        with pytest.raises(ModelError, match=words) as caught:
            read()
        codes_seen.append(caught.value.diagnostics[0].code)
    assert codes_seen == ["R791", "R791", "R795", "R795", "R795", "R791", "R791"]
    trace.unlink()
    with pytest.raises(ModelError, match="cannot read"):
        read()


def test_a_run_whose_task_was_killed_says_where_its_profile_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = open_job(MODEL, solver="rk4", duration=60.0, profile="burst")
    job = replace(job, scenario=replace(job.scenario, name="profile-ended"))

    def kill(now: float, live: Live | None) -> None:
        if live is not None and live.counts["steps"] > 500:
            os.kill(live.pid, signal.SIGKILL)

    with pytest.raises(ModelError, match="did not run to an end") as caught:
        job.run(folder=tmp_path, check=False, progress=kill)
    note = caught.value.diagnostics[0].notes[-1].text
    assert note == f"its profile until then: {tmp_path / 'profile-ended.profile.json'}"
    assert read_profile(tmp_path / "profile-ended.profile.json").about["killed"]
    assert main(["profile", str(tmp_path / "profile-ended.profile.json"), "--by", "phases"]) == 0
    assert "the task was killed: these are the cycles that it had written until then" in capsys.readouterr().out
    (FOLDER / "khz-profile-ended").unlink(missing_ok=True)  # who is killed leaves its memory behind


def test_a_killed_task_leaves_what_it_had(tmp_path: Path) -> None:
    job = open_job(MODEL, solver="rk4", duration=60.0, profile="burst")
    built = replace(job, scenario=replace(job.scenario, name="profile-killed")).build(folder=tmp_path)
    running = start(built)
    wait_until_live(running)
    with attach("profile-killed") as live:
        while live.counts["steps"] < 1000:
            time.sleep(0.02)
    running.process.kill()
    running.process.wait()
    (FOLDER / f"khz-{built.name}").unlink()  # who is killed leaves its memory behind
    trace = trace_path(built).with_name(f"{trace_path(built).name}.0")
    profile = read_trace(trace, "m", {"model": built.models[0].built.code}, None, built.build_id, {})
    assert len(profile.records) > 0
    assert profile.about["killed"]
    assert headline(profile, worst_causes(profile, 1)).startswith("m: ")
