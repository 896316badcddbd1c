"""Print and parse again: the same tree.  Over our own sources and, where it is installed, the Standard Library."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kilohertz.syntax import parse_expression, parse_text, same_tree, tree, unparse
from kilohertz.syntax.archive import pack, unpack

EVERYTHING = Path(__file__).with_name("everything.mo")


MODELICAPATH = os.environ.get("MODELICAPATH", "")  # when the tests are collected: they run without it


def msl_files() -> list[Path]:
    """All sources of the Modelica Standard Library in MODELICAPATH."""
    roots = [Path(entry) for entry in MODELICAPATH.split(os.pathsep) if entry]
    return [
        file for root in roots for library in sorted(root.glob("Modelica*")) for file in sorted(library.rglob("*.mo"))
    ]


def check(text: str, file: str) -> None:
    stored, diagnostics = parse_text(text, file)
    assert diagnostics == []
    printed = unparse(stored, text)
    again, diagnostics = parse_text(printed, file)
    assert diagnostics == []
    assert same_tree(stored, again)
    assert same_tree(unpack(pack(stored), file), again)


def test_own_source() -> None:
    check(EVERYTHING.read_text(encoding="utf-8"), str(EVERYTHING))


def test_own_library() -> None:
    for file in sorted((Path(__file__).parents[2] / "src/kilohertz/library").rglob("*.mo")):
        check(file.read_text(encoding="utf-8"), str(file))


def test_modelica_standard_library() -> None:
    files = msl_files()
    if not files:
        pytest.skip("MODELICAPATH holds no Modelica Standard Library")
    for file in files:
        check(file.read_bytes().decode("utf-8-sig"), str(file))


def test_each_kind_of_node_prints_alone() -> None:
    stored, _ = parse_text(EVERYTHING.read_text(encoding="utf-8"), "a.mo")
    pending: list[object] = [stored]
    seen: set[str] = set()
    while pending:
        node = pending.pop()
        if isinstance(node, tuple):
            pending += node
        elif hasattr(node, "__dataclass_fields__"):
            seen.add(type(node).__name__)
            if not isinstance(node, tree.Body | tree.ShortBody | tree.EnumBody | tree.DerBody):
                assert isinstance(unparse(node), str)  # type: ignore[arg-type]
            pending += [getattr(node, name) for name in node.__dataclass_fields__]
    classes = [c for c in vars(tree).values() if isinstance(c, type)]
    assert seen == {c.__name__ for c in classes if c.__module__.startswith(tree.__name__)}


def test_difference_is_seen() -> None:
    assert not same_tree(parse_expression("a + b"), parse_expression("a - b"))
    assert not same_tree(parse_expression("f(1)"), parse_expression("f(1.0)"))
    assert not same_tree(parse_expression("f(1)"), parse_expression("f(1, 2)"))
    assert same_tree(parse_expression("f( 1 )"), parse_expression("f(1)"))
