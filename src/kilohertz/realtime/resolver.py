"""The signals of all tasks of a scenario by the names it uses, and what drives their inputs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from kilohertz.base import near
from kilohertz.codegen import ModelSignal
from kilohertz.realtime.scenario import Connection, Device, Scenario
from kilohertz.realtime.threads import placed
from kilohertz.realtime.toml_table import Problems

_SUBSCRIPTS = re.compile(r"\[\d+(,\d+)*\]")


class Resolver:
    """Signals of all tasks by the names a scenario uses: `signal`, or `task.signal` where there are several."""

    def __init__(self, scenario: Scenario, signals: Sequence[Sequence[ModelSignal]], problems: Problems) -> None:
        self.scenario, self.problems = scenario, problems
        self.tables = [{s.name: s for s in table} for table in signals]
        self.several = len(self.tables) > 1
        self.threads = placed(scenario)
        self.driven: dict[tuple[int, str], str] = {}  # inputs, and by what
        self.thread_of = {i: t for t, thread in enumerate(self.threads) for i in thread.tasks}  # of each task
        self.connections = tuple(e for c in scenario.connections for e in self._elementwise(c))

    def names(self) -> Iterator[tuple[int, str, ModelSignal]]:
        """(task, name in the scenario, signal) of everything."""
        for i, (task, table) in enumerate(zip(self.scenario.tasks, self.tables, strict=True)):
            for name, signal in table.items():
                yield i, f"{task.name}.{name}" if self.several else name, signal

    def look(self, name: str) -> tuple[int, ModelSignal] | None:
        """The task's number and the signal; None where there is none."""
        for i, task in enumerate(self.scenario.tasks):
            without_task = name.removeprefix(task.name + ".") if name.startswith(task.name + ".") else None
            plain = name if not self.several else None
            for candidate in (without_task, plain):
                if candidate is not None and candidate in self.tables[i]:
                    return i, self.tables[i][candidate]
        return None

    def find(self, name: str, path: Sequence[str | int], what: str = "signal") -> tuple[int, ModelSignal] | None:
        """The task's number and the signal; where there is none, a problem that names what is close."""
        place = self.look(name)
        if place is not None:
            return place
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

    def elements(self, name: str) -> list[str]:
        """The elements of an array in their order, row by row; of anything else the name itself."""
        if self.look(name) is not None:
            return [name]
        own = name if self.several else name.removeprefix(f"{self.scenario.tasks[0].name}.")
        rest = {n: n[len(own) :] for _, n, _ in self.names() if n.startswith(f"{own}[")}
        found = {n: [int(i) for i in s[1:-1].split(",")] for n, s in rest.items() if _SUBSCRIPTS.fullmatch(s)}
        return sorted(found, key=found.__getitem__) or [name]

    def mapped(self, device: Device, way: str) -> list[tuple[int, Mapping[str, str]]]:
        """What a device receives or sends, arrays element by element; each with its position in the scenario."""
        listed = device.receive if way == "receive" else device.send
        return [(j, {**m, "signal": name}) for j, m in enumerate(listed) for name in self.elements(m["signal"])]

    def _elementwise(self, c: Connection) -> list[Connection]:
        """One connection for each element of an array; a problem where the two do not have equally many."""
        sources, targets = self.elements(c.source), self.elements(c.target)
        if len(sources) != len(targets):
            counts = f"`{c.source}` has {_count(sources)}, `{c.target}` has {_count(targets)}"
            self.problems.add("R744", f"{counts}: they cannot be connected", (*c.path, "to"))
            return []
        return [replace(c, source=a, target=b) for a, b in zip(sources, targets, strict=True)]

    def drive(self, at: tuple[int, ModelSignal], by: str, path: Sequence[str | int]) -> None:
        """Something drives an input; R744 where something else does already."""
        key = (at[0], at[1].name)
        if key in self.driven:
            message = f"input `{at[1].name}` is driven twice: by {self.driven[key]} and by {by}"
            self.problems.add("R744", message, path)
        self.driven[key] = by

    def undriven(self) -> list[str]:
        """Inputs that nothing drives and nothing was said about: they keep their start values."""
        settings = [task.settings for task in self.scenario.tasks]
        return [
            name
            for task, name, signal in self.names()
            if signal.causality == "input"
            and (task, signal.name) not in self.driven
            and signal.name not in settings[task]
        ]

    @staticmethod
    def bind(lines: dict[str, object], head: str, place: tuple[int, ModelSignal]) -> None:
        """The lines that name a signal for the executable."""
        lines |= {f"{head}.task": place[0], f"{head}.signal": place[1].name}


def _count(elements: list[str]) -> str:
    return f"{len(elements)} elements" if len(elements) > 1 else "1 element"
