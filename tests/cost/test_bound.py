"""The cost bound: what a step really did, counted and in instructions, stays below it."""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kilohertz import load
from kilohertz.building import linked_units, main_unit
from kilohertz.building.made_step import made_name, made_step
from kilohertz.cost import Bounds, cost_bound, reference
from kilohertz.passes import Inlining
from kilohertz.simulate import Program, Statistics, Stepper
from kilohertz.simulate.stepper import UNUSUAL, Flags
from kilohertz.solvers import EVENTS, METHODS, StepSettings
from kilohertz.toolchain import build_executable, find_compiler

FOLDER = Path(__file__).parent
RUNTIME, SOLVERS = FOLDER.parent / "runtime", FOLDER.parent / "solvers"
MODELS = {
    "Everything": RUNTIME / "stepping.mo:Stepping.Everything",
    "Hard": RUNTIME / "stepping.mo:Stepping.Hard",
    "Several": RUNTIME / "stepping.mo:Stepping.Several",
    "Chatters": RUNTIME / "stepping.mo:Stepping.Chatters",
    "StickSlip": SOLVERS / "friction.mo:Friction.StickSlip",
    "Clutch": "Kilohertz.Examples.Drives.ClutchEngages",
    "Bearing": "Kilohertz.Examples.Drives.StickingBearing",
    "Axis": SOLVERS / "axis.mo:Axis.Closed",
    "Drive": FOLDER.parent / "simulate" / "inlined.mo:Inlined.Drive",
    "Cranks": FOLDER.parent / "simulate" / "inlined.mo:Inlined.Cranks",
    "Chopper": FOLDER.parent / "simulate" / "inlined.mo:Inlined.Chopper",
    "Known, index-1": SOLVERS / "index1.mo:Index1.Known",
    "Rectifier, index-1": SOLVERS / "index1.mo:Index1.Rectifier",
    "Orifices, index-1": SOLVERS / "index1.mo:Index1.Orifices",
    "Valve, index-1": SOLVERS / "index1.mo:Index1.Valve",
    "Row": FOLDER / "row.mo:Row",
}


PRESSURES = frozenset({"pA", "pB", "pLA", "pLB"})


@cache
def compiled(name: str, choice: Inlining | None = None) -> Program:
    return load(str(MODELS[name])).compile(choice, index1="index-1" in name)


@pytest.mark.parametrize("name", [name for name in MODELS if name != "Row"])
def test_calls_stay_below_the_bound(name: str) -> None:
    program = compiled(name)
    is_open = bool(program.step.algebraic)
    for method in ("ros34pw2", "rodasp", "sdirk3", "esdirk4", *(() if is_open else ("rk4",))):
        newton = 3 if is_open else 2
        for events, located in (*((e, 4) for e in EVENTS), ("catch-up", 1), ("exact", 1)):
            how: dict[str, Any] = {"events": events, "events_per_step": located, "newton": newton}
            bound = cost_bound(program.step, StepSettings(method, **how))["worst"]
            stepper = Stepper(program, StepSettings(method, 1e-3, index1=is_open, **how))
            stepper.start(0.0)
            before = stepper.counts
            for _ in range(120):
                stepper.step()
                now = stepper.counts
                for key in ("rhs", "jacobians", "factorisations", "solves", "event_passes"):
                    assert now[key] - before[key] <= bound[key], (method, events, key)
                before = now


@pytest.mark.parametrize("method", METHODS)
def test_the_bound_is_exact_where_nothing_is_left_to_chance(method: str) -> None:
    """On a smooth model every step does exactly what is said."""
    stepper = Stepper(compiled("Axis"), StepSettings(method, 2e-5))
    stepper.start(0.0)
    for _ in range(10):
        stepper.step()
    regular = cost_bound(compiled("Axis").step, StepSettings(method))["regular"]
    for key in ("rhs", "jacobians", "factorisations", "solves"):
        assert stepper.counts[key] == 10 * regular[key], key


