"""`khz doctor`: what this machine grants a real-time task."""

from __future__ import annotations

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", metavar="T", type=float, default=2.0, help="how long to measure (default 2)")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")


def run(arguments: argparse.Namespace) -> int:
    from kilohertz.realtime.machine_check import examine

    findings = examine(min(max(arguments.seconds, 0.1), 600.0))
    if arguments.json:
        import json

        print(json.dumps([{"what": f.what, "good": f.good, "found": f.observed, "mend": f.mend} for f in findings]))
        return 0
    for f in findings:
        print(f"{'ok  ' if f.good else 'look'}  {f.what}: {f.observed}")
        if f.mend:
            print(f"      {f.mend}")
    return 0
