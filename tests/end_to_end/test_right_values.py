"""Values and units that make no sense are refused or said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from one_model import write

import kilohertz
from kilohertz.base import ModelError, Severity
from kilohertz.cli import main
from kilohertz.simulate.outside import Bounds, Watch

SETTINGS = """
model M
  type E = enumeration(low, high);
  parameter Integer n(min = 1) = 2;
  parameter Boolean on = true;
  parameter E e = E.low;
  parameter Real k(min = 0, max = 10) = 1;
  Real x(start = 1, fixed = true);
equation
  der(x) = if on then -k*x*n else 0;
end M;
"""


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("n", 2.5, "it is an Integer"),
        ("n", -4, "its min is 1"),
        ("n", 3e9, "it is an Integer"),
        ("on", 2, "it is true or false"),
        ("e", 3, "it is one of low, high, or their numbers from 1 to 2"),
        ("e", 1.5, "it is one of low, high"),
        ("k", -1e-3, "its min is 0"),
        ("k", 11, "its max is 10"),
        ("k", float("nan"), "it is not a number"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(
    model: str, tmp_path: Path, name: str, value: float, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ModelError, match=f"`{name}` cannot be set to .*: {why}"):
        kilohertz.load(write(model, SETTINGS)).simulate(settings={name: value})
    scenario = tmp_path / "unfit.toml"
    scenario.write_text(f'model = "{model}"\nsolver = "rk4"\nduration = "10ms"\n[set]\n{name} = {value}\n')
    assert main(["run", str(scenario), "--fast", "--no-check"]) == 1
    said = capsys.readouterr().err
    assert "R744" in said or "R741" in said or "R742" in said


def test_settings_that_fit_are_taken(model: str) -> None:
    found = kilohertz.load(write(model, SETTINGS))
    result = found.simulate(settings={"n": 3, "on": True, "e": "high", "k": 10})
    assert result.ok and result.problems == ()


HEAVY = """model M
  parameter Real m(unit="kg", min=0.1) = 5;
  parameter Real T(unit="K") = 300;
  Real y = m + 0*T;
end M;"""


@pytest.mark.parametrize(
    ("name", "value", "meant"),
    [("m", "5", 5.0), ("m", "500 g", 0.5), ("m", "2t", 2000.0), ("m", "1e3 g", 1.0), ("T", "20 degC", 293.15)],
)
def test_a_setting_may_have_a_unit(model: str, name: str, value: str, meant: float) -> None:
    result = kilohertz.load(write(model, HEAVY)).simulate(settings={name: value})
    assert result.parameters[name] == pytest.approx(meant, rel=1e-14)


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("m", "5 m", "`m` .* does not convert to `kg`"),
        ("m", "5 blorks", "`blorks` is no unit"),
        ("m", "50 g", "its min is 0.1"),
        ("m", "heavy", "it is not a number"),
        ("m", "5 6", "`6` is no unit"),
    ],
)
def test_a_setting_with_another_unit_is_refused(
    model: str, tmp_path: Path, name: str, value: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ModelError, match=f"`{name}` cannot be set to {value}: .*{why}"):
        kilohertz.load(write(model, HEAVY)).simulate(settings={name: value})
    scenario = tmp_path / "heavy.toml"
    scenario.write_text(f'model = "{model}"\nsolver = "rk4"\nduration = "10ms"\n[set]\n{name} = "{value}"\n')
    assert main(["run", str(scenario), "--fast", "--no-check"]) == 1
    assert main(["run", model, "--set", f"{name}={value}", "--solver", "rk4", "--fast", "--no-check"]) == 1
    assert capsys.readouterr().err.count("R744") == 2


def test_a_variable_outside_its_limits_is_said_with_count_and_first_time(model: str) -> None:
    text = (
        "model M Real x(start=1, fixed=true, min=0.5); Real y(max=2) = 4*time; Real z(min=0) = 1e-9*sin(time) - 1e-16;"
        " equation der(x) = -x; end M;"
    )
    result = kilohertz.load(write(model, text)).simulate(stop=1.0, intervals=100)
    assert result.ok
    said = {p.message: p for p in result.problems}
    assert [p.code for p in result.problems] == ["R737"] * 2
    y, x = said
    assert y == "`y` was 2.04 although its max is 2, in 50 of 101 rows"
    assert x.startswith("`x` was 0.49") and x.endswith("although its min is 0.5, in 31 of 101 rows")
    assert said[y].notes[0].text == "first at time = 0.51"
    assert said[y].span is not None


ALIASES = """model M
  parameter Real L = 1;
  parameter Boolean reversal = false;
  Real x(start=0, fixed=true);
  Real y(min=0, max=if reversal then 5 else L) = x;
  Real w = x - 1;
  Real z(max=0.5) = -w;
  Real rest(min=2*L) = 1;
  output Real o = x;
