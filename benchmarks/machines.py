"""The same executable on other machines: aarch64 under qemu-user beside x86-64, value by value.

Every model runs as fast as possible at a fixed step; all recorded values are compared in units in the last place (ulp).
Differences come from the C library's elementary functions alone: with the same library (musl) on both processors there
are none.  A glibc for aarch64 is found through --sysroot (Debian: libc6-arm64-cross, /usr/aarch64-linux-gnu).

    python benchmarks/machines.py [--sysroot DIR] [MODEL:SOLVER:SECONDS ...]
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt

from kilohertz.base import ModelError
from kilohertz.driver import build
from kilohertz.realtime import plain_scenario
from kilohertz.results import Result, read_recording
from tables import machine

OWN = Path(__file__).parent / "models" / "Machines.mo"
AXIS = "Kilohertz.Examples.HydraulicAxis"
MODELS = (
    f"{AXIS}.Controlled:ros34pw2:5",
    f"{AXIS}.Plant:rk4:5",
    "Kilohertz.Examples.DriveTrain:rk4:5",
    "Kilohertz.Examples.BouncingBall:rk4:3",
    f"{OWN}:rk4:5",
    f"{OWN}:ros34pw2:5",
)
STEP = 1e-3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=list(MODELS), metavar="MODEL:SOLVER:SECONDS")
    parser.add_argument("--sysroot", help="folder with lib/ld-linux-aarch64.so.1: also aarch64-linux-gnu")
    arguments = parser.parse_args()
    print(machine())
    targets = ["", "x86_64-linux-musl", "aarch64-linux-musl", *(["aarch64-linux-gnu"] if arguments.sysroot else [])]
    for what in arguments.models:
        model, solver, seconds = what.rsplit(":", 2)
        print(f"{model.rsplit('/', 1)[-1]} by {solver}, {seconds} s at 1 kHz")
        with tempfile.TemporaryDirectory() as folder:
            results = {}
            for target in targets:
                try:
                    results[target] = _run(model, solver, float(seconds), Path(folder), target, arguments.sysroot)
                except ModelError as error:
                    print(f"  {target or 'here'}: {error}")
        _show("aarch64-linux-musl", "x86_64-linux-musl", results)
        _show("aarch64-linux-musl", "", results)
        _show("aarch64-linux-gnu", "", results)


def _run(model: str, solver: str, seconds: float, folder: Path, target: str, sysroot: str | None) -> Result:
    scenario = plain_scenario(model, solver=solver, step=STEP, duration=seconds, name="machines")
    built = build(scenario, folder=folder / (target or "here"), target=target)
    recording = built.folder / "out.recording"
    emulator = ["qemu-aarch64", *(["-L", sysroot] if sysroot else [])] if target.startswith("aarch64") else []
    words = [str(built.executable), str(built.scenario_file), f"record.file={recording}", "wall_num=0", "live=0"]
    subprocess.run([*emulator, *words, "quiet=1"], check=True, cwd=built.folder)
    return read_recording(recording)


def _show(one: str, other: str, results: dict[str, Result]) -> None:
    if one not in results or other not in results:
        return
    a, b = results[one], results[other]
    far, apart, same, n = 0, 0.0, 0, 0
    worst = ""
    for name in b.names:
        ulps = _ulps(np.asarray(a[name], dtype=np.float64), np.asarray(b[name], dtype=np.float64))
        same += int((ulps == 0).sum())
        n += len(ulps)
        if ulps.max(initial=0) > far:
            far, worst = int(ulps.max()), name
        scale = float(np.max(np.abs(b[name]), initial=0.0))
        apart = max(apart, float(np.max(np.abs(np.asarray(a[name]) - np.asarray(b[name])))) / scale if scale else 0.0)
    text = "the same bits" if far == 0 else f"at most {far} ulp ({worst}), {apart:.1e} of the largest value"
    where = other or "here (cc, its libm)"
    print(f"  {one} beside {where}: {text}; {same} of {n} values identical, {len(b.names)} signals")


def _ulps(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Distance on the line of all doubles."""
    x, y = (np.abs(v).view(np.int64) * np.where(v >= 0, 1, -1) for v in (a, b))
    apart: npt.NDArray[np.int64] = np.abs(x - y)
    return apart


if __name__ == "__main__":
    main()
