"""`khz library`: find, install, list, remove and lock Modelica libraries."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import TaskID

    from kilohertz.packages.library_folder import Installed, Store
    from kilohertz.packages.origins import Origins, Progress

_EPILOG = """\
examples:
  khz library install Modelica@4.0.0             with all that it uses, as the index says
  khz library install Buildings --mirror DIR     archives from a folder (or address) laid out like the public mirror
  khz library install ./MyLibrary my.zip         a folder, a zip or a clone (CLONE@TAG): no index, no network
  khz library search heat                        what the index has
  khz library lock -o project.lock               what is installed, with commit and SHA-256 ...
  khz library install --locked project.lock      ... and exactly that again, elsewhere
Every command finds installed libraries after --library and MODELICAPATH.  KHZ_LIBRARY_DIR moves the folder,
KHZ_LIBRARY_INDEX names another index (an address or a file)."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog, parser.formatter_class = _EPILOG, argparse.RawDescriptionHelpFormatter
    actions = parser.add_subparsers(metavar="ACTION", required=True, title="actions")
    install = actions.add_parser("install", help="install libraries and what they use")
    install.add_argument(
        "what", metavar="NAME[@VERSION]|PATH[@REF]", nargs="*", help="from the index, or a local place"
    )
    install.add_argument("--locked", metavar="F", type=Path, help="exactly the libraries of this lock file")
    install.add_argument("--mirror", metavar="M", action="append", default=[], help="try this place for archives first")
    install.add_argument(
        "--clone", metavar="DIR", type=Path, action="append", default=[], help="take commits from here"
    )
    install.add_argument("--skip-missing", action="store_true", help="go on without libraries that the index lacks")
    install.add_argument("--again", action="store_true", help="also what is installed already")
    install.add_argument("--dry-run", action="store_true", help="say what would be installed, and for whom")
    search = actions.add_parser("search", help="libraries of the index")
    search.add_argument("text", metavar="TEXT", nargs="?", default="", help="part of a name (default: all)")
    search.add_argument("--all", action="store_true", help="every version, with what it uses")
    for sub in (install, search):
        sub.add_argument("--index", metavar="I", default="", help="address or file of the index")
    actions.add_parser("list", help="what is installed")
    remove = actions.add_parser("remove", help="delete installed libraries")
    remove.add_argument("what", metavar="NAME[@VERSION]", nargs="+")
    lock = actions.add_parser("lock", help="write what is installed, with commits and hashes, as a lock file")
    lock.add_argument("what", metavar="NAME", nargs="*", help="these and what they use (default: all)")
    lock.add_argument("-o", "--output", metavar="F", type=Path, help="the file (default: print it)")
    for sub, job in ((install, _install), (search, _search), (remove, _remove), (lock, _lock)):
        sub.set_defaults(action=job)
    actions.choices["list"].set_defaults(action=_list)


def run(arguments: argparse.Namespace) -> int:
    code: int = arguments.action(arguments)
    return code


def _install(arguments: argparse.Namespace) -> int:
    from kilohertz.base import Diagnostic, ModelError
    from kilohertz.packages.index import Index
    from kilohertz.packages.installing import Job, install, install_local
    from kilohertz.packages.library_folder import Store
    from kilohertz.packages.lock import locked_releases
    from kilohertz.packages.resolve import Wish, resolve

    if not arguments.what and arguments.locked is None:
        raise ModelError(Diagnostic("L333", "nothing to install: give a NAME, a PATH or `--locked FILE`"))
    store, origins = Store(), _origins(arguments)
    local = [text for text in arguments.what if _is_place(text)]
    if arguments.dry_run and (local or arguments.locked is not None):
        message = "`--dry-run` says what an index leads to; a place or a lock file is installed as it is"
        raise ModelError(Diagnostic("L333", message))
    wishes = [Wish.read(text) for text in arguments.what if text not in local]
    done: list[Installed] = []
    with _Bar() as progress:
        for text in local:
            path, reference = _place(text)
            done += install_local(path, reference, store)
        if arguments.locked is not None:
            releases, contents = locked_releases(arguments.locked)
            job = Job(releases, contents, arguments.again)
            done += install(job, Index({}), origins, store, progress)
        if wishes:
            index = origins.read_index(progress)
            plan = resolve(index, wishes, arguments.skip_missing)
            for problem in plan.missing:
                print(f"left out: {problem.message}", file=sys.stderr)
            if arguments.dry_run:
                for name, release in plan.chosen.items():
                    print(f"{release}   ({plan.wishes[name]})")
                return 0
            job = Job(list(plan.chosen.values()), again=arguments.again)
            done += install(job, index, origins, store, progress)
    for item in done:
        print(f"installed {item}   from {item.origin}")
    print(f"{len(done)} installed, {len(store.all())} in {store.folder}" if done else f"all there, in {store.folder}")
    return 0


