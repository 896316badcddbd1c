"""What a user of the Python API reaches for."""

from __future__ import annotations

import itertools
import pickle
from pathlib import Path
from typing import Any

import pytest

import kilohertz
from kilohertz import ModelError
from kilohertz.base import SourceMap, render
from kilohertz.driver import Session

TANK = """
model Tank
  type Mode = enumeration(off, on);
  parameter Real area(unit = "m2", min = 0.1) = 2 "cross section";
  parameter Mode mode = Mode.on;
  parameter Real half = area/2;
  parameter Integer n = 2;
  Real level[n](each start = 1, each fixed = true);
equation
  for i in 1:n loop
    der(level[i]) = -level[i]/half;
  end for;
  annotation(experiment(StopTime = 3));
end Tank;
"""


@pytest.fixture
def tank(tmp_path: Path) -> Path:
    file = tmp_path / "tank.mo"
    file.write_text(TANK)
    return file


def test_public_names_are_offered() -> None:
    assert {"Model", "ModelError", "ModelWarning", "attach", "build", "load", "run", "Stepper"} <= set(dir(kilohertz))
    assert all(getattr(kilohertz, name) is not None for name in dir(kilohertz))
    with pytest.raises(AttributeError, match="nothing"):
        kilohertz.nothing  # noqa: B018


def test_a_path_is_a_model_and_a_model_says_what_it_is(tank: Path) -> None:
    model = kilohertz.load(tank)
    assert repr(model) == "<Model Tank>"
    model.flatten()
    assert "flatten" in repr(model)


def test_parameters_are_listed(tank: Path) -> None:
    area, mode = (p for p in kilohertz.load(tank).parameters if p.name in ("area", "mode"))
    assert (area.value, area.unit, area.min, area.max, area.description) == (2.0, "m2", 0.1, None, "cross section")
    assert (mode.value, mode.choices) == (2, ("off", "on"))
    assert "half" not in {p.name for p in kilohertz.load(tank).parameters}


def test_modifiers_are_compiled_in(tank: Path) -> None:
    result = kilohertz.load(f"{tank}(half = 4, n = 3, level(start = {{1, 2, 3}}))").simulate(tolerance=1e-9)
    assert result.time[-1] == 3.0  # the experiment of the model itself
    assert [result.final(f"level[{i}]") for i in (1, 2, 3)] == pytest.approx([0.4724, 0.9447, 1.4171], abs=1e-4)
    with pytest.raises(ModelError, match="haf"):
        kilohertz.load(f"{tank}:Tank(haf = 4)").flatten()


@pytest.mark.parametrize(
    ("modifiers", "code", "marked"),
    [("(area = )", "P101", ")"), ("(Q = 3)", "S205", "Q"), ("(area = true)", "S240", "area")],
)
def test_a_mistake_in_modifiers_is_shown_where_it_is(tank: Path, modifiers: str, code: str, marked: str) -> None:
    with pytest.raises(ModelError) as caught:
        kilohertz.load(f"{tank}:Tank{modifiers}").check()
    d = caught.value.diagnostics[0]
    text = render(d, SourceMap())
    assert d.code == code
    line, under = next((a, b) for a, b in itertools.pairwise(text.splitlines()) if set(b) <= set(" |^") and "^" in b)
    assert modifiers in line and line[under.index("^") :].startswith(marked)


def test_models_with_other_modifiers_are_other_models(tank: Path) -> None:
    session = Session()
    slow, fast = session.model(f"{tank}(half = 4)"), session.model(f"{tank}(half = 1)")
    assert slow.name != fast.name
    assert slow.simulate().final("level[1]") == pytest.approx(0.4724, abs=1e-4)
    assert fast.simulate().final("level[1]") == pytest.approx(0.0498, abs=1e-4)


def test_models_and_results_can_be_pickled(tank: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tank.parent)
    model = kilohertz.load("tank.mo")
    result = model.simulate()
    monkeypatch.chdir("/")
    again, kept = pickle.loads(pickle.dumps((model, result)))
    assert again.name == "Tank"
    assert again.simulate().final("level[1]") == kept.final("level[1]") == result.final("level[1]")


def test_a_result_is_a_data_frame(tank: Path) -> None:
    pandas = pytest.importorskip("pandas", reason="no pandas")
    frame = kilohertz.load(tank).simulate().to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["level[1]"].iloc[-1] == pytest.approx(0.0498, abs=1e-4)
    assert frame.index.name == "time"


@pytest.mark.parametrize(
    ("given", "code", "words"),
    [
        ({"step": 1e-3}, "R723", "`cvode` chooses its own steps"),
        ({"solver": "rk4", "step": "1ms", "tolerance": 1e-9}, "R723", "not for `rk4`"),
        ({"solver": "lie", "step": "1ms", "jacobian_spread": True}, "R723", "must be 2 at least"),
    ],
)
def test_what_a_solver_does_not_take_is_refused(tank: Path, given: dict[str, Any], code: str, words: str) -> None:
    with pytest.raises(ModelError) as caught:
        kilohertz.load(tank).simulate(**given)
    assert caught.value.diagnostics[0].code == code
    assert words in caught.value.diagnostics[0].message
