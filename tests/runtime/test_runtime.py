"""The C runtime: each `<name>.c` here is a program that checks one part; sanitizers on where there are some."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from kilohertz import runtime
from kilohertz.base import ModelError
from kilohertz.building import runtime_units
from kilohertz.toolchain import STRICT, Source, Unit, build_executable, build_objects

PROGRAMS = sorted(Path(__file__).parent.glob("*.c"))
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g")


def headers() -> tuple[Source, ...]:
    own = Source("check.h", Path(__file__).with_name("check.h").read_text())
    return (own, *(Source(name, text) for name, text in runtime.headers()))


def build(program: Path, flags: tuple[str, ...]) -> Path:
    own = Unit((Source(program.name, program.read_text()),), headers(), (), (*STRICT, *flags))
    shared = [replace(unit, flags=(*STRICT, *flags)) for unit in runtime_units(offline=True)]
    return build_executable([own, *shared], flags)


@pytest.mark.parametrize("program", PROGRAMS, ids=[p.stem for p in PROGRAMS])
def test_program(program: Path) -> None:
    try:
        executable = build(program, SANITIZERS)
    except ModelError:
        executable = build(program, ())
    done = subprocess.run([executable], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_runtime_compiles_without_a_warning() -> None:
    units = [replace(unit, flags=(*unit.flags, *STRICT)) for unit in runtime_units(offline=True)]
    assert len(build_objects(units)) == len(units), "as one text"
    apart = [replace(unit, merged=False) for unit in units]
    assert len(build_objects(apart)) == sum(len(unit.sources) for unit in units), "and file by file"
