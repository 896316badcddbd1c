"""The plots of a page as a picture: PNG or SVG, for documents and for CI servers that show no HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kilohertz.base import Diagnostic, ModelError
from kilohertz.pages.parts import Fold
from kilohertz.pages.plots import COLOURS, Plot, Stack, thinned

if TYPE_CHECKING:
    from kilohertz.pages.page import Page, Part

PICTURES = (".png", ".svg")
_INCHES_WIDE, _PIXELS_AN_INCH, _MOST_PLOTS, _POINTS = 10.0, 100, 12, 4000
_SVG: Any = {"svg.fonttype": "none", "svg.hashsalt": "kilohertz"}  # text stays text; the same page, the same bytes


def check_page(file: Path) -> None:
    """R704 where a report cannot be written as its ending says."""
    if file.suffix and file.suffix.lower() not in (".html", *PICTURES):
        endings = f".html, {' or '.join(PICTURES)}"
        raise ModelError(Diagnostic("R704", f"a report is no `{file.suffix}`: its name ends with {endings}"))


def save(page: Page, file: Path) -> None:
    """As a page or, by the ending of the name, as a picture; R702 where that fails."""
    try:
        if file.suffix.lower() in PICTURES:
            write_picture(page, file)
        else:
            file.write_text(page.html(), encoding="utf-8")
    except OSError as error:
        if file.is_file():
            file.unlink()  # half a page is none
        raise ModelError(Diagnostic("R702", f"cannot write `{file}`: {error.strerror}")) from error


def write_picture(page: Page, file: Path) -> None:
    """The title and the first plots of a page, one below the other."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    plots = list(_plots(page.parts))[:_MOST_PLOTS]
    heights = [plot.height for plot in plots] or [1]
    with rc_context({**_SVG, "font.size": 9}):
        tall = 0.8 + 1.15 * sum(heights) / _PIXELS_AN_INCH
        figure = Figure(figsize=(_INCHES_WIDE, tall), dpi=_PIXELS_AN_INCH, layout="constrained")
        FigureCanvasAgg(figure)
        figure.suptitle(f"{page.title}\n{page.subtitle}", fontsize=10, x=0.01, ha="left")
        frames = figure.subplots(len(heights), 1, squeeze=False, sharex="col", height_ratios=heights)[:, 0]
        for plot, axes in zip(plots, frames, strict=False):
            _draw(plot, axes)
        with open(file, "wb") as out:
            is_svg = file.suffix.lower() == ".svg"
            figure.savefig(out, format=file.suffix[1:].lower(), metadata={"Date": None} if is_svg else None)


def _plots(parts: Sequence[Part]) -> Iterator[Plot]:
    for part in parts:
        if isinstance(part, Plot):
            yield part
        elif isinstance(part, Stack):
            yield from part.plots
        elif isinstance(part, Fold):
            yield from _plots(part.parts)


def _draw(plot: Plot, axes: Any) -> None:
    for i, curve in enumerate(plot.curves):
        colour = COLOURS[(i if curve.colour is None else curve.colour) % len(COLOURS)]
        x, y = thinned(np.asarray(curve.x, np.float64), np.asarray(curve.y, np.float64), _POINTS)
        how = {"linestyle": "none", "marker": "."} if curve.dots else {"linestyle": "--" if curve.dashed else "-"}
        if curve.steps:
            how["drawstyle"] = "steps-post"
        axes.plot(x, y, color=colour, linewidth=1.0, label=curve.name, **how)
    for mark in plot.marks:
        line = axes.axhline if mark.y is not None else axes.axvline
        line(mark.y if mark.y is not None else mark.x, color=COLOURS[4], linewidth=1.0)
    axes.set_ylabel(plot.y_label)
    axes.set_xlabel(plot.x_label)
    axes.set_title(plot.title, fontsize=9, loc="left")
    axes.set_yscale("log" if plot.log_y else "linear")
    axes.grid(alpha=0.3)
    axes.label_outer()
    if plot.curves:
        axes.legend(loc="best", fontsize=8)
