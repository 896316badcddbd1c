"""Names that are close to one that is not there."""

from __future__ import annotations

from collections.abc import Iterable


def closest(name: str, known: Iterable[str], n: int = 3) -> list[str]:
    """At most `n` of the names, the closest first."""
    from difflib import get_close_matches  # for messages alone

    return get_close_matches(name, list(known), n)


def near(name: str, known: Iterable[str]) -> str:
    """`; did you mean ...?` where something is close."""
    close = closest(name, known)
    return f"; did you mean {', '.join(f'`{n}`' for n in close)}?" if close else ""
