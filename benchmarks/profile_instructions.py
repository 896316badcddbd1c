"""Instructions that profiling adds to a step: the same numbers in every run, whatever else the machine does.

    python benchmarks/profile_instructions.py [--steps 400] [--task NAME ...]

The tasks of profile_overhead.py, stepped by a driver under callgrind (valgrind): without probes, with probes that are
off, always on, in a burst.  Shown: instructions of a mean step, and what each mode adds to it.  What a reading of the
clock takes beyond its one instruction is not in it, nor what memory takes: see profile_overhead.py for time.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path

from kilohertz.building import ModelUnits, linked_units, main_unit
from kilohertz.driver import open_job
from kilohertz.realtime import PROFILES
from kilohertz.solvers import StepSettings
from kilohertz.toolchain import build_executable
from profile_overhead import SHOWN, TASKS, WITHOUT

SKIPPED = 1000
IN_A_NS = 7.5  # instructions: what makes 1.7 us of Chain on the machine of docs/reference/profile.md
DRIVER = """
#include <stdlib.h>
#include "khz_profiled.h"

extern const khz_model *KHZ_MODEL(void);
extern const khz_model *KHZ_TIMED_MODEL(void);
void khz_counted(khz_stepper *s, khz_profile *p, void *row, int n);

/* What a cycle takes: as usual, and what was timed of it. */
static double took_ns(const khz_profile *p)
{{
    const double whole = p->is_burst != 0 ? 0.5 * (p->last + p->last_inner) * p->costs.probe_ns : 0.0;
    return {usual_ns} + whole + p->n_borders * p->costs.border_ns;
}}

static inline void cycles(khz_stepper *s, khz_profile *p, void *row, int n)
{{
    for (int i = 0; i < n; i++) {{
        if (p == NULL) {{
            (void)khz_stepper_step(s);
            continue;
        }}
        khz_profile_begin(p, (uint64_t)i, KHZ_PLACE_CYCLE);
        (void)khz_stepper_step(s);
        if (!khz_profile_is_over(p, {usual_ns}, 0)) {{
            (void)khz_profile_end(p, khz_profile_is_due(p, {usual_ns}, 0) ? row : NULL, KHZ_PLACE_CYCLE);
            khz_profile_weigh(p, took_ns(p));
        }}
    }}
}}

__attribute__((noinline)) void khz_counted(khz_stepper *s, khz_profile *p, void *row, int n) {{ cycles(s, p, row, n); }}

int main(void)
{{
    khz_step_settings settings = {{0}};
{settings}
    const khz_model *const model = KHZ_MODEL();
    const size_t size = khz_stepper_size(model, &settings);
    khz_stepper *const s = aligned_alloc(KHZ_ALIGNMENT, (size + KHZ_ALIGNMENT - 1) / KHZ_ALIGNMENT * KHZ_ALIGNMENT);
    const int32_t n = KHZ_PLACES_OF_CYCLE + KHZ_PLACES_OF_MODEL + model->n_places;
    khz_profile *const p = {mode} < 0 ? NULL : aligned_alloc(64, khz_profile_size(n));
    void *const row = aligned_alloc(64, khz_profile_record_size(n));
    khz_stepper_prepare(s, model, &settings);
    if (khz_stepper_start(s, 0.0) != KHZ_OK) {{
        return 3;
    }}
    if (p != NULL) {{
        khz_profile_init(p, n, {mode}, 1);
        p->costs = (khz_probe_costs){{25.0, 12.0, 20.0, 12.0, 0.3, 15.0, 5.0, 20.0}}; /* not those under valgrind */
        khz_profiled_attach(s, p, KHZ_TIMED_MODEL());
    }}
    cycles(s, p, row, {skipped});
    khz_counted(s, p, row, {steps});
    return 0;
}}
"""


def instructions(model: ModelUnits, settings: StepSettings, mode: str, steps: int, usual_ns: float) -> float:
    """Of a mean step."""
    values = settings.check_fixed().c_values()
    fields = [
        f"    settings.{name} = {f'khz_method_index({chr(34)}{value}{chr(34)})' if isinstance(value, str) else value};"
        for name, value in values.items()
    ]
    number = -1 if mode == WITHOUT else PROFILES.index(mode)
    text = DRIVER.format(settings="\n".join(fields), mode=number, steps=steps, skipped=SKIPPED, usual_ns=repr(usual_ns))
    timed = model.timed_getter if model.has_probes else model.code.getter
    units, libraries = linked_units([model], offline=False)
    program = build_executable([*units, main_unit(model, text, (f"-DKHZ_TIMED_MODEL={timed}",))], libraries)
    with tempfile.TemporaryDirectory(prefix="khz-") as scratch:
        out = f"--callgrind-out-file={Path(scratch) / 'out'}"
        command = ["valgrind", "--tool=callgrind", out, "--toggle-collect=khz_counted", str(program)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    (collected,) = (line for line in done.stderr.splitlines() if "Collected" in line)
    return int(collected.split(":")[1]) / steps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--task", nargs="*", default=list(TASKS), metavar="NAME")
    arguments = parser.parse_args()
    print("| task | instructions of a step | off | always | burst |\n|---|---|---|---|---|")
    for name in arguments.task:
        model, solver, internal = TASKS[name]
        counted: dict[str, float] = {}
        job = open_job(model, solver=solver, step=1e-3, internal_steps=internal)
        (task,) = job.scenario.tasks
        form = job.session.kept(task.model)
        for mode in (WITHOUT, *SHOWN):
            units = form.built(form.process(), probes=mode != WITHOUT)
            usual_ns = counted.get(WITHOUT, 0.0) / IN_A_NS
            counted[mode] = instructions(units, task.stepping, mode, arguments.steps, usual_ns)
        base = counted[WITHOUT]
        more = " | ".join(f"{counted[m] - base:+.0f}, {counted[m] / base - 1.0:+.2%}" for m in SHOWN)
        print(f"| {name} | {base:.0f} | {more} |", flush=True)


if __name__ == "__main__":
    main()
