"""Values at events that are right, or refused: rounding of time, Integers, delays, reinit, der."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kilohertz
from kilohertz.base import ModelError
from kilohertz.cli.main import main

ROUNDED = """
model M
  parameter Real c = -4;
  Integer k = integer(3 - 4*time);
  Real f = floor(2.5 + c*time), up = ceil(4*time), down = ceil(-4*time), d = div(2 - 5*time, 1), m = mod(-3*time, 1);
  Real first(start = 7);
initial equation
  first = ceil(4*time) + integer(3 - time);
equation
  der(first) = 0;
end M;
"""


@pytest.mark.parametrize("how", [{}, {"solver": "rk4", "step": 1e-3, "events": "exact"}])
def test_what_falls_with_time_is_rounded_at_every_instant(tmp_path: Path, how: dict[str, Any]) -> None:
    result = _load(tmp_path, ROUNDED).simulate(stop=1.0, **how)
    t = result.time
    true = {
        "k": np.floor(3 - 4 * t),
        "f": np.floor(2.5 - 4 * t),
        "up": np.ceil(4 * t),
        "down": np.ceil(-4 * t),
        "d": np.trunc(2 - 5 * t),
        "m": np.mod(-3 * t, 1),
    }
    # at the instants themselves there are the values left and right of them
    between = np.all([np.abs(a * t - np.round(a * t)) > 1e-6 for a in (3, 5, 8)], axis=0)
    for name, values in true.items():
        np.testing.assert_allclose(result[name][between], values[between], atol=1e-9, err_msg=name)
    assert result["first"][0] == 3  # initial equations have the values at the instant


LATCH = """
model Latch "A battery is charged when it is low, which the voltage is at once no longer: no relation agrees before the
  latch has changed"
  Boolean isLow = v < 2.7, isHigh = v > 3.4;
  Boolean discharges(start = true, fixed = true), charges(start = false, fixed = true);
  Real charge(start = 1, fixed = true), v = 2.5 + charge - (if discharges then 0.1 else -0.1);
  Integer n(start = 0, fixed = true);
equation
  discharges = not (isLow or pre(charges));
  charges = not (isHigh or discharges);
  der(charge) = if discharges then -0.2 else 0.2;
  when not discharges then
    n = pre(n) + 1;
  end when;
