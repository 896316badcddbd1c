"""What of an FMU becomes a variable of the wrapper: its name, type, start, and its places in the vectors of a call.

Modelica has one Integer of 32 bits: what is wider in the FMU is a Real, exact up to 2^53.  Enumerations are Integers,
as FMI counts them.  Names that are no identifiers stand in quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kilohertz.base import Diagnostic, Severity
from kilohertz.fmi.importing.description import Description, FmuVariable
from kilohertz.syntax import KEYWORDS

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WIDE = frozenset({"UInt32", "Int64", "UInt64"})
_FLAGS = {"true": "true", "1": "true", "false": "false", "0": "false"}
_BUILT_IN = frozenset({"time", "Real", "Integer", "Boolean", "String"}) | frozenset(  # what a wrapper says itself
    {"sample", "initial", "pre", "reinit", "terminate", "change", "integer", "fill"}
)


def identifier(name: str) -> str:
    """A name as Modelica writes it."""
    if _IDENTIFIER.fullmatch(name) and name not in KEYWORDS | _BUILT_IN:
        return name
    safe = name.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{safe}'"


def literal(text: str) -> str:
    """A String of Modelica."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@dataclass(frozen=True, slots=True)
class Port:
    """A variable of the FMU as the wrapper has it."""

    variable: FmuVariable

    @property
    def name(self) -> str:
        return identifier(self.variable.name)

    @property
    def type(self) -> str:
        v = self.variable
        if v.type == "Enumeration":
            return "Integer"
        return "Real" if v.kind in _WIDE else v.type

    def elements(self) -> Iterator[str]:
        """References to its values, in the order that FMI has them (the last subscript runs fastest)."""
        for element in self.variable.elements():
            yield self.name + element.removeprefix(self.variable.name)

    def starts(self) -> tuple[str, ...]:
        """Literals for its values; empty where the FMU says none that can be read."""
        try:
            return tuple(self._literal(text) for text in self.variable.starts)
        except ValueError:
            return ()

    def _literal(self, text: str) -> str:
        if self.type == "String":
            return literal(text)
        if self.type == "Boolean":
            if text.strip() not in _FLAGS:
                raise ValueError(text)
            return _FLAGS[text.strip()]
        return repr(float(text)) if self.type == "Real" else str(int(text))

    def start(self) -> str:
        """Its start as one value, of an array as a constructor."""
        return nested(self.starts(), self.variable.shape)

    def as_real(self, reference: str) -> str:
        """A value of it as a Real."""
        return f"(if {reference} then 1.0 else 0.0)" if self.type == "Boolean" else reference

    def from_real(self, value: str) -> str:
        """The other way round."""
        return {"Boolean": f"{value} > 0.5", "Integer": f"integer({value})"}.get(self.type, value)

    def in_list(self) -> str:
        """Its entry in the list that the C functions read."""
        v = self.variable
        return f"{v.kind}:{v.reference}" + (f"*{v.size}" if v.is_array else "")

    def declared(self, prefix: str, value: str = "") -> str:
        """Its declaration."""
        v, starts = self.variable, self.starts()
        sizes = f"[{', '.join(map(str, v.shape))}]" if v.shape else ""
        attributes = [f"unit = {literal(v.unit)}"] if v.unit and self.type == "Real" else []
        if prefix == "input" and starts:
            attributes.append(f"start = {self.start()}")
        changes = f"({', '.join(attributes)})" if attributes else ""
        if v.shape and v.unit and self.type == "Real":
            changes = changes.replace("unit =", "each unit =")
        about = f" {literal(v.description)}" if v.description else ""
        bound = f" = {value}" if value else ""
        return f"    {prefix} {self.type} {self.name}{sizes}{changes}{bound}{about};\n"


def nested(values: Sequence[str], shape: Sequence[int]) -> str:
    """An array constructor of rows of rows."""
    if not shape:
        return values[0]
    part = len(values) // shape[0]
    return "{" + ", ".join(nested(values[i * part : (i + 1) * part], shape[1:]) for i in range(shape[0])) + "}"


@dataclass(frozen=True, slots=True)
class Ports:
    """All that a wrapper shows of an FMU."""

    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    parameters: tuple[Port, ...]  # numbers
    texts: tuple[Port, ...]  # parameters too
    left_out: tuple[Diagnostic, ...]

    def free(self, name: str) -> str:
        """A name like this that no variable of the FMU has."""
        taken = {p.name for p in (*self.inputs, *self.outputs, *self.parameters, *self.texts)}
        while name in taken:
            name += "_"
        return name


def ports_of(description: Description, shown: Iterable[str] = ()) -> Ports:
    """Inputs, outputs and parameters, and of the local variables those that are shown."""
    wanted, left_out = frozenset(shown), list[Diagnostic]()
    found: dict[str, list[Port]] = {"input": [], "output": [], "parameter": [], "text": []}
    for v in description.variables:
        role = "output" if v.name in wanted and v.causality in ("local", "calculatedParameter") else v.causality
        if role == "parameter" and v.type == "String" and not v.is_array:
            role = "text"
        if role not in found:
            continue
        why = _unfit(v, role)
        if why:
            text = f"the {v.causality} `{v.name}` is no part of the wrapper: {why}"
            left_out.append(Diagnostic("R823", text, severity=Severity.WARNING))
        else:
            found[role].append(Port(v))
    return Ports(
        tuple(found["input"]), tuple(found["output"]), tuple(found["parameter"]), tuple(found["text"]), tuple(left_out)
    )


def _unfit(v: FmuVariable, role: str) -> str:
    if role == "text":
        return "" if v.start is not None else "it has no start value"
    if not v.holds_numbers:
        return f"it is a {v.type}"
    if role == "parameter" and not Port(v).starts():
        return "it has no start value"
    return ""
