"""A carrier on rods in bushings: stiff, in space, all angles zero at the start; inlined stages give the same motion."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kilohertz

SOURCE = Path(__file__).parent / "bushings.mo"


def test_inlined_stages_of_bushings_agree_with_stages_that_are_not() -> None:
    model = kilohertz.load(SOURCE)
    inlined = model.simulate(solver="ieuler", step=1e-3, inline=True, stop=0.1, strict=True)
    plain = model.simulate(solver="ieuler", step=1e-3, newton=6, stop=0.1, strict=True)
    for name in ("carrier.r_0[1]", "carrier.r_0[2]", "carrier.r_0[3]", "rod[2].r_0[1]"):
        assert float(np.ptp(plain[name])) > 1e-6
        assert inlined[name] == pytest.approx(plain[name], abs=1e-4 * float(np.ptp(plain[name])))
