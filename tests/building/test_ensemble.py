"""Many instances in one text: the bits of separate runs, in C; the same text is CUDA."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

import kilohertz
from kilohertz import Model, ModelError
from kilohertz.building.ensemble import ensemble_text
from kilohertz.cli import main
from kilohertz.simulate import Stepper
from kilohertz.solvers import StepSettings

FILE = Path(__file__).parent.parent / "simulate" / "numbers.mo"
FLAGS = ("-std=gnu11", "-O1", "-ffp-contract=off", "-fno-math-errno", "-fPIC", "-shared")
N, STEPS = 40, 150


@cache
def model(name: str) -> Model:
    return kilohertz.load(f"{FILE}:Numbers.{name}")


def settings(solver: str, number: str) -> StepSettings:
    return StepSettings.of(solver=solver, step=1e-3, number=number).check_fixed()


def library_of(text: str, folder: Path) -> ctypes.CDLL:
    (folder / "step.c").write_text(text)
    command = ["gcc", *FLAGS, str(folder / "step.c"), "-o", str(folder / "step.so"), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(folder / "step.so"))


@pytest.mark.skipif(shutil.which("gcc") is None, reason="the text is compiled by gcc")
@pytest.mark.parametrize(
    ("name", "solver", "number", "parameter"),
    [("Hybrid", "rk4", "double", "mass"), ("Hybrid", "lie", "single", "mass"), ("Lorenz", "ros34pw2", "double", "rho")],
)
def test_the_bits_of_separate_runs(name: str, solver: str, number: str, parameter: str, tmp_path: Path) -> None:
    """Prepared, set, started and stepped by the doors of the text; and by a stepper of a library, one at a time."""
    how, program = settings(solver, number), model(name).compile(number=number)
    steppers = [Stepper(program, how) for _ in range(N)]
    real = program.built.number.ctype
    v = steppers[0].instance.settable(parameter)
    values = [float(steppers[0].instance.read(v)) * (1 + 0.01 * i) for i in range(N)]
    for stepper, value in zip(steppers, values, strict=True):
        stepper.instance.write(v, value)
        assert stepper.start(0.0) == 0
        for _ in range(STEPS):
            stepper.step()

    library, prefix = library_of(ensemble_text(program.built, how), tmp_path), program.code.prefix
    size = ctypes.c_size_t()
    library[f"{prefix}size"](ctypes.byref(size))
    assert size.value == steppers[0].size
    memory = ctypes.create_string_buffer(N * size.value + 64)
    at = ctypes.c_void_p((ctypes.addressof(memory) + 63) // 64 * 64)
    place = at, size, ctypes.c_int64(N)
    status = (ctypes.c_int32 * N)(*[-1] * N)
    library[f"{prefix}prepare"](*place)
    library[f"{prefix}put"](*place, ctypes.c_size_t(program.offset(v)), (real * N)(*values))
    library[f"{prefix}start"](*place, ctypes.c_double(0.0), status)
    library[f"{prefix}steps"](*place, ctypes.c_int64(STEPS))
    assert not any(status)
    taken, seen = (real * N)(), set()
    for state in program.step.variables.values():
        if state.slot.kind.value in ("x", "xd", "w", "d"):
            library[f"{prefix}take"](*place, ctypes.c_size_t(program.offset(state)), taken)
            assert list(taken) == [stepper.instance.read(state) for stepper in steppers], state.name
            seen.add(len(set(taken)))
    assert max(seen) == N, "instances do not differ"


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="there is no nvcc here")
@pytest.mark.parametrize(("solver", "number"), [("rk4", "single"), ("lie", "double")])
def test_the_same_text_is_cuda(solver: str, number: str, tmp_path: Path) -> None:
    units = model("Hybrid").built(model("Hybrid").process()).in_numbers(number)
    (tmp_path / "step.cu").write_text(ensemble_text(units, settings(solver, number)))
    options = ("-std=c++20", "--expt-relaxed-constexpr", "-arch=sm_90", "-ptx", "-o", str(tmp_path / "step.ptx"))
    done = subprocess.run(["nvcc", *options, str(tmp_path / "step.cu")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    text = (tmp_path / "step.ptx").read_text()
    assert ".visible .entry Hybrid_steps(" in text
    assert (".f64" in text) and (number == "double" or "mul.f32" in text or "mul.rn.f32" in text)


def test_every_function_and_table_carries_its_target() -> None:
    text = ensemble_text(model("Hybrid").built(model("Hybrid").process()), settings("lie", "double"))
    top = [line for line in text.splitlines() if line[:1].isalpha() and "(" in line and line.endswith((")", "{"))]
    assert not [line for line in top if not line.startswith(("KHZ_", "template"))]
    assert "\nstatic " not in text
    assert "malloc" not in text
    assert '#include "' not in text


def test_the_door(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "Lorenz.cu"
    line = ["export", f"{FILE}:Numbers.Lorenz", "--solver", "rk4", "--number", "single", "-o", str(out)]
    assert main(line) == 0
    assert "a step of 1 ms by rk4, single precision, for many instances" in capsys.readouterr().out
    assert out.read_text().startswith("/* Numbers.Lorenz by rk4, single precision: a step for many instances")
    assert main([*line, "--fmi", "3"]) == 1
    assert "R777" in capsys.readouterr().err


def test_what_cannot_be() -> None:
    outside = model("Outside")
    with pytest.raises(ModelError, match="calls external functions: its step cannot be a text"):
        ensemble_text(outside.built(outside.process()), settings("rk4", "double"))
