"""The file of a series: what it says, and what is wrong with it, with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from kilohertz.base import ModelError, SourceMap, render
from kilohertz.sweep import Range, read_series


def test_everything_a_series_says(folder: Path) -> None:
    series = read_series(folder / "swing.toml")
    assert series.name == "swing"
    assert series.cases.parameters == {"k": Range(5, 20, 4), "d": (0.1, 1.0, 4.0)}
    assert series.variant is not None and series.variant.stepping.solver == "rk2"
    assert [m.title for m in series.measures] == ["min x", "spring", "largest e (error)", "steps (variant)"]
    assert series.measures[0].threshold == "below -0.7"


def test_dotted_names_are_parameters_of_components(folder: Path) -> None:
    text = 'model = "swing.mo"\n[parameters]\nload.J = { from = 1, to = 2, count = 2 }\nload.inner.c = 3\n'
    (folder / "dotted.toml").write_text(text)
    assert list(read_series(folder / "dotted.toml").cases.parameters) == ["load.J", "load.inner.c"]


@pytest.mark.parametrize(
    ("old", "new", "code", "words"),
    [
        ("[parameters]", "[parametres]", "R741", "did you mean `parameters`"),
        ("count = 4", "cuont = 4", "R741", "did you mean `count`"),
        ("from = 5, ", "", "R743", "`from` is missing"),
        ("d = [0.1, 1, 4]", 'd = [["much"]]', "R742", "must be a number"),
        ('take = "min"', 'take = "minn"', "R742", "did you mean `min`"),
        ('of = "error"', 'of = "erorr"', "R742", "did you mean `error`"),
        ('cost = "steps"', 'cost = "stpes"', "R742", "did you mean `steps`"),
        ('signal = "x"', "", "R742", "a `signal` or a `cost`"),
        ('solver = "rk2"', 'solver = "rk22"', "R721", "rk2"),
        ("[model]\n", "[modell]\n", "R743", "`[model]` is missing"),
        ('name = "spring"', 'name = "min x"', "R742", "two measures are called `min x`"),
        ('name = "spring"', 'name = "case"', "R742", "cannot be called `case`"),
        ("[parameters]", '[cases]\nway = "sobol"\n[parameters]', "R743", "`count` is missing"),
        ("[parameters]", "[cases]\ncount = 5\n[parameters]", "R742", "drawn"),
        ("to = 20", 'to = -20, scale = "log"', "R742", "above zero"),
        ("[parameters]", "= 3", "R740", "not a TOML file"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(folder: Path, old: str, new: str, code: str, words: str) -> None:
    file = folder / "swing.toml"
    text = file.read_text()
    assert text.count(old) >= 1
    file.write_text(text.replace(old, new, 1))
    with pytest.raises(ModelError) as caught:
        read_series(file)
    shown = [render(d, SourceMap()) for d in caught.value.diagnostics]
    found = [s for s in shown if code in s and words in s]
    assert found, shown
    assert "`[model]`" in words or "swing.toml:" in found[0]


def test_a_variant_is_asked_for_that_is_not_there(folder: Path) -> None:
    (folder / "s.toml").write_text('model = "swing.mo"\n[parameters]\nk = 1\n[[measure]]\nsignal = "x"\nof = "error"\n')
    with pytest.raises(ModelError, match="must be one of model"):
        read_series(folder / "s.toml")
