"""From the built C of a model to an FMU: compile, read start values, describe, pack.

Codes: R801 a wish that no FMU can have, R802 the FMU cannot be written, R803 a file stays outside (warning),
R804 the start of an input follows from parameters (warning), R805 the FMU has no sources (warning).
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kilohertz import runtime
from kilohertz.base import Diagnostic, ModelError, Severity
from kilohertz.building import ModelUnits, linked_units, runtime_headers
from kilohertz.building.made_step import made_name, made_step, step_word
from kilohertz.fmi.exporting.contents import CS, KINDS, Contents
from kilohertz.fmi.exporting.description2 import description2
from kilohertz.fmi.exporting.description3 import build_description, description3
from kilohertz.fmi.exporting.documentation import documentation
from kilohertz.fmi.exporting.packing import pack
from kilohertz.fmi.exporting.platforms import HERE, Platform, platforms
from kilohertz.fmi.exporting.resources import Resource, left_outside, resources_of
from kilohertz.fmi.exporting.structure import Dependencies
from kilohertz.fmi.exporting.table import glue_header, glue_sources, table_source, token
from kilohertz.fmi.exporting.variables import Variables, fmu_variables, overwritten_inputs
from kilohertz.ir.step import Kind, Step
from kilohertz.simulate.program import Instance, Program, aligned_memory
from kilohertz.solvers import StepSettings
from kilohertz.toolchain import Source, Unit, build_shared, find_compiler, load_library

VERSIONS = (2, 3)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an FMU is to be."""

    version: int = 2
    kinds: tuple[str, ...] = KINDS
    targets: tuple[str, ...] = ()  # machines besides this one: `platforms.py`
    with_sources: bool = True
    with_clocks: bool = False  # samples tick when the importer says so: FMI 3

    def check(self) -> Wanted:
        """The same; R801 where there is no such FMU."""
        if self.version not in VERSIONS:
            raise _wish(f"FMI {self.version}", "version", [str(v) for v in VERSIONS])
        for kind in self.kinds:
            if kind not in KINDS:
                raise _wish(kind, "kind", list(KINDS))
        if not self.kinds:
            raise ModelError(Diagnostic("R801", f"an FMU is of a kind: {', '.join(KINDS)}"))
        if self.with_clocks and self.version < 3:
            raise ModelError(Diagnostic("R801", "an FMU has clocks in FMI 3: `--fmi 3`"))
        return self


@dataclass(frozen=True, slots=True)
class Exported:
    """An FMU that was written."""

    path: Path
    contents: Contents
    platforms: tuple[str, ...]
    size: int
    warnings: tuple[Diagnostic, ...] = field(default=())


def export_fmu(
    model: ModelUnits, stepping: StepSettings, cost: Mapping[str, Any], path: Path, wanted: Wanted | None = None
) -> Exported:
    """Write a model as an FMU: its binaries, sources, description, documentation and the files it reads."""
    wish = (wanted or Wanted()).check()
    if path.suffix != ".fmu":
        raise ModelError(Diagnostic("R801", f"the name of an FMU ends with .fmu, not `{path.name}`"))
    return _Export(model, stepping.check_fixed(), cost, wish).write(path)


