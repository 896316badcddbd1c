"""Systems of FMUs: what an SSP says runs, in order; hostile ones are refused; scenarios go out and come back."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from kilohertz import load
from kilohertz.base import ModelError
from kilohertz.cli.main import main
from kilohertz.driver import check_system, export, export_system, open_system, run, simulate_system
from kilohertz.realtime import read_scenario
from kilohertz.results import Result

MODELS = """\
model Source
  parameter Real rate = 1;
  output Real y(unit = "mm");
equation
  y = 5 + rate * time;
end Source;

model Gain
  parameter Real k = 2;
  parameter Boolean on = true;
  parameter String word = "none";
  input Real u(unit = "m", start = 0);
  output Real y(unit = "m");
equation
  y = if on then k * u else 0;
end Gain;

model Lag
  parameter Real T = 0.1;
  input Real u(unit = "m", start = 0);
  output Real y(unit = "m");
  Real x(start = 0, fixed = true);
equation
  T * der(x) = u - x;
  y = x;
end Lag;
"""
HEAD = """\
<?xml version="1.0" encoding="UTF-8"?>
<ssd:SystemStructureDescription version="{version}" name="rig"
  xmlns:ssd="http://ssp-standard.org/SSP1/SystemStructureDescription"
  xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon"
  xmlns:ssv="http://ssp-standard.org/SSP1/SystemStructureParameterValues"
  xmlns:ssm="http://ssp-standard.org/SSP1/SystemStructureParameterMapping">
<ssd:System name="top">{body}</ssd:System>{units}
<ssd:DefaultExperiment startTime="0" stopTime="{stop}"/>
</ssd:SystemStructureDescription>
"""
NESTED = """
<ssd:ParameterBindings>
 <ssd:ParameterBinding source="resources/values.ssv">
  <ssd:ParameterMapping source="resources/names.ssm"/>
 </ssd:ParameterBinding>
</ssd:ParameterBindings>
<ssd:Elements>
 <ssd:Component name="lag" source="resources/Lag.fmu" implementation="{lag}"/>
 <ssd:System name="inner">
  <ssd:Connectors>
   <ssd:Connector name="in" kind="input"><ssc:Real unit="cm"/></ssd:Connector>
   <ssd:Connector name="out" kind="output"><ssc:Real/></ssd:Connector>
   <ssd:Connector name="k" kind="parameter"><ssc:Real/></ssd:Connector>
  </ssd:Connectors>
  <ssd:ParameterBindings>
   <ssd:ParameterBinding prefix="gain."><ssd:ParameterValues><ssv:ParameterSet version="1.0" name="low"><ssv:Parameters>
    <ssv:Parameter name="k"><ssv:Real value="99"/></ssv:Parameter>
    <ssv:Parameter name="on"><ssv:Boolean value="true"/></ssv:Parameter>
    <ssv:Parameter name="word"><ssv:String value="loud"/></ssv:Parameter>
   </ssv:Parameters></ssv:ParameterSet></ssd:ParameterValues></ssd:ParameterBinding>
  </ssd:ParameterBindings>
  <ssd:Elements><ssd:Component name="gain" source="resources/Gain.fmu"/></ssd:Elements>
  <ssd:Connections>
   <ssd:Connection startConnector="in" endElement="gain" endConnector="u"/>
   <ssd:Connection startConnector="out" startElement="" endElement="gain" endConnector="y"/>
   <ssd:Connection startConnector="k" endElement="gain" endConnector="k"/>
  </ssd:Connections>
 </ssd:System>
 <ssd:Component name="source" source="resources/Source.fmu" type="application/x-fmu-sharedlibrary"/>
</ssd:Elements>
<ssd:Connections>
 <ssd:Connection startElement="inner" startConnector="in" endElement="source" endConnector="y"/>
 <ssd:Connection startElement="inner" startConnector="out" endElement="lag" endConnector="u">
  <ssc:LinearTransformation factor="4" offset="0.5"/>
 </ssd:Connection>
