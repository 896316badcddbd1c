"""One built model: what is compiled, how often, and under which names."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from kilohertz.codegen import model_prefix
from kilohertz.driver import Session, build, load
from kilohertz.toolchain import object_files

MODEL = """\
model {name} "Compiled by nobody before"
  Real x(start = 1, fixed = true);
  Real y;
equation
  der(x) = -y;
  y + 0.1 * y ^ 3 = x;
end {name};
"""


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sources that the C compiler is called for."""
    seen: list[str] = []
    run = object_files._run

    def counted(command: list[str], folder: Path, what: str) -> None:
        if "-c" in command:
            seen.append(command[command.index("-c") + 1])
        run(command, folder, what)

    monkeypatch.setattr(object_files, "_run", counted)
    return seen


def test_auto_compiles_each_file_of_a_model_once(tmp_path: Path, compiled: list[str]) -> None:
    name = f"Counted{time.time_ns() % 10**12}"  # what the cache has nothing of
    (tmp_path / f"{name}.mo").write_text(MODEL.format(name=name))
    built = build(f"{tmp_path / name}.mo:{name}", solver="auto", step=1e-3, folder=tmp_path / "out")
    own = sorted(f for f in compiled if f.startswith(name))
    assert own == sorted(set(own))
    assert own == sorted([*(f.name for f in built.codes[0].files), f"{name}_signals.c"])


def test_a_form_is_generated_once() -> None:
    model = load("Kilohertz.Examples.RCCircuit")
    assert model.built(model.process()) is model.compile().built
    assert model.built(model.inlined()) is model.built(model.inlined())


def test_two_models_of_one_name_have_symbols_of_their_own() -> None:
    model = Session().model("Kilohertz.Examples.RCCircuit")
    first, second = model.built(model.process()), model.built(model.inlined())
    other = second.renamed({first.code.prefix})
    assert (first.code.prefix, second.code.prefix, other.code.prefix) == ("RCCircuit_", "RCCircuit_", "RCCircuit_2_")
    assert first.renamed(()) is first
    assert not {f.name for f in first.code.files} & {f.name for f in other.code.files}


@pytest.mark.parametrize(
    ("name", "prefix"),
    [
        ("A.B.Motor", "Motor_"),
        ("A.'2 wheels'", "model_2_wheels_"),
        ("khz", "model_khz_"),
        ("A." + "Long" * 10, "LongLongLongLongLongLong_"),
    ],
)
def test_the_prefix_of_a_model(name: str, prefix: str) -> None:
    assert model_prefix(name) == prefix
    assert model_prefix(name, {prefix}) == prefix + "2_"
