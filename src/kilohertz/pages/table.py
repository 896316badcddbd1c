"""A table that sorts by any column and filters as one types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from kilohertz.pages.page import Kit


@dataclass(frozen=True, slots=True)
class Column:
    """A heading; numbers stand right, `hint` explains, `bar` draws each number as a share of the largest."""

    text: str
    is_number: bool = False
    hint: str = ""
    bar: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """What is shown, what is sorted by, where it leads, a mark (`good`, `bad`), and more links after the text."""

    text: str
    value: float | str | None = None
    link: str = ""
    mark: str = ""
    links: Sequence[tuple[str, str]] = ()  # words, and where they lead


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells in the order given; a click on a heading sorts."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    can_filter: bool = True
    shown: int = 200  # rows at first; a button shows the rest
    anchors: Sequence[str] = ()  # of the rows: what leads there shows and marks the row

    def html(self, kit: Kit) -> str:
        kit.script("table.js")
        number = kit.keep(
            {
                "columns": [{"number": c.is_number, "bar": c.bar} for c in self.columns],
                "rows": [[_cell(c) for c in row] for row in self.rows],
                "shown": self.shown,
                "anchors": list(self.anchors),
            }
        )
        head = "".join(
            f'<th class="{"number" if c.is_number else ""}" title="{escape(c.hint)}">'
            f'<button type="button">{escape(c.text)}</button></th>'
            for c in self.columns
        )
        box = '<input type="search" placeholder="filter" aria-label="filter">' if self.can_filter else ""
        return (
            f'<div class="table" data-number="{number}">{box}<span class="count"></span>'
            f"<table><thead><tr>{head}</tr></thead><tbody></tbody></table></div>"
        )


def _cell(cell: Cell) -> list[object]:
    more = [[list(link) for link in cell.links]] if cell.links else []
    return [cell.text, cell.text if cell.value is None else cell.value, cell.link, cell.mark, *more]
