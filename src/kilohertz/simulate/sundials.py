"""The SUNDIALS libraries that the scikit-sundae wheel brings along, as a table of C function addresses.

The right-hand side is C and so is the integrator: with the addresses at hand the runtime calls CVODE directly and no
Python runs between events.  IDA takes CVODE's place in the same table.  Checked: SUNDIALS 7, doubles, 32-bit indices.
"""

from __future__ import annotations

import ctypes
import importlib.util
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from kilohertz.base import Diagnostic, ModelError, Note
from kilohertz.runtime import fields

# what each function of `khz_sundials` is called there
FUNCTIONS = {
    "context_create": "SUNContext_Create",
    "context_free": "SUNContext_Free",
    "context_clear_handlers": "SUNContext_ClearErrHandlers",
    "vector_new": "N_VNew_Serial",
    "vector_destroy": "N_VDestroy",
    "vector_data": "N_VGetArrayPointer",
    "matrix_new": "SUNDenseMatrix",
    "matrix_destroy": "SUNMatDestroy",
    "matrix_data": "SUNDenseMatrix_Data",
    "solver_new": "SUNLinSol_Dense",
    "solver_free": "SUNLinSolFree",
    "create": "CVodeCreate",
    "destroy": "CVodeFree",
    "init": "CVodeInit",
    "reinit": "CVodeReInit",
    "tolerances": "CVodeSVtolerances",
    "set_user": "CVodeSetUserData",
    "set_max_steps": "CVodeSetMaxNumSteps",
    "set_max_hnil_warnings": "CVodeSetMaxHnilWarns",
    "set_max_step": "CVodeSetMaxStep",
    "set_stop": "CVodeSetStopTime",
    "set_solver": "CVodeSetLinearSolver",
    "set_jacobian": "CVodeSetJacFn",
    "set_jacobian_every": "CVodeSetJacEvalFrequency",
    "set_newton_part": "CVodeSetNonlinConvCoef",
    "set_newton_failures": "CVodeSetMaxConvFails",
    "set_same_step": "CVodeSetEtaFixedStepBounds",
    "advance": "CVode",
    "interpolate": "CVodeGetDky",
    "gamma": "CVodeGetCurrentGamma",
    "dense_setup": "SUNLinSolSetup_Dense",
    "dense_solve": "SUNLinSolSolve_Dense",
    "sparse_new": "SUNSparseMatrix",
    "sparse_data": "SUNSparseMatrix_Data",
    "sparse_columns": "SUNSparseMatrix_IndexValues",
    "sparse_rows": "SUNSparseMatrix_IndexPointers",
}


# what each function of `khz_ida_functions` is called there
IDA_FUNCTIONS = {
    "vector_clone": "N_VClone",
    "vector_destroy": "N_VDestroy",
    "vector_data": "N_VGetArrayPointer",
    "vector_length": "N_VGetLength",
    "matrix_data": "SUNDenseMatrix_Data",
    "create": "IDACreate",
    "destroy": "IDAFree",
    "init": "IDAInit",
    "reinit": "IDAReInit",
    "tolerances": "IDASVtolerances",
    "set_user": "IDASetUserData",
    "set_max_steps": "IDASetMaxNumSteps",
    "set_max_step": "IDASetMaxStep",
    "set_stop": "IDASetStopTime",
    "set_solver": "IDASetLinearSolver",
    "set_jacobian": "IDASetJacFn",
    "set_newton_failures": "IDASetMaxConvFails",
    "set_error_failures": "IDASetMaxErrTestFails",
    "advance": "IDASolve",
    "interpolate": "IDAGetDky",
    "current_cj": "IDAGetCurrentCj",
}


@lru_cache(maxsize=1)
def function_table() -> ctypes.Array[ctypes.c_void_p]:
    """Addresses of the functions; ModelError R722 where the libraries are missing or of another make."""
    return _addresses("cvode", "khz_sundials", FUNCTIONS)


@lru_cache(maxsize=1)
def ida_functions() -> ctypes.Array[ctypes.c_void_p]:
    """The same for IDA."""
    return _addresses("ida", "khz_ida_functions", IDA_FUNCTIONS)


def ida_table(library: ctypes.CDLL) -> ctypes.Array[ctypes.c_void_p]:
    """A table in which the runtime of a loaded model has put IDA where CVODE was."""
    table = (ctypes.c_void_p * len(FUNCTIONS))(*function_table())
    library.khz_use_ida(ctypes.byref(table), ctypes.byref(ida_functions()))
    return table


def _addresses(solver: str, structure: str, names: Mapping[str, str]) -> ctypes.Array[ctypes.c_void_p]:
    package = _package()
    library = ctypes.CDLL(str(_library(package, solver)))
    _check_version(package)
    places = [names[field] for field, _ in fields(structure)]
    table = (ctypes.c_void_p * len(places))()
    for i, name in enumerate(places):
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
        libraries = sorted(folder.glob(f"*sundials_{solver}*")) if folder.is_dir() else []
        if libraries:
            return libraries[0]
    raise _missing("scikit-sundae is installed without its own SUNDIALS libraries")


def _check_version(package: Path) -> None:
    """The wheel says beside its Cython sources how SUNDIALS was built; importing it would take half a second."""
    configuration = dict(re.findall(r'(\w+) *= *"([^"]*)"', (package / "py_config.pxi").read_text(encoding="utf-8")))
    version, index = configuration.get("SUNDIALS_VERSION", "?"), configuration.get("SUNDIALS_INT_TYPE", "?")
    if not version.startswith("7.") or index != "int" or configuration.get("SUNDIALS_FLOAT_TYPE") != "double":
        raise _missing(f"SUNDIALS {version} with index type {index}; needed: 7.x, double, int")


def _missing(why: str) -> ModelError:
    return ModelError(Diagnostic("R722", "the solvers of SUNDIALS are not available", notes=(Note(why),)))
