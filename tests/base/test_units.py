"""Units: what a text means, and conversion between two."""

from __future__ import annotations

import math

import pytest

from kilohertz.base.units import UnitError, as_modelica, conversion, parse_unit


@pytest.mark.parametrize(
    ("text", "factor", "dimension"),
    [
        ("", 1.0, "1"),
        ("1", 1.0, "1"),
        ("N.m/rad", 1.0, "m2.kg/s2"),
        ("kg.m2/s2", 1.0, "m2.kg/s2"),
        ("J/(kg.K)", 1.0, "m2/(s2.K)"),
        ("1/K", 1.0, "1/K"),
        ("m3/(s.Pa)", 1.0, "m4.s/kg"),
        ("km/h", 1 / 3.6, "m/s"),
        ("mbar", 100.0, "kg/(m.s2)"),
        ("m-2", 1.0, "1/m2"),
        ("kW.h", 3.6e6, "m2.kg/s2"),
        ("us", 1e-6, "s"),
        ("min", 60.0, "s"),
        ("deg", math.pi / 180, "1"),
        ("V.s/(A.m)", 1.0, "m.kg/(s2.A2)"),
    ],
)
def test_a_text_and_what_it_means(text: str, factor: float, dimension: str) -> None:
    unit = parse_unit(text)
    assert unit.factor == pytest.approx(factor, rel=1e-12)
    assert unit.as_text() == dimension


@pytest.mark.parametrize(
    ("source", "target", "value", "expected"),
    [
        ("bar", "Pa", 1.5, 1.5e5),
        ("degC", "K", 20.0, 293.15),
        ("K", "degC", 273.15, 0.0),
        ("degF", "degC", 212.0, 100.0),
        ("rpm", "rad/s", 60.0, 2 * math.pi),
        ("deg", "rad", 180.0, math.pi),
        ("J/degC", "J/K", 7.0, 7.0),  # a difference of temperature: no offset
    ],
)
def test_conversion(source: str, target: str, value: float, expected: float) -> None:
    factor, offset = conversion(source, target)
    assert factor * value + offset == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("text", ["foo", "N.", "N/", "(N", "N)", "m^2", "N..m", "kg m"])
def test_what_is_no_unit(text: str) -> None:
    with pytest.raises(UnitError, match=r"is no unit|cut short"):
        parse_unit(text)


def test_units_of_different_things_do_not_convert() -> None:
    with pytest.raises(UnitError, match=r"`m` \(m\) does not convert to `s` \(s\)"):
        conversion("m", "s")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("Nm", "N.m"),
        ("Nm/rad", "N.m/rad"),
        ("m/s²", "m/s2"),
        ("kg*m^2", "kg.m2"),
        ("°C", "degC"),
        ("µs", "us"),
        ("nm", "nm"),
        ("[mm]", "mm"),
        ("[-]", "1"),
    ],
)
def test_spellings_of_measuring_tools(text: str, meant: str) -> None:
    assert as_modelica(text) == meant
    assert parse_unit(as_modelica(text)) == parse_unit(meant)
