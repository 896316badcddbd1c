"""A lock file: the very libraries of a project, with the commit and the SHA-256 of their files.

    [[library]]
    name = "Modelica"
    version = "4.0.0+maint.om"
    path = "Modelica"              of the package in the archive
    zipfile = "https://..."
    sha = "96032134..."            the commit
    content = "5d41402a..."        SHA-256 over all files

No index is needed to install from it.

Codes: L332 the lock file cannot be read or used.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from pathlib import Path

from kilohertz.base import Diagnostic, ModelError
from kilohertz.base.versions import version
from kilohertz.packages.index import Release
from kilohertz.packages.library_folder import Installed

_HEAD = (
    "# Libraries of this project, by `khz library lock`; `khz library install --locked FILE` brings exactly these.\n"
)
_KEYS = ("name", "version", "path", "zipfile", "sha", "content")


def lock_text(libraries: Sequence[Installed]) -> str:
    """The lock of these libraries."""
    blocks = []
    for item in sorted(libraries, key=lambda item: (item.name, item.version)):
        lines = [f"{key} = {json.dumps(getattr(item, key))}" for key in _KEYS if getattr(item, key)]
        if not item.zipfile:
            lines.append(f"origin = {json.dumps(item.origin)}  # of no index: install it by hand before the others")
        blocks.append("\n[[library]]\n" + "\n".join(lines) + "\n")
    return _HEAD + "".join(blocks)


def locked_releases(file: Path) -> tuple[list[Release], dict[tuple[str, str], str]]:
    """The releases that a lock file names, and the promised hashes."""
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
        entries = [{key: str(entry.get(key, "")) for key in _KEYS} for entry in data["library"]]
    except OSError as error:
        raise _useless(file, error.strerror or str(error)) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise _useless(file, str(error)) from None
    except (KeyError, AttributeError, TypeError):
        raise _useless(file, "it has no `[[library]]`") from None
    for k, entry in enumerate(entries):
        if not entry["name"] or not entry["version"]:
            raise _useless(file, f"library {k + 1} has no name or no version")
    releases = [Release(e["name"], version(e["version"]), e["path"], e["zipfile"], "", e["sha"]) for e in entries]
    return releases, {(e["name"], e["version"]): e["content"] for e in entries if e["content"]}


def _useless(file: Path, why: str) -> ModelError:
    return ModelError(Diagnostic("L332", f"the lock file `{file}` cannot be used: {why}"))
