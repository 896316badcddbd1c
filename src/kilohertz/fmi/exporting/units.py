"""Units of an FMU: what they are in the base units of FMI, and the units that values are shown in."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement

from kilohertz.base.units import BASE, UnitError, conversion, parse_unit
from kilohertz.fmi.exporting.variables import Variable


def unit_definitions(variables: Iterable[Variable]) -> Element | None:
    """`<UnitDefinitions>`, the same in FMI 2 and 3; None where no variable has a unit."""
    shown: dict[str, dict[str, None]] = {}
    for v in variables:
        if v.unit:
            displays = shown.setdefault(v.unit, {})
            if shown_as(v):
                displays[v.display_unit] = None
    if not shown:
        return None
    root = Element("UnitDefinitions")
    for name in sorted(shown):
        unit = SubElement(root, "Unit", name=name)
        _base(unit, name)
        for display in sorted(shown[name]):
            factor, offset = conversion(name, display)
            SubElement(unit, "DisplayUnit", name=display, factor=repr(factor), offset=repr(offset))
    return root


def shown_as(v: Variable) -> str:
    """The unit that a value is shown in, where there is a way to it."""
    if not v.display_unit or not v.unit:
        return ""
    try:
        conversion(v.unit, v.display_unit)
    except UnitError:
        return ""
    return v.display_unit


def _base(element: Element, name: str) -> None:
    try:
        unit = parse_unit(name)
    except UnitError:
        return  # a name alone: whoever reads it may know it
    powers = {base: str(n) for base, n in zip(BASE, unit.dimension, strict=True) if n}
    scale = {"factor": repr(unit.factor)} if unit.factor != 1.0 else {}
    shift = {"offset": repr(unit.offset)} if unit.offset else {}
    SubElement(element, "BaseUnit", {**powers, **scale, **shift})
