"""Finding classes: directories, files, versions, the user's own files, what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kilohertz.base import ModelError
from kilohertz.syntax import Libraries, TreeCache, tree

NO_CACHE = TreeCache(None)


def write(root: Path, files: dict[str, str]) -> Path:
    """Make the files below `root`."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A library with all ways of storing a class."""
    return write(
        tmp_path / "libs",
        {
            "Lib/package.mo": "within ; package Lib model Inside end Inside; constant Real k = 1; end Lib;",
            "Lib/package.order": "Sub\nk\nOne\nInside\n",
            "Lib/One.mo": "within Lib; model One model Deep end Deep; end One;",
            "Lib/Unlisted.mo": "within Lib; model Unlisted end Unlisted;",
            "Lib/Broken.mo": "within Lib; model Broken Real = 1; Real y z; end Broken;",
            "Lib/Sub/package.mo": "within Lib; package Sub end Sub;",
            "Lib/Sub/Leaf.mo": "within Lib.Sub; model Leaf end Leaf;",
            "Lib/NoPackage/Stray.mo": "model Stray end Stray;",
            "Single.mo": "package Single model M end M; end Single;",
            "Versioned 1.10.0/package.mo": 'package Versioned annotation(version = "1.10.0"); end Versioned;',
            "Versioned 1.9.0/package.mo": 'package Versioned annotation(version = "1.9.0"); end Versioned;',
            "Versioned 2.0.0 Beta.1.mo": 'package Versioned annotation(version = "2.0.0 Beta.1"); end Versioned;',
            "readme.txt": "",
        },
    )


@pytest.mark.parametrize(
    "name",
    ["Lib", "Lib.Inside", "Lib.One", "Lib.One.Deep", "Lib.Sub", "Lib.Sub.Leaf", "Single", "Single.M", "Lib.Unlisted"],
)
def test_find(root: Path, name: str) -> None:
    path = tuple(name.split("."))
    found = Libraries([root], NO_CACHE).find(path)
    assert found is not None
    assert (*found.within, found.name) == path


@pytest.mark.parametrize("name", ["Nothing", "Lib.Nothing", "Lib.One.Nothing", "Lib.NoPackage", "Lib.k", "Single.M.x"])
def test_find_nothing(root: Path, name: str) -> None:
    assert Libraries([root], NO_CACHE).find(tuple(name.split("."))) is None
    assert Libraries([root], NO_CACHE).find(()) is None


def test_a_quoted_name_is_stored_with_its_quotes(root: Path) -> None:
    package = "within Lib; package 'c d' end 'c d';"
    files = {"Lib/'a.b'.mo": "within Lib; model 'a.b' end 'a.b';", "Lib/'c d'/package.mo": package}
    libraries = Libraries([write(root, files)], cache=NO_CACHE)
    for name in ("'a.b'", "'c d'"):
        found = libraries.find(("Lib", name))
        assert found is not None and found.name == name


def test_children_in_the_order_of_package_order(root: Path) -> None:
    libraries = Libraries([root], NO_CACHE)
    lib = libraries.top("Lib")
    assert lib is not None
    children = libraries.children(lib)
    assert list(children) == ["Sub", "One", "Inside", "Broken", "Unlisted"]
    assert children["One"]() is libraries.find(("Lib", "One"))
    assert libraries.enclosing(children["One"]()) is lib
    assert libraries.enclosing(lib) is None


def test_siblings_are_not_read(root: Path) -> None:
    assert Libraries([root], NO_CACHE).find(("Lib", "Sub", "Leaf")) is not None  # though Lib/Broken.mo is broken


def test_errors_come_together_when_the_class_is_demanded(root: Path) -> None:
    with pytest.raises(ModelError) as caught:
        Libraries([root], NO_CACHE).find(("Lib", "Broken"))
    assert [d.code for d in caught.value.diagnostics] == ["P101", "P105"]


@pytest.mark.parametrize("given", ["Lib", "Lib/Sub", "Lib/package.mo"])
def test_a_root_may_be_the_package_itself(root: Path, given: str) -> None:
    libraries = Libraries([root / given], NO_CACHE)
    assert libraries.names() == ["Lib"]
    assert libraries.find(("Lib", "Sub", "Leaf")) is not None


