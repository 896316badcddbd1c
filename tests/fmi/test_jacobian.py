"""Model Exchange off-line: the Jacobian from directional derivatives, or from differences along colours."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kilohertz import load
from kilohertz.driver import export, open_job, simulate_fmu
from kilohertz.fmi import wrapped_in_cache
from kilohertz.fmi.importing.archive import opened
from kilohertz.fmi.importing.jacobian import jacobian_plan

MODEL = """\
model Chain "Each state has two neighbours"
  Real x[6](each start = 1, each fixed = true);
equation
  der(x[1]) = -1000 * x[1] + x[2] ^ 2;
  for i in 2:5 loop
    der(x[i]) = x[i - 1] - 3 * x[i] + x[i + 1] * sin(x[i]);
  end for;
  der(x[6]) = x[5] - x[6] ^ 3;
end Chain;
"""
OFFERED = {2: "providesDirectionalDerivative", 3: "providesDirectionalDerivatives"}


@pytest.mark.parametrize("version", [2, 3])
def test_columns_go_together(version: int, tmp_path: Path) -> None:
    file, chain = tmp_path / "Chain.mo", tmp_path / "Chain.fmu"
    file.write_text(MODEL, encoding="utf-8")
    export(load(file), chain, fmi=version, kinds=("me",), solver="rk4", step=1e-4)
    without = changed(chain, f'{OFFERED[version]}="true"', f'{OFFERED[version]}="false"')
    dense = changed(without, "dependencies=", "ignored=")
    plans = []
    for path in (chain, without, dense):
        with opened(path) as fmu:
            plan = jacobian_plan(fmu.description)
        assert plan is not None
        plans.append((plan["directional"], len(plan["groups"])))
    assert plans == [(True, 3), (False, 3), (False, 6)]
    runs = [simulate_fmu(p, stop=1.0, intervals=20, tolerance=1e-9) for p in (chain, without, dense)]
    for run in runs[1:]:
        for i in range(1, 7):
            assert np.allclose(run[f"x[{i}]"], runs[0][f"x[{i}]"], rtol=0, atol=1e-7)


def test_a_task_makes_one_call_for_each_colour(tmp_path: Path) -> None:
    file, chain = tmp_path / "Chain.mo", tmp_path / "Chain.fmu"
    file.write_text(MODEL.replace("x[5] - x[6] ^ 3", "x[5] - x[6] ^ 3 + sin(50 * time)"), encoding="utf-8")
    export(load(file), chain, fmi=3, kinds=("me",), solver="rk4", step=1e-4)
    without = changed(chain, 'providesDirectionalDerivatives="true"', 'providesDirectionalDerivatives="false"')
    exact = simulate_fmu(chain, stop=0.2, intervals=200, tolerance=1e-10)
    dense = changed(without, "dependencies=", "ignored=")
    for path, is_symbolic in ((chain, True), (without, True), (dense, False)):
        wrapped = wrapped_in_cache(path, ("x*",))
        assert ("|0 1 2 0 1 2|0,1 0,1,2 1,2,3 2,3,4 3,4,5 4,5" in wrapped.path.read_text()) == is_symbolic
        step = load(f"{wrapped.path}:{wrapped.class_name}").process()
        assert (step.directional is not None) == is_symbolic, step.no_directional
        job = open_job(f"{path}:x*", duration=0.2)
        result = replace(job, scenario=replace(job.scenario, scale=None)).run(check=False).result
        for i in range(1, 7):  # the first is faster than a step: it counts when it has come to rest
            late = np.asarray(exact.time) > 0.02
            assert np.allclose(result[f"'x[{i}]'"][late], exact[f"x[{i}]"][late], rtol=0, atol=1e-4)


def changed(fmu: Path, before: str, after: str) -> Path:
    """The same FMU with another text in its description."""
    path = fmu.with_name(f"{fmu.stem}_.fmu")
    with zipfile.ZipFile(fmu) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "modelDescription.xml":
                assert before.encode() in data
                data = data.replace(before.encode(), after.encode())
            new.writestr(name, data)
    return path
