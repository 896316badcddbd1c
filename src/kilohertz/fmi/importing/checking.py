"""`khz check M.fmu`: what an FMU is, and what is wrong with it."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from kilohertz.base import Diagnostic, ModelError, Severity
from kilohertz.fmi.importing.archive import Fmu
from kilohertz.fmi.importing.description import Description
from kilohertz.fmi.importing.offline import PATIENCE, failure, in_own_process

_COMMON = (
    *("GetVersion", "FreeInstance", "EnterInitializationMode", "ExitInitializationMode", "Terminate", "Reset"),
    *("SetDebugLogging", "GetBoolean", "SetBoolean", "GetString", "SetString"),
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
    functions = [*_COMMON, *_OF_VERSION[version], *_OF_KIND[version, kind]]
    job = {"what": "probe", "version": version, "binary": str(binary), "functions": functions}
    with tempfile.TemporaryDirectory(prefix="khz-probe-") as name:
        report = in_own_process(job, Path(name), PATIENCE)
    if report["how"] != "done":
        return [failure(fmu, report)]
    missing = report["missing"]
    severity = Severity.ERROR if any(f.endswith(("DoStep", "Instantiate")) for f in missing) else Severity.WARNING
    return [Diagnostic("R816", f"`{fmu.path.name}` has no function {f}", severity=severity) for f in missing]
