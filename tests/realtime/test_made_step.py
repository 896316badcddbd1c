"""A step made for its model and method has the bits of the stepper as it is, tasks take it, and every door says so."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from live_tasks import attached

import kilohertz
from kilohertz.building import MARCH, linked_units, main_unit
from kilohertz.building.made_step import made_name, made_step, step_word, why_generic
from kilohertz.cli import main
from kilohertz.realtime import Built, Scenario, Task, start
from kilohertz.solvers import StepSettings
from kilohertz.toolchain import Compiler, build_executable, find_compiler

Build = Callable[[Scenario], Built]
FILE = Path(__file__).parent / "made_step.mo"
DRIVER = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "khz_stepper.h"

extern const khz_model *KHZ_MODEL(void);
extern const khz_made %(made)s;

int main(void)
{
    khz_step_settings settings = {0};
    %(settings)s
    const khz_model *const m = KHZ_MODEL();
    const size_t size = khz_stepper_size(m, &settings);
    khz_stepper *const a = aligned_alloc(64, size);
    khz_stepper *const b = aligned_alloc(64, size);
    if (khz_stepper_init(a, m, &settings, 0.0) != KHZ_OK || khz_stepper_init(b, m, &settings, 0.0) != KHZ_OK) {
        return 2;
    }
    if (khz_stepper_made(a, NULL) != khz_stepper_step || khz_stepper_made(a, &%(made)s) != %(made)s.step) {
        return 3;
    }
    puts(khz_stepper_word(a, NULL));
    puts(khz_stepper_word(a, &%(made)s));
    uint32_t any = 0;
    for (int k = 0; k < 1500; k++) {
        const uint32_t first = khz_stepper_step(a);
        const uint32_t second = khz_stepper_made(b, &%(made)s)(b);
        const size_t same = sizeof(double) * (size_t)m->n_x;
        any |= first;
        if (first != second || memcmp(&a->counts, &b->counts, sizeof a->counts) != 0 ||
            memcmp(khz_reals(khz_stepper_instance(a), m->x), khz_reals(khz_stepper_instance(b), m->x), same) != 0 ||
            memcmp(khz_reals(khz_stepper_instance(a), m->w), khz_reals(khz_stepper_instance(b), m->w),
                   sizeof(double) * (size_t)m->n_w) != 0) {
            printf("step %%d\\n", k);
            return 4;
        }
    }
    settings.event_cap++;
    if (khz_stepper_init(a, m, &settings, 0.0) != KHZ_OK || khz_stepper_made(a, &%(made)s) != khz_stepper_step) {
        return 5;
    }
    puts(khz_stepper_word(a, &%(made)s));
    printf("%%u\\n", any);
    return 0;
}
"""
STATE_EVENT, TIME_EVENT = 2, 4
OTHER_SETTINGS = "generic: its settings are not those that a step was made for"
CASES: list[tuple[str, dict[str, Any], int]] = [
    ("Lorenz", {"solver": "rk4"}, 0),
    ("Lorenz", {"solver": "ros34pw2", "internal_steps": 2}, 0),
    ("Lorenz", {"solver": "ieuler", "inline": True}, 0),
    ("Hybrid", {"solver": "euler"}, STATE_EVENT | TIME_EVENT),
    ("Hybrid", {"solver": "rk4", "events": "exact"}, STATE_EVENT | TIME_EVENT),
    ("Stiff", {"solver": "lie"}, STATE_EVENT),
    ("Stiff", {"solver": "rodas4", "jacobian_every": 3}, STATE_EVENT),
    ("Stiff", {"solver": "sdirk2", "newton": 3, "events": "catch-up"}, STATE_EVENT),
]


def _is_gcc() -> bool:
    return find_compiler().family == "gcc"


@pytest.mark.skipif(not _is_gcc(), reason="steps are made for their method by gcc alone (-fwhole-program)")
@pytest.mark.parametrize(("name", "how", "met"), CASES)
def test_a_made_step_has_the_bits_of_the_stepper(name: str, how: dict[str, Any], met: int) -> None:
    own = f"made for {how['solver']}" + ", inlined" * ("inline" in how)
    assert compared(name, how) == (met, own)


