"""Ports and drivers: each `<name>.c` here is a program that checks one part, under sanitizers where there are any."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import pytest

from kilohertz import runtime
from kilohertz.base import ModelError
from kilohertz.devices import DRIVERS
from kilohertz.toolchain import STRICT, Source, Unit, build_executable

PROGRAMS = sorted(Path(__file__).parent.glob("*.c"))
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g")
LIBRARIES = ("-pthread", "-ldl", "-lrt")


def headers() -> tuple[Source, ...]:
    check = Path(__file__).parents[1] / "runtime" / "check.h"
    shipped = (*runtime.headers(), *runtime.device_headers())
    return (Source("check.h", check.read_text()), *(Source(name, text) for name, text in shipped))


def build(program: Path, flags: tuple[str, ...]) -> Path:
    sources = (Source(program.name, program.read_text()), *(Source(n, t) for n, t in runtime.device_sources()))
    return build_executable([Unit(sources, headers(), (), (*STRICT, *flags))], (*flags, *LIBRARIES))


@pytest.mark.parametrize("program", PROGRAMS, ids=[p.stem for p in PROGRAMS])
def test_program(program: Path) -> None:
    try:
        executable = build(program, SANITIZERS)
    except ModelError:
        executable = build(program, ())
    done = subprocess.run([executable], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_drivers_compile_without_a_warning(drivers: ctypes.CDLL) -> None:
    assert drivers.khz_device_find(b"udp")  # the library of the other tests is built strictly


def test_no_driver_allocates(drivers: ctypes.CDLL) -> None:
    """Memory comes from who opens a port; nothing here asks for more, neither in the step nor before it."""
    nm = shutil.which("nm")
    if nm is None:
        pytest.skip("nm is not installed")
    listed = subprocess.run([nm, "-D", "--undefined-only", drivers._name], capture_output=True, text=True, check=True)
    wanted = {line.split()[-1].partition("@")[0] for line in listed.stdout.splitlines()}
    assert "recvmmsg" in wanted
    assert not wanted & {"malloc", "calloc", "realloc", "free", "printf", "fprintf", "usleep", "sleep", "system"}


@pytest.mark.parametrize("driver", sorted(DRIVERS))
def test_a_program_with_one_driver_has_all_that_it_needs(driver: str) -> None:
    main = f'#include "khz_device.h"\nint main(void) {{ return khz_device_find("{driver}") == NULL; }}\n'
    sources = (Source("main.c", main), *(Source(n, t) for n, t in runtime.device_sources((driver,))))
    program = build_executable([Unit(sources, headers())], LIBRARIES)
    assert subprocess.run([program], check=False).returncode == 0
