"""`khz check`: is the model complete, and how large is it?"""

from __future__ import annotations

import argparse
import sys
import time

from kilohertz.cli.arguments import add_model


def configure(parser: argparse.ArgumentParser) -> None:
    add_model(parser, help="class name, file.mo, file.mo:Class, or an FMU")
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")


def run(arguments: argparse.Namespace) -> int:
    from kilohertz.cli.main import FAILED, show
    from kilohertz.driver import is_fmu, load

    if is_fmu(arguments.model):
        return _check_fmu(arguments)
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


def _check_fmu(arguments: argparse.Namespace) -> int:
    from kilohertz.cli.main import FAILED, show
    from kilohertz.driver import check_fmu

    report = check_fmu(arguments.model)
    d = report.description
    if arguments.json:
        import json

        print(
            json.dumps(
                {"model": d.name, "fmi": d.version, "kinds": [*d.identifiers], **report.counts(), "ok": report.ok}
            )
        )
    else:
        print(f"{d.name}: FMI {d.version} ({', '.join(d.identifiers)}){f', made by {d.tool}' if d.tool else ''}")
        for label, number in report.counts().items():
            print(f"  {label:20} {number:>8}")
    sys.stdout.flush()
    show(report.diagnostics)
    return 0 if report.ok else FAILED
