"""The C of an executable for a person: folders by unit, headers once, and two ways to build it.

- README.md, build.sh, CMakeLists.txt
- include/: headers of the runtime that are needed
- models/: for each model a folder with its header, blocks, functions, tables
- runtime/, devices/, task/
- external/: C of external functions, what it includes, and the libraries it comes with
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kilohertz.toolchain import C_SUFFIXES, COMMON_FLAGS, Compiler, Source, Unit

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(?:["<]([^">\n]+)[">]|\w)', re.MULTILINE)
_WIDTH = 120


@dataclass(frozen=True, slots=True)
class Group:
    """Files that are compiled alike, by their places in the tree."""

    name: str
    files: tuple[str, ...]
    folders: tuple[str, ...]  # to look for headers in
    flags: tuple[str, ...]


def write_tree(
    folder: Path,
    name: str,
    units: Sequence[Unit],
    compiler: Compiler,
    libraries: Sequence[str],
    headings: Mapping[str, str],
) -> None:
    """Write all C of an executable `name`.  `headings`: a comment for the files of a unit, by the unit's name."""
    shutil.rmtree(folder, ignore_errors=True)
    tree = _Tree(folder, units, headings)
    groups = [tree.group(unit, i) for i, unit in enumerate(units)]
    linked = tree.libraries(libraries)
    command = "zig cc" if compiler.is_zig else Path(compiler.command[0]).name
    # -z now: as the executable itself is linked (zig's default)
    options = () if compiler.is_zig else ("-Wl,-z,now",)
    (folder / "README.md").write_text(_readme(name, headings), encoding="utf-8")
    script = folder / "build.sh"
    script.write_text(_script(name, command, groups, (*options, *linked, "-lm")), encoding="utf-8")
    script.chmod(0o755)
    listing = _listing(name, groups, (*options, *linked, "-lm"))
    (folder / "CMakeLists.txt").write_text(listing, encoding="utf-8")


class _Tree:
    """Files on their way into a tree."""

    def __init__(self, folder: Path, units: Sequence[Unit], headings: Mapping[str, str]) -> None:
        self.folder, self.headings = folder, headings
        owners: dict[str, set[str]] = {}
        for unit in units:
            for header in unit.headers:
                owners.setdefault(header.name, set()).add(unit.name)
        self.shared = {header for header, names in owners.items() if len(names) > 1}
        self.included: dict[Path, None] = {}  # files of external code that are included
        self.common = _common({d for unit in units for d in unit.include_directories})

    def group(self, unit: Unit, number: int) -> Group:
        """Write a unit and the headers that it needs."""
        files = tuple(f"{unit.name}/{source.name}" for source in unit.sources)
        for source, place in zip(unit.sources, files, strict=True):
            self._write(place, source.text, self.headings.get(unit.name, ""))
        for header in self._needed(unit):
            is_of_unit = header.name not in self.shared
            place = unit.name if is_of_unit else "include"
            self._write(f"{place}/{header.name}", header.text, self.headings.get(unit.name, "") if is_of_unit else "")
        places = [unit.name, "include", *(self._place(d) for d in unit.include_directories)]
        folders = [place for place in places if any((self.folder / place).rglob("*.h"))]
        return Group(f"{unit.name.replace('/', '_')}_{number}", files, tuple(folders), unit.flags)

    def _write(self, place: str, text: str, heading: str) -> None:
        target = self.folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(heading + text, encoding="utf-8", errors="surrogateescape")

    def _needed(self, unit: Unit) -> list[Source]:
        """Headers that the sources include, directly or not; files of other folders are copied on the way."""
        by_name = {header.name: header for header in unit.headers}
        needed: dict[str, Source] = {}
        todo: list[tuple[str, Path | None]] = [(source.text, None) for source in unit.sources]
        while todo:
            text, beside = todo.pop()
            for included in _INCLUDE.finditer(text):
                name = included[1]
                if name in by_name:
                    if name not in needed:
                        needed[name] = by_name[name]
                        todo.append((by_name[name].text, None))
                    continue
                for path in self._outside(name, beside, unit):
                    if path not in self.included:
                        self.included[path] = None
                        todo.append((self._copy(path), path.parent))
        return sorted(needed.values(), key=lambda header: header.name)

    def _outside(self, name: str | None, beside: Path | None, unit: Unit) -> list[Path]:
        """The file of a name in the folders of external code; every one there is where a macro says which."""
        if name is None:
            files = [p for folder in unit.include_directories for p in sorted(folder.rglob("*"))]
            return [p for p in files if p.suffix in C_SUFFIXES]
        folders = (*([beside] if beside is not None else []), *unit.include_directories)
        return [p for p in (Path(os.path.normpath(d / name)) for d in folders) if p.is_file()][:1]

    def _copy(self, path: Path) -> str:
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        self._write(self._place(path), text, "")
        return text

    def _place(self, path: Path) -> str:
        """Where a file or folder of external code lies in the tree; `..` of an include still leads to its file."""
        return (Path("external") / os.path.relpath(path, self.common)).as_posix()

    def libraries(self, arguments: Sequence[str]) -> tuple[str, ...]:
        """Linker arguments, with the libraries of a model's own folders copied into the tree."""
        wanted = [word[2:] for word in arguments if word.startswith("-l")]
        folders = [Path(word[2:]) for word in arguments if word.startswith("-L")]
        out: list[str] = []
        for word in arguments:
            if word.startswith("-L"):
                self._copy_libraries(Path(word[2:]), wanted)
                out.append("-L{here}/external/libraries")
            elif word.startswith("-Wl,-rpath,") and Path(word[11:]) in folders:
                out.append("-Wl,-rpath,{here}/external/libraries")
            else:
                out.append(word)
        return tuple(dict.fromkeys(out))

    def _copy_libraries(self, folder: Path, wanted: Iterable[str]) -> None:
        target = self.folder / "external" / "libraries"
        target.mkdir(parents=True, exist_ok=True)
        for name in wanted:
            for file in (*sorted(folder.glob(f"lib{name}.so*")), *folder.glob(f"lib{name}.a")):
                shutil.copy2(file, target / file.name)