def test_the_bound_is_plain_data_and_names_what_it_cannot_bound(tmp_path: Path) -> None:
    source = tmp_path / "m.mo"
    source.write_text(
        "function f input Real u; output Real y; algorithm y := u; while y > 1 loop y := y/2; end while; end f;\n"
        "model M Real x(start=1, fixed=true); equation der(x) = -f(x); end M;\n"
    )
    bound = cost_bound(load(f"{source}:M").process(), StepSettings("rk4"))
    assert json.loads(json.dumps(bound)) == bound
    assert bound["unbounded"] == ["a while loop in f"]
    assert cost_bound(compiled("Everything").step, StepSettings("rk4"))["unbounded"] == []


def test_more_costs_more() -> None:
    step = compiled("Everything").step
    cheap = cost_bound(step, StepSettings("lie"))["worst"]["operations"]
    assert cheap < cost_bound(step, StepSettings("rodasp"))["worst"]["operations"]
    assert cheap < cost_bound(step, StepSettings("lie", events="mid"))["worst"]["operations"]
    assert cheap < cost_bound(step, StepSettings("lie", loop_newton=12))["worst"]["operations"]
    for events, steps in (("catch-up", (2, 5)), ("exact", (5, 17))):
        few, many = (cost_bound(step, StepSettings("lie", events=events, events_per_step=n))["worst"] for n in (1, 4))
        assert (few["steps"], many["steps"]) == steps
        assert cheap < few["operations"] < many["operations"]
    assert set(METHODS) == {m for m in METHODS if cost_bound(step, StepSettings(m))["worst"]["instructions"] > 0}


def test_in_the_index_1_form_no_loop_counts_in_a_regular_step() -> None:
    ordinary, is_open = load(str(MODELS["Orifices, index-1"])).process(), compiled("Orifices, index-1").step
    bound, other = cost_bound(is_open, StepSettings("rodas4")), cost_bound(ordinary, StepSettings("rodas4"))
    assert (bound["states"], bound["algebraic"], bound["lu"]["n"]) == (2, 2, 4)
    assert (bound["regular"]["solved"], other["regular"]["solved"]) == (0, other["regular"]["rhs"])
    assert bound["regular"]["operations"] < other["regular"]["operations"] / 2
    assert cost_bound(is_open, StepSettings("rodas4", loop_newton=60))["regular"] == bound["regular"]


@cache
def counted(name: str, choice: Inlining | None) -> Path:
    model = compiled(name, choice).built
    units, libraries = linked_units([model], offline=False)
    text = (FOLDER / "counted.c.in").read_text()
    return build_executable([*units, main_unit(model, text)], libraries)