def test_the_directory_of_a_root_package_may_have_any_name(root: Path) -> None:
    (root / "Lib").rename(root / "lib-master")
    libraries = Libraries([root / "lib-master"], NO_CACHE)
    assert libraries.find(("Lib", "Sub", "Leaf")) is not None


def test_a_root_may_be_a_file(root: Path) -> None:
    libraries = Libraries([root / "Single.mo"], NO_CACHE)
    assert libraries.names() == ["Single"]
    assert libraries.find(("Single", "M")) is not None


def test_a_root_that_is_not_there(tmp_path: Path) -> None:
    libraries = Libraries([tmp_path / "nowhere"], NO_CACHE)
    assert [d.code for d in libraries.diagnostics] == ["L303"]
    assert libraries.missing("Lib").code == "L301"


def test_modelicapath_comes_after_the_given_roots(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = write(tmp_path / "mine", {"Single.mo": "package Single model Mine end Mine; end Single;"})
    monkeypatch.setenv("MODELICAPATH", f"{root}:{tmp_path}")
    libraries = Libraries.from_environment([mine], NO_CACHE)
    assert libraries.find(("Single", "Mine")) is not None
    assert libraries.find(("Lib", "One")) is not None


class TestVersions:
    """A `uses` annotation chooses, else the highest version."""

    def version(self, libraries: Libraries) -> str:
        found = libraries.top("Versioned")
        assert found is not None
        return libraries.version(found)

    def test_the_highest(self, root: Path) -> None:
        assert self.version(Libraries([root], NO_CACHE)) == "2.0.0 Beta.1"

    def test_the_one_asked_for(self, root: Path) -> None:
        libraries = Libraries([root], NO_CACHE)
        libraries.load_text('model A annotation(uses(Versioned(version = "1.9.0"))); end A;')
        assert self.version(libraries) == "1.9.0"
        assert libraries.diagnostics == []

    def test_one_that_is_not_there(self, root: Path) -> None:
        libraries = Libraries([root], NO_CACHE)
        libraries.load_text('model A annotation(uses(Versioned(version = "3.0"), Gone(version = "1"))); end A;')
        assert self.version(libraries) == "2.0.0 Beta.1"
        assert [d.code for d in libraries.diagnostics] == ["L301", "L302"]

    def test_one_that_needs_no_conversion(self, tmp_path: Path) -> None:
        conversion = 'conversion(noneFromVersion = "1.9", noneFromVersion = "1.8")'
        text = f'package V annotation(version = "2.0", {conversion}); end V;'
        libraries = Libraries([write(tmp_path, {"V.mo": text})], NO_CACHE)
        assert libraries.top("V") is not None
        libraries.load_text('model A annotation(uses(V(version = "1.8"))); end A;')
        assert libraries.diagnostics == []
        libraries.load_text('model B annotation(uses(V(version = "1.7"))); end B;')
        assert [d.code for d in libraries.diagnostics] == ["L302"]

    def test_of_several_one_that_needs_no_conversion(self, tmp_path: Path) -> None:
        files = {
            "V 1.9.mo": 'package V annotation(version = "1.9", conversion(noneFromVersion = "1.8")); end V;',
            "V 2.0.mo": 'package V annotation(version = "2.0", conversion(noneFromVersion = "1.9")); end V;',
        }
        libraries = Libraries([write(tmp_path, files)], NO_CACHE)
        libraries.load_text('model A annotation(uses(V(version = "1.8"))); end A;')
        found = libraries.top("V")
        assert found is not None and libraries.version(found) == "1.9"
        assert libraries.diagnostics == []

    def test_releases_come_after_previews(self, tmp_path: Path) -> None:
        files = {
            f"V {v}.mo": f'package V annotation(version = "{v}"); end V;' for v in ("1.0.0 Beta.2", "1.0.0", "0.9")
        }
        libraries = Libraries([write(tmp_path, files)], NO_CACHE)
        found = libraries.top("V")
        assert found is not None and libraries.version(found) == "1.0.0"


class TestOwnFiles:
    """Files the user names."""

    def test_top_level_classes_shadow_libraries(self, root: Path, tmp_path: Path) -> None:
        file = write(tmp_path, {"my.mo": "model First end First; package Single end Single;"}) / "my.mo"
        libraries = Libraries([root], NO_CACHE)
        first, single = libraries.load_file(file)
        assert libraries.find(("First",)) is first
        assert libraries.top("Single") is single and libraries.find(("Single", "M")) is None

    def test_within_joins_the_package(self, root: Path, tmp_path: Path) -> None:
        file = write(tmp_path, {"my.mo": "within Lib.Sub; model New end New;"}) / "my.mo"
        libraries = Libraries([root], NO_CACHE)
        (new,) = libraries.load_file(file)
        assert libraries.find(("Lib", "Sub", "New")) is new
        sub = libraries.enclosing(new)
        assert sub is not None and set(libraries.children(sub)) == {"New", "Leaf"}

    def test_within_a_package_that_is_not_there(self, tmp_path: Path) -> None:
        libraries = Libraries([], NO_CACHE)
        (new,) = libraries.load_text("within Gone; model New end New;")
        assert [d.code for d in libraries.diagnostics] == ["L306"]
        assert libraries.find(("Gone", "New")) is new

    def test_a_file_inside_a_package_directory_brings_the_package(self, root: Path) -> None:
        libraries = Libraries([], NO_CACHE)
        (leaf,) = libraries.load_file(root / "Lib" / "Sub" / "Leaf.mo")
        assert libraries.find(("Lib", "Sub", "Leaf")) is leaf
        assert libraries.find(("Lib", "One")) is not None

    @pytest.mark.parametrize("given", ["Lib", "Lib/package.mo"])
    def test_a_package_directory(self, root: Path, given: str) -> None:
        libraries = Libraries([], NO_CACHE)
        (lib,) = libraries.load_file(root / given)
        assert libraries.find(("Lib", "Sub", "Leaf")) is not None
        assert libraries.top("Lib") is lib

    def test_a_missing_file(self, tmp_path: Path) -> None:
        with pytest.raises(ModelError) as caught:
            Libraries([], NO_CACHE).load_file(tmp_path / "gone.mo")
        assert caught.value.diagnostics[0].code == "L308"

    def test_annotations_of_a_text_are_kept(self) -> None:
        (cls,) = Libraries([], NO_CACHE).load_text("model A annotation(Icon(a = 1)); end A;")
        assert cls.annotation is not None and cls.annotation.text == "(Icon(a = 1))"


@pytest.mark.parametrize(
    ("text", "code"),
    [("within P; model B end B;", "L304"), ("within Q; model A end A;", "L305"), ("", "L304"), ("x", "P101")],
)
def test_files_that_hold_something_else(tmp_path: Path, text: str, code: str) -> None:
    root = write(tmp_path, {"P/package.mo": "package P end P;", "P/A.mo": text})
    with pytest.raises(ModelError) as caught:
        Libraries([root], NO_CACHE).find(("P", "A"))
    assert caught.value.diagnostics[0].code == code


def test_a_file_without_within_stands_where_it_lies(tmp_path: Path) -> None:
    root = write(tmp_path, {"P/package.mo": "package P end P;", "P/A.mo": "model A model B end B; end A;"})
    found = Libraries([root], NO_CACHE).find(("P", "A", "B"))
    assert isinstance(found, tree.ClassDef) and found.within == ("P", "A")


def test_a_used_library_says_which_version_of_another_is_wanted(tmp_path: Path) -> None:
    """`Grids` uses `Parts`, and `Parts` uses the older `Base`: the first to name `Base` is `Grids`."""
    files = {
        "Base 2.0/package.mo": 'within; package Base annotation(version = "2.0"); end Base;',
        "Base 1.0/package.mo": 'within; package Base annotation(version = "1.0"); end Base;',
        "Parts/package.mo": 'within; package Parts annotation(uses(Base(version = "1.0"))); end Parts;',
        "Grids/package.mo": 'within; package Grids annotation(uses(Parts(version = "1.0"))); end Grids;',
    }
    libraries = Libraries([write(tmp_path, files)], NO_CACHE)
    assert libraries.top("Grids") is not None
    base = libraries.top("Base")
    assert base is not None and libraries.version(base) == "1.0"
