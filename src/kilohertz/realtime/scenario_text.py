"""A scenario as the flat text of `key = value` lines that the executable reads, with the names of signals resolved."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from kilohertz.base import near
from kilohertz.codegen import ModelSignal
from kilohertz.realtime.scenario import INTERPOLATIONS, PROFILES, Device, Recording, Scenario, Stimulus, Task, Trigger
from kilohertz.realtime.threads import Placed, placed
from kilohertz.realtime.toml_table import Problems
from kilohertz.results import Selection

_RING_SECONDS, _RING_LEAST, _RING_BYTES = 2.0, 4096, 1 << 28


class Resolver:
    """Signals of all tasks by the names a scenario uses: `signal`, or `task.signal` where there are several."""

    def __init__(self, scenario: Scenario, signals: Sequence[Sequence[ModelSignal]], problems: Problems) -> None:
        self.scenario, self.problems = scenario, problems
        self.tables = [{s.name: s for s in table} for table in signals]
        self.several = len(self.tables) > 1
        self.threads = placed(scenario)
        self.thread_of = {i: t for t, thread in enumerate(self.threads) for i in thread.tasks}  # of each task

    def names(self) -> Iterator[tuple[int, str, ModelSignal]]:
        """(task, name in the scenario, signal) of everything."""
        for i, (task, table) in enumerate(zip(self.scenario.tasks, self.tables, strict=True)):
            for name, signal in table.items():
                yield i, f"{task.name}.{name}" if self.several else name, signal

    def find(self, name: str, path: Sequence[str | int], what: str = "signal") -> tuple[int, ModelSignal] | None:
        """The task's number and the signal; where there is none, a problem that names what is close."""
        for i, task in enumerate(self.scenario.tasks):
            without_task = name.removeprefix(task.name + ".") if name.startswith(task.name + ".") else None
            plain = name if not self.several else None
            for candidate in (without_task, plain):
                if candidate is not None and candidate in self.tables[i]:
                    return i, self.tables[i][candidate]
        known = [n for _, n, s in self.names() if what != "input" or s.causality == "input"]
        self.problems.add("R744", f"there is no {what} `{name}`{near(name, known)}", path)
        return None

    def input(self, name: str, path: Sequence[str | int]) -> tuple[int, ModelSignal] | None:
        place = self.find(name, path, "input")
        if place is not None and place[1].causality != "input":
            known = [n for _, n, s in self.names() if s.causality == "input"]
            have = f"; the inputs are {', '.join(known[:8])}" if known else "; the model has none"
            self.problems.add("R744", f"`{name}` is not an input{have}", path)
            return None
        return place


def flat_scenario(scenario: Scenario, models: Sequence[int], signals: Sequence[Sequence[ModelSignal]]) -> str:
    """The text.  For each task: the number of its linked model, and its signals.  ModelError where names are wrong."""
    problems = scenario.problems()
    resolver = Resolver(scenario, signals, problems)
    lines: dict[str, object] = {}
    _head(lines, scenario)
    _threads(lines, scenario, resolver.threads)
    for i, task in enumerate(scenario.tasks):
        _task(lines, i, task, models[i], resolver)
    driven: dict[tuple[int, str], str] = {}
    _connections(lines, resolver, driven)
    _stimuli(lines, resolver, driven)
    _devices(lines, resolver, driven)
    _record(lines, resolver)
    problems.stop_if_any()
    head = f"# {scenario.name}: written by khz build; keys are described in docs/reference/scenario.md\n"
    return head + "".join(f"{key} = {_text(value)}\n" for key, value in lines.items())


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(int(value))
    return repr(value) if isinstance(value, float) else " ".join(str(value).split())


def _head(lines: dict[str, object], s: Scenario) -> None:
    r, scale = s.realtime, s.scale
    lines |= {
        "name": s.name,
        "period_ns": s.period_ns,
        "wall_num": 0 if scale is None else scale.denominator,
        "wall_den": 1 if scale is None else scale.numerator,
        "cycles": s.cycles,
        "start": float(s.start),
        "grace": r.grace,
        "policy": r.policy,
        "recover": r.recover,
        "priority": r.priority,
        "cpu": r.cpu,
        "lock_memory": r.lock_memory,
        "cpu_latency_us": r.cpu_latency_us,
        "flush_denormals": r.flush_denormals,
        "spin_ns": r.spin_ns,
        "patience_ns": r.patience_ns,
        "phase_ns": r.phase_ns,
        "stop_on_failure": r.stop_on_failure,
        "watchdog_ns": r.watchdog_ns,
        "watchdog_stops": r.watchdog_stops,
        "endless_ns": r.endless_ns,
        "heartbeat": r.heartbeat,
        "loss_stops": r.loss_stops,
        "live": s.live,
        "live_every": s.live_every,
        "exchange": s.exchange,
    }
    if s.profile:
        lines["profile.mode"] = PROFILES.index(s.profile)
    if s.fault.ns:
        lines |= {"fault.slow_step": s.fault.step, "fault.slow_every": s.fault.every, "fault.slow_ns": s.fault.ns}


