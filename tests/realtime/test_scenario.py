"""scenario.toml: what is read, and what is said about mistakes, with the line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from kilohertz.base import ModelError, SourceMap, render
from kilohertz.realtime import Built, Connection, Scenario, Task, read_scenario
from kilohertz.solvers import StepSettings

Build = Callable[[Scenario], Built]

WHOLE = """
name = "pair"
library = ["lib"]
solver = "rk4"
step = "1ms"
duration = "2s"
time_scale = 0.5
exchange = "sequential"

[[task]]
name = "plant"
model = "Plant"
set = { "resistor.R" = 10, on = true }

[[task]]
name = "controller"
model = "Controller"
step = "4ms"
solver = "euler"
events = "exact"
events_per_step = 2

[[connection]]
from = "controller.y"
to = "plant.u"
extrapolate = "linear"

[realtime]
overrun = "safe"
phase = "0.5ms"
recover = 100
cpu = 1

[record]
signals = ["plant.*"]
from = "plant.v > 0.5"
before = 20

[[device]]
driver = "udp"
local = ":5000"
timeout = "20ms"
[[device.send]]
signal = "plant.v"
gain = 2.0
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "scenario.toml"
    path.write_text(text)
    return path


def test_a_whole_scenario(tmp_path: Path) -> None:
    s = read_scenario(write(tmp_path, WHOLE))
    assert (s.name, s.period_ns, s.cycles, s.scale) == ("pair", 1_000_000, 2000, Fraction(1, 2))
    plant, controller = s.tasks
    assert (plant.every, plant.stepping.solver, dict(plant.settings)) == (1, "rk4", {"resistor.R": 10.0, "on": 1.0})
    assert (controller.every, controller.stepping.solver) == (4, "euler")
    assert (controller.stepping.events, controller.stepping.events_per_step) == ("exact", 2)
    assert (s.realtime.policy, s.realtime.recover, s.realtime.cpu) == ("safe", 100, 1)
    assert s.realtime.phase_ns == 500_000 and read_scenario(write(tmp_path, "model = 'A'")).realtime.phase_ns == -1
    assert s.recording.begin is not None
    assert (s.recording.begin.signal, s.recording.begin.operator, s.recording.begin.value) == ("plant.v", ">", 0.5)
    assert s.devices[0].settings == {"local": ":5000", "timeout": "0.02"}
    assert s.devices[0].send == ({"signal": "plant.v", "gain": "2.0"},)
    assert s.libraries == (str(tmp_path / "lib"),)


