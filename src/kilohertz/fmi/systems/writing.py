"""A scenario as an SSP: its tasks as FMUs, its connections and settings, and by our annotation its steps.

Codes: R801 a name that does not end with .ssp, R802 the file cannot be written, R836 something of a scenario that SSP
has no place for (warning).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, indent, register_namespace, tostring

from kilohertz.base import Diagnostic, ModelError, Severity, near
from kilohertz.base.units import BASE, Unit, UnitError, parse_unit
from kilohertz.fmi.exporting.packing import pack
from kilohertz.fmi.importing.archive import opened
from kilohertz.fmi.importing.description import Description, FmuVariable
from kilohertz.fmi.systems.reading import DESCRIPTION, SSC, SSD, SSM, SSV, VENDOR
from kilohertz.fmi.wrapping.ports import identifier
from kilohertz.realtime import Scenario, Task
from kilohertz.solvers.settings import NS

_PREFIXES = {"ssd": SSD, "ssc": SSC, "ssv": SSV, "ssm": SSM}
_SHOWN = ("input", "output", "parameter")
_OURS = "{https://kilohertz.invalid/ssp}"


@dataclass(frozen=True, slots=True)
class WrittenSystem:
    """An SSP that was written."""

    path: Path
    components: tuple[str, ...]
    n_connections: int
    size: int
    warnings: tuple[Diagnostic, ...]


def write_system(scenario: Scenario, fmus: Mapping[str, Path], path: Path) -> WrittenSystem:
    """Write a scenario whose tasks are given as FMUs, by their names."""
    if path.suffix != ".ssp":
        raise ModelError(Diagnostic("R801", f"the name of an SSP ends with .ssp, not `{path.name}`"))
    described: dict[str, Description] = {}
    for name, file in fmus.items():
        with opened(file) as fmu:
            described[name] = fmu.description
    text = _Writer(scenario, described).text()
    files = {DESCRIPTION: text.encode()}
    files |= {f"resources/{_file(i)}": fmus[t.name].read_bytes() for i, t in enumerate(scenario.tasks)}
    size = pack(path, files)
    names = tuple(t.name for t in scenario.tasks)
    return WrittenSystem(path, names, len(scenario.connections), size, tuple(_left_out(scenario)))


def _file(i: int) -> str:
    return f"component{i + 1}.fmu"


class _Writer:
    def __init__(self, scenario: Scenario, described: Mapping[str, Description]) -> None:
        self.s, self.described = scenario, described

    def text(self) -> str:
        for prefix, space in {**_PREFIXES, "khz": _OURS}.items():
            register_namespace(prefix, space.strip("{}"))
        root = Element(f"{SSD}SystemStructureDescription", {"version": "1.0", "name": self.s.name})
        system = SubElement(root, f"{SSD}System", name=self.s.name)
        elements = SubElement(system, f"{SSD}Elements")
        for i, task in enumerate(self.s.tasks):
            self._component(elements, i, task)
        connections = SubElement(system, f"{SSD}Connections")
        for c in self.s.connections:
            self._connection(connections, c.source, c.target, c.gain, c.offset)
        if not len(connections):
            system.remove(connections)
        self._units(root)
        times = {"startTime": repr(self.s.start)}
        if self.s.cycles:
            times["stopTime"] = repr(self.s.start + self.s.duration)
        SubElement(root, f"{SSD}DefaultExperiment", times)
        _annotated(root, "Scenario", {"exchange": self.s.exchange})
        indent(root)
        return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"

    def _units(self, root: Element) -> None:
        """All that connectors name, as far as we know them."""
        names = {v.unit for d in self.described.values() for v in d.variables if v.causality in _SHOWN}
        known: dict[str, Unit] = {}
        for name in sorted(names - {""}):
            with suppress(UnitError):
                known[name] = parse_unit(name)
        if not known:
            return
        units = SubElement(root, f"{SSD}Units")
        for name, unit in known.items():
            exponents = {b: str(n) for b, n in zip(BASE, unit.dimension, strict=True) if n}
            numbers = {"factor": repr(unit.factor), "offset": repr(unit.offset)}
            SubElement(SubElement(units, f"{SSC}Unit", name=name), f"{SSC}BaseUnit", {**exponents, **numbers})

    def _component(self, elements: Element, i: int, task: Task) -> None:
        d = self.described[task.name]
        how = {"implementation": "CoSimulation"} if "cs" in d.identifiers else {}
        source = {"name": task.name, "type": "application/x-fmu-sharedlibrary", "source": f"resources/{_file(i)}"}
        component = SubElement(elements, f"{SSD}Component", {**source, **how})
        connectors = SubElement(component, f"{SSD}Connectors")
        for v in d.variables:
            if v.causality in _SHOWN and v.is_number:
                connector = SubElement(connectors, f"{SSD}Connector", name=v.name, kind=v.causality)
                _typed(connector, SSC, v, {"unit": v.unit} if v.unit and v.type == "Real" else {})
        if not len(connectors):
            component.remove(connectors)
        if task.settings:
            self._values(component, task)
        _annotated(component, "Task", {"step": repr(task.stepping.period_ns / NS)})

    def _values(self, component: Element, task: Task) -> None:
        bindings = SubElement(component, f"{SSD}ParameterBindings")
        holder = SubElement(SubElement(bindings, f"{SSD}ParameterBinding"), f"{SSD}ParameterValues")
        values = SubElement(holder, f"{SSV}ParameterSet", version="1.0", name=f"{task.name} settings")
        parameters = SubElement(values, f"{SSV}Parameters")
        for name, value in task.settings.items():
            v = self._variable(task.name, name)
            parameter = SubElement(parameters, f"{SSV}Parameter", name=v.name)
            _typed(parameter, SSV, v, {"value": _as_text(v, value)})

    def _variable(self, task: str, signal: str) -> FmuVariable:
        """The variable that a task calls so: it has quotes around what is no name in Modelica."""
        by_signal = {identifier(v.name): v for v in self.described[task].variables}
        by_signal |= {v.name: v for v in self.described[task].variables}
        if signal not in by_signal:
            raise ModelError(Diagnostic("R744", f"`{task}` has no `{signal}`{near(signal, by_signal)}"))
        return by_signal[signal]

    def _end(self, signal: str) -> tuple[str, str]:
        for task in self.s.tasks:
            if signal.startswith(f"{task.name}."):
                return task.name, self._variable(task.name, signal[len(task.name) + 1 :]).name
        raise ModelError(Diagnostic("R744", f"`{signal}` names no task; write `task.name`"))

    def _connection(self, parent: Element, source: str, target: str, gain: float, offset: float) -> None:
        (a, y), (b, u) = self._end(source), self._end(target)
        ends = {"startElement": a, "startConnector": y, "endElement": b, "endConnector": u}
        connection = SubElement(parent, f"{SSD}Connection", {**ends, "suppressUnitConversion": "true"})
        if (gain, offset) != (1.0, 0.0):
            SubElement(connection, f"{SSC}LinearTransformation", factor=repr(gain), offset=repr(offset))


def _typed(parent: Element, space: str, v: FmuVariable, attributes: Mapping[str, str]) -> None:
    kind = {"Enumeration": "Integer"}.get(v.type, v.type)
    SubElement(parent, f"{space}{kind}", dict(attributes))


def _as_text(v: FmuVariable, value: float | str) -> str:
    if isinstance(value, str) and v.type != "String":
        raise ModelError(Diagnostic("R801", f"`{v.name}` is set to the text `{value}`: an SSP takes a plain number"))
    if isinstance(value, str):
        return value
    if v.type == "Boolean":
        return "true" if value else "false"
    return repr(float(value)) if v.type == "Real" else str(int(value))


def _annotated(element: Element, name: str, attributes: Mapping[str, str]) -> None:
    annotations = SubElement(element, f"{SSD}Annotations")
    SubElement(SubElement(annotations, f"{SSC}Annotation", type=VENDOR), f"{_OURS}{name}", dict(attributes))


def _left_out(s: Scenario) -> Iterator[Diagnostic]:
    named = {
        "stimuli": s.stimuli,
        "devices": s.devices,
        "faults": s.faults,
        "threads": s.threads,
        "`extrapolate` of connections": [c for c in s.connections if c.extrapolate != "hold"],
        "settings of [record]": replace(s.recording, file="") != type(s.recording)(),
        "settings of [realtime]": s.realtime != type(s.realtime)(),
    }
    for what, there in named.items():
        if there:
            text = f"SSP has no place for the {what} of a scenario: left out"
            yield Diagnostic("R836", text, severity=Severity.WARNING)
