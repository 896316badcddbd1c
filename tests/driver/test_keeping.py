"""A second start of an unchanged model takes over what the first one kept; whatever changed is compiled again."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from kilohertz.base import ModelError
from kilohertz.base.outside import Outside
from kilohertz.driver import Model, Session
from kilohertz.driver.keeping import form_store
from kilohertz.driver.keeping.packing import BadPack, pack, unpack
from kilohertz.driver.stages import keeping_of
from kilohertz.ir import make
from kilohertz.ir.expr import Expr, Real, Ref
from kilohertz.ir.types import REAL
from kilohertz.passes import Inlining

PENDULUM = """
package Swing
  model Part
    Real phi(start = 1, fixed = true), w(start = 0, fixed = true);
    parameter Real damping = 0.1;
    parameter Integer n = 2;
    Real chain[n];
    Real pull;
  equation
    der(phi) = w;
    der(w) = pull - damping*w;
    pull + 0.1*tanh(pull) = -sin(phi);
    for i in 1:n loop
      der(chain[i]) = if i == 1 then phi - chain[i] else chain[i - 1] - chain[i];
    end for;
  end Part;
end Swing;
"""


@pytest.fixture(autouse=True)
def as_users_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A cache of its own, and forms not checked between passes: checked ones are never taken over."""
    monkeypatch.setattr("kilohertz.driver.stages.VERIFY", False)
    monkeypatch.setenv("KHZ_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def swing(tmp_path: Path) -> Path:
    file = tmp_path / "Swing.mo"
    file.write_text(PENDULUM)
    return file


def test_forms_are_written_while_the_c_compiler_works(swing: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep, beside = form_store.FormStore.keep, list[bool]()

    def kept(store: form_store.FormStore, forms: dict[str, object], outside: Outside) -> None:
        beside.append(threading.current_thread() is not threading.main_thread())
        keep(store, forms, outside)

    monkeypatch.setattr(form_store.FormStore, "keep", kept)
    Session().model(f"{swing}:Swing.Part").simulate(stop=0.1)
    again = Session().model(f"{swing}:Swing.Part")
    again.simulate(stop=0.1)
    assert beside == [True] and "flatten" not in again.seconds
    swing.write_text(PENDULUM.replace("0.1", "0.2"))
    Session().model(f"{swing}:Swing.Part").process()  # nobody compiles C
    assert beside == [True, False]


def started(model: str | Path, *libraries: Path) -> Model:
    """As a new process does."""
    found = Session(libraries).model(model)
    found.built(found.process())
    return found


def was_recalled(model: Model) -> bool:
    assert "recall" in model.seconds or "process" in model.seconds
    return "process" not in model.seconds


def code(model: Model) -> list[str]:
    return [f.text for f in model.built(model.process()).code.files]


def test_second_start_makes_nothing_again(swing: Path) -> None:
    first, second = started(f"{swing}:Swing.Part"), started(f"{swing}:Swing.Part")
    assert not was_recalled(first)
    assert was_recalled(second)
    assert code(first) == code(second)
    assert first.flat_text() == second.flat_text()
    assert first.check() == second.check()
    assert first.flatten().clocks and "flatten" not in second.seconds


def test_optional_passes_go_on_from_what_was_kept(swing: Path) -> None:
    first, second = started(f"{swing}:Swing.Part"), started(f"{swing}:Swing.Part")
    third = Session().model(f"{swing}:Swing.Part")
    keeping_of(third._work).recalls = False
    for form in (Model.inlined, Model.index1):
        texts = [[f.text for f in m.built(form(m)).code.files] for m in (first, second, third)]
        assert texts[0] == texts[1] == texts[2]
    assert was_recalled(second)


def test_their_forms_are_kept_too(swing: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    some = Inlining(frozenset({"phi", "w"}))
    first = started(f"{swing}:Swing.Part")
    texts = [[f.text for f in first.built(form).code.files] for form in (first.inlined(some), first.index1())]

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("made again")

    monkeypatch.setattr("kilohertz.driver.pipeline.further", refuse)
    monkeypatch.setattr("kilohertz.codegen.model._Generator", refuse)
    second = Session().model(f"{swing}:Swing.Part")
    forms = second.inlined(some), second.index1()
    assert texts == [[f.text for f in second.built(form).code.files] for form in forms]
    with pytest.raises(AssertionError, match="made again"):
        second.inlined(Inlining(frozenset({"phi"})))


def test_same_numbers(swing: Path) -> None:
    results = [Session().model(f"{swing}:Swing.Part").simulate(stop=1.0) for _ in range(2)]
    assert results[0].names == results[1].names
    assert (results[0].data == results[1].data).all()


def test_analysis_hears_the_passes(swing: Path) -> None:
    started(f"{swing}:Swing.Part")
    warm = started(f"{swing}:Swing.Part")
    rows = [r.name for r in warm.analyse().reductions]
    assert rows == [r.name for r in Session().model(f"{swing}:Swing.Part").analyse().reductions]
    assert "reduce-index" in rows


def test_warnings_are_repeated(tmp_path: Path) -> None:
    file = tmp_path / "Careless.mo"
    file.write_text(
        "model Careless\n  parameter Real p;\n  Real x(start = 1, fixed = true);\nequation\n  der(x) = -p*x;\n"
        'annotation(uses(Nowhere(version = "1")));\nend Careless;\n'
    )
    first, second = started(file), started(file)
    assert was_recalled(second)
    assert {w.code for w in first.warnings} >= {"B214", "L301"}
    assert set(first.warnings) == set(second.warnings)


def test_check_says_what_it_says_without(tmp_path: Path) -> None:
    file = tmp_path / "Careless.mo"
    file.write_text("model Careless\n  parameter Real p;\n  Real x;\nequation\n  x = p;\nend Careless;\n")
    alone = Session().model(file).check()
    started(file)
    assert Session().model(file).check() == alone


def test_changed_source_is_compiled(swing: Path) -> None:
    started(f"{swing}:Swing.Part")
    swing.write_text(PENDULUM.replace("0.1", "0.2"))  # as long as before, and at the same moment
    changed = started(f"{swing}:Swing.Part")
    assert not was_recalled(changed)
    assert "0.2" in changed.flat_text()


def test_touched_source_is_the_same(swing: Path) -> None:
    started(f"{swing}:Swing.Part")
    os.utime(swing, ns=(1, 1))
    assert was_recalled(started(f"{swing}:Swing.Part"))


def test_modifiers_are_other_models(swing: Path) -> None:
    plain = f"{swing}:Swing.Part"
    started(plain)
    longer = started(plain + "(n = 3)")
    assert not was_recalled(longer)
    assert was_recalled(started(plain + "(n = 3)"))
    assert not was_recalled(started(plain + "(n = 4)"))
    assert "chain[3]" in longer.process().variables


def _package(folder: Path, value: str) -> Path:
    """A library `Shelf` with a model that finds `k` where the lookup ends."""
    place = folder / "Shelf"
    place.mkdir(parents=True)
    (place / "package.mo").write_text(f"package Shelf\n  constant Real k = {value};\nend Shelf;\n")
    text = "within Shelf;\nmodel M\n  Real x(start = k, fixed = true);\nequation\n  der(x) = -x*Extra.k;\nend M;\n"
    (place / "M.mo").write_text(text)
    extra = place / "Extra"
    extra.mkdir()
    (extra / "package.mo").write_text("within Shelf;\npackage Extra\n  constant Real k = 5;\nend Extra;\n")
    return folder


def test_order_of_libraries_counts(tmp_path: Path) -> None:
    one, two = _package(tmp_path / "one", "1"), _package(tmp_path / "two", "2")
    started("Shelf.M", one, two)
    other = started("Shelf.M", two, one)
    assert not was_recalled(other)
    assert "start = 2" in other.flat_text().replace("2.0", "2")
    assert was_recalled(started("Shelf.M", one, two))


def test_environment_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = _package(tmp_path / "one", "1"), _package(tmp_path / "two", "2")
    monkeypatch.setenv("MODELICAPATH", str(one))
    started("Shelf.M")
    assert was_recalled(started("Shelf.M"))
    monkeypatch.setenv("MODELICAPATH", str(two))
    assert not was_recalled(started("Shelf.M"))


def _newer(root: Path) -> None:
    """Another version of the library beside the one that was found."""
    place = root / "Shelf 9.0"
    place.mkdir()
    text = 'package Shelf\n  constant Real k = 9;\n  annotation(version = "9.0");\nend Shelf;\n'
    (place / "package.mo").write_text(text)
    (place / "M.mo").write_text((root / "Shelf" / "M.mo").read_text().replace("*Extra.k", ""))


def _class_in_package(root: Path) -> None:
    """A class file beside those that were found."""
    (root / "Shelf" / "Inside.mo").write_text("within Shelf;\nmodel Inside\nend Inside;\n")


def _constant(root: Path) -> None:
    file = root / "Shelf" / "Extra" / "package.mo"
    file.write_text(file.read_text().replace("k = 5", "k = 6"))


def _gone(root: Path) -> None:
    (root / "Shelf" / "Extra" / "package.mo").unlink()


@pytest.mark.parametrize("change", [_newer, _class_in_package, _constant, _gone])
def test_what_stands_in_the_libraries_counts(tmp_path: Path, change: Callable[[Path], None]) -> None:
    root = _package(tmp_path / "root", "1")
    started("Shelf.M", root)
    assert was_recalled(started("Shelf.M", root))
    change(root)
    if change is _gone:
        with pytest.raises(ModelError):
            started("Shelf.M", root)
    else:
        assert not was_recalled(started("Shelf.M", root))


READER = """
model Reader
  function line
    input String file;
    output String text;
    output Boolean past;
    external "C" text = ModelicaInternal_readLine(file, 1, past);
  end line;
  function getenv
    input String name;
    output String content;
    output Boolean exists;
    external "C" ModelicaInternal_getenv(name, 0, content, exists);
  end getenv;
  constant String text = line("%s");
  constant String said = getenv("KHZ_TEST_SAID");
  constant Integer n = if text == "two" or said == "two" then 2 else 1;
  Real x[n](each start = 1, each fixed = true);
equation
  der(x) = -x;
end Reader;
"""


def test_files_and_variables_read_by_functions_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, file = tmp_path / "data.txt", tmp_path / "Reader.mo"
    data.write_text("one\n")
    file.write_text(READER % data)
    monkeypatch.delenv("KHZ_TEST_SAID", raising=False)
    started(file)
    assert was_recalled(started(file))
    data.write_text("two\n")
    assert "x[2]" in started(file).process().variables
    data.write_text("one\n")
    assert "x[2]" not in started(file).process().variables
    monkeypatch.setenv("KHZ_TEST_SAID", "two")
    changed = started(file)
    assert not was_recalled(changed)
    assert "x[2]" in changed.process().variables


@pytest.mark.parametrize("name", ["facts", ".step", ".step.often.c", ".flat", ".dae"])
@pytest.mark.parametrize("damage", [b"", b"KHZform1 and then nonsense", None])
def test_damage_means_compiling(swing: Path, tmp_path: Path, name: str, damage: bytes | None) -> None:
    whole = code(started(f"{swing}:Swing.Part"))
    (file,) = (f for f in (tmp_path / "cache").glob("forms-*/*/*") if f.name.endswith(name))
    file.write_bytes(file.read_bytes()[:-7] if damage is None else damage)
    again = started(f"{swing}:Swing.Part")
    assert code(again) == whole
    again.flatten()
    assert [f.text for f in again.built(again.inlined()).code.files]
    assert was_recalled(started(f"{swing}:Swing.Part"))  # it is whole again


def test_no_place_to_keep(swing: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("KHZ_CACHE_DIR", str(tmp_path / "file"))
    assert code(started(f"{swing}:Swing.Part")) == code(started(f"{swing}:Swing.Part"))


def test_read_only_cache_is_read(swing: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started(f"{swing}:Swing.Part")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError("read-only")

    monkeypatch.setattr("os.utime", refuse)
    monkeypatch.setattr("pathlib.Path.write_bytes", refuse)
    assert was_recalled(started(f"{swing}:Swing.Part"))
    assert not was_recalled(started(f"{swing}:Swing.Part(n = 1)"))


def test_switched_off(swing: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KHZ_NO_CACHE", "1")
    assert not was_recalled(started(f"{swing}:Swing.Part"))
    assert not was_recalled(started(f"{swing}:Swing.Part"))


def test_least_used_models_go(swing: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started(f"{swing}:Swing.Part")
    (folder,) = (tmp_path / "cache").glob("forms-*/*")
    size = sum(f.stat().st_size for f in folder.iterdir())
    monkeypatch.setattr(form_store, "MOST_BYTES", 3 * size)
    os.utime(folder, (1, 1))
    for n in (3, 4, 5):
        started(f"{swing}:Swing.Part(n = {n})")
    assert not folder.exists()
    assert was_recalled(started(f"{swing}:Swing.Part(n = 5)"))


def test_texts_of_a_session_count() -> None:
    def made(value: int) -> Model:
        session = Session()
        session.libraries.load_text(f"model T\n  Real x;\nequation\n  x = {value}*time;\nend T;\n")
        found = session.model("T")
        found.built(found.process())
        return found

    made(1)
    assert was_recalled(made(1))
    assert not was_recalled(made(2))


def test_long_sums_are_packed() -> None:
    total: Expr = Ref("x0", REAL)
    for k in range(1, 5000):
        total = make.add(total, make.mul(Real(k), Ref(f"x{k}", REAL)))
    assert unpack(pack([total]))[0] is total


def test_only_forms_are_unpacked() -> None:
    with pytest.raises(BadPack, match="no part of a form"):
        unpack(pack(os.system))


def test_the_version_is_read_once_where_no_source_was_touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "ours"
    root.mkdir()
    (root / "a.py").write_text("a = 1\n")
    monkeypatch.setenv("KHZ_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(form_store, "_ROOT", root)
    version = form_store.own_version.__wrapped__
    first = version()
    assert not list((tmp_path / "cache").glob("own-*"))  # the source is too young
    monkeypatch.setattr("kilohertz.base.outside.SETTLED_NS", 0)
    assert version() == first
    (kept,) = (tmp_path / "cache").glob("own-*")
    kept.write_text("taken over")
    assert version() == "taken over"
    (root / "a.py").write_text("a = 22\n")
    assert version() not in (first, "taken over")
