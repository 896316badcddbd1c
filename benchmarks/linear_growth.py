"""Does the cost grow linearly?  An array-of-components model with n sections, doubled up to 100 000 scalar equations.

    python benchmarks/linear_growth.py [--from 1000] [--to 100000] [--runs 1] [--until check|compile]

The model is a chain of resistor-capacitor sections, written here with components of its own: a user-defined connector,
inheritance, an array of components and a for-loop of connections.  Every size runs in a fresh process; processor time
per phase (other load on the machine does not count), ratio per doubling and peak memory are printed.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from tables import machine

EQUATIONS_PER_SECTION = 18
MODEL = """\
model Ladder "n sections of resistance and capacitance"
  connector Pin
    Real v;
    flow Real i;
  end Pin;

  partial model TwoPin
    Pin p;
    Pin n;
    Real v;
    Real i;
  equation
    v = p.v - n.v;
    0 = p.i + n.i;
    i = p.i;
  end TwoPin;

  model Resistor
    extends TwoPin;
    parameter Real R = 1;
  equation
    v = R*i;
  end Resistor;

  model Capacitor
    extends TwoPin(v(start=0, fixed=true));
    parameter Real C = 1;
  equation
    C*der(v) = i;
  end Capacitor;

  model Ground
    Pin p;
  equation
    p.v = 0;
  end Ground;

  model Source
    Pin p;
  equation
    p.v = sin(time);
  end Source;

  model Section
    Pin a;
    Pin b;
    Pin g;
    Resistor r(R=2);
    Capacitor c(C=0.5);
  equation
    connect(a, r.p);
    connect(r.n, b);
    connect(r.n, c.p);
    connect(c.n, g);
  end Section;

  parameter Integer n = {n};
  Section s[n];
  Ground ground;
  Source source;
equation
  connect(source.p, s[1].a);
  for k in 1:n - 1 loop
    connect(s[k].b, s[k + 1].a);
  end for;
  for k in 1:n loop
    connect(s[k].g, ground.p);
  end for;
  annotation(experiment(StopTime=1));
end Ladder;
"""


def processor_seconds() -> float:
    """What this process and those it started (the C compiler) have used."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(u.ru_utime + u.ru_stime for u in usages)


def phases(path: str, until: str) -> dict[str, float]:
    """Runs in a fresh process: processor seconds per phase, numbers, peak memory."""
    started = processor_seconds()
    from kilohertz.driver import Session
    from kilohertz.ir import flat as _flat

    del _flat
    marks = {"import": processor_seconds() - started}

    def mark(name: str, since: float) -> float:
        now = processor_seconds()
        marks[name] = now - since
        return now

    at = processor_seconds()
    model = Session().model(path)
    at = mark("parse", at)
    model.flatten()
    at = mark("flatten", at)
    report = model.check()
    assert report.ok, report.diagnostics
    at = mark("balance", at)
    if until == "compile":
        model.process()
        at = mark("process", at)
        model.compile()
        at = mark("build", at)
    marks["total"] = processor_seconds() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {**marks, "equations": report.equations, "unknowns": report.unknowns, "peak_mib": peak}


def measure(n: int, until: str) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "Ladder.mo"
        path.write_text(MODEL.replace("{n}", str(n)), encoding="utf-8")
        command = [sys.executable, __file__, "--child", str(path), "--until", until]
        environment = os.environ | {"KHZ_CACHE_DIR": folder}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise SystemExit(f"n = {n} failed:\n{done.stderr[-2000:]}")
    numbers: dict[str, float] = json.loads(done.stdout)
    return numbers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="low", type=int, default=1000, metavar="EQUATIONS")
    parser.add_argument("--to", dest="high", type=int, default=100_000, metavar="EQUATIONS")
    parser.add_argument("--runs", type=int, default=1, help="the fastest counts")
    parser.add_argument("--until", choices=("check", "compile"), default="check")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(phases(arguments.child, arguments.until)))
        return
    print(machine())
    before: dict[str, float] | None = None
    n = arguments.low // EQUATIONS_PER_SECTION
    while n * EQUATIONS_PER_SECTION <= 1.1 * arguments.high:
        runs = [measure(n, arguments.until) for _ in range(arguments.runs)]
        best = min(runs, key=lambda r: r["total"])
        show(best, before, header=before is None)
        before, n = best, 2 * n


def show(now: dict[str, float], before: dict[str, float] | None, header: bool) -> None:
    """One line: equations, seconds per phase, ratio of the total to that of half the size, peak memory."""
    names = [k for k in now if k not in ("equations", "unknowns", "peak_mib")]
    if header:
        print("equations" + "".join(f"{k:>11}" for k in names) + "   ratio   peak MiB")
    ratio = ""
    if before is not None:
        own, other = now["total"] - now["import"], before["total"] - before["import"]
        ratio = f"{own / other:8.2f}"
    row = f"{int(now['equations']):9}" + "".join(f"{now[k]:11.3f}" for k in names)
    print(f"{row}{ratio:>8} {now['peak_mib']:10.0f}", flush=True)


if __name__ == "__main__":
    main()
