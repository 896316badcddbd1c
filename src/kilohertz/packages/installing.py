"""From wishes to installed libraries: resolve, get each repository once, unpack, check, put in place.

Codes: L328 no library in what was given, L331 the files of a library are not those that the lock says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kilohertz.base import Diagnostic, ModelError
from kilohertz.packages.index import Index, Release
from kilohertz.packages.library_folder import Installed, Store, content_hash
from kilohertz.packages.origins import Origins, Progress
from kilohertz.packages.unpacking import check_out, commit_of, copy_library, libraries_below, unpack
from kilohertz.syntax import Libraries

__all__ = ["Installed", "Job", "install", "install_local"]


@dataclass(frozen=True, slots=True)
class Job:
    """Releases to install; `contents` are hashes that a lock file promises."""

    releases: Sequence[Release]
    contents: Mapping[tuple[str, str], str] = field(default_factory=dict)  # by name and version
    again: bool = False  # also what is there already


def install(job: Job, index: Index, origins: Origins, store: Store, progress: Progress) -> list[Installed]:
    """Install what is not there yet; releases of one commit are fetched once.  What was installed now."""
    done: list[Installed] = []
    by_source: dict[str, list[Release]] = {}
    for release in job.releases:
        if job.again or not _is_there(release, job, store):
            by_source.setdefault(release.zipfile or f"{release.git}@{release.sha}", []).append(release)
    for releases in by_source.values():
        with store.making() as scratch:
            root, origin = origins.obtain(releases[0], scratch / "files", index.mirrors, progress)
            for k, release in enumerate(releases):
                folder = scratch / f"library{k}"
                copy_library(root, release.path, folder, release.whole_folder)
                content = content_hash(folder)
                _check_lock(release, content, job.contents)
                uses = tuple((name, wanted.text) for name, wanted in release.uses.items())
                facts = (release.path, release.zipfile, release.sha, content, uses)
                item = Installed(release.name, release.version.text, origin, *facts)
                store.add(folder, item)
                done.append(item)
    return done


def install_local(source: Path, reference: str, store: Store) -> list[Installed]:
    """All libraries of a folder, a zip or a clone (at a branch, tag or commit), as they name themselves."""
    with store.making() as scratch:
        files, commit = scratch / "files", ""
        if source.is_file():
            root = unpack(source, files)
        elif _is_clone(source):
            files.mkdir()
            root, commit = check_out(source, reference or "HEAD", files), commit_of(source, reference or "HEAD")
        elif source.is_dir():
            root = source
        else:
            raise ModelError(Diagnostic("L328", f"there is no folder or file `{source}`"))
        paths = libraries_below(root)
        if not paths:
            raise ModelError(Diagnostic("L328", f"there is no Modelica package in `{source}`"))
        done = []
        for k, path in enumerate(paths):
            folder = scratch / f"library{k}"
            copy_library(root, path, folder, whole_folder=False)
            name, text, uses = _described(folder)
            if name:
                item = Installed(name, text, str(source.absolute()), path, "", commit, content_hash(folder), uses)
                store.add(folder, item)
                done.append(item)
    return done


def _described(folder: Path) -> tuple[str, str, tuple[tuple[str, str], ...]]:
    """Name, version and used libraries as the package itself says."""
    libraries = Libraries()
    classes = libraries.load_file(folder)
    if not classes or classes[0].within:
        return "", "", ()
    return classes[0].name, libraries.version(classes[0]) or "unversioned", libraries.uses(classes[0])


def _is_clone(folder: Path) -> bool:
    return (folder / ".git").exists() or ((folder / "HEAD").is_file() and (folder / "objects").is_dir())


def _is_there(release: Release, job: Job, store: Store) -> bool:
    """Is it installed, with the very files that a lock promises?"""
    promised = job.contents.get((release.name, release.version.text))
    for item in store.find(release.name, release.version):
        if item.version == release.version.text and item.sha in ("", release.sha):
            return not promised or content_hash(store.place(item.name, item.version)) == promised
    return False


def _check_lock(release: Release, content: str, contents: Mapping[tuple[str, str], str]) -> None:
    promised = contents.get((release.name, release.version.text))
    if promised and promised != content:
        message = f"the files of {release} are not those of the lock: SHA-256 {content}, the lock says {promised}"
        raise ModelError(Diagnostic("L331", message))