@pytest.mark.parametrize(
    ("model", "found"), [("a.mo", "{}/a.mo"), ("b/a.mo:P.C", "{}/b/a.mo:P.C"), ("P.a", "P.a"), ("/x/a.mo", "/x/a.mo")]
)
def test_files_are_beside_the_scenario(tmp_path: Path, model: str, found: str) -> None:
    s = read_scenario(write(tmp_path, f"model = '{model}'"))
    assert s.tasks[0].model == found.format(tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("model = 'A'\nsteps = '1ms'", "2:1: error[R741]: there is no setting `steps` here; did you mean `step`"),
        ("model = 'A'\n\nstep = '1 sec'", "3:1: error[R723]: `step` is '1 sec', but must be a time from"),
        ("[[model]]\nclass = 'A'", "1:3: error[R742]: `model` is a list of tables, but must be a text in quotes"),
        ("model = 'A'\n[realtime]\noverrun = 'skp'", "3:1: error[R742]: `overrun` is `skp`, but must be one of"),
        ("step = 0.001", "error[R743]: `model` is missing"),
        ("model = 'A'\n[[device]]\nreceive = ['u']", "must be a list of tables: [[device.receive]], or receive = [{"),
        (
            "model = 'A'\nsolver = 'rk5'",
            "2:1: error[R721]: `solver` is `rk5`, but must be one of auto,",
        ),
        ("model = 'A'\n[record]\nfrom = 'x = 3'", "3:1: error[R742]: `from` is `x = 3`, but must be a condition"),
        ("model = [", "error[R740]: not a TOML file"),
        ("[[task]]\nname='a'\nmodel='A'\n[[task]]\nname='b'\nmodel='B'\nstep='1.5ms'", "7:1: error[R742]: `step` of"),
        ("model = 'A'\n[[device]]\nport = 3", "2:3: error[R743]: `driver` is missing in [device]"),
        ("model = 'A'\n[[device]]\ndriver = 'upd'", "3:1: error[R742]: `driver` will not do: there is no driver"),
        ("model = 'A'\n[[device]]\ndriver = 'udp'\nlokal = ':1'", "4:1: error[R741]: `lokal` is unknown; did you mean"),
        (
            "model = 'A'\n[[device]]\ndriver = 'udp'\ntimeout = '3 x'",
            "4:1: error[R742]: `timeout` will not do: a number",
        ),
        (
            "model = 'A'\n[[device]]\ndriver = 'udp'\n[[device.send]]\nsignal = 'x'\nbits = 40",
            "6:1: error[R742]: `bits` will not do: must be between 0 and 32",
        ),
        (
            "[[task]]\nname='a'\nmodel='A'\nthread='plnt'\n[[thread]]\nname='plant'",
            "4:1: error[R742]: there is no thread `plnt`; did you mean `plant`?",
        ),
        (
            "[[task]]\nname='a'\nmodel='A'\n[[thread]]\nname='plant'",
            "5:1: error[R742]: no task runs in thread `plant`",
        ),
        ("model='A'\n[[thread]]\nname='main'\n[[thread]]\nname='main'", "5:1: error[R742]: `name` `main` is taken by"),
        ("model='A'\n[[thread]]\nname='main'\ncore=1", "4:1: error[R741]: there is no setting `core` here"),
        ("model='A'\n[[thread]]\nname='main'\ncpu=-2", "4:1: error[R742]: `cpu` is -2, but must be an integer from"),
        ("model='A'\n[[thread]]\nname='main'\noverrun='no'", "4:1: error[R742]: `overrun` is `no`, but must be one"),
        ("model='A'\n[[thread]]\ncpu=1", "2:3: error[R743]: `name` is missing in [thread]"),
        ("model='A'\n[fault]\nthread='b'", "3:1: error[R742]: `thread` is `b`, which is no thread"),
        (
            "[[task]]\nname='a'\nmodel='A'\nthread='t'\nstep='2ms'\n"
            "[[task]]\nname='b'\nmodel='A'\nthread='t'\nstep='3ms'\n"
            "[[task]]\nname='c'\nmodel='A'\nstep='1ms'\n[[thread]]\nname='t'",
            "10:1: error[R742]: `step` of task `b` is 3000000 ns, no multiple of the shortest in its",
        ),
        ("model = 'A'\n[[stimulus]]\nfile = 'no.csv'", "3:1: error[R701]: `file` names `no.csv`, which is not there"),
    ],
)
def test_a_mistake_is_said_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ModelError) as caught:
        read_scenario(path)
    shown = "\n".join(render(d, SourceMap()) for d in caught.value.diagnostics)
    assert said in shown.replace(str(path) + ":", "")


def test_a_step_that_is_no_multiple_is_said_once(tmp_path: Path) -> None:
    tasks = "[[task]]\nname='a'\nmodel='A'\nstep='2ms'\n[[task]]\nname='b'\nmodel='A'\nstep='3ms'\n"
    with pytest.raises(ModelError) as caught:
        read_scenario(write(tmp_path, tasks))
    (told,) = caught.value.diagnostics
    assert told.message == "`step` of task `b` is 3000000 ns, no multiple of the shortest, 2000000 ns"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[set]\n'resistor.r' = 3", "2:1: error[R744]: `resistor.r` is not there"),
        ("[inputs]\n'resistor.r' = 3", "2:1: error[R744]: `resistor.r` is not there"),
        ("[set]\n'resistor.r' = 3", "did you mean `resistor.R`?"),
        ("[set]\n'capacitor.v' = 3", "`capacitor.v` cannot be set"),
        ("[record]\nsignals = ['capacitr.v']", "2:1: error[R744]: nothing to record is called `capacitr.v`"),
        (
            "[[device]]\ndriver = 'loopback'\n[[device.receive]]\nsignal = 'capacitor.v'",
            "4:1: error[R744]: `capacitor.v` is not an input",
        ),
        ("[[connection]]\nfrom = 'capacitor.w'\nto = 'u'", "2:1: error[R744]: there is no signal `capacitor.w`"),
    ],
)
def test_a_wrong_signal_is_said_with_its_line(make: Build, tmp_path: Path, text: str, said: str) -> None:
    path = write(tmp_path, text + "\n")
    whole = write(tmp_path, "model = 'Kilohertz.Examples.RCCircuit'\n" + path.read_text())
    s = read_scenario(whole)
    with pytest.raises(ModelError) as caught:
        make(replace(s, tasks=tuple(replace(t, stepping=t.stepping.but(solver="rk4")) for t in s.tasks)))
    shown = "\n".join(render(d, SourceMap()) for d in caught.value.diagnostics)
    for line in range(2, 9):  # the model stands in a line of its own before the text
        shown = shown.replace(f"{whole}:{line}:", f"{line - 1}:")
    assert said in shown


