"""The table of faults: the kinds that C has, the page that is written from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kilohertz.runtime import words
from kilohertz.stimuli import FAULTS
from kilohertz.stimuli.faults import reference_table

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "scenario.md"
BEGIN, END = "<!-- generated from stimuli/faults.py: begin -->\n", "\n<!-- generated from stimuli/faults.py: end -->"


def test_kinds_are_those_of_c_in_their_order() -> None:
    assert tuple(FAULTS) == words("KHZ_FAULT_")


def test_the_page_has_the_tables(request: pytest.FixtureRequest) -> None:
    text = PAGE.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    table, _, tail = rest.partition(END)
    if request.config.getoption("--update-golden"):
        PAGE.write_text(f"{head}{BEGIN}{reference_table()}{END}{tail}", encoding="utf-8")
    assert table == reference_table()