equation
  der(x) = 2;
end M;"""


@pytest.mark.parametrize("record", ["all", "outputs", "x"])
@pytest.mark.parametrize("how", [{}, {"solver": "rk4", "step": 1e-3}])
def test_every_name_has_its_own_limits_recorded_or_not(model: str, record: str, how: dict[str, Any]) -> None:
    result = kilohertz.load(write(model, ALIASES)).simulate(stop=1.0, intervals=100, record=record, **how)
    said = {p.message: p for p in result.problems}
    z, y = (m for m in said if "rest" not in m)
    assert z == "`z` was 1 although its max is 0.5, in 25 of 101 rows"
    assert y == "`y` was 1.02 although its max is 1, in 50 of 101 rows"
    assert said[y].notes[0].text == "first at time = 0.51" and said[y].span is not None
    assert [m for m in said if "rest" in m] == ["`rest` was 1 although its min is 2"]
    if record == "all":
        assert (result.signals["y"].min, result.signals["y"].max) == (0.0, 1.0)
    else:
        assert list(result) == ["o" if record == "outputs" else "x"]  # what was looked at besides is not kept


@pytest.mark.parametrize("settings", [{"s0": 3}, {"stroke": 0.5}, {"half": 3}])
def test_a_setting_outside_limits_that_follow_from_parameters_is_refused(
    model: str, settings: dict[str, float]
) -> None:
    text = (
        "parameter Real stroke = 2; parameter Real s0(min=0, max=stroke) = 1; parameter Real half = 1;"
        " type Warm = Real(min=300); parameter Warm warm = 20; parameter Real other = 1;"
        " parameter Real whole(max=5) = 2*half; Real x(start=s0, fixed=true); equation der(x) = -x*whole;"
    )
    found = kilohertz.load(write(model, f"model M {text} end M;"))
    assert found.simulate(settings={"s0": 2, "half": 2.5}).ok
    assert found.simulate(settings={"other": 2}).ok  # `warm` is outside of its type's limits, whatever is set
    with pytest.raises(ModelError, match="although its max is") as caught:
        found.simulate(settings=settings)
    assert [d.code for d in caught.value.diagnostics] == ["R720"]


@pytest.mark.parametrize("settings", [{"L": 3}, {"reversal": True}])
def test_limits_follow_the_parameters_of_the_run(model: str, settings: dict[str, float]) -> None:
    result = kilohertz.load(write(model, ALIASES)).simulate(stop=1.0, settings=settings)
    assert not any("`y`" in p.message for p in result.problems)


def test_rows_that_come_in_pieces_are_one_run() -> None:
    watch = Watch({"a": (0, 1), "b": (0, -1), "c": (1, 1)}, {"a": Bounds(None, 1.0), "b": Bounds(-0.5, None)})
    for k in range(4):
        rows = np.array([[0.4 * k, np.nan], [np.nan, 9.0]])
        watch.look(np.array([k, k + 0.5]), rows)
    assert [p.message for p in watch.problems()] == [
        "`b` was -0.8 although its min is -0.5, in 2 of 8 rows",
        "`a` was 1.2 although its max is 1, in 1 of 8 rows",
    ]


def test_the_axis_says_that_it_left_its_stroke() -> None:
    axis = kilohertz.load("Kilohertz.Examples.HydraulicAxis.OpenLoop")
    (said,) = axis.simulate(settings={"amplitude": 10}, record="mass.v").problems
    assert said.code == "R737" and said.message.startswith("`cylinder.s` was 0.500")
    assert axis.simulate().problems == ()
    assert kilohertz.load("Kilohertz.Examples.HydraulicAxis.EndStops").simulate().problems == ()


def test_a_task_says_what_was_not_recorded(tmp_path: Path) -> None:
    (tmp_path / "limits_some.mo").write_text(ALIASES.replace("M", "limits_some"))
    scenario = tmp_path / "limits_some.toml"
    text = 'model = "limits_some.mo"\nsolver = "rk4"\nduration = "1s"\ntime_scale = "max"\n[record]\nsignals = ["y"]\n'
    scenario.write_text(text)
    report = kilohertz.run(scenario, check=False)
    assert [d.message for d in report.outside] == ["`y` was 1.002 although its max is 1, in 500 of 1001 rows"]
    assert report.unseen == ("z",)
    assert "not recorded, so not compared with its min and max: z (1 in all)" in report.as_text()


def test_a_task_says_it_too(tmp_path: Path) -> None:
    file = tmp_path / "limits_rt.mo"
    file.write_text("model limits_rt Real x(start=1, fixed=true, min=0.5); equation der(x) = -1; end limits_rt;")
    scenario = tmp_path / "limits_rt.toml"
    scenario.write_text('model = "limits_rt.mo"\nsolver = "rk4"\nduration = "1s"\ntime_scale = "max"\n')
    report = kilohertz.run(scenario, check=False)
    (said,) = report.outside
    assert said.code == "R737" and "in 500 of 1001 rows" in said.message
    assert "although its min is 0.5, in 500 of 1001 rows; first at time = 0.501 s" in report.as_text()


def test_a_constant_that_is_one_may_carry_a_unit(model: str) -> None:
    text = (
        'constant Real unitV(unit = "m/s") = 1; parameter Real a(unit = "N") = 1; parameter Real b(unit = "N.s/m") = 2;'
        ' Real f(unit = "N") = a + b*unitV; Real g(unit = "N") = (a + unitV*b)/1;'
    )
    assert kilohertz.load(write(model, f"model M {text} end M;")).check().diagnostics == ()


LIMITS = [
    ("parameter Real p(min=0) = -1;", "`p` is -1 although its min is 0"),
    ("parameter Real j = 2; parameter Real p(max=5) = 3*j;", "`p` is 6 although its max is 5"),
    ("parameter Real p[2](each min=0) = {1, -1};", "an element of `p` is -1 although its min is 0"),
    ("parameter Real p[2](min={0, 5}) = {1, 4};", "an element of `p` is 4 although its min is 5"),
    ("constant Integer n(max=2) = 3; parameter Real q = n;", "`n` is 3 although its max is 2"),
]


@pytest.mark.parametrize(("declared", "said"), LIMITS)
def test_a_parameter_outside_its_limits_is_refused(model: str, declared: str, said: str) -> None:
    with pytest.raises(ModelError) as caught:
        kilohertz.load(write(model, f"model M {declared} end M;")).check()
    (d,) = caught.value.diagnostics
    assert (d.code, d.message) == ("S343", said) and d.span is not None


@pytest.mark.parametrize("shape", ["", " Real x[integer(k)];"])
def test_what_a_component_is_handed_on_is_warned_of(model: str, shape: str) -> None:
    """Also where it shapes the model, so that only its number is left."""
    inner = f"model A parameter Real k(min = 1.5) = 2;{shape} end A;"
    outer = "model M parameter Real factor = 1; A a(k = factor); end M;"
    (said,) = kilohertz.load(write(model, f"{inner} {outer}") + ":M").check().diagnostics[:1]
    assert said.code == "S343" and said.severity is Severity.WARNING
    with pytest.raises(ModelError, match=r"`a\.k` is 1 although its min is 1\.5"):
        kilohertz.load(write(model, f"{inner} {outer}".replace("= factor", "= 1")) + ":M").check()


def test_a_parameter_within_its_limits_is_fine(model: str) -> None:
    text = (
        "parameter Real p(min=0, max=1) = 1; parameter Real q(min=p) = 1; parameter Real r(min=0); Real x(max=1) = 2;"
    )
    assert kilohertz.load(write(model, f"model M {text} end M;")).check().ok


UNITS = """
model M
  Real x(unit = "m", start = 1, fixed = true);
  Real v(unit = "m/s");
  Real t(unit = "s") = time;
  Real p(unit = "Pa");
  Real T(unit = "K");
  Real q;
  parameter Real g(unit = "m/s2") = 9.81;
  constant Real second(unit = "s") = 1;
  constant Real lapse(unit = "s") = 2;
  connector C Real e(unit = "UNIT"); flow Real f(unit = "W"); end C;
  connector D Real e(unit = "V"); flow Real f(unit = "W"); end D;
  C c; D d;
