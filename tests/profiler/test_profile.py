"""Profiles of real models off-line: sums, calibration, iterations, files."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import kilohertz
from kilohertz.base import ModelError
from kilohertz.building import PROBES
from kilohertz.profiler import Profile, by_component, by_line, profile_steps, read_profile, table
from kilohertz.profiler.cycle_records import FORMAT
from kilohertz.simulate.program import build_program
from kilohertz.solvers import StepSettings

CASES = "Kilohertz.Examples.SaturatingInductors"


@cache
def profiled(name: str, solver: str = "rk4", n_steps: int = 400) -> Profile:
    model = kilohertz.load(name)
    program = build_program(model.process(), model.session.libraries.sources, PROBES)
    how = StepSettings.of(solver=solver, step=1e-4)
    return profile_steps(program, how, n_steps, libraries=model.session.libraries)


def test_own_times_sum_to_the_cycle() -> None:
    profile = profiled(f"{CASES}.Original")
    assert len(profile.records) == 400
    burst = profile.times.is_burst
    assert (~burst).sum() == 400 // 61 * 4  # go without, to tell what probes cost
    whole = profile.records["head"]["ticks"][burst].astype(np.int64)
    parts = profile.records["places"]["ticks"][burst].astype(np.int64).sum(axis=1)
    assert (parts == whole).all()  # to the tick, before the probes' own cost is taken off
    assert np.median(profile.own_ns.sum(axis=1) / profile.cycle_ns) == pytest.approx(1.0, rel=0.02)
    assert profile.cycle_ns[burst] + profile.overhead_ns[burst] == pytest.approx(whole * profile.costs.ns_per_tick)
    assert profile.own_ns[~burst].sum(axis=1) == pytest.approx(profile.cycle_ns[~burst])  # what is reckoned, too


def test_parts_are_held_against_cycles_that_went_without() -> None:
    profile = profiled(f"{CASES}.Original", n_steps=8000)
    assert profile.times.plain.sum() > 100
    assert profile.apart is not None
    assert sum(s.share for s in profile.statistics) == pytest.approx(1.0)
    assert profiled(f"{CASES}.Original", n_steps=200).apart is None  # too few to say


def test_a_loop_has_its_iterations_its_unknown_and_its_lines() -> None:
    profile = profiled(f"{CASES}.Original")
    loops = [(p, s) for p, s in table(profile, 100) if p.loop is not None and p.phase == "block"]
    assert len(loops) == 1
    place, numbers = loops[0]
    assert place.name == "solve first.i"
    assert place.loop is not None
    assert (place.loop.kind, place.loop.size, place.loop.torn) == ("nonlinear", 2, ("first.i",))
    assert numbers.calls == 4.0  # the stages of rk4
    assert 4.0 <= numbers.iterations <= 24.0
    assert {Path(line.file).name for line in place.lines} == {"package.mo"}
    assert {line.component for line in place.lines} == {"first"}
    assert sum(line.share for line in place.lines) == pytest.approx(1.0)
    assert next(iter(by_component(profile))) == "first"
    assert Path(next(iter(by_line(profile)))[0]).name == "package.mo"


def test_two_loops_of_one_with_the_capacitor() -> None:
    profile = profiled(f"{CASES}.WithCapacitor")
    assert sum(p.loop is not None and p.phase == "block" for p in profile.places) == 2


def test_an_implicit_method_shows_its_phases() -> None:
    profile = profiled("Kilohertz.Examples.HydraulicAxis.OpenLoop", "lie")
    numbers = {p.name: s for p, s in table(profile, 100) if p.kind == "phase"}
    for words in ("factorisation (LU)", "solution with the factors", "Jacobian outside its blocks"):
        assert numbers[words].calls == 1.0


def test_a_profile_survives_its_files(tmp_path: Path) -> None:
    profile = profiled(f"{CASES}.Original")
    back = read_profile(profile.write(tmp_path / "p.json"))
    assert back.places == profile.places
    assert back.costs == profile.costs
    assert back.records.tobytes() == profile.records.tobytes()
    cycles = tmp_path / "p.cycles"
    cycles.write_bytes(cycles.read_bytes()[:-7])  # the task was killed while it wrote
    assert len(read_profile(tmp_path / "p.json").records) == len(profile.records) - 1


def test_what_is_no_profile_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "p.json"
    with pytest.raises(ModelError, match="cannot read"):
        read_profile(file)
    file.write_text(json.dumps({"format": FORMAT}))
    with pytest.raises(ModelError, match=r"cannot read `.*p\.cycles`"):
        read_profile(file)
    for ending in (".cycles", ".borders"):
        file.with_suffix(ending).write_bytes(b"")
    for text, words in (
        ("{", "is not a profile"),
        ("[]", "is not a profile"),
        (json.dumps({"format": "other"}), "is not a profile"),
        (
            json.dumps({"format": "khz-profile 3"}),
            "another version .khz-profile 3, not khz-profile 4.: profile the model",
        ),
        (json.dumps({"format": FORMAT, "name": "m"}), "not a whole profile: 'places' is missing"),
        (json.dumps({"format": FORMAT, "places": [], "name": "m", "costs": {}}), "not a whole profile"),
    ):
        file.write_text(text)
        with pytest.raises(ModelError, match=words) as caught:
            read_profile(file)
        assert caught.value.diagnostics[0].code == "R791"


def test_a_program_without_probes_cannot_be_profiled() -> None:
    program = kilohertz.load("Kilohertz.Examples.Decay").compile()
    with pytest.raises(ModelError, match="was built without probes") as caught:
        profile_steps(program, StepSettings.of(solver="rk4", step=1e-3), 10)
    assert caught.value.diagnostics[0].code == "R792"


def test_without_probes_the_machine_code_is_that_of_a_program_that_never_had_any(tmp_path: Path) -> None:
    import re
    import subprocess

    from kilohertz.building import model_units
    from kilohertz.toolchain import Unit, build_objects

    def code(unit: Unit) -> list[bytes]:
        out = []
        for i, file in enumerate(build_objects([unit])):
            plain = tmp_path / f"{i}.bin"
            subprocess.run(["objcopy", "-O", "binary", "--only-section=.text*", file, plain], check=True)
            out.append(plain.read_bytes())
        return out

    model = kilohertz.load(f"{CASES}.WithCapacitor")
    unit = model_units(model.process(), model.session.libraries.sources).units[0]
    probes = re.compile(r"KHZ_(?:TIMED|SOLVED)\(&z->c, \d+, (\w+\([^()]*\))\)")
    assert any(probes.search(s.text) for s in unit.sources)
    bare = tuple(replace(s, text=probes.sub(r"\1", s.text)) for s in unit.sources)
    assert not any("KHZ_TIMED" in s.text or "KHZ_SOLVED" in s.text for s in bare)
    without = Unit(bare, unit.headers, unit.include_directories, unit.flags, unit.name)
    assert code(unit) == code(without)
