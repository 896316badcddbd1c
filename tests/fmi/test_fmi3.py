"""What FMI 3 has and FMI 2 has not: arrays, clocks, intermediate update."""

from __future__ import annotations

import ctypes
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

import numpy as np
import pytest

from kilohertz import ModelError, load
from kilohertz.driver import export, open_job, simulate_fmu

fmpy: Any = pytest.importorskip("fmpy", reason="FMPy is not installed")

STEP = 1e-3
MODEL = """\
model Vectors
  parameter Real k[3] = {1, 2, 3} "Rates";
  parameter Integer m[2, 2] = {{1, 2}, {3, 4}};
  parameter Real odd[2](unit = {"s", "m"}) = {1, 2};
  input Real u[2](start = {0.5, 0.25});
  output Real y[2];
  Real x[2](each start = 1, each fixed = true);
  Real w[2];
  discrete Real c(start = 0, fixed = true);
  discrete Real d(start = 0, fixed = true);
equation
  der(x) = {-k[1] * x[1] + u[1], -k[2] * x[2] + k[3] * u[2] + 0.1 * hold(c)};
  y = {x[1] + u[1], m[2, 1] * x[2]};
  w = {sin(x[1]), cos(x[2])};
  when Clock(0.1) then
    c = previous(c) + sample(x[1]);
  end when;
  when sample(0.05, 0.25) then
    d = pre(d) + x[2];
  end when;
end Vectors;
"""


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vectors")
    (folder / "Vectors.mo").write_text(MODEL, encoding="utf-8")
    model = load(folder / "Vectors.mo")
    export(model, folder / "Vectors.fmu", fmi=3, solver="rk4", step=STEP)
    export(model, folder / "Clocked.fmu", fmi=3, kinds=("me",), clocks=True, solver="rk4", step=STEP)
    export(model, folder / "Both.fmu", fmi=3, clocks=True, solver="rk4", step=STEP)
    return folder


def validated(path: Path) -> list[str]:
    from fmpy.validation import validate_fmu

    found: list[str] = validate_fmu(str(path))
    return found


# --------------------------------------------------------------------------------------------------------------- arrays


def test_elements_that_are_alike_are_one_array(vectors: Path) -> None:
    assert validated(vectors / "Vectors.fmu") == []
    described = fmpy.read_model_description(str(vectors / "Vectors.fmu"))
    shapes = {v.name: tuple(int(d.start) for d in v.dimensions) for v in described.modelVariables}
    assert {n: s for n, s in shapes.items() if s} == {"k": (3,), "m": (2, 2), "u": (2,), "y": (2,), "w": (2,)}
    assert {"x[1]", "der(x[2])", "odd[1]", "odd[2]"} <= set(shapes)  # states, and elements of different units
    often = Exchange(vectors / "Vectors.fmu")
    assert len(often.fmu.getFloat64([often.references["k"]] * 30, nValues=90)) == 90  # more than there are values
    there = fmpy.simulate_fmu(
        str(vectors / "Vectors.fmu"),
        fmi_type="CoSimulation",
        stop_time=0.3,
        output_interval=STEP,
        output=["y", "w"],
        start_values={"k": [1.5, 2, 3], "m": [1, 2, 5, 4]},
    )
    here = load(vectors / "Vectors.mo").simulate(
        solver="rk4", step=STEP, stop=0.3, intervals=300, settings={"k[1]": 1.5, "m[2,1]": 5}
    )
    rows = np.append(np.diff(here.time) > 1e-9, True)
    for name in ("y", "w"):
        for i in (0, 1):
            assert np.array_equal(there[name][:, i], here[f"{name}[{i + 1}]"][rows])