def _common(folders: set[Path]) -> Path:
    """The folder that all lie in."""
    return Path(os.path.commonpath([f.absolute() for f in folders])).parent if folders else Path()


# -------------------------------------------------------------------------------------------------------- how to build


def _readme(name: str, headings: Mapping[str, str]) -> str:
    overview = "\n".join(text.replace("/* ", "").replace(" * ", "").replace(" */", "") for text in headings.values())
    return f"""# C source of {name}

{overview}
Build it with `./build.sh` (CC and CFLAGS are heeded; the executable comes to lie one folder up) or with
`cmake -B build && cmake --build build`. A C11 compiler and POSIX threads are all it needs.

- `include/`, `runtime/`: what steps a model; `khz_model.h` and `khz_stepper.h` are the way in.
- `models/`: for each model its header, its blocks of equations, its functions and its tables.
- `task/`, `devices/`: the periodic loop, its recorder and its devices.
- `external/`, where there is one: C that the model's functions call.
"""


def _script(name: str, command: str, groups: Sequence[Group], linked: Sequence[str]) -> str:
    lines = [
        "#!/bin/sh",
        f"# Builds ../{name} from the C in this folder; CC and CFLAGS are heeded.",
        "set -e",
        'cd "$(dirname "$0")"',
        "here=$(pwd)",
        f"CC=${{CC:-{command}}}",
        "mkdir -p objects",
        "",
        "compile() { # file, flags",
        "    file=$1",
        "    shift",
        '    object=objects/$(echo "${file%.c}" | tr "/ " "__").o',
        *_wrapped(["    $CC", *COMMON_FLAGS, '"$@"', "$CFLAGS", "-c", '"$file"', "-o", '"$object"'], " \\", 8),
        "}",
    ]
    for group in groups:
        flags = [*group.flags, *(f"-I{folder}" for folder in group.folders)]
        lines += ["", *_wrapped(["for file in", *map(shlex.quote, group.files)], " \\", 4), "do"]
        lines += [*_wrapped(['    compile "$file"', *map(shlex.quote, flags)], " \\", 8), "done"]
    words = [f'"{word.format(here="$here")}"' if "{here}" in word else shlex.quote(word) for word in linked]
    lines += ["", *_wrapped(["$CC", "-o", shlex.quote(f"../{name}"), "objects/*.o", *words], " \\", 4)]
    return "\n".join(lines) + "\n"


def _listing(name: str, groups: Sequence[Group], linked: Sequence[str]) -> str:
    lines = [
        f"# Builds {name}: cmake -B build && cmake --build build",
        "cmake_minimum_required(VERSION 3.16)",
        "project(task C)",
        *_command("add_compile_options", *COMMON_FLAGS),
    ]
    for group in groups:
        lines += ["", *_command("add_library", group.name, "OBJECT", *group.files)]
        lines += _command("target_include_directories", group.name, "PRIVATE", *group.folders)
        if group.flags:
            lines += _command("target_compile_options", group.name, "PRIVATE", *group.flags)
    words = [word.replace("{here}", "${CMAKE_CURRENT_SOURCE_DIR}") for word in linked]
    lines += ["", *_command("add_executable", "task", *(f"$<TARGET_OBJECTS:{group.name}>" for group in groups))]
    lines += _command("set_target_properties", "task", "PROPERTIES", "OUTPUT_NAME", name)
    lines += _command("target_link_libraries", "task", "PRIVATE", *words)
    return "\n".join(lines) + "\n"


def _command(name: str, *words: str) -> list[str]:
    """A command of CMake."""
    first, *following = [_quoted(word) for word in words]
    written = [f"{name}({first}", *following]
    written[-1] += ")"
    return _wrapped(written, "", 4)


def _quoted(word: str) -> str:
    return word if re.fullmatch(r"[\w./+=,:<>$-]+", word) else '"' + word.replace('"', '\\"') + '"'


def _wrapped(words: Sequence[str], end: str, indent: int) -> list[str]:
    """Words in lines that are not too long, each but the last with `end`."""
    lines, line = [], ""
    for word in words:
        if line and len(line) + 1 + len(word) + len(end) > _WIDTH:
            lines.append(line + end)
            line = " " * indent + word
        else:
            line = f"{line} {word}" if line else word
    return [*lines, line]
