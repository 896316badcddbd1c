"""The C runtime: each `<name>.c` here is a program that checks one part; sanitizers on where there are some."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kilohertz import runtime
from kilohertz.base import ModelError
from kilohertz.codegen import runtime_sources
from kilohertz.toolchain import STRICT, Source, Unit, build_executable, build_objects

PROGRAMS = sorted(Path(__file__).parent.glob("*.c"))
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g")


def headers() -> tuple[Source, ...]:
    own = Source("check.h", Path(__file__).with_name("check.h").read_text())
    return (own, *(Source(name, text) for name, text in runtime.headers()))


def build(program: Path, flags: tuple[str, ...]) -> Path:
    sources = (Source(program.name, program.read_text()), *(Source(n, t) for n, t in runtime_sources()))
    return build_executable([Unit(sources, headers(), (), (*STRICT, *flags))], flags)


@pytest.mark.parametrize("program", PROGRAMS, ids=[p.stem for p in PROGRAMS])
def test_program(program: Path) -> None:
    try:
        executable = build(program, SANITIZERS)
    except ModelError:
        executable = build(program, ())
    done = subprocess.run([executable], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_runtime_compiles_without_a_warning() -> None:
    sources = tuple(Source(name, text) for name, text in runtime_sources())
    assert len(build_objects(Unit(sources, headers(), (), STRICT))) == len(sources)
