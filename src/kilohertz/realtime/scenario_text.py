"""A scenario as the flat text of `key = value` lines that the executable reads, with the names of signals resolved."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

from kilohertz.base import near
from kilohertz.base.units import UnitError, parse_unit
from kilohertz.codegen import ModelSignal
from kilohertz.ir.rules.limits import refusal, setting
from kilohertz.realtime.playback import Playback, stimuli
from kilohertz.realtime.resolver import Resolver
from kilohertz.realtime.scenario import PROFILES, Device, Recording, Scenario, Task
from kilohertz.realtime.threads import Placed
from kilohertz.realtime.toml_lines import find_key
from kilohertz.realtime.toml_table import Problems
from kilohertz.results import Selection
from kilohertz.runtime import constant
from kilohertz.stimuli import FAULTS, SignalFault, Trigger

_RING_SECONDS, _RING_LEAST, _RING_BYTES = 2.0, 4096, 1 << 28
_LONGEST_DELAY = constant("KHZ_INJECTION_LINE")  # periods
_Column: TypeAlias = tuple[str, dict[str, object]]  # its name, and where its values are


@dataclass(frozen=True, slots=True)
class FlatScenario:
    """The text, files that lie beside it, and what is to be said about inputs."""

    text: str
    playback: Playback
    notes: tuple[str, ...] = ()


def flat_scenario(scenario: Scenario, models: Sequence[int], signals: Sequence[Sequence[ModelSignal]]) -> FlatScenario:
    """For each task: the number of its linked model, and its signals.  ModelError where names are wrong."""
    problems = scenario.problems()
    resolver = Resolver(scenario, signals, problems)
    lines: dict[str, object] = {}
    _head(lines, scenario)
    _threads(lines, scenario, resolver.threads)
    for i, task in enumerate(scenario.tasks):
        _task(lines, i, task, models[i], resolver)
    _connections(lines, resolver)
    playback = stimuli(lines, resolver)
    _devices(lines, resolver)
    _faults(lines, resolver)
    _record(lines, resolver)
    problems.stop_if_any()
    head = f"# {scenario.name}: written by khz build; keys are described in docs/reference/scenario.md\n"
    text = head + "".join(f"{key} = {_text(value)}\n" for key, value in lines.items())
    rest, clashes = resolver.undriven(), tuple(_unit_clashes(resolver))
    said = [f"inputs that nothing drives keep their start values: {', '.join(rest)}"] if rest else []
    return FlatScenario(text, playback, (*playback.notes, *clashes, *said))


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
        "isolate": r.isolate,
        "watchdog_ns": r.watchdog_ns,
        "watchdog_stops": r.watchdog_stops,
        "endless_ns": r.endless_ns,
        "heartbeat": r.heartbeat,
        "loss_stops": r.loss_stops,
        "live": s.live,
        "live_every": s.live_every,
        "exchange": s.exchange,
        "iterate": s.iterate,
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


def _written(problems: Problems, task: Task, name: str) -> tuple[str | int, ...]:
    """Where the value of a task stands: in `inputs` or in `set`."""
    in_inputs, in_set = ((*task.path, table, name) for table in ("inputs", "set"))
    around = find_key(problems.file, problems.text, in_inputs[:-1])
    return in_inputs if find_key(problems.file, problems.text, in_inputs) != around else in_set


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
            if signal is not None:
                message += f"; `MODEL({name} = ...)` instead of `MODEL` compiles another value in"
            resolver.problems.add("R744", message, _written(resolver.problems, task, name))
            continue
        try:
            number = setting(signal.ty, signal.unit, value)
            why = refusal(signal.ty, number, signal.min, signal.max)
        except UnitError as wrong:
            why = str(wrong)
        if why:
            shown = value if isinstance(value, str) else f"{value:g}"
            resolver.problems.add("R744", f"`{name}` cannot be {shown}: {why}", _written(resolver.problems, task, name))
            continue
        lines |= {f"{head}set.{n_set}.name": name, f"{head}set.{n_set}.value": number}
        n_set += 1
    lines[head + "n_set"] = n_set


def _connections(lines: dict[str, object], resolver: Resolver) -> None:
    n = 0
    for c in resolver.connections:
        source = resolver.find(c.source, (*c.path, "from"))
        target = resolver.input(c.target, (*c.path, "to"))
        if source is None or target is None:
            continue
        resolver.drive(target, "a connection", (*c.path, "to"))
        head = f"connection.{n}"
        resolver.bind(lines, f"{head}.from", source)
        resolver.bind(lines, f"{head}.to", target)
        lines |= {f"{head}.gain": c.gain, f"{head}.offset": c.offset, f"{head}.extrapolate": c.extrapolate}
        n += 1
    lines["n_connections"] = n


def _unit_clashes(resolver: Resolver) -> Iterator[str]:
    """Connections that pass a value on as it is from one unit to another; a gain or an offset may convert."""
    for c in resolver.connections:
        source, target = resolver.look(c.source), resolver.look(c.target)
        if source is None or target is None or (c.gain, c.offset) != (1.0, 0.0):
            continue
        units = source[1].unit, target[1].unit
        if not all(u.strip() not in ("", "1") for u in units):
            continue
        with suppress(UnitError):
            ours, theirs = map(parse_unit, units)
            if (ours.dimension, ours.factor, ours.offset) != (theirs.dimension, theirs.factor, theirs.offset):
                pair = f"`{c.source}` in {units[0]} drives `{c.target}` in {units[1]}"
                yield f"units do not agree: {pair}; `gain` and `offset` convert"


def _devices(lines: dict[str, object], resolver: Resolver) -> None:
    for i, d in enumerate(resolver.scenario.devices):
        head = f"device.{i}"
        lines |= {f"{head}.name": d.name, f"{head}.driver": d.driver}
        lines |= {f"{head}.{key}": value for key, value in d.settings.items()}
        tasks = _mapped(lines, resolver, head, d, "receive") | _mapped(lines, resolver, head, d, "send")
        threads = sorted({resolver.thread_of[t] for t in tasks})
        lines[f"{head}.thread"] = threads[0] if threads else 0
        if len(threads) > 1:
            names = " and ".join(f"`{resolver.threads[t].name}`" for t in threads)
            message = f"device `{d.name}` has signals of the threads {names}: give each a device of its own"
            resolver.problems.add("R742", message, (*d.path, "name"))
    lines["n_devices"] = len(resolver.scenario.devices)


def _mapped(lines: dict[str, object], resolver: Resolver, head: str, d: Device, way: str) -> set[int]:
    """The signals that a device has one way; the tasks they belong to."""
    tasks: set[int] = set()
    signals = resolver.mapped(d, way)
    for n, (j, mapping) in enumerate(signals):
        path, name, at = (*d.path, way, j, "signal"), mapping["signal"], f"{head}.{way}.{n}"
        if "address" in mapping and [i for i, _ in signals].count(j) > 1:
            message = "`address` is that of one signal: name the elements of the array, each with its own"
            resolver.problems.add("R742", message, (*d.path, way, j, "address"))
            break
        place = resolver.input(name, path) if way == "receive" else resolver.find(name, path)
        if place is None:
            continue
        if way == "receive":
            resolver.drive(place, f"device {d.name}", path)
        tasks.add(place[0])
        resolver.bind(lines, at, place)
        lines[f"{at}.name"] = name
        lines |= {f"{at}.{key}": value for key, value in mapping.items() if key != "signal"}
    lines[f"{head}.n_{way}"] = len(signals)
    return tasks


def _faults(lines: dict[str, object], resolver: Resolver) -> None:
    s, n = resolver.scenario, 0
    for f in s.faults:
        place = resolver.find(f.signal, (*f.path, "signal"))
        if place is None or not _is_fault_there(f, place, resolver):
            continue
        head = f"fault.{n}"
        resolver.bind(lines, f"{head}.on", place)
        lines |= {f"{head}.name": f.name, f"{head}.kind": list(FAULTS).index(f.kind), f"{head}.seed": f.seed}
        numbers = {"value": f.value, "from": f.begin, "until": f.until, "lasts": f.lasts}
        lines |= {f"{head}.{k}": v for k, v in numbers.items() if v is not None and math.isfinite(v)}
        if f.device:
            lines[f"{head}.device"] = [d.name for d in s.devices].index(f.device)
        trigger = resolver.look(f.when.signal) if f.when is not None else None
        if f.when is not None and trigger is not None:
            resolver.bind(lines, f"{head}.when", trigger)
            lines |= {f"{head}.has_condition": 1, f"{head}.when.above": int(f.when.operator == ">")}
            lines[f"{head}.when.level"] = f.when.value
        n += 1
    lines["n_faults"] = n


def _is_fault_there(f: SignalFault, place: tuple[int, ModelSignal], resolver: Resolver) -> bool:
    """Whether the fault can be on this signal; what is wrong with it is a problem."""
    s, signal, before = resolver.scenario, place[1], len(resolver.problems.diagnostics)
    sent = {d.name: [resolver.look(m["signal"]) for _, m in resolver.mapped(d, "send")] for d in s.devices}
    readers = [
        *(resolver.look(c.source) for c in resolver.connections),
        *(p for places in sent.values() for p in places),
    ]
    wrong = partial(_wrong_fault, resolver, f)
    if signal.causality == "parameter":
        wrong("signal", f"is `{f.signal}`, a parameter: a fault is for what a model gets or gives", "R744")
    elif signal.causality != "input" and place not in readers:
        text = "which no connection and no device takes: a fault on it would change nothing"
        wrong("signal", f"is `{f.signal}`, {text}", "R744")
    if FAULTS[f.kind].is_arithmetic and signal.type == "boolean":
        wrong("kind", f"is `{f.kind}`, but `{f.signal}` is true or false: stuck, dropout or delay")
    if f.device and (signal.causality == "input" or place not in sent.get(f.device, [])):
        wrong("device", f"is `{f.device}`, which does not get `{f.signal}`{near(f.device, list(sent))}")
    if FAULTS[f.kind].is_time and f.value * 1e9 / s.tasks[place[0]].stepping.period_ns > _LONGEST_DELAY:
        wrong(FAULTS[f.kind].key, f"is longer than {_LONGEST_DELAY} periods")
    if f.when is not None:
        trigger = resolver.find(f.when.signal, (*f.path, "when"))
        if trigger is not None and resolver.thread_of[trigger[0]] != resolver.thread_of[place[0]]:
            wrong("when", f"looks at `{f.when.signal}`, which another thread has")
    for name, _ in _fault_columns(s, [f]):
        if resolver.look(name) is not None:
            wrong("name", f"is `{f.name}`, but `{name}` is a signal of a model")
    return len(resolver.problems.diagnostics) == before


def _wrong_fault(resolver: Resolver, f: SignalFault, key: str, what: str, code: str = "R742") -> None:
    resolver.problems.add(code, f"`{key}` {what}", (*f.path, key))


def _fault_columns(s: Scenario, faults: Sequence[SignalFault]) -> list[_Column]:
    """What is recorded of faults: whether they are active, and what stands for their signals."""
    return [
        (f"{f.name}.{what}", {"fault": s.faults.index(f), "signal": what})
        for f in faults
        for what in ("active", "value")
    ]


def _record(lines: dict[str, object], resolver: Resolver) -> None:
    r, s = resolver.scenario.recording, resolver.scenario
    columns = _columns(r, resolver) if r.enabled else []
    for which, trigger in (("begin", r.begin), ("end", r.end)):
        if trigger is not None and r.enabled:
            _trigger(lines, resolver, columns, which, trigger)
    for i, (name, place) in enumerate(columns):
        lines |= {f"record.{i}.from.{key}": value for key, value in place.items()}
        lines[f"record.{i}.name"] = name
    rows = r.ring or max(_RING_LEAST, round(_RING_SECONDS * 1e9 / s.period_ns / r.every))
    most = max(64, _RING_BYTES // (8 * (len(columns) + 1)))
    lines |= {"record.n": len(columns), "record.every": r.every, "record.before": r.before}
    lines["record.ring"] = min(rows, most)
    lines["record.times"] = int(r.times)


def _columns(r: Recording, resolver: Resolver) -> list[_Column]:
    wanted, varying = Selection(r.signals), ("", "input", "output")
    out: list[_Column] = [
        (name, {"task": task, "signal": signal.name})
        for task, name, signal in resolver.names()
        if wanted.takes(name, is_output=signal.causality == "output", is_in_all=signal.causality in varying)
    ]
    faults = _fault_columns(resolver.scenario, resolver.scenario.faults)
    out += [(name, place) for name, place in faults if wanted.takes(name, is_output=False, is_in_all=True)]
    known = (*(name for _, name, _ in resolver.names()), *(name for name, _ in faults))
    for problem in wanted.problems(known):
        resolver.problems.add(problem.code, problem.message, ("record", "signals"))
    return out


def _trigger(lines: dict[str, object], resolver: Resolver, columns: list[_Column], which: str, t: Trigger) -> None:
    at = 0
    if t.signal != "time":
        place = dict(_fault_columns(resolver.scenario, resolver.scenario.faults)).get(t.signal)
        if place is None:
            task_and_signal = resolver.find(t.signal, ("record", "from" if which == "begin" else "until"))
            if task_and_signal is None:
                return
            place = {"task": task_and_signal[0], "signal": task_and_signal[1].name}
        places = [p for _, p in columns]
        if place not in places:
            columns.append((t.signal, place))
            places.append(place)
        at = places.index(place) + 1
    lines |= {f"record.{which}.op": t.operator, f"record.{which}.column": at, f"record.{which}.value": t.value}


def scenario_path(folder: Path, name: str) -> Path:
    """Where the flat scenario of an executable lies: beside it."""
    return folder / f"{name}.scenario"
