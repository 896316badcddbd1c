"""Shares as people read them."""

from __future__ import annotations

import pytest

from kilohertz.base import percent


@pytest.mark.parametrize(("share", "words"), [(0.00417, "0.42 %"), (0.123, "12 %"), (1.0, "100 %"), (3.456, "346 %")])
def test_shares_are_told_without_exponents(share: float, words: str) -> None:
    assert percent(share) == words
