"""Names with dots in them: components and classes by their parts."""

from __future__ import annotations

import re
from dataclasses import dataclass

# quoted identifiers, subscripts and calls are whole, dots part, the rest is taken as it comes
_PIECE = re.compile(r"'(?:[^'\\]|\\.)*'|\[[^\]]*\]|\([^()]*\)|\.|[^.'\[(]+|.")
_HOLDS_DOTS = re.compile(r"['\[(]")


@dataclass(frozen=True, slots=True)
class Dotted:
    """A name by its parts: `axle.'my.shaft'[2].w` has three."""

    parts: tuple[str, ...]

    @staticmethod
    def read(text: str) -> Dotted:
        """Of a name as it is written; of an empty text one empty part."""
        if _HOLDS_DOTS.search(text) is None:
            return Dotted(tuple(text.split(".")))
        parts = [""]
        for piece in _PIECE.findall(text):
            if piece == ".":
                parts.append("")
            else:
                parts[-1] += piece
        return Dotted(tuple(parts))

    @property
    def last(self) -> str:
        return self.parts[-1]

    @property
    def owner(self) -> Dotted:
        """All parts but the last."""
        return Dotted(self.parts[:-1])

    def __str__(self) -> str:
        return ".".join(self.parts)