def test_arrays_come_back_by_their_elements(vectors: Path) -> None:
    times = np.array([0.0, 0.1, 0.2])
    given: dict[str, Any] = {"settings": {"k[2]": 5.0, "m[2,1]": 2}, "inputs": {"u[2]": (times, [0.0, 1.0, -1.0])}}
    there = simulate_fmu(vectors / "Vectors.fmu", stop=0.3, **given)
    here = load(vectors / "Vectors.mo").simulate(solver="rk4", step=STEP, stop=0.3, intervals=300, **given)
    rows = np.append(np.diff(here.time) > 1e-9, True)
    for name in ("x[1]", "x[2]", "y[1]", "y[2]", "u[1]", "u[2]", "w[2]", "c", "d"):
        assert np.array_equal(here[name][rows], there[name]), name
    job = open_job(f"{vectors / 'Vectors.fmu'}:x*", duration=0.3, settings=given["settings"])
    task = replace(job, scenario=replace(job.scenario, scale=None)).run(check=False).result
    still = simulate_fmu(vectors / "Vectors.fmu", stop=0.3, settings=given["settings"])
    assert np.array_equal(task["y[2]"], still["y[2]"])
    with pytest.raises(ModelError, match="its elements are set"):
        simulate_fmu(vectors / "Vectors.fmu", settings={"k": 1.0})


# --------------------------------------------------------------------------------------------------------------- clocks


class Exchange:
    """An instance of Model Exchange, stepped by Euler's method."""

    def __init__(self, path: Path) -> None:
        self.described = fmpy.read_model_description(str(path))
        self.references = {v.name: v.valueReference for v in self.described.modelVariables}
        self.fmu = fmpy.instantiate_fmu(fmpy.extract(str(path)), self.described, fmi_type="ModelExchange")
        self.fmu.enterInitializationMode(startTime=0.0)
        self.fmu.exitInitializationMode()
        self.next = np.inf

    def update(self) -> None:
        again = True
        while again:
            again, _, _, _, defined, following = self.fmu.updateDiscreteStates()
            self.next = following if defined else np.inf
        self.fmu.enterContinuousTimeMode()

    def event(self, *clocks: str) -> None:
        self.fmu.enterEventMode()
        self.tick(*clocks)
        self.update()

    def tick(self, *clocks: str) -> None:
        if clocks:
            n = len(clocks)
            references = (ctypes.c_uint32 * n)(*(self.references[c] for c in clocks))
            self.fmu.fmi3SetClock(self.fmu.component, references, n, (ctypes.c_bool * n)(*[True] * n))

    def step(self, time: float) -> None:
        n = self.described.numberOfContinuousStates
        x, xd = (ctypes.c_double * n)(), (ctypes.c_double * n)()
        self.fmu.getContinuousStates(x, n)
        self.fmu.getContinuousStateDerivatives(xd, n)
        for i in range(n):
            x[i] += STEP * xd[i]
        self.fmu.setTime(time)
        self.fmu.setContinuousStates(x, n)
        self.fmu.completedIntegratorStep()

    def values(self) -> list[float]:
        names = ("x[1]", "x[2]", "c", "d")
        return [float(v) for v in self.fmu.getFloat64([self.references[n] for n in names])]


def test_the_importer_makes_clocks_tick(vectors: Path) -> None:
    assert validated(vectors / "Clocked.fmu") == []
    mine, theirs = Exchange(vectors / "Vectors.fmu"), Exchange(vectors / "Clocked.fmu")
    with zipfile.ZipFile(vectors / "Clocked.fmu") as archive:
        clocks = fromstring(archive.read("modelDescription.xml")).findall("ModelVariables/Clock")
    assert {(c.get("causality"), c.get("intervalVariability")) for c in clocks} == {("input", "constant")}
    times = {c.attrib["name"]: (float(c.attrib["intervalDecimal"]), float(c.attrib["shiftDecimal"])) for c in clocks}
    assert times == {"clock[1]": (0.1, 0.0), "clock[2]": (0.25, 0.05)}
    theirs.tick(*(n for n, (_, shift) in times.items() if shift == 0.0))
    for side in (mine, theirs):
        side.update()
    assert theirs.next == np.inf  # the FMU has no time events of its own
    for k in range(1, 601):
        for side in (mine, theirs):
            side.step(k * STEP)
        due = [n for n, (every, shift) in times.items() if (k - round(1e3 * shift)) % round(1e3 * every) == 0]
        due = [n for n in due if k >= 1e3 * times[n][1]]
        if due:
            mine.event()
            theirs.event(*due)
        assert mine.values() == theirs.values()
    assert theirs.values()[2] > 0 and theirs.values()[3] > 0


def test_clocks_are_of_fmi_3(vectors: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="clocks in FMI 3"):
        export(load(vectors / "Vectors.mo"), tmp_path / "No.fmu", fmi=2, clocks=True, solver="rk4", step=STEP)
    outside = Exchange(vectors / "Clocked.fmu")
    outside.update()
    with pytest.raises(Exception, match="fmi3SetClock"):
        outside.tick("clock[1]")  # not in Continuous-Time Mode


