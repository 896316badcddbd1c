"""Every setting of a step stands at every door with the same default, range and words, and means the same behind it."""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kilohertz
from kilohertz.base import ModelError
from kilohertz.cli.arguments import step_settings
from kilohertz.cli.main import main
from kilohertz.driver import open_job
from kilohertz.ir import expr as x
from kilohertz.realtime import read_scenario
from kilohertz.realtime.scenario_text import flat_scenario
from kilohertz.simulate import Stepper
from kilohertz.solvers import METHODS, SETTINGS, RungeKutta, Setting, StepSettings
from kilohertz.solvers.settings import C_FIELDS

COMMANDS = ("simulate", "analyse", "run", "build")
CALLS = (
    *(kilohertz.Model.simulate, kilohertz.Model.run, kilohertz.Model.analyse, kilohertz.Model.cost_bound),
    *(kilohertz.build, kilohertz.run, open_job),
)
MODEL = """
model M
  {block}
  Real x(start=1, fixed=true);
equation
  der(x) = -x;
end M;
"""
# a value that is not the default, and one that is out of range, by kind
GOOD = {"solver": "lie", "time": 0.004, "number": 1e-4, "flag": True, "patterns": ("x", "y[1]"), "counts": {"x": 4}}
BAD: dict[str, tuple[Any, ...]] = {
    "solver": ("rk5",),
    "choice": ("nearly",),
    "time": (0.0, 1e9),
    "number": (0.0, 2.0),
    "count": (0, 10_000_000),
    "counts": ({"x": 0},),
}


def good(s: Setting) -> Any:
    if s.kind == "choice":
        return s.choices[-1]
    return 3 if s.kind == "count" else GOOD[s.kind]


def bad() -> list[tuple[str, Any]]:
    values = [(name, value) for name, s in SETTINGS.items() for value in BAD.get(s.kind, ())]
    return [(name, value) for name, value in values if not (value == 0 and SETTINGS[name].default == 0)]


# ------------------------------------------------------------------------------------------------- doors: value -> text


def words(s: Setting, value: Any) -> list[str]:
    """Of a command line."""
    option = f"--{s.name.replace('_', '-')}"
    if s.kind == "flag":
        return [option if value else f"--no-{s.name}"]
    if s.kind == "patterns":
        return [word for pattern in value for word in (option, pattern)]
    if s.kind == "counts":
        return [word for pattern, n in value.items() for word in (option, f"{pattern}={n}")]
    return [option, str(value)]


def toml(s: Setting, value: Any) -> str:
    if s.kind == "counts":
        return f"{s.name} = {{ {', '.join(f'{json.dumps(k)} = {n}' for k, n in value.items())} }}"
    return f"{s.name} = {json.dumps(value)}"


def block(s: Setting, value: Any) -> str:
    """The RealTime block of a model."""
    if s.kind == "patterns":
        text = "{" + ", ".join(f'"{pattern}"' for pattern in value) + "}"
    elif s.kind == "counts":
        text = "{" + ", ".join(f'"{pattern}={n}"' for pattern, n in value.items()) + "}"
    else:
        text = json.dumps(value)
    return f"Kilohertz.RealTime rt({s.name}={text});"


def parser(command: str) -> argparse.ArgumentParser:
    out = argparse.ArgumentParser()
    importlib.import_module(f"kilohertz.cli.commands.{command}").configure(out)
    return out


def by_command(command: str) -> Callable[[Setting, Any, Path], StepSettings]:
    def door(s: Setting, value: Any, folder: Path) -> StepSettings:
        return StepSettings.of(**step_settings(parser(command).parse_args(["M", *words(s, value)])))

    return door


def by_scenario(s: Setting, value: Any, folder: Path) -> StepSettings:
    (folder / "s.toml").write_text(f"{toml(s, value)}\nmodel = 'M'\n")
    return read_scenario(folder / "s.toml").tasks[0].stepping


def by_top(s: Setting, value: Any, folder: Path) -> StepSettings:
    (folder / "s.toml").write_text(f"{toml(s, value)}\n[[task]]\nname = 'a'\nmodel = 'M'\n")
    return read_scenario(folder / "s.toml").tasks[0].stepping


def by_task(s: Setting, value: Any, folder: Path) -> StepSettings:
    other = toml(s, SETTINGS[s.name].default)
    (folder / "s.toml").write_text(f"{other}\n[[task]]\nname = 'a'\nmodel = 'M'\n{toml(s, value)}\n")
    return read_scenario(folder / "s.toml").tasks[0].stepping


def by_block(s: Setting, value: Any, folder: Path) -> StepSettings:
    (folder / "M.mo").write_text(MODEL.replace("{block}", block(s, value)))
    return open_job(folder / "M.mo").scenario.tasks[0].stepping


def by_keyword(s: Setting, value: Any, folder: Path) -> StepSettings:
    (folder / "M.mo").write_text(MODEL.replace("{block}", ""))
    return open_job(folder / "M.mo", **{s.name: value}).scenario.tasks[0].stepping


