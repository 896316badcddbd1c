"""modelDescription.xml of FMI 1.0 as FMI 2 would say it: stand-alone Co-Simulation.

FMI 1 has no parameters by causality: what rests and has a start value is one.  A negated alias has no place in the
later versions and is left out by name; other aliases have the value reference of what they stand for.  There is no
structure, so every output follows from every input.

Code: R812 an FMU of FMI 1 that is no stand-alone Co-Simulation.
"""

from __future__ import annotations

from collections.abc import Callable
from xml.etree.ElementTree import Element, SubElement

from kilohertz.base import Diagnostic, ModelError

_ALONE = "Implementation/CoSimulation_StandAlone"
_RESTS = {"parameter": "fixed", "constant": "constant"}


def as_fmi_2(root: Element, note: Callable[[str], None]) -> Element:
    """The description in the words of FMI 2; `note` is told what has none."""
    if root.find(_ALONE) is None:
        what = "a tool behind Co-Simulation" if root.find("Implementation") is not None else "Model Exchange"
        raise ModelError(Diagnostic("R812", f"FMI 1 with {what} is not read; of FMI 1 stand-alone Co-Simulation is"))
    out = Element(root.tag, root.attrib)
    SubElement(out, "CoSimulation", modelIdentifier=root.get("modelIdentifier", ""))
    out.extend(root.findall("DefaultExperiment"))
    listed = root.find("ModelVariables")
    if listed is not None:
        variables = SubElement(out, "ModelVariables")
        variables.extend(v for v in (_variable(e, note) for e in listed) if v is not None)
    return out


def _variable(element: Element, note: Callable[[str], None]) -> Element | None:
    if element.get("alias") == "negatedAlias":
        note(f"the variable `{element.get('name')}` is the negative of another: it is left out")
        return None
    typed = next((e for e in element if e.tag != "DirectDependency"), None)
    causality, variability = element.get("causality", "internal"), element.get("variability", "continuous")
    is_set = variability == "parameter" and typed is not None and typed.get("start") is not None
    moves = "continuous" if typed is not None and typed.tag == "Real" and variability == "continuous" else "discrete"
    kept: dict[str, str] = {
        name: element.attrib[name] for name in ("name", "valueReference", "description") if name in element.attrib
    }
    kept["causality"] = causality if causality in ("input", "output") else "parameter" if is_set else "local"
    kept["variability"] = _RESTS.get(variability, moves)
    out = Element("ScalarVariable", kept)
    out.extend(() if typed is None else (typed,))
    return out