class _Export:
    def __init__(self, model: ModelUnits, stepping: StepSettings, cost: Mapping[str, Any], wanted: Wanted) -> None:
        self.model, self.stepping, self.cost, self.wanted = model, stepping, cost, wanted
        self.step: Step = model.step
        self.identifier = model.code.prefix.rstrip("_")
        self.variables = fmu_variables(self.step, wanted.version, with_clocks=wanted.with_clocks)
        self.made: Unit | None = None  # in the binary for this machine: a step made for the model and its method
        self.own_step = ""
        if CS in wanted.kinds:
            self.made = made_step(model, stepping, find_compiler())
            self.own_step = step_word(model, stepping, find_compiler())

    def write(self, path: Path) -> Exported:
        units, libraries = linked_units([self.model], offline=False)
        first = self._described((), ())
        starts = read_starts(self.model, build_shared([*units, *first], libraries), self.variables)
        resources = resources_of(self.step, starts)
        starts |= {r.variable: f"resources/{r.name}" for r in resources}
        self.variables = self.variables.started(starts)
        functions = glue_sources(self.wanted.version)
        name = made_name(self.model) if self.made is not None else ""
        here = self._described(resources, functions, (name, self.own_step))
        every = [*units, *here, *([self.made] if self.made is not None else [])]
        wanted = platforms(self.wanted.version, self.wanted.targets)
        anywhere = without_timing([*units, *self._described(resources, functions)])
        binaries = {
            p: build_shared(every if p.name == HERE else anywhere, _linked(libraries, p), p.compiler()) for p in wanted
        }
        sources = flat_sources(anywhere) if self.wanted.with_sources else {}
        contents = self._contents(tuple(name for name in sources if name.endswith(".c")))
        described = description2(contents) if self.wanted.version == 2 else description3(contents)
        files: dict[str, bytes] = {"modelDescription.xml": described.encode()}
        files |= {f"sources/{name}": text.encode(errors="surrogateescape") for name, text in sources.items()}
        if sources and self.wanted.version > 2:
            files["sources/buildDescription.xml"] = build_description(self.identifier, contents.sources).encode()
        files |= {f"binaries/{p.folder}/{self.identifier}{p.suffix}": f.read_bytes() for p, f in binaries.items()}
        files |= {f"resources/{r.name}": r.file.read_bytes() for r in resources}
        files["documentation/index.html"] = documentation(contents).encode()
        size = pack(path, files)
        return Exported(
            path, contents, tuple(p.name for p in wanted), size, tuple(self._warnings(resources, bool(sources)))
        )

    def _described(
        self, resources: Sequence[Resource], glue: tuple[Source, ...], made: tuple[str, str] = ("", "")
    ) -> list[Unit]:
        """The table of values, and the functions that read it."""
        code = self.model.code
        headers = (*runtime_headers(), Source(code.header.name, code.header.text), glue_header())
        self.token = token(code, self.stepping, self.wanted.version, (*glue, glue_header()))
        table = table_source(code, self.variables, self.stepping, self.token, resources, made)
        own = Unit((table,), headers, name=self.model.units[0].name)
        return [own, Unit(glue, headers, name="fmi")] if glue else [own]

    def _contents(self, sources: tuple[str, ...]) -> Contents:
        return Contents(
            self.step,
            self.identifier,
            self.token,
            tuple(kind for kind in KINDS if kind in self.wanted.kinds),
            self.stepping,
            self.variables,
            Dependencies(self.step),
            {v.source: v for v in self.variables.known},
            self.cost,
            sources,
            self.own_step,
        )

    def _warnings(self, resources: Sequence[Resource], sources: bool) -> list[Diagnostic]:
        inside = {str(r.file) for r in resources}
        out = [
            _warning("R803", f"the file `{text}` stays outside of the FMU: its path stands in an equation")
            for text in left_outside(self.step)
            if text not in inside
        ]
        if self.wanted.with_sources and not sources:
            out.append(
                _warning("R805", "the FMU has binaries alone: the model calls external C, which it does not hold")
            )
        for name in overwritten_inputs(self.step):
            text = f"the start of the input `{name}` follows from parameters: a value given before is overwritten"
            out.append(_warning("R804", text))
        return out


def read_starts(model: ModelUnits, library: Path, variables: Variables) -> dict[str, float | str]:
    """What parameters and inputs are in a fresh instance, asked of the compiled model itself."""
    loaded = load_library(library)
    loaded.khz_area_offset.restype = loaded.khz_instance_size.restype = ctypes.c_size_t
    loaded.khz_area_offset.argtypes = [ctypes.c_void_p, ctypes.c_int32]
    loaded.khz_instance_size.argtypes = [ctypes.c_void_p]
    loaded.khz_instance_init.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    getter = loaded[model.code.getter]
    getter.restype = ctypes.c_void_p
    table = getter()
    offsets = {kind: int(loaded.khz_area_offset(table, i)) for i, kind in enumerate(Kind)}
    program = Program(model, loaded, table, int(loaded.khz_instance_size(table)), offsets, model.number)
    memory, address = aligned_memory(program.size)
    loaded.khz_instance_init(table, address)
    instance = Instance(program, address)
    starts = {v.name: instance.read(model.step.variables[v.source]) for v in variables.all if v.is_settable}
    del memory
    return starts


def without_timing(units: Sequence[Unit]) -> list[Unit]:
    """The same without what times a step, which nobody calls in an FMU and not every machine can have."""
    timing = {file.name for file in (Path(runtime.__file__).parent / "profile").glob("*.c")}
    return [replace(u, sources=tuple(s for s in u.sources if s.name not in timing)) for u in units]


def flat_sources(units: Sequence[Unit]) -> dict[str, str]:
    """All C of an FMU in one folder, by name; empty where external code cannot be told flat."""
    out: dict[str, str] = {}
    if any(unit.include_directories for unit in units):
        return {}
    for unit in units:
        for source in (*unit.headers, *unit.sources):
            if out.setdefault(source.name, source.text) != source.text:
                return {}
    return dict(sorted(out.items()))


def _linked(libraries: tuple[str, ...], platform: Platform) -> tuple[str, ...]:
    """Linker arguments for a platform; R801 where a library of this machine would be needed on another."""
    if libraries and platform.name != HERE:
        wanted = ", ".join(libraries)
        raise ModelError(Diagnostic("R801", f"the model is linked with {wanted}, not there for {platform.name}"))
    return libraries


def _wish(what: str, of: str, known: list[str]) -> ModelError:
    return ModelError(Diagnostic("R801", f"there is no {of} `{what}` of an FMU; there are {', '.join(known)}"))


def _warning(code: str, text: str) -> Diagnostic:
    return Diagnostic(code, text, severity=Severity.WARNING)
