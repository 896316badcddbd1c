"""Instructions of one step of models from small to large: this tree beside another one, hand-made code and a goal.

    python benchmarks/step_instructions.py [--old TREE] [--case TEXT ...] [--steps 40]
                                                                         needs valgrind, and MODELICAPATH

Counted is `khz_stepper_step` of 1 ms under callgrind, the mean over --steps steps after the first 10: the same
number in every run, whatever else the machine does.  "bound" is that of the stepper as it is in a regular step
(`kept` where the Jacobian rests), as a multiple of it.  A stage is a third of what rk4 takes more than euler.
"unseen" is the same where nobody looks at what the next step does not need (`khz_stepper_see`), "made" that step made
for its model and method, as tasks of models have it that are not large (building/made_step.py); the bound beside it is
that of such steps, over one that somebody looks at.
"anchor" is C that CasADi makes of the same equations (of an arm with other numbers), counted in the same way.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tables import machine

ROOT = Path(__file__).parent.parent
SKIPPED = 10
SOURCE = "benchmarks/models/Speed.mo:Speed"
LOOPS = "Modelica.Mechanics.MultiBody.Examples"


@dataclass(frozen=True, slots=True)
class Case:
    """A model and the settings of its step; what others need, and what is aimed at."""

    name: str
    model: str
    solver: str
    inline: bool = False
    anchor: int | None = None
    goal: int | None = None


CASES = (
    Case("Lorenz, rk4", "benchmarks/models/Shared/package.mo:Shared.Lorenz", "rk4"),
    Case("Rotational.First, rodas4", "Modelica.Mechanics.Rotational.Examples.First", "rodas4"),
    Case("hydraulic plant, ros34pw2", "Kilohertz.Examples.HydraulicAxis.Plant", "ros34pw2"),
    Case("CoupledClutches, rk4", "Modelica.Mechanics.Rotational.Examples.CoupledClutches", "rk4"),
    Case("arm, one right-hand side", f"{SOURCE}.Arm", "stage", anchor=4821, goal=8_000),
    Case("arm, lie", f"{SOURCE}.Arm", "lie", anchor=32_373, goal=45_000),
    Case("hydraulic axis, lie", "Kilohertz.Examples.HydraulicAxis.Controlled", "lie", anchor=3800, goal=5500),
    Case("FullRobot, lie", f"{LOOPS}.Systems.RobotR3.FullRobot", "lie", goal=120_000),
    Case("FullRobot, ieuler inlined", f"{LOOPS}.Systems.RobotR3.FullRobot", "ieuler", inline=True, goal=50_000),
    Case("EngineV6, rk4", f"{LOOPS}.Loops.EngineV6", "rk4", goal=150_000),
    Case("heat conduction, 99 states, lie", f"{SOURCE}.Heat", "lie", goal=8_000),
    Case("flexible beam, 36 segments, lie", f"{SOURCE}.Beam", "lie", goal=2_000_000),
)
DRIVER = """
#include <stdlib.h>
#include "khz_stepper.h"

extern const khz_model *KHZ_MODEL(void);
#ifdef KHZ_MADE
extern const khz_made KHZ_MADE;
#define STEP KHZ_MADE.step
#else
#define STEP khz_stepper_step
#endif

