"""Times as users write them: a number of seconds, or a text with a unit."""

from __future__ import annotations

_UNITS = {"": 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0}
EXAMPLES = '0.5, "1ms" or "250us"'


def seconds(value: object) -> float:
    """A duration with an optional unit (0.5, "1ms", "250us"); ValueError where it is none."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, str):
        raise ValueError(value)
    text = value.strip()
    number = text.rstrip("abcdefghijklmnopqrstuvwxyzµ")
    unit = text[len(number) :]
    if text in ("inf", "nan") or unit not in _UNITS:
        raise ValueError(value)
    return float(number) * _UNITS[unit]
