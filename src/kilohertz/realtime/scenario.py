"""A scenario: which models run at which rate, what drives them, where their outputs go, what follows a miss.

`read_scenario` takes a `scenario.toml`; `plain_scenario` makes one for a single model with defaults.  Every setting is
described in docs/reference/scenario.md.  Names of signals are checked later, against the compiled models (`flat.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from kilohertz import devices
from kilohertz.base import Dotted, ModelError, seconds
from kilohertz.building import MARCH
from kilohertz.realtime.faults import Fault, read_faults, read_trigger
from kilohertz.realtime.threads import Thread, check_threads, read_thread
from kilohertz.realtime.toml_table import Problems, Table, beside, completed, open_table
from kilohertz.results import endings, is_result
from kilohertz.runtime import constant, family, words
from kilohertz.solvers import SETTINGS, StepSettings
from kilohertz.solvers.settings import not_fixed
from kilohertz.stimuli import SignalFault, Trigger, formula_of

INTERPOLATIONS = words("KHZ_STIMULUS_")
POLICIES = tuple(family("KHZ_POLICY_"))
PROFILES = tuple(family("KHZ_PROFILE_"))
_NS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Task:
    """One model, stepped once in `every` base periods."""

    name: str
    model: str
    stepping: StepSettings = field(default_factory=StepSettings)
    every: int = 1
    settings: Mapping[str, float | str] = field(default_factory=dict)  # parameters and start values of inputs
    path: tuple[str | int, ...] = ()  # where it stands in the TOML
    thread: str = ""  # the real-time thread that steps it; "": main


@dataclass(frozen=True, slots=True)
class Connection:
    """`to` := gain*`from` + offset, before the step of the task that `to` belongs to."""

    source: str
    target: str
    gain: float = 1.0
    offset: float = 0.0
    extrapolate: str = "hold"
    path: tuple[str | int, ...] = ()


@dataclass(frozen=True, slots=True)
class Stimulus:
    """Inputs from the columns of a result file, or from formulas of time."""

    file: Path | None = None
    interpolation: str = "hold"
    signals: Mapping[str, str] = field(default_factory=dict)  # input: column; empty: every column that names an input
    path: tuple[str | int, ...] = ()
    formulas: Mapping[str, str] = field(default_factory=dict)  # input: formula; then there is no file


@dataclass(frozen=True, slots=True)
class Device:
    """A device and the signals mapped to it; all settings as texts for the driver."""

    name: str
    driver: str
    settings: Mapping[str, str] = field(default_factory=dict)
    receive: tuple[Mapping[str, str], ...] = ()
    send: tuple[Mapping[str, str], ...] = ()
    path: tuple[str | int, ...] = ()


@dataclass(frozen=True, slots=True)
class Recording:
    """What is recorded, and when."""

    file: str = ""  # a result file; "": the raw recording alone
    signals: tuple[str, ...] = ("all",)
    every: int = 1
    begin: Trigger | None = None
    end: Trigger | None = None
    before: int = 0
    ring: int = 0  # rows; 0: two seconds, at least 4096
    enabled: bool = True
    times: bool = False  # lateness, compute time and slack of the cycle before, with every row


@dataclass(frozen=True, slots=True)
class RealTime:
    """What is asked of the operating system, and what follows from a miss."""

    priority: int = 80
    cpu: int = -1
    lock_memory: bool = True
    cpu_latency_us: int = 0
    flush_denormals: bool = True
    spin_ns: int = 0
    patience_ns: int = 0  # with late messages of other threads
    phase_ns: int = -1  # of the releases between multiples of the period; -1: as it comes
    grace: int = 100
    policy: str = "catch_up"
    recover: int = 0
    stop_on_failure: bool = False
    isolate: bool = False  # threads that step tasks compute and wait; no other system calls
    watchdog_ns: int = _NS
    watchdog_stops: bool = False
    endless_ns: int = 10 * _NS
    loss_stops: bool = True  # a process that is gone ends the others
    heartbeat: str = ""


@dataclass(frozen=True, slots=True)
class Scenario:
    """Everything a real-time run is told."""

    name: str
    tasks: tuple[Task, ...]
    period_ns: int
    cycles: int = 0  # 0: until stopped
    start: float = 0.0
    scale: Fraction | None = Fraction(1)  # of model time to wall time; None: as fast as possible
    libraries: tuple[str, ...] = ()
    exchange: str = "parallel"
    iterate: int = 0  # turns at the end of a period in which values that need each other settle
    connections: tuple[Connection, ...] = ()
    stimuli: tuple[Stimulus, ...] = ()
    devices: tuple[Device, ...] = ()
    recording: Recording = Recording()
    realtime: RealTime = RealTime()
    fault: Fault = field(default_factory=Fault)  # a slow step
    faults: tuple[SignalFault, ...] = ()
    threads: tuple[Thread, ...] = ()
    keep: bool = False  # it goes on when whoever started it is gone
    live: bool = True
    live_every: int = 10
    profile: str = ""  # off, always, burst: built with probes; "": without
    march: str = "portable"  # a key of MARCH: for which processors it is compiled
    file: str = ""
    text: str = ""

    def problems(self) -> Problems:
        """For what is found wrong later, with the compiled models at hand."""
        return Problems(self.file, self.text)

    @property
    def duration(self) -> float:
        """Seconds of model time; infinity until stopped."""
        return self.cycles * self.period_ns / _NS if self.cycles else float("inf")

    def lasting(self, duration: float | None) -> Scenario:
        """The same for another duration."""
        if duration is None:
            return self
        return replace(self, cycles=max(1, round(duration * _NS / self.period_ns)))


def _title(model: str) -> str:
    """Of `folder/file.mo`, `file.mo:Package.Class`, `Package.Class` or `file.fmu`: the last part without folder and
    ending."""
    fmu, ending, _ = model.partition(".fmu")
    if ending:
        return Path(fmu).name
    file, _, name = model.rpartition(":")
    return Dotted.read(name if file else Path(name).name.removesuffix(".mo")).last


def plain_scenario(
    model: str,
    *,
    duration: float | None = None,
    name: str = "",
    libraries: tuple[str, ...] = (),
    settings: Mapping[str, float | str] | None = None,
    record: str = "",
    **stepping: Any,
) -> Scenario:
    """One model with every default: 1 kHz, all signals recorded, until stopped where no duration is given."""
    task = Task("model", model, StepSettings.of(**stepping), 1, dict(settings or {}))
    title = name or _title(model)
    scenario = Scenario(title, (task,), task.stepping.period_ns, libraries=libraries, recording=Recording(record))
    return scenario.lasting(duration)


def read_scenario(path: str | Path, brought: Mapping[str, Any] | None = None) -> Scenario:
    """A scenario from its TOML file; all that is wrong with it in one ModelError.

    `brought`: what stands for all that the file does not say, as tables of such a file.
    """
    top = open_table(path)
    if brought:
        said = top.data.keys() - {"name"}  # at the top of the file, for all tasks
        tasks = [{k: v for k, v in task.items() if k not in said} for task in brought.get("task", ())]
        top = Table(top.problems, (), completed(top.data, {**brought, **({"task": tasks} if tasks else {})}))
    scenario = _scenario(top, Path(path))
    top.problems.stop_if_any()
    return scenario


@dataclass(frozen=True, slots=True)
class Outline:
    """The models of a scenario file, and where libraries are looked for."""

    models: tuple[tuple[str, str], ...]  # task and model; the task is "" for a model at the top of the file
    libraries: tuple[str, ...]


def read_outline(path: str | Path) -> Outline:
    """What can be told before anything is checked."""
    top, file = open_table(path), Path(path)
    tables = [t for t in top.tables("task") if t.has("name") and t.has("model")]
    models = [(t.text("name"), read_model(t)) for t in tables] or ([("", read_model(top))] if top.has("model") else [])
    return Outline(tuple(models), tuple(str(beside(file, p)) for p in top.texts("library")))


def scenario_of_settings(settings: Mapping[str, Any]) -> Scenario:
    """A scenario from settings that do not come from a file, checked as if they did."""
    problems = Problems("", "")
    scenario = _scenario(Table(problems, (), settings), Path())
    problems.stop_if_any()
    return scenario


def nanoseconds(value: float) -> int:
    """A time as whole nanoseconds."""
    return round(value * _NS)


# ---------------------------------------------------------------------------------------------------------- sections


def _scenario(top: Table, file: Path) -> Scenario:
    name = top.text("name", file.stem)
    _check_name(top, name)
    listed = _tasks(top)
    period = min((t.stepping.period_ns for t in listed), default=StepSettings().period_ns)
    tasks = _with_rates(top, listed, period)
    threads = tuple(read_thread(t, POLICIES) for t in top.tables("thread"))
    check_threads(top.problems, threads, tasks)
    duration = top.seconds("duration", None, positive=True)
    live = top.table("live")
    slow, faults = read_faults(top, [t.name for t in threads])
    scenario = Scenario(
        name,
        tasks,
        period,
        cycles=max(1, round(duration * _NS / period)) if duration is not None else 0,
        start=top.real("start", 0.0),
        scale=_scale(top),
        libraries=tuple(str(beside(file, p)) for p in top.texts("library")),
        exchange=top.choice("exchange", ("parallel", "sequential"), "parallel"),
        iterate=top.integer("iterate", 0, 0, constant("KHZ_MOST_TURNS")),
        connections=tuple(_connection(t) for t in top.tables("connection")),
        stimuli=tuple(_stimulus(t, file) for t in top.tables("stimulus")),
        devices=tuple(_device(t, file) for t in top.tables("device")),
        recording=_recording(top.table("record"), file),
        realtime=_realtime(top.table("realtime")),
        fault=slow,
        faults=faults,
        threads=threads,
        keep=top.flag("keep", False),
        live=live.flag("enabled", True),
        live_every=live.integer("every", 10, 1),
        profile=top.choice("profile", PROFILES, "off") if top.has("profile") else "",
        march=top.choice("march", tuple(MARCH), "portable"),
        file=str(file),
        text=top.problems.text,
    )
    live.close()
    top.close()
    return scenario


def _check_name(top: Table, name: str) -> None:
    if not name or len(name) > 48 or not all(c.isalnum() or c in "-_." for c in name):
        top.wrong("name", f"is `{name}`, but must be 1 to 48 letters, digits, `-`, `_` or `.`")


def _tasks(top: Table) -> list[Task]:
    tables = top.tables("task")
    if tables and top.has("model"):
        top.wrong("model", "stands beside [[task]]: one model, or tasks with a model each")
    common, names = read_stepping(top), set()
    if not tables:
        return [_task(top, "model", common)]
    tasks = []
    for table in tables:
        name = table.needed_text("name")
        if name in names:
            table.wrong("name", f"`{name}` is taken by another task")
        names.add(name)
        tasks.append(_task(table, name, read_stepping(table).over(common)))
        table.close()
    top.raw("model")
    return tasks


def read_stepping(table: Table) -> StepSettings:
    """The settings of a step that stand in a table; what is wrong with one is told with its line."""
    values: dict[str, Any] = {}
    for name, setting in SETTINGS.items():
        value = setting.understood(table.flattened(name) if setting.kind == "counts" else table.raw(name))
        problem = setting.problem(value) if table.has(name) else None
        if problem is not None:
            table.problems.add(problem.code, problem.message, (*table.path, name))
        elif table.has(name):
            values[name] = value
    return StepSettings.of(**values)


def read_model(table: Table) -> str:
    """A class by its name, or a file beside the scenario (`file.mo`, `file.mo:Class`, `file.fmu`)."""
    text = table.needed_text("model")
    file, colon, name = text.partition(":")
    if not file.endswith((".mo", ".fmu")) and ".fmu@" not in file:
        return text
    return f"{beside(Path(table.problems.file), file)}{colon}{name}"


def _task(table: Table, name: str, stepping: StepSettings) -> Task:
    if not stepping.is_fixed:
        problem = not_fixed(stepping.solver)
        table.problems.add(problem.code, problem.message, (*table.path, "solver"))
    settings = {**table.quantities("set"), **table.quantities("inputs")}
    thread = table.text("thread") if table.path else ""
    return Task(name, read_model(table), stepping, 1, settings, table.path, thread)


def _with_rates(top: Table, tasks: list[Task], period: int) -> tuple[Task, ...]:
    out = []
    for task in tasks:
        step = task.stepping.period_ns
        if step % period:
            message = f"`step` of task `{task.name}` is {step} ns, no multiple of the shortest, {period} ns"
            top.problems.add("R742", message, (*task.path, "step"))
        out.append(replace(task, every=max(1, step // period)))
    return tuple(out)


def _scale(top: Table) -> Fraction | None:
    value = top.raw("time_scale")
    if value is None:
        return Fraction(1)
    if value == "max":
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= 1e6:
        top.wrong("time_scale", f'is {value!r}, but must be a number above zero (2: twice as fast), or "max"')
        return Fraction(1)
    return Fraction(value).limit_denominator(1000)


def _connection(table: Table) -> Connection:
    out = Connection(
        table.needed_text("from"),
        table.needed_text("to"),
        table.real("gain", 1.0),
        table.real("offset", 0.0),
        table.choice("extrapolate", ("hold", "linear"), "hold"),
        table.path,
    )
    table.close()
    return out


def _stimulus(table: Table, file: Path) -> Stimulus:
    if table.has("formula"):
        out = Stimulus(path=table.path, formulas=read_formulas(table))
        for key in ("file", "interpolation", "signals"):
            if table.has(key):
                table.raw(key)
                table.wrong(key, "is for a file, and this stimulus has formulas")
        table.close()
        return out
    name = table.needed_text("file")
    signals = table.raw("signals")
    mapping: dict[str, str] = {}
    if isinstance(signals, list) and all(isinstance(s, str) for s in signals):
        mapping = {s: s for s in signals}
    elif isinstance(signals, dict) and all(isinstance(s, str) for s in signals.values()):
        mapping = dict(signals)
    elif signals is not None:
        table.wrong("signals", 'must be a list of inputs, or a table `input = "column"`')
    path = beside(file, name)
    if name and not is_result(name):
        table.wrong("file", f"is `{name}`, but must end with {endings()}")
    elif name and not path.is_file():
        table.wrong("file", f"names `{name}`, which is not there", "R701")
    out = Stimulus(path, table.choice("interpolation", INTERPOLATIONS, "hold"), mapping, table.path)
    table.close()
    return out


def read_formulas(table: Table) -> dict[str, str]:
    """Each is understood once here, so that what is wrong with it has its line."""
    formulas = table.flattened("formula")
    if not isinstance(formulas, dict) or not formulas:
        table.wrong("formula", 'must be a table `input = "formula"`')
        return {}
    for name, text in formulas.items():
        try:
            formula_of(text)
        except ModelError as error:
            for d in error.diagnostics:
                table.problems.add(d.code, d.message, (*table.path, "formula", name))
    return {name: str(text) for name, text in formulas.items()}


def _device(table: Table, file: Path) -> Device:
    driver = table.needed_text("driver")
    name = table.text("name", driver)
    receive = tuple(_mapped(t, driver) for t in table.tables("receive"))
    send = tuple(_mapped(t, driver) for t in table.tables("send"))
    settings = table.rest()
    for key in sorted(devices.durations(driver) & settings.keys()):
        with suppress(ValueError):
            settings[key] = seconds(settings[key])  # where it is none, the check says so
    if driver:
        _complain(table, devices.check(driver, settings))
    if isinstance(path := settings.get("path"), str) and path:
        settings["path"] = str(beside(file, path).absolute())
    return Device(name, driver, {k: _as_text(v) for k, v in settings.items()}, receive, send, table.path)


def _mapped(table: Table, driver: str) -> dict[str, str]:
    """One signal of a device: `signal`, and whatever ports and driver read."""
    signal = table.needed_text("signal")
    settings = table.rest()
    _complain(table, devices.check_signal(driver, settings))
    return {"signal": signal, **{k: _as_text(v) for k, v in settings.items()}}


def _complain(table: Table, problems: Iterable[devices.SettingProblem]) -> None:
    for p in problems:
        what = f"is {p.message}" if p.is_unknown else f"will not do: {p.message}"
        table.wrong(p.key, what, "R741" if p.is_unknown else "R742")


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)


def _recording(table: Table, file: Path) -> Recording:
    name = table.text("file")
    if name and not is_result(name):
        table.wrong("file", f"is `{name}`, but must end with {endings(to_write=True)}")
    out = Recording(
        str(beside(file, name)) if name else "",
        table.texts("signals", ("all",)),
        table.integer("every", 1, 1),
        read_trigger(table, "from"),
        read_trigger(table, "until"),
        table.integer("before", 0, 0, 1 << 24),
        table.integer("ring", 0, 0, 1 << 24),
        table.flag("enabled", True),
        table.flag("times", False),
    )
    table.close()
    return out


def _realtime(table: Table) -> RealTime:
    latency = table.seconds("cpu_latency", 0.0)
    out = RealTime(
        priority=table.integer("priority", 80, 0, 99),
        cpu=table.integer("cpu", -1, -1, 1023),
        lock_memory=table.flag("lock_memory", True),
        cpu_latency_us=round((latency or 0.0) * 1e6),
        flush_denormals=table.flag("flush_denormals", True),
        spin_ns=nanoseconds(table.seconds("spin", 0.0) or 0.0),
        patience_ns=nanoseconds(table.seconds("patience", 0.0) or 0.0),
        phase_ns=nanoseconds(table.seconds("phase", 0.0) or 0.0) if table.has("phase") else -1,
        grace=table.integer("grace", 100),
        policy=table.choice("overrun", POLICIES, "catch_up"),
        recover=table.integer("recover", 0),
        stop_on_failure=table.choice("failure", ("continue", "stop"), "continue") == "stop",
        isolate=table.flag("isolate", False),
        watchdog_ns=nanoseconds(table.seconds("watchdog", 1.0) or 0.0),
        endless_ns=nanoseconds(table.seconds("endless", 10.0) or 0.0),
        watchdog_stops=table.choice("watchdog_action", ("report", "stop"), "report") == "stop",
        loss_stops=table.choice("lost_process", ("stop", "continue"), "stop") == "stop",
        heartbeat=table.text("heartbeat"),
    )
    table.close()
    return out
