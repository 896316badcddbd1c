"""The SUNDIALS libraries that the scikit-sundae wheel brings along, as a table of C function addresses.

The right-hand side is C and so is the integrator: with the addresses at hand the runtime calls CVODE directly and no
Python runs between events.  IDA takes CVODE's place in the same table.  Checked: SUNDIALS 7, doubles, 32-bit indices.
"""

from __future__ import annotations

import ctypes
import importlib.util
import re
from functools import lru_cache
from pathlib import Path

from kilohertz.base import Diagnostic, ModelError, Note

# in the order of `khz_sundials` in khz_offline.h
FUNCTIONS = (
    "SUNContext_Create",
    "SUNContext_Free",
    "SUNContext_ClearErrHandlers",
    "N_VNew_Serial",
    "N_VDestroy",
    "N_VGetArrayPointer",
    "SUNDenseMatrix",
    "SUNMatDestroy",
    "SUNDenseMatrix_Data",
    "SUNLinSol_Dense",
    "SUNLinSolFree",
    "CVodeCreate",
    "CVodeFree",
    "CVodeInit",
    "CVodeReInit",
    "CVodeSVtolerances",
    "CVodeSetUserData",
    "CVodeSetMaxNumSteps",
    "CVodeSetMaxHnilWarns",
    "CVodeSetMaxStep",
    "CVodeSetStopTime",
    "CVodeSetLinearSolver",
    "CVodeSetJacFn",
    "CVodeSetJacEvalFrequency",
    "CVode",
    "CVodeGetDky",
    "SUNLinSolSetup_Dense",
    "SUNLinSolSolve_Dense",
)


# in the order of `khz_ida_functions` in khz_ida.h
IDA_FUNCTIONS = (
    "N_VClone",
    "N_VDestroy",
    "N_VGetArrayPointer",
    "N_VGetLength",
    "SUNDenseMatrix_Data",
    "IDACreate",
    "IDAFree",
    "IDAInit",
    "IDAReInit",
    "IDASVtolerances",
    "IDASetUserData",
    "IDASetMaxNumSteps",
    "IDASetMaxStep",
    "IDASetStopTime",
    "IDASetLinearSolver",
    "IDASetJacFn",
    "IDASolve",
    "IDAGetDky",
)


@lru_cache(maxsize=1)
def function_table() -> ctypes.Array[ctypes.c_void_p]:
    """Addresses of the functions; ModelError R722 where the libraries are missing or of another make."""
    return _addresses("cvode", FUNCTIONS)


@lru_cache(maxsize=1)
def ida_functions() -> ctypes.Array[ctypes.c_void_p]:
    """The same for IDA."""
    return _addresses("ida", IDA_FUNCTIONS)


def ida_table(library: ctypes.CDLL) -> ctypes.Array[ctypes.c_void_p]:
    """A table in which the runtime of a loaded model has put IDA where CVODE was."""
    table = (ctypes.c_void_p * len(FUNCTIONS))(*function_table())
    library.khz_use_ida(ctypes.byref(table), ctypes.byref(ida_functions()))
    return table


def _addresses(solver: str, names: tuple[str, ...]) -> ctypes.Array[ctypes.c_void_p]:
    package = _package()
    library = ctypes.CDLL(str(_library(package, solver)))
    _check_version(package)
    table = (ctypes.c_void_p * len(names))()
    for i, name in enumerate(names):
        try:
            table[i] = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        except AttributeError:
            raise _missing(f"{name} is not in the library") from None
    return table


def _package() -> Path:
    spec = importlib.util.find_spec("sksundae")
    if spec is None or spec.origin is None:
        raise _missing("the package scikit-sundae is not installed")
    return Path(spec.origin).parent


def _library(package: Path, solver: str) -> Path:
    folders = (package.parent / "scikit_sundae.libs", package / ".dylibs", package / ".libs")
    for folder in folders:
        found = sorted(folder.glob(f"*sundials_{solver}*")) if folder.is_dir() else []
        if found:
            return found[0]
    raise _missing("scikit-sundae is installed without its own SUNDIALS libraries")


def _check_version(package: Path) -> None:
    """The wheel says beside its Cython sources how SUNDIALS was built; importing it would take half a second."""
    given = dict(re.findall(r'(\w+) *= *"([^"]*)"', (package / "py_config.pxi").read_text(encoding="utf-8")))
    version, index = given.get("SUNDIALS_VERSION", "?"), given.get("SUNDIALS_INT_TYPE", "?")
    if not version.startswith("7.") or index != "int" or given.get("SUNDIALS_FLOAT_TYPE") != "double":
        raise _missing(f"SUNDIALS {version} with index type {index}; needed: 7.x, double, int")


def _missing(why: str) -> ModelError:
    return ModelError(Diagnostic("R722", "the solvers of SUNDIALS are not available", notes=(Note(why),)))
