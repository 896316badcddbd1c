"""Diagnostics print as the style guide shows them."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest

from kilohertz.base import Diagnostic, ModelError, Note, Origin, Severity, SourceMap, Span, render

TEXT = "model M\n  Real x;\n\tground.p.v = 0;\nend M;\n"


@pytest.fixture
def sources() -> SourceMap:
    sources = SourceMap()
    sources.add("motor.mo", TEXT)
    return sources


def span_of(piece: str) -> Span:
    at = TEXT.index(piece)
    return Span("motor.mo", at, at + len(piece))


def test_a_diagnostic_shows_its_line_a_caret_and_notes(sources: SourceMap) -> None:
    diagnostic = Diagnostic(
        "S204",
        "one equation is left without an unknown to solve for",
        span_of("Real x"),
        "`x` is already determined",
        (Note("by this connection", span_of("end M")), Note("and that is all")),
    )
    assert render(diagnostic, sources) == (
        "motor.mo:2:3: error[S204]: one equation is left without an unknown to solve for\n"
        "   2 |   Real x;\n"
        "     |   ^^^^^^ `x` is already determined\n"
        "note: motor.mo:4:1: by this connection\n"
        "note: and that is all"
    )


def test_tabs_before_the_caret_stay_tabs(sources: SourceMap) -> None:
    lines = render(Diagnostic("S1", "m", span_of("ground")), sources).splitlines()
    assert lines[1] == "   3 | \tground.p.v = 0;"
    assert lines[2] == "     | \t^^^^^^"


def test_a_span_over_several_lines_marks_the_first(sources: SourceMap) -> None:
    lines = render(Diagnostic("S1", "m", Span("motor.mo", 0, len(TEXT))), sources).splitlines()
    assert lines[2] == "     | ^^^^^^^"


def test_without_a_place_only_the_message(sources: SourceMap) -> None:
    warning = Diagnostic("L302", "another version", severity=Severity.WARNING)
    assert render(warning, sources) == "warning[L302]: another version"


def test_a_file_that_is_gone_is_still_named(sources: SourceMap) -> None:
    assert render(Diagnostic("L308", "gone", Span("nowhere.mo", 3, 4)), sources) == "nowhere.mo: error[L308]: gone"


def test_the_end_of_the_text_has_a_position(sources: SourceMap) -> None:
    assert sources.position(Span("motor.mo", len(TEXT), len(TEXT))) == (5, 1)


def test_an_error_carries_its_diagnostics() -> None:
    error = ModelError(Diagnostic("P1", "a"), Diagnostic("P2", "b"))
    assert str(error) == "a; b"
    assert [d.code for d in error.diagnostics] == ["P1", "P2"]


def test_origins_remember_passes_and_join() -> None:
    one, two = Origin((Span("a", 0, 1),), "r1"), Origin((Span("a", 0, 1), Span("b", 2, 3)), "r2")
    assert one.touched("tear").touched("tear").passes == ("tear",)
    assert one.joined(two) == Origin((Span("a", 0, 1), Span("b", 2, 3)), "r1")


def test_a_traceback_shows_places_and_notes(tmp_path: Path) -> None:
    file = tmp_path / "motor.mo"
    file.write_text(TEXT)
    error = ModelError(Diagnostic("S204", "one equation is left", Span(str(file), 10, 16), notes=(Note("see there"),)))
    shown = "".join(traceback.format_exception(error))
    assert f"{file}:2:3: error[S204]: one equation is left" in shown
    assert "note: see there" in shown
    assert str(error) == "one equation is left"