def _search(arguments: argparse.Namespace) -> int:
    with _Bar() as progress:
        index = _origins(arguments).read_index(progress)
    text = arguments.text.lower()
    names = [name for name in index.libraries if text in name.lower()]
    if not names:
        print(f"no library with `{arguments.text}` in its name among {len(index.libraries)}", file=sys.stderr)
        return 1
    for name in names:
        releases = index.libraries[name]
        if not arguments.all:
            more = f"   and {len(releases) - 1} more" if len(releases) > 1 else ""
            print(f"{name} {releases[0].version.text}{more}")
            continue
        for release in releases:
            uses = ", ".join(f"{library} {wanted.text}" for library, wanted in release.uses.items())
            print(f"{release}" + (f"   uses {uses}" if uses else ""))
    return 0


def _list(arguments: argparse.Namespace) -> int:
    from kilohertz.packages.library_folder import Store

    store = Store()
    for item in store.all():
        commit = f" at {item.sha[:10]}" if item.sha else ""
        print(f"{item}{commit}   from {item.origin}")
    if not store.all():
        print(f"nothing is installed in {store.folder}")
    return 0


def _remove(arguments: argparse.Namespace) -> int:
    from kilohertz.packages.library_folder import Store
    from kilohertz.packages.resolve import Wish

    store = Store()
    for wish in map(Wish.read, arguments.what):
        for item in store.remove(wish.name, wish.version):
            print(f"removed {item}")
    for item in store.all():
        for name, wanted in item.uses:
            if name in {Wish.read(text).name for text in arguments.what} and not store.find(name):
                print(f"{item} uses {name} {wanted}, which is not installed now", file=sys.stderr)
    return 0


def _lock(arguments: argparse.Namespace) -> int:
    from kilohertz.base import Diagnostic, ModelError
    from kilohertz.packages.library_folder import Store
    from kilohertz.packages.lock import lock_text

    text = lock_text(_with_uses(Store(), arguments.what))
    if arguments.output is None:
        print(text, end="")
        return 0
    try:
        arguments.output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ModelError(Diagnostic("R702", f"cannot write `{arguments.output}`: {error.strerror}")) from None
    print(f"wrote {arguments.output}")
    return 0


def _with_uses(store: Store, names: list[str]) -> list[Installed]:
    """These libraries and what they lead to; all where no name is given."""
    from kilohertz.base import Diagnostic, ModelError, near

    everything = store.all()
    if not names:
        return everything
    chosen: dict[str, list[Installed]] = {}
    pending = list(names)
    while pending:
        name = pending.pop()
        if name in chosen:
            continue
        chosen[name] = [item for item in everything if item.name == name]
        if not chosen[name] and name in names:
            close = near(name, {item.name for item in everything})
            raise ModelError(Diagnostic("L326", f"`{name}` is not installed in `{store.folder}`{close}"))
        pending += [used for item in chosen[name] for used, _ in item.uses]
    return [item for items in chosen.values() for item in items]


def _origins(arguments: argparse.Namespace) -> Origins:
    from kilohertz.packages.index import DEFAULT_INDEX
    from kilohertz.packages.origins import Origins

    index = arguments.index or os.environ.get("KHZ_LIBRARY_INDEX") or DEFAULT_INDEX
    return Origins(index, getattr(arguments, "mirror", ()), getattr(arguments, "clone", ()))


def _is_place(text: str) -> bool:
    return os.sep in text or text.endswith(".zip") or _place(text)[0].exists()


def _place(text: str) -> tuple[Path, str]:
    """`PATH` or `PATH@REF`."""
    whole = Path(text).expanduser()
    if whole.exists() or "@" not in text:
        return whole, ""
    path, _, reference = text.rpartition("@")
    return Path(path).expanduser(), reference


class _Bar:
    """How far a download got, where there is a terminal."""

    def __init__(self) -> None:
        self.tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Progress:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, TextColumn, TransferSpeedColumn
        from rich.progress import Progress as Bar

        console = Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
        self.bar = Bar(*columns, console=console, disable=not console.is_terminal, transient=True)
        self.bar.start()
        return self.step

    def step(self, what: str, done: int, total: int) -> None:
        """A part of a file has come."""
        if what not in self.tasks:
            self.tasks[what] = self.bar.add_task(what, total=total or None)
        self.bar.update(self.tasks[what], completed=done)

    def __exit__(self, *_: object) -> None:
        self.bar.stop()
