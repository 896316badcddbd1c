"""What an FMU says about itself, whatever the version of FMI: read by the writers of its XML and its documentation."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from kilohertz import __version__
from kilohertz.fmi.exporting.structure import Dependencies
from kilohertz.fmi.exporting.variables import Variable, Variables
from kilohertz.ir.step import Step
from kilohertz.solvers import StepSettings

ME, CS = "me", "cs"
KINDS = (ME, CS)
LOG_CATEGORIES = ("logStatusWarning", "logStatusDiscard", "logStatusError", "logAll")
TOOL = f"Kilohertz {__version__}"
_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Contents:
    """A model on its way into an FMU."""

    step: Step
    identifier: str  # of its binaries and functions
    token: str
    kinds: tuple[str, ...]
    stepping: StepSettings
    variables: Variables
    dependencies: Dependencies
    known: Mapping[str, Variable]  # inputs and states, by their names in the Step
    cost: Mapping[str, Any]  # bound of a period, `cost/bound.py`
    sources: tuple[str, ...] = ()  # to be compiled, below `sources/`
    own_step: str = ""  # which step Co-Simulation has in the binary for this machine: `building/made_step.py`

    @property
    def step_size(self) -> float:
        """The shortest communication step, in seconds."""
        return self.stepping.period_ns / 1e9

    def dependent(self, v: Variable) -> list[Variable]:
        """The inputs and states that a variable depends on at one instant."""
        indicator = v.indicator
        known = self.dependencies.of(v.source) if indicator is None else self.dependencies.of_indicator(indicator)
        return [self.known[name] for name in known]

    def initial_unknowns(self) -> list[Variable]:
        """Outputs, calculated parameters, states and derivatives that the initial equations give, in order."""
        integrated = {*self.variables.states, *self.variables.derivatives}
        return [
            v
            for v in self.variables.all
            if (v.causality == "output" and v.variability != "constant")
            or v.causality == "calculatedParameter"
            or v.name in integrated
        ]


def root_attributes(c: Contents) -> dict[str, str]:
    """Of `<fmiModelDescription>`, alike in both versions."""
    about = {"description": plain(c.step.description)} if c.step.description else {}
    return {"modelName": c.step.name, **about, "generationTool": TOOL, "variableNamingConvention": c.variables.naming}


def default_experiment(c: Contents) -> dict[str, str]:
    """Start, stop and tolerance of the experiment annotation; the step of Co-Simulation."""
    e = c.step.experiment
    given = {"startTime": e.start or 0.0, "stopTime": e.stop, "tolerance": e.tolerance, "stepSize": c.step_size}
    return {name: repr(float(value)) for name, value in given.items() if value is not None}


def cost_element(parent: Element, c: Contents) -> None:
    """The cost bound of a period, as the vendor's own words."""
    s = c.stepping
    bound = SubElement(parent, "CostBound", method=s.solver, stepSize=repr(c.step_size), events=s.events)
    prices = c.cost.get("prices", {})
    for case in (case for case in ("regular", "kept", "event", "worst") if case in c.cost):
        numbers = {word(k): str(v) for k, v in c.cost[case].items()}
        SubElement(bound, "Period", {"case": case, **numbers})
    for name in c.cost.get("unbounded", ()):
        SubElement(bound, "Unbounded", what=plain(str(name)))
    if prices:
        SubElement(bound, "Prices", compiler=prices["compiler"], architecture=prices["architecture"])


def word(name: str) -> str:
    """`event_passes` as `eventPasses`."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def plain(text: str) -> str:
    """Text that can stand in XML."""
    return _NOT_XML.sub("", text)


def number(value: float) -> str:
    """A number that reads back exactly."""
    return repr(float(value))


def start_text(v: Variable) -> str:
    """A start value as XML has it."""
    match v.type:
        case "String":
            return plain(str(v.start))
        case "Boolean":
            return "true" if v.start else "false"
        case "Integer" | "Enumeration":
            return str(int(v.start or 0))
        case _:
            return number(float(v.start or 0.0))


def limits(v: Variable) -> dict[str, str]:
    """`min`, `max` and `nominal` where they are numbers."""
    out = {}
    for name, value in (("min", v.min), ("max", v.max)):
        if value is not None and abs(value) != float("inf") and v.type != "Boolean":
            out[name] = number(value) if v.type == "Real" else str(int(value))
    if v.nominal and v.type == "Real" and abs(v.nominal) != float("inf"):
        out["nominal"] = number(abs(v.nominal))
    return out


def enumerations(variables: Sequence[Variable]) -> dict[str, tuple[str, ...]]:
    """Enumerations by name, with their literals."""
    return {v.enumeration.name: v.enumeration.literals for v in variables if v.enumeration is not None}


def as_text(root: Element) -> str:
    """The XML of a document."""
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"