</ssd:Connections>
"""
VALUES = """\
<ssv:ParameterSet version="1.0" name="values" xmlns:ssv="http://ssp-standard.org/SSP1/SystemStructureParameterValues">
<ssv:Parameters>
 <ssv:Parameter name="slope"><ssv:Real value="2" unit="s"/></ssv:Parameter>
 <ssv:Parameter name="strength"><ssv:Real value="3"/></ssv:Parameter>
 <ssv:Parameter name="unmapped"><ssv:Real value="1"/></ssv:Parameter>
</ssv:Parameters></ssv:ParameterSet>
"""
NAMES = """\
<ssm:ParameterMapping version="1.0" xmlns:ssm="http://ssp-standard.org/SSP1/SystemStructureParameterMapping"
  xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon">
 <ssm:MappingEntry source="slope" target="source.rate">
  <ssc:LinearTransformation factor="10" offset="1"/>
 </ssm:MappingEntry>
 <ssm:MappingEntry source="strength" target="inner.k"/>
 <ssm:MappingEntry source="" target="lag.T"/>
</ssm:ParameterMapping>
"""
LOOP = """
<ssd:Elements>
 <ssd:Component name="a" source="resources/Gain.fmu"/>
 <ssd:Component name="b" source="resources/Gain.fmu"/>
</ssd:Elements>
<ssd:Connections>
 <ssd:Connection startElement="a" startConnector="y" endElement="b" endConnector="u"/>
 <ssd:Connection startElement="b" startConnector="y" endElement="a" endConnector="u">
  <ssc:LinearTransformation factor="-0.25" offset="1"/>
 </ssd:Connection>
</ssd:Connections>
"""
SCENARIO = """\
name = "khz_ssp_{name}"
duration = 0.05
time_scale = "max"
exchange = "{exchange}"

[[task]]
name = "lag"
model = "Models.mo:Lag"
solver = "rk4"
set = {{ T = 0.02 }}

[[task]]
name = "gain"
model = "Models.mo:Gain"
step = "2ms"
solver = "euler"
set = {{ on = 1, k = 1.5 }}
inputs = {{ u = 0.25 }}

[[connection]]
from = "lag.y"
to = "gain.u"

[[connection]]
from = "gain.y"
to = "lag.u"
gain = -2
offset = 1

[realtime]
overrun = "skip"
"""


@pytest.fixture(scope="module")
def fmus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the models, and each as an FMU."""
    folder = tmp_path_factory.mktemp("systems")
    (folder / "Models.mo").write_text(MODELS, encoding="utf-8")
    for name in ("Source", "Gain", "Lag"):
        export(load(f"{folder / 'Models.mo'}:{name}"), folder / f"{name}.fmu", solver="rk4", step=1e-3, sources=False)
    return folder


def packed(folder: Path, path: Path, body: str, *, files: dict[str, str] | None = None, **head: str) -> Path:
    """An SSP with all three FMUs."""
    text = HEAD.format(**{"version": "1.0", "units": "", "stop": "0.02", **head, "body": body})
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("SystemStructure.ssd", text)
        for name in ("Source", "Gain", "Lag"):
            archive.write(folder / f"{name}.fmu", f"resources/{name}.fmu")
        for name, content in (files or {}).items():
            archive.writestr(name, content)
    return path


def nested(fmus: Path, path: Path, lag: str = "CoSimulation", **head: str) -> Path:
    files = {"resources/values.ssv": VALUES, "resources/names.ssm": NAMES}
    return packed(fmus, path, NESTED.format(lag=lag), files=files, **head)


def values(result: Result, name: str) -> np.ndarray:
    return np.asarray(result[name])