int main(int argc, char **argv)
{{
    khz_step_settings settings = {{0}};
{settings}
    const khz_model *const model = KHZ_MODEL();
    const size_t size = khz_stepper_size(model, &settings);
    khz_stepper *const s = aligned_alloc(KHZ_ALIGNMENT, (size + KHZ_ALIGNMENT - 1) / KHZ_ALIGNMENT * KHZ_ALIGNMENT);
    if (s == NULL || khz_stepper_init(s, model, &settings, 0.0) != KHZ_OK) {{
        return 2;
    }}
{unseen}
    for (long k = atol(argv[argc - 1]); k > 0; k--) {{
        (void)STEP(s);
    }}
    return s->counts.held > 0 ? 3 : 0;
}}
"""


# ------------------------------------------------------------------------------------------------ with a tree's sources


def counted(case: Case, steps: int) -> dict[str, float]:
    """Instructions of a mean step of a case, and the bound of a regular one."""
    if case.solver != "stage":
        return _step(case, case.solver, steps)
    four, one = (_step(case, method, steps) for method in ("rk4", "euler"))
    return {"instructions": (four["instructions"] - one["instructions"]) / 3}


def _step(case: Case, method: str, steps: int) -> dict[str, float]:
    from kilohertz import load
    from kilohertz.building import linked_units, main_unit
    from kilohertz.cost import cost_bound
    from kilohertz.runtime import constant
    from kilohertz.solvers import StepSettings
    from kilohertz.toolchain import build_executable, find_compiler

    model = load(str(ROOT / case.model) if ".mo" in case.model else case.model)
    form = model.inlined() if case.inline else model.process()
    units = model.built(form)
    settings = StepSettings.of(solver=method, step=1e-3, inline=case.inline).check_fixed()
    fields = [
        f"    settings.{name} = {f'khz_method_index({chr(34)}{value}{chr(34)})' if isinstance(value, str) else value};"
        for name, value in settings.c_values().items()
    ]
    linked, libraries = linked_units([units], offline=False)
    leaves = "    khz_stepper_see(s, argc <= 2);" if constant("KHZ_ABI") > 10 else ""
    text = DRIVER.format(settings="\n".join(fields), unseen=leaves)
    program = build_executable([*linked, main_unit(units, text)], libraries)
    bounds = cost_bound(form, settings)
    bound = bounds.get("kept", bounds["regular"])  # a Jacobian that rests was evaluated in the first step
    found = {"bound": bound["instructions"]}
    found |= {"instructions": _spent(program, steps), "unseen": _spent(program, steps, "unseen")}
    try:
        from kilohertz.building.made_step import is_whole, made_name, made_step
        from kilohertz.cost import reference
    except ImportError:  # an older tree
        return found
    made = made_step(units, settings, find_compiler())
    if made is not None:
        driver = main_unit(units, text, (f"-DKHZ_MADE={made_name(units)}",))
        program = build_executable([*linked, driver, made], libraries)
        found |= {"made": _spent(program, steps, "unseen"), "made_seen": _spent(program, steps)}
        own = reference().made if is_whole(units) else reference()
        of_made = cost_bound(form, settings, own)
        found["made_bound"] = of_made.get("kept", of_made["regular"])["instructions"]
    return found


def _spent(program: Path, steps: int, *more: str) -> float:
    return (_collected(program, *more, SKIPPED + steps) - _collected(program, *more, SKIPPED)) / steps


def _collected(program: Path, *arguments: int | str) -> int:
    with tempfile.TemporaryDirectory(prefix="khz-") as scratch:
        out = f"--callgrind-out-file={Path(scratch) / 'out'}"
        command = ["valgrind", "--tool=callgrind", out, "--toggle-collect=khz_stepper_step", str(program)]
        command += map(str, arguments)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"the run ends with {done.returncode}:\n{done.stderr[-500:]}")
    (collected,) = (line for line in done.stderr.splitlines() if "Collected" in line)
    return int(collected.split(":")[1])


# ---------------------------------------------------------------------------------------------------------------- table


def measured(tree: Path, case: Case, steps: int) -> dict[str, float]:
    """What a process with the sources of a tree counts."""
    environment = os.environ | {"PYTHONPATH": str(tree / "src")}
    command = [sys.executable, str(Path(__file__).absolute()), "--child", case.name, "--steps", str(steps)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{case.name} in {tree.name}: {done.stderr[-2000:]}")
    numbers: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return numbers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", type=Path, help="another source tree, counted first")
    parser.add_argument("--case", nargs="*", default=[""], metavar="TEXT", help="cases with this text in their name")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        (case,) = (c for c in CASES if c.name == arguments.child)
        print(json.dumps(counted(case, arguments.steps)))
        return
    trees = [*([arguments.old] if arguments.old else []), ROOT]
    heads = ["model, method", *(["before"] if arguments.old else []), "now", "unseen", "bound / now"]
    heads += ["made", "bound / made", "anchor", "goal"]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for case in (c for c in CASES if any(text in c.name for text in arguments.case)):
        found = [measured(tree, case, arguments.steps) for tree in trees]
        cells = [_grouped(f["instructions"]) for f in found]
        now = found[-1]
        cells.append(_grouped(now.get("unseen")))
        cells.append(f"{now['bound'] / now['instructions']:.2f}" if "bound" in now else "–")
        cells.append(_grouped(now.get("made")))
        cells.append(f"{now['made_bound'] / now['made_seen']:.2f}" if "made_bound" in now else "–")
        print(f"| {case.name} | {' | '.join([*cells, _grouped(case.anchor), _grouped(case.goal)])} |", flush=True)
    print(machine())


def _grouped(number: float | None) -> str:
    """With a space between groups of three digits."""
    return "–" if number is None else f"{number:,.0f}".replace(",", " ")


if __name__ == "__main__":
    main()
