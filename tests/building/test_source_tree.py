"""The C source tree of an executable: it stands alone, builds both ways, and has what is needed and nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from kilohertz.driver import build
from kilohertz.realtime import Built, plain_scenario
from kilohertz.realtime.scenario import Device

MODEL = """\
package Lib
  function scaled
    input Real u;
    output Real y;
    external "C" y = lib_scaled(u) annotation(Include = "#include \\"scaled.h\\"", Library = "Scaled",
      IncludeDirectory = "modelica://Lib/Resources/My Headers",
      SourceDirectory = "modelica://Lib/Resources/C-Sources");
  end scaled;
  model Lag "A lag whose gain comes from C"
    Real x(start = 1, fixed = true);
  equation
    der(x) = -scaled(x);
  end Lag;
end Lib;
"""
FILES = {
    "My Headers/scaled.h": '#include "parts/factor.h"\ndouble lib_scaled(double u);\n',
    "My Headers/parts/factor.h": "#define LIB_FACTOR 3.0\n",
    "My Headers/unused.h": "#error nobody includes it\n",
    "C-Sources/Scaled.c": '#include "scaled.h"\ndouble lib_scaled(double u) { return LIB_FACTOR * u; }\n',
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """An executable whose model calls C with headers in a folder of their own; the library is gone afterwards."""
    folder = tmp_path_factory.mktemp("tree")
    for name, text in FILES.items():
        file = folder / "Lib" / "Resources" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (folder / "Lib" / "package.mo").write_text(MODEL)
    made = build(f"{folder / 'Lib' / 'package.mo'}:Lib.Lag", solver="rk4", step=1e-3, folder=folder / "out")
    shutil.rmtree(folder / "Lib")
    return made


def recorded(executable: Path, scenario: Path, folder: Path) -> bytes:
    """What a program records in a folder of its own."""
    folder.mkdir()
    shutil.copy(scenario, folder)
    shutil.copy(executable, folder)
    command = [str(folder / executable.name), "cycles=100", "wall_num=0", "record.file=rows"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    assert "the duration is over after 100 steps" in done.stdout
    return (folder / "rows").read_bytes()


def test_both_ways_build_the_same_program(built: Built, tmp_path: Path) -> None:
    clean, made = tmp_path / "clean folder", tmp_path / "by cmake"
    shutil.copytree(built.folder / "src", clean / "src")
    subprocess.run([clean / "src" / "build.sh"], check=True, env={**os.environ, "CFLAGS": "-O0 -Werror=implicit"})
    subprocess.run(["cmake", "-S", clean / "src", "-B", made], check=True, capture_output=True)
    subprocess.run(["cmake", "--build", made, "-j2"], check=True, capture_output=True)
    rows = [
        recorded(folder / built.name, built.scenario_file, tmp_path / f"run{i}")
        for i, folder in enumerate((built.folder, clean, made))
    ]
    assert rows[1:] == rows[:-1]


def test_the_tree_is_for_a_person(built: Built) -> None:
    source = built.folder / "src"
    files = sorted(p.relative_to(source).as_posix() for p in source.rglob("*") if p.is_file())
    assert len({Path(f).name for f in files}) == len(files), "each file once"
    assert not any("unused" in f for f in files)
    assert [f for f in files if f.startswith("devices/")] == [
        f"devices/{name}.c" for name in ("khz_device", "khz_linked_drivers", "khz_ports")
    ]
    for file in (source / "models" / "Lag").iterdir():
        text = file.read_text()
        assert text.startswith("/* Lib.Lag by rk4 with a step of 1 ms.\n * Call Lag_get_model()"), file
        assert max(map(len, text.splitlines())) <= 120, file


def test_the_drivers_of_a_scenario_come_with_what_they_need(tmp_path: Path) -> None:
    plain = plain_scenario("Kilohertz.Examples.RCCircuit", solver="rk4")
    made = build(replace(plain, devices=(Device("link", "udp", {"simulated": "true"}),)), folder=tmp_path / "out")
    names = sorted(p.stem for p in (made.folder / "src" / "devices").iterdir())
    assert names == ["khz_device", "khz_linked_drivers", "khz_messenger", "khz_ports", "khz_udp"]
