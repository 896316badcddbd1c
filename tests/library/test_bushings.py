"""A carrier on rods in bushings: stiff, in space, all angles zero at the start; inlined stages give the same motion.

benchmarks/bushing_networks.py has the same for 1 to 20 rods, with what their steps take.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kilohertz

SOURCE = Path(__file__).parent / "bushings.mo"


@pytest.mark.usefixtures("unoptimised")
@pytest.mark.parametrize(("kind", "states"), [("Bushings", 36), ("Massless", 24)])
def test_inlined_stages_of_bushings_agree_with_stages_that_are_not(kind: str, states: int) -> None:
    """Two rods; without masses their six coordinates follow from the damping of the bushings alone."""
    model = kilohertz.load(f"{SOURCE}:{kind}")
    assert len(model.analyse().states) == states
    inlined = model.simulate(solver="ieuler", step=1e-3, inline=True, stop=0.1, strict=True)
    plain = model.simulate(solver="ieuler", step=1e-3, newton=6, stop=0.1, strict=True)
    for name in ("carrier.r_0[1]", "carrier.r_0[2]", "carrier.r_0[3]", "top[2].a.r_0[1]"):
        assert float(np.ptp(plain[name])) > 1e-6
        assert inlined[name] == pytest.approx(plain[name], abs=1e-4 * float(np.ptp(plain[name])))
