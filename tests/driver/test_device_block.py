"""`Kilohertz.Device` in a model: what it exchanges with the world, without a scenario file."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

import kilohertz
from kilohertz.base import ModelError
from kilohertz.driver.tasks import open_job

HEATER, RESONANCE = (f"Kilohertz.Examples.InRealTime.{name}" for name in ("Heater", "Resonance"))
MODEL = """
model M
  {block}
  input Real u(start=0);
  Real x(start=1, fixed=true);
equation
  der(x) = u - x;
end M;
"""


def written(folder: Path, block: str) -> str:
    path = folder / "M.mo"
    path.write_text(MODEL.replace("{block}", block), encoding="utf-8")
    return str(path)


def test_each_block_is_a_device_with_its_signals_channels_and_scaling() -> None:
    scenario = open_job(HEATER).scenario
    controller, logger = scenario.devices
    assert (controller.name, controller.driver) == ("controller", "shm")
    assert dict(controller.settings) == {"segment": "/khz_heater", "simulated": "true"}
    assert [dict(s) for s in controller.receive] == [
        {"signal": "power", "gain": "1", "min": "0", "max": "2000", "safe": "0"}
    ]
    assert [dict(s) for s in controller.send] == [{"signal": "T", "offset": "-273.15"}]
    assert (logger.driver, [s["signal"] for s in logger.send]) == ("udp", ["wall.Q", "outside.a.T"])
    assert (scenario.period_ns, scenario.duration, scenario.tasks[0].stepping.solver) == (10_000_000, 2, "rk4")


def test_a_device_needs_no_other_block(tmp_path: Path) -> None:
    scenario = open_job(
        written(tmp_path, 'Kilohertz.Device d(driver="modbus-server", receive={"u address=3:f32"});')
    ).scenario
    assert [d.name for d in scenario.devices] == ["d"]
    assert scenario.devices[0].receive[0]["address"] == "3:f32"
    assert scenario.period_ns == 1_000_000


def test_a_model_without_one_has_no_devices(tmp_path: Path) -> None:
    assert open_job(written(tmp_path, "")).scenario.devices == ()


@pytest.mark.parametrize(
    ("block", "code", "words"),
    [
        ('Kilohertz.Device d(settings={"local"});', "R742", "Device block `d`: `local` is not of the form key=value"),
        ('Kilohertz.Device d(receive={"u colour=red"});', "R741", "Device block `d`: `colour`"),
        ('Kilohertz.Device d(driver="pigeon");', "R742", "Device block `d`: `driver`"),
        ('Kilohertz.Device a, d(settings={"timeout=-1"});', "R742", "Device block `d`: `timeout`"),
    ],
)
def test_what_is_wrong_is_said_with_the_name_of_the_block(tmp_path: Path, block: str, code: str, words: str) -> None:
    with pytest.raises(ModelError) as caught:
        open_job(written(tmp_path, block))
    diagnostic = caught.value.diagnostics[0]
    assert (diagnostic.code, words in diagnostic.message) == (code, True), diagnostic.message


def test_a_signal_that_is_not_there_is_found_before_the_run(tmp_path: Path) -> None:
    job = open_job(written(tmp_path, 'Kilohertz.Device d(driver="shm", send={"nobody"});'))
    with pytest.raises(ModelError, match="nobody"):
        job.build(folder=tmp_path / "build")


def test_a_run_exchanges_what_the_blocks_say(tmp_path: Path) -> None:
    job = open_job(HEATER, duration=0.2)
    job = replace(job, scenario=replace(job.scenario, name=f"heater_{os.getpid()}"))
    report = job.run(folder=tmp_path, check=False)
    sent = {d["name"]: d["sent"] for d in report.data["devices"]}
    assert sent["controller"] > 10 and sent["logger"] > 10
    result = report.result  # the simulated peer sends back what it got
    assert result.final("power") == pytest.approx(result.final("T") - 273.15, abs=0.1)


def test_in_a_simulation_the_blocks_do_nothing() -> None:
    result = kilohertz.load(HEATER).simulate(stop=1)
    assert result["power"].max() == 0


SCENARIO = """
name = "heater_of_a_file"
duration = 1
{whole}
[[device]]
name = "{device}"
remote = ":5600"
"""


def test_a_scenario_file_has_what_the_blocks_of_its_model_say_and_goes_before_them(tmp_path: Path) -> None:
    path = tmp_path / "heater_of_a_file.toml"
    path.write_text(SCENARIO.format(whole=f'model = "{HEATER}"', device="logger"), encoding="utf-8")
    scenario = open_job(path).scenario
    assert (scenario.period_ns, scenario.duration, scenario.tasks[0].stepping.solver) == (10_000_000, 1, "rk4")
    logger, controller = scenario.devices  # those of the file first
    assert (dict(logger.settings), logger.driver) == ({"remote": ":5600"}, "udp")
    assert [s["signal"] for s in logger.send] == ["wall.Q", "outside.a.T"]
    assert (controller.name, scenario.realtime.priority) == ("controller", 0)


def test_devices_of_one_of_several_tasks_are_called_after_it(tmp_path: Path) -> None:
    path = tmp_path / "heaters_of_a_file.toml"
    tasks = "".join(f'[[task]]\nname = "{n}"\nmodel = "{m}"\n' for n, m in (("hot", HEATER), ("plain", RESONANCE)))
    path.write_text(SCENARIO.format(whole='solver = "euler"\n' + tasks, device="hot.logger"), encoding="utf-8")
    scenario = open_job(path).scenario
    assert [(t.stepping.solver, t.stepping.period_ns) for t in scenario.tasks] == [
        ("euler", 10_000_000),
        ("euler", 1_000_000),
    ]
    logger, controller = scenario.devices
    assert (logger.name, controller.name) == ("hot.logger", "hot.controller")
    assert [s["signal"] for s in (*logger.send, *controller.receive)] == ["hot.wall.Q", "hot.outside.a.T", "hot.power"]


def test_an_array_is_sent_element_by_element(tmp_path: Path) -> None:
    block = (
        'Real a[2] = {x, 2*x}; Kilohertz.Device d(driver="shm", settings={"segment=/khz_array"}, send={"a gain=3"});'
    )
    built = open_job(written(tmp_path, block)).build(folder=tmp_path / "build")
    text = built.scenario_file.read_text(encoding="utf-8")
    assert all(line in text for line in ("send.0.name = a[1]", "send.1.name = a[2]", "send.1.gain = 3", "n_send = 2"))
    block = 'Real a[2] = {x, 2*x}; Kilohertz.Device d(driver="modbus-server", send={"a address=1"});'
    with pytest.raises(ModelError, match="`address` is that of one signal"):
        open_job(written(tmp_path, block)).build(folder=tmp_path / "build")
