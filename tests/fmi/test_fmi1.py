"""FMI 1, stand-alone Co-Simulation: off-line and as a task, by the functions it had."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hostile_fmu import packed

from kilohertz import ModelError
from kilohertz.driver import check_fmu, open_job, simulate_fmu
from kilohertz.toolchain import find_compiler

XML = """\
<?xml version="1.0"?>
<fmiModelDescription fmiVersion="1.0" modelName="Old" modelIdentifier="Old" guid="{old}" numberOfContinuousStates="1"
  numberOfEventIndicators="0">
<DefaultExperiment startTime="0" stopTime="0.5"/>
<ModelVariables>
 <ScalarVariable name="x" valueReference="0" causality="output"><Real start="1"/></ScalarVariable>
 <ScalarVariable name="same" valueReference="0" alias="alias"><Real/></ScalarVariable>
 <ScalarVariable name="minus" valueReference="0" alias="negatedAlias"><Real/></ScalarVariable>
 <ScalarVariable name="k" valueReference="1" variability="parameter"><Real start="2" fixed="true"/></ScalarVariable>
 <ScalarVariable name="u" valueReference="2" causality="input"><Real start="0"/></ScalarVariable>
 <ScalarVariable name="on" valueReference="0" causality="input" variability="discrete">
  <Boolean start="true"/></ScalarVariable>
</ModelVariables>
<Implementation><CoSimulation_StandAlone><Capabilities/></CoSimulation_StandAlone></Implementation>
</fmiModelDescription>
"""
CODE = r"""
#include <stddef.h>
#include <string.h>
typedef void *C;
typedef struct { void (*log)(C, const char *, int, const char *, const char *, ...); void *(*get)(size_t, size_t);
    void (*put)(void *); void *done; } calls;
typedef struct { double v[3]; char on; calls with; } plant;
const char *Old_fmiGetVersion(void) { return "1.0"; }
C Old_fmiInstantiateSlave(const char *name, const char *guid, const char *where, const char *mime, double timeout,
                          char visible, char interactive, calls with, char logging)
{
    (void)name; (void)timeout; (void)visible; (void)interactive; (void)logging;
    if (strcmp(guid, "{old}") != 0 || strncmp(where, "file://", 7) != 0 || strstr(mime, "x-fmu") == NULL) return NULL;
    plant *p = with.get(1, sizeof *p);
    p->v[0] = 1; p->v[1] = 2; p->on = 1; p->with = with;
    return p;
}
int Old_fmiInitializeSlave(C c, double start, char has_stop, double stop)
{
    plant *p = c;
    if (start != 0 || (has_stop && stop <= 0)) return 3;
    p->with.log(c, "it", 0, "info", "begins");
    return 0;
}
int Old_fmiTerminateSlave(C c) { (void)c; return 0; }
void Old_fmiFreeSlaveInstance(C c) { plant *p = c; p->with.put(p); }
int Old_fmiGetReal(C c, const unsigned *r, size_t n, double *v)
{ plant *p = c; for (size_t i = 0; i < n; i++) v[i] = p->v[r[i]]; return 0; }
int Old_fmiSetReal(C c, const unsigned *r, size_t n, const double *v)
{ plant *p = c; for (size_t i = 0; i < n; i++) p->v[r[i]] = v[i]; return 0; }
int Old_fmiGetBoolean(C c, const unsigned *r, size_t n, char *v)
{ plant *p = c; (void)r; for (size_t i = 0; i < n; i++) v[i] = p->on; return 0; }
int Old_fmiSetBoolean(C c, const unsigned *r, size_t n, const char *v)
{ plant *p = c; (void)r; for (size_t i = 0; i < n; i++) p->on = v[i]; return 0; }
int Old_fmiDoStep(C c, double t, double h, char fresh)
{
    plant *p = c;
    if (t < 0 || !fresh) { p->with.log(c, "it", 3, "error", "time %g", t); return 3; }
    if (p->v[1] < 0) { p->with.log(c, "it", 3, "error", "k is %g", p->v[1]); return 3; }
    if (p->on) p->v[0] += h * (p->v[2] - p->v[1] * p->v[0]);
    return 0;
}
"""


def made(folder: Path, xml: str = XML) -> Path:
    (folder / "old.c").write_text(CODE, encoding="utf-8")
    library = folder / "Old.so"
    command = [*find_compiler().command, "-shared", "-fPIC", "-o", str(library), str(folder / "old.c")]
    subprocess.run(command, check=True, capture_output=True)
    files: dict[str, str | bytes] = {"modelDescription.xml": xml, "binaries/linux64/Old.so": library.read_bytes()}
    return packed(folder, files).rename(folder / "Old.fmu")


def test_an_fmu_of_fmi_1_runs(tmp_path: Path) -> None:
    old = made(tmp_path)
    report = check_fmu(old)
    assert report.ok and report.description.version == 1 and report.counts()["parameter"] == 1
    said = [d.message for d in report.diagnostics]
    assert any("`minus` is the negative of another" in text for text in said)
    assert {f"`Old.fmu` has no function Old_fmi{verb}Integer" for verb in ("Get", "Set")} <= set(said)
    run = simulate_fmu(old, step=0.01, settings={"k": 3.0}, inputs={"u": ([0.0, 0.2, 0.2], [0.0, 0.0, 6.0])})
    x = [1.0]
    for n in range(50):
        x.append(x[-1] + 0.01 * ((6.0 if n >= 20 else 0.0) - 3.0 * x[-1]))
    assert run.ok and np.allclose(run["x"], x, rtol=1e-12) and np.array_equal(run["same"], run["x"])
    assert np.all(simulate_fmu(old, step=0.01, settings={"on": False})["x"] == 1.0)


def test_a_task_of_fmi_1_has_the_bits_of_an_offline_run(tmp_path: Path) -> None:
    old = made(tmp_path)
    settings = {"k": 3.0, "u": 0.5}
    there = simulate_fmu(old, step=1e-3, stop=0.05, settings=settings)
    job = open_job(f"{old}:all", duration=0.05, settings=settings)
    report = replace(job, scenario=replace(job.scenario, scale=None)).run(check=False)
    assert report.ok and report.result["x"].tobytes() == there["x"].tobytes()
    assert np.ptp(report.result["x"]) > 0 and set(report.result["on"]) == {1.0}
    job = open_job(str(old), duration=0.05, settings={"k": -1.0})
    report = replace(job, scenario=replace(job.scenario, name="khz_old_fails", scale=None)).run(check=False)
    assert not report.ok and "Old_fmiDoStep of the FMU `Old` gives `error`: k is -1" in report.as_text()


def test_what_is_not_read_of_fmi_1(tmp_path: Path) -> None:
    behind = made(tmp_path, XML.replace("CoSimulation_StandAlone", "CoSimulation_Tool"))
    with pytest.raises(ModelError, match="a tool behind Co-Simulation"):
        simulate_fmu(behind)