end Latch;
"""


@pytest.mark.parametrize("how", [{}, {"solver": "ida"}, {"solver": "rk4", "step": 0.01, "events": "exact"}])
def test_a_latch_that_its_own_action_resets(tmp_path: Path, how: dict[str, Any]) -> None:
    """Down to 0.3 by 3.5 s, up to 0.8 and down again in 2.5 s each."""
    result = _load(tmp_path, LATCH).simulate(stop=20.0, **how)
    assert result.problems == ()
    assert result.final("n") == 4
    assert result.final("charge") == pytest.approx(0.6, abs=1e-5)
    low, high = result["charge"][result.time > 3.5].min(), result["charge"][result.time > 3.5].max()
    assert (low, high) == pytest.approx((0.3, 0.8), abs=1e-5)


BEYOND = {
    "sum": "Integer n(start = 2000000000, fixed = true); equation when sample(0.1, 0.1) then n = pre(n) + 100000000;"
    " end when;",
    "difference": "parameter Integer a = -2000000000; Integer n = a - integer(time*1e9);",
    "product": "parameter Integer a = 100000; parameter Integer n = a*a; Real x = n;",
    "integer": "Integer n; equation when time > 0.5 then n = integer(1e10*time); end when;",
    "no number": "Integer n; equation when time > 0.5 then n = integer(sqrt(0.4 - time)); end when;",
}


@pytest.mark.parametrize("text", BEYOND.values(), ids=BEYOND)
def test_beyond_32_bits_there_is_no_integer(tmp_path: Path, text: str) -> None:
    with pytest.raises(ModelError, match="beyond the Integers of 32 bits") as caught:
        _load(tmp_path, f"model M {text} end M;").simulate()
    assert caught.value.diagnostics[0].code == "R717"


def test_a_literal_beyond_32_bits_is_a_real(tmp_path: Path) -> None:
    result = _load(tmp_path, "model M Real x = 3000000000; end M;").simulate()
    assert result["x"][-1] == 3e9
    with pytest.raises(ModelError, match="has type Real, needed Integer"):
        _load(tmp_path, "model M parameter Integer n = 3000000000; Real x = n; end M;").check()


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("parameter Real d = -0.1; Real y = delay(time, d);", "R714", "the time of a delay is negative"),
        ("Real y = delay(time, 0.1 - 0.5*time, 0.3);", "R714", "the time of a delay is negative"),
        ("Real y = delay(time, 0.1 + 0.5*time, 0.3);", "R714", "the time of a delay is longer than its delayMax"),
        (
            "discrete Real n(start = 0, fixed = true); Real v = der(n); equation when sample(0, 0.1) then"
            " n = pre(n) + 1; end when;",
            "B102",
            "der is applied to `n`, which changes at events only",
        ),
        (
            "Real x(start = 0, fixed = true); equation der(x) = 1; when sample(0.5, 1) then reinit(x, 10); end when;"
            " when time >= 0.5 then reinit(x, 20); end when;",
            "B108",
            "`x` is reinitialised by two when-equations",
        ),
        (
            "Real s(start = 1, fixed = true); Real x = 2*s; equation der(s) = 0; when time > 0.5 then reinit(x, 7);"
            " end when;",
            "S284",
            "reinit sets a variable that is integrated; `x` follows from others",
        ),
        ("Real x = time; Real y = if edge(x) then 1 else 0;", "S278", "`edge` cannot be applied to (Real)"),
        ("parameter Integer n = -1; Real y = sum(fill(1.0, n));", "S238", "a dimension is negative: -1"),
        ("parameter Integer n = -1; Real y = sum(identity(n));", "S238", "a dimension is negative: -1"),
        (
            "Real u, v; equation (u, v) = spatialDistribution(1, 2, 2*time, true, initialPoints = {0, 0.5},"
            " initialValues = {1, 1});",
            "S278",
            "do not go from 0 to 1",
        ),
    ],
)
def test_what_has_no_meaning_is_refused(tmp_path: Path, text: str, code: str, said: str) -> None:
    with pytest.raises(ModelError) as caught:
        _load(tmp_path, f"model M {text} end M;").simulate()
    (d,) = caught.value.diagnostics
    assert d.code == code and said in d.message and d.span is not None


def test_delays_within_their_bounds_are_fine(tmp_path: Path) -> None:
    text = "Real y = delay(time, 0.3*abs(sin(9*time)), 0.3), z = delay(time, 0), w = delay(time, 0.1);"
    assert _load(tmp_path, f"model M {text} end M;").simulate(solver="rk4", step=1e-3).problems == ()


def test_one_when_may_reinitialise_in_several_branches(tmp_path: Path) -> None:
    text = (
        "Real x(start = 0, fixed = true), y(start = 0, fixed = true); equation der(x) = 1; der(y) = 1;"
        " when sample(0.5, 1) then reinit(x, 10); elsewhen time >= 0.7 then reinit(x, 20); end when;"
        " when time >= 0.5 then if x > 1 then reinit(y, 1); else reinit(y, 2); end if; end when;"
    )
    assert _load(tmp_path, f"model M {text} end M;").simulate(stop=1.0)["x"][-1] == pytest.approx(20.3)


def test_a_run_that_the_model_ends_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        'model M Real x(start = 0, fixed = true); equation der(x) = 1; when x > 0.5 then terminate("half"); end when;'
    )
    _load(tmp_path, f"{text} end M;")
    assert main(["simulate", str(tmp_path / "m.mo")]) == 0
    assert "the model ended the run at 0.5 s: half" in capsys.readouterr().out


NOISE = """
model M "What no pass gives again to the last digit"
  Real x(start = 1, fixed = true), z;
  discrete Real d(start = 0, fixed = true);
equation
  der(x) = -x;
  z = x*(1 + 1e-12*cos(1e13*pre(z)));
  when sample(0.1, 0.1) then
    d = z;
  end when;
end M;
"""


@pytest.mark.filterwarnings("ignore:.*S295")
def test_passes_settle_where_rounding_alone_is_left(tmp_path: Path) -> None:
    result = _load(tmp_path, NOISE).simulate(stop=0.95)
    assert result.final("d") == pytest.approx(np.exp(-0.9), rel=1e-5)


def _load(folder: Path, text: str) -> kilohertz.Model:
    file = folder / "m.mo"
    file.write_text(text)
    return kilohertz.load(file)
