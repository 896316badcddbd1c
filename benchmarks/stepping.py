"""Instructions of a step, counted by callgrind: what `step_inline.py` and `step_prices.py` share."""

from __future__ import annotations

import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from kilohertz.building import linked_units, main_unit, model_units
from kilohertz.building.made_step import is_whole, made_name, made_step
from kilohertz.ir.step import Step
from kilohertz.solvers import StepSettings
from kilohertz.toolchain import STRICT, Compiler, build_executable, find_compiler

DRIVER = Path(__file__).parent / "steps" / "driver.c"
HELD, EVENT = 128, 1  # KHZ_STEP_HELD, KHZ_STEP_EVENT


@dataclass(frozen=True, slots=True)
class Counted:
    """Instructions per step, and whether some step failed or had an event."""

    per_step: float
    failed: bool
    events: bool


def build(step: Step, compiler: Compiler | None = None) -> Path:
    """The model, the runtime and the driver as an executable, for this machine or that of the compiler."""
    model = model_units(step)
    units, libraries = linked_units([model], offline=False)
    driver = main_unit(model, DRIVER.read_text(encoding="utf-8"), STRICT)
    return build_executable([*units, driver], libraries, compiler)


def build_made(step: Step, settings: StepSettings) -> Path | None:
    """The same with a step made for the model, its blocks and its settings; None where none is made."""
    model = model_units(step)
    made = made_step(model, settings, find_compiler())
    if made is None or not is_whole(model):
        return None
    units, libraries = linked_units([model], offline=False)
    flags = (*STRICT, f"-DKHZ_MADE={made_name(model)}")
    return build_executable([*units, made, main_unit(model, DRIVER.read_text(encoding="utf-8"), flags)], libraries)


def count(program: Path, method: str, step: float, inlined: bool, skipped: int, steps: int) -> Counted:
    """The mean over some steps, after others that are not counted."""
    settings = StepSettings(method, step, inline=inlined)
    with tempfile.TemporaryDirectory(prefix="khz-") as scratch:
        done = _watched(program, settings, skipped, steps, scratch)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if found is None:
        raise SystemExit(f"callgrind said no number for {method}:\n{done.stderr[-500:]}")
    flags = int(done.stdout)
    return Counted(int(found[1]) / steps, bool(flags & HELD), bool(flags & EVENT))


def count_each(program: Path, settings: StepSettings, skipped: int, steps: int) -> list[int]:
    """Each of some steps, after others that are not counted."""
    with tempfile.TemporaryDirectory(prefix="khz-") as scratch:
        _watched(program, settings, skipped, steps, scratch, "--dump-after=khz_counted_step")
        texts = [(Path(scratch) / f"out.{n}").read_text(encoding="utf-8") for n in range(1, steps + 1)]
    found = [re.search(r"^(?:summary|totals): (\d+)", text, re.MULTILINE) for text in texts]
    return [int(number[1]) for number in found if number is not None]


def _watched(
    program: Path, settings: StepSettings, skipped: int, steps: int, scratch: str, *options: str
) -> subprocess.CompletedProcess[str]:
    """The driver under callgrind, which leaves its files in the folder `scratch`."""
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={scratch}/out", *options]
    command += ["--toggle-collect=khz_counted_step", str(program), settings.solver, str(settings.period_ns)]
    command += [str(int(settings.inline)), str(skipped), str(steps)]
    command += [str(settings.jacobian_every), str(int(settings.jacobian_spread)), str(settings.newton)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"callgrind failed ({done.returncode}) for {settings.solver}:\n{done.stderr[-500:]}")
    return done