def _threads(lines: dict[str, object], s: Scenario, threads: Sequence[Placed]) -> None:
    lines |= {"n_threads": len(threads), "n_processes": 1 + max(t.process for t in threads)}
    for i, t in enumerate(threads):
        head = f"thread.{i}."
        lines |= {head + "name": t.name, head + "every": t.every, head + "process": t.process}
        if s.threads:
            lines |= {head + "cpu": t.cpu, head + "priority": t.priority}
            lines |= {head + key: value for key, value in t.settings.items()}
        if s.fault.thread == t.name:
            lines["fault.thread"] = i


def _task(lines: dict[str, object], i: int, task: Task, model: int, resolver: Resolver) -> None:
    head = f"task.{i}."
    lines["n_tasks"] = i + 1
    lines |= {head + "name": task.name, head + "model": model, head + "every": task.every}
    lines[head + "thread"] = resolver.thread_of[i]
    lines |= {head + key: value for key, value in task.stepping.c_values().items() if key != "period_ns"}
    n_set = 0
    for name, value in task.settings.items():
        signal = resolver.tables[i].get(name)
        if signal is None or not signal.tunable:
            known = [n for n, s in resolver.tables[i].items() if s.tunable]
            why = "cannot be set" if signal is not None else "is not there"
            message = f"`{name}` {why}{near(name, known) if signal is None else ': it is computed from other values'}"
            resolver.problems.add("R744", message, (*task.path, "set", name))
            continue
        lines |= {f"{head}set.{n_set}.name": name, f"{head}set.{n_set}.value": float(value)}
        n_set += 1
    lines[head + "n_set"] = n_set


def _drive(
    resolver: Resolver,
    driven: dict[tuple[int, str], str],
    at: tuple[int, ModelSignal],
    by: str,
    path: Sequence[str | int],
) -> None:
    key = (at[0], at[1].name)
    if key in driven:
        resolver.problems.add("R744", f"input `{at[1].name}` is driven twice: by {driven[key]} and by {by}", path)
    driven[key] = by


def _bind(lines: dict[str, object], head: str, place: tuple[int, ModelSignal]) -> None:
    lines |= {f"{head}.task": place[0], f"{head}.signal": place[1].name}


def _connections(lines: dict[str, object], resolver: Resolver, driven: dict[tuple[int, str], str]) -> None:
    n = 0
    for c in resolver.scenario.connections:
        source = resolver.find(c.source, (*c.path, "from"))
        target = resolver.input(c.target, (*c.path, "to"))
        if source is None or target is None:
            continue
        _drive(resolver, driven, target, "a connection", (*c.path, "to"))
        head = f"connection.{n}"
        _bind(lines, f"{head}.from", source)
        _bind(lines, f"{head}.to", target)
        lines |= {f"{head}.gain": c.gain, f"{head}.offset": c.offset, f"{head}.extrapolate": c.extrapolate}
        n += 1
    lines["n_connections"] = n


def _stimuli(lines: dict[str, object], resolver: Resolver, driven: dict[tuple[int, str], str]) -> None:
    """Each thread reads the columns of its own: a file stands once for each thread that it drives."""
    n = 0
    for s in resolver.scenario.stimuli:
        by_thread: dict[int, list[tuple[tuple[int, ModelSignal], str]]] = {}
        for name, column in (s.signals or _named_columns(s, resolver)).items():
            place = resolver.input(name, (*s.path, "signals"))
            if place is None:
                continue
            _drive(resolver, driven, place, f"stimulus {s.file.name}", (*s.path, "signals"))
            by_thread.setdefault(resolver.thread_of[place[0]], []).append((place, column))
        for thread, mapped in by_thread.items():
            head = f"stimulus.{n}"
            for j, (place, column) in enumerate(mapped):
                _bind(lines, f"{head}.{j}", place)
                lines[f"{head}.{j}.column"] = column
            lines |= {
                f"{head}.n": len(mapped),
                f"{head}.file": s.file.absolute(),
                f"{head}.mode": INTERPOLATIONS.index(s.interpolation),
            }
            lines[f"{head}.thread"] = thread
            n += 1
    lines["n_stimuli"] = n


