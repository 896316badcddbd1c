"""From a system of systems to its components: connections between their variables, and values of their parameters.

A node is a connector by the path of its owner.  Every connection makes an edge to the node that gets the value; from an
input of a component the edges lead back, through connectors of systems, to the output of a component or to a connector
that nothing drives.  On the way units are converted and transformations applied, all of them linear.

Codes: R832 a connection or value that makes no sense, R833 units that are not known or do not convert, R834 a value
that has no effect (warning).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kilohertz.base import Diagnostic, ModelError, Severity, near
from kilohertz.base.units import Unit, UnitError, as_modelica, parse_unit
from kilohertz.fmi.importing.description import Description, FmuVariable
from kilohertz.fmi.systems.structure import Change, Component, End, Link, Structure, System, Value

Place = tuple[str, ...]  # the way to an element from the top system; () is the top
Node = tuple[Place, str]  # a connector

_GIVEN_INSIDE = frozenset({"input", "parameter", "structuralParameter"})  # what a system passes to its elements
_GIVES = frozenset({"output", "calculatedParameter", "local", "constant"})  # what an element passes on
_PARAMETERS = frozenset({"parameter", "structuralParameter"})


@dataclass(frozen=True, slots=True)
class Part:
    """A component with its name in the whole system, what its FMU says, and values for its variables."""

    name: str
    component: Component
    description: Description
    values: dict[str, float | str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Wire:
    """`target` := gain * `source` + offset; each is a part and a variable of it."""

    source: tuple[int, FmuVariable]
    target: tuple[int, FmuVariable]
    gain: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, slots=True)
class FlatSystem:
    """Components and what connects them."""

    parts: tuple[Part, ...]
    wires: tuple[Wire, ...]
    open_inputs: tuple[str, ...]  # of the whole system: what somebody outside would drive
    findings: tuple[Diagnostic, ...]


def flattened(structure: Structure, descriptions: Mapping[Path, Description]) -> FlatSystem:
    """All components, wherever they stand, connected with each other."""
    return _Flattener(structure, descriptions).flat()


def _wrong(text: str) -> ModelError:
    return ModelError(Diagnostic("R832", text))


def _shown(node: Node) -> str:
    return ".".join((*node[0], node[1]))


class _Flattener:
    def __init__(self, structure: Structure, descriptions: Mapping[Path, Description]) -> None:
        self.structure = structure
        self.units = structure.units
        self.elements: dict[Place, Component | System] = {}
        self._enter((), structure.system)
        self.places = [place for place, e in self.elements.items() if isinstance(e, Component)]
        self.described = {p: descriptions[e.fmu] for p, e in self.elements.items() if isinstance(e, Component)}
        self.variables = {p: {v.name: v for v in d.variables} for p, d in self.described.items()}
        self.sources: dict[Node, tuple[Node, Change]] = {}
        self.findings: list[Diagnostic] = []

    def _enter(self, place: Place, element: Component | System) -> None:
        self.elements[place] = element
        if isinstance(element, System):
            for inner in element.elements:
                self._enter((*place, inner.name), inner)

    def flat(self) -> FlatSystem:
        for place, element in self.elements.items():
            if isinstance(element, System):
                for link in element.links:
                    self._connect(place, element, link)
        given = self._given()
        parts = [self._part(place, given) for place in self.places]
        wires: list[Wire] = []
        open_inputs: dict[str, None] = {}
        for target, (_, change) in list(self.sources.items()):
            if target[0] not in self.described:
                continue
            source, gain, offset = self._traced(target, change)
            if source[0] in self.described:
                wires += self._wires(source, target, gain, offset)
            elif source in given:
                self._hand_down(parts[self.places.index(target[0])], target, given[source], gain, offset)
            elif source[0] == ():
                open_inputs[source[1]] = None
        return FlatSystem(tuple(parts), tuple(wires), tuple(open_inputs), tuple(self.findings))

    def _note(self, text: str) -> None:
        self.findings.append(Diagnostic("R834", text, severity=Severity.WARNING))

    # ---------------------------------------------------------------------------------------------------- connections

    def _node(self, place: Place, system: System, end: End) -> Node:
        owner = (*place, end.element) if end.element else place
        if owner not in self.elements:
            text = f"a connection of `{'.'.join(place) or system.name}` names the element `{end.element}`"
            raise _wrong(f"{text}, which is not there{near(end.element, [e.name for e in system.elements])}")
        return owner, end.connector

    def _kind(self, node: Node) -> str:
        """What a connector is; R832 where there is none."""
        place, name = node
        element = self.elements[place]
        known = self.variables.get(place)
        said = next((c.kind for c in element.connectors if c.name == name), "")
        if known is not None:
            if name not in known:
                raise _wrong(f"there is no variable `{name}` in the FMU of `{'.'.join(place)}`{near(name, known)}")
            return known[name].causality
        if not said:
            names = [c.name for c in element.connectors]
            raise _wrong(f"the system `{'.'.join(place) or element.name}` has no connector `{name}`{near(name, names)}")
        return said

    def _connect(self, place: Place, system: System, link: Link) -> None:
        start, end = self._node(place, system, link.start), self._node(place, system, link.end)
        gives = [self._kind(n) in (_GIVES if n[0] != place else _GIVEN_INSIDE) for n in (start, end)]
        if gives[0] == gives[1]:
            what = "both give values" if gives[0] else "neither gives a value"
            raise _wrong(f"`{_shown(start)}` and `{_shown(end)}` are connected, but {what}")
        source, target = (start, end) if gives[0] else (end, start)
        if target in self.sources:
            raise _wrong(f"`{_shown(target)}` has two sources: `{_shown(self.sources[target][0])}`, `{_shown(source)}`")
        self.sources[target] = source, link.change

    def _traced(self, target: Node, change: Change) -> tuple[Node, float, float]:
        """Where a value comes from, and what becomes of it."""
        source = self.sources[target][0]
        gain, offset = self._hop(source, target, change)
        seen = {target}
        while source[0] not in self.described and source in self.sources:
            if source in seen:
                raise _wrong(f"the connections of `{_shown(target)}` lead in a circle through `{_shown(source)}`")
            seen.add(source)
            before, change = self.sources[source]
            f, o = self._hop(before, source, change)
            gain, offset, source = gain * f, gain * o + offset, before
        return source, gain, offset

    def _hop(self, source: Node, target: Node, change: Change) -> tuple[float, float]:
        """(gain, offset) of one connection: units first, then what it says."""
        if not change.is_linear:
            flips = {"true": "false", "false": "true"}
            if change.table == "BooleanMappingTransformation" and dict(change.entries) == flips:
                return -1.0, 1.0
            text = f"the connection of `{_shown(source)}` with `{_shown(target)}` has a {change.table}"
            raise _wrong(f"{text}, which is no gain and offset")
        factor, shift = (1.0, 0.0) if change.as_is else self._conversion(source, target)
        return change.factor * factor, change.factor * shift + change.offset

    def _wires(self, source: Node, target: Node, gain: float, offset: float) -> Iterator[Wire]:
        ends = self.variables[source[0]][source[1]], self.variables[target[0]][target[1]]
        kinds = [v.type for v in ends]
        if ends[1].causality in _PARAMETERS:
            raise _wrong(f"`{_shown(target)}` is a parameter, and `{_shown(source)}` is not known before the start")
        if ends[0].shape != ends[1].shape:
            raise _wrong(f"`{_shown(source)}` and `{_shown(target)}` are arrays of different sizes")
        if not all(v.holds_numbers for v in ends):
            raise _wrong(f"`{_shown(source)}` is {kinds[0]}, `{_shown(target)}` {kinds[1]}: only numbers are passed on")
        places = self.places.index(source[0]), self.places.index(target[0])
        yield Wire((places[0], ends[0]), (places[1], ends[1]), gain, offset)

    # ---------------------------------------------------------------------------------------------------------- units

    def _unit(self, node: Node) -> str:
        said = next((c.unit for c in self.elements[node[0]].connectors if c.name == node[1] and c.unit), "")
        own = self.variables.get(node[0], {}).get(node[1])
        return said or (own.unit if own is not None else "")

    def _conversion(self, source: Node, target: Node) -> tuple[float, float]:
        return self._between(self._unit(source), self._unit(target), f"`{_shown(source)}` drives `{_shown(target)}`")

    def _between(self, source: str, target: str, where: str, defined: Unit | None = None) -> tuple[float, float]:
        """(factor, offset) from one unit to another; nothing where one has none.  `defined`: what the first means."""
        if not source.strip() or not target.strip() or source == target:
            return 1.0, 0.0
        a, b = defined or self._known(source, where), self._known(target, where)
        if a.dimension != b.dimension:
            text = f"{where}: `{source}` ({a.as_text()}) does not convert to `{target}` ({b.as_text()})"
            raise ModelError(Diagnostic("R833", text))
        return a.factor / b.factor, (a.offset - b.offset) / b.factor

    def _known(self, name: str, where: str) -> Unit:
        if name in self.units:
            return self.units[name]
        try:
            return parse_unit(as_modelica(name))
        except UnitError as error:
            raise ModelError(Diagnostic("R833", f"{where}: {error}, and the system does not define it")) from None

    # --------------------------------------------------------------------------------------------------------- values

    def _given(self) -> dict[Node, Value]:
        """Values by node: later ones over earlier ones, those of a system over those of what it holds."""
        given: dict[Node, Value] = {}
        for place in sorted(self.elements, key=len, reverse=True):
            for binding in self.elements[place].bindings:
                for value in binding:
                    nodes = list(self._named(place, value.name))
                    given.update(dict.fromkeys(nodes, value))
                    if not nodes:
                        self._note(f"`{'.'.join((*place, value.name))}` gets a value, but nothing is called so")
        return given

    def _named(self, place: Place, name: str) -> Iterator[Node]:
        """All that a hierarchical name means, seen from an element."""
        element = self.elements[place]
        if isinstance(element, Component):
            if name in self.variables[place]:
                yield place, name
            return
        if any(c.name == name for c in element.connectors):
            yield place, name
        for inner in element.elements:
            if name.startswith(f"{inner.name}."):
                yield from self._named((*place, inner.name), name[len(inner.name) + 1 :])

    def _part(self, place: Place, given: Mapping[Node, Value]) -> Part:
        element = self.elements[place]
        assert isinstance(element, Component)
        part = Part(".".join(place), element, self.described[place])
        for node, value in given.items():
            if node[0] == place:
                self._hand_down(part, node, value, 1.0, 0.0)
        return part

    def _hand_down(self, part: Part, node: Node, value: Value, gain: float, offset: float) -> None:
        """A value for a variable of a component, as the FMU counts it."""
        variable = self.variables[node[0]][node[1]]
        if variable.causality not in _PARAMETERS | {"input"} or variable.is_array:
            what = (
                "an array" if variable.is_array else f"{variable.causality}, and a task is given parameters and inputs"
            )
            self._note(f"the value of `{_shown(node)}` has no effect: it is {what}")
            return
        if isinstance(value.value, str) != (variable.type == "String"):
            what = "a text" if isinstance(value.value, str) else "a number"
            raise _wrong(f"`{_shown(node)}` is {variable.type} and gets {what}, `{value.value}`")
        if isinstance(value.value, str):
            part.values[variable.name] = value.value
            return
        number = self._transformed(value, node)
        part.values[variable.name] = gain * number + offset

    def _transformed(self, value: Value, node: Node) -> float:
        assert not isinstance(value.value, str)
        change = value.change
        if not change.is_linear:
            return self._looked_up(value, node)
        where = f"the value of `{_shown(node)}`"
        units = value.unit, self._unit(node)
        factor, shift = (1.0, 0.0) if change.as_is else self._between(*units, where, value.defined)
        return change.factor * (factor * value.value + shift) + change.offset

    def _looked_up(self, value: Value, node: Node) -> float:
        """A mapping table of Booleans or whole numbers; what it does not name stays as it is."""
        assert not isinstance(value.value, str)
        words = {"true": 1.0, "false": 0.0}
        for source, target in value.change.entries.items():
            try:
                if float(words.get(source, source)) == value.value:
                    return float(words.get(target, target))
            except ValueError:
                text = f"the value of `{_shown(node)}` has a {value.change.table} of `{source}`, which is no number"
                raise _wrong(text) from None
        return value.value
