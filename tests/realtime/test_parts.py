"""The parts of the C task alone, under sanitizers where there are some; and all of it without a warning."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kilohertz import runtime
from kilohertz.base import ModelError
from kilohertz.codegen import runtime_sources
from kilohertz.realtime import scenario
from kilohertz.toolchain import STRICT, Source, Unit, build_executable, build_objects

HERE = Path(__file__).parent
PARTS = tuple(
    f"khz_{p}.c" for p in ("account", "exchange", "merge", "recorder", "ring", "scenario", "signal", "stimulus")
)
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g")


def sources(texts: tuple[tuple[str, str], ...]) -> tuple[Source, ...]:
    return tuple(Source(name, text) for name, text in texts)


def headers() -> tuple[Source, ...]:
    return (*sources(runtime.headers()), *sources(runtime.device_headers()), *sources(runtime.task_headers()))


def build(flags: tuple[str, ...]) -> Path:
    task = tuple(s for s in sources(runtime.task_sources()) if s.name in PARTS)
    program = Source("parts.c", (HERE / "parts.c").read_text())
    check = Source("check.h", (HERE.parent / "runtime" / "check.h").read_text())
    units = [
        Unit((program, *task), (*headers(), check), (), (*STRICT, *flags)),
        Unit(sources(runtime.device_sources()), headers()),  # as executables have it: compiled once for all tests
    ]
    return build_executable(units, (*flags, "-lpthread", "-lrt", "-ldl"))


def test_the_parts(tmp_path: Path) -> None:
    try:
        executable = build(SANITIZERS)
    except ModelError:
        executable = build(())
    done = subprocess.run([executable, tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_task_compiles_without_a_warning() -> None:
    task = sources(runtime.task_sources())
    assert len(build_objects([Unit(task, headers(), (), STRICT)])) == len(task)


def test_no_source_has_the_name_of_another() -> None:
    runs = (runtime_sources(), runtime.offline_sources(), runtime.device_sources(), runtime.task_sources())
    names = [n for texts in runs for n, _ in texts]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("text", ["1ms", "0.001", "1000us"])
def test_times_are_whole_nanoseconds(text: str) -> None:
    from kilohertz.base import seconds

    assert scenario.nanoseconds(seconds(text)) == 1_000_000
