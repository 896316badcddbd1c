"""Fit the prices of the cost bound for each target: compiler and architecture.

    python benchmarks/step_prices.py [--made] [--qemu qemu-aarch64-static] [--write]
                                                        needs valgrind, and without --made ziglang and qemu-user

Instructions of a regular step are counted for seven models and five methods: on x86-64 by callgrind, for aarch64 by
qemu-user, which logs every instruction that it executes (a run of few steps is taken from one of more).  For each
target the factors of `cost/targets.toml` solve a linear program: the least sum of bound over measured such that
every bound is at least MARGIN times what was measured, as the reference has it, and no factor is below LOWEST: other
models have other shares.  The reference keeps factors of one: its prices are counted by hand, kernel by kernel.
Steps that are made for their method (building/made_step.py) have factors of their own for regular periods, fitted
alike with a margin of MADE_MARGIN, for what is the stepper's own: the model's expressions and loops keep theirs.  With
--made these alone are measured, and the others stay as they stand.  With --write the table is written, else printed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.optimize import linprog

from kilohertz import load
from kilohertz.cost import cost_bound
from kilohertz.cost.targets import GROUPS, REFERENCE, Fit, Target, targets
from kilohertz.ir.step import Step
from kilohertz.solvers import StepSettings
from kilohertz.toolchain import Compiler, cross_compiler, find_compiler
from stepping import HELD, build, build_made, count
from tables import machine

MODELS = Path(__file__).parent / "models"
NAMES = (
    *(f"{MODELS / 'StepCost.mo'}:StepCost.{m}" for m in ("Oscillator", "Valve", "Chain", "Rod", "Line")),
    *(f"{MODELS / 'Prices.mo'}:Prices.{m}" for m in ("Functions", "Polynomials")),
)
METHODS = ("euler", "rk4", "ros34pw2", "rodas4", "sdirk2")
STEP, SKIPPED, STEPS = 1e-4, 3, 4
MARGIN, LOWEST = 1.15, 0.8
MADE_MARGIN = 1.03
# what a step that is made has of its own, the rest is the model's; of many states as much as heat conduction has
LEAST_OWN = {"vectors": 0.89, "few": 0.6, "calls": 0.2}
FILE = Path(__file__).parent.parent / "src" / "kilohertz" / "cost" / "targets.toml"


@dataclass(frozen=True, slots=True)
class Row:
    """Measured instructions of a step, and those that the bound counts by group."""

    model: str
    method: str
    measured: float
    counted: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Machine:
    """A compiler on an architecture, and what counts instructions there."""

    name: tuple[str, str]
    measured_with: str
    compiler: Compiler
    counts: Callable[[Path, str], float | None]


def by_callgrind(program: Path, method: str) -> float | None:
    """Instructions of a step; None where steps fail."""
    found = count(program, method, STEP, False, SKIPPED, STEPS)
    return None if found.failed else found.per_step


def by_qemu(qemu: str) -> Callable[[Path, str], float | None]:
    """The same, from the log of every instruction."""

    def counts(program: Path, method: str) -> float | None:
        few, many = (_logged(qemu, program, method, n) for n in (1, 1 + STEPS))
        return None if few is None or many is None else (many - few) / STEPS

    return counts


def _logged(qemu: str, program: Path, method: str, steps: int) -> int | None:
    command = [qemu, "-singlestep", "-d", "exec,nochain", str(program), method]
    command += [str(round(STEP * 1e9)), "0", str(SKIPPED), str(steps)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        lines = sum(line.startswith(b"Trace") for line in process.stderr)
        said = process.stdout.read()
    if process.returncode != 0:
        raise SystemExit(f"{program} failed under {qemu} ({process.returncode})")
    return None if int(said) & HELD else lines


def rows_of(machine: Machine, steps: dict[str, Step]) -> list[Row]:
    """Every model with every method that does not fail on it."""
    rows = []
    for name, step in steps.items():
        program = build(step, machine.compiler)
        for method in METHODS:
            measured = machine.counts(program, method)
            if measured is not None:
                counted = tuple(_only(step, StepSettings(method), group) for group in GROUPS)
                rows.append(Row(name.rpartition(":")[2], method, measured, counted))
                print(f"{' '.join(machine.name)}: {rows[-1]}", file=sys.stderr)
    return rows


def _only(step: Step, settings: StepSettings, group: str) -> int:
    """Instructions of one group in the bound of a regular step, at the prices of the reference."""
    alone = Target("", "", tuple(float(g == group) for g in GROUPS))
    return int(cost_bound(step, settings, alone)["regular"]["instructions"])


def rows_of_made(steps: dict[str, Step]) -> list[Row]:
    """The same with steps that are made for each method, by the compiler found here."""
    rows = []
    for name, step in steps.items():
        for method in METHODS:
            settings = StepSettings.of(solver=method, step=STEP, events="catch-up")  # as the driver has it
            program = build_made(step, settings)
            measured = by_callgrind(program, method) if program is not None else None
            if measured is not None:
                counted = tuple(_only(step, settings, group) for group in GROUPS)
                rows.append(Row(name.rpartition(":")[2], method, measured, counted))
                print(f"made: {rows[-1]}", file=sys.stderr)
    return rows


def with_made(target: Target, rows: list[Row]) -> Target:
    """The target with factors of steps that are made for their method."""
    assert target.fit is not None
    shares = np.array([[c / r.measured for c in r.counted] for r in rows])
    limits = [
        (LEAST_OWN[group], None) if group in LEAST_OWN else (f, f)
        for group, f in zip(GROUPS, target.factors, strict=True)
    ]
    solution = linprog(shares.sum(axis=0), A_ub=-shares, b_ub=np.full(len(rows), -MADE_MARGIN), bounds=limits)
    if not solution.success:
        raise SystemExit(f"no factors for made steps: {solution.message}")
    factors = np.ceil(solution.x * 100 - 1e-6) / 100
    ratios = shares @ factors
    fit = replace(
        target.fit, measured=len(rows), least=round(float(ratios.min()), 2), most=round(float(ratios.max()), 2)
    )
    return replace(target, made=replace(target, fit=fit, regular=tuple(map(float, factors))))


def fitted(machine: Machine, rows: list[Row]) -> Target:
    """The target with its factors, and how well they fit."""
    shares = np.array([[c / r.measured for c in r.counted] for r in rows])
    factors = np.ones(len(GROUPS))
    if machine.name != REFERENCE:
        least, limits = np.full(len(rows), -MARGIN), [(LOWEST, None)] * len(GROUPS)
        solution = linprog(shares.sum(axis=0), A_ub=-shares, b_ub=least, bounds=limits)
        if not solution.success:
            raise SystemExit(f"no factors for {machine.name}: {solution.message}")
        factors = np.ceil(solution.x * 100) / 100
    ratios = shares @ factors
    fit = Fit(len(rows), round(float(ratios.min()), 2), round(float(ratios.max()), 2), machine.measured_with)
    return Target(*machine.name, tuple(map(float, factors)), fit)


def table(targets: list[Target]) -> str:
    """The text of targets.toml."""
    lines = [
        "# Written by `python benchmarks/step_prices.py --write`: factors on the prices of cost/prices.py; `least` and",
        "# `most` are the bound over the instructions measured, for so many pairs of a model and a method.  `made` has",
        "# those of regular periods of steps that are made for their method.",
    ]
    for t in targets:
        lines += ["", "[[target]]", f'compiler = "{t.compiler}"', f'architecture = "{t.architecture}"']
        lines += _numbers(t.factors, t.fit)
        lines += ["", "[target.made]", *_numbers(t.made.regular, t.made.fit)] if t.made is not None else []
    return "\n".join(lines) + "\n"


def _numbers(factors: tuple[float, ...], fit: Fit | None) -> list[str]:
    assert fit is not None
    lines = [f"{group} = {factor!r}" for group, factor in zip(GROUPS, factors, strict=True)]
    lines += [f"measured = {fit.measured}", f"least = {fit.least!r}", f"most = {fit.most!r}"]
    return [*lines, f'measured_with = "{fit.measured_with}"']


def machines(qemu: str) -> list[Machine]:
    """What is measured: gcc as it is found here, zig for x86-64 and for aarch64."""
    gcc, arm, zig = find_compiler(), cross_compiler("aarch64-linux-musl"), cross_compiler("x86_64-linux-gnu.2.36")
    version = subprocess.run([*zig.command[:3], "version"], capture_output=True, text=True, check=True).stdout.strip()
    return [
        Machine(REFERENCE, f"{gcc.version.splitlines()[0]}, glibc, callgrind", gcc, by_callgrind),
        Machine(("zig", "x86_64"), f"zig {version}, glibc, callgrind", zig, by_callgrind),
        Machine(("zig", "aarch64"), f"zig {version}, musl, qemu-user", arm, by_qemu(qemu)),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--qemu", default="qemu-aarch64-static", help="qemu-user for aarch64")
    parser.add_argument("--write", action="store_true", help="write cost/targets.toml")
    parser.add_argument("--made", action="store_true", help="steps that are made for their method alone")
    arguments = parser.parse_args()
    steps = {name: load(name).process() for name in NAMES}
    known = targets()
    if not arguments.made:
        known = {m.name: fitted(m, rows_of(m, steps)) for m in machines(arguments.qemu)}
    known = {name: with_made(t, rows_of_made(steps)) if name == REFERENCE else t for name, t in known.items()}
    text = table(list(known.values()))
    if arguments.write:
        FILE.write_text(text, encoding="utf-8")
    print(text)
    print(machine())


if __name__ == "__main__":
    main()
