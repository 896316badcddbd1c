"""What drives the inputs of an FMU, instant by instant."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from kilohertz.fmi.importing.driving import driven_steps
from kilohertz.simulate import Inputs


def test_inputs_that_are_no_reals_get_the_nearest_whole_number() -> None:
    variables: Any = [SimpleNamespace(name="n", type="Integer"), SimpleNamespace(name="u", type="Real")]
    lines = Inputs({"n": ([0, 1], [0, 4]), "u": ([0, 1], [0, 4])}, "linear")
    steps = driven_steps(lines, variables, [0.0, 0.1, 0.2, 0.5, 0.9], 1.0)
    assert [s.get("n") for s in steps] == [0, None, 1, 2, 4]
    assert [s.get("u") for s in steps] == [0, 0.4, 0.8, 2, 3.6]
