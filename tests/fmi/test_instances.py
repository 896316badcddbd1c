"""What an importer may do with instances of an exported FMU: states, several at once, wrong calls, derivatives."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kilohertz import load
from kilohertz.driver import export
from kilohertz.toolchain import find_compiler

fmpy: Any = pytest.importorskip("fmpy", reason="FMPy is not installed")

STEP = 1e-3
MODEL = """\
model Swing "Two states, an input, an event, a delay line"
  parameter Real k = 4;
  input Real u(start = 0.5);
  output Real y;
  Real x(start = 1, fixed = true);
  Real v(start = 0, fixed = true);
  Integer n(start = 0, fixed = true);
  Real power = u * v + k "nothing needs it";
equation
  der(x) = v;
  der(v) = -k * sin(x) - 0.1 * v ^ 3 + u + 0.1 * delay(x, 0.05);
  y = x * v + u;
  when v > 0.5 then
    n = pre(n) + 1;
    reinit(v, 0.4);
  end when;
end Swing;
"""


@pytest.fixture(scope="module", params=[2, 3])
def swing(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("swing")
    (folder / "Swing.mo").write_text(MODEL, encoding="utf-8")
    path = folder / "Swing.fmu"
    export(load(folder / "Swing.mo"), path, fmi=request.param, solver="ros34pw2", step=STEP)
    return path


class Slave:
    """Instances of an FMU in the hands of FMPy."""

    def __init__(self, path: Path) -> None:
        self.path, self.folder = path, fmpy.extract(str(path))
        self.described = fmpy.read_model_description(self.folder)
        self.references = {v.name: v.valueReference for v in self.described.modelVariables}
        self.is_3 = self.described.fmiVersion.startswith("3")
        self.messages: list[str] = []

    def instance(self, kind: str = "CoSimulation") -> Any:
        return fmpy.instantiate_fmu(self.folder, self.described, fmi_type=kind)

    def started(self, kind: str = "CoSimulation") -> Any:
        fmu = self.instance(kind)
        if self.is_3:
            fmu.enterInitializationMode(startTime=0.0)
        else:
            fmu.setupExperiment(startTime=0.0)
            fmu.enterInitializationMode()
        fmu.exitInitializationMode()
        return fmu

    def get(self, fmu: Any, *names: str) -> list[float]:
        read = fmu.getFloat64 if self.is_3 else fmu.getReal
        return list(read([self.references[n] for n in names]))

    def set(self, fmu: Any, name: str, value: float) -> None:
        write = fmu.setFloat64 if self.is_3 else fmu.setReal
        write([self.references[name]], [value])

    def run(self, fmu: Any, start: float, steps: int) -> list[list[float]]:
        rows = []
        for i in range(steps):
            fmu.doStep(start + i * STEP, STEP)
            rows.append(self.get(fmu, "x", "v", "y"))
        return rows

    def state(self, fmu: Any) -> Any:
        return fmu.getFMUState() if self.is_3 else fmu.getFMUstate()

    def restore(self, fmu: Any, state: Any) -> None:
        (fmu.setFMUState if self.is_3 else fmu.setFMUstate)(state)

    def written(self, fmu: Any, state: Any) -> Any:
        return (fmu.serializeFMUState if self.is_3 else fmu.serializeFMUstate)(state)

    def read(self, fmu: Any, data: Any) -> Any:
        return (fmu.deserializeFMUState if self.is_3 else fmu.deSerializeFMUstate)(data)


@pytest.fixture
def slave(swing: Path) -> Iterator[Slave]:
    yield Slave(swing)


def test_a_state_brings_the_same_bits_back(slave: Slave) -> None:
    fmu = slave.started()
    slave.run(fmu, 0.0, 300)
    state = slave.state(fmu)
    first = slave.run(fmu, 0.3, 700)
    slave.restore(fmu, state)
    assert slave.run(fmu, 0.3, 700) == first
    other = slave.started()  # another instance, from bytes
    slave.restore(other, slave.read(other, slave.written(fmu, state)))
    assert slave.run(other, 0.3, 700) == first


def test_instances_do_not_know_each_other(slave: Slave) -> None:
    alone = slave.run(slave.started(), 0.0, 200)
    pair = [slave.started(), slave.started()]
    slave.set(pair[1], "u", 3.0)
    rows = [[slave.run(fmu, i * STEP, 1)[0] for fmu in pair] for i in range(200)]
    assert [row[0] for row in rows] == alone
    assert rows[-1][1] != alone[-1]


def test_reset_starts_over(slave: Slave) -> None:
    fmu = slave.started()
    first = slave.run(fmu, 0.0, 100)
    fmu.reset()
    if slave.is_3:
        fmu.enterInitializationMode(startTime=0.0)
    else:
        fmu.setupExperiment(startTime=0.0)
        fmu.enterInitializationMode()
    assert slave.get(fmu, "x", "u") == [1.0, 0.5]  # computed when asked for
    slave.set(fmu, "u", 2.0)
    assert slave.get(fmu, "y") == [2.0]  # and again, with what was set since
    slave.set(fmu, "u", 0.5)
    fmu.exitInitializationMode()
    assert slave.run(fmu, 0.0, 100) == first


def test_a_parameter_can_be_changed_between_steps(slave: Slave) -> None:
    fmu = slave.started()
    slave.run(fmu, 0.0, 100)
    slave.set(fmu, "k", 8.0)
    changed = slave.run(fmu, 0.1, 100)
    assert changed != slave.run(slave.started(), 0.0, 200)[100:]


def test_a_value_that_nothing_needs_is_that_of_the_step_whenever_it_is_asked_for(slave: Slave) -> None:
    """Neither later inputs nor later parameters show in it."""
    often, seldom = slave.started(), slave.started()
    for i in range(120):
        for fmu in (often, seldom):
            slave.set(fmu, "u", 0.01 * i)
            fmu.doStep(i * STEP, STEP)
        power, v = slave.get(often, "power", "v")
        assert power == 0.01 * i * v + 4.0
    state = slave.state(seldom)
    for name in ("u", "k"):
        slave.restore(seldom, state)
        slave.set(seldom, name, 99.0)
        assert slave.get(seldom, "power", "v") == [power, v]


@pytest.mark.parametrize(("time", "length"), [(0.0, 0.0015), (0.5, 0.001), (0.0, -0.001), (0.0, float("nan"))])
def test_steps_that_are_not_whole_are_refused(slave: Slave, time: float, length: float) -> None:
    fmu = slave.started()
    with pytest.raises(Exception, match=r"[Dd]o_?[Ss]tep"):
        fmu.doStep(time, length)
    assert slave.run(fmu, 0.0, 10) == slave.run(slave.started(), 0.0, 10)  # nothing was moved


@pytest.mark.parametrize("name", ["x", "y"])
def test_what_is_computed_cannot_be_set(slave: Slave, name: str) -> None:
    with pytest.raises(Exception, match=r"[Ss]et"):
        slave.set(slave.started(), name, 1.0)


def test_a_binary_knows_its_description(slave: Slave) -> None:
    slave.described.guid = slave.described.instantiationToken = "{another}"
    with pytest.raises(Exception, match="instantiate"):
        slave.instance()


def test_directional_derivatives(slave: Slave) -> None:
    fmu = slave.started("ModelExchange")
    references = [slave.references[n] for n in ("der(x)", "der(v)", "y")]
    for known, expected in (("x", None), ("v", None), ("u", [0.0, 1.0, 1.0])):
        got = np.array(fmu.getDirectionalDerivative(references, [slave.references[known]], [1.0]))
        x, v = slave.get(fmu, "x", "v")
        exact = {"x": [0.0, -4.0 * np.cos(x), v], "v": [1.0, -0.3 * v**2, x]}
        assert got == pytest.approx(exact[known] if expected is None else expected, abs=1e-8)
    symbolic = fmu.getDirectionalDerivative(references[:2], [slave.references["x"]], [2.0])
    assert list(symbolic) == [0.0, pytest.approx(-8.0 * np.cos(1.0), rel=1e-15)]


def test_the_sources_build_the_same_fmu(slave: Slave, tmp_path: Path) -> None:
    sources = sorted((Path(slave.folder) / "sources").glob("*.c"))
    binary = next(Path(slave.folder).glob("binaries/*/Swing.so"))
    expected = slave.run(slave.started(), 0.0, 200)
    command = [*find_compiler().command, "-std=c11", "-O1", "-fPIC", "-ffp-contract=off", "-shared"]
    made = tmp_path / "Swing.so"
    subprocess.run([*command, "-o", str(made), *map(str, sources), "-lm"], check=True, capture_output=True)
    binary.unlink()
    made.rename(binary)
    fresh = Slave(slave.path)
    fresh.folder = slave.folder
    assert fresh.run(fresh.started(), 0.0, 200) == expected
