"""modelDescription.xml of an FMU, of FMI 2 and 3: read leniently, with a warning for all that is not as it should be.

What a run needs must be there (R811); the rest is taken as the standard means it.  Documents with a DTD, and so all
with entities, are refused.

Codes: R811 no FMU, or its description cannot be used; R812 a version of FMI that is not read; R813 a finding (warning).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree.ElementTree import Element

from kilohertz.base import Diagnostic, ModelError, Severity
from kilohertz.base.versions import version as version_of
from kilohertz.fmi.importing.fmi1 import as_fmi_2
from kilohertz.fmi.importing.safe_xml import read_xml

_TYPES = {  # of FMI 3 by those of FMI 2, which are ours
    "Float64": "Real",
    "Float32": "Real",
    "Int8": "Integer",
    "UInt8": "Integer",
    "Int16": "Integer",
    "UInt16": "Integer",
    "Int32": "Integer",
    "UInt32": "Integer",
    "Int64": "Integer",
    "UInt64": "Integer",
    "Boolean": "Boolean",
    "String": "String",
    "Enumeration": "Enumeration",
    "Binary": "Binary",
    "Clock": "Clock",
}
_CAUSALITIES = frozenset(
    {"parameter", "calculatedParameter", "structuralParameter", "input", "output", "local", "independent"}
)
_VARIABILITIES = frozenset({"constant", "fixed", "tunable", "discrete", "continuous"})
_ALWAYS_STARTED = frozenset({"parameter", "structuralParameter", "input"})


@dataclass(frozen=True, slots=True)
class FmuVariable:
    """One variable: what it is, and how it is reached."""

    name: str
    reference: int
    type: str  # Real, Integer, Boolean, String, Enumeration, Binary, Clock
    kind: str  # as the description says: Float32, Int64, ...
    causality: str
    variability: str
    start: str | None = None
    unit: str = ""
    description: str = ""
    derivative: int | None = None  # index (FMI 2) or reference (FMI 3) of the state
    shape: tuple[int, ...] = ()  # of an array, as the FMU comes: its structural parameters at their start values

    @property
    def is_array(self) -> bool:
        return bool(self.shape)

    @property
    def is_number(self) -> bool:
        """Whether it can be a signal of a result."""
        return self.holds_numbers and not self.is_array

    @property
    def holds_numbers(self) -> bool:
        """Whether its values, one or many, can be signals."""
        return self.type in ("Real", "Integer", "Boolean", "Enumeration")

    @property
    def size(self) -> int:
        """How many values it has."""
        return math.prod(self.shape)

    def elements(self) -> tuple[str, ...]:
        """Names of its values, in the order that FMI has them (the last subscript runs fastest)."""
        if not self.shape:
            return (self.name,)
        places = itertools.product(*(range(1, n + 1) for n in self.shape))
        return tuple(f"{self.name}[{','.join(map(str, place))}]" for place in places)

    @property
    def starts(self) -> tuple[str, ...]:
        """One text for each value; empty where the FMU says none."""
        if self.start is None:
            return ()
        said = tuple(self.start.split()) if self.is_array else (self.start,)
        return said * self.size if len(said) == 1 else said if len(said) == self.size else ()


@dataclass(frozen=True, slots=True)
class Description:
    """What an FMU says about itself."""

    version: int
    name: str
    token: str
    identifiers: dict[str, str]  # model identifier by kind: me, cs
    variables: tuple[FmuVariable, ...]
    derivatives: tuple[int, ...] = ()  # of states, in order: index (FMI 2) or reference (FMI 3)
    n_indicators: int = 0
    start: float = 0.0
    stop: float | None = None
    step: float | None = None
    tolerance: float | None = None
    tool: str = ""
    flags: dict[str, dict[str, str]] = field(default_factory=dict)  # attributes by kind
    findings: tuple[Diagnostic, ...] = ()
    indicators: tuple[int, ...] = ()  # references of event indicators (FMI 3)
    feeds: dict[str, frozenset[str]] = field(default_factory=dict)  # by output: inputs it follows from at once
    incidence: tuple[tuple[int, ...] | None, ...] = ()  # by derivative: what it depends on; None: it does not say

    def of(self, causality: str) -> list[FmuVariable]:
        """The variables of a causality."""
        return [v for v in self.variables if v.causality == causality]


def read_description(folder: Path) -> Description:
    """The description in the folder of an unpacked FMU."""
    file = folder / "modelDescription.xml"
    if not file.is_file():
        raise unusable("it holds no modelDescription.xml")
    return _Reader(read_xml(file.read_bytes(), "its description", unusable)).description()


def unusable(why: str) -> ModelError:
    """Something that is no FMU."""
    return ModelError(Diagnostic("R811", f"this is no FMU that can be used: {why}"))


class _Reader:
    def __init__(self, root: Element) -> None:
        self.root = root
        self.findings: list[Diagnostic] = []
        types = [e if e.get("unit") else e.find("Real") for e in root.findall("TypeDefinitions/*")]  # FMI 3, FMI 2
        names = [e.get("name", "") for e in root.findall("TypeDefinitions/*")]
        self.units = {name: e.get("unit", "") for name, e in zip(names, types, strict=True) if e is not None}

    def _note(self, text: str) -> None:
        if len(self.findings) < 100:  # of one kind there may be thousands
            self.findings.append(Diagnostic("R813", text, severity=Severity.WARNING))

    def description(self) -> Description:
        if self.root.tag != "fmiModelDescription":
            raise unusable(f"its description begins with <{self.root.tag}>")
        said = self.root.get("fmiVersion", "")
        version = next(iter(version_of(said).numbers), 0)
        if version not in (1, 2, 3):
            raise ModelError(Diagnostic("R812", f"FMI `{said}` is not read; FMI 1, 2 and 3 are"))
        if version == 1:
            self.root = as_fmi_2(self.root, self._note)
        return self._described(version, max(2, version))

    def _described(self, version: int, form: int) -> Description:
        """What an FMU of a version says, read as the description of a form, 2 or 3."""
        kinds = {"me": "ModelExchange", "cs": "CoSimulation"}
        found = {kind: self.root.find(tag) for kind, tag in kinds.items()}
        flags = {kind: dict(e.attrib) for kind, e in found.items() if e is not None}
        for kind in [k for k, f in flags.items() if not f.get("modelIdentifier")]:
            self._note(f"<{kinds[kind]}> has no modelIdentifier: it is left out")
            del flags[kind]
        if not flags:
            other = " but Scheduled Execution" if self.root.find("ScheduledExecution") is not None else ""
            raise unusable(f"it offers neither Model Exchange nor Co-Simulation{other}")
        token = self.root.get("guid" if form == 2 else "instantiationToken")
        if token is None:
            self._note("the description has no guid or instantiation token")
        variables = tuple(self._variables(form))
        self._check_names(variables)
        experiment = self.root.find("DefaultExperiment")
        numbers = {} if experiment is None else dict(experiment.attrib)
        return Description(
            version,
            self.root.get("modelName", "") or "FMU",
            token or "",
            {kind: f["modelIdentifier"] for kind, f in flags.items()},
            variables,
            tuple(self._derivatives(form, variables)),
            self._indicators(form),
            self._real(numbers.get("startTime"), "startTime") or 0.0,
            self._real(numbers.get("stopTime"), "stopTime"),
            self._real(numbers.get("stepSize"), "stepSize"),
            self._real(numbers.get("tolerance"), "tolerance"),
            self.root.get("generationTool", ""),
            flags,
            tuple(self.findings),
            tuple(self._indicator_references(form)),
            self._feeds(form, variables),
            tuple(self._incidence(form)),
        )

    def _real(self, text: str | None, what: str) -> float | None:
        try:
            return None if text is None else float(text)
        except ValueError:
            self._note(f"{what} is `{text}`, which is no number")
            return None

    def _whole(self, text: str | None, what: str) -> int | None:
        try:
            return None if text is None else int(text)
        except ValueError:
            self._note(f"{what} is `{text}`, which is no whole number")
            return None

    # ------------------------------------------------------------------------------------------------------- variables

    def _variables(self, version: int) -> Iterator[FmuVariable]:
        parent = self.root.find("ModelVariables")
        if parent is None:
            raise unusable("its description lists no variables")
        read: Callable[[Element], FmuVariable | None] = self._scalar if version == 2 else self._typed
        for element in parent:
            variable = read(element)
            if variable is not None:
                yield variable
                yield from self._aliases(element, variable)

    def _scalar(self, element: Element) -> FmuVariable | None:
        typed = next((child for child in element if child.tag in _TYPES.values()), None)
        if typed is None:
            self._note(f"the variable `{element.get('name')}` has no type: it is left out")
            return None
        return self._variable(element, typed, typed.tag, typed.tag)

    def _typed(self, element: Element) -> FmuVariable | None:
        type = _TYPES.get(element.tag)
        if type is None:
            self._note(f"<{element.tag}> is no type of FMI 3: the variable is left out")
            return None
        return self._variable(element, element, type, element.tag)

    def _variable(self, element: Element, typed: Element, type: str, kind: str) -> FmuVariable | None:
        name, reference = element.get("name"), self._whole(element.get("valueReference"), "a value reference")
        if not name or reference is None:
            self._note(f"the variable `{name or ''}` has no name or value reference: it is left out")
            return None
        causality = element.get("causality", "local")
        if causality not in _CAUSALITIES:
            self._note(f"`{name}` has the causality `{causality}`, which FMI does not know: taken as local")
            causality = "local"
        variability = element.get("variability", "continuous" if type == "Real" else "discrete")
        if variability not in _VARIABILITIES:
            self._note(f"`{name}` has the variability `{variability}`, which FMI does not know: taken as discrete")
            variability = "discrete"
        if variability == "continuous" and type != "Real":
            self._note(f"`{name}` is {type} and continuous")
        start = typed.get("start")
        if type == "String" and start is None and (child := typed.find("Start")) is not None:
            start = child.get("value")
        if start is None and causality in _ALWAYS_STARTED and type not in ("Clock", "Binary"):
            self._note(f"the {causality} `{name}` has no start value")
        shape = tuple(self._extent(d, name) for d in element.findall("Dimension"))
        derivative = self._whole(typed.get("derivative"), f"the derivative of `{name}`")
        about = element.get("description", "")
        unit = typed.get("unit", "") or self.units.get(typed.get("declaredType", ""), "")
        return FmuVariable(name, reference, type, kind, causality, variability, start, unit, about, derivative, shape)

    def _extent(self, dimension: Element, name: str) -> int:
        """A number, or the start of a structural parameter."""
        said, reference = dimension.get("start"), self._whole(dimension.get("valueReference"), "a dimension")
        if said is None and reference is not None:
            owners = self.root.findall(f"ModelVariables/*[@valueReference='{reference}']")
            said = next((o.get("start") for o in owners if o.get("causality") == "structuralParameter"), None)
        extent = self._whole(said, f"a dimension of `{name}`")
        if extent is None or extent < 1:
            raise unusable(f"the array `{name}` has a dimension without a size")
        return extent

    def _aliases(self, element: Element, v: FmuVariable) -> Iterator[FmuVariable]:
        for alias in element.findall("Alias"):
            name = alias.get("name")
            if name:
                about = alias.get("description", "")
                yield FmuVariable(
                    name, v.reference, v.type, v.kind, "local", v.variability, None, v.unit, about, None, v.shape
                )

    def _check_names(self, variables: tuple[FmuVariable, ...]) -> None:
        seen: set[str] = set()
        for v in variables:
            if v.name in seen:
                self._note(f"two variables are called `{v.name}`")
            seen.add(v.name)

    # ------------------------------------------------------------------------------------------------------- structure

    def _derivatives(self, version: int, variables: tuple[FmuVariable, ...]) -> Iterator[int]:
        path, key = ("ModelStructure/Derivatives/Unknown", "index") if version == 2 else _STRUCTURE_3
        known = range(1, len(variables) + 1) if version == 2 else {v.reference for v in variables}
        for element in self.root.findall(path):
            number = self._whole(element.get(key), f"{key} of a derivative")
            if number is None or number not in known:
                raise unusable(f"its structure names a derivative `{element.get(key)}` that is no variable")
            yield number

    def _incidence(self, version: int) -> Iterator[tuple[int, ...] | None]:
        """What each derivative depends on, in the order of derivatives."""
        path = "ModelStructure/Derivatives/Unknown" if version == 2 else _STRUCTURE_3[0]
        for element in self.root.findall(path):
            said = element.get("dependencies")
            words = () if said is None else said.split()
            yield None if said is None or not all(map(str.isdecimal, words)) else tuple(map(int, words))

    def _feeds(self, version: int, variables: tuple[FmuVariable, ...]) -> dict[str, frozenset[str]]:
        """What the structure says; an output of which it says nothing follows from all inputs."""
        path, key = ("ModelStructure/Outputs/Unknown", "index") if version == 2 else _OUTPUTS_3
        by_number: dict[str, FmuVariable] = {}
        for i, v in enumerate(variables, 1):
            by_number.setdefault(str(i if version == 2 else v.reference), v)  # aliases come behind their variable
        inputs = frozenset(v.name for v in variables if v.causality == "input")
        said = {e.get(key): e.get("dependencies") for e in self.root.findall(path)}
        feeds = {}
        for number, v in by_number.items():
            if v.causality == "output":
                known = said.get(number)
                named = [by_number[k].name for k in (known or "").split() if k in by_number]
                feeds[v.name] = inputs if known is None else inputs.intersection(named)
        return feeds

    def _indicator_references(self, version: int) -> Iterator[int]:
        for element in self.root.findall("ModelStructure/EventIndicator") if version == 3 else ():
            number = self._whole(element.get("valueReference"), "the value reference of an event indicator")
            if number is not None:
                yield number

    def _indicators(self, version: int) -> int:
        if version == 3:
            return len(self.root.findall("ModelStructure/EventIndicator"))
        return self._whole(self.root.get("numberOfEventIndicators", "0"), "numberOfEventIndicators") or 0


_OUTPUTS_3 = ("ModelStructure/Output", "valueReference")
_STRUCTURE_3 = ("ModelStructure/ContinuousStateDerivative", "valueReference")
