"""What is paired with what, in which unit, and what each signal has to meet."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kilohertz.base import ModelError
from kilohertz.compare import Bars, Pair, Rename, Wanted, compare
from kilohertz.compare.signal_expressions import values_of
from kilohertz.compare.signal_pairs import unknown
from kilohertz.ir.builtins import BUILTINS
from kilohertz.results import Result, Signal

T = np.linspace(0, 10, 501)
WAVE = np.sin(T) + 2


def made(columns: dict[str, np.ndarray], units: dict[str, str] | None = None, **parameters: float) -> Result:
    return Result.of_columns("R", T, columns, parameters, units)


def test_common_signals_and_what_only_one_side_has() -> None:
    recording = made({"x": WAVE, "$lateness": 0 * T})
    reference = made({"x": WAVE, "der(x)": np.cos(T)}, k=2.0)
    verdict = compare(recording, reference)
    assert verdict.ok
    assert [p.name for p in verdict.pairing.pairs] == ["x"]
    assert verdict.pairing.only_result == ("$lateness",)
    assert verdict.pairing.only_reference == ("der(x)", "k")


def test_names_as_other_tools_spell_them() -> None:
    dymola = made({"coil.der(i)": WAVE, "body.der(r_0[1])": WAVE, "R.T[1, 2]": WAVE})
    reference = made({"der(coil.i)": WAVE, "der(body.r_0[1])": WAVE, "R.T[1,2]": WAVE})
    for result, other in ((dymola, reference), (reference, dymola)):
        verdict = compare(result, other)
        assert verdict.ok and len(verdict.signals) == 3 and not verdict.pairing.only_result
    asked = compare(dymola, reference, ["der(coil.i)"])
    assert asked.ok and asked.pairing.pairs[0].result == "coil.der(i)"
    blank, plain = (
        Result.of_columns("R", T, {"x": WAVE}, {name: k}) for name, k in (("a[1, 2]", 2.0), ("a[1,2]", 3.0))
    )
    assert compare(blank, plain).pairing.parameters == (("a[1, 2]", 2.0, 3.0),)


def test_names_with_commas_between_them_are_told_apart() -> None:
    assert "--signals 'x' --signals 'y*'" in unknown("x,y*", "", ["x", "yes"]).notes[0].text
    assert not unknown("x,z", "", ["x", "yes"]).notes


def test_parameters_that_differ_are_told() -> None:
    verdict = compare(made({"x": WAVE}, k=2.02, m=1.0), made({"x": WAVE}, k=2.0, m=1.0))
    assert verdict.pairing.parameters == (("k", 2.02, 2.0),)


def test_renames_with_sign_and_unit() -> None:
    result = made({"axis.p": 1e-5 * WAVE, "axis.F": -WAVE}, {"axis.p": "bar", "axis.F": "N"})
    reference = made({"plant.p": WAVE, "plant.F": WAVE}, {"plant.p": "Pa", "plant.F": "N"})
    wanted = Wanted(renames=(Rename("axis.*", "plant.*"), Rename("axis.F", "plant.F", -1)))
    verdict = compare(result, reference, wanted=wanted)
    assert [s.name for s in verdict.signals] == ["plant.p", "plant.F"]
    assert verdict.ok
    assert not compare(result, reference, wanted=Wanted(renames=(Rename("axis.*", "plant.*"),))).ok


def test_units_that_do_not_fit_fail_with_the_reason() -> None:
    reference = made({"x": WAVE}, {"x": "V"})
    other = compare(made({"x": WAVE}, {"x": "A"}), reference).failed[0].reason
    assert other == "`A` (A) does not convert to `V` (m2.kg/(s3.A))"
    assert "nothing is called `furlong`" in compare(made({"x": WAVE}, {"x": "furlong"}), reference).failed[0].reason
    assert compare(made({"x": WAVE}), reference).ok  # a side without a unit has that of the other


def test_expressions_are_compared() -> None:
    result = made({"a.p": WAVE, "b.p": np.ones_like(T)})
    wanted = Wanted(pairs=(Pair("difference", "a.p - b.p", "dp"),))
    verdict = compare(result, made({"dp": WAVE - 1}), wanted=wanted)
    assert (verdict.ok, [s.name for s in verdict.signals]) == (True, ["difference"])


def test_bars_by_signal_and_patterns() -> None:
    result, reference = (
        made({"a.x": WAVE + 0.05, "b.x": WAVE + 0.05, "c": -WAVE}),
        made({"a.x": WAVE, "b.x": WAVE, "c": WAVE}),
    )
    wanted = Wanted(ignore=("c",), special=(("a.*", {"tolerance": 0.05}),))
    verdict = compare(result, reference, wanted=wanted)
    assert [(s.name, s.ok) for s in verdict.signals] == [("a.x", True), ("b.x", False)]
    assert [s.name for s in verdict.worst_first] == ["b.x", "a.x"]
    assert compare(result, reference, wanted=Wanted(only=("a.*",), special=(("a.x", {"tolerance": 0.05}),))).ok


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (Wanted(only=("y.*",)), "no signal of the reference is called `y.*`"),
        (Wanted(special=(("xx", {"rms": 0.1}),)), "no signal of the reference is called `xx`"),
        (Wanted(renames=(Rename("plant.*", "x"),)), "no signal of the result is called `plant.*`"),
    ],
)
def test_a_name_that_means_nothing_is_an_error(wanted: Wanted, message: str) -> None:
    with pytest.raises(ModelError) as caught:
        compare(made({"x": WAVE}), made({"x": WAVE}), wanted=wanted)
    assert caught.value.diagnostics[0].code == "R744"
    assert message in caught.value.diagnostics[0].message


def late(dt: float) -> Result:
    edges = np.sort(np.concatenate([T, [5 + dt]]))
    return Result.of_columns("R", edges, {"x": (edges >= 5 + dt).astype(float), "y": np.sin(edges - dt)})


@pytest.mark.parametrize(
    ("bars", "reason"),
    [
        (Bars(0.1, events=1e-3), "an event 0.015 s late"),
        (Bars(0.1, shift=1e-3), "0.0149 s late"),
        (Bars(0.1, rms=1e-4), "rms error"),
        (Bars(0.1, largest=1e-4), "largest error"),
        (Bars(0.1, mean=1e-5), "mean error"),
        (Bars(0.1, final=1e-4), "final value"),
        (Bars(0.1, time=1e-3), "outside the tube"),
    ],
)
def test_thresholds(bars: Bars, reason: str) -> None:
    verdict = compare(late(0.015), late(0.0), bars=bars)
    assert reason in ", ".join(s.reason for s in verdict.failed)
    assert compare(late(0.0), late(0.0), bars=bars).ok


def test_events_without_a_partner() -> None:
    pulse = Result.of_columns("R", T, {"x": ((T > 3) & (T < 3.05)).astype(float)})
    calm = Result.of_columns("R", T, {"x": 0 * T})
    verdict = compare(calm, pulse, bars=Bars(events=1e-3)).signals[0]
    assert "2 events without a partner" in verdict.reason
    assert (verdict.n_events, verdict.n_events_only_result, verdict.n_events_only_reference) == (0, 0, 2)


def test_a_value_that_cannot_be_is_told() -> None:
    def tank(level: np.ndarray) -> Result:
        return Result("R", T, level[:, None], {"level": Signal(0, 1, "m", "", 0.0, 0.0, None)})

    verdict = compare(tank(0.5 - 0.06 * T), tank(0.5 - 0.05 * T), bars=Bars(tolerance=0.1)).signals[0]
    assert verdict.reason == "outside the tube, below min = 0 at t = 9.18"
    assert compare(tank(0.5 - 0.06 * T), tank(0.5 - 0.06 * T)).ok  # the reference does it too


@pytest.mark.parametrize(
    ("time", "reason"), [(T[:0], "no rows"), (np.where(T > 3, np.nan, T), "a NaN"), (-T, "runs backwards after t = -0")]
)
def test_what_cannot_be_a_reference(time: np.ndarray, reason: str) -> None:
    with pytest.raises(ModelError, match=reason) as caught:
        compare(made({"x": WAVE}), Result.of_columns("bad", time, {"x": time}))
    assert caught.value.diagnostics[0].code == "R761"


def test_every_function_of_scalars_can_be_compared() -> None:
    """The table of functions is the list; where one has no value, it is not a number."""
    columns = {"x": np.array([-0.5, 0.25, 0.75]), "n": np.array([7.0, -7.0, 0.0])}
    result = Result.of_columns("R", np.array([0.0, 1.0, 2.0]), columns)
    for f in BUILTINS.values():
        if f.value is not None and f.count == 1:
            values = values_of(f"{f.name}(x)", result)
            assert values.shape == (3,), f.name
            assert math.isnan(values[0]) == (f.domain[0] > -0.5), f.name
    assert values_of("mod(n, 3)", result).tolist() == [1.0, 2.0, 0.0]
    assert values_of("max(x, 0)", result).tolist() == [0.0, 0.25, 0.75]
    with pytest.raises(ModelError, match="cannot be computed"):
        values_of("sqrt(x, n)", result)
