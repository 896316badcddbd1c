"""Self-contained HTML pages: parts that reports of any room are put together from.

A page is one file that works from disk, without a network, in light and dark: its style, its small scripts, its data
and the plotting library (bokeh, whose JavaScript comes inside its Python package) are written into it.  This room
knows nothing of models: it takes titles, texts, numbers and trees.
"""

from kilohertz.pages.icicle import Case, Icicle, Leaf, Node, Opened
from kilohertz.pages.page import Page, Part, write_page
from kilohertz.pages.parts import Facts, Fold, Heading, Links, Listing, ListingLine, Prose, Verdict
from kilohertz.pages.picture import check_page, save
from kilohertz.pages.plots import Bars, Curve, Mark, Plot, Stack
from kilohertz.pages.table import Cell, Column, Table

__all__ = [
    "Bars",
    "Case",
    "Cell",
    "Column",
    "Curve",
    "Facts",
    "Fold",
    "Heading",
    "Icicle",
    "Leaf",
    "Links",
    "Listing",
    "ListingLine",
    "Mark",
    "Node",
    "Opened",
    "Page",
    "Part",
    "Plot",
    "Prose",
    "Stack",
    "Table",
    "Verdict",
    "check_page",
    "save",
    "write_page",
]