DOORS: dict[str, Callable[[Setting, Any, Path], StepSettings]] = {
    **{f"khz {c}": by_command(c) for c in COMMANDS},
    "scenario": by_scenario,
    "top of a scenario": by_top,
    "task of a scenario": by_task,
    "block": by_block,
    "keyword": by_keyword,
}


# ------------------------------------------------------------------------------------------- each setting stands there


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_every_setting(command: str) -> None:
    actions = {option: a for a in parser(command)._actions for option in a.option_strings}
    for name, s in SETTINGS.items():
        action = actions[f"--{name.replace('_', '-')}"]
        assert action.dest == name and action.default is None
        assert action.help is not None and action.help.startswith(s.help)
        if s.default_text and s.kind != "flag":
            assert f"default: {s.default_text}" in action.help
        if s.kind in ("solver", "choice", "count", "number"):
            assert s.range in action.help


@pytest.mark.parametrize("call", CALLS, ids=lambda c: c.__qualname__)
def test_every_call_has_every_setting(call: Callable[..., Any]) -> None:
    found = inspect.signature(call).parameters
    for name, s in SETTINGS.items():
        assert name in found
        assert found[name].default in (s.default, s.offline, inspect.Parameter.empty)  # `cost_bound` needs a solver
        assert f"{name}: {s.help}" in str(call.__doc__)


def test_the_block_has_every_setting() -> None:
    (folder,) = (Path(kilohertz.__file__).parent / "library",)
    flat = kilohertz.load("Kilohertz.RealTime", [folder]).flatten()
    for name, s in SETTINGS.items():
        v = flat.variables[name]
        assert v.description.startswith(s.help)
        match v.binding:
            case x.Array(elements):
                assert elements == () and not s.default
            case x.Real(value) | x.Int(value) | x.Bool(value) | x.Str(value):
                assert value == s.default
            case other:
                pytest.fail(f"{name} = {other}")
        if s.kind == "count":
            assert [getattr(v.attributes[a], "value", None) for a in ("min", "max")] == [s.low, s.high]


def test_numbers_of_numpy_are_numbers() -> None:
    s = StepSettings.of(newton=np.int64(3), step=np.float32(0.5), tolerance=1)
    assert (s.newton, s.step, s.tolerance) == (3, 0.5, 1.0)
    assert [type(v) for v in (s.newton, s.step, s.tolerance)] == [int, float, float]
    with pytest.raises(ModelError, match="`newton` is True, but must be an integer"):
        StepSettings.of(newton=True)


def test_an_unknown_keyword_is_a_type_error() -> None:
    with pytest.raises(TypeError, match=r"simulate\(\) has no keyword `newtn`; did you mean `newton`"):
        kilohertz.load("Kilohertz.Examples.Decay").simulate(newtn=3)


# ---------------------------------------------------------------------------------------- and means the same behind it


@pytest.mark.parametrize("name", SETTINGS)
def test_a_value_arrives_the_same_from_every_door(name: str, tmp_path: Path) -> None:
    s = SETTINGS[name]
    wanted = good(s)
    assert wanted != s.default
    for title, door in DOORS.items():
        found = door(s, wanted, tmp_path)
        assert getattr(found, name) == wanted, title
        assert name in found.given, title
        assert found.but(step=1e-3 if name != "step" else wanted) == StepSettings().but(**{name: wanted}), title


