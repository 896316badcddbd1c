"""Where what can be worked out again is kept between runs."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def user_cache() -> Path:
    """$KHZ_CACHE_DIR, or the user's cache folder; it need not be there."""
    chosen = os.environ.get("KHZ_CACHE_DIR")
    return Path(chosen) if chosen else Path(platformdirs.user_cache_dir("kilohertz", appauthor=False))


def is_switched_off() -> bool:
    """Whether KHZ_NO_CACHE asks for everything anew."""
    return os.environ.get("KHZ_NO_CACHE", "0") not in ("", "0")
