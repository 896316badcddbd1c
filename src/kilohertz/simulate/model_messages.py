"""What a model says while it runs: assertions of level warning, warnings and messages of external functions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from kilohertz.base import Diagnostic, Note, Origin, Severity

_MOST = 1000  # kept
_SHOWN = 5  # warnings
_TEXTS = 4  # of one place: a loop has one for each element
_FRACTION = re.compile(r"[-+]?(\d*\.\d+|\d+(?=[eE]))([eE][-+]?\d+)?")


@dataclass(slots=True)
class _Heard:
    place: int
    text: str
    first: float
    last: float
    is_warning: bool
    others: list[str] = field(default_factory=list)  # further texts of its place
    has_more: bool = False


class ModelMessages:
    """Heard from C.  What comes from one place of the model again, or in the same words, is kept once."""

    def __init__(self) -> None:
        self._heard: dict[tuple[int, str], _Heard] = {}

    def hear(self, level: int, place: int, time: float, message: bytes) -> None:
        """The listener of the C runtime; a negative place: external code, which knows none."""
        text = message.decode("utf-8", "replace").rstrip("\n")
        key = (place, "") if place >= 0 else (place, text)
        known = self._heard.get(key)
        if known is not None:
            known.last = time
            _also(known, text)
        elif len(self._heard) < _MOST:
            self._heard[key] = _Heard(place, text, time, time, level != 0)

    def messages(self) -> tuple[str, ...]:
        """What was no warning, with the time at which it was said first."""
        return tuple(f"time = {m.first:g}: {m.text}" for m in self._heard.values() if not m.is_warning)

    def warnings(self, places: Sequence[Origin]) -> list[Diagnostic]:
        """One for each place or text, in the order in which they came."""
        heard = [m for m in self._heard.values() if m.is_warning]
        shown = [_warning(m, places) for m in heard[:_SHOWN]]
        if len(heard) > _SHOWN:
            shown.append(
                Diagnostic("R748", f"{len(heard) - _SHOWN} more warnings of the model", severity=Severity.WARNING)
            )
        return shown


def _words(text: str) -> str:
    """A text without the numbers that a value makes; an Integer may be the index of a loop."""
    return _FRACTION.sub("", text)


def _also(known: _Heard, text: str) -> None:
    if _words(text) in {_words(t) for t in (known.text, *known.others)}:
        return
    if len(known.others) < _TEXTS - 1:
        known.others.append(text)
    else:
        known.has_more = True


def _warning(m: _Heard, places: Sequence[Origin]) -> Diagnostic:
    origin = places[m.place] if 0 <= m.place < len(places) else Origin()
    last = f", last at time = {m.last:g}" if m.last > m.first else ""
    notes = [Note(f"first at time = {m.first:g}{last}")]
    notes += [Note(f"also: {text}") for text in m.others]
    if m.has_more:
        notes.append(Note("and in further words"))
    if origin.path:
        notes.append(Note(f"component `{origin.path}`"))
    span = origin.spans[0] if origin.spans else None
    return Diagnostic("R748", f"the model warns: {m.text}", span, notes=tuple(notes), severity=Severity.WARNING)
