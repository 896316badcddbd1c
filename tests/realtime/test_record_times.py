"""`[record] times = true`: each row tells how the cycle before it went."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import kilohertz
from kilohertz.realtime import Recording, plain_scenario

TIMES = ("cycle.lateness", "cycle.compute", "cycle.slack", "cycle.messages")


@pytest.mark.parametrize("wanted", [True, False])
def test_the_times_of_the_cycle_before_stand_in_every_row(tmp_path: Path, wanted: bool) -> None:
    scenario = plain_scenario(
        "Kilohertz.Examples.Decay", step=2e-3, duration=0.2, solver="rk4", name=f"times{wanted:d}"
    )
    scenario = replace(scenario, recording=Recording(signals=("x",), times=wanted))
    report = kilohertz.run(scenario, folder=tmp_path, check=False)
    names = report.result.names
    assert [n in names for n in TIMES] == [wanted] * 4
    if not wanted:
        return
    result = report.result
    late, compute, slack, messages = (result[n][2:] for n in TIMES)  # two rows have no cycle before them
    assert len(late) == 99
    assert (late >= 0).all() and (compute > 0).all()
    assert (slack <= 2e-3 - compute).all()  # what a cycle used is not left of its period
    assert result.unit("cycle.slack") == "s"
    assert (messages == 0).all()  # no device
