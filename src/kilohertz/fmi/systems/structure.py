"""The forms of an SSP: a system of components and systems, its connections, the values it gives to parameters.

As written: nothing is looked up here, nothing converted.  `reading.py` makes it from XML, `flattening.py` takes it on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kilohertz.base import Diagnostic, ModelError
from kilohertz.base.units import Unit


@dataclass(frozen=True, slots=True)
class Connector:
    """A variable of a component, or what a system shows of its inside."""

    name: str
    kind: str  # input, output, parameter, calculatedParameter, ...
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """What happens to a value on its way: units are converted unless it is passed on `as_is`, then the rest."""

    factor: float = 1.0
    offset: float = 0.0
    as_is: bool = False
    table: str = ""  # which mapping table it has: BooleanMappingTransformation, ...
    entries: Mapping[str, str] = field(default_factory=dict)  # of that table

    @property
    def is_linear(self) -> bool:
        return not self.table


@dataclass(frozen=True, slots=True)
class End:
    """One end of a connection: a connector of an element, or of the system itself (`element` is empty)."""

    element: str
    connector: str


@dataclass(frozen=True, slots=True)
class Link:
    """A connection as written: which end is the source follows from the kinds of both."""

    start: End
    end: End
    change: Change = Change()


@dataclass(frozen=True, slots=True)
class Value:
    """A value for a parameter or the start of an input."""

    name: str
    value: float | str
    unit: str = ""
    change: Change = Change()
    defined: Unit | None = None  # what the unit means in the file of the value


@dataclass(frozen=True, slots=True)
class Component:
    """An FMU in a system."""

    name: str
    fmu: Path
    kind: str = ""  # me, cs; "": as it comes
    connectors: tuple[Connector, ...] = ()
    bindings: tuple[tuple[Value, ...], ...] = ()
    stepping: Mapping[str, str] = field(default_factory=dict)  # how we had stepped it, as settings of a step


@dataclass(frozen=True, slots=True)
class System:
    """Components and systems, and how they are connected."""

    name: str
    connectors: tuple[Connector, ...] = ()
    elements: tuple[Component | System, ...] = ()
    links: tuple[Link, ...] = ()
    bindings: tuple[tuple[Value, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Structure:
    """A system structure description, with what it reads from other files."""

    system: System
    units: Mapping[str, Unit]
    start: float = 0.0
    stop: float | None = None
    exchange: str = ""  # where we had written it: how values were exchanged; the order is that of the file
    findings: tuple[Diagnostic, ...] = ()


def unusable(why: str) -> ModelError:
    """Something that is no SSP we can run."""
    return ModelError(Diagnostic("R831", f"this system cannot be used: {why}"))
