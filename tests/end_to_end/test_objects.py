"""External objects that are made in the initial system, and calls in whens that act on them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kilohertz

FILE = Path(__file__).with_name("objects.mo")


@pytest.mark.parametrize("options", [{}, {"solver": "ida"}, {"solver": "rk4", "step": 0.01}])
def test_a_call_in_a_when_is_made_once_for_each_event(options: dict[str, Any]) -> None:
    result = kilohertz.load(f"{FILE}:Objects.Late").simulate(stop=1.0, **options)
    assert result.final("calls") == 10  # at 0.05, 0.15, ...
    assert result.final("total") == pytest.approx(20.0)
    assert result.final("doubled") == pytest.approx(1.8, rel=2e-2)


def test_an_object_is_made_once_of_what_the_initial_system_gives() -> None:
    result = kilohertz.load(f"{FILE}:Objects.Late").simulate(stop=0.2, settings={"n": 4})
    assert result.final("seen") == 12
    assert result.final("objects") == 1


def test_an_object_that_records_hand_on_is_destroyed_once() -> None:
    model = kilohertz.load(f"{FILE}:Objects.HandedOn")
    for _ in range(2):  # what the first run has left would count in the second
        result = model.simulate(stop=0.2)
        assert (result.final("first.objects"), result.final("second.objects")) == (1, 1)


@pytest.mark.parametrize("options", [{}, {"solver": "rk4", "step": 0.01}])
def test_an_object_of_the_first_tick_is_made_once_and_used_in_the_order_of_the_results(options: dict[str, Any]) -> None:
    model = kilohertz.load(f"{FILE}:Objects.FirstTick")
    result = model.simulate(stop=1.05, settings={"n": 4}, **options)
    assert result.final("y") == 11  # at 0, 0.1, ..., 1: each reads what the same tick has put there
    assert result.final("z") == 24  # 2*3*n
    assert result.final("w") == 7


def test_external_code_does_not_wait_where_the_task_paces_it(tmp_path: Path) -> None:
    report = kilohertz.run(f"{FILE}:Objects.Waits", duration=0.1, folder=tmp_path)
    assert report.result.final("samples") == 10
    assert report.result.final("told") == 0


def test_an_error_in_a_thread_of_external_code_ends_the_run() -> None:
    with pytest.raises(kilohertz.ModelError) as error:
        kilohertz.load(f"{FILE}:Objects.FailsInThread").simulate(stop=1.0)
    assert error.value.diagnostics[0].code == "R714"
    assert "time = 0.5" in str(error.value) or "time = 0.6" in str(error.value)
    assert "no device 7" in str(error.value)


TWO_FUNCTIONS_OF_ONE_SYMBOL = """
package Shared
  function total
    input Real x[:];
    output Real y;
  external "C" y = khz_test_total(x, size(x, 1))
    annotation(Include = "
      static double khz_test_total(const double *x, size_t n) { return n > 1 ? x[0] + x[1] : x[0]; }");
  end total;
  function same "without its Include"
    input Real x[:];
    output Real y;
  external "C" y = khz_test_total(x, size(x, 1));
  end same;
  model M
    Real y = total({time, 1}) + same({time, 2});
  end M;
end Shared;
"""


def test_a_function_may_rely_on_the_include_of_another(tmp_path: Path) -> None:
    path = tmp_path / "Shared.mo"
    path.write_text(TWO_FUNCTIONS_OF_ONE_SYMBOL)
    assert kilohertz.load(f"{path}:Shared.M").simulate(stop=1.0).final("y") == pytest.approx(5.0)


def test_an_include_finds_the_usual_headers(tmp_path: Path) -> None:
    """Those of `math.h`, `stdio.h`, `stdlib.h` and `string.h`, which other tools include."""
    path = tmp_path / "Usual.mo"
    path.write_text("""
model Usual
  function f
    input Real x;
    output Real y;
  external "C" y = khz_test_usual(x)
    annotation(Include = "
      static double khz_test_usual(double x)
      {
          char text[64];
          snprintf(text, sizeof text, \\"%g\\", sqrt(x));
          return strtod(text, NULL) + (double)strlen(text);
      }");
  end f;
  Real y = f(4 + time);
end Usual;
""")
    assert kilohertz.load(str(path)).simulate(stop=5.0).final("y") == pytest.approx(4.0)
