"""Prices by target: those that were measured hold there, others are on the safe side and say so."""

from __future__ import annotations

import json
import platform
from pathlib import Path

import pytest

from kilohertz import load
from kilohertz.cost import Target, cost_bound, reference, target_for
from kilohertz.cost.targets import GROUPS, targets
from kilohertz.driver.analysing.analysis_text import bound_lines
from kilohertz.solvers import StepSettings
from kilohertz.toolchain import Compiler

RK4, ROS = StepSettings("rk4"), StepSettings("ros34pw2")
MODEL = Path(__file__).parents[1] / "solvers" / "axis.mo:Axis.Closed"


def test_the_reference_has_its_prices_as_they_stand() -> None:
    assert reference().factors == (1.0,) * len(GROUPS)
    assert all(t.fit is not None and t.fit.least >= 1.0 and t.fit.measured > 20 for t in targets().values())


def test_a_target_that_was_not_measured_is_dearer_than_all_that_were() -> None:
    step = load(str(MODEL)).process()
    unknown = target_for("tcc", "riscv64")
    most = cost_bound(step, ROS, target=unknown)["worst"]["instructions"]
    assert all(cost_bound(step, ROS, target=t)["worst"]["instructions"] <= most for t in targets().values())


def test_the_bound_says_whose_instructions_and_how_well_they_fit() -> None:
    step = load(str(MODEL)).process()
    bound = cost_bound(step, RK4)
    assert json.loads(json.dumps(bound))["prices"]["compiler"] == "gcc"
    assert "instructions of gcc for x86_64: 1." in list(bound_lines(bound))[-1]
    other = cost_bound(step, RK4, target=target_for("tcc", "riscv64"))
    assert list(bound_lines(other))[-1] == (
        "  instructions of tcc for riscv64: not measured there, taken from the dearest of other targets"
    )


def test_each_group_has_its_factor() -> None:
    step = load(str(MODEL)).process()
    whole = cost_bound(step, ROS)["regular"]["instructions"]
    alone = [Target("", "", tuple(float(g == group) for g in GROUPS)) for group in GROUPS]
    assert sum(cost_bound(step, ROS, target=t)["regular"]["instructions"] for t in alone) == whole


@pytest.mark.parametrize(
    ("command", "version", "family"),
    [
        (("cc",), "cc (Debian 12.2.0) 12.2.0", "gcc"),
        (("cc",), "Apple clang version 16.0.0", "clang"),
        (("python", "-m", "ziglang", "cc", "-target", "aarch64-linux-musl"), "clang version 20", "zig"),
    ],
)
def test_a_compiler_knows_its_family_and_what_it_makes(command: tuple[str, ...], version: str, family: str) -> None:
    compiler = Compiler(command, version)
    assert compiler.family == family
    assert compiler.architecture == ("aarch64" if "-target" in command else platform.machine())
