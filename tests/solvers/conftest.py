"""Programs of the test problems, compiled once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from kilohertz import load
from kilohertz.simulate import Program


@cache
def _program(file: str, name: str) -> Program:
    return load(f"{Path(__file__).parent / file}:{name}").compile()


@pytest.fixture
def program() -> Callable[[str, str], Program]:
    """Compile a class of a file beside the tests."""
    return _program