class Stepped:
    """An instance of Co-Simulation, with Event Mode or without."""

    def __init__(self, path: Path, *, with_events: bool) -> None:
        described = fmpy.read_model_description(str(path))
        assert described.coSimulation.hasEventMode
        self.references = {v.name: v.valueReference for v in described.modelVariables}
        self.fmu = fmpy.fmi3.FMU3Slave(
            guid=described.instantiationToken,
            unzipDirectory=fmpy.extract(str(path)),
            modelIdentifier=described.coSimulation.modelIdentifier,
        )
        self.fmu.instantiate(eventModeUsed=with_events)
        self.fmu.enterInitializationMode(startTime=0.0)
        self.fmu.exitInitializationMode()

    def tick(self, *clocks: str) -> None:
        n = len(clocks)
        references = (ctypes.c_uint32 * n)(*(self.references[c] for c in clocks))
        self.fmu.fmi3SetClock(self.fmu.component, references, n, (ctypes.c_bool * n)(*[True] * n))
        self.fmu.updateDiscreteStates()

    def step(self, k: int) -> bool:
        """From step k to the next; whether an event asks to be handled."""
        event, *_ = self.fmu.doStep(k * STEP, STEP)
        return bool(event)

    def values(self, *names: str) -> list[float]:
        wanted = names or ("x[1]", "x[2]", "c", "d", "der(x[1])")
        return [float(v) for v in self.fmu.getFloat64([self.references[n] for n in wanted])]


def due(k: int, every: int, shift: int) -> bool:
    return k >= shift and (k - shift) % every == 0


def test_clocks_tick_between_steps_too(vectors: Path) -> None:
    """In Co-Simulation with Event Mode; without it the FMU makes its samples itself.  All have the same bits."""
    assert validated(vectors / "Both.fmu") == []
    plain = Stepped(vectors / "Vectors.fmu", with_events=False)
    silent = Stepped(vectors / "Both.fmu", with_events=False)
    clocked = Stepped(vectors / "Both.fmu", with_events=True)
    clocked.tick("clock[1]")
    clocked.fmu.enterStepMode()
    for k in range(600):
        assert not plain.step(k) and not silent.step(k) and not clocked.step(k)
        ticking = [name for name, times in (("clock[1]", (100, 0)), ("clock[2]", (250, 50))) if due(k + 1, *times)]
        if ticking:
            clocked.fmu.enterEventMode()
            clocked.tick(*ticking)
            clocked.fmu.enterStepMode()
        assert plain.values() == silent.values() == clocked.values()
    assert clocked.values("c")[0] > 0 and clocked.values("d")[0] > 0


def test_a_clock_that_does_not_tick_samples_nothing(vectors: Path) -> None:
    quiet = Stepped(vectors / "Both.fmu", with_events=True)
    quiet.fmu.enterStepMode()
    for k in range(300):
        quiet.step(k)
    assert quiet.values("c", "d") == [0.0, 0.0]
    with pytest.raises(Exception, match="fmi3SetClock"):
        quiet.tick("clock[1]")  # not in Step Mode


LATE = """\
model Late
  Real x(start = 0, fixed = true);
  discrete Real s(start = 0, fixed = true);
  output Boolean b = x > 0.0995;
equation
  der(x) = 1;
  when sample(0.1, 0.1) then
    s = x;
  end when;
end Late;
"""


def test_a_clock_ticks_at_the_end_of_a_step_that_an_event_cut(tmp_path: Path) -> None:
    """With `linear` the state stays at an event inside of the step: what is left of the step comes before the tick."""
    (tmp_path / "Late.mo").write_text(LATE, encoding="utf-8")
    how: dict[str, Any] = {"solver": "rk4", "step": STEP, "events": "linear", "clocks": True}
    export(load(tmp_path / "Late.mo"), tmp_path / "Late.fmu", fmi=3, kinds=("cs",), **how)
    late = Stepped(tmp_path / "Late.fmu", with_events=True)
    late.fmu.enterStepMode()
    asking = [k for k in range(100) if late.step(k)]
    assert asking == [99] and late.values("x", "s") == pytest.approx([0.0995, 0.0])
    late.fmu.enterEventMode()
    late.tick("clock[1]")
    late.fmu.enterStepMode()
    assert late.values("x", "s") == pytest.approx([0.1, 0.1], abs=1e-12)
    late.step(100)
    assert late.values("x") == pytest.approx([0.101], abs=1e-12)


