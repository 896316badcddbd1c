"""What a real-time run came to: the report of the executable as an object and as text."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from kilohertz.realtime.recording import read_recording
from kilohertz.realtime.scenario import EVENTS
from kilohertz.results import Result

_KINDS = (
    ("lateness", "wake-up late by"),
    ("compute", "compute"),
    ("device", "devices"),
    ("overhead", "rest of the cycle"),
    ("slack", "slack left"),
)


def _method(task: dict[str, Any]) -> str:
    """How a model was integrated: `rodas4, inlined, 2 internal steps, events by catch-up`."""
    words = [str(task["method"])]
    words += ["inlined"] if task["inlined"] else []
    words += [f"{task['internal_steps']} internal steps"] if task["internal_steps"] > 1 else []
    events = EVENTS[task["events"]]
    return ", ".join([*words, "events at the end of a step" if events == "none" else f"events by {events}"])


@dataclass(frozen=True)
class Report:
    """The numbers of a run.  `data` is the report of the executable as it stands (docs/reference/report.md)."""

    data: dict[str, Any]
    exit_code: int = 0
    recording: Path | None = None
    predicted: str = ""  # what was said before the start about cost and period
    blame: tuple[str, ...] = ()  # the costliest blocks with their places

    @property
    def name(self) -> str:
        return str(self.data["name"])

    @property
    def ok(self) -> bool:
        """The run ended as it should: its duration was over, it was stopped, or the model terminated it."""
        return self.exit_code == 0

    @property
    def period(self) -> float:
        return float(self.data["period_ns"]) * 1e-9

    @property
    def counts(self) -> dict[str, int]:
        return dict(self.data["counts"])

    @property
    def missed(self) -> int:
        return int(self.data["counts"]["missed"])

    def microseconds(self, kind: str, measure: str) -> float:
        """`report.microseconds("lateness", "p99")`; measures: min, mean, p50, p99, p99.9, max."""
        return float(self.data["times"][kind][measure]) * 1e-3

    @property
    def drift(self) -> float:
        """Seconds by which the run ended later than its model time says (ideal schedule: one compute and wake-up)."""
        scale = float(self.data["wall_num"]) / float(self.data["wall_den"])
        ticks = int(self.data["counts"]["ticks"])
        return float(self.data["wall_ns"]) * 1e-9 - ticks * self.period * scale

    @cached_property
    def result(self) -> Result:
        """The recorded signals; empty where nothing was recorded."""
        if self.recording is None or not self.recording.exists():
            return Result.of_columns(self.name, np.empty(0), {})
        return read_recording(self.recording, self.name)

    def as_text(self) -> str:
        """The deadline report."""
        return "\n".join([*self._head(), *self._times(), *self._trouble(), *self._devices(), *self._settings()])

    def _head(self) -> list[str]:
        d, c = self.data, self.data["counts"]
        wall = d["wall_ns"] * 1e-9
        rate = (
            "as fast as possible"
            if d["wall_num"] == 0
            else f"every {self.period * d['wall_num'] / d['wall_den'] * 1e3:g} ms"
        )
        lines = [
            f"{self.name}: {d['ending']}",
            f"  {c['steps']} steps {rate}: {d['model_seconds']:.6f} s of model time in {wall:.6f} s",
        ]
        lines += [f"  {t['model']}: {_method(t)}" for t in d["tasks"]]
        if d["wall_num"]:
            causes = f"{c['overruns']} compute overruns, {c['late_wakeups']} late wake-ups, {c['knock_on']} knock-on"
            judged = c["steps"] - c["grace"]
            share = 100.0 * c["missed"] / judged if judged else 0.0
            lines.append(
                f"  deadlines missed: {c['missed']} of {judged} ({share:.3g} %): {causes}; policy {d['policy']}"
            )
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
        lost = r["dropped"] + r["lost_at_end"]
        line = f"  recorded: {r['written']} rows" + (f", {lost} lost" if lost else ", none lost")
        if r["last_error"]:
            line += f" (writing failed {r['refused_writes']} times: {r['last_error']})"
        return [line]

    def _times(self) -> list[str]:
        lines = [f"  {'microseconds':18s} {'p50':>9s} {'p99':>9s} {'p99.9':>9s} {'max':>9s}"]
        for kind, words in _KINDS:
            t = self.data["times"][kind]
            if not t["n"]:
                continue
            if kind == "slack":
                values = (t["p50"], t["p1"], t["p0.1"], t["min"])
                words += " (worst)"
            else:
                values = (t["p50"], t["p99"], t["p99.9"], t["max"])
            lines.append(f"  {words:18s} " + " ".join(f"{v * 1e-3:9.1f}" for v in values))
        return lines

    def _trouble(self) -> list[str]:
        lines = [_stuck(t["name"], t["stuck"]) for t in self.data["threads"] if t["stuck"]]
        if self.counts["overruns"] and self.blame:
            lines += ["  most of the work of a step:", *(f"    {b}" for b in self.blame)]
        for task in self.data["tasks"]:
            named = {k: v for k, v in task["counts"].items() if v and k in _TROUBLE}
            if named:
                words = ", ".join(f"{v} {_TROUBLE[k]}" for k, v in named.items())
                lines.append(f"  {task['model']}: {words}")
            for block in task["blocks"]:
                what = ", ".join(f"{block[k]} {w}" for k, w in _BLOCK if block[k])
                lines.append(f"    {block['unknowns']} at {block['origin']}: {what}, last at {block['last_time']:g} s")
        return lines

    def _devices(self) -> list[str]:
        lines = []
        for device in self.data["devices"]:
            shown = ", ".join(f"{v} {k}" for k, v in device.items() if k != "name" and v)
            lines.append(f"  device {device['name']}: {shown or 'silent'}")
        return lines

    def _settings(self) -> list[str]:
        return [f"  {s['name']}: {s['word']}" for s in self.data["settings"]]


def _stuck(thread: str, place: dict[str, Any]) -> str:
    """Where a cycle was that did not end."""
    block = f", {place['unknowns']} at {place['origin']}" if place["origin"] else ""
    how = "" if place["interrupted"] else " (it could not be interrupted)"
    return f"  {thread}: step {place['step']} did not end: {place['model']}, {place['stage']}{block}{how}"


_TROUBLE = {
    "held": "steps that failed (states held)",
    "newton_caps": "times a loop hit its iteration cap",
    "not_finite": "steps with a value that is not finite",
    "pivots": "weak pivots",
    "event_caps": "event iterations cut short",
    "chattering": "times chattering was found",
    "assertions": "failed assertions",
    "failures": "other failures",
    "late_time_events": "time events handled at the end of their period",
    "corrected": "steps of the index-1 form in which loops were solved after all",
}
_BLOCK = (("newton_caps", "iteration caps"), ("pivots", "weak pivots"), ("failures", "failures"))


def read_report(path: Path) -> dict[str, Any]:
    """The JSON report of the executable."""
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return data
