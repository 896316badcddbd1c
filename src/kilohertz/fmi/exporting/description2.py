"""modelDescription.xml of FMI 2.0."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement

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
    plain,
    root_attributes,
    start_text,
)
from kilohertz.fmi.exporting.units import shown_as, unit_definitions
from kilohertz.fmi.exporting.variables import Variable

_YES = "true"


def description2(c: Contents) -> str:
    """The XML."""
    root = Element("fmiModelDescription", {"fmiVersion": "2.0", "guid": c.token, **root_attributes(c)})
    root.set("numberOfEventIndicators", str(len(c.step.crossings)))
    _interfaces(root, c)
    units = unit_definitions(c.variables.all)
    if units is not None:
        root.append(units)
    _types(root, c)
    categories = SubElement(root, "LogCategories")
    for name in LOG_CATEGORIES:
        SubElement(categories, "Category", name=name)
    SubElement(root, "DefaultExperiment", default_experiment(c))
    if CS in c.kinds:
        cost_element(SubElement(SubElement(root, "VendorAnnotations"), "Tool", name="Kilohertz"), c)
    index = {v.name: i for i, v in enumerate(c.variables.all, 1)}
    variables = SubElement(root, "ModelVariables")
    for v in c.variables.all:
        _variable(variables, v, index)
    _structure(SubElement(root, "ModelStructure"), c, index)
    return as_text(root)


def _interfaces(root: Element, c: Contents) -> None:
    common = {
        "modelIdentifier": c.identifier,
        "canNotUseMemoryManagementFunctions": _YES,
        "canGetAndSetFMUstate": _YES,
        "canSerializeFMUstate": _YES,
    }
    if ME in c.kinds:
        _sources(SubElement(root, "ModelExchange", {**common, "providesDirectionalDerivative": _YES}), c)
    if CS in c.kinds:
        stepping = {"canHandleVariableCommunicationStepSize": _YES}
        _sources(SubElement(root, "CoSimulation", {**common, **stepping}), c)


def _sources(interface: Element, c: Contents) -> None:
    if c.sources:
        files = SubElement(interface, "SourceFiles")
        for name in c.sources:
            SubElement(files, "File", name=name)


def _types(root: Element, c: Contents) -> None:
    known = enumerations(c.variables.all)
    if known:
        definitions = SubElement(root, "TypeDefinitions")
    for name, literals in known.items():
        items = SubElement(SubElement(definitions, "SimpleType", name=name), "Enumeration")
        for i, literal in enumerate(literals, 1):
            SubElement(items, "Item", name=literal, value=str(i))


def _variable(parent: Element, v: Variable, index: dict[str, int]) -> None:
    about = {"description": plain(v.description)} if v.description else {}
    roles = {"causality": v.causality, "variability": v.variability}
    scalar = SubElement(
        parent, "ScalarVariable", {"name": v.name, "valueReference": str(v.reference), **about, **roles}
    )
    attributes: dict[str, str] = {}
    if v.enumeration is not None:
        attributes["declaredType"] = v.enumeration.name
    if v.type == "Real":
        attributes |= {"unit": v.unit} if v.unit else {}
        attributes |= {"displayUnit": v.display_unit} if shown_as(v) else {}
        attributes |= {"derivative": str(index[v.state])} if v.state else {}
    attributes |= limits(v) if v.type != "String" else {}
    if v.start is not None:
        attributes["start"] = start_text(v)
    SubElement(scalar, v.type, attributes)


def _structure(parent: Element, c: Contents, index: dict[str, int]) -> None:
    outputs = [v for v in c.variables.all if v.causality == "output"]
    by_name = {v.name: v for v in c.variables.all}
    derivatives = [by_name[name] for name in c.variables.derivatives]
    for name, unknowns in (("Outputs", outputs), ("Derivatives", derivatives)):
        if not unknowns:
            continue
        element = SubElement(parent, name)
        for v in unknowns:
            known = sorted(index[k.name] for k in c.dependent(v))
            SubElement(element, "Unknown", index=str(index[v.name]), dependencies=" ".join(map(str, known)))
    initial = c.initial_unknowns()
    if initial:
        element = SubElement(parent, "InitialUnknowns")
        for v in initial:
            SubElement(element, "Unknown", index=str(index[v.name]))
