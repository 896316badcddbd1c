"""Real-time threads of a scenario: which task runs in which, on which core, at which priority, in which process.

A task without a thread runs in `main`.  Threads that say nothing of priority get that of [realtime], less one for each
shorter period there is (rate-monotonic): on one core a fast thread then interrupts a slow one and not the other way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kilohertz.base import near
from kilohertz.realtime.toml_table import Problems, Table
from kilohertz.runtime import constant

if TYPE_CHECKING:
    from kilohertz.realtime.scenario import Scenario, Task

MAIN = "main"
MOST = constant("KHZ_MOST_THREADS")


@dataclass(frozen=True, slots=True)
class Thread:
    """What a [[thread]] says; what it does not say is as in [realtime]."""

    name: str
    cpu: int | None = None
    priority: int | None = None
    process: str = ""  # threads with the same text share one; "": the first
    settings: Mapping[str, object] = field(default_factory=dict)  # others, as the flat scenario spells them
    path: tuple[str | int, ...] = ()


@dataclass(frozen=True, slots=True)
class Placed:
    """A thread that has tasks, with everything decided."""

    name: str
    tasks: tuple[int, ...]  # numbers in the scenario
    every: int  # its period in base periods
    cpu: int
    priority: int
    process: int  # 0: the first
    settings: Mapping[str, object] = field(default_factory=dict)


def read_thread(table: Table, policies: Sequence[str]) -> Thread:
    """One [[thread]]."""
    name = table.needed_text("name")
    settings: dict[str, object] = {}
    if table.has("overrun"):
        settings["policy"] = table.choice("overrun", policies, policies[0])
    if table.has("recover"):
        settings["recover"] = table.integer("recover", 0)
    if table.has("grace"):
        settings["grace"] = table.integer("grace", 0)
    if table.has("spin"):
        settings["spin_ns"] = round((table.seconds("spin", 0.0) or 0.0) * 1e9)
    if table.has("patience"):
        settings["patience_ns"] = round((table.seconds("patience", 0.0) or 0.0) * 1e9)
    if table.has("failure"):
        settings["stop_on_failure"] = table.choice("failure", ("continue", "stop"), "continue") == "stop"
    if table.has("isolate"):
        settings["isolate"] = table.flag("isolate", False)
    out = Thread(
        name,
        table.integer("cpu", -1, -1, 1023) if table.has("cpu") else None,
        table.integer("priority", 80, 0, 99) if table.has("priority") else None,
        table.text("process"),
        settings,
        table.path,
    )
    table.close()
    return out


def check_threads(problems: Problems, threads: Sequence[Thread], tasks: Sequence[Task]) -> None:
    """Names that are there and there once; threads that have something to do; steps that fit into each other."""
    names: list[str] = []
    for thread in threads:
        if thread.name in names:
            problems.add("R742", f"`name` `{thread.name}` is taken by another thread", (*thread.path, "name"))
        elif thread.name and not any((t.thread or MAIN) == thread.name for t in tasks):
            problems.add("R742", f"no task runs in thread `{thread.name}`", (*thread.path, "name"))
        names.append(thread.name)
    if len(names) >= MOST:
        problems.add("R742", f"there are {len(names)} threads, more than {MOST - 1}", (*threads[-1].path, "name"))
    for task in tasks:
        if task.thread and task.thread != MAIN and task.thread not in names:
            known = (*names, MAIN)
            problems.add(
                "R742", f"there is no thread `{task.thread}`{near(task.thread, known)}", (*task.path, "thread")
            )
    fastest = min((t.stepping.period_ns for t in tasks), default=1)
    for name in dict.fromkeys(t.thread or MAIN for t in tasks):
        stepped_here = [t for t in tasks if (t.thread or MAIN) == name]
        shortest = min(t.stepping.period_ns for t in stepped_here)
        for task in stepped_here:
            step = task.stepping.period_ns
            if step % shortest and not step % fastest:  # else it is told that it is no multiple of the fastest
                message = f"`step` of task `{task.name}` is {step} ns, no multiple of the shortest in its "
                problems.add("R742", f"{message}thread, {shortest} ns", (*task.path, "step"))


def placed(scenario: Scenario) -> tuple[Placed, ...]:
    """The threads of a scenario; one, `main`, where it names none."""
    declared = {t.name: t for t in scenario.threads}
    used = {task.thread or MAIN for task in scenario.tasks}
    names = [*([MAIN] if MAIN in used and MAIN not in declared else []), *(n for n in declared if n in used)]
    processes = _processes(declared[n].process for n in names if n in declared)
    every = {n: min(t.every for t in scenario.tasks if (t.thread or MAIN) == n) for n in names}
    out = []
    for name in names:
        thread = declared.get(name, Thread(name))
        numbers = tuple(i for i, t in enumerate(scenario.tasks) if (t.thread or MAIN) == name)
        cpu = scenario.realtime.cpu if thread.cpu is None else thread.cpu
        priority = thread.priority
        if priority is None:
            rank = len({e for e in every.values() if e < every[name]})
            highest = scenario.realtime.priority
            priority = max(1, highest - rank) if highest else 0
        process = processes.get(thread.process, 0)
        out.append(Placed(name, numbers, every[name], cpu, priority, process, thread.settings))
    return tuple(out)


def _processes(names: Iterable[str]) -> dict[str, int]:
    """Numbers of the processes that are named; 0 is the first, which supervises the others."""
    return {name: i + 1 for i, name in enumerate(dict.fromkeys(n for n in names if n))}
