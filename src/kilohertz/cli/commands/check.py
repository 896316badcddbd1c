"""`khz check`: is the model complete, and how large is it?"""

from __future__ import annotations

import argparse
import sys
import time

from kilohertz.cli.arguments import add_model


def configure(parser: argparse.ArgumentParser) -> None:
    add_model(parser)
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")


def run(arguments: argparse.Namespace) -> int:
    from kilohertz.cli.main import FAILED, show
    from kilohertz.driver import load

    started = time.perf_counter()
    report = load(arguments.model, arguments.library).check()
    seconds = time.perf_counter() - started
    if arguments.json:
        import json

        numbers = {
            "class": report.name,
            **report.counts(),
            "balanced": report.balance.is_balanced,
            "ok": report.ok,
            "seconds": round(seconds, 6),
        }
        print(json.dumps(numbers))
    else:
        print(report.name)
        for label, number in report.counts().items():
            print(f"  {label.replace('_', ' '):18} {number:>8}")
        print(f"  {'time taken':18} {seconds:8.3f} s")
    sys.stdout.flush()
    show(report.diagnostics)
    return 0 if report.ok else FAILED