def instructions(executable: Path, arguments: list[str], folder: Path) -> list[tuple[Flags, int]]:
    """What each step did, and its instructions."""
    command = ["valgrind", "--tool=callgrind", "--toggle-collect=khz_stepper_step", "--dump-after=khz_stepper_step"]
    command += [f"--callgrind-out-file={folder}/out", str(executable), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    found = []
    for k, flags in enumerate(done.stdout.split()):
        lines = (folder / f"out.{k + 1}").read_text().splitlines()
        total = next(line for line in lines if line.startswith(("summary:", "totals:")))
        found.append((Flags(int(flags)), int(total.split()[1])))
    return found


def within(found: list[tuple[Flags, int]], bound: dict[str, Any]) -> dict[str, int]:
    """The most of each kind of step, each below its own bound."""
    most = {"regular": 0, "event": 0, "worst": 0}
    for flags, count in found:
        kind = "worst" if flags & UNUSUAL else "event" if "event" in flags else "regular"
        assert count <= bound[kind]["instructions"], (kind, flags)
        most[kind] = max(most[kind], count)
    return most


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="needs valgrind")
@pytest.mark.parametrize(
    ("name", "method", "events", "steps"),
    [
        ("Axis", "rk4", "none", 3),
        ("Axis", "ros34pw2", "none", 15),
        ("Axis", "esdirk4", "none", 15),
        ("Everything", "rodasp", "mid", 40),
        ("Everything", "li3", "hermite", 40),
        ("StickSlip", "ros34pw2", "predict", 40),
        ("Everything", "rodas4", "exact", 40),
        ("Chatters", "euler", "none", 40),
        ("Known, index-1", "rodasp", "none", 20),
        ("Rectifier, index-1", "sdirk3", "none", 40),
        ("Valve, index-1", "ros3prl", "hermite", 40),
        ("Row", "ros34pw2", "linear", 12),
    ],
)
def test_instructions_stay_below_the_bound(
    name: str, method: str, events: str, steps: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "Row":
        monkeypatch.setattr("kilohertz.cost.rolled.LEAST", 50)
    arguments = [method, str(EVENTS.index(events)), str(steps), "0", "0", "1", "0"]
    found = instructions(counted(name, None), arguments, tmp_path)
    bound = cost_bound(compiled(name).step, StepSettings(method, events=events))
    most = within(found, bound)
    if name in ("Axis", "Row"):
        assert most["regular"] > bound["regular"]["instructions"] / 1.6  # a bound, not a guess at infinity
    if name == "Everything":
        assert most["regular"] and most["event"]


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="needs valgrind")
@pytest.mark.skipif(find_compiler().family != "gcc", reason="steps are made for their method by gcc alone")
@pytest.mark.parametrize(
    ("name", "method", "events", "steps"),
    [
        ("Axis", "rk4", "none", 3),
        ("Axis", "rodas4", "none", 15),
        ("Everything", "rodasp", "mid", 40),
        ("Everything", "rodas4", "exact", 40),
        ("StickSlip", "ros34pw2", "predict", 40),
        ("Chatters", "euler", "none", 40),
        ("Clutch", "rk4", "linear", 700),
        ("Bearing", "lie", "none", 400),
    ],
)
def test_made_steps_stay_below_their_bound(name: str, method: str, events: str, steps: int, tmp_path: Path) -> None:
    model, settings = compiled(name).built, StepSettings.of(solver=method, step=1e-3, events=events)
    made = made_step(model, settings.check_fixed(), find_compiler())
    assert made is not None and reference().made is not None
    units, libraries = linked_units([model], offline=False)
    text = (FOLDER / "counted.c.in").read_text()
    program = build_executable([*units, made, main_unit(model, text, (f"-DKHZ_MADE={made_name(model)}",))], libraries)
    found = instructions(program, [method, str(EVENTS.index(events)), str(steps), "0", "0", "1", "0"], tmp_path)
    bound = cost_bound(compiled(name).step, settings, reference().made)
    most = within(found, bound)
    assert not most["regular"] or bound["regular"]["instructions"] < 1.9 * most["regular"]


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="needs valgrind")
@pytest.mark.parametrize("name", ["Clutch", "Bearing"])
def test_the_worst_bound_of_friction_is_at_most_ten_times_the_dearest_step(name: str, tmp_path: Path) -> None:
    """As `benchmarks/step_bound.py` has it for whole runs of larger models."""
    found = instructions(counted(name, None), ["rk4", str(EVENTS.index("linear")), "700", "0", "0", "1", "0"], tmp_path)
    bound = cost_bound(compiled(name).step, StepSettings("rk4", events="linear"))
    most = within(found, bound)
    assert most["event"] > 2 * most["regular"] > 0
    assert bound["worst"]["instructions"] <= 10 * max(most.values())


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="needs valgrind")
@pytest.mark.parametrize(
    ("name", "method", "choice", "substeps"),
    [
        ("Axis", "sdirk2", Inlining(), 0),
        ("Axis", "ars222", Inlining(PRESSURES), 1),
        ("Axis", "ars443", Inlining(PRESSURES), 1),
        ("Axis", "ars222", Inlining(PRESSURES, PRESSURES), 4),
        ("Drive", "sdirk2", Inlining(), 0),
        ("Cranks", "ieuler", Inlining(), 0),
        ("Chopper", "trbdf2", Inlining(), 0),
    ],
)
def test_instructions_of_inlined_stages_stay_below_the_bound(
    name: str, method: str, choice: Inlining, substeps: int, tmp_path: Path
) -> None:
    steps = "6" if name == "Axis" else "45"
    found = instructions(counted(name, choice), [method, "0", steps, "1", str(substeps), "1", "0"], tmp_path)
    stepping = StepSettings(method, inline=True, substeps={"*": substeps} if substeps else {})
    bound = cost_bound(compiled(name, choice).step, stepping)
    within(found, bound)
    regular = sorted(count for flags, count in found if not flags & UNUSUAL and "event" not in flags)
    kept = bound["kept"]["instructions"]
    assert regular[len(regular) // 2] <= kept < bound["regular"]["instructions"]  # most need no new Jacobian


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="needs valgrind")
@pytest.mark.parametrize("method", ["ieuler", "ros34pw2"])
def test_a_step_with_a_part_of_a_jacobian_stays_below_its_bound(method: str, tmp_path: Path) -> None:
    """After the first, which has all of it; the fifth and the ninth have the factors instead."""
    found = instructions(counted("Axis", None), [method, "0", "12", "0", "0", "4", "1"], tmp_path)
    bound = cost_bound(compiled("Axis").step, StepSettings(method, jacobian_every=4, jacobian_spread=True))
    most, kept = max(count for _, count in found[1:]), bound["kept"]["instructions"]
    assert kept / 2.5 < most <= kept < bound["regular"]["instructions"]
    assert all(bound["kept"][key] <= bound["regular"][key] for key in ("directional", "factorisations", "rhs"))
    assert bound["kept"]["directional"] < bound["regular"]["directional"]


