"""Parts without data of their own: headings, prose, facts, verdicts, folds, source listings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from kilohertz.pages.page import Kit, Part


def anchor_of(text: str) -> str:
    """A name for a place on the page, from its heading."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading that the contents at the top of the page lead to."""

    text: str
    level: int = 2

    def html(self, kit: Kit) -> str:
        anchor = anchor_of(self.text)
        if self.level == 2:
            kit.contents.append((anchor, self.text))
        return f'<h{self.level} id="{anchor}">{escape(self.text)}</h{self.level}>'


@dataclass(frozen=True, slots=True)
class Prose:
    """Paragraphs; `code` between backquotes is set as code."""

    text: str

    def html(self, kit: Kit) -> str:
        return "\n".join(f"<p>{inline(p)}</p>" for p in self.text.split("\n\n"))


def inline(text: str) -> str:
    """One line of text with its `code`."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(text))


@dataclass(frozen=True, slots=True)
class Links:
    """A word, and where it leads on from here."""

    text: str
    links: Sequence[tuple[str, str]]

    def html(self, kit: Kit) -> str:
        some = " ".join(f'<a href="{escape(target)}">{escape(words)}</a>' for words, target in self.links)
        return f'<p class="links">{inline(self.text)} {some}</p>'


@dataclass(frozen=True, slots=True)
class Facts:
    """A few numbers that stand first: label, value, and what it means."""

    rows: Sequence[tuple[str, str, str]]

    def html(self, kit: Kit) -> str:
        cards = "".join(
            f'<div class="fact" title="{escape(hint)}"><b>{escape(value)}</b><span>{escape(label)}</span></div>'
            for label, value, hint in self.rows
        )
        return f'<div class="facts">{cards}</div>'


@dataclass(frozen=True, slots=True)
class Verdict:
    """Good or bad, in a sentence."""

    good: bool
    text: str

    def html(self, kit: Kit) -> str:
        kind, mark = ("good", "✓") if self.good else ("bad", "✗")
        return f'<p class="verdict {kind}"><b>{mark}</b> {inline(self.text)}</p>'


@dataclass(frozen=True, slots=True)
class Fold:
    """Parts behind a line that opens them."""

    summary: str
    parts: Sequence[Part]
    is_open: bool = False
    anchor: str = ""

    def html(self, kit: Kit) -> str:
        kit.script("folds.js")
        body = "\n".join(p.html(kit) for p in self.parts)
        place = f' id="{escape(self.anchor)}"' if self.anchor else ""
        state = " open" if self.is_open else ""
        return f"<details{place}{state}><summary>{inline(self.summary)}</summary>{body}</details>"


@dataclass(frozen=True, slots=True)
class ListingLine:
    """A line of source: number, text, its share (0 to 1), the words in the margin, and where they lead."""

    number: int
    text: str
    share: float = 0.0
    margin: str = ""
    link: str = ""


def _kind(line: ListingLine, last: int) -> str:
    """Lines that cost something are marked, and those before which lines are left out."""
    kinds = [name for name, holds in (("hot", line.share > 0), ("gap", last and line.number > last + 1)) if holds]
    return f' class="{" ".join(kinds)}"' if kinds else ""


def _margin(line: ListingLine) -> str:
    words = escape(line.margin)
    return f'<a href="{escape(line.link)}">{words}</a>' if line.link else words


@dataclass(frozen=True, slots=True)
class Listing:
    """Source text with a margin: how much each line has of something."""

    name: str
    lines: Sequence[ListingLine]

    def html(self, kit: Kit) -> str:
        prefix = anchor_of(self.name)
        before = (0, *(line.number for line in self.lines))
        rows = "".join(
            f'<tr id="{prefix}-{line.number}"{_kind(line, last)}>'
            f'<td class="margin" style="--share:{min(1.0, line.share):.4f}">{_margin(line)}</td>'
            f'<td class="number">{line.number}</td><td class="source">{escape(line.text)}</td></tr>'
            for line, last in zip(self.lines, before, strict=False)
        )
        return f'<div class="code"><table class="listing">{rows}</table></div>'

    def place(self, number: int) -> str:
        """The anchor of a line."""
        return f"#{anchor_of(self.name)}-{number}"
