"""A long linear loop in functions of bounded length: the bits of one function."""

from __future__ import annotations

import re

import pytest

from kilohertz.building import model_units
from kilohertz.codegen import Jacobians
from kilohertz.driver.pipeline import compile_flat
from kilohertz.ir import read_flat
from kilohertz.ir.flat import Flat
from kilohertz.simulate import Program, load_program, simulate
from kilohertz.solvers import StepSettings
from kilohertz.toolchain import STRICT

N = 12
VERBS = ("fill", "right", "take", "follow")
AREA = "kilohertz.codegen.linear_systems"


def _chain() -> Flat:
    """Links one on the other with a mass at the end of each."""
    lines = ["model Chain"]
    for i in range(1, N + 1):
        lines += [f"  Real phi{i}(start = {0.4 - 0.01 * i}, fixed = true);", f"  Real w{i}(start = 0.0, fixed = true);"]
        lines += [f"  Real {name}{i};" for name in ("z", "ax", "ay", "fx", "fy")]
    lines.append("equation")
    for i in range(1, N + 1):
        before = (f"ax{i - 1}", f"ay{i - 1}") if i > 1 else ("0.0", "0.0")
        after = (f"fx{i + 1}", f"fy{i + 1}") if i < N else ("0.0", "0.0")
        lines += [
            f"  der(phi{i}) = w{i};",
            f"  der(w{i}) = z{i};",
            f"  ax{i} = {before[0]} + 0.1*(cos(phi{i})*z{i} - sin(phi{i})*w{i}^2.0);",
            f"  ay{i} = {before[1]} + 0.1*(sin(phi{i})*z{i} + cos(phi{i})*w{i}^2.0);",
            f"  fx{i} = {after[0]} + 0.2*ax{i};",
            f"  fy{i} = {after[1]} + 0.2*(ay{i} + 9.81);",
            f"  0.001*w{i} = -0.1*(cos(phi{i})*fx{i} + sin(phi{i})*fy{i});",
        ]
    return read_flat("\n".join([*lines, "end Chain;"]))


@pytest.mark.parametrize("jacobians", [Jacobians.SELDOM, Jacobians.OFTEN])
def test_parts_have_the_bits_of_one_function(jacobians: Jacobians) -> None:
    step = compile_flat(_chain())
    programs: list[Program] = []
    for longest in (10**9, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(f"{AREA}._LONG", longest)
            patch.setattr(f"{AREA}._MOST", 7)
            patch.setattr("kilohertz.cost.rolled.LEAST", 4)
            patch.setattr("kilohertz.cost.rolled.LEAST_OFF_LINE", 4)
            programs.append(load_program(model_units(step, flags=STRICT, jacobians=jacobians)))
    plain, parts = programs
    written = [file.text for file in parts.code.files]
    for verb in VERBS:
        assert not any(f"{verb}_z" in file.text for file in plain.code.files)
        assert len({name for text in written for name in re.findall(rf"\w*_{verb}_z\w*", text)}) > 1, verb
    for solver in ("cvode", "rk4", "ros34pw2", "sdirk2"):
        one, other = (simulate(program, stepping=StepSettings(solver, 1e-2)) for program in (plain, parts))
        assert list(one) == list(other)
        assert len(one.time) > 50
        for name in one:
            assert one[name].tobytes() == other[name].tobytes(), (solver, name)