def test_passes_of_an_event_are_counted_as_far_as_they_are_possible(tmp_path: Path) -> None:
    """Without discrete values there is one pass; without `pre` the next finds that nothing changed, or samples over."""
    head = "Real x(start=1, fixed=true); "
    bodies = {
        1: "equation der(x) = if x > 0.5 then -1 else -2;",
        2: "Boolean b; equation b = x > 0.5; der(x) = if b then -1 else -2;",
        3: "Boolean b = sample(0, 0.1); equation der(x) = if b then -1 else -2;",
        16: "discrete Real n(start=0); equation der(x) = -1 - n; when x < 0.5 then n = pre(n) + 1; end when;",
    }
    for passes, body in bodies.items():
        source = tmp_path / f"m{passes}.mo"
        source.write_text(f"model M {head} {body} end M;")
        program = load(f"{source}:M").compile()
        assert cost_bound(program.step, StepSettings("rk4"))["event"]["event_passes"] == passes
        stepper = Stepper(program, StepSettings("rk4", 1e-2))
        stepper.start(0.0)
        for _ in range(120):
            stepper.step()
        assert stepper.counts["state_events"] + stepper.counts["time_events"] >= 1
        assert 0 < stepper.counts["max_step_passes"] <= passes


def test_bounds_that_share_their_counts_are_those_made_alone() -> None:
    bounds = Bounds(compiled("Everything").step)
    settings = [StepSettings(m, events=e, loop_newton=n) for m in METHODS for e in ("none", "exact") for n in (3, 6)]
    assert all(bounds.of(s) == cost_bound(compiled("Everything").step, s) for s in settings)


@pytest.mark.parametrize("method", METHODS)
def test_what_a_run_took_is_its_bound_where_nothing_is_left_to_chance(method: str) -> None:
    bounds, settings = Bounds(compiled("Axis").step), StepSettings(method, 2e-5)
    stepper = Stepper(compiled("Axis"), settings)
    stepper.start(0.0)
    for _ in range(10):
        stepper.step()
    bound = bounds.of(settings)["regular"]["instructions"]  # whole instructions
    assert bounds.of_run(settings, stepper.counts, 0) == pytest.approx(bound, abs=1.0)


def test_what_a_run_took_follows_its_iterations() -> None:
    model, statistics = load(str(MODELS["Orifices, index-1"])), Statistics()
    model.simulate(solver="rk4", step=1e-3, stop=0.1, statistics=statistics)
    bounds, settings = Bounds(model.process()), StepSettings("rk4")
    n = statistics.loop_iterations
    some, more = (bounds.of_run(settings, statistics.counts, k) for k in (n, 2 * n))
    least, most = (bounds.of(StepSettings("rk4", loop_newton=k))["regular"]["instructions"] for k in (1, 6))
    assert n > 0 and some < more and least * 0.9 < some < most