equation
  der(x) = v;
  T = 300;
  c.f = 1;
  connect(c, d);
  c.e = 0;
  EQUATIONS
end M;
"""


def clashes(model: str, equations: str, unit: str = "V") -> list[str]:
    text = UNITS.replace("EQUATIONS", equations).replace("UNIT", unit)
    found = kilohertz.load(write(model, text))
    found.flatten()
    said = [w for w in found.warnings if w.code == "S342"]
    assert all(w.span is not None for w in said)
    return [w.message for w in said]


@pytest.mark.parametrize(
    ("equations", "said"),
    [
        ("v = x; p = 1e5; q = 1;", "`v` is in m/s, `x` in m"),
        ("v = 1; p = x + t; q = 1;", "`x` is in m, `t` in s"),
        ("v = 1; p = 1e5; q = if x > t then 1 else 0;", "`x` is in m, `t` in s"),
        ("v = g*x; p = 1e5; q = 1;", "`v` is in m/s, `g*x` in m2/s2"),
        ("v = sqrt(g); p = 1e5; q = 1;", "`v` is in m/s, `sqrt(g)` in m(1/2)/s"),
        ("v = max(x, 0)/t^2; p = 1e5; q = 1;", "in m/s2"),
    ],
)
def test_units_that_clash_are_said_with_both(model: str, equations: str, said: str) -> None:
    [message] = clashes(model, equations)
    assert message.startswith("units do not agree: ")
    assert said in message


def test_units_of_connectors_are_compared(model: str) -> None:
    [message] = clashes(model, "v = 1; p = 1e5; q = 1;", "A")
    assert "is in A" in message or "in A" in message
    [message] = clashes(model, "v = 1; p = 1e5; q = 1;", "kV")
    assert "kV" in message


@pytest.mark.parametrize(
    "equations",
    [
        "v = g*t; p = 1e5; q = x;",
        "v = x/t + 2*v - v; p = 273.15*x; q = T;",
        "v = sqrt(2*g*x); p = 1000*g*x; q = x*t;",
        "v = if x > 1 then g*t else 0; p = abs(p); q = 1;",
        "v = q*x; p = 0.001*x; q = 3;",
        "v = if t < 1 then 1/second*x else 0; p = 1e5; q = 1;",
        "v = 4 + 4*x; p = 1e5; q = 1;",
        "v = x/second + x/(2*second) - x/lapse; p = 1e5; q = 1;",
    ],
)
def test_units_that_may_agree_are_not_said(model: str, equations: str) -> None:
    assert clashes(model, equations) == []


OF_C = """
model M
  function room input Real x; output Real y;
  external "C" y = fabs(x) annotation(Include = "#include <math.h>"); end room;
  parameter Real stroke = 2; parameter Real most = room(stroke); parameter Real s0(max = most) = 1;
  Real x(start = s0, fixed = true, max = most); Real z(max = 0.5) = x; equation der(x) = -x;
