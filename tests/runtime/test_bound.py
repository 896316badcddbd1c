"""The cost bound: what a step really did, counted and in instructions, stays below it."""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from kilohertz import load
from kilohertz.codegen import cost_bound
from kilohertz.simulate import EVENTS, Program, Stepper, Stepping
from kilohertz.simulate.program import program_units
from kilohertz.solvers import METHODS
from kilohertz.toolchain import Source, Unit, build_executable

FOLDER = Path(__file__).parent
SOLVERS = FOLDER.parent / "solvers"
MODELS = {
    "Everything": FOLDER / "stepping.mo:Stepping.Everything",
    "Hard": FOLDER / "stepping.mo:Stepping.Hard",
    "Several": FOLDER / "stepping.mo:Stepping.Several",
    "Chatters": FOLDER / "stepping.mo:Stepping.Chatters",
    "StickSlip": SOLVERS / "friction.mo:Friction.StickSlip",
    "Axis": SOLVERS / "axis.mo:Axis.Closed",
    "Known, index-1": SOLVERS / "index1.mo:Index1.Known",
    "Rectifier, index-1": SOLVERS / "index1.mo:Index1.Rectifier",
    "Orifices, index-1": SOLVERS / "index1.mo:Index1.Orifices",
    "Valve, index-1": SOLVERS / "index1.mo:Index1.Valve",
}


@cache
def compiled(name: str) -> Program:
    return load(str(MODELS[name])).compile(index1="index-1" in name)


@pytest.mark.parametrize("name", MODELS)
def test_calls_stay_below_the_bound(name: str) -> None:
    program = compiled(name)
    is_open = bool(program.step.algebraic)
    for method in ("ros34pw2", "rodasp", "sdirk3", "esdirk4", *(() if is_open else ("rk4",))):
        newton = 3 if is_open else 2
        for events, located in (*((e, 4) for e in EVENTS), ("catch-up", 1), ("exact", 1)):
            how = {"events": events, "events_per_step": located, "newton": newton}
            bound = cost_bound(program.step, method, **how)["worst"]
            stepper = Stepper(program, Stepping(method, 1_000_000, index1=is_open, **how))
            stepper.start(0.0)
            before = stepper.counts
            for _ in range(120):
                stepper.step()
                now = stepper.counts
                for key in ("rhs", "jacobians", "factorisations", "solves", "event_passes"):
                    assert now[key] - before[key] <= bound[key], (method, events, key)
                before = now


def test_the_bound_is_close_where_nothing_is_left_to_chance() -> None:
    """An explicit method on a smooth model does exactly what is said: its stages and the values at the end."""
    stepper = Stepper(compiled("Axis"), Stepping("rk4", 20_000))
    stepper.start(0.0)
    for _ in range(10):
        stepper.step()
    regular = cost_bound(compiled("Axis").step, "rk4")["regular"]
    assert stepper.counts["rhs"] == 10 * (regular["rhs"] - 1) + 1  # the last evaluation of a step begins the next


def test_the_bound_is_plain_data_and_names_what_it_cannot_bound(tmp_path: Path) -> None:
    source = tmp_path / "m.mo"
    source.write_text(
        "function f input Real u; output Real y; algorithm y := u; while y > 1 loop y := y/2; end while; end f;\n"
        "model M Real x(start=1, fixed=true); equation der(x) = -f(x); end M;\n"
    )
    bound = cost_bound(load(f"{source}:M").process(), "rk4")
    assert json.loads(json.dumps(bound)) == bound
    assert bound["unbounded"] == ["a while loop in f"]
    assert cost_bound(compiled("Everything").step, "rk4")["unbounded"] == []


def test_more_costs_more() -> None:
    step = compiled("Everything").step
    cheap = cost_bound(step, "lie")["worst"]["operations"]
    assert cheap < cost_bound(step, "rodasp")["worst"]["operations"]
    assert cheap < cost_bound(step, "lie", events="mid")["worst"]["operations"]
    assert cheap < cost_bound(step, "lie", loop_newton=12)["worst"]["operations"]
    for events, steps in (("catch-up", (2, 5)), ("exact", (5, 17))):
        few, many = (cost_bound(step, "lie", events=events, events_per_step=n)["worst"] for n in (1, 4))
        assert (few["steps"], many["steps"]) == steps
        assert cheap < few["operations"] < many["operations"]
    assert set(METHODS) == {m for m in METHODS if cost_bound(step, m)["worst"]["instructions"] > 0}


@cache
def counted(name: str) -> Path:
    units, libraries = program_units(compiled(name).code)
    text = (FOLDER / "counted.c.in").read_text()
    return build_executable([*units, Unit((Source("counted.c", text),), units[1].headers)], libraries)


def instructions(name: str, method: str, events: str, steps: int, folder: Path) -> list[int]:
    """Instructions of each step."""
    command = ["valgrind", "--tool=callgrind", "--toggle-collect=khz_stepper_step", "--dump-after=khz_stepper_step"]
    command += [
        f"--callgrind-out-file={folder}/out.%p",
        str(counted(name)),
        method,
        str(EVENTS.index(events)),
        str(steps),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    totals = []
    for file in folder.glob("out.*"):
        found = [line for line in file.read_text().splitlines() if line.startswith(("summary:", "totals:"))]
        totals += [int(line.split()[1]) for line in found[:1]]
    return [t for t in totals if t > 0]


def test_in_the_index_1_form_no_loop_counts_in_a_regular_step() -> None:
    ordinary, is_open = load(str(MODELS["Orifices, index-1"])).process(), compiled("Orifices, index-1").step
    bound, other = cost_bound(is_open, "rodas4"), cost_bound(ordinary, "rodas4")
    assert (bound["states"], bound["algebraic"], bound["lu"]["n"]) == (2, 2, 4)
    assert (bound["regular"]["solved"], other["regular"]["solved"]) == (0, other["regular"]["rhs"])
    assert bound["regular"]["operations"] < other["regular"]["operations"] / 2
    assert cost_bound(is_open, "rodas4", loop_newton=60)["regular"] == bound["regular"]


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="needs valgrind")
@pytest.mark.parametrize(
    ("name", "method", "events"),
    [
        ("Axis", "rk4", "none"),
        ("Axis", "ros34pw2", "none"),
        ("Axis", "esdirk4", "none"),
        ("Everything", "rodasp", "mid"),
        ("Everything", "li3", "hermite"),
        ("StickSlip", "ros34pw2", "predict"),
        ("Everything", "rodas4", "exact"),
        ("Chatters", "euler", "none"),
        ("Known, index-1", "rodasp", "none"),
        ("Rectifier, index-1", "sdirk3", "none"),
        ("Valve, index-1", "ros3prl", "hermite"),
    ],
)
def test_instructions_stay_below_the_bound(name: str, method: str, events: str, tmp_path: Path) -> None:
    steps = 20 if name == "Axis" else 40
    found = instructions(name, method, events, 3 if (name, method) == ("Axis", "rk4") else steps, tmp_path)
    bound = cost_bound(compiled(name).step, method, events=events)
    assert found
    assert max(found) <= bound["worst"]["instructions"]
    if name in ("Axis", "Known, index-1"):  # neither events nor loops that are solved after all
        assert max(found) <= bound["regular"]["instructions"]
        assert max(found) > bound["regular"]["instructions"] / 50  # a bound, not a guess at infinity
