"""SystemStructure.ssd of SSP 1.0 and 2.0, with the parameter sets and mappings it names.

Every file is looked for inside the unpacked archive and nowhere else.  A component may be a system in a file of its
own, a description or an archive: it is read in the place of the component, with the files beside it.  What is not read
is refused by name, never passed over: signal dictionaries, connections of single elements of arrays.

Codes: R831 the archive or its description cannot be used, R834 something in it has no effect (warning).
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit
from xml.etree.ElementTree import Element

from kilohertz.base import Diagnostic, Severity
from kilohertz.base.units import BASE, Unit
from kilohertz.fmi.importing.safe_xml import read_xml
from kilohertz.fmi.systems.parameter_sets import change_of, mapped, parameter_set
from kilohertz.fmi.systems.structure import Component, Connector, End, Link, Structure, System, Value, unusable
from kilohertz.packages.unpacking import unpack

DESCRIPTION = "SystemStructure.ssd"
VERSIONS = ("1.0", "2.0")
VENDOR = "kilohertz"  # the type of our annotations
_SPACE = "{http://ssp-standard.org/SSP1/SystemStructure%s}"
SSD, SSC, SSV, SSM = (_SPACE % name for name in ("Description", "Common", "ParameterValues", "ParameterMapping"))
_FMU_TYPES = ("", "application/x-fmu-sharedlibrary")
_ARCHIVE = "application/x-ssp-package"
_SYSTEM_TYPES = ("application/x-ssp-definition", _ARCHIVE)
_MOST_NESTED = 20  # files in files
_KINDS = {"": "", "any": "", "ModelExchange": "me", "CoSimulation": "cs"}
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def read_structure(folder: Path) -> Structure:
    """What the description in an unpacked archive says."""
    return _Reader(folder).structure()


class _Reader:
    """One description; those of systems in files of their own have readers of their own."""

    def __init__(self, folder: Path, description: str = DESCRIPTION, depth: int = 0) -> None:
        self.folder = folder.resolve()
        self.description, self.depth = description, depth
        self.units: dict[str, Unit] = {}
        self.findings: list[Diagnostic] = []

    def _root(self) -> tuple[Element, Element]:
        """The document and its system."""
        root = self._xml(PurePosixPath(self.description).name)
        if root.tag != f"{SSD}SystemStructureDescription":
            raise unusable(f"its description begins with <{root.tag}>")
        version = root.get("version", "")
        if version not in VERSIONS:
            raise unusable(f"SSP `{version}` is not read; {' and '.join(VERSIONS)} are")
        top = root.find(f"{SSD}System")
        if top is None:
            raise unusable("its description holds no system")
        self._define(_units(root, SSD))
        return root, top

    def _define(self, units: Mapping[str, Unit]) -> None:
        for name, unit in units.items():
            if self.units.setdefault(name, unit) != unit:
                raise unusable(f"two of its files define the unit `{name}` differently")

    def structure(self) -> Structure:
        root, top = self._root()
        system = self._system(top)
        experiment = root.find(f"{SSD}DefaultExperiment")
        numbers = {} if experiment is None else experiment.attrib
        return Structure(
            system,
            self.units,
            _number(numbers.get("startTime", "0"), "startTime"),
            _number(numbers["stopTime"], "stopTime") if "stopTime" in numbers else None,
            _ours(root).get("exchange", ""),
            tuple(self.findings),
        )

    def _system(self, element: Element) -> System:
        inner = element.find(f"{SSD}Elements")
        elements = tuple(self._element(e) for e in ([] if inner is None else inner))
        names = [e.name for e in elements]
        for name in names:
            if names.count(name) > 1:
                raise unusable(f"two elements of `{element.get('name', '')}` are called `{name}`")
        if element.find(f"{SSD}SignalDictionaries/*") is not None:
            raise unusable("it has signal dictionaries, which are not read")
        return System(
            _name(element),
            tuple(_connectors(element)),
            elements,
            tuple(_link(e) for e in element.findall(f"{SSD}Connections/{SSD}Connection")),
            tuple(self._bindings(element)),
        )

    def _element(self, element: Element) -> Component | System:
        if element.tag == f"{SSD}System":
            return self._system(element)
        if element.tag != f"{SSD}Component":
            raise unusable(f"it has an element <{element.tag.rpartition('}')[2]}>, which is not read")
        name, kind = _name(element), element.get("type", "")
        if kind in _SYSTEM_TYPES:
            return self._system_in_file(element, name)
        if kind not in _FMU_TYPES:
            raise unusable(f"the component `{name}` is of the type `{kind}`; FMUs and systems are read")
        how = element.get("implementation", "")
        if how not in _KINDS:
            raise unusable(f"the component `{name}` asks for `{how}`, which is not there for tasks")
        file = self._file(element.get("source", ""), f"the component `{name}`")
        bindings = tuple(self._bindings(element))
        return Component(name, file, _KINDS[how], tuple(_connectors(element)), bindings, _ours(element))

    def _system_in_file(self, element: Element, name: str) -> System:
        """The system of another file; what the component itself gives to parameters wins."""
        if self.depth == _MOST_NESTED:
            raise unusable(f"its files hold each other more than {_MOST_NESTED} deep, at `{name}`")
        file = self._file(element.get("source", ""), f"the component `{name}`")
        if element.get("type") == _ARCHIVE:
            reader = _Reader(_unpacked(file), DESCRIPTION, self.depth + 1)
        else:
            reader = _Reader(self.folder, file.relative_to(self.folder).as_posix(), self.depth + 1)
        _, top = reader._root()
        inner = reader._system(top)
        self.findings += reader.findings
        self._define(reader.units)
        return replace(inner, name=name, bindings=(*inner.bindings, *self._bindings(element)))

    # ---------------------------------------------------------------------------------------------------------- files

    def _file(self, source: str, whose: str) -> Path:
        """A file of the archive that a URI names."""
        parts = urlsplit(source)
        path = PurePosixPath(unquote(parts.path).replace("\\", "/"))
        if not source or parts.scheme or parts.netloc or path.is_absolute() or ".." in path.parts:
            raise unusable(f"{whose} names `{source}`, which is no file of the archive")
        file = self.folder / PurePosixPath(self.description).parent / path
        if not file.is_file() or not file.resolve().is_relative_to(self.folder):
            raise unusable(f"{whose} names `{source}`, which is not in the archive")
        return file

    def _xml(self, source: str) -> Element:
        file = self._file(source, "the archive")
        return read_xml(file.read_bytes(), f"`{source}`", unusable)

    # ----------------------------------------------------------------------------------------------------- parameters

    def _bindings(self, element: Element) -> Iterator[tuple[Value, ...]]:
        for binding in element.findall(f"{SSD}ParameterBindings/{SSD}ParameterBinding"):
            source = self._source(binding, "parameters", f"{SSD}ParameterValues/{SSV}ParameterSet")
            if source is None:
                continue
            own = _units(source, SSV)  # what a unit means is a matter of each file
            plain = parameter_set(source, binding.get("prefix", ""), self._left_out)
            values = [replace(value, defined=own.get(value.unit)) for value in plain]
            mapping = binding.find(f"{SSD}ParameterMapping")
            if mapping is None:
                yield tuple(values)
                continue
            table = self._source(mapping, "a mapping of parameters", f"{SSM}ParameterMapping")
            yield tuple(mapped(values, table, self._left_out)) if table is not None else tuple(values)

    def _source(self, holder: Element, what: str, inline: str) -> Element | None:
        """The XML of a file, or what stands inside; None where there is neither."""
        source = holder.get("source", "")
        if not source:
            return holder.find(inline)
        if holder.get("sourceBase", "SSD") != "SSD":
            raise unusable(f"{what} `{source}` lie inside a component, where they are not read")
        return self._xml(source)

    def _left_out(self, text: str) -> None:
        self.findings.append(Diagnostic("R834", text, severity=Severity.WARNING))


def _unpacked(archive: Path) -> Path:
    """An archive inside the archive, unpacked beside itself; once, as what lies there never changes."""
    folder = archive.with_name(f".{archive.name}-unpacked")
    if not folder.is_dir():
        with tempfile.TemporaryDirectory(dir=archive.parent, prefix=".new-") as scratch:
            fresh = Path(scratch) / "ssp"
            fresh.mkdir()
            unpack(archive, fresh)
            with suppress(OSError):  # another process was first, with the same content
                fresh.rename(folder)
    return folder


def _name(element: Element) -> str:
    name = element.get("name", "")
    if not name or _CONTROL.search(name):
        raise unusable(f"an element is called {name!r}")
    return name


def _connectors(element: Element) -> Iterator[Connector]:
    for connector in element.findall(f"{SSD}Connectors/{SSD}Connector"):
        typed = next((e for e in connector if e.tag.startswith(SSC) and e.get("unit")), None)
        unit = "" if typed is None else typed.get("unit", "")
        yield Connector(connector.get("name", ""), connector.get("kind", ""), unit)


def _link(element: Element) -> Link:
    ends = {key: element.get(key, "") for key in ("startElement", "startConnector", "endElement", "endConnector")}
    indexed = element.get("startIndices") or element.get("endIndices")
    if indexed:
        raise unusable(f"a connection of `{ends['endConnector']}` is for single elements of an array ({indexed})")
    start, end = End(ends["startElement"], ends["startConnector"]), End(ends["endElement"], ends["endConnector"])
    return Link(start, end, change_of(element))


def _units(root: Element, space: str) -> dict[str, Unit]:
    """The units that a file defines; a plane angle has no dimension."""
    out: dict[str, Unit] = {}
    for element in root.findall(f"{space}Units/{SSC}Unit"):
        base = element.find(f"{SSC}BaseUnit")
        if base is None:
            continue
        dimension = tuple(round(_number(base.get(name, "0"), name)) for name in BASE)
        factor, offset = _number(base.get("factor", "1"), "factor"), _number(base.get("offset", "0"), "offset")
        out[element.get("name", "")] = Unit(factor, dimension, offset)
    return out


def _number(text: str, what: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise unusable(f"`{what}` is `{text}`, which is no number") from None


def _ours(element: Element) -> dict[str, str]:
    """What we wrote into an annotation."""
    for annotation in element.findall(f"{SSD}Annotations/{SSC}Annotation"):
        if annotation.get("type") == VENDOR and len(annotation):
            return dict(annotation[0].attrib)
    return {}
