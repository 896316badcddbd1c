"""The picture of a demo: its curves, how far the first is from CVODE, and the slack of every cycle."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kilohertz.base import Diagnostic, ModelError
from kilohertz.driver.demos.catalogue import Example, Panel

if TYPE_CHECKING:
    from kilohertz.results import Result

# beside no curve: above the frame, at its right
_ABOVE: dict[str, Any] = {
    "loc": "lower right",
    "bbox_to_anchor": (1.0, 1.0),
    "fontsize": "small",
    "frameon": False,
    "borderaxespad": 0.1,
    "handlelength": 1.5,
    "columnspacing": 1.2,
}


def draw(path: Path, example: Example, run: Result, reference: Result, period: float) -> None:
    """Panels of the example from above, the error of the first panel below its curves, the slack last."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    timed = "cycle.slack" in run.names
    first, *others = example.panels
    heights = [3, 2, *(3 for _ in others), *([2] if timed else [])]
    figure = Figure(figsize=(9, 1 + 0.8 * sum(heights)), layout="constrained")
    FigureCanvasAgg(figure)
    top, error, *below = figure.subplots(len(heights), 1, height_ratios=heights)
    over_time = [top] * (first.over is None) + [error, *below]
    for axes in over_time[:-1]:
        axes.sharex(over_time[-1])
        axes.tick_params(labelbottom=False)
    figure.suptitle(example.words)
    _draw_panel(top, first, run)
    _draw_error(error, first, run, reference)
    for axes, panel in zip(below, others, strict=False):
        _draw_panel(axes, panel, run)
    if timed:
        _draw_slack(below[-1], run, period)
    (below[-1] if below else error).set_xlabel("time [s]")
    for axes in (top, error, *below):
        axes.grid(alpha=0.3)
        axes.legend(**_ABOVE, ncols=len(axes.get_lines()))
    try:
        figure.savefig(path, dpi=100)
    except OSError as failure:
        raise ModelError(Diagnostic("R702", f"cannot write `{path}`: {failure.strerror}")) from failure


def _draw_panel(axes: Any, panel: Panel, run: Result) -> None:
    held = any(curve.compared is not None for curve in panel.curves)
    for curve in panel.curves:
        asked = held and curve.compared is None and curve is panel.curves[0]
        style = {"color": "k", "ls": "--", "lw": 1} if asked else {"lw": 1.3}
        place = run.time if panel.over is None else panel.over.factor * run[panel.over.signal]
        axes.plot(place, curve.factor * run[curve.signal], label=curve.name, **style)
    unit = panel.curves[0].unit
    axes.set_ylabel(f"{panel.label} [{unit}]" if unit else panel.label)
    if panel.over is not None:
        axes.set_xlabel(f"{panel.over.name} [{panel.over.unit}]")


def _draw_error(axes: Any, panel: Panel, run: Result, reference: Result) -> None:
    for curve in panel.curves:
        if curve.compared is not None:
            unit, factor = curve.compared
            off = run[curve.signal] - np.interp(run.time, reference.time, reference[curve.signal])
            axes.plot(run.time, factor * off, lw=1, label=f"{curve.name} minus CVODE")
            axes.set_ylabel(f"error [{unit}]")


def _draw_slack(axes: Any, run: Result, period: float) -> None:
    """Down to half a period too late; what is later than that stands at the lower edge."""
    time, floor = run.time[2:], -0.5 * period  # the first two rows have no cycle before them
    slack = run["cycle.slack"][2:]
    late = slack < floor
    axes.plot(time[~late], 1e6 * slack[~late], ".", ms=2, label="slack left")
    axes.plot(time, 1e6 * run["cycle.compute"][2:], ".", ms=2, label="compute")
    axes.axhline(0, color="tab:red", lw=1, label="deadline")
    if late.any():
        axes.plot(time[late], np.full(late.sum(), 1e6 * floor), "v", color="tab:red", ms=5, label="later than that")
    axes.set_ylabel("cycle [µs]")
    axes.set_ylim(1.1e6 * floor, 1.05e6 * period)