@pytest.mark.skipif(not _is_gcc(), reason="steps are made for their method by gcc alone (-fwhole-program)")
@pytest.mark.parametrize(("name", "how", "met"), [CASES[i] for i in (1, 4, 6)])
def test_blocks_of_larger_models_are_called_as_they_are(
    name: str, how: dict[str, Any], met: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kilohertz.building.made_step._WHOLE_LINES", 10)
    assert compared(name, how) == (met, f"made for {how['solver']}, blocks as they are")


@pytest.mark.skipif(not _is_gcc(), reason="steps are made for their method by gcc alone (-fwhole-program)")
def test_code_for_this_processor_rounds_twice_all_the_same() -> None:
    """What is compiled for its size keeps `-ffp-contract=off`."""
    assert compared(*CASES[6][:2], MARCH["native"].flags)[0] == CASES[6][2]


def compared(name: str, how: dict[str, Any], flags: tuple[str, ...] = ()) -> tuple[int, str]:
    """Steps by the stepper and by one that is made, which must be the same; the events met, and the word."""
    model = kilohertz.load(f"{FILE}:MadeStep.{name}")
    units = model.built(model.inlined() if how.get("inline") else model.process())
    settings = StepSettings.of(step=1e-3, **how).check_fixed()
    unit = made_step(units, settings, find_compiler())
    assert unit is not None
    lines = [
        f"settings.{field} = {f'khz_method_index({chr(34)}{value}{chr(34)})' if isinstance(value, str) else value};"
        for field, value in settings.c_values().items()
    ]
    text = DRIVER % {"made": made_name(units), "settings": " ".join(lines)}
    linked, libraries = linked_units([units], offline=False)
    program = build_executable([*linked, main_unit(units, text), replace(unit, flags=(*unit.flags, *flags))], libraries)
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    linked_without, own, with_others, met = done.stdout.splitlines()
    assert linked_without == "generic: it was linked without one for its method"
    assert own == step_word(units, settings, find_compiler())
    assert with_others == OTHER_SETTINGS
    return int(met) & (STATE_EVENT | TIME_EVENT), own


def test_what_no_step_is_made_for(monkeypatch: pytest.MonkeyPatch) -> None:
    model = kilohertz.load(f"{FILE}:MadeStep.Lorenz")
    units, settings = model.built(model.process()), StepSettings.of(solver="rk4", step=1e-3)
    gcc = Compiler(("gcc",), "gcc 12")
    assert step_word(units, settings, gcc) == "made for rk4"
    assert made_step(units, settings, Compiler(("clang",), "clang version 17")) is None
    assert why_generic(units, Compiler(("clang",), "clang version 17")) == "clang makes none for a method, gcc does"
    assert made_step(units.drafted(), settings, gcc) is None
    assert why_generic(units.drafted(), gcc) == "its C is not optimised"
    assert why_generic(model.built(model.process(), probes=True), gcc) == "it is built with probes"
    monkeypatch.setattr("kilohertz.building.made_step._MOST_LINES", 100)
    assert step_word(units, settings, gcc).startswith("generic: its C has ")
    assert step_word(units, settings, gcc).endswith(" lines, more than 100")


@pytest.mark.skipif(not _is_gcc(), reason="steps are made for their method by gcc alone (-fwhole-program)")
def test_a_task_takes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = [
        "build",
        f"{FILE}:MadeStep.Hybrid",
        "--solver",
        "rk4",
        "--step",
        "1ms",
        "-o",
        str(tmp_path / "out"),
    ]
    assert main(command) == 0
    assert "by rk4 every 1 ms (step made for rk4)" in capsys.readouterr().out
    (program,) = (p for p in (tmp_path / "out").iterdir() if p.is_file() and p.suffix == "")
    names = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    assert names.count("khz_stepper_step") == 2  # the stepper's own, and this one


@pytest.mark.skipif(not _is_gcc(), reason="steps are made for their method by gcc alone (-fwhole-program)")
def test_a_run_says_which_step_it_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    how: dict[str, Any] = {"solver": "rk4", "step": 1e-3, "duration": 0.05, "folder": tmp_path, "check": False}
    report = kilohertz.run(f"{FILE}:MadeStep.Lorenz", **how)
    (task,) = report.data["tasks"]
    assert (task["made"], task["step"]) == (1, "made for rk4")
    assert "rk4, events at the end of a step; step made for rk4\n" in report.as_text()
    bound = json.loads((tmp_path / "Lorenz.cost.json").read_text(encoding="utf-8"))["model"]
    assert bound["step"] == "made for rk4"
    monkeypatch.setattr("kilohertz.building.made_step._MOST_LINES", 100)
    built = kilohertz.build(f"{FILE}:MadeStep.Lorenz", **{k: v for k, v in how.items() if k != "check"})
    assert built.steps[0].endswith(" lines, more than 100")
    (task,) = kilohertz.run(f"{FILE}:MadeStep.Lorenz", **how).data["tasks"]
    assert (task["made"], task["step"]) == (0, built.steps[0])
    other = built.models[0].cost
    assert other["step"] == built.steps[0] and other["worst"] == bound["worst"]
    assert other["regular"]["instructions"] > 2 * bound["regular"]["instructions"]


@pytest.mark.skipif(not _is_gcc(), reason="steps are made for their method by gcc alone (-fwhole-program)")
def test_other_settings_on_the_command_line_of_a_task_are_told(tmp_path: Path) -> None:
    built = kilohertz.build(f"{FILE}:MadeStep.Lorenz", solver="lie", step=1e-3, folder=tmp_path)
    for words, step in (((), "made for lie"), (("task.0.newton=5",), OTHER_SETTINGS)):
        report = tmp_path / "report.json"
        command = [built.executable, "wall_num=0", "cycles=10", "live=0", f"report={report}", *words]
        printed = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path).stdout
        assert f"step: {step}\n" in printed
        assert json.loads(report.read_text(encoding="utf-8"))["tasks"][0]["step"] == step


