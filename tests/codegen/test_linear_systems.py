"""A long linear loop in functions of bounded length: the bits of one function."""

from __future__ import annotations

import re

import pytest
from flat_models import chain_in_a_plane

from kilohertz.building import model_units
from kilohertz.codegen import Jacobians
from kilohertz.driver.pipeline import compile_flat
from kilohertz.simulate import Program, load_program, simulate
from kilohertz.solvers import StepSettings
from kilohertz.toolchain import STRICT

N = 12
VERBS = ("fill", "right", "take", "follow")
AREA = "kilohertz.codegen.linear_systems"


@pytest.mark.parametrize("jacobians", [Jacobians.SELDOM, Jacobians.OFTEN])
def test_parts_have_the_bits_of_one_function(jacobians: Jacobians) -> None:
    step = compile_flat(chain_in_a_plane(N))
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