@pytest.mark.parametrize(("given", "found"), [("lines/a", "{folder}/lines/a"), ("/dev/ttyS0", "/dev/ttyS0")])
def test_the_line_of_a_device_is_beside_the_scenario(tmp_path: Path, given: str, found: str) -> None:
    path = tmp_path / "s.toml"
    path.write_text(f'model = "M"\n[[device]]\ndriver = "serial"\npath = "{given}"\n')
    assert read_scenario(path).devices[0].settings["path"] == found.format(folder=tmp_path)


def test_the_reference_page_names_every_setting() -> None:
    """Keys that the reader asks for are in the page; the example of the page can be read."""
    import re
    import tomllib

    root = Path(__file__).parents[2]
    page = (root / "docs" / "reference" / "scenario.md").read_text(encoding="utf-8")
    rooms = root / "src" / "kilohertz" / "realtime"
    source = "".join((rooms / f).read_text(encoding="utf-8") for f in ("scenario.py", "threads.py"))
    asked = set(
        re.findall(r'\.(?:text|needed_text|choice|flag|integer|real|seconds|texts|numbers|raw)\("(\w+)"', source)
    )
    asked |= set(re.findall(r'_trigger\(table, "(\w+)"', source)) - {"driver"}
    missing = [key for key in sorted(asked) if f"`{key}`" not in page and key not in ("driver", "signal")]
    assert missing == []
    example = page[page.index("```toml") + 8 : page.index("```\n\nTimes")]
    assert tomllib.loads(example)["name"] == "axis"


def test_the_example_of_the_page_is_read(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "scenario.md").read_text(encoding="utf-8")
    s = read_scenario(write(tmp_path, page[page.index("```toml") + 8 : page.index("```\n\nTimes")]))
    assert (s.name, s.realtime.policy, s.cycles) == ("axis", "skip", 2000)


def test_units_of_a_connection_that_do_not_agree_are_said(make: Callable[[Scenario], Built], lag: Scenario) -> None:
    tasks = tuple(Task(name, "Metres", StepSettings("rk4", 1e-3)) for name in ("a", "b"))
    for gain, source, clashes in ((1.0, "a.mm", True), (1e-3, "a.mm", False), (1.0, "a.y", False)):
        s = replace(lag, tasks=tasks, connections=(Connection(source, "b.u", gain),))
        said = [n for n in make(s).notes if "units do not agree" in n]
        assert bool(said) == clashes
        assert not said or "`a.mm` in mm drives `b.u` in m" in said[0]


def test_arrays_are_connected_element_by_element(make: Build, lag: Scenario) -> None:
    tasks = tuple(Task(name, "Rows", StepSettings("rk4", 1e-3)) for name in ("a", "b"))
    s = replace(lag, tasks=tasks, connections=(Connection("a.y", "b.u"), Connection("b.y[2,1]", "a.u[1,2]")))
    text = make(s).scenario_file.read_text(encoding="utf-8")
    assert "n_connections = 5" in text
    assert all(f"connection.1.{way}.signal = {name}" in text for way, name in (("from", "y[1,2]"), ("to", "u[1,2]")))
    with pytest.raises(ModelError, match=r"`a.y` has 4 elements, `b.u\[1,1\]` has 1 element: they cannot be connected"):
        make(replace(s, connections=(Connection("a.y", "b.u[1,1]"),)))