@pytest.mark.skipif(not _is_gcc(), reason="steps are made for their method by gcc alone (-fwhole-program)")
def test_a_step_is_made_for_the_first_task_of_a_model(make: Build, lag: Scenario) -> None:
    tasks = tuple(Task(name, "Lag", StepSettings(solver, 1e-3)) for name, solver in (("a", "rk4"), ("b", "euler")))
    both = replace(lag, tasks=tasks, cycles=0)
    built = make(both)
    assert built.steps == ("made for rk4", OTHER_SETTINGS)
    found = start(built)
    try:
        with attached(found) as live:
            assert live.threads[0].step == f"a: made for rk4; b: {OTHER_SETTINGS}"
    finally:
        found.stop()
    assert [t["step"] for t in found.wait().data["tasks"]] == list(built.steps)


@pytest.mark.skipif(not _is_gcc(), reason="steps are made for their method by gcc alone (-fwhole-program)")
def test_a_bound_is_in_the_prices_of_the_step_that_a_task_has(monkeypatch: pytest.MonkeyPatch) -> None:
    model = kilohertz.load(f"{FILE}:MadeStep.Stiff")
    made, words = model.cost_bound("rodas4"), model.analyse(solver="rodas4").as_text()
    assert made["step"] == "made for rodas4" and "  the step of a task is made for rodas4\n" in words
    monkeypatch.setattr("kilohertz.building.made_step._MOST_LINES", 100)
    plain = model.cost_bound("rodas4")
    assert plain["step"].startswith("generic: its C has ")
    assert made["regular"]["instructions"] < 0.8 * plain["regular"]["instructions"]
    assert made["event"] == plain["event"] and made["worst"] == plain["worst"]
    assert made["prices"]["fit"]["least"] >= 1.0
