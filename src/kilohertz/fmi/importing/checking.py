"""`khz check M.fmu`: what an FMU is, and what is wrong with it."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kilohertz.base import Diagnostic, ModelError, Severity
from kilohertz.fmi.importing.archive import Fmu
from kilohertz.fmi.importing.description import Description
from kilohertz.fmi.importing.offline import PATIENCE, built_instead, failure, in_own_process

_COMMON = (
    *("GetVersion", "FreeInstance", "EnterInitializationMode", "ExitInitializationMode", "Terminate", "Reset"),
    *("SetDebugLogging", "GetBoolean", "SetBoolean", "GetString", "SetString"),
)
_OF_FMI_1 = (
    *("GetVersion", "InstantiateSlave", "InitializeSlave", "TerminateSlave", "FreeSlaveInstance", "DoStep"),
    *("GetReal", "SetReal", "GetInteger", "SetInteger", "GetBoolean", "SetBoolean", "GetString", "SetString"),
)
_OF_VERSION = {
    2: ("Instantiate", "SetupExperiment", "GetReal", "GetInteger", "SetReal", "SetInteger", "GetTypesPlatform"),
    3: ("GetFloat64", "SetFloat64", "GetInt32", "SetInt32", "GetInt64", "SetInt64"),
}
_OF_KIND = {
    (2, "cs"): ("DoStep", "GetStatus", "GetRealStatus", "GetBooleanStatus"),
    (3, "cs"): ("InstantiateCoSimulation", "DoStep"),
    (2, "me"): ("SetTime", "SetContinuousStates", "GetDerivatives", "GetEventIndicators", "NewDiscreteStates"),
    (3, "me"): ("InstantiateModelExchange", "SetTime", "SetContinuousStates", "GetContinuousStateDerivatives"),
}


@dataclass(frozen=True, slots=True)
class FmuReport:
    """What an FMU is, and what was found."""

    description: Description
    diagnostics: tuple[Diagnostic, ...]

    @property
    def ok(self) -> bool:
        return not any(d.severity is Severity.ERROR for d in self.diagnostics)

    def counts(self) -> dict[str, int]:
        """Variables by causality, states and event indicators."""
        d = self.description
        by = Counter(v.causality for v in d.variables)
        named = {name: by[name] for name in ("parameter", "calculatedParameter", "input", "output", "local")}
        return {"variables": len(d.variables), **named, "states": len(d.derivatives), "indicators": d.n_indicators}


def check_fmu(fmu: Fmu) -> FmuReport:
    """Read its description, load its binaries in a process of their own, look for the functions of the standard."""
    found = [*fmu.description.findings]
    for kind in fmu.description.identifiers:
        found += _binary(fmu, kind)
    return FmuReport(fmu.description, tuple(dict.fromkeys(found)))


def _binary(fmu: Fmu, kind: str) -> list[Diagnostic]:
    version = fmu.description.version
    try:
        binary = fmu.binary(kind)
    except ModelError as error:
        return list(error.diagnostics)
    functions = _OF_FMI_1 if version == 1 else (*_COMMON, *_OF_VERSION[version], *_OF_KIND[version, kind])
    found: list[Diagnostic] = []
    report = _probed(fmu, kind, binary, functions)
    if report["how"] == "load" and (built := fmu.rebuilt(kind)) is not None:
        found.append(built_instead(fmu, report))
        report = _probed(fmu, kind, built, functions)
    if report["how"] != "done":
        return [*found, failure(fmu, report)]
    missing = report["missing"]
    severity = (
        Severity.ERROR
        if any(f.endswith(("DoStep", "Instantiate", "InstantiateSlave")) for f in missing)
        else Severity.WARNING
    )
    return found + [Diagnostic("R816", f"`{fmu.path.name}` has no function {f}", severity=severity) for f in missing]


def _probed(fmu: Fmu, kind: str, binary: Path, functions: Sequence[str]) -> dict[str, Any]:
    """A library loaded in a process of its own."""
    job = {"what": "probe", "prefix": fmu.prefix(kind), "binary": str(binary), "functions": functions}
    with tempfile.TemporaryDirectory(prefix="khz-probe-") as name:
        return in_own_process(job, Path(name), PATIENCE)


def loadable(fmu: Fmu, kind: str) -> Path:
    """The library of a kind; where it is there but does not load, one from the FMU's sources, if it has any."""
    binary = fmu.binary(kind)
    if not (fmu.folder / "sources").is_dir() or _probed(fmu, kind, binary, ())["how"] != "load":
        return binary
    return fmu.rebuilt(kind) or binary
