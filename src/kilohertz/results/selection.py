"""Which signals are recorded: `all`, `outputs`, names and patterns; the same words off-line and in real time.

Code: R744 nothing has such a name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from fnmatch import fnmatchcase

from kilohertz.base import Diagnostic, near

ALL, OUTPUTS = "all", "outputs"
_ALWAYS = (ALL, OUTPUTS, "time")  # a model may have no output; time is in every row


class Selection:
    """What was asked for; remembers which of it names nothing."""

    def __init__(self, wanted: str | Sequence[str]) -> None:
        self.wanted = (wanted,) if isinstance(wanted, str) else tuple(wanted)
        self._names = {w for w in self.wanted if not _is_pattern(w)}
        # brackets are array subscripts here, not sets of characters
        self._patterns = {w: w.replace("[", "[[]") for w in self.wanted if _is_pattern(w)}
        self._matched: set[str] = set(_ALWAYS)

    def takes(self, name: str, *, is_output: bool, is_in_all: bool = True) -> bool:
        """Is this one recorded?  `outputs` are those that the model declares so, under this name."""
        hits = [p for p, text in self._patterns.items() if fnmatchcase(name, text)] if self._patterns else []
        if name in self._names:
            hits.append(name)
        if hits:
            self._matched.update(hits)
        return bool(hits) or (is_in_all and ALL in self._names) or (is_output and OUTPUTS in self._names)

    def problems(self, known: Iterable[str], others: Collection[str] = ()) -> list[Diagnostic]:
        """One for each name or pattern that nothing has, after `takes` has seen all names; `others` are in the model,
        but results cannot hold them."""
        missing = [w for w in self.wanted if w not in self._matched]
        names = list(known) if missing else []
        return [Diagnostic("R744", _nothing(w, names, others)) for w in missing]


def _nothing(wanted: str, names: Sequence[str], others: Collection[str]) -> str:
    if wanted in others:
        return f"`{wanted}` is no number: results hold numbers only"
    return f"nothing to record is called `{wanted}`{near(wanted, names)}"


def _is_pattern(text: str) -> bool:
    return "*" in text or "?" in text
