"""The generators of stimuli: each a formula of `time` in Modelica's syntax, with names for what may be given.

A call in a stimulus, `sine(amplitude = 2, frequency = 5)`, stands for its formula with these values put in.  Formulas
are written so that what decides (a relation, a `floor`) is linear in `time`: then the instants of jumps are known
exactly.  A new generator is a record here, and a line in docs/reference/stimuli.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

_BEFORE = "if time < start then 0 else"


@dataclass(frozen=True, slots=True)
class Generator:
    """A name, what may be given with its default, and the formula; `above_zero` are those that must be."""

    name: str
    words: str
    given: Mapping[str, float]
    formula: str
    above_zero: tuple[str, ...] = ()
    limits: Mapping[str, tuple[float, float]] = field(default_factory=dict)


_ALL = (
    Generator(
        "step",
        "`offset`, and from `start` on `height` more",
        {"height": 1.0, "start": 0.0, "offset": 0.0},
        f"offset + ({_BEFORE} height)",
    ),
    Generator(
        "ramp",
        "from `offset` at `start` to `height` more within `duration`, and stays there",
        {"height": 1.0, "duration": 1.0, "start": 0.0, "offset": 0.0},
        f"offset + ({_BEFORE} if time < start + duration then height*(time - start)/duration else height)",
        ("duration",),
    ),
    Generator(
        "sine",
        "a sine of `frequency` in Hz and `phase` in rad",
        {"amplitude": 1.0, "frequency": 1.0, "phase": 0.0, "start": 0.0, "offset": 0.0},
        f"offset + ({_BEFORE} amplitude*sin(2*pi*frequency*(time - start) + phase))",
    ),
    Generator(
        "chirp",
        "a sine whose frequency goes from `first` to `last` in Hz within `duration`, and stays there",
        {"amplitude": 1.0, "first": 0.1, "last": 10.0, "duration": 10.0, "start": 0.0, "offset": 0.0},
        f"offset + ({_BEFORE} amplitude*sin(2*pi*(if time < start + duration"
        " then first*(time - start) + (last - first)*(time - start)^2/(2*duration)"
        " else (first + last)/2*duration + last*(time - start - duration))))",
        ("duration",),
    ),
    Generator(
        "pulse",
        "`amplitude` for the first part `width` of every `period`",
        {"amplitude": 1.0, "period": 1.0, "width": 0.5, "start": 0.0, "offset": 0.0},
        f"offset + ({_BEFORE} amplitude*(floor((time - start)/period) - floor((time - start)/period - width)))",
        ("period",),
        {"width": (0.0, 1.0)},
    ),
    Generator(
        "prbs",
        "`amplitude` up or down, anew every `sample` seconds; repeats after 2^`order` - 1 samples",
        {"amplitude": 1.0, "sample": 0.1, "order": 10.0, "seed": 1.0, "start": 0.0, "offset": 0.0},
        f"offset + ({_BEFORE} amplitude*(2*bit(floor((time - start)/sample), order, seed) - 1))",
        ("sample",),
        {"order": (2.0, 31.0)},
    ),
    Generator(
        "noise",
        "normally distributed with this `deviation`, anew every `sample` seconds; the same numbers for the same `seed`",
        {"deviation": 1.0, "sample": 0.001, "seed": 1.0, "start": 0.0, "offset": 0.0},
        f"offset + ({_BEFORE} deviation*normal(floor((time - start)/sample), seed))",
        ("sample",),
    ),
    Generator(
        "uniform",
        "evenly distributed from `low` to `high`, anew every `sample` seconds",
        {"low": 0.0, "high": 1.0, "sample": 0.001, "seed": 1.0, "start": 0.0},
        "low + (if time < start then 0 else (high - low)*uniform(floor((time - start)/sample), seed))",
        ("sample",),
    ),
)
GENERATORS: Mapping[str, Generator] = {g.name: g for g in _ALL}