@pytest.mark.parametrize(("name", "value"), bad(), ids=str)
def test_a_value_out_of_range_is_told_the_same_at_every_door(
    name: str, value: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    s = SETTINGS[name]
    with pytest.raises(ModelError) as caught:
        StepSettings.of(**{name: value})
    (told,) = caught.value.diagnostics
    assert told.code == s.code and told.message.startswith(f"`{name}` is ") and s.range in told.message
    (tmp_path / "N.mo").write_text(MODEL.replace("{block}", "").replace("M", "N"))
    for title, door in DOORS.items():
        if title.startswith("khz"):
            assert main([title.split()[1], str(tmp_path / "N.mo"), *words(s, value)]) == 1
            assert f"error[{told.code}]: {told.message}" in capsys.readouterr().err, shlex.join(words(s, value))
            continue
        with pytest.raises(ModelError) as caught:
            door(s, value, tmp_path)
        (found,) = caught.value.diagnostics
        if title == "block" and found.code == "S343":  # by the limits of its parameter
            assert f".{name}` is " in found.message
            continue
        assert found.code == told.code and found.message.endswith(told.message), title


def whole() -> StepSettings:
    """Every field of the C structure away from its default, as far as they go together."""
    values = {s.name: good(s) for s in C_FIELDS if s.name not in ("inline", "substeps", "internal_steps")}
    return StepSettings.of(**values, internal_steps=4)


def test_off_line_the_structure_in_c_has_the_values() -> None:
    from kilohertz.simulate.stepper import c_settings

    program = kilohertz.load("Kilohertz.Examples.Decay").compile()
    made = c_settings(Stepper(program, whole()).program.library, whole())
    found = {s.c: getattr(made, s.c) for s in C_FIELDS}
    assert found == {**whole().c_values(), "method": program.library.khz_method_index(b"lie")}


def test_in_real_time_the_structure_in_c_has_the_values(tmp_path: Path) -> None:
    """The task shows in its report what its stepper was made with."""
    values = {name: getattr(whole(), name) for name in whole().given}
    report = kilohertz.run("Kilohertz.Examples.Decay", duration=0.02, folder=tmp_path, check=False, **values)
    (task,) = report.data["tasks"]
    wanted = {k: v for k, v in whole().c_values().items() if k != "period_ns"}
    assert {k: task[k] for k in wanted} == wanted
    assert report.data["period_ns"] == whole().period_ns


def test_the_flat_scenario_has_every_field(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text("model = 'M'\nstep = '4ms'\n")
    lines = flat_scenario(read_scenario(tmp_path / "s.toml"), [0], [()]).text.splitlines()
    keys = {line.partition(" = ")[0] for line in lines}
    assert {f"task.0.{s.c}" for s in C_FIELDS if s.c != "period_ns"} <= keys


# ----------------------------------------------------------------------------------------- the road to a running task


def test_a_model_runs_as_its_block_says_and_is_not_worked_out_again(tmp_path: Path) -> None:
    (tmp_path / "M.mo").write_text(
        MODEL.replace("{block}", 'Kilohertz.RealTime rt(step=2e-3, solver="lie", newton=3);')
    )
    model = kilohertz.load(str(tmp_path / "M.mo"))
    step, seconds = model.process(), model.seconds
    report = model.run(duration=0.02, folder=tmp_path / "run", newton=4)
    assert report.data["period_ns"] == 2_000_000
    (task,) = report.data["tasks"]
    assert (task["method"], task["newton"]) == ("lie", 4)
    assert model.process() is step and model.seconds["flatten"] == seconds["flatten"]


DECAY, BALL = "Kilohertz.Examples.Decay", "Kilohertz.Examples.BouncingBall"


def test_values_reach_the_task_they_name(tmp_path: Path) -> None:
    text = f"[[task]]\nname = 'a'\nmodel = '{DECAY}'\nset = {{ k = 1 }}\n[[task]]\nname = 'b'\nmodel = '{BALL}'\n"
    (tmp_path / "s.toml").write_text(text)
    job = open_job(tmp_path / "s.toml", settings={"a.k": 2.0, "b.c.d": 3.0})
    assert [dict(t.settings) for t in job.scenario.tasks] == [{"k": 2.0}, {"c.d": 3.0}]
    with pytest.raises(ModelError, match="names no task") as caught:
        open_job(tmp_path / "s.toml", settings={"k": 2.0})
    assert caught.value.diagnostics[0].code == "R744"


def test_the_command_sets_parameters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "Kilohertz.Examples.RCCircuit", "--solver", "rk4", "--duration", "5ms", "--no-check", "-q"]
    assert main([*words, "--set", "resistor.R=50", "-o", str(tmp_path / "rc.csv")]) == 0
    assert main([*words, "--set", "resistor.r=50"]) == 1
    assert "error[R744]: `resistor.r` is not there; did you mean `resistor.R`?" in capsys.readouterr().err


def test_what_is_chosen_for_a_task_is_chosen_for_its_parameters(tmp_path: Path) -> None:
    text = "model M\n  parameter Real k = 1;\n  Real x(start=1);\nequation\n  der(x) = -k*x;\nend M;\n"
    (tmp_path / "M.mo").write_text(text)
    built = [open_job(tmp_path / "M.mo", settings={"k": k}).build(folder=tmp_path / "built") for k in (1.0, 1e5)]
    slow, fast = (b.scenario.tasks[0].stepping.solver for b in built)
    method = METHODS[slow]
    assert isinstance(method, RungeKutta) and method.is_explicit
    assert abs(METHODS[fast].amplification_at_infinity) < 1e-4


def test_another_step_keeps_the_ratio_of_the_tasks(tmp_path: Path) -> None:
    tasks = [
        f"[[task]]\nname = '{n}'\nmodel = '{m}'\nstep = '{h}'\n"
        for n, m, h in (("a", DECAY, "1ms"), ("b", BALL, "3ms"))
    ]
    text = "".join(tasks)
    (tmp_path / "s.toml").write_text(text)
    scenario = open_job(tmp_path / "s.toml", step=1e-3 / 3, events="mid").scenario
    assert scenario.period_ns == 333_333
    assert [t.stepping.period_ns for t in scenario.tasks] == [333_333, 999_999]
    assert {t.stepping.events for t in scenario.tasks} == {"mid"}
