"""Golden cases: Flat text in, Step text out."""

from __future__ import annotations

from typing import Any

import pytest

from kilohertz.driver.pipeline import compile_flat
from kilohertz.ir import read_flat
from kilohertz.ir.text.step_printer import print_step


@pytest.mark.golden("step.case")
def test_step(case: Any) -> None:
    case.check(print_step(compile_flat(read_flat(case.text)), helpers=False))
