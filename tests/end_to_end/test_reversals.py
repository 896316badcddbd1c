"""`semiLinear` where nothing flows (MLS 3.7.4): open ports, and connections whose flow turns round."""

from __future__ import annotations

from math import exp
from pathlib import Path
from typing import Any

import pytest

import kilohertz

LIBRARY = """
connector Port
  Real p;
  flow Real m;
  Real h;
  flow Real H;
end Port;
model Volume "of one kilogram, at h"
  Port a;
  Port b;
  Port open;
  Real h(start = 300, fixed = true);
equation
  a.m + b.m + open.m = 0;
  a.H = semiLinear(a.m, a.h, h);
  b.H = semiLinear(b.m, b.h, h);
  open.H = semiLinear(open.m, open.h, h);
  open.p = a.p;
  b.p = a.p;
  der(h) = a.H + b.H + open.H - (a.m + b.m)*h;
end Volume;
model Pipe "stores nothing"
  Port a;
  Port b;
equation
  a.m + b.m = 0;
  a.H = semiLinear(a.m, a.h, b.h);
  b.H = semiLinear(b.m, b.h, a.h);
  b.p = a.p;
end Pipe;
model Source
  Port a;
  parameter Real h = 400;
  Real m;
equation
  a.m = -m;
  a.H = semiLinear(a.m, a.h, h);
end Source;
model Sink
  Port a;
equation
  a.p = 1e5;
  a.H = semiLinear(a.m, a.h, 200);
end Sink;
model Line "1 kg/s less and less, nothing for a second, then back"
  Source s(m = if time < 1 then 1 - time elseif time < 2 then 0 else 2 - time);
  Volume v;
  Pipe p;
  Pipe q;
  Sink k;
equation
  connect(s.a, v.a);
  connect(v.b, p.a);
  connect(p.b, q.a);
  connect(q.b, k.a);
end Line;
"""


@pytest.mark.parametrize("options", [{"tolerance": 1e-9}, {"solver": "rk4", "step": 1e-3, "events": "exact"}])
def test_flows_stop_and_turn_round(tmp_path: Path, options: dict[str, Any]) -> None:
    """By hand: from 300 towards 400 with what came in, then towards 200; an open port has the volume's enthalpy."""
    path = tmp_path / "line.mo"
    path.write_text(LIBRARY, encoding="utf-8")
    model = kilohertz.load(f"{path}:Line")
    result = model.simulate(stop=3.0, **options)
    rest = 400 - 100 * exp(-0.5)
    end = 200 + (rest - 200) * exp(-0.5)
    assert result["v.h"][-1] == pytest.approx(end, abs=1e-3)
    assert result["v.open.h"][-1] == pytest.approx(end, abs=1e-3)
    still = len(result["time"]) // 2
    for name in ("v.h", "v.open.h", "p.b.h", "q.b.h"):
        assert result[name][still] == pytest.approx(rest, abs=1e-3), name
    assert result["k.a.H"][still] == 0.0
    assert result["q.b.h"][-1] == pytest.approx(200)
    assert not [w for w in model.warnings if w.code == "R736"]
