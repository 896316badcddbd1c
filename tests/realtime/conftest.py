"""Models that are compiled once for all tests of this room, and scenarios with names of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kilohertz.driver import Session
from kilohertz.realtime import Built, ModelCode, Scenario, Task, build, plain_scenario
from kilohertz.solvers import StepSettings

MODEL = "Kilohertz.Examples.RCCircuit"
FILE = Path(__file__).with_name("models.mo")
Build = Callable[[Scenario], Built]

_session = Session()
_codes: dict[str, ModelCode] = {}


def code(model: str) -> ModelCode:
    """A model by its name, or one of models.mo by its short name."""
    if model not in _codes:
        name = model if "." in model else f"{FILE}:Models.{model}"
        own = _session.model(name)
        _codes[model] = ModelCode(own.built(own.process()))
    return _codes[model]


@pytest.fixture
def scenario(request: pytest.FixtureRequest) -> Scenario:
    """The RC circuit at 1 kHz for 0.2 s, under a name of its own, without asking for privileges."""
    return named(request, plain_scenario(MODEL, solver="rk4", duration=0.2))


@pytest.fixture
def lag(request: pytest.FixtureRequest) -> Scenario:
    """The same for the lag, whose input rests at 1."""
    return named(request, plain_scenario("Lag", solver="rk4", duration=0.2, settings={"u": 1.0}))


def named(request: pytest.FixtureRequest, s: Scenario) -> Scenario:
    name = "".join(c if c.isalnum() else "_" for c in request.node.name)[-40:]
    return replace(s, name=f"t{name}", realtime=replace(s.realtime, priority=0, lock_memory=False, grace=10))


@pytest.fixture
def make(tmp_path: Path) -> Build:
    """Build a scenario."""
    return lambda s: build(s, [code(t.model) for t in s.tasks], tmp_path / "built")


def task(name: str, model: str, solver: str = "rk4", every: int = 1, **settings: float) -> Task:
    """A task at a multiple of a millisecond."""
    return Task(name, model, StepSettings(solver, every * 1e-3), every, settings)
