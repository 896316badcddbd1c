"""An SSP on disk as a scenario: unpacked in the cache by its content, read, flattened, ordered.

Codes: R831 no file, or one that cannot be used; R835 an algebraic loop between FMUs (warning).
"""

from __future__ import annotations

import math
import re
import tempfile
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from kilohertz.base import Diagnostic, ModelError, Severity
from kilohertz.base.cache_place import user_cache
from kilohertz.fmi.importing.archive import opened
from kilohertz.fmi.importing.description import Description
from kilohertz.fmi.systems.flattening import FlatSystem, Part, Wire, flattened
from kilohertz.fmi.systems.ordering import in_order, loop_members, loops
from kilohertz.fmi.systems.reading import read_structure
from kilohertz.fmi.systems.structure import Component, Structure, System, unusable
from kilohertz.fmi.wrapping.ports import Port, identifier, literal
from kilohertz.packages.unpacking import unpack
from kilohertz.realtime import Connection, Scenario, Task
from kilohertz.solvers import StepSettings

_EXCHANGES = ("", "parallel", "sequential")


@dataclass(frozen=True, slots=True)
class OpenedSystem:
    """A system of FMUs, and the scenario that runs it."""

    path: Path
    structure: Structure
    flat: FlatSystem
    scenario: Scenario
    loops: tuple[tuple[str, ...], ...]
    findings: tuple[Diagnostic, ...]


def open_system(path: Path, iterate: int = 0) -> OpenedSystem:
    """Read an SSP; what is wrong with it is said before anything of it runs.

    With `iterate` algebraic loops settle in at most so many turns at the end of each period, where their components
    are Model Exchange, which those become that offer it and are not said to be anything else.
    """
    folder = _unpacked(path)
    structure = read_structure(folder)
    descriptions = {component.fmu: _description(component) for component in _components(structure.system)}
    if not descriptions:
        raise unusable("it holds no component")
    flat = flattened(structure, descriptions)
    found = () if structure.exchange == "parallel" else tuple(loops(flat))
    if iterate and found:
        flat = _exchanged(flat)
    findings = (*structure.findings, *flat.findings, *(_loop(way, iterate, flat) for way in found))
    scenario = replace(_scenario(path, structure, flat), iterate=iterate if found else 0)
    return OpenedSystem(path, structure, flat, scenario, found, findings)


def _unpacked(path: Path) -> Path:
    if not path.is_file():
        raise ModelError(Diagnostic("R831", f"there is no file `{path}`"))
    folder = user_cache() / "ssp" / sha256(path.read_bytes()).hexdigest()[:32]
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".new-") as scratch:
        fresh = Path(scratch) / "ssp"
        fresh.mkdir()
        unpack(path, fresh)
        try:
            fresh.rename(folder)
        except OSError:  # another process was first, with the same content
            if not folder.is_dir():
                raise
    return folder


def _components(system: System) -> list[Component]:
    out: list[Component] = []
    for element in system.elements:
        out += [element] if isinstance(element, Component) else _components(element)
    return out


def _description(component: Component) -> Description:
    try:
        with opened(component.fmu) as fmu:
            return fmu.description
    except ModelError as error:
        first = error.diagnostics[0]
        text = f"the component `{component.name}` ({component.fmu.name}): {first.message}"
        raise ModelError(replace(first, message=text), *error.diagnostics[1:]) from None


def _exchanged(flat: FlatSystem) -> FlatSystem:
    """Components of loops as Model Exchange where nothing else is said: their outputs answer to inputs at once."""
    members = {p for group in loop_members(flat) for p in group}
    parts = list(flat.parts)
    for p in members:
        if not parts[p].component.kind and "me" in parts[p].description.identifiers:
            parts[p] = replace(parts[p], component=replace(parts[p].component, kind="me"))
    return replace(flat, parts=tuple(parts))


def _loop(way: tuple[str, ...], iterate: int, flat: FlatSystem) -> Diagnostic:
    text = f"an algebraic loop between FMUs: {' -> '.join(way)}; "
    stepped = [p.name for p in flat.parts if _is_stepped(p) and any(v.startswith(f"{p.name}.") for v in way)]
    if not iterate:
        text += "the value that closes it is a period old"
    elif stepped:
        names = ", ".join(f"`{name}`" for name in stepped)
        text += f"not all of it settles: {names} is Co-Simulation and answers to an input with its next step"
    else:
        text += f"it settles in at most {iterate} turns"
    return Diagnostic("R835", text, severity=Severity.WARNING)


def _is_stepped(part: Part) -> bool:
    kind = part.component.kind
    return kind == "cs" or (not kind and "cs" in part.description.identifiers)


def _scenario(path: Path, structure: Structure, flat: FlatSystem) -> Scenario:
    if structure.exchange not in _EXCHANGES:
        raise unusable(f"`exchange` is `{structure.exchange}`")
    kept = structure.exchange == "parallel"
    order = range(len(flat.parts)) if kept else in_order(flat)
    tasks = [_task(flat.parts[i]) for i in order]
    period = min(t.stepping.period_ns for t in tasks)
    for task in tasks:
        if task.stepping.period_ns % period:
            raise unusable(f"the step of `{task.name}` is no multiple of the shortest one")
    name = re.sub(r"[^\w.-]", "_", path.stem)[:48]
    scenario = Scenario(
        name,
        tuple(replace(t, every=t.stepping.period_ns // period) for t in tasks),
        period,
        start=structure.start,
        exchange="parallel" if kept else "sequential",
        connections=tuple(c for wire in flat.wires for c in _connections(wire, flat)),
    )
    if structure.stop is None or not math.isfinite(structure.stop) or structure.stop <= structure.start:
        return scenario
    return scenario.lasting(structure.stop - structure.start)


def _task(part: Part) -> Task:
    component = part.component
    texts = {n: v for n, v in part.values.items() if isinstance(v, str)}
    modifiers = ", ".join(f"{identifier(n)} = {literal(v)}" for n, v in texts.items())
    if modifiers and "(" in str(component.fmu):
        raise unusable(f"`{component.fmu.name}` gets texts as parameters, and its name has a parenthesis")
    model = f"{component.fmu}{f'@{component.kind}' if component.kind else ''}{f'({modifiers})' if modifiers else ''}"
    settings = {identifier(n): v for n, v in part.values.items() if n not in texts}
    step = component.stepping.get("step")
    try:
        stepping = StepSettings.of(step=float(step) if step is not None else None)
    except ValueError:
        raise unusable(f"the step of `{part.name}` is `{step}`") from None
    return Task(part.name, model, stepping, 1, settings)


def _connections(wire: Wire, flat: FlatSystem) -> list[Connection]:
    """One for each value."""
    (a, source), (b, target) = wire.source, wire.target
    heads = flat.parts[a].name, flat.parts[b].name
    pairs = zip(Port(source).elements(), Port(target).elements(), strict=True)
    return [Connection(f"{heads[0]}.{x}", f"{heads[1]}.{y}", wire.gain, wire.offset) for x, y in pairs]
