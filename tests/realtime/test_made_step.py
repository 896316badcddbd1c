"""A step made for its model and method has the bits of the stepper as it is, and tasks take it."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

import kilohertz
from kilohertz.building import linked_units, main_unit
from kilohertz.building.made_step import made_name, made_step
from kilohertz.cli import main
from kilohertz.solvers import StepSettings
from kilohertz.toolchain import Compiler, build_executable, find_compiler

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
    printf("%%u\\n", any);
    return 0;
}
"""
STATE_EVENT, TIME_EVENT = 2, 4
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
    program = build_executable([*linked, main_unit(units, text), unit], libraries)
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert int(done.stdout) & (STATE_EVENT | TIME_EVENT) == met


def test_what_no_step_is_made_for() -> None:
    model = kilohertz.load(f"{FILE}:MadeStep.Lorenz")
    units, settings = model.built(model.process()), StepSettings.of(solver="rk4", step=1e-3)
    assert made_step(units, settings, Compiler(("clang",), "clang version 17")) is None
    assert made_step(units.drafted(), settings, Compiler(("gcc",), "gcc 12")) is None


@pytest.mark.skipif(not _is_gcc(), reason="steps are made for their method by gcc alone (-fwhole-program)")
def test_a_task_takes_it(tmp_path: Path) -> None:
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
    (program,) = (p for p in (tmp_path / "out").iterdir() if p.is_file() and p.suffix == "")
    names = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    assert names.count("khz_stepper_step") == 2  # the stepper's own, and this one
