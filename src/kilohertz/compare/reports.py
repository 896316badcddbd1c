"""A verdict as text, as JSON and as JUnit XML for CI."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from math import isfinite
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element, SubElement, tostring

if TYPE_CHECKING:
    from kilohertz.compare.judge import SignalVerdict
    from kilohertz.compare.verdict import Verdict

_FEW = 4


def as_text(verdict: Verdict, why: Sequence[str] = (), said: Sequence[str] = ()) -> str:
    """A line for each signal, worst first; then what concerns the whole; `said`: about the sides."""
    width = max(len("signal"), *(len(s.name) for s in verdict.signals), 0)
    lines = [f"{'signal':{width}}  verdict  outside        rms    largest  events  reason"]
    lines += [_line(s, width) for s in verdict.worst_first]
    lines += [*notes(verdict), *said]
    lines += [f"why: {sentence}" for sentence in why]
    lines.append(summary(verdict))
    return "\n".join(lines)


def summary(verdict: Verdict) -> str:
    """The verdict on all in a line."""
    n_passed = len(verdict.signals) - len(verdict.failed)
    return f"{'PASS' if verdict.ok else 'FAIL'}: {n_passed} of {len(verdict.signals)} signals pass"


def notes(verdict: Verdict) -> list[str]:
    """What concerns no single signal: times, parameters that differ, what only one side has."""
    lines = [f"as a whole: {verdict.coverage}"] if verdict.coverage else []
    pairing = verdict.pairing
    for side, names in (("the result", pairing.only_result), ("the reference", pairing.only_reference)):
        if names:
            lines.append(f"only in {side}: {few(names)}")
    if pairing.parameters:
        lines.append(f"parameters that differ: {few([f'{n} ({a:g}, {b:g})' for n, a, b in pairing.parameters])}")
    return lines


def few(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
    return ", ".join(names[:_FEW]) + more


def _line(s: SignalVerdict, width: int) -> str:
    when = f" from t = {s.first_outside:g}" if s.first_outside is not None else ""
    when += f", {abs(s.shift):.3g} s {'late' if s.shift > 0 else 'early'}" if s.shift and not s.ok else ""
    word = "pass" if s.ok else "FAIL"
    numbers = f"{s.n_outside:7}  {s.rms:9.2e}  {s.largest:9.2e}" if s.is_measured else f"{'':29}"
    return f"{s.name:{width}}  {word:7}  {numbers}  {events_text(s):6}  {s.reason}{when}".rstrip()


def events_text(s: SignalVerdict) -> str:
    """Matched events; `+n` that only the result has, `-n` that only the reference has."""
    more = f"+{s.n_events_only_result}" if s.n_events_only_result else ""
    less = f"-{s.n_events_only_reference}" if s.n_events_only_reference else ""
    return f"{s.n_events}{more}{less}" if s.n_events or more or less else ""


def as_json(verdict: Verdict, why: Sequence[str] = (), said: Sequence[str] = ()) -> str:
    """All numbers, worst signal first; what is not finite is null."""
    pairing = verdict.pairing
    data = {
        "ok": verdict.ok,
        "coverage": verdict.coverage,
        "why": list(why),
        "notes": list(said),
        "signals": {s.name: {"ok": s.ok, **_numbers(s)} for s in verdict.worst_first},
        "only_result": list(pairing.only_result),
        "only_reference": list(pairing.only_reference),
        "parameters": {n: _finite({"result": a, "reference": b}) for n, a, b in pairing.parameters},
    }
    return json.dumps(data, allow_nan=False)


def _numbers(s: SignalVerdict) -> dict[str, Any]:
    """All fields; numbers of a signal that was not measured are null."""
    data = _finite(asdict(s))
    return data if s.is_measured else {k: v if isinstance(v, str | bool) else None for k, v in data.items()}


def _finite(values: dict[str, Any]) -> dict[str, Any]:
    return {k: None if isinstance(v, float) and not isfinite(v) else v for k, v in values.items()}


def as_junit(verdict: Verdict, title: str, why: Sequence[str] = (), said: Sequence[str] = ()) -> str:
    """A test case for each signal, and one for the times of the whole."""
    signals, n_failed = verdict.worst_first, len(verdict.failed) + bool(verdict.coverage)
    suite = Element("testsuite", name=title, tests=str(len(signals) + 1), failures=str(n_failed), errors="0")
    whole = SubElement(suite, "testcase", classname=title, name="covers the reference")
    if verdict.coverage:
        SubElement(whole, "failure", message=verdict.coverage)
    for s in signals:
        case = SubElement(suite, "testcase", classname=title, name=s.name)
        if not s.ok:
            failure = SubElement(case, "failure", message=s.reason)
            if s.is_measured:
                failure.text = f"rms {s.rms:.3e}, largest {s.largest:.3e}, first outside {s.first_outside}"
    sentences = [*notes(verdict), *said, *why]
    if sentences:
        SubElement(suite, "system-out").text = "\n".join(sentences)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(suite, encoding="unicode") + "\n"
