"""Shares as people read them."""

from __future__ import annotations


def percent(share: float) -> str:
    """Two digits, `0.42 %`; from 100 % on whole ones, `346 %`; an exponent from 10 000 % on."""
    return f"{100 * share:.0f} %" if 0.995 <= share < 100 else f"{100 * share:.2g} %"
