"""Golden cases: text in, messages out (errors.case), and the printed form (print.case)."""

from __future__ import annotations

from typing import Any

import pytest

from kilohertz.base import SourceMap, render
from kilohertz.syntax import parse_text, unparse


@pytest.mark.golden("errors.case")
def test_messages(case: Any) -> None:
    """All diagnostics of a text as the user sees them."""
    sources = SourceMap()
    sources.add("case.mo", case.text)
    _, diagnostics = parse_text(case.text, "case.mo")
    case.check("\n".join(render(d, sources) for d in diagnostics))


@pytest.mark.golden("print.case")
def test_printed_form(case: Any) -> None:
    """The text parsed and printed again."""
    stored, diagnostics = parse_text(case.text, "case.mo")
    assert {d.code for d in diagnostics} <= {"P114"}  # an escape that means nothing
    case.check(unparse(stored, case.text))