end M;
"""


def test_limits_that_only_the_model_can_compute(model: str) -> None:
    found = kilohertz.load(write(model, OF_C.replace("= most)", "= room(stroke))")))
    said = [d for d in found.simulate(stop=0.1).problems if d.code == "R797"]
    assert [d.message for d in said] == ["`s0` was not compared with its max, and so 1 more"]
    assert said[0].span is not None and "external function" in said[0].notes[0].text
    computed = kilohertz.load(write(model, OF_C)).simulate(stop=0.1)  # with a parameter between, the run has its value
    assert [d.code for d in computed.problems] == ["R737"]


@pytest.mark.parametrize("settings", [{"s0": 3}, {"half": 3}, {"one": 7}])
def test_a_task_refuses_what_a_run_offline_refuses(tmp_path: Path, settings: dict[str, float]) -> None:
    text = (
        "parameter Real stroke = 2; parameter Real s0(min = 0, max = stroke) = 1; parameter Real half = 1;"
        " parameter Real whole(max = 5) = 2*half; parameter Real one = 1; parameter Real twin(max = 6) = one;"
        " Real x(start = s0, fixed = true); equation der(x) = -x*whole*twin;"
    )
    file = tmp_path / "limits_set.mo"
    file.write_text(f"model limits_set {text} end limits_set;")
    found = kilohertz.load(file)
    said = []
    for way in (found.simulate, found.run):
        with pytest.raises(ModelError, match="although its max is") as caught:
            way(solver="rk4", step=1e-3, settings=settings)
        said.append([(d.code, d.message) for d in caught.value.diagnostics])
    assert said[0] == said[1] and said[0][0][0] == "R720"


def test_a_parameter_that_no_initial_equation_gives_a_value(model: str) -> None:
    text = (
        "parameter Real p(fixed = false), q(fixed = false, start = 3), r(fixed = false);"
        " Real x(start = 1, fixed = true); initial equation r = 2; equation der(x) = -p*q*r*x;"
    )
    found = kilohertz.load(write(model, f"model M {text} end M;"))
    found.compile()
    assert [(d.code, d.message) for d in found.warnings] == [
        ("B214", "parameter `p` has neither a value nor a start: 0.0 is taken")
    ]


def test_a_start_that_stands_in_for_a_value_may_name_parameters_declared_later(model: str) -> None:
    text = "parameter Real b(start = 2*a); final parameter Real c = -b; parameter Real a = d + 1; parameter Real d = 2;"
    loaded = kilohertz.load(write(model, f"model M {text} end M;"))
    assert loaded.simulate(stop=1).parameters == {"a": 3, "b": 6, "c": -6, "d": 2}
    assert loaded.simulate(stop=1, settings={"d": 4}).parameters == {"a": 5, "b": 10, "c": -10, "d": 4}
    assert loaded.simulate(stop=1, settings={"b": 1}).parameters == {"a": 3, "b": 1, "c": -1, "d": 2}


WRONG_INVERSE = """
model M
  function cube input Real x; output Real y; algorithm y := x^3; annotation(inverse(x = twice(y))); end cube;
  function twice input Real y; output Real x; algorithm x := 2*y; end twice;
  Real x(start = 1);
