"""The cache: the same trees, never an error, safe against damage and company."""

from __future__ import annotations

import os
import pickle
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from kilohertz.syntax import TreeCache, parse_text, same_tree, tree
from kilohertz.syntax.archive import BadArchive, pack, unpack

TEXT = Path(__file__).with_name("everything.mo").read_text(encoding="utf-8")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A source file that was last touched long ago."""
    file = tmp_path / "source.mo"
    file.write_text(TEXT, encoding="utf-8")
    return file


def stored_files(place: Path, suffix: str) -> list[Path]:
    return sorted(place.rglob("*" + suffix))


def test_the_second_time_it_comes_from_the_cache(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, _ = TreeCache(tmp_path / "cache").load(str(source))
    assert len(stored_files(tmp_path / "cache", ".tree")) == 1
    monkeypatch.setattr("kilohertz.syntax.parsing.parser.parse_text", None)
    second, diagnostics = TreeCache(tmp_path / "cache").load(str(source))
    assert diagnostics == []
    assert same_tree(first, second)
    assert second.file == str(source) and second.classes[0].file == str(source)


def test_the_key_file_saves_reading_the_source(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kilohertz.base.outside.SETTLED_NS", -1)
    cache = TreeCache(tmp_path / "cache")
    cache.load(str(source))
    assert len(stored_files(tmp_path / "cache", ".key")) == 1
    monkeypatch.setattr(Path, "read_bytes", None)
    assert cache.load(str(source))[0].classes[0].name == "Everything"


def test_a_file_just_written_gets_no_key_file(source: Path, tmp_path: Path) -> None:
    cache = TreeCache(tmp_path / "cache")
    cache.load(str(source))
    assert stored_files(tmp_path / "cache", ".key") == []
    source.write_text("model New end New;", encoding="utf-8")
    assert cache.load(str(source))[0].classes[0].name == "New"


@pytest.mark.parametrize("damage", [b"", b"garbage", None])
def test_damage_means_parsing_again(source: Path, tmp_path: Path, damage: bytes | None) -> None:
    cache = TreeCache(tmp_path / "cache")
    first, _ = cache.load(str(source))
    (file,) = stored_files(tmp_path / "cache", ".tree")
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2] if damage is None else damage)
    assert same_tree(cache.load(str(source))[0], first)
    assert file.read_bytes() == data


def test_errors_are_found_every_time(tmp_path: Path) -> None:
    file = tmp_path / "bad.mo"
    file.write_text("model A Real = 1; end A;", encoding="utf-8")
    cache = TreeCache(tmp_path / "cache")
    assert len(cache.load(str(file))[1]) == len(cache.load(str(file))[1]) == 1
    assert stored_files(tmp_path / "cache", ".tree") == []


def test_a_place_that_cannot_be_written(source: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    stored, diagnostics = TreeCache(tmp_path / "file" / "cache").load(str(source))
    assert stored.classes and not diagnostics


def test_the_environment_decides(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KHZ_CACHE_DIR", str(tmp_path / "there"))
    monkeypatch.setenv("KHZ_NO_CACHE", "1")
    TreeCache.from_environment().load(str(source))
    assert not (tmp_path / "there").exists()
    monkeypatch.setenv("KHZ_NO_CACHE", "0")
    TreeCache.from_environment().load(str(source))
    assert len(stored_files(tmp_path / "there", ".tree")) == 1


def test_the_same_text_without_within_in_two_places(tmp_path: Path) -> None:
    file = tmp_path / "A.mo"
    file.write_text("model A end A;", encoding="utf-8")
    cache = TreeCache(tmp_path / "cache")
    for within in ((), ("P",), ("P", "Q"), None):
        assert cache.load(str(file), within)[0].classes[0].within == (within or ())


def _load(place: tuple[str, str]) -> int:
    return len(TreeCache(Path(place[0])).load(place[1])[0].classes)


def test_many_processes(source: Path, tmp_path: Path) -> None:
    with ProcessPoolExecutor(4) as pool:
        assert list(pool.map(_load, [(str(tmp_path / "cache"), str(source))] * 40)) == [2] * 40
    assert len(stored_files(tmp_path / "cache", ".tree")) == 1
    assert len([file for file in (tmp_path / "cache").rglob("*") if file.is_file()]) == 1


def test_bodies_are_read_on_first_use() -> None:
    stored, _ = parse_text(TEXT, "a.mo")
    first = unpack(pack(stored), "b.mo").classes[0]
    assert first.lazy is not None and first.file == "b.mo"
    assert isinstance(first.body, tree.Body)
    assert first.lazy is None
    inner = [e for e in first.body.elements if isinstance(e, tree.ClassDef)]
    assert inner and all(cls.lazy is not None and cls.file == "b.mo" for cls in inner)
    with pytest.raises(AttributeError):
        _ = first.nothing


def test_a_lazy_tree_can_be_pickled() -> None:
    stored, _ = parse_text(TEXT, "a.mo")
    lazy = unpack(pack(stored), "a.mo")
    assert same_tree(pickle.loads(pickle.dumps(lazy)), stored)


def test_a_long_sum_fits() -> None:
    stored, _ = parse_text("model A Real x = " + " + ".join(["y"] * 5000) + "; end A;", "a.mo")
    assert same_tree(unpack(pack(stored), "a.mo"), stored)


def test_only_trees_come_out_of_an_archive() -> None:
    class Evil:
        def __reduce__(self) -> tuple[object, ...]:
            return os.system, ("true",)

    stored, _ = parse_text("model A end A;", "a.mo")
    stored.within = (Evil(),)  # type: ignore[assignment]
    with pytest.raises(BadArchive):
        unpack(pack(stored), "a.mo")


def test_a_file_that_is_not_utf8_is_warned_of_every_time(tmp_path: Path) -> None:
    file = tmp_path / "latin.mo"
    file.write_bytes("model A\n  Real x; // ü".encode() + b" \xe4\nend A;\n")
    for _ in range(2):
        _, (warning,) = TreeCache(tmp_path / "cache").load(str(file))
        assert warning.code == "P113"
        assert "0xe4 at 24" in warning.message
        assert warning.span is not None and warning.span.start == 23
