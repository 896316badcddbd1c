"""modelDescription.xml and buildDescription.xml of FMI 3.0."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from xml.etree.ElementTree import Element, SubElement

from kilohertz.fmi.exporting.arrays import Array
from kilohertz.fmi.exporting.contents import (
    CS,
    LOG_CATEGORIES,
    ME,
    Contents,
    as_text,
    cost_element,
    default_experiment,
    enumerations,
    limits,
    number,
    plain,
    root_attributes,
    start_text,
)
from kilohertz.fmi.exporting.units import shown_as, unit_definitions
from kilohertz.fmi.exporting.variables import Variable
from kilohertz.ir.step import SetState, WhenBlock

_TYPES = {"Real": "Float64", "Integer": "Int32"}
_VERSION = "3.0"
_YES = "true"
_OPTIONS = "-std=c11 -O2 -ffp-contract=off -fno-math-errno"  # those that numbers depend on, and speed


def description3(c: Contents) -> str:
    """The XML."""
    head = {"fmiVersion": _VERSION, "instantiationToken": c.token, **root_attributes(c)}
    root = Element("fmiModelDescription", head)
    _interfaces(root, c)
    units = unit_definitions(c.variables.all)
    if units is not None:
        root.append(units)
    _types(root, c)
    categories = SubElement(root, "LogCategories")
    for name in LOG_CATEGORIES:
        SubElement(categories, "Category", name=name)
    SubElement(root, "DefaultExperiment", default_experiment(c))
    _Variables(SubElement(root, "ModelVariables"), c).write()
    _structure(SubElement(root, "ModelStructure"), c)
    if CS in c.kinds:
        cost_element(SubElement(SubElement(root, "Annotations"), "Annotation", type="kilohertz.cost-bound"), c)
    return as_text(root)


def build_description(identifier: str, sources: Sequence[str]) -> str:
    """How a source code FMU is built."""
    root = Element("fmiBuildDescription", fmiVersion=_VERSION)
    configuration = SubElement(root, "BuildConfiguration", modelIdentifier=identifier)
    files = SubElement(configuration, "SourceFileSet", language="C11", compiler="gcc", compilerOptions=_OPTIONS)
    for name in sources:
        SubElement(files, "SourceFile", name=name)
    return as_text(root)


def _interfaces(root: Element, c: Contents) -> None:
    common = {
        "modelIdentifier": c.identifier,
        "canGetAndSetFMUState": _YES,
        "canSerializeFMUState": _YES,
    }
    if ME in c.kinds:
        evaluated = {"providesDirectionalDerivatives": _YES, "needsCompletedIntegratorStep": _YES}
        SubElement(root, "ModelExchange", {**common, **evaluated, "providesEvaluateDiscreteStates": _YES})
    if CS in c.kinds:
        stepping = {"canHandleVariableCommunicationStepSize": _YES, "fixedInternalStepSize": repr(c.step_size)}
        stepping |= {"providesIntermediateUpdate": _YES, "canReturnEarlyAfterIntermediateUpdate": _YES}
        stepping |= {"hasEventMode": _YES}
        SubElement(root, "CoSimulation", {**common, **stepping})


def _types(root: Element, c: Contents) -> None:
    known = enumerations(c.variables.all)
    if known:
        definitions = SubElement(root, "TypeDefinitions")
    for name, literals in known.items():
        items = SubElement(definitions, "EnumerationType", name=name)
        for i, literal in enumerate(literals, 1):
            SubElement(items, "Item", name=literal, value=str(i))


class _Variables:
    """Writes <ModelVariables>."""

    def __init__(self, parent: Element, c: Contents) -> None:
        self.parent, self.c = parent, c
        self.by_name = {v.name: v for v in c.variables.stored}
        self.states = set(c.variables.states)
        self.reinitialized = _reinitialized(c) if ME in c.kinds else set()

    def write(self) -> None:
        elements: dict[str, Element] = {}
        arrays = {a.members[0]: a for a in self.c.variables.arrays}
        others = {name for a in self.c.variables.arrays for name in a.members[1:]}
        for v in self.c.variables.stored:
            if v.name in arrays:
                self._array(v, arrays[v.name])
            elif v.name not in others:
                elements[v.name] = _clock(self.parent, v) if v.clock is not None else self._scalar(v)
        for v in self.c.variables.all:
            if v.alias_of:
                about = {"description": plain(v.description)} if v.description else {}
                SubElement(elements[v.alias_of], "Alias", {"name": v.name, **about})

    def _scalar(self, v: Variable) -> Element:
        attributes = self._attributes(v)
        if v.start is not None and v.type != "String":
            attributes["start"] = start_text(v)
        element = SubElement(self.parent, _TYPES.get(v.type, v.type), attributes)
        if v.start is not None and v.type == "String":
            SubElement(element, "Start", value=start_text(v))
        return element

    def _array(self, first: Variable, array: Array) -> None:
        """Elements that are alike, with the attributes of the first."""
        members = [self.by_name[name] for name in array.members]
        is_started = all(v.start is not None for v in members)
        attributes = self._attributes(first) | {"name": array.name, "valueReference": str(array.reference)}
        if is_started and first.type != "String":
            attributes["start"] = " ".join(start_text(v) for v in members)
        element = SubElement(self.parent, _TYPES.get(first.type, first.type), attributes)
        for extent in array.shape:
            SubElement(element, "Dimension", start=str(extent))
        for v in members if is_started and first.type == "String" else ():
            SubElement(element, "Start", value=start_text(v))

    def _attributes(self, v: Variable) -> dict[str, str]:
        """All but the start."""
        attributes = {"name": v.name, "valueReference": str(v.reference)}
        attributes |= {"description": plain(v.description)} if v.description else {}
        attributes |= {"causality": v.causality, "variability": v.variability}
        is_state = v.name in self.states
        if CS in self.c.kinds and (v.causality in ("input", "output") or is_state):
            attributes["intermediateUpdate"] = _YES
        if v.enumeration is not None:
            attributes["declaredType"] = v.enumeration.name
        if v.type == "Real":
            attributes |= {"unit": v.unit} if v.unit else {}
            attributes |= {"displayUnit": v.display_unit} if shown_as(v) else {}
            attributes |= {"derivative": str(self.by_name[v.state].reference)} if v.state else {}
            attributes |= {"reinit": _YES} if is_state and v.source in self.reinitialized else {}
        return attributes | (limits(v) if v.type != "String" else {})


def _clock(parent: Element, v: Variable) -> Element:
    """A periodic input clock; where its times follow from parameters, the importer asks for them."""
    interval, shift = v.interval
    is_constant = not (math.isnan(interval) or math.isnan(shift))
    times = {"intervalDecimal": number(interval), "shiftDecimal": number(shift)} if is_constant else {}
    attributes = {"name": v.name, "valueReference": str(v.reference)}
    attributes |= {"causality": v.causality, "variability": v.variability}
    attributes |= {"intervalVariability": "constant" if is_constant else "fixed"}
    return SubElement(parent, "Clock", attributes | times)


def _reinitialized(c: Contents) -> set[str]:
    """States that an event may set."""
    whens = (b for b in c.step.blocks if isinstance(b, WhenBlock))
    return {a.target.name for b in whens for a in b.actions if isinstance(a, SetState)}


def _structure(parent: Element, c: Contents) -> None:
    by_name = {v.name: v for v in c.variables.all}
    places = {name: a.reference for a in c.variables.arrays for name in a.members}
    derivatives = [by_name[name] for name in c.variables.derivatives]
    outputs = [v for v in c.variables.all if v.causality == "output"]
    for name, unknowns in (("Output", outputs), ("ContinuousStateDerivative", derivatives)):
        _unknowns(parent, name, c, unknowns, places)
    for reference in dict.fromkeys(places.get(v.name, v.reference) for v in c.initial_unknowns()):
        SubElement(parent, "InitialUnknown", valueReference=str(reference))
    _unknowns(parent, "EventIndicator", c, [by_name[name] for name in c.variables.indicators], places)


def _unknowns(parent: Element, name: str, c: Contents, unknowns: Sequence[Variable], places: Mapping[str, int]) -> None:
    """One entry for each reference; an array depends on all that its elements depend on."""
    found: dict[int, set[int]] = {}
    for v in unknowns:
        known = {places.get(k.name, k.reference) for k in c.dependent(v)}
        found.setdefault(places.get(v.name, v.reference), set()).update(known)
    for reference, known in found.items():
        dependencies = " ".join(map(str, sorted(known)))
        SubElement(parent, name, valueReference=str(reference), dependencies=dependencies)
