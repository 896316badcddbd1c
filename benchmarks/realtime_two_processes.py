"""Plant and controller of the hydraulic axis as two processes, over UDP and over shared memory, at 1 kHz.

Both run in real time, each on a core of its own; what each received is recorded.  Afterwards the stepper is fed
off-line with the recorded inputs: the plant's states must come out the same to the bit.

    python benchmarks/realtime_two_processes.py [--seconds 60]
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from kilohertz.driver import build, load
from kilohertz.realtime import Device, Report, Scenario, plain_scenario, start
from kilohertz.simulate.stepper import Stepper, Stepping
from tables import machine

AXIS = "Kilohertz.Examples.HydraulicAxis"
SENSORS = ("x", "p_a", "p_b")
LINKS = {
    "udp": ({"local": ":47101", "remote": ":47102"}, {"local": ":47102", "remote": ":47101"}),
    "shm": ({"segment": "/khz-axis-link"}, {"segment": "/khz-axis-link", "peer": "true"}),
}
SOLVER = "ros34pw2"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("links", nargs="*", default=list(LINKS), help="udp, shm")
    arguments = parser.parse_args()
    print(machine())
    for link in arguments.links:
        with tempfile.TemporaryDirectory() as folder:
            plant, controller = _run(link, Path(folder), arguments.seconds)
            _show(link, plant, controller)
            _replay(plant)


def _scenarios(link: str, seconds: float) -> tuple[Scenario, Scenario]:
    ours, theirs = LINKS[link]
    out = []
    for name, model, settings, receive, send, cpu in (
        ("axis-plant", "Plant", ours, ("u",), SENSORS, 0),
        ("axis-controller", "Controller", theirs, SENSORS, ("u",), 1),
    ):
        plain = plain_scenario(
            f"{AXIS}.{model}", solver=SOLVER if model == "Plant" else "rk4", duration=seconds, name=name
        )
        into = tuple({"signal": s, "default": _default(s)} for s in receive)
        device = Device(link, link, settings, into, tuple({"signal": s} for s in send))
        # half a period apart: they take turns, and no message is overtaken by the next
        turn = replace(plain.realtime, cpu=cpu, phase_ns=cpu * plain.period_ns // 2)
        out.append(replace(plain, devices=(device,), realtime=turn))
    return out[0], out[1]


def _default(signal: str) -> str:
    return {"x": "0.25", "p_a": "59.712625e5", "p_b": "89.144465e5"}.get(signal, "0")


def _run(link: str, folder: Path, seconds: float) -> tuple[Report, Report]:
    plant, controller = _scenarios(link, seconds)
    built = [build(s, folder=folder / s.name) for s in (plant, controller)]
    running = [start(b) for b in built]
    reports = [r.wait() for r in running]
    return reports[0], reports[1]


def _show(link: str, plant: Report, controller: Report) -> None:
    for report in (plant, controller):
        device, c = report.data["devices"][0], report.counts
        print(
            f"{link} {report.name}: {c['steps']} steps, missed {c['missed']} ({c['overruns']} overruns, "
            f"{c['late_wakeups']} late, {c['knock_on']} knock-on), received {device['received']}, "
            f"missing {device['missing']}, sent {device['sent']}; exchange "
            f"{report.microseconds('device', 'p50'):.1f} us (p50), "
            f"{report.microseconds('device', 'p99'):.1f} us (p99); steal {100 * report.data['steal']:.2f} %"
        )


def _replay(plant: Report) -> None:
    """The recorded inputs once more, off-line."""
    recorded = plant.result
    program = load(f"{AXIS}.Plant").compile()
    stepper = Stepper(program, Stepping(SOLVER, plant.data["period_ns"]))
    stepper.start(0.0)
    variables = program.step.variables
    names = [n for n in recorded.names if n in variables and n.startswith(("mass.", "cylinder.", "x", "p_a", "p_b"))]
    same = True
    for row in range(1, len(recorded.time)):
        stepper.instance.write(variables["u"], float(recorded["u"][row]))
        stepper.step()
        if row % 97 == 0 or row + 1 == len(recorded.time):
            same &= all(stepper.instance.read(variables[n]) == recorded[n][row] for n in names)
    far = float(np.max(recorded["u"]) - np.min(recorded["u"]))
    verdict = "the same bits" if same else "DIFFERENT"
    print(f"  replayed off-line: {verdict} in {len(names)} signals; the command moved by {far:.2f} V")


if __name__ == "__main__":
    main()
