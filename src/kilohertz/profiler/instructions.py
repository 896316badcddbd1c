"""Instructions of a step, C function by C function, counted by callgrind.

Counts are the same in every run, whatever else the machine does.  The program is built without probes.  A function that
the compiler has made part of another is counted there.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kilohertz.base import Diagnostic, ModelError
from kilohertz.building import ModelUnits, linked_units, main_unit
from kilohertz.solvers import StepSettings
from kilohertz.toolchain import build_executable

SKIPPED = 10  # first steps that are not counted
_DRIVER = """
#include <stdlib.h>
#include "khz_stepper.h"

extern const khz_model *KHZ_MODEL(void);
uint32_t khz_counted_step(khz_stepper *s);

__attribute__((noinline)) uint32_t khz_counted_step(khz_stepper *s) {{ return khz_stepper_step(s); }}

int main(void)
{{
    khz_step_settings settings = {{0}};
{settings}
    const khz_model *const model = KHZ_MODEL();
    const size_t size = khz_stepper_size(model, &settings);
    const size_t room = (size + KHZ_ALIGNMENT - 1) / KHZ_ALIGNMENT * KHZ_ALIGNMENT;
    khz_stepper *const s = size > 0 ? aligned_alloc(KHZ_ALIGNMENT, room) : NULL;
    if (s == NULL) {{
        return 2;
    }}
    khz_stepper_prepare(s, model, &settings);
    char *const z = (char *)khz_stepper_instance(s);
    (void)z;
{parameters}
    if (khz_stepper_start(s, {start}) != KHZ_OK) {{
        return 3;
    }}
    for (int i = 0; i < {skipped}; i++) {{
        (void)khz_stepper_step(s);
    }}
    for (int i = 0; i < {steps}; i++) {{
        if ((khz_counted_step(s) & KHZ_STEP_TERMINATED) != 0) {{
            return 4;
        }}
    }}
    return 0;
}}
"""


@dataclass(frozen=True, slots=True)
class Counted:
    """Instructions a step: in all, and of each C function without those it calls."""

    per_step: float
    own: Mapping[str, float]


def count_instructions(
    model: ModelUnits,
    settings: StepSettings,
    steps: int,
    start: float = 0.0,
    parameters: Mapping[int, float] | None = None,
) -> Counted:
    """Build a driver, run it under callgrind; `parameters` are values by their offset in an instance."""
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        raise ModelError(Diagnostic("R794", "instructions are counted by valgrind, which is not installed here"))
    units, libraries = linked_units([model], offline=False)
    program = build_executable([*units, main_unit(model, _driver(settings, steps, start, parameters or {}))], libraries)
    with tempfile.TemporaryDirectory(prefix="khz-") as scratch:
        out = Path(scratch) / "out"
        command = [valgrind, "--tool=callgrind", f"--callgrind-out-file={out}", "--compress-strings=no"]
        command += ["--compress-pos=no", "--toggle-collect=khz_counted_step", str(program)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0 or not out.exists():
            why = {3: "the model does not start", 4: "the model ends before"}.get(done.returncode, done.stderr[-200:])
            raise ModelError(Diagnostic("R794", f"instructions could not be counted: {why}"))
        return _counted(out.read_text(encoding="utf-8", errors="replace"), steps)


def _driver(settings: StepSettings, steps: int, start: float, parameters: Mapping[int, float]) -> str:
    values = settings.check_fixed().c_values()
    fields = [
        f"    settings.{name} = {_method(value) if isinstance(value, str) else value};"
        for name, value in values.items()
    ]
    writes = [
        f"    *({'khz_real' if isinstance(value, float) else 'int32_t'} *)(void *)(z + {offset}) = {value!r};"
        for offset, value in parameters.items()
    ]
    return _DRIVER.format(
        settings="\n".join(fields), parameters="\n".join(writes), start=repr(start), skipped=SKIPPED, steps=steps
    )


def _method(name: str) -> str:
    return f'khz_method_index("{name}")'


def _counted(text: str, steps: int) -> Counted:
    """Own costs in a file of callgrind: lines `N cost` after `fn=`; the one after `calls=` is the callee's."""
    own: dict[str, int] = {}
    name, skip = "", False
    for line in text.splitlines():
        if line.startswith("fn="):
            name = line[3:].split("'")[0]
        elif line.startswith("calls="):
            skip = True
        elif re.match(r"[+-]?\d|\*", line):
            if not skip and name:
                own[name] = own.get(name, 0) + int(line.split()[1])
            skip = False
    order = sorted(own.items(), key=lambda entry: -entry[1])
    return Counted(sum(own.values()) / steps, {n: count / steps for n, count in order if count})
