"""Real time: scenarios, building and starting the periodic task, live values, recordings, reports.

For most uses `kilohertz.driver` (or `kilohertz` itself) has it in one call:

    import kilohertz
    report = kilohertz.run("scenario.toml")                          # or a Scenario, or the name of a model
    report = kilohertz.load("Kilohertz.Examples.RCCircuit").run(step=1e-3, solver="rk4", duration=2.0)
    print(report.as_text()); report.missed; report.microseconds("lateness", "p99"); report.result["capacitor.v"]

    built = kilohertz.build("scenario.toml", folder="out")           # executable, flat scenario, cost bound, C source
    running = kilohertz.realtime.start(built)                        # ends with us, unless keep = true
    with kilohertz.realtime.attach(built.name) as live: live.set("resistor.R", 50.0)
    running.stop(); report = running.wait()

This room knows no compiler: `build` takes models that the driver compiled.
"""

from kilohertz.realtime.executable import Built, ModelCode, build
from kilohertz.realtime.faults import Fault
from kilohertz.realtime.launch import Running, measure, start, trace_path
from kilohertz.realtime.live import Live, attach, running
from kilohertz.realtime.live_faults import LiveFault
from kilohertz.realtime.predict import Prediction, predict
from kilohertz.realtime.report import Report, causes_of
from kilohertz.realtime.scenario import (
    PROFILES,
    Connection,
    Device,
    RealTime,
    Recording,
    Scenario,
    Stimulus,
    Task,
    plain_scenario,
    read_outline,
    read_scenario,
    scenario_of_settings,
)
from kilohertz.realtime.threads import Placed, Thread, placed
from kilohertz.stimuli import SignalFault, Trigger

__all__ = [
    "PROFILES",
    "Built",
    "Connection",
    "Device",
    "Fault",
    "Live",
    "LiveFault",
    "ModelCode",
    "Placed",
    "Prediction",
    "RealTime",
    "Recording",
    "Report",
    "Running",
    "Scenario",
    "SignalFault",
    "Stimulus",
    "Task",
    "Thread",
    "Trigger",
    "attach",
    "build",
    "causes_of",
    "measure",
    "placed",
    "plain_scenario",
    "predict",
    "read_outline",
    "read_scenario",
    "running",
    "scenario_of_settings",
    "start",
    "trace_path",
]
