"""Names by their parts."""

from __future__ import annotations

import pytest

from kilohertz.base import Dotted


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("x", ("x",)),
        ("axle.clutch1.w", ("axle", "clutch1", "w")),
        ("axle.'my.shaft'[2].w", ("axle", "'my.shaft'[2]", "w")),
        (r"'it\'s.one'.x", (r"'it\'s.one'", "x")),
        ("a[b.n].x", ("a[b.n]", "x")),
        ("der(a.b)", ("der(a.b)",)),
        ("a..b", ("a", "", "b")),
        ("'a'.", ("'a'", "")),
        ("", ("",)),
    ],
)
def test_dots_part_a_name_outside_of_quotes_and_brackets(text: str, parts: tuple[str, ...]) -> None:
    name = Dotted.read(text)
    assert name.parts == parts and str(name) == text
    assert (*name.owner.parts, name.last) == parts
