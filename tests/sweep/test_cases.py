"""Cases from values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kilohertz.base import ModelError
from kilohertz.sweep import Cases, Range, make_cases


def rows(**given: object) -> list[tuple[float, ...]]:
    return [tuple(row) for row in make_cases(Cases(**given)).values.tolist()]  # type: ignore[arg-type]


def test_a_grid_has_every_combination() -> None:
    found = rows(parameters={"a": (1.0, 2.0), "b": Range(0, 1, 3)})
    assert found == [(1, 0), (1, 0.5), (1, 1), (2, 0), (2, 0.5), (2, 1)]


def test_a_logarithmic_range_has_equal_factors() -> None:
    (column,) = make_cases(Cases({"a": Range(1, 1000, 4, log=True)})).values.T
    assert column == pytest.approx([1, 10, 100, 1000])


def test_a_list_takes_the_values_side_by_side() -> None:
    assert rows(parameters={"a": (1.0, 2.0), "b": (5.0, 6.0)}, way="list") == [(1, 5), (2, 6)]


def test_corners_are_the_ends_of_every_range() -> None:
    found = rows(parameters={"a": Range(0, 1), "b": (3.0, 9.0, 5.0)}, way="corners")
    assert found == [(0, 3), (0, 9), (1, 3), (1, 9)]


def test_a_latin_hypercube_has_one_case_in_each_layer_of_each_parameter() -> None:
    table = make_cases(Cases({"a": Range(0, 1), "b": Range(10, 20)}, "latin-hypercube", 50))
    for column, low, high in zip(table.values.T, (0, 10), (1, 20), strict=True):
        layers = np.floor((column - low) / (high - low) * 50)
        assert sorted(layers) == list(range(50))


def test_sobol_points_fill_the_box_evenly() -> None:
    table = make_cases(Cases({"a": Range(0, 1), "b": Range(0, 1)}, "sobol", 64))
    quarters = np.floor(2 * table.values) @ [2, 1]
    assert [int((quarters == q).sum()) for q in range(4)] == [16, 16, 16, 16]


def test_drawn_cases_are_the_same_for_the_same_seed_and_may_have_the_corners() -> None:
    given = {"parameters": {"a": Range(0, 1), "b": (1.0, 2.0)}, "way": "sobol", "count": 10}
    assert rows(**given) == rows(**given) != rows(**given, seed=2)
    assert rows(**given, corners=True)[4:] == rows(**given)


def test_cases_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text("a,load.J\n1,0.1\n2,0.2\n")
    table = make_cases(Cases(way="file", file=str(tmp_path / "c.csv")))
    assert table.names == ("a", "load.J") and table.values.tolist() == [[1, 0.1], [2, 0.2]]


def test_texts_are_values_like_others(tmp_path: Path) -> None:
    law = ("linear", "squared", "cubic")
    table = make_cases(Cases({"law": law, "k": (1.0, 2.0)}))
    assert [table.row(i) for i in (0, 5)] == [{"law": "linear", "k": 1.0}, {"law": "cubic", "k": 2.0}]
    assert table.column("law") == ["linear", "linear", "squared", "squared", "cubic", "cubic"]
    assert table.column("k", [1, 2]).tolist() == [2.0, 1.0]
    corners = make_cases(Cases({"law": law, "k": (3.0, 1.0, 2.0)}, "corners"))
    assert len(corners) == 6 and set(corners.column("law")) == set(law)  # texts have no ends
    listed = make_cases(Cases({"law": ("b", "a", "b")}, "list"))
    assert listed.column("law") == ["b", "a", "b"]
    drawn = make_cases(Cases({"law": law, "k": Range(0, 1)}, "sobol", 32, corners=True))
    assert len(drawn) == 6 + 32 and min(drawn.column("law").count(text) for text in law) >= 11
    (tmp_path / "c.csv").write_text("k,law\n1,squared\n2,linear\n3,squared\n")
    read = make_cases(Cases(way="file", file=str(tmp_path / "c.csv")))
    assert read.column("law") == ["squared", "linear", "squared"] and read.column("k").tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("given", "code", "words"),
    [
        ({}, "R770", "no parameter is varied"),
        ({"parameters": {"a": Range(0, 1)}}, "R770", "needs a `count`"),
        ({"parameters": {"a": Range(0, 1, 10**4), "b": Range(0, 1, 10**4)}}, "R770", "100000000 cases"),
        ({"parameters": {"a": (1.0,), "b": (1.0, 2.0)}, "way": "list"}, "R770", "a 1, b 2"),
        ({"parameters": {"a": Range(0, 1)}, "way": "list"}, "R770", "is a range"),
        ({"parameters": {"a": Range(0, 1)}, "way": "sobol"}, "R770", "`count`"),
        ({"way": "file", "file": "nowhere.csv"}, "R701", "nowhere.csv"),
    ],
)
def test_cases_that_cannot_be_made(given: dict[str, object], code: str, words: str) -> None:
    with pytest.raises(ModelError, match=words) as caught:
        make_cases(Cases(**given))  # type: ignore[arg-type]
    assert caught.value.diagnostics[0].code == code


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n", "no case in it"),
        ("a,b\n1,x\n2,\n", "case 1 .line 3. has no value for `b`"),
        ("a,b\n1,2\n3,\n", "case 1 .line 3. has no finite number"),
    ],
)
def test_a_file_of_cases_that_cannot_be_used(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text(text)
    with pytest.raises(ModelError, match=words) as caught:
        make_cases(Cases(way="file", file=str(tmp_path / "c.csv")))
    assert caught.value.diagnostics[0].code == "R773"
