"""The API page is what the docstrings say, and every public name has one."""

from __future__ import annotations

import api


def test_public_names_have_docstrings() -> None:
    assert api.undocumented() == []


def test_the_page_is_up_to_date() -> None:
    assert api.PAGE.read_text(encoding="utf-8") == api.page(), "run python docs/make/api.py"