@pytest.mark.parametrize("lag", ["CoSimulation", "ModelExchange"])
def test_a_nested_system_gives_what_its_equations_say(fmus: Path, tmp_path: Path, lag: str) -> None:
    report = simulate_system(nested(fmus, tmp_path / f"khz_nested_{lag}.ssp", lag, version="2.0"))
    result, t = report.result, np.asarray(report.result.time)
    assert report.ok and len(t) == 21
    millimetres = 5 + 21 * t  # 10 * 2 + 1, from the mapping
    np.testing.assert_allclose(values(result, "source.y"), millimetres, rtol=1e-14)
    metres = 3 * millimetres * 1e-3  # mm to cm to m; k of the outer system wins over that of the inner one
    np.testing.assert_allclose(values(result, "inner.gain.y"), metres, rtol=1e-14)
    u, x = 4 * metres + 0.5, [0.0]
    for held in u[1:]:  # what stands before it in the order has made its step
        x.append(held + (x[-1] - held) * np.exp(-1e-3 / 0.1))
    np.testing.assert_allclose(values(result, "lag.u"), u, rtol=1e-14)
    np.testing.assert_allclose(values(result, "lag.y"), x, rtol=1e-9 if lag == "CoSimulation" else 1e-6)


def test_an_fmu_of_defaults_has_auto_and_a_millisecond(
    fmus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", f"{fmus / 'Models.mo'}:Lag", "-o", str(tmp_path / "L.fmu")]) == 0
    assert "steps of 1 ms" in capsys.readouterr().out


def test_components_are_ordered_by_what_feeds_through(fmus: Path, tmp_path: Path) -> None:
    system = open_system(nested(fmus, tmp_path / "khz_order.ssp"))
    names = [task.name for task in system.scenario.tasks]
    assert names == ["source", "inner.gain", "lag"]
    assert system.loops == ()
    (finding,) = system.findings
    assert finding.code == "R834" and "entries of a parameter mapping without a source: 1" in finding.message
    texts = [task.model for task in system.scenario.tasks]
    assert texts[2].endswith("Lag.fmu@cs") and texts[1].endswith('Gain.fmu(word = "loud")')


def test_an_algebraic_loop_is_named(fmus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = packed(fmus, tmp_path / "khz_loop.ssp", LOOP)
    (loop,) = open_system(path).loops
    assert loop == ("a.y", "b.u", "b.y", "a.u", "a.y")
    assert main(["check", str(path), "--json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["loops"] == 1 and "R835" in said.err and "a.y -> b.u -> b.y -> a.u" in said.err


INNER = """
<ssd:Connectors>
 <ssd:Connector name="in" kind="input"><ssc:Real unit="m"/></ssd:Connector>
 <ssd:Connector name="out" kind="output"><ssc:Real unit="m"/></ssd:Connector>
</ssd:Connectors>
<ssd:ParameterBindings><ssd:ParameterBinding><ssd:ParameterValues><ssv:ParameterSet version="1.0" name="own">
 <ssv:Parameters><ssv:Parameter name="gain.k"><ssv:Real value="5"/></ssv:Parameter></ssv:Parameters>
</ssv:ParameterSet></ssd:ParameterValues></ssd:ParameterBinding></ssd:ParameterBindings>
<ssd:Elements><ssd:Component name="gain" source="{gain}"/></ssd:Elements>
<ssd:Connections>
 <ssd:Connection startConnector="in" endElement="gain" endConnector="u"/>
 <ssd:Connection startElement="gain" startConnector="y" endConnector="out"/>
</ssd:Connections>
"""
OUTER = """
<ssd:Elements>
 <ssd:Component name="source" source="resources/Source.fmu"/>
 <ssd:Component name="first" source="resources/inner.ssd" type="application/x-ssp-definition"/>
 <ssd:Component name="second" source="resources/inner.ssp" type="application/x-ssp-package">
  <ssd:ParameterBindings><ssd:ParameterBinding><ssd:ParameterValues><ssv:ParameterSet version="1.0" name="outer">
   <ssv:Parameters><ssv:Parameter name="gain.k"><ssv:Real value="7"/></ssv:Parameter></ssv:Parameters>
  </ssv:ParameterSet></ssd:ParameterValues></ssd:ParameterBinding></ssd:ParameterBindings>
 </ssd:Component>
</ssd:Elements>
<ssd:Connections>
 <ssd:Connection startElement="source" startConnector="y" endElement="first" endConnector="in"/>
 <ssd:Connection startElement="first" startConnector="out" endElement="second" endConnector="in"/>
</ssd:Connections>
"""


def test_systems_in_files_of_their_own(fmus: Path, tmp_path: Path) -> None:
    inner = packed(fmus, tmp_path / "khz_inner.ssp", INNER.format(gain="resources/Gain.fmu"))
    beside = HEAD.format(version="1.0", units="", stop="1", body=INNER.format(gain="Gain.fmu"))
    path = packed(fmus, tmp_path / "khz_outer.ssp", OUTER, files={"resources/inner.ssd": beside})
    with zipfile.ZipFile(path, "a") as archive:
        archive.write(inner, "resources/inner.ssp")
    result = simulate_system(path).result
    metres = (5 + np.asarray(result.time)) * 1e-3
    np.testing.assert_allclose(values(result, "first.gain.y"), 5 * metres, rtol=1e-14)
    np.testing.assert_allclose(values(result, "second.gain.y"), 35 * metres, rtol=1e-14)  # the outer value wins
    itself = OUTER.replace("resources/inner.ssd", "SystemStructure.ssd")
    endless = packed(fmus, tmp_path / "khz_endless.ssp", itself)
    with pytest.raises(ModelError, match="more than 20 deep") as refused:
        open_system(endless)
    assert refused.value.diagnostics[0].code == "R831"


def test_an_algebraic_loop_settles_if_asked(fmus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = packed(fmus, tmp_path / "khz_settles.ssp", LOOP)
    (finding,) = open_system(path, iterate=10).findings
    assert finding.code == "R835" and "settles in at most 10 turns" in finding.message
    report = simulate_system(path, iterate=10)
    assert report.counts["unsettled"] == 0
    np.testing.assert_allclose(values(report.result, "a.u"), 0.5, rtol=1e-9)  # u = 1 - u: turn by turn it would swing
    np.testing.assert_allclose(values(report.result, "b.y"), 2.0, rtol=1e-9)
    short = simulate_system(path, iterate=2)
    assert short.counts["unsettled"] == 21 and "did not settle at the end of 21 periods" in short.as_text()
    told = LOOP.replace('Gain.fmu"', 'Gain.fmu" implementation="CoSimulation"')
    stepped = packed(fmus, tmp_path / "khz_stepped.ssp", told)
    (finding,) = open_system(stepped, iterate=10).findings
    assert "not all of it settles" in finding.message and "`a`, `b` is Co-Simulation" in finding.message
    out = tmp_path / "out.csv"
    assert main(["simulate", str(path), "--iterate", "10", "--stop", "0.01", "-o", str(out), "-q"]) == 0
    assert out.is_file()
    assert main(["run", str(path), "--iterate", "-1"]) == 2
    assert main(["simulate", f"{fmus / 'Models.mo'}:Lag", "--iterate", "3"]) == 1
    assert "`--iterate` is for a system of FMUs" in capsys.readouterr().err


def test_models_and_fmus_settle_together(fmus: Path, tmp_path: Path) -> None:
    """A lag of ours with feed-through around a gain that is an FMU."""
    (tmp_path / "Around.mo").write_text(
        "model Around input Real u(start = 0); output Real y; Real x(start = 1, fixed = true);\n"
        "equation der(x) = -x; y = x - sin(u); end Around;\n",
        encoding="utf-8",
    )
    text = f"""
name = "khz_settle_together"
duration = 0.02
time_scale = "max"
iterate = 30
task = [
  {{ name = "around", model = "{tmp_path / "Around.mo"}:Around", solver = "rk4" }},
  {{ name = "gain", model = "{fmus / "Gain.fmu"}@me", set = {{ k = 3 }} }},
]
connection = [{{ from = "around.y", to = "gain.u" }}, {{ from = "gain.y", to = "around.u" }}]
"""
    (tmp_path / "settle.toml").write_text(text, encoding="utf-8")
    report = run(tmp_path / "settle.toml", check=False)
    result = report.result
    u, x = values(result, "around.u"), values(result, "around.x")
    assert report.counts["unsettled"] == 0
    np.testing.assert_allclose(u, 3 * (x - np.sin(u)), rtol=1e-8)  # a gain of 3
    np.testing.assert_allclose(x, np.exp(-np.asarray(result.time)), rtol=1e-9)


def test_commands_take_systems(fmus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = nested(fmus, tmp_path / "khz_commands.ssp")
    assert main(["check", str(path)]) == 0
    assert "top: a system of FMUs" in (said := capsys.readouterr().out) and "inner.gain: FMI 2" in said
    out = tmp_path / "out.csv"
    assert main(["simulate", str(path), "--stop", "0.01", "--set", "source.rate=7", "-o", str(out)]) == 0
    assert "11 rows" in capsys.readouterr().out and "source.y" in out.read_text(encoding="utf-8").splitlines()[0]
    assert main(["simulate", str(path), "--intervals", "5"]) == 1
    assert "R723" in capsys.readouterr().err
    assert main(["run", str(path), "--fast", "--no-check", "-q"]) == 0


@pytest.mark.parametrize("exchange", ["parallel", "sequential"])
def test_a_scenario_goes_out_and_comes_back_with_its_bits(fmus: Path, exchange: str) -> None:
    file = fmus / f"{exchange}.toml"
    file.write_text(SCENARIO.format(name=exchange, exchange=exchange), encoding="utf-8")
    ours = run(file, check=False).result
    written = export_system(read_scenario(file), fmus / f"khz_back_{exchange}.ssp")
    assert written.n_connections == 2 and [d.code for d in written.warnings] == ["R836"]
    back = simulate_system(written.path).result
    for name in ("lag.y", "lag.u", "gain.y", "gain.u"):
        assert values(ours, name).tobytes() == values(back, name).tobytes(), name
    _, reports = check_system(written.path)
    assert all(report.ok for report in reports.values())


CONNECTED = "<ssd:Elements>{elements}</ssd:Elements><ssd:Connections><ssd:Connection {ends}/></ssd:Connections>"
ONE = '<ssd:Component name="{name}" source="{source}" {more}>{inside}</ssd:Component>'
WIRED = 'startElement="s" startConnector="y" endElement="g" endConnector="u"'
UNIT = '<ssd:Connectors><ssd:Connector name="u" kind="input"><ssc:Real unit="{unit}"/></ssd:Connector></ssd:Connectors>'

GIVEN = """<ssd:ParameterBindings><ssd:ParameterBinding><ssd:ParameterValues><ssv:ParameterSet version="1.0" name="p">
<ssv:Parameters><ssv:Parameter name="{name}">{value}</ssv:Parameter></ssv:Parameters></ssv:ParameterSet>
</ssd:ParameterValues></ssd:ParameterBinding></ssd:ParameterBindings>"""


def component(source: str, name: str = "x", more: str = "", inside: str = "") -> str:
    return ONE.format(name=name, source=source, more=more, inside=inside)


def alone(source: str, more: str = "") -> str:
    return f"<ssd:Elements>{component(source, more=more)}</ssd:Elements>"


def body(ends: str = WIRED, inside: str = "") -> str:
    both = component("resources/Source.fmu", "s") + component("resources/Gain.fmu", "g", inside=inside)
    return CONNECTED.format(elements=both, ends=ends)


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("<ssd:Elements/>", "R831", "no component"),
        (alone("resources/No.fmu"), "R831", "not in the archive"),
        (alone("../x.fmu"), "R831", "no file of the archive"),
        (alone("file:///x.fmu"), "R831", "no file of the archive"),
        (alone("SystemStructure.ssd"), "L327", "component `x`"),
        (alone("resources/Gain.fmu", 'type="a/b"'), "R831", "a/b"),
        ('<ssd:Elements><ssd:SignalDictionaryReference name="x"/></ssd:Elements>', "R831", "SignalDictionaryReference"),
        (body('startElement="s" startConnector="z" endElement="g" endConnector="u"'), "R832", "no variable `z`"),
        (body('startElement="q" startConnector="y" endElement="g" endConnector="u"'), "R832", "the element `q`"),
        (body('startElement="s" startConnector="y" endElement="g" endConnector="y"'), "R832", "both give"),
        (body('startConnector="y" endElement="g" endConnector="u"'), "R832", "no connector `y`"),
        (body(f"{WIRED}/><ssd:Connection {WIRED}"), "R832", "two sources"),
        (body(inside=GIVEN.format(name="k", value='<ssv:String value="much"/>')), "R832", "is Real and gets a text"),
        (body(inside=GIVEN.format(name="word", value='<ssv:Real value="1"/>')), "R832", "is String and gets a number"),
        (body(inside=UNIT.format(unit="furlong")), "R833", "nothing is called `furlong`"),
        (body(inside=UNIT.format(unit="K")), "R833", "does not convert"),
        (body('startElement="s" startConnector="y" endElement="g" endConnector="k"'), "R832", "is a parameter"),
    ],
)
def test_what_makes_no_sense_is_refused(fmus: Path, tmp_path: Path, text: str, code: str, words: str) -> None:
    with pytest.raises(ModelError) as refused:
        open_system(packed(fmus, tmp_path / "khz_hostile.ssp", text))
    assert refused.value.diagnostics[0].code == code and words in str(refused.value)


def test_hostile_archives_are_refused(fmus: Path, tmp_path: Path) -> None:
    entity = '<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>'
    for name, content, code in (
        ("../out.txt", "x", "L327"),
        ("SystemStructure.ssd", entity, "R831"),
        ("SystemStructure.ssd", "<x>", "R831"),
        ("SystemStructure.ssd", "<x/>", "R831"),
        ("SystemStructure.ssd", HEAD.format(version="9.0", units="", stop="1", body=""), "R831"),
        ("other.txt", "x", "R831"),
    ):
        path = tmp_path / "khz_archive.ssp"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(name, content)
        with pytest.raises(ModelError) as refused:
            open_system(path)
        assert refused.value.diagnostics[0].code == code
    (tmp_path / "no.ssp").write_text("no zip", encoding="utf-8")
    for name, code in (("no.ssp", "L327"), ("missing.ssp", "R831")):
        with pytest.raises(ModelError) as refused:
            open_system(tmp_path / name)
        assert refused.value.diagnostics[0].code == code


def test_units_that_a_system_defines_and_values_that_have_no_effect(fmus: Path, tmp_path: Path) -> None:
    units = '<ssd:Units><ssc:Unit name="furlong"><ssc:BaseUnit m="1" factor="201.168"/></ssc:Unit></ssd:Units>'
    binding = """<ssd:ParameterBindings><ssd:ParameterBinding><ssd:ParameterValues>
      <ssv:ParameterSet version="1.0" name="p"><ssv:Parameters>
      <ssv:Parameter name="y"><ssv:Real value="1"/></ssv:Parameter>
      <ssv:Parameter name="nothing"><ssv:Real value="1"/></ssv:Parameter>
      </ssv:Parameters></ssv:ParameterSet></ssd:ParameterValues></ssd:ParameterBinding></ssd:ParameterBindings>"""
    text = body(inside=UNIT.format(unit="furlong") + binding)
    system = open_system(packed(fmus, tmp_path / "khz_units.ssp", text, units=units))
    (connection,) = system.scenario.connections
    assert connection.gain == pytest.approx(1e-3 / 201.168) and connection.offset == 0
    assert [d.code for d in system.findings] == ["R834", "R834"]
