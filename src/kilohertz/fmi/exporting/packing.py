"""Zip archives without date and machine: the same content gives the same file.

Code: R802 the file cannot be written.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

from kilohertz.base import Diagnostic, ModelError

_EPOCH = (1980, 1, 1, 0, 0, 0)  # of every file


def pack(path: Path, files: Mapping[str, bytes]) -> int:
    """Write an archive whole, or not at all; its size."""
    scratch = path.with_name(path.name + ".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(scratch, "w", zipfile.ZIP_DEFLATED) as packed:
            for name, data in files.items():
                info = zipfile.ZipInfo(name, _EPOCH)
                info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
                packed.writestr(info, data)
        scratch.replace(path)
        return path.stat().st_size
    except OSError as error:
        raise ModelError(Diagnostic("R802", f"cannot write `{path}`: {error.strerror}")) from error
