"""What has to be met: the size of the tube, and thresholds on the other measures."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bars:
    """What has to be met.  Off-line: tolerance 0.002, rms 1e-3; fixed step in real time: 0.01 and 5e-3.

    Errors are parts of the signal's own scale; None: not asked for.
    """

    tolerance: float = 0.002
    nominal: float = 0.001
    rms: float | None = None
    symmetric: bool = False  # also: the reference within the tube around the result
    max_gap: float = 0.01  # largest step between rows, as a share of the time span
    end_slack: float = 0.0  # how much of the span may be missing at either end
    time: float | None = None  # half width of the tube in seconds; None: `tolerance` of the time span
    largest: float | None = None  # largest error
    mean: float | None = None  # integral of the absolute error, by the time
    final: float | None = None  # error at the end
    shift: float | None = None  # seconds that the result may be late or early as a whole
    events: float | None = None  # seconds: every jump has a partner on the other side at most so far away
