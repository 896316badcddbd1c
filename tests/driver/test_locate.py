"""Models are found by name and by file, and what is not found is answered with a hint."""

from __future__ import annotations

from pathlib import Path

import pytest

import kilohertz
from kilohertz.base import ModelError
from kilohertz.driver import Session
from kilohertz.driver.locate import BUNDLED


@pytest.fixture(autouse=True)
def no_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only those that a test names."""
    monkeypatch.delenv("MODELICAPATH", raising=False)


TWO = "model A end A;\npackage P\n  model B end B;\n  model Inner end Inner;\nend P;\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "two.mo"
    path.write_text(TWO, encoding="utf-8")
    return path


def refused(model: str, libraries: tuple[Path, ...] = ()) -> str:
    with pytest.raises(ModelError) as caught:
        kilohertz.load(model, libraries)
    first = caught.value.diagnostics[0]
    return f"{first.code} {first.message}" + "".join(f"; {n.text}" for n in first.notes)


def test_the_bundled_library_is_always_there() -> None:
    assert kilohertz.load("Kilohertz.Examples.Decay").name == "Kilohertz.Examples.Decay"


def test_a_file_stands_for_its_last_class(file: Path) -> None:
    assert kilohertz.load(str(file)).name == "P"


@pytest.mark.parametrize(("named", "full"), [("A", "A"), ("P.B", "P.B"), ("P.Inner", "P.Inner")])
def test_a_class_of_a_file(file: Path, named: str, full: str) -> None:
    assert kilohertz.load(f"{file}:{named}").name == full


def test_a_library_folder_given_and_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "Mine.mo").write_text("package Mine model M end M; end Mine;", encoding="utf-8")
    assert kilohertz.load("Mine.M", [tmp_path]).name == "Mine.M"
    monkeypatch.setenv("MODELICAPATH", str(tmp_path))
    assert kilohertz.load("Mine.M").name == "Mine.M"


def test_what_is_not_found(file: Path) -> None:
    misspelt = refused("Kilohertz.Examples.decay")
    assert misspelt == "L310 there is no class `decay` in `Kilohertz.Examples`; did you mean `Decay`?"
    assert refused("Modelica.Blocks.Sources.Sine").startswith("L301 the library `Modelica` is not found")
    assert refused("Kilohert.Examples").endswith("did you mean `Kilohertz`?")
    nowhere = "a class in a file is `file.mo:Nothing`; others come from libraries on the library path"
    assert refused("Nothing") == f"L310 there is no class `Nothing`; {nowhere}"
    assert refused(str(file) + ":Q") == "L310 there is no class `Q`"
    inside = refused(str(file) + ":Inner")
    assert inside == f"L310 `{file}` has no class `Inner` of its own; did you mean `{file}:P.Inner`?"
    assert refused("no/such/folder").startswith("L309")
    assert refused("A..B").startswith("L309")
    assert (
        refused("pyproject.toml")
        == "L309 `pyproject.toml` is neither the name of a class nor a file that ends with .mo or .fmu"
    )
    assert refused("missing.mo") == "L308 the file `missing.mo` cannot be read: No such file or directory"
    near = str(file.with_name(f"{file.stem}s.mo"))
    assert refused(near).endswith(f"cannot be read: No such file or directory; did you mean `{file}`?")


def test_a_file_that_is_no_modelica(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "notes.txt").write_text("nothing", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert (
        refused("notes.txt") == "L309 `notes.txt` is neither the name of a class nor a file that ends with .mo or .fmu"
    )


def test_a_file_without_classes(tmp_path: Path) -> None:
    empty = tmp_path / "empty.mo"
    empty.write_text("// nothing\n", encoding="utf-8")
    assert refused(str(empty)) == f"L311 the file `{empty}` defines no class"


def test_syntax_errors_come_through(tmp_path: Path) -> None:
    broken = tmp_path / "broken.mo"
    broken.write_text("model M\n  Real = ;\nend M;\n", encoding="utf-8")
    assert refused(str(broken)).startswith("P")


def test_all_experiments_of_the_bundled_library() -> None:
    names = Session().experiments(["Kilohertz"])
    assert names[:2] == ["Kilohertz.Examples.Decay", "Kilohertz.Examples.TwoResistors"]
    written = sum(f.read_text(encoding="utf-8").count("experiment(StopTime") for f in BUNDLED.rglob("*.mo"))
    assert len(names) == len(set(names)) == written > 9
