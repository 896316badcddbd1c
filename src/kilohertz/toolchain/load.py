"""Loading a built library into this process."""

from __future__ import annotations

import ctypes
from pathlib import Path

from kilohertz.base import Diagnostic, ModelError, Note


def load_library(path: Path) -> ctypes.CDLL:
    """The library, its symbols resolved at once; C604 names what is missing."""
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        text = str(error).replace(str(path), path.name)
        raise ModelError(Diagnostic("C604", "the compiled model cannot be loaded", notes=(Note(text),))) from error