def _named_columns(s: Stimulus, resolver: Resolver) -> Mapping[str, str]:
    """Every column of the file whose name is that of an input."""
    try:
        with open(s.file, encoding="utf-8", newline="") as file:
            head = next(csv.reader(file), [])
    except OSError as error:
        resolver.problems.add("R701", f"cannot read `{s.file}`: {error.strerror}", (*s.path, "file"))
        return {}
    inputs = {name for _, name, signal in resolver.names() if signal.causality == "input"}
    columns = [c.strip() for c in head]
    named = {c: c for c in columns if c in inputs}
    if not named:
        resolver.problems.add("R744", f"no column of `{s.file.name}` has the name of an input", (*s.path, "file"))
    return named


def _devices(lines: dict[str, object], resolver: Resolver, driven: dict[tuple[int, str], str]) -> None:
    for i, d in enumerate(resolver.scenario.devices):
        head = f"device.{i}"
        lines |= {f"{head}.name": d.name, f"{head}.driver": d.driver}
        lines |= {f"{head}.{key}": value for key, value in d.settings.items()}
        tasks = _mapped(lines, resolver, driven, head, d, "receive") | _mapped(lines, resolver, driven, head, d, "send")
        threads = sorted({resolver.thread_of[t] for t in tasks})
        lines[f"{head}.thread"] = threads[0] if threads else 0
        if len(threads) > 1:
            names = " and ".join(f"`{resolver.threads[t].name}`" for t in threads)
            message = f"device `{d.name}` has signals of the threads {names}: give each a device of its own"
            resolver.problems.add("R742", message, (*d.path, "name"))
    lines["n_devices"] = len(resolver.scenario.devices)


def _mapped(
    lines: dict[str, object], resolver: Resolver, driven: dict[tuple[int, str], str], head: str, d: Device, way: str
) -> set[int]:
    """The signals that a device has one way; the tasks they belong to."""
    tasks: set[int] = set()
    signals = d.receive if way == "receive" else d.send
    for j, mapping in enumerate(signals):
        path, name, at = (*d.path, way, j, "signal"), mapping["signal"], f"{head}.{way}.{j}"
        place = resolver.input(name, path) if way == "receive" else resolver.find(name, path)
        if place is None:
            continue
        if way == "receive":
            _drive(resolver, driven, place, f"device {d.name}", path)
        tasks.add(place[0])
        _bind(lines, at, place)
        lines[f"{at}.name"] = name
        lines |= {f"{at}.{key}": value for key, value in mapping.items() if key != "signal"}
    lines[f"{head}.n_{way}"] = len(signals)
    return tasks


def _record(lines: dict[str, object], resolver: Resolver) -> None:
    r, s = resolver.scenario.recording, resolver.scenario
    columns = _columns(r, resolver) if r.enabled else []
    for which, trigger in (("begin", r.begin), ("end", r.end)):
        if trigger is not None and r.enabled:
            _trigger(lines, resolver, columns, which, trigger)
    for i, (task, name, signal) in enumerate(columns):
        _bind(lines, f"record.{i}.from", (task, signal))
        lines[f"record.{i}.name"] = name
    rows = r.ring or max(_RING_LEAST, round(_RING_SECONDS * 1e9 / s.period_ns / r.every))
    most = max(64, _RING_BYTES // (8 * (len(columns) + 1)))
    lines |= {"record.n": len(columns), "record.every": r.every, "record.before": r.before}
    lines["record.ring"] = min(rows, most)
    lines["record.times"] = int(r.times)


def _columns(r: Recording, resolver: Resolver) -> list[tuple[int, str, ModelSignal]]:
    wanted, varying = Selection(r.signals), ("", "input", "output")
    out = [
        (task, name, signal)
        for task, name, signal in resolver.names()
        if wanted.takes(name, is_output=signal.causality == "output", is_in_all=signal.causality in varying)
    ]
    for problem in wanted.problems(name for _, name, _ in resolver.names()):
        resolver.problems.add(problem.code, problem.message, ("record", "signals"))
    return out


def _trigger(
    lines: dict[str, object], resolver: Resolver, columns: list[tuple[int, str, ModelSignal]], which: str, t: Trigger
) -> None:
    at = 0
    if t.signal != "time":
        place = resolver.find(t.signal, ("record", "from" if which == "begin" else "until"))
        if place is None:
            return
        names = [(task, signal.name) for task, _, signal in columns]
        if (place[0], place[1].name) not in names:
            columns.append((place[0], t.signal, place[1]))
            names.append((place[0], place[1].name))
        at = names.index((place[0], place[1].name)) + 1
    lines |= {f"record.{which}.op": t.operator, f"record.{which}.column": at, f"record.{which}.value": t.value}


def scenario_path(folder: Path, name: str) -> Path:
    """Where the flat scenario of an executable lies: beside it."""
    return folder / f"{name}.scenario"
