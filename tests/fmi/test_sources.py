"""FMUs that come as C: built where there is no binary, with the same bits; strange recipes are refused."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kilohertz import ModelError, load
from kilohertz.driver import check_fmu, export, open_job, simulate_fmu

MODEL = """\
model Sprung
  parameter Real k = 40;
  output Real y;
  Real x(start = 1, fixed = true);
  Real v(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = -k * x - 0.3 * v;
  y = sin(x) + v;
end Sprung;
"""


@pytest.fixture(scope="module", params=[2, 3])
def sprung(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sprung")
    (folder / "Sprung.mo").write_text(MODEL, encoding="utf-8")
    export(load(folder / "Sprung.mo"), folder / "Sprung.fmu", fmi=request.param, solver="rk4", step=1e-3)
    return folder / "Sprung.fmu"


def without_binaries(fmu: Path, path: Path, changed: dict[str, tuple[str, str]] | None = None) -> Path:
    """The same without its libraries; in some files one text is another."""
    with zipfile.ZipFile(fmu) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            if name.startswith("binaries/"):
                continue
            before, after = (changed or {}).get(name, ("", ""))
            data = old.read(name)
            assert before.encode() in data
            new.writestr(name, data.replace(before.encode(), after.encode()) if before else data)
    return path


def listing(fmu: Path) -> tuple[str, str]:
    """Where the sources are listed, and how the first one stands there."""
    with zipfile.ZipFile(fmu) as archive:
        names = archive.namelist()
        file = next((n for n in names if n.endswith("buildDescription.xml")), "modelDescription.xml")
        word = "SourceFile" if file != "modelDescription.xml" else "File"
        text = archive.read(file).decode()
    name = text.partition(f"<{word} name=")[2].split('"')[1]
    return file, f'<{word} name="{name}"'


def test_an_fmu_without_binaries_is_built_from_its_sources(sprung: Path, tmp_path: Path) -> None:
    bare = without_binaries(sprung, tmp_path / "Bare.fmu")
    here, there = simulate_fmu(sprung, stop=0.5), simulate_fmu(bare, stop=0.5)
    for name in ("x", "v", "y"):
        assert np.asarray(here[name]).tobytes() == np.asarray(there[name]).tobytes()
    assert check_fmu(bare).ok


def test_a_binary_that_does_not_load_is_built_from_sources(sprung: Path, tmp_path: Path) -> None:
    broken = without_binaries(sprung, tmp_path / "Broken.fmu")
    with zipfile.ZipFile(broken, "a") as archive:
        archive.writestr("binaries/x86_64-linux/Sprung.so", b"of another machine")
        archive.writestr("binaries/aarch64-linux/Sprung.so", b"of another machine")
    here, there = simulate_fmu(sprung, stop=0.1), simulate_fmu(broken, stop=0.1)
    assert np.array_equal(here["y"], there["y"])
    assert [d.code for d in there.problems] == ["R814"] and there.ok
    report = check_fmu(broken)
    assert report.ok and "sources were built instead" in report.diagnostics[0].message
    job = open_job(str(broken), duration=0.1)
    task = replace(job, scenario=replace(job.scenario, scale=None)).run(check=False).result
    assert np.array_equal(task["y"], here["y"])


@pytest.mark.parametrize(
    ("instead", "words"),
    [("../../outside.c", "no file among its sources"), ("-fplugin=x.c", "no file among"), ("none.c", "no file among")],
)
def test_files_that_are_not_among_the_sources(sprung: Path, tmp_path: Path, instead: str, words: str) -> None:
    file, first = listing(sprung)
    element = first.partition(" ")[0]
    bare = without_binaries(sprung, tmp_path / "Strange.fmu", {file: (first, f'{element} name="{instead}"')})
    with pytest.raises(ModelError) as refused:
        simulate_fmu(bare, stop=0.1)
    assert refused.value.diagnostics[0].code == "R814" and words in str(refused.value)


def test_sources_that_do_not_compile(sprung: Path, tmp_path: Path) -> None:
    _, first = listing(sprung)
    name = f"sources/{first.split(chr(34))[1]}"
    bare = without_binaries(sprung, tmp_path / "Broken.fmu", {name: ("#include", '#error "not here"\n#include')})
    with pytest.raises(ModelError) as refused:
        simulate_fmu(bare, stop=0.1)
    (diagnostic,) = refused.value.diagnostics
    assert diagnostic.code == "R814" and "not here" in diagnostic.notes[0].text
