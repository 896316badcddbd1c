"""Plant and controller of the hydraulic axis as two processes, over UDP and over shared memory, at 1 kHz.

Both run in real time, each on a core of its own; what each received is recorded.  Afterwards the stepper is fed
off-line with the recorded inputs: the plant's states must come out the same to the bit.

Every cycle that did not get exactly one new message is attributed to a late wake-up (or a stretched step) of the
plant, of the controller, or to none; and every late wake-up to the machine where a witness at the highest priority on
the same core (witness.py) was not woken during it either.

    python benchmarks/realtime_two_processes.py [--seconds 60] [udp] [shm]
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from kilohertz.driver import build, load
from kilohertz.realtime import Device, Recording, Report, Scenario, causes_of, plain_scenario, start
from kilohertz.simulate.stepper import Stepper
from kilohertz.solvers import StepSettings
from tables import machine
from witness import Cycles, Witness

AXIS = "Kilohertz.Examples.HydraulicAxis"
SENSORS = ("x", "p_a", "p_b")
LINKS = {
    "udp": ({"local": ":47101", "remote": ":47102"}, {"local": ":47102", "remote": ":47101"}),
    "shm": ({"segment": "/khz-axis-link"}, {"segment": "/khz-axis-link", "peer": "true"}),
}
SOLVER = "ros34pw2"
GRACE = 10  # steps, as in the scenario: what waited before the start is read in them
PHASE = 0.5  # of a period between the releases of the two


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("links", nargs="*", default=list(LINKS), help="udp, shm")
    arguments = parser.parse_args()
    print(machine())
    for link in arguments.links:
        with tempfile.TemporaryDirectory() as folder:
            plant, controller, witness = _run(link, Path(folder), arguments.seconds)
            _show(link, plant, controller)
            _attribute(plant, controller, witness)
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
        turn = replace(plain.realtime, cpu=cpu, phase_ns=round(cpu * plain.period_ns * PHASE))
        out.append(replace(plain, devices=(device,), realtime=turn, recording=Recording(times=True)))
    return out[0], out[1]


def _default(signal: str) -> str:
    return {"x": "0.25", "p_a": "59.712625e5", "p_b": "89.144465e5"}.get(signal, "0")


def _run(link: str, folder: Path, seconds: float) -> tuple[Report, Report, Witness]:
    plant, controller = _scenarios(link, seconds)
    built = [build(s, folder=folder / s.name) for s in (plant, controller)]
    with Witness((0, 1), folder) as witness:
        running = [start(b) for b in built]
        reports = [r.wait() for r in running]
    return reports[0], reports[1], witness


def _show(link: str, plant: Report, controller: Report) -> None:
    for report in (plant, controller):
        device, c = report.data["devices"][0], report.counts
        print(
            f"{link} {report.name}: {c['steps']} steps, missed {c['missed']} ({causes_of(c)}), "
            f"received {device['received']}, "
            f"missing {device['missing']}, overtaken {device['overtaken']}, quiet cycles {device['quiet']}, "
            f"sent {device['sent']}; exchange "
            f"{report.microseconds('device', 'p50'):.1f} us (p50), "
            f"{report.microseconds('device', 'p99'):.1f} us (p99); steal {100 * report.data['steal']:.2f} %"
        )


def _attribute(plant: Report, controller: Report, witness: Witness) -> None:
    """Who was late where a cycle did not get exactly one message, and whether the machine was."""
    both = (Cycles.of(plant), Cycles.of(controller))
    margin = plant.period * PHASE * 0.6  # what is later than this may meet the other at the wrong time
    for cpu, (report, own) in enumerate(zip((plant, controller), both, strict=True)):
        found = own.late(margin, report.period)
        seen = sum(witness.explains(cpu, since, until, margin) for _, since, until in found)
        times = f"{len(found)} times late by > {margin * 1e3:.2f} ms"
        print(f"  {report.name}: {times}, {seen} of them because of the machine (witness)")
        for step, since, until in found:
            if not witness.explains(cpu, since, until, margin):
                mine, whole = (1e3 * s for s in (until - since, witness.late(cpu, since, until)))
                print(f"    step {step}: {mine:.2f} ms late, the core may have been gone for {whole:.2f} ms of it")
    for report, own, other in ((plant, *both), (controller, *both[::-1])):
        wrong = _disturbed(own, other)
        by = {"itself": 0, "the other": 0, "both": 0, "NEITHER": 0}
        for i in wrong:
            ours = bool(np.any((own.done - own.release)[max(0, i - 1) : i + 1] > margin))
            late = other.done - other.release > margin
            theirs = bool(np.any(late & (other.release < own.woke[i]) & (other.done > own.woke[i - 1])))
            by[("both" if theirs else "itself") if ours else ("the other" if theirs else "NEITHER")] += 1
        words = ", ".join(f"{n} by {who}" for who, n in by.items() if n)
        print(f"  {report.name}: {len(wrong)} cycles without exactly one new message: {words or 'none'}")


def _disturbed(own: Cycles, other: Cycles) -> list[int]:
    """Cycles with no or several messages while both ran, after the start-up grace."""
    both = (own.release > other.done[0] + 2e-3) & (own.release < other.release[-1])
    return [int(i) for i in np.flatnonzero(both & (own.messages != 1)) if i >= GRACE]


def _replay(plant: Report) -> None:
    """The recorded inputs once more, off-line."""
    recorded = plant.result
    program = load(f"{AXIS}.Plant").compile()
    stepper = Stepper(program, StepSettings(SOLVER, plant.data["period_ns"] * 1e-9))
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
