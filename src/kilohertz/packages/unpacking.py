"""From an archive, a folder or a clone to the folder of one library.

An archive is somebody else's: names that lead out of the folder, links, and more than a library can reasonably hold are
refused before anything is written.

Codes: L327 the archive cannot be used, L328 the library is not in it, L329 another commit than the one asked for.
"""

from __future__ import annotations

import shutil
import stat
import subprocess
import zipfile
from pathlib import Path, PurePosixPath

from kilohertz.base import Diagnostic, ModelError

_MOST_BYTES, _MOST_FILES = 4 << 30, 200_000
_LINK = 0xA000  # the kind of a symbolic link in a Unix mode


def unpack(archive: Path, into: Path, commit: str = "", address: str = "") -> Path:
    """All files of a zip below `into`; the folder that holds them.  A forge writes the commit as the zip's comment.

    `address`: where a user would look for it, if that is not the file itself.
    """
    called = address or archive.name
    try:
        with zipfile.ZipFile(archive) as packed:
            said = packed.comment.decode("ascii", "replace").strip()
            if commit and len(said) == len(commit) and said != commit:
                raise _other_commit(called, commit, said)
            members = [member for member in packed.infolist() if not member.is_dir()]
            _check(members, called)
            for member in members:
                packed.extract(member, into)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise _unusable(called, str(error)) from None
    return single_folder(into)


def single_folder(folder: Path) -> Path:
    """The folder below, where there is nothing else: archives of a forge have all in one."""
    entries = list(folder.iterdir())
    inner = entries[0] if len(entries) == 1 and entries[0].is_dir() else folder
    return folder if (folder / "package.mo").is_file() else inner


def check_out(clone: Path, commit: str, into: Path) -> Path:
    """The files of a commit (or branch, or tag) of a local repository."""
    archive = into.with_suffix(".zip")
    command = ["git", "-C", str(clone), "archive", "--format=zip", "-o", str(archive), commit]
    try:
        process = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise ModelError(Diagnostic("L327", f"`{clone}` is a clone, and there is no `git` to read it with")) from None
    if process.returncode != 0:
        reason = process.stderr.strip().splitlines()[-1:] or ["git failed"]
        raise ModelError(Diagnostic("L328", f"`{clone}` does not give `{commit}`: {reason[0]}"))
    unpack(archive, into)
    archive.unlink()
    return into


def commit_of(clone: Path, reference: str) -> str:
    """The commit that a branch or tag of a clone stands for now."""
    command = ["git", "-C", str(clone), "rev-parse", f"{reference}^{{commit}}"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def copy_library(root: Path, path: str, into: Path, whole_folder: bool) -> None:
    """The library at `path` below `root` as a package folder; a single file becomes its `package.mo`."""
    source = root / path if path else root
    if not source.resolve().is_relative_to(root.resolve()):
        raise ModelError(Diagnostic("L328", f"the path `{path}` leads out of the archive"))
    if source.is_dir() and (source / "package.mo").is_file():
        shutil.copytree(source, into, ignore=shutil.ignore_patterns(".git"))
    elif source.is_file():
        if whole_folder:
            shutil.copytree(source.parent, into, ignore=shutil.ignore_patterns(".git"))
            (into / source.name).rename(into / "package.mo")
        else:
            into.mkdir()
            shutil.copy2(source, into / "package.mo")
    else:
        there = ", ".join(sorted(entry.name for entry in root.iterdir())[:12]) or "nothing"
        raise ModelError(Diagnostic("L328", f"there is no library at `{path or '.'}`; there is {there}"))


def libraries_below(root: Path) -> list[str]:
    """The libraries of a folder: itself, those in it, or those one level down."""
    if (root / "package.mo").is_file():
        return [""]
    for pattern in ("*", "*/*"):
        folders = [f.parent for f in root.glob(f"{pattern}/package.mo")]
        files = [f for f in root.glob(f"{pattern}.mo") if not (f.parent / "package.mo").exists()]
        if folders or files:
            return sorted(str(entry.relative_to(root)) for entry in (*folders, *files))
    return []


def _check(members: list[zipfile.ZipInfo], archive: str) -> None:
    total = sum(member.file_size for member in members)
    if total > _MOST_BYTES or len(members) > _MOST_FILES:
        raise _unusable(archive, f"it unpacks to {len(members)} files of {total} bytes")
    for member in members:
        path = PurePosixPath(member.filename.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or ":" in path.parts[0]:
            raise _unusable(archive, f"`{member.filename}` would be written outside of the folder")
        if stat.S_IFMT(member.external_attr >> 16) == _LINK:
            raise _unusable(archive, f"`{member.filename}` is a link")


def _unusable(archive: str, why: str) -> ModelError:
    return ModelError(Diagnostic("L327", f"the archive `{archive}` cannot be used: {why}"))


def _other_commit(name: str, wanted: str, got: str) -> ModelError:
    return ModelError(Diagnostic("L329", f"`{name}` holds commit {got}; the index says {wanted}"))
