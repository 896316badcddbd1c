"""Reading faults: the planted slow step and faults on signals, from a scenario, the command line or keywords."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kilohertz.base import Diagnostic, ModelError, near
from kilohertz.realtime.threads import MAIN
from kilohertz.realtime.toml_table import Problems, Table
from kilohertz.runtime import constant
from kilohertz.stimuli import FAULTS, FaultKind, SignalFault, Trigger

_LONGEST = constant("KHZ_INJECTION_NAME") - 1
SLOW = "slow"


@dataclass(frozen=True, slots=True)
class Fault:
    """A planted slow step, to see what the policy does: from `step` on, every `every` steps, `ns` longer."""

    step: int = 0
    every: int = 1 << 40
    ns: int = 0
    thread: str = ""  # "": the first


def read_faults(top: Table, threads: Sequence[str]) -> tuple[Fault, tuple[SignalFault, ...]]:
    """`[fault]`, a slow step, or `[[fault]]`, several of any kind."""
    if not isinstance(top.data.get("fault"), list):
        return _slow(top.table("fault"), threads), ()
    slow, faults = Fault(), list[SignalFault]()
    for i, table in enumerate(top.tables("fault"), 1):
        if table.data.get("kind") == SLOW:
            table.raw("kind")
            if slow.ns:
                table.wrong("kind", "is `slow` twice: there is one slow step in a scenario")
            slow = _slow(table, threads)
            continue
        fault = read_fault(table, f"fault{i}", (SLOW,))
        if fault.name in [f.name for f in faults]:
            table.wrong("name", f"is `{fault.name}`, which another fault is called")
        faults.append(fault)
    return slow, tuple(faults)


def _slow(table: Table, threads: Sequence[str]) -> Fault:
    slow, thread = table.seconds("slow", 0.0) or 0.0, table.text("thread")
    if thread and thread not in (*threads, MAIN):
        table.wrong("thread", f"is `{thread}`, which is no thread{near(thread, threads)}")
    out = Fault(table.integer("step", 0), table.integer("every", 1 << 40, 1), round(slow * 1e9), thread)
    table.close()
    return out


def read_fault(table: Table, name: str, others: tuple[str, ...] = ()) -> SignalFault:
    """One fault on a signal; `others`: kinds besides those on signals that would have been possible here."""
    signal = table.needed_text("signal")
    kind = FAULTS[table.choice("kind", (*FAULTS, *others), next(iter(FAULTS)))] if table.has("kind") else None
    if kind is None:
        table.needed_text("kind")
        kind = next(iter(FAULTS.values()))
    value = _number(table, kind)
    for other in FAULTS.values():
        if other.key != kind.key and table.has(other.key):
            table.raw(other.key)
            table.wrong(other.key, f"is for the kind `{other.name}`, and this fault is `{kind.name}`")
    called = table.text("name", name)
    if not 0 < len(called) <= _LONGEST or not all(c.isalnum() or c == "_" for c in called):
        table.wrong("name", f"is `{called}`, but must be 1 to {_LONGEST} letters, digits or `_`")
    out = SignalFault(
        signal,
        kind.name,
        value,
        called,
        table.seconds("from", None),
        _end(table, "until"),
        _end(table, "lasts"),
        read_trigger(table, "when"),
        table.integer("seed", 1, 0, 2**31 - 1),
        table.text("device"),
        table.path,
    )
    if out.until <= (out.begin or 0.0):
        table.wrong("until", "is not after `from`: the fault would never be active")
    if table.has("seed") and not kind.is_random:
        table.wrong("seed", f"is for random faults, and this one is `{kind.name}`")
    table.close()
    return out


def fault_of(keys: Mapping[str, Any], name: str = "live") -> SignalFault:
    """From keys as a scenario has them; ModelError where they are wrong."""
    problems = Problems("", "")
    fault = read_fault(Table(problems, (), keys), name)
    problems.stop_if_any()
    return fault


def more_faults(faults: Sequence[SignalFault], keys: Iterable[Mapping[str, Any]]) -> tuple[SignalFault, ...]:
    """Those there are, and further ones by their keys."""
    out = list(faults)
    for keys_of_fault in keys:
        fault = fault_of(keys_of_fault, f"fault{len(out) + 1}")
        if fault.name in [f.name for f in out]:
            raise ModelError(Diagnostic("R742", f"`name` is `{fault.name}`, which another fault is called"))
        out.append(fault)
    return tuple(out)


def _end(table: Table, key: str) -> float:
    end = table.seconds(key, None, positive=True)
    return math.inf if end is None else end


def _number(table: Table, kind: FaultKind) -> float:
    raw = table.raw(kind.key)
    if raw is None:
        if kind.default is None:
            table.problems.add("R743", f"`{kind.key}` is missing: a fault `{kind.name}` needs it", table.path)
        return math.nan if kind.default is None else kind.default
    number = kind.number(raw)
    if number is None:
        table.wrong(kind.key, f"is {raw!r}, but must be {kind.range}")
    return math.nan if number is None else number


def read_trigger(table: Table, key: str) -> Trigger | None:
    """A condition on a signal."""
    text = table.text(key)
    if not text:
        return None
    trigger = Trigger.read(text)
    if trigger is None:
        table.wrong(key, f'is `{text}`, but must be a condition such as "capacitor.v > 0.5" or "time > 2"')
    return trigger
