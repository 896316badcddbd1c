"""A model that is built once for all tests of this room."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kilohertz.driver import load
from kilohertz.realtime import Built, ModelCode, Scenario, build, plain_scenario

MODEL = "Kilohertz.Examples.RCCircuit"
Build = Callable[[Scenario], Built]


@pytest.fixture(scope="session")
def rc() -> ModelCode:
    model = load(MODEL)
    return ModelCode(model.process(), model.session.libraries.sources)


@pytest.fixture
def scenario(request: pytest.FixtureRequest) -> Scenario:
    """The RC circuit at 1 kHz for 0.2 s, under a name of its own, without asking for privileges."""
    plain = plain_scenario(MODEL, solver="rk4", duration=0.2)
    name = "".join(c if c.isalnum() else "_" for c in request.node.name)[-40:]
    return replace(plain, name=f"t{name}", realtime=replace(plain.realtime, priority=0, lock_memory=False, grace=10))


@pytest.fixture
def make(rc: ModelCode, tmp_path: Path) -> Build:
    """Build a scenario whose tasks all have the RC circuit as their model."""
    return lambda s: build(s, [rc] * len(s.tasks), tmp_path / "built")
