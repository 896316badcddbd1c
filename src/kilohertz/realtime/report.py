"""What a real-time run came to: the report of the executable as an object and as text."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from kilohertz.base import Diagnostic
from kilohertz.results import Result, read_recording
from kilohertz.solvers import EVENTS

_KINDS = (
    ("lateness", "wake-up late by"),
    ("compute", "compute"),
    ("device", "devices"),
    ("overhead", "rest of the cycle"),
    ("slack", "slack when in time"),  # of cycles that met their deadline
)


def causes_of(counts: dict[str, int]) -> str:
    """Why deadlines were missed: `2 compute overruns, 1 off the core, 0 late wake-ups, 3 knock-on`."""
    off = f"{counts['off_core']} off the core, " if counts["off_core"] else ""
    later = f"{counts['late_wakeups']} late wake-ups, {counts['knock_on']} knock-on"
    return f"{counts['overruns']} compute overruns, {off}{later}"


def _method(task: dict[str, Any]) -> str:
    """How a model was integrated: `rodas4, inlined, 2 internal steps, events by catch-up; step made for rodas4`."""
    words = [str(task["method"])]
    words += ["inlined"] if task["inlined"] else []
    words += [f"{task['internal_steps']} internal steps"] if task["internal_steps"] > 1 else []
    events = EVENTS[task["events"]]
    text = ", ".join([*words, "events at the end of a step" if events == "none" else f"events by {events}"])
    return f"{text}; step {task['step']}"


@dataclass(frozen=True)
class Report:
    """The numbers of a run.  `data` is the report of the executable as it stands (docs/reference/report.md)."""

    data: dict[str, Any]
    exit_code: int = 0
    recording: Path | None = None
    predicted: str = ""  # what was said before the start about cost and period
    blame: tuple[str, ...] = ()  # the costliest blocks with their places
    unwritten: tuple[Diagnostic, ...] = ()  # why the recording is not in the file that was asked for
    outside: tuple[Diagnostic, ...] = ()  # variables that left their min and max, as far as they were recorded
    unseen: tuple[str, ...] = ()  # variables with a min or max that were not recorded
    notes: tuple[str, ...] = ()  # what external code had to say at the end
    profiles: tuple[Path, ...] = ()  # of its threads, where one was asked for (docs/reference/profile.md)

    @property
    def name(self) -> str:
        """The name of the task."""
        return str(self.data["name"])

    @property
    def ok(self) -> bool:
        """The run ended as it should (its duration was over, it was stopped, or the model terminated it), no step or
        assertion failed, every value was a number, and what was recorded is written."""
        return self.exit_code == 0 and not self.unwritten

    @property
    def period(self) -> float:
        """The period in seconds."""
        return float(self.data["period_ns"]) * 1e-9

    @property
    def counts(self) -> dict[str, int]:
        """What was counted, by name (docs/reference/report.md)."""
        return dict(self.data["counts"])

    @property
    def missed(self) -> int:
        """Cycles that ended after their deadline."""
        return int(self.data["counts"]["missed"])

    def microseconds(self, kind: str, measure: str) -> float:
        """`report.microseconds("lateness", "p99")`; measures: min, mean, p50, p99, p99.9, max."""
        return float(self.data["times"][kind][measure]) * 1e-3

    @property
    def drift(self) -> float:
        """Seconds by which the run ended later than its model time says (ideal schedule: one compute and wake-up)."""
        scale = float(self.data["wall_num"]) / float(self.data["wall_den"])
        thread = min(self.data["threads"], key=lambda t: t["period_ns"])
        ticks, period = int(thread["counts"]["ticks"]), float(thread["period_ns"]) * 1e-9
        return float(thread["wall_ns"]) * 1e-9 - ticks * period * scale

    @property
    def faults(self) -> tuple[dict[str, Any], ...]:
        """Those planted on signals: name, signal, kind, since when, until when (docs/reference/report.md)."""
        return tuple(self.data["faults"])

    def thread(self, name: str) -> dict[str, Any]:
        """A real-time thread by its name: its counts, times and settings."""
        of_thread: dict[str, Any] = next(t for t in self.data["threads"] if t["name"] == name)
        return of_thread

    @cached_property
    def result(self) -> Result:
        """The recorded signals; empty where nothing was recorded."""
        if self.recording is None or not self.recording.exists():
            return Result.of_columns(self.name, np.empty(0), {})
        return read_recording(self.recording, self.name)

    def as_text(self) -> str:
        """The deadline report."""
        threads = self.data["threads"]
        lines = self._head()
        if len(threads) == 1:
            lines += _times(threads[0])
        for thread in threads if len(threads) > 1 else ():
            details = [*self._cycles(thread), *_times(thread), *_grants(thread["settings"][:_OWN_SETTINGS])]
            lines += [f"  thread {thread['name']}:", *(f"  {line}" for line in details)]
        settings = self.data["settings"][_OWN_SETTINGS if len(threads) > 1 else 0 :]
        details = [*self._trouble(), *self._faults(), *self._devices(), *_grants(settings)]
        return "\n".join([*lines, *details, *self._machine_code()])

    def _machine_code(self) -> list[str]:
        """Where somebody asked for other code than usual: which bits it has."""
        code = self.data.get("machine_code", {"march": "portable"})  # not in what an executable alone writes
        return [] if code["march"] == "portable" else [f"  machine code: {code['promise']}"]

    def _cycles(self, part: dict[str, Any]) -> list[str]:
        """Steps and misses of a thread, or of the whole."""
        d, c = self.data, part["counts"]
        wall, period = part["wall_ns"] * 1e-9, part["period_ns"] * 1e-6
        rate = "as fast as possible" if d["wall_num"] == 0 else f"every {period * d['wall_num'] / d['wall_den']:g} ms"
        lines = [f"  {c['steps']} steps {rate}: {part['model_seconds']:.6f} s of model time in {wall:.6f} s"]
        if d["wall_num"]:
            judged = c["steps"] - c["grace"]
            share = 100.0 * c["missed"] / judged if judged else 0.0
            missed = f"{c['missed']} of {judged} ({share:.3g} %): {causes_of(c)}"
            lines.append(f"  deadlines missed: {missed}; policy {part['policy']}")
            if c["late_wakeups"] and not c["overruns"]:
                lines.append(
                    "  the machine woke the task late, no step took too long: `khz doctor` says what to change"
                )
        if c["exchange_late"] or c["exchange_old"]:
            words = f"{c['exchange_late']} came late, {c['exchange_old']} were overwritten"
            lines.append(f"  messages of other threads: {words}; the newest stood for them")
        if c["unsettled"]:
            lines.append(f"  values that need each other did not settle at the end of {c['unsettled']} periods")
        return lines

    def _head(self) -> list[str]:
        d, c = self.data, self.data["counts"]
        by = f" (thread {d['ended_by']})" if d["ended_by"] else ""
        words = "".join(f": {s['text']}" for t in d["tasks"] for s in t["said"] if s["kind"] == "end")
        lines = [f"{self.name}: {d['ending']}{by}{words}"]
        if len(d["threads"]) > 1:
            processes = len({t["process"] for t in d["threads"]})
            places = f"{len(d['threads'])} threads" + (f" in {processes} processes" if processes > 1 else "")
            lines.append(f"  {places}: {d['model_seconds']:.6f} s of model time in {d['wall_ns'] * 1e-9:.6f} s")
        else:
            lines += self._cycles(d)
        lines += [f"  {t['model']}: {_method(t)}" for t in d["tasks"]]
        if d["wall_num"]:
            steal = f"steal {100 * d['steal']:.2f} %, {d['involuntary_switches']} involuntary switches"
            lines.append(f"  machine: {steal}, {d['page_faults']} page faults")
        for key, words in (
            ("skipped", "periods skipped"),
            ("held", "outputs held"),
            ("safe", "cycles with safe outputs"),
        ):
            if c[key]:
                lines.append(f"  {words}: {c[key]}")
        for key, words in (("stalls", "stalls seen by the watchdog"), ("link_losses", "links lost")):
            if c[key]:
                lines.append(f"  {words}: {c[key]}")
        return [*lines, *self._recorder()]

    def _recorder(self) -> list[str]:
        r = self.data["recorder"]
        if r is None:
            return ["  nothing recorded"]
        lost = r["dropped"] + r["lost_at_end"] + r["late"]
        line = f"  recorded: {r['written']} rows" + (f", {lost} lost" if lost else ", none lost")
        if r["last_error"]:
            line += f" (writing failed {r['refused_writes']} times: {r['last_error']})"
        return [line]

    def _trouble(self) -> list[str]:
        lines = [_stuck(t["name"], t["stuck"]) for t in self.data["threads"] if t["stuck"]]
        lines += [f"  {note}" for note in self.notes]
        if self.counts["overruns"]:
            lines += self._by_task()
            lines += ["  most of the work of a step:", *(f"    {b}" for b in self.blame)] if self.blame else []
        for task in self.data["tasks"]:
            named = {k: v for k, v in task["counts"].items() if v and k in _TROUBLE}
            if named:
                words = ", ".join(f"{v} {_TROUBLE[k]}" for k, v in named.items())
                lines.append(f"  {task['model']}: {words}")
            lines += [_said(s) for s in task["said"] if s["kind"] in _SAID]
            for block in task["blocks"]:
                what = ", ".join(f"{block[k]} {w}" for k, w in _BLOCK if block[k])
                when = f"first at {block['first_time']:g} s, last at {block['last_time']:g} s"
                lines.append(f"    {block['unknowns']} at {block['origin']}: {what}, {when}")
            for key, words in _FIRST:
                if first := task[key]:
                    what = words.format(n=first["n"])
                    lines.append(
                        f"    {first['unknowns']} at {first['origin']}: {what}, first at {first['first_time']:g} s"
                    )
        for d in self.outside:
            lines.append(f"  {d.message}" + "".join(f"; {note.text} s" for note in d.notes))
        if self.unseen:
            some = ", ".join(self.unseen[:3]) + (", ..." if len(self.unseen) > 3 else "")
            lines.append(f"  not recorded, so not compared with its min and max: {some} ({len(self.unseen)} in all)")
        return lines

    def _by_task(self) -> list[str]:
        """Which task the compute time went to, as measured, where there are several."""
        times = [(t["compute"]["mean"] * t["compute"]["n"], t) for t in self.data["tasks"] if t.get("compute")]
        total = sum(time for time, _ in times)
        if len(times) < 2 or not total:
            return []
        times.sort(key=lambda entry: (-entry[0], entry[1]["name"]))
        shown = (
            f"{100 * time / total:5.1f} %  {t['name']}, longest {t['compute']['max'] / 1e3:.1f} us" for time, t in times
        )
        return ["  compute time by task:", *(f"    {line}" for line in shown)]

    def _faults(self) -> list[str]:
        lines = [f"  fault {_fault(f)}" for f in self.data["faults"]]
        forgotten = self.counts["faults_forgotten"]
        return [*lines, f"  and {forgotten} faults before them"] if forgotten else lines

    def _devices(self) -> list[str]:
        lines = []
        for device in self.data["devices"]:
            shown = ", ".join(f"{v} {k}" for k, v in device.items() if k != "name" and v)
            lines.append(f"  device {device['name']}: {shown or 'silent'}")
        return lines


def _times(part: dict[str, Any]) -> list[str]:
    lines = [f"  {'microseconds':18s} {'p50':>9s} {'p99':>9s} {'p99.9':>9s} {'max':>9s}"]
    for kind, words in _KINDS:
        t = part["times"][kind]
        if not t["n"]:
            continue
        if kind == "slack":
            values = (t["p50"], t["p1"], t["p0.1"], t["min"])
        else:
            values = (t["p50"], t["p99"], t["p99.9"], t["max"])
        lines.append(f"  {words:18s} " + " ".join(f"{v * 1e-3:9.1f}" for v in values))
    return lines


def _grants(settings: list[dict[str, Any]]) -> list[str]:
    return [f"  {s['name']}: {s['word']}" for s in settings]


def _stuck(thread: str, place: dict[str, Any]) -> str:
    """Where a cycle was that did not end."""
    block = f", {place['unknowns']} at {place['origin']}" if place["origin"] else ""
    how = "" if place["interrupted"] else " (it could not be interrupted)"
    what = {"": "did not end", "exit": "called exit()"}.get(place["crash"], f"broke ({place['crash']})")
    if place["refused"]:
        what = f"called {place['refused']}, which `isolate` refuses"
    return f"  {thread}: step {place['step']} {what}: {place['model']}, {place['stage']}{block}{how}"


def _said(said: dict[str, Any]) -> str:
    """`failed first at 1.2 s: the tank is full (Tank.mo:12)`."""
    often = f"{said['n']} times, " if said["n"] > 1 else ""
    where = f" ({said['origin']})" if said["origin"] else ""
    return f"    {_SAID[said['kind']]} {often}first at {said['first_time']:g} s: {said['text'].strip()}{where}"


def _fault(f: dict[str, Any]) -> str:
    """`live1: stuck 3 on plant.u, active from 1.2 s to 2 s, 800 values`."""
    number = "" if f["value"] is None else f" {f['value']:g}"
    given = " (given while it ran)" if f["live"] else ""
    head = f"{f['name']}: {f['kind']}{number} on {f['signal']}{given}"
    if f["since"] is None:
        return f"{head}, never active"
    end = "to the end" if f["ended"] is None else f"to {f['ended']:g} s"
    return f"{head}, active from {f['since']:g} s {end}, {f['passed']} values"


_OWN_SETTINGS = 2  # affinity and priority are a thread's own, the others of all
_TROUBLE = {
    "held": "steps that failed (states held; a smaller step or another method, as auto takes, may hold)",
    "newton_caps": "times a loop hit its iteration cap",
    "not_finite": "values that were not finite",
    "pivots": "weak pivots",
    "event_caps": "event iterations cut short",
    "chattering": "times a condition changed in every step (chattering, or PWM)",
    "unended": "times a condition that came late did not end again (R755)",
    "assertions": "failed assertions",
    "failures": "other failures",
    "late_time_events": "time events handled at the end of their period",
    "corrected": "steps of the index-1 form in which loops were solved after all",
    "warnings": "warnings of the model",
}
_SAID = {"error": "failed", "warning": "warned", "message": "said"}  # the end has the first line
_BLOCK = (
    ("newton_caps", "iteration caps"),
    ("pivots", "weak pivots"),
    ("failures", "failures"),
    ("not_finite", "values that were not finite"),
    ("event_caps", "event iterations cut short while it changed"),
)


_FIRST = (  # R736, R749 and R734 of a run off-line
    ("vague", "not determined by the equations, of many solutions the smallest was taken {n} times"),
    ("cut", "the search for a mode ended at its cap {n} times, the nearest mode was taken"),
    ("unsettled", "conditions and the equations they choose contradict each other after {n} events"),
)


def read_report(path: Path) -> dict[str, Any]:
    """The JSON report of the executable."""
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return data
