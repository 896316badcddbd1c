"""Values of arrays as users give them: lists, or texts such as `{1, 2}`; element by element."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any


def parts(value: Any) -> list[Any] | None:
    """The elements of an array: a list, anything with `tolist`, or a text `{1, 2}`; None where it is none."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, str):
        text = value.strip()
        return _split(text[1:-1]) if text.startswith("{") and text.endswith("}") else None
    return list(value) if isinstance(value, Sequence) else None


def _split(text: str) -> list[str]:
    """What commas part, but not those inside of braces or quotes."""
    found, depth, quoted, at = [], 0, False, 0
    for k, c in enumerate(text):
        quoted ^= c == '"'
        depth += 0 if quoted else (c == "{") - (c == "}")
        if c == "," and depth == 0 and not quoted:
            found.append(text[at:k])
            at = k + 1
    stripped = [p.strip() for p in (*found, text[at:])]
    return [p[1:-1] if p.startswith('"') and p.endswith('"') and len(p) > 1 else p for p in stripped]


def elements(name: str, given: list[Any], before: tuple[int, ...] = ()) -> Iterator[tuple[str, Any]]:
    """`a[1,2]` and its value, row by row."""
    for k, part in enumerate(given, 1):
        inner = parts(part)
        if inner is None:
            yield f"{name}[{','.join(map(str, (*before, k)))}]", part
        else:
            yield from elements(name, inner, (*before, k))
