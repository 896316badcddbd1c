"""By how much time one curve follows another: the shift at which they differ least.

Both curves are sampled on one grid, n samples.  For a lag k the mean square difference over the part both cover is

    D(k) = (sum a(i+k)^2 + sum b(i)^2 - 2 sum a(i+k) b(i)) / (n - |k|)

The last sum for all lags is a cross-correlation, computed by FFT; the others are differences of running sums.  A
parabola through the least D and its neighbours places the shift between two samples.  A constant curve has no shift,
nor has one that is not much nearer to the other after it.
"""

from __future__ import annotations

import numpy as np

from kilohertz.compare.curve import Curve

_SAMPLES = 8192
_EXPLAINED = 0.5  # of the mean square difference, at most this much is left after the shift


def time_shift(result: Curve, reference: Curve, most: float) -> float | None:
    """Seconds by which the result is late (negative: early), at most `most`; None where it cannot be told."""
    start, stop = max(result.time[0], reference.time[0]), min(result.time[-1], reference.time[-1])
    if not stop > start or most <= 0:
        return None
    grid, width = np.linspace(start, stop, _SAMPLES, retstep=True)
    a, b = result.after(grid), reference.after(grid)
    a, b = a - a.mean(), b - b.mean()
    if not (np.ptp(a) > 0 and np.ptp(b) > 0):
        return None
    spectrum = np.fft.rfft(a, 2 * _SAMPLES) * np.conj(np.fft.rfft(b, 2 * _SAMPLES))
    correlation = np.fft.irfft(spectrum)
    reach = max(1, min(_SAMPLES // 2, int(most / float(width))))
    lags = np.arange(-reach, reach + 1)
    sum_a, sum_b = (np.concatenate([[0.0], np.cumsum(c * c)]) for c in (a, b))
    late, early = np.maximum(lags, 0), np.maximum(-lags, 0)
    squares = (sum_a[_SAMPLES - early] - sum_a[late]) + (sum_b[_SAMPLES - late] - sum_b[early])
    difference = (squares - 2 * correlation[lags]) / (_SAMPLES - np.abs(lags))
    least = int(difference.argmin())
    if least in (0, len(difference) - 1):
        return None  # further away, or none at all
    if lags[least] and difference[least] > _EXPLAINED * difference[reach]:
        return None  # moving it does not make it equal: no shift
    left, middle, right = difference[least - 1 : least + 2]
    curvature = left - 2 * middle + right
    inside = 0.5 * (left - right) / curvature if curvature > 0 else 0.0
    return (float(lags[least]) + float(inside)) * float(width)
