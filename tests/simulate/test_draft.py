"""Off-line runs begin with code that was compiled without optimisation, and go on with better code where that pays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from kilohertz.driver import Model, Session
from kilohertz.simulate import Program, load_soon, simulate
from kilohertz.simulate.draft import Draft

MODELS = """
package Drafts
  model Swing "several thousand steps, and something to say late in them"
    Real x(start = 1, fixed = true), v(start = 0, fixed = true), y;
  equation
    der(x) = v;
    der(v) = -x;
    y + 0.1*tanh(y) = sin(x);
    assert(time < 390, "it is late", AssertionLevel.warning);
    annotation(experiment(StopTime = 400));
  end Swing;

  function remembered "external code"
    input Real u;
    output Real y;
    external "C" y = sqrt(u) annotation(Include = "#include <math.h>");
  end remembered;

  model Foreign
    Real x(start = 1, fixed = true);
  equation
    der(x) = -remembered(x + time);
  end Foreign;
end Drafts;
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The models, and a cache that holds nothing of them."""
    folder = tmp_path_factory.mktemp("drafts")
    file = folder / "Drafts.mo"
    file.write_text(MODELS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KHZ_CACHE_DIR", str(folder / "cache"))
        yield file


def model(source: Path, name: str) -> Model:
    return Session([source]).model(f"Drafts.{name}")


def soon(found: Model) -> tuple[Program, Draft]:
    program = load_soon(found.built(found.process()))
    assert program.draft is not None
    return program, program.draft


def test_a_draft_is_overtaken_in_the_run_with_the_same_bits(source: Path) -> None:
    swing = model(source, "Swing")
    program, draft = soon(swing)
    whole = simulate(program)
    assert draft.better is None
    draft.left_s = 1e-9  # over when the first part of the run is
    overtaken = simulate(program)
    assert draft.better is not None
    assert np.array_equal(whole.data, overtaken.data)
    assert [d.message for d in overtaken.problems] == [d.message for d in whole.problems]
    assert any("it is late" in d.message for d in overtaken.problems)
    assert load_soon(swing.built(swing.process())).draft is None  # it is in the cache by now


def test_the_next_run_takes_better_code(source: Path) -> None:
    program, draft = soon(model(source, "Swing(x(start = 0.5))"))
    draft.left_s = 0.0
    better = draft.overtaken()
    assert better is not None
    result = simulate(program, stop=0.1)
    assert draft.left_s == 0.0  # the draft was not run
    assert result.final("x") == pytest.approx(0.5 * np.cos(0.1), rel=1e-3)


def test_external_code_is_optimised_at_once(source: Path) -> None:
    foreign = model(source, "Foreign")
    assert load_soon(foreign.built(foreign.process())).draft is None


def test_fixed_steps_are_optimised_at_once(source: Path) -> None:
    swing = model(source, "Swing(v(start = 1))")
    swing.simulate(stop=1.0)
    assert swing.seconds.keys().isdisjoint({"build"})
    swing.simulate(stop=1.0, solver="rk4", step=1e-2)
    assert "build" in swing.seconds