equation
  cube(x) = 8 + 19*time;
end M;
"""


def test_an_inverse_that_is_none_is_not_used(model: str) -> None:
    found = kilohertz.load(write(model, WRONG_INVERSE))
    result = found.simulate(stop=1)
    assert [d.message for d in found.warnings] == [
        "`M.twice` is not the inverse that `M.cube` names it, and is not used"
    ]
    assert result["x"][[0, -1]] == pytest.approx([2, 3], rel=1e-6)


FUNCTIONS = """
package P
  type Length = Real(unit = "m");
  function speed input Length x; input Real t(unit = "s") = 1; output Real v(unit = "m/s"); algorithm v := x/t;
  end speed;
  function both input Length x; output Length a; output Real b(unit = "s"); algorithm a := x; b := 1; end both;
  function wrong input Length x; output Real t(unit = "s"); protected Real h(unit = "s"); algorithm h := x; t := h;
  end wrong;
  model M
    Length x = 1; Real t(unit = "s") = 2; Real v(unit = "m/s"); Real q;
  EQUATIONS
  end M;
end P;
"""


@pytest.mark.parametrize(
    ("equations", "said"),
    [
        ("equation v = speed(t, t); q = 1;", "`t` is in s, `P.speed.x` in m"),
        ("equation v = 1; q = if speed(x) > x then 1 else 0;", "is in m/s, `x` in m"),
        ('Real a(unit = "s"), b(unit = "s"); equation v = 1; q = 1; (a, b) = both(x);', "`a` is in s, `P.both.a` in m"),
        ("equation v = 1; q = wrong(x);", "`h` is in s, `x` in m"),
        ('Real a(unit = "s"); equation v = 1; q = 1; algorithm a := x;', "`a` is in s, `x` in m"),
    ],
)
def test_units_go_through_functions_and_algorithms(model: str, equations: str, said: str) -> None:
    found = kilohertz.load(f"{write(model, FUNCTIONS.replace('EQUATIONS', equations))}:P.M")
    found.flatten()
    [message] = [w.message for w in found.warnings if w.code == "S342"]
    assert said in message


@pytest.mark.parametrize(
    "equations",
    [
        "equation v = speed(2*x, t); q = speed(3, 4);",
        "equation v = speed(x/x, q); q = speed(q*x);",
        "equation v = 1; q = if speed(x/x) > t then 1 else 0;",
        'Length a; Real b(unit = "s"); equation v = 1; q = 1; (a, b) = both(x);',
    ],
)
def test_units_that_functions_take_are_not_said(model: str, equations: str) -> None:
    found = kilohertz.load(f"{write(model, FUNCTIONS.replace('EQUATIONS', equations))}:P.M")
    found.flatten()
    assert [w.message for w in found.warnings if w.code == "S342"] == []


def test_a_clash_in_a_class_is_said_once(model: str) -> None:
    part = 'model A Real x(unit = "m") = 1; Real t(unit = "s"); equation t = x; end A;'
    turns = 'function f input Real u[2](each unit = "m"); output Real y[2](each unit = "s"); algorithm'
    turns += " for i in 1:2 loop y[i] := u[i]; end for; end f;"
    text = f"package P {part} {turns} model M A a, b, c; Real z[2] = f({{1, 2}}); end M; end P;"
    found = kilohertz.load(f"{write(model, text)}:P.M")
    found.flatten()
    of_class, of_loop = [w for w in found.warnings if w.code == "S342"]
    assert "`a.t` is in s, `a.x` in m" in of_class.message
    assert of_class.notes[-1].text == "the same in 2 other components"
    assert "`y[i]` is in s, `u[i]` in m" in of_loop.message
