"""A carrier on 1 to 20 rods between bushings, with and without masses: implicit Euler, inlined and not.

    python benchmarks/bushing_networks.py [--rods 1 2 5 10 20] [--kinds masses massless] [--steps 100]

The models are those of tests/library/bushings.mo.  A row: states; what an inlined stage leaves to be solved; seconds of
all before the C compiler, and of it; instructions of a step of 1 ms (callgrind, mean of 20 after 5), inlined and with
two simplified Newton iterations; how far positions of the carrier are apart within --steps steps, inlined and with
stages solved by up to 25 iterations, in parts of their range.  A step that fails ends the script.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from kilohertz import Model, load
from kilohertz.driver.analysing.analysis_text import stage_text
from kilohertz.ir.step import Kind
from stepping import build, count
from tables import machine

SOURCE = Path(__file__).parents[1] / "tests" / "library" / "bushings.mo"
KINDS = {"masses": "Bushings", "massless": "Massless"}
STEP = 1e-3


def network(kind: str, rods: int, folder: Path) -> Model:
    file = folder / f"{kind}{rods}.mo"
    text = SOURCE.read_text(encoding="utf-8")
    file.write_text(f"{text}\nmodel Network\n  extends {KINDS[kind]}(N={rods});\nend Network;\n", encoding="utf-8")
    return load(f"{file}:Network")


def apart(model: Model, steps: int) -> float:
    """Largest difference of a position of the carrier, relative to its range."""
    stop = steps * STEP
    inlined = model.simulate(solver="ieuler", step=STEP, stop=stop, strict=True, inline=True)
    plain = model.simulate(solver="ieuler", step=STEP, stop=stop, strict=True, newton=25)
    names = [f"carrier.r_0[{i}]" for i in (1, 2, 3)]
    return max(float(np.abs(inlined[n] - plain[n]).max() / np.ptp(plain[n])) for n in names)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rods", type=int, nargs="+", default=[1, 2, 5, 10, 20])
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--steps", type=int, default=100)
    arguments = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        for kind in arguments.kinds:
            for rods in arguments.rods:
                row(network(kind, rods, Path(folder)), f"{rods} rods, {kind}", arguments.steps)


def row(model: Model, name: str, steps: int) -> None:
    begun = time.perf_counter()
    stage = model.analyse(inline=True).inlined
    assert stage is not None
    form = model.inlined()
    passed = time.perf_counter()
    program = build(form)
    built = time.perf_counter()
    inlined, plain = (count(program, "ieuler", STEP, way, 5, 20) for way in (True, False))
    assert not (inlined.failed or plain.failed), name
    states = len(form.of_kind(Kind.STATE))
    print(
        f"{name}: {states} states; {stage_text(stage)}; {passed - begun:.1f} s, C compiler {built - passed:.1f} s;",
        end=" ",
    )
    print(
        f"{inlined.per_step:.0f} instructions inlined, {plain.per_step:.0f} not; apart {apart(model, steps):.1e}",
        flush=True,
    )


if __name__ == "__main__":
    main()