LIMITED = """\
model Limited
  input Real u;
  output Real y;
  output Integer n(start = 0, fixed = true);
  Real x(start = 0, fixed = true);
equation
  der(x) = if u > 1 then 1 else 0;
  y = x + u;
  when x > 0.0105 then
    n = pre(n) + 1;
  end when;
end Limited;
"""


def test_events_in_co_simulation(tmp_path: Path) -> None:
    """What is set in Event Mode counts at once; a step with an event asks for Event Mode; without it neither."""
    (tmp_path / "Limited.mo").write_text(LIMITED, encoding="utf-8")
    export(load(tmp_path / "Limited.mo"), tmp_path / "Limited.fmu", fmi=3, solver="rk4", step=STEP)
    assert validated(tmp_path / "Limited.fmu") == []
    sides = [Stepped(tmp_path / "Limited.fmu", with_events=e) for e in (True, False)]
    asking, counts = [], []
    for side in sides:
        u = [side.references["u"]]
        side.fmu.setFloat64(u, [2.0])
        if side is sides[0]:
            side.fmu.updateDiscreteStates()
            assert side.values("y") == [2.0]
            side.fmu.enterStepMode()
            with pytest.raises(Exception, match="fmi3UpdateDiscreteStates"):
                side.fmu.updateDiscreteStates()
        asking.append([k for k in range(20) if side.step(k)])
        counts.append(int(side.fmu.getInt32([side.references["n"]])[0]))
        with pytest.raises(Exception, match="fmi3EnterStepMode"):
            side.fmu.enterStepMode()
    assert asking == [[10], []] and counts == [1, 1]
    assert sides[0].values("x") == sides[1].values("x")
    with pytest.raises(Exception, match="fmi3EnterEventMode"):
        sides[1].fmu.enterEventMode()


# -------------------------------------------------------------------------------------------------- intermediate update


def test_the_importer_is_called_inside_a_step(vectors: Path) -> None:
    described = fmpy.read_model_description(str(vectors / "Vectors.fmu"))
    assert described.coSimulation.providesIntermediateUpdate
    references = {v.name: v.valueReference for v in described.modelVariables}
    seen: list[tuple[float, float]] = []
    wish: dict[str, float] = {}
    held: list[Any] = []

    def update(
        _: Any, time: float, can_set: bool, can_get: bool, done: bool, can_return: bool, early: Any, at: Any
    ) -> None:
        assert can_set and can_get and done
        seen.append((time, held[0].getFloat64([references["x[1]"]])[0]))
        if "until" in wish and can_return:
            early[0], at[0] = True, wish["until"]

    def made(early: bool) -> Any:
        seen.clear()
        wish.clear()
        fmu = fmpy.fmi3.FMU3Slave(
            guid=described.instantiationToken,
            unzipDirectory=fmpy.extract(str(vectors / "Vectors.fmu")),
            modelIdentifier=described.coSimulation.modelIdentifier,
        )
        callback = fmpy.fmi3.fmi3IntermediateUpdateCallback(update)
        fmu.instantiate(earlyReturnAllowed=early, intermediateUpdate=callback)
        fmu.enterInitializationMode(startTime=0.0)
        fmu.exitInitializationMode()
        held[:] = [fmu, callback]
        return fmu

    fmu = made(early=False)
    fmu.doStep(0.0, 0.005)
    assert [t for t, _ in seen] == pytest.approx([0.001, 0.002, 0.003, 0.004])
    assert [x for _, x in seen] == sorted((x for _, x in seen), reverse=True)
    fmu = made(early=True)
    wish["until"] = 0.003
    *_, early, reached = fmu.doStep(0.0, 0.010)
    assert early and reached == pytest.approx(0.003) and len(seen) == 3
    wish.clear()
    fmu.doStep(reached, 0.007)
    whole = made(early=False)
    whole.doStep(0.0, 0.010)
    x = [references["x[1]"], references["x[2]"]]
    assert list(whole.getFloat64(x)) == list(fmu.getFloat64(x))
