"""modelDescription.xml and buildDescription.xml of FMI 3.0."""

from __future__ import annotations

from collections.abc import Sequence
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
    _variables(SubElement(root, "ModelVariables"), c)
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
        SubElement(root, "CoSimulation", {**common, **stepping})


def _types(root: Element, c: Contents) -> None:
    known = enumerations(c.variables.all)
    if known:
        definitions = SubElement(root, "TypeDefinitions")
    for name, literals in known.items():
        items = SubElement(definitions, "EnumerationType", name=name)
        for i, literal in enumerate(literals, 1):
            SubElement(items, "Item", name=literal, value=str(i))


def _variables(parent: Element, c: Contents) -> None:
    by_name = {v.name: v for v in c.variables.all}
    elements: dict[str, Element] = {}
    reinitialized = _reinitialized(c)
    for v in c.variables.stored:
        is_reinitialized = v.name in c.variables.states and v.source in reinitialized and ME in c.kinds
        elements[v.name] = _variable(parent, v, by_name, is_reinitialized)
    for v in c.variables.all:
        if v.alias_of:
            about = {"description": plain(v.description)} if v.description else {}
            SubElement(elements[v.alias_of], "Alias", {"name": v.name, **about})


def _variable(parent: Element, v: Variable, by_name: dict[str, Variable], is_reinitialized: bool) -> Element:
    attributes = {"name": v.name, "valueReference": str(v.reference)}
    attributes |= {"description": plain(v.description)} if v.description else {}
    attributes |= {"causality": v.causality, "variability": v.variability}
    if v.enumeration is not None:
        attributes["declaredType"] = v.enumeration.name
    if v.type == "Real":
        attributes |= {"unit": v.unit} if v.unit else {}
        attributes |= {"displayUnit": v.display_unit} if shown_as(v) else {}
        attributes |= {"derivative": str(by_name[v.state].reference)} if v.state else {}
        attributes |= {"reinit": _YES} if is_reinitialized else {}
    attributes |= limits(v) if v.type != "String" else {}
    if v.start is not None and v.type != "String":
        attributes["start"] = start_text(v)
    element = SubElement(parent, _TYPES.get(v.type, v.type), attributes)
    if v.start is not None and v.type == "String":
        SubElement(element, "Start", value=start_text(v))
    return element


def _reinitialized(c: Contents) -> set[str]:
    """States that an event may set."""
    whens = (b for b in c.step.blocks if isinstance(b, WhenBlock))
    return {a.target.name for b in whens for a in b.actions if isinstance(a, SetState)}


def _structure(parent: Element, c: Contents) -> None:
    by_name = {v.name: v for v in c.variables.all}
    derivatives = [by_name[name] for name in c.variables.derivatives]
    outputs = [v for v in c.variables.all if v.causality == "output"]
    for name, unknowns in (("Output", outputs), ("ContinuousStateDerivative", derivatives)):
        for v in unknowns:
            _unknown(parent, name, c, v)
    for v in c.initial_unknowns():
        SubElement(parent, "InitialUnknown", valueReference=str(v.reference))
    for indicator in c.variables.indicators:
        _unknown(parent, "EventIndicator", c, by_name[indicator])


def _unknown(parent: Element, name: str, c: Contents, v: Variable) -> None:
    known = sorted(k.reference for k in c.dependent(v))
    SubElement(parent, name, valueReference=str(v.reference), dependencies=" ".join(map(str, known)))
