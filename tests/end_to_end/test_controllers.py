"""Plant and controller as two processes: `khz run` and the examples, over UDP and shared memory."""

from __future__ import annotations

import csv
import json
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kilohertz.devices import include_directory
from kilohertz.toolchain import STRICT, Source, Unit, build_executable

EXAMPLES = Path(__file__).parents[2] / "examples"


def free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


@contextmanager
def started(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def run_command(folder: Path, scenario: str) -> list[str]:
    path = (
        folder / f"{folder.name}.toml"
    )  # the rig is called after its file: others may run an example at the same time
    path.write_text(scenario)
    report = ["-o", str(folder / "run.csv"), "--json", str(folder / "report.json")]
    return [sys.executable, "-m", "kilohertz", "run", str(path), "--no-check", *report]


def results(folder: Path) -> tuple[dict[str, list[float]], dict[str, int]]:
    """Columns of the recording, counters of the device."""
    with open(folder / "run.csv", newline="") as file:
        names, *rows = list(csv.reader(file))
    columns = {n: [float(row[i]) for row in rows] for i, n in enumerate(names)}
    return columns, json.loads((folder / "report.json").read_text())["devices"][0]


def scenario_of(example: str, duration: str, **texts: str) -> str:
    """An example's scenario with its own addresses."""
    text = (EXAMPLES / example / "scenario.toml").read_text()
    text = text.replace('"5s"', f'"{duration}"')
    text = text.replace("../controller_python/model.mo", "model.mo")
    text = text.replace("model.mo", str(EXAMPLES / "controller_python" / "model.mo"))
    for old, new in texts.items():
        text = text.replace({"local": ":5000", "remote": ":5001", "segment": "/khz"}[old], new)
    return text


def test_the_python_example_over_udp(tmp_path: Path) -> None:
    task, own = free_port(), free_port()
    script = str(EXAMPLES / "controller_python" / "controller.py")
    controller = [sys.executable, script, f"udp://127.0.0.1:{task}", "--local", f"127.0.0.1:{own}"]
    scenario = scenario_of("controller_python", "2s", local=f":{task}", remote=f":{own}")
    with started(controller) as peer, started(run_command(tmp_path, scenario)) as plant:
        _, said = plant.communicate(timeout=120)
        assert plant.returncode == 0, said
        out, _ = peer.communicate(timeout=60)
        assert out.startswith("received ")
    columns, device = results(tmp_path)
    assert abs(columns["position"][-1] - 0.5) < 0.02
    assert device["sent"] == 2000 and device["received"] > 0 and device["malformed"] == 0


def test_a_car_is_steered_over_udp(tmp_path: Path) -> None:
    """Another process brings it to the lane on the left; where it is late, the car still gets there."""
    task, own = free_port(), free_port()
    hands = [sys.executable, str(EXAMPLES / "car" / "hands.py"), f"udp://127.0.0.1:{task}", "--local"]
    scenario = (EXAMPLES / "car" / "steered.toml").read_text().replace(":5020", f":{task}").replace(":5021", f":{own}")
    scenario = scenario.replace('on_loss = "safe"', 'on_loss = "hold"')
    with started([*hands, f"127.0.0.1:{own}"]) as peer, started(run_command(tmp_path, scenario)) as car:
        _, said = car.communicate(timeout=240)
        assert car.returncode == 0, said
        out, _ = peer.communicate(timeout=60)
        assert out.startswith("received ")
    columns, device = results(tmp_path)
    assert max(columns["hand_wheel"]) > 0.1
    assert max(columns["car.chassis.y"]) > 1.0
    assert device["sent"] == 5000 and device["received"] > 0 and device["malformed"] == 0


def test_the_c_example_over_shared_memory(tmp_path: Path) -> None:
    segment = f"/khz-test-{uuid.uuid4().hex[:12]}"
    source = Source("controller.c", (EXAMPLES / "controller_c" / "controller.c").read_text())
    unit = Unit((source,), (), (include_directory(),), (*STRICT, "-D_GNU_SOURCE"))
    controller = [str(build_executable([unit], ("-lrt",))), f"shm://{segment}"]
    with (
        started(controller),
        started(run_command(tmp_path, scenario_of("controller_c", "2s", segment=segment))) as plant,
    ):
        _, said = plant.communicate(timeout=120)
        assert plant.returncode == 0, said
    columns, device = results(tmp_path)
    assert abs(columns["position"][-1] - 0.5) < 0.02
    assert device["sent"] == 2000 and device["received"] > 0
    assert not Path(f"/dev/shm{segment}").exists()


CONTROLLER = """
import sys
from kilohertz.devices import connect

address, local, target = sys.argv[1:]
with connect(address, receive=2, send=1, local=local, timeout=60.0) as task:
    for message in task:
        position, velocity = message.values
        task.send([100.0 * (float(target) - position) - 20.0 * velocity])
        if task.n_received == 500:
            print("here", flush=True)
"""


def test_a_controller_that_is_killed_and_started_again(tmp_path: Path) -> None:
    """Safe force while nobody is there; the second controller takes over and ends the move."""
    task, own = free_port(), free_port()
    controller = [sys.executable, "-c", CONTROLLER, f"udp://127.0.0.1:{task}", f"127.0.0.1:{own}"]
    scenario = scenario_of("controller_python", "7s", local=f":{task}", remote=f":{own}")
    with started(run_command(tmp_path, scenario.replace("safe = 0.0", "safe = -7.0"))) as plant:
        with started([*controller, "0.2"]) as first:
            assert first.stdout is not None and first.stdout.readline() == "here\n"
        time.sleep(0.5)  # nobody
        with started([*controller, "0.5"]):
            _, said = plant.communicate(timeout=120)
        assert plant.returncode == 0, said
    columns, device = results(tmp_path)
    assert device["timeouts"] >= 1 and device["links"] == 2
    assert columns["force"].count(-7.0) > 100
    assert abs(columns["position"][-1] - 0.5) < 0.02


@pytest.mark.parametrize("example", ["controller_python", "controller_c"])
def test_the_readme_names_what_is_there(example: str) -> None:
    text = (EXAMPLES / example / "README.md").read_text()
    for word in text.replace("`", " ").split():
        if word.startswith("examples/"):
            assert (EXAMPLES.parent / word.rstrip(".,;")).exists(), word


def test_a_lost_link_stops_the_task_where_the_policy_says_so(tmp_path: Path) -> None:
    scenario = scenario_of("controller_python", "60s", local=f":{free_port()}", remote=f":{free_port()}")
    with started(run_command(tmp_path, scenario.replace('"safe"', '"stop"'))) as plant:
        out, _ = plant.communicate(timeout=120)
    assert plant.returncode == 1 and "a link was lost" in out
    columns, device = results(tmp_path)
    assert device["timeouts"] == 1 and device["received"] == 0 and len(columns["time"]) < 1000
