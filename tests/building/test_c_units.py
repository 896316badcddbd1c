"""One built model: what is compiled, how often, and under which names."""

from __future__ import annotations

import re
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from kilohertz.building import PROBES
from kilohertz.building.c_units import units_of
from kilohertz.codegen import generate, model_prefix
from kilohertz.driver import Session, build, load
from kilohertz.simulate import load_program
from kilohertz.toolchain import build_objects, object_files

MODEL = """\
model {name} "Compiled by nobody before"
  Real x(start = 1, fixed = true);
  Real y;
equation
  der(x) = -y;
  y + 0.1 * y ^ 3 = x;
end {name};
"""


CALLED = """\
model Called "With a function in C"
  function twice
    input Real u;
    output Real y;
    external "C" y = twice(u) annotation(Include = "static double twice(double u) { return 2.0 * u; }");
  end twice;
  Real x(start = 1, fixed = true);
equation
  der(x) = -twice(x);
end Called;
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


def test_with_probes_a_model_has_two_copies_and_one_external_file(tmp_path: Path) -> None:
    (tmp_path / "Called.mo").write_text(CALLED)
    model = load(f"{tmp_path / 'Called.mo'}:Called")
    bare, probed = model.built(model.process()), model.built(model.process(), probes=True)
    plain, timed, external = probed.units
    assert (len(bare.units), bare.has_probes, probed.has_probes) == (2, False, True)
    assert plain.sources == timed.sources == bare.units[0].sources
    names = subprocess.run(
        ["nm", "--defined-only", "--extern-only", *map(str, build_objects([timed]))],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    defined = {line.split()[-1] for line in names.splitlines() if len(line.split()) == 3}
    assert defined == {f"khz_timed_{symbol}" for symbol in probed.code.symbols}  # none of the plain copy's
    assert probed.timed_getter in defined
    assert external.sources == bare.units[1].sources


def test_without_probes_they_are_nothing_to_the_compiler() -> None:
    model = load("Kilohertz.Examples.SaturatingInductors.Original")
    (unit,) = model.built(model.process()).units
    assert any("KHZ_" in source.text for source in unit.sources)
    bare = tuple(replace(s, text=_without_probes(s.text)) for s in unit.sources)
    assert [o.read_bytes() for o in build_objects([unit])] == [
        o.read_bytes() for o in build_objects([replace(unit, sources=bare)])
    ]


def _without_probes(text: str) -> str:
    """The calls without what is around them, everything on its line."""
    text = re.sub(r"KHZ_(?:CALLED|RETURNS)\(c, \d+\);", ";", text)
    while (probe := re.search(r"KHZ_(?:TIMED|SOLVED|ITERATED)\(&z->c, \d+, ", text)) is not None:
        depth, end = 1, probe.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        text = text[: probe.start()] + text[probe.end() : end - 1] + text[end:]
    return text


def test_much_code_of_the_start_is_compiled_apart_and_without_optimisation(monkeypatch: pytest.MonkeyPatch) -> None:
    step = Session().model("Kilohertz.Examples.SaturatingInductors.Original").process()
    assert len(units_of(step, None, generate(step)).units) == 1  # little stays where it is
    monkeypatch.setattr("kilohertz.codegen.model._LINES_APART", 1)
    built = units_of(step, None, generate(step), PROBES)
    running, starting, timed, timed_starting = built.units
    assert starting.sources and all("initial" in s.name for s in starting.sources)
    assert not any("_initial_" in s.text or "_once_" in s.text for s in running.sources if "blocks" in s.name)
    assert (starting.flags, timed_starting.sources) == ((*running.flags, "-O0"), starting.sources)
    assert timed.sources == running.sources
    assert built.drafted().units[1] is starting  # a draft and what overtakes it have it in common
    texts = ["".join(source.text for source in unit.sources) for unit in (running, starting)]
    assert [re.findall(r"^void Original_set_\w+_1\(", text, re.M) for text in texts] == [
        [],
        ["void Original_set_tunables_1(", "void Original_set_start_1("],
    ]
    load_program(built)  # every symbol is found, also in the timed copy
