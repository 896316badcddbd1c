"""Names that are close to one that is not there."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def near(name: str, known: Iterable[str]) -> str:
    """`; did you mean ...?` where something is close."""
    close = difflib.get_close_matches(name, list(known), n=3)
    return f"; did you mean {', '.join(f'`{n}`' for n in close)}?" if close else ""
