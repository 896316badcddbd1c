"""What a model says while it runs is heard: assertions of level warning, messages of external functions."""

from __future__ import annotations

from pathlib import Path

import pytest

from kilohertz.cli import main
from kilohertz.driver import Session

SOURCE = """
package Saying
  function careful
    input Real u;
    output Real y;
  algorithm
    assert(u < 2, "u is large", AssertionLevel.warning);
    y := u;
  end careful;

  function tell "In C"
    input Real u;
    output Real y;
    external "C" y = saying_tell(u) annotation(Include="
#include \\"ModelicaUtilities.h\\"
static double saying_tell(double u) {
  if (u > 0.25) ModelicaFormatWarning(\\"%s\\", \\"a sensor drifts\\");
  ModelicaMessage(\\"told\\\\n\\");
  return u;
}
");
  end tell;

  model InEquations
    Real x(start=0, fixed=true);
  equation
    der(x) = 1;
    assert(x < 0.5, "x is " + String(x), AssertionLevel.warning);
    annotation(experiment(StopTime=1, Interval=0.01));
  end InEquations;

  model InAFunction
    Real x(start=1, fixed=true);
    Real y = careful(x);
  equation
    der(x) = 2;
    annotation(experiment(StopTime=1, Interval=0.01));
  end InAFunction;

  model InC
    discrete Real y(start=0, fixed=true);
  equation
    when sample(0, 0.1) then
      y = tell(time);
    end when;
    annotation(experiment(StopTime=1, Interval=0.01));
  end InC;
end Saying;
"""


@pytest.mark.parametrize("settings", [{}, {"solver": "rk4", "step": 0.01}], ids=["cvode", "rk4"])
@pytest.mark.parametrize(
    ("name", "words", "place", "first"),
    [
        ("InEquations", "x is 0.5", 'assert(x < 0.5, "x is', 0.5),
        ("InAFunction", "u is large", "assert(u < 2", 0.5),
        ("InC", "a sensor drifts", "", 0.3),
    ],
)
def test_a_warning_of_the_model_is_a_problem_of_the_result(
    name: str, words: str, place: str, first: float, settings: dict[str, object]
) -> None:
    session = Session()
    session.libraries.load_text(SOURCE, "Saying.mo")
    result = session.model(f"Saying.{name}").simulate(**settings)  # type: ignore[arg-type]
    (problem,) = result.problems
    assert result.ok
    assert problem.code == "R748"
    assert problem.message.startswith(f"the model warns: {words}")
    assert SOURCE[problem.span.start :].startswith(place) if problem.span is not None else not place
    note = problem.notes[0].text
    assert note.endswith("last at time = 1")
    assert float(note.split()[4].rstrip(",")) == pytest.approx(first, abs=0.02)


def test_the_command_shows_warnings_and_messages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "Saying.mo"
    file.write_text(SOURCE)
    assert main(["simulate", f"{file}:Saying.InC"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[0] == "time = 0: told"
    assert err.count("warning[R748]: the model warns: a sensor drifts") == 1
    assert main(["run", f"{file}:Saying.InEquations", "--solver", "rk4", "--duration", "1s", "--fast"]) == 0
    assert "warnings of the model" in capsys.readouterr().out


def test_a_loop_says_all_that_it_warns_of(tmp_path: Path) -> None:
    """Each element has words of its own; of many the first few are kept."""
    file = tmp_path / "loop.mo"
    file.write_text(
        "model Loop Real v[6] = {i*time for i in 1:6}; equation for i in 1:6 loop"
        ' assert(v[i] < i/2, "element " + String(i) + " is large", AssertionLevel.warning); end for; end Loop;'
    )
    (said,) = Session().model(file).simulate(stop=1).problems
    texts = [note.text for note in said.notes]
    assert said.message == "the model warns: element 1 is large"
    assert texts[1:] == [*(f"also: element {i} is large" for i in (2, 3, 4)), "and in further words"]
