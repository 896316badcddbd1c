"""Finding compilers, building through the cache, and what is said when that fails."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from kilohertz.base import ModelError
from kilohertz.ir.flat import ExternalCall
from kilohertz.toolchain import (
    Source,
    Unit,
    build_executable,
    build_objects,
    build_shared,
    cache_directory,
    load_library,
)
from kilohertz.toolchain.compiler import Compiler, find_compiler, processor
from kilohertz.toolchain.external_code import PLATFORM, external_units

ADD = Source("add.c", '__attribute__((visibility("default"))) int add(int a, int b) { return a + b; }\n')


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KHZ_CACHE_DIR", str(tmp_path / "cache"))


def test_a_shared_library_is_built_once() -> None:
    first = build_shared([Unit((ADD,))])
    stamp = first.stat().st_mtime_ns
    assert build_shared([Unit((ADD,))]) == first
    assert first.stat().st_mtime_ns == stamp
    assert load_library(first).add(2, 3) == 5
    assert isinstance(load_library(first), ctypes.CDLL)


def test_text_flags_and_headers_are_part_of_the_key() -> None:
    header = Source("n.h", "#define N 1\n")
    source = Source("use.c", '#include "n.h"\nint n(void) { return N; }\n')
    keys = {
        build_objects([Unit((source,), (header,))])[0],
        build_objects([Unit((source,), (Source("n.h", "#define N 2\n"),))])[0],
        build_objects([Unit((source,), (header,), (), ("-O0",))])[0],
        build_objects([Unit((Source("use.c", source.text + "\n"),), (header,))])[0],
    }
    assert len(keys) == 4


def test_code_for_one_processor_is_not_taken_on_another(monkeypatch: pytest.MonkeyPatch) -> None:
    keys: dict[tuple[str, ...], list[Path]] = {}
    for name in ("old", "new"):
        monkeypatch.setattr("kilohertz.toolchain.object_files.processor", lambda name=name: name)
        for flags in ((), ("-march=native",)):
            keys.setdefault(flags, []).extend(build_objects([Unit((ADD,), flags=flags)]))
    portable, native = keys.values()
    assert portable[0] == portable[1] and native[0] != native[1]
    assert "\n" in processor()


def test_code_without_loops_goes_without_passes_that_gcc_alone_has_names_for(tmp_path: Path) -> None:
    straight, log = Source(ADD.name, ADD.text, is_straight=True), tmp_path / "asked"
    for says, has in (("gcc 12", True), ("clang 14", False)):
        command = tmp_path / says.replace(" ", "")
        command.write_text(f'#!/bin/sh\necho "$@" > {log}\nexec {find_compiler().command[0]} "$@"\n')
        command.chmod(0o755)
        build_objects([Unit((straight,))], Compiler((str(command),), says))
        assert ("-fno-gcse" in log.read_text().split()) is has


def test_an_executable_runs() -> None:
    path = build_executable([Unit((Source("main.c", "int main(void) { return 7; }\n"),))])
    assert subprocess.run([path], check=False).returncode == 7


def test_an_error_in_the_code_is_a_diagnostic_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        build_objects([Unit((Source("bad.c", "int f(void) { return x; }\n"),))])
    diagnostic = caught.value.diagnostics[0]
    assert diagnostic.code == "C602"
    assert any("bad.c:1" in note.text for note in diagnostic.notes)
    assert not [p for p in (tmp_path / "cache").rglob("*") if p.is_file()]


def test_without_a_compiler_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModelError) as caught:
        find_compiler()
    assert caught.value.diagnostics[0].code == "C601"
    assert any("install gcc" in note.text for note in caught.value.diagnostics[0].notes)


def test_a_compiler_that_was_named_is_not_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "/nowhere/gcc -m32")
    with pytest.raises(ModelError) as caught:
        find_compiler()
    assert caught.value.diagnostics[0].code == "C601"
    assert "/nowhere/gcc -m32" in caught.value.diagnostics[0].message


def test_flags_of_a_named_compiler_are_part_of_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for flags in ("", " -DONE", " -DTWO"):
        monkeypatch.setenv("CC", f"{shutil.which('cc') or shutil.which('gcc')}{flags}")
        found.append(find_compiler().version)
    assert len(set(found)) == 3


def test_zig_is_taken_where_there_is_no_cc(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ziglang")
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    compiler = find_compiler()
    assert compiler.is_zig
    assert load_library(build_shared([Unit((ADD,))], compiler=compiler)).add(20, 22) == 42


def test_a_library_is_compiled_from_its_sources(tmp_path: Path) -> None:
    folder = tmp_path / "C-Sources"
    folder.mkdir()
    (folder / "MyLib.c").write_text('#include "twice.h"\nint twice(int a) { return 2 * a; }\n')
    (folder / "twice.h").write_text('__attribute__((visibility("default"))) int twice(int a);\n')
    call = ExternalCall("C", "twice", (), None, libraries=("MyLib", "m"), source_directories=(str(folder),))
    units, arguments = external_units([call], ())
    assert arguments == ("-lm",)
    assert load_library(build_shared(units, arguments)).twice(21) == 42
    (folder / "twice.h").write_text('__attribute__((visibility("default"))) int twice(int a); /* changed */\n')
    before = build_objects(units[:1])
    assert build_objects(external_units([call], ())[0][:1]) == before, "the digest is of the folder as it is now"


def test_a_library_for_this_machine_is_found_in_its_folder(tmp_path: Path) -> None:
    platform = tmp_path / PLATFORM
    platform.mkdir()
    call = ExternalCall("C", "f", (), None, libraries=("mine",), library_directories=(str(tmp_path),))
    _, arguments = external_units([call], ())
    assert arguments[:2] == (f"-L{platform}", f"-L{tmp_path}") and arguments[-1] == "-lmine"


def test_a_compiled_library_is_taken_where_its_source_is_not_whole(tmp_path: Path) -> None:
    for folder in (PLATFORM, "C-Sources"):
        (tmp_path / folder).mkdir()
    source = tmp_path / "C-Sources" / "mine.c"
    call = ExternalCall("C", "f", (), None, libraries=("mine",), library_directories=(str(tmp_path),))
    call.source_directories = (str(source.parent),)
    source.write_text('#include "gone.h"\n')
    assert external_units([call], ())[0], "there is nothing else"
    (tmp_path / PLATFORM / "libmine.a").touch()
    units, arguments = external_units([call], ())
    assert not units and arguments[-1] == "-lmine"
    source.write_text("#include <stdio.h>\n")
    assert external_units([call], ())[0]


def test_a_cache_that_cannot_be_written_to_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    monkeypatch.setenv("KHZ_CACHE_DIR", str(blocked / "cache"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    found = cache_directory()
    assert found == tmp_path / f"kilohertz-{os.getuid()}" / "build"
    assert found.parent.stat().st_mode & 0o077 == 0
    assert cache_directory() == found
    found.parent.chmod(0o777)  # anybody could have put something there
    own = cache_directory()
    assert own != found and own.is_dir() and own.parent.parent == tmp_path
