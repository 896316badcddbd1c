"""Plots: curves over a shared axis, bars, marks; drawn by bokeh on a canvas.

Why, and what it costs: docs/decisions/0016-pages-by-bokeh-on-a-canvas.md.  Curves with more points than `MOST_POINTS`
are thinned so that every extreme stays where it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from kilohertz.pages.page import Kit

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_POINTS = 40_000
Scale = Literal["linear", "log"]
_LEGEND = 24  # pixels for the line above
_LEFT = 84  # pixels for numbers and label: frames with one axis stand one below the other
COLOURS = ("#3b7dd8", "#d9662b", "#3a9d5d", "#a05bc4", "#c0392b", "#7f8c8d", "#b8860b", "#16a2b8")


@dataclass(frozen=True, slots=True)
class Curve:
    """A named line; `steps` draws it held from point to point, `dots` as points only."""

    name: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    steps: bool = False
    dots: bool = False
    dashed: bool = False
    colour: int | None = None


@dataclass(frozen=True, slots=True)
class Mark:
    """A line across the plot: at a height, or at an x."""

    name: str
    y: float | None = None
    x: float | None = None


@dataclass(frozen=True, slots=True)
class Plot:
    """Curves in one frame.  Plots with the same `axis` move together."""

    title: str
    curves: Sequence[Curve]
    x_label: str = "time / s"
    y_label: str = ""
    marks: Sequence[Mark] = ()
    axis: str = "time"
    height: int = 240
    log_y: bool = False
    can_pick: bool = False  # a click tells the parts of this axis which x was meant (`Opened`)

    def html(self, kit: Kit) -> str:
        return kit.plot(self.model(kit))

    def model(self, kit: Kit) -> Any:
        """The frame as bokeh has it."""
        shared = kit.ranges.get(self.axis)
        frame = _frame(self.title, self.x_label, self.y_label, self.height, "log" if self.log_y else "linear", shared)
        kit.ranges.setdefault(self.axis, frame.x_range)
        for i, curve in enumerate(self.curves):
            _draw(frame, curve, COLOURS[(i if curve.colour is None else curve.colour) % len(COLOURS)])
        _marks(frame, self.marks)
        if self.can_pick:
            _pick(frame, self.axis)
        if self.curves:
            _legend_above(frame)
        return frame


@dataclass(frozen=True, slots=True)
class Bars:
    """A histogram: edges and counts."""

    title: str
    edges: NDArray[np.float64]
    counts: NDArray[np.int64]
    x_label: str = ""
    y_label: str = "count"
    marks: Sequence[Mark] = ()
    height: int = 220

    def html(self, kit: Kit) -> str:
        frame = _frame(self.title, self.x_label, self.y_label, self.height, "log", None)
        shown = self.counts > 0
        source = {"l": self.edges[:-1][shown], "r": self.edges[1:][shown], "n": self.counts[shown]}
        frame.quad(left="l", right="r", top="n", bottom=0.5, source=source, fill_color=COLOURS[0], line_color=None)
        _marks(frame, self.marks)
        return kit.plot(frame)


@dataclass(frozen=True, slots=True)
class Stack:
    """Several plots one below the other, close together."""

    plots: Sequence[Plot]

    def html(self, kit: Kit) -> str:
        return "\n".join(plot.html(kit) for plot in self.plots)


def thinned(x: NDArray[np.float64], y: NDArray[np.float64], most: int = MOST_POINTS) -> tuple[Any, Any]:
    """At most `most` points: of each bin the first, least, greatest and last one, in their order."""
    n = len(x)
    if n <= most:
        return x, y
    edges = np.linspace(0, n, most // 4 + 1).astype(np.int64)
    keep = np.empty((len(edges) - 1, 4), dtype=np.int64)
    for i, (a, b) in enumerate(pairwise(edges)):
        part = y[a:b]
        known = np.where(np.isfinite(part), part, part[np.isfinite(part)][0] if np.isfinite(part).any() else 0.0)
        keep[i] = (a, a + int(known.argmin()), a + int(known.argmax()), b - 1)
    places = np.unique(keep)
    return x[places], y[places]


def _frame(title: str, x_label: str, y_label: str, height: int, scale: Scale, shared: Any) -> Any:
    from bokeh.plotting import figure

    more = {} if shared is None else {"x_range": shared}
    frame = figure(
        title=title,
        height=height,
        sizing_mode="stretch_width",
        tools="xpan,xwheel_zoom,box_zoom,reset,save,crosshair",
        active_scroll=None,
        active_drag="box_zoom",
        x_axis_label=x_label,
        y_axis_label=y_label,
        y_axis_type=scale,
        min_border_left=_LEFT,
        output_backend="canvas",
        **more,
    )
    frame.toolbar.logo = None
    return frame


def _draw(frame: Any, curve: Curve, colour: str) -> None:
    x, y = thinned(np.asarray(curve.x, np.float64), np.asarray(curve.y, np.float64))
    dash = "dashed" if curve.dashed else "solid"
    if curve.dots:
        frame.scatter(x, y, size=4, color=colour, legend_label=curve.name)
    elif curve.steps:
        frame.step(x, y, mode="after", line_color=colour, line_dash=dash, legend_label=curve.name)
    else:
        frame.line(x, y, line_color=colour, line_dash=dash, legend_label=curve.name)


def _legend_above(frame: Any) -> None:
    """In a line above the frame: it hides no curve."""
    legend = frame.legend[0]
    frame.add_layout(legend, "above")
    legend.orientation, legend.location, legend.click_policy = "horizontal", "left", "hide"
    legend.border_line_color, legend.padding, legend.margin = None, 0, 2
    legend.spacing, legend.label_standoff = 16, 4
    frame.height += _LEGEND


def _marks(frame: Any, marks: Sequence[Mark]) -> None:
    from bokeh.models.annotations import Span

    for mark in marks:
        across = mark.y is not None
        place = mark.y if across else mark.x
        frame.add_layout(Span(location=place, dimension="width" if across else "height", line_color=COLOURS[4]))


def _pick(frame: Any, axis: str) -> None:
    from bokeh.events import Tap
    from bokeh.models.annotations import Span
    from bokeh.models.callbacks import CustomJS

    detail = f'{{detail: {{axis: "{axis}", x: cb_obj.x}}}}'
    frame.js_on_event(Tap, CustomJS(code=f'document.dispatchEvent(new CustomEvent("khz-pick", {detail}))'))
    mark = Span(location=0, dimension="height", visible=False, tags=[f"picked-{axis}"], line_color=COLOURS[2])
    frame.add_layout(mark)
