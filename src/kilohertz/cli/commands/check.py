"""`khz check`: is the model complete, and how large is it?"""

from __future__ import annotations

import argparse
import sys
import time

from kilohertz.base import Diagnostic, ModelError
from kilohertz.cli.arguments import add_model, add_set, compiled_model


def configure(parser: argparse.ArgumentParser) -> None:
    add_model(parser, help="class name, file.mo, file.mo:Class, an FMU, or a system of FMUs (SSP)")
    add_set(parser)
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")


def run(arguments: argparse.Namespace) -> int:
    from kilohertz.cli.main import FAILED, show
    from kilohertz.driver import is_fmu, is_system

    if arguments.settings and (is_fmu(arguments.model) or is_system(arguments.model)):
        raise ModelError(Diagnostic("R723", "--set is for models: an FMU is checked as it is"))
    if is_fmu(arguments.model):
        return _check_fmu(arguments)
    if is_system(arguments.model):
        return _check_system(arguments)
    started = time.perf_counter()
    report = compiled_model(arguments).check()
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


def _check_system(arguments: argparse.Namespace) -> int:
    from kilohertz.cli.main import FAILED, show
    from kilohertz.driver import check_system

    system, reports = check_system(arguments.model)
    ok = all(report.ok for report in reports.values())
    order = [task.name for task in system.scenario.tasks]
    counts = {
        "components": len(order),
        "connections": len(system.scenario.connections),
        "values": sum(len(part.values) for part in system.flat.parts),
        "loops": len(system.loops),
    }
    if arguments.json:
        import json

        print(json.dumps({"system": system.structure.system.name, **counts, "order": order, "ok": ok}))
    else:
        print(f"{system.structure.system.name}: a system of FMUs")
        for label, number in counts.items():
            print(f"  {label:20} {number:>8}")
        for name in order:
            d = reports[name].description
            print(f"  {name}: FMI {d.version} ({', '.join(d.identifiers)}), {d.name}")
        for name in system.flat.open_inputs:
            print(f"  open input: {name}")
    sys.stdout.flush()
    show(system.findings)
    for report in {part.component.fmu: reports[part.name] for part in system.flat.parts}.values():
        show(report.diagnostics)
    return 0 if ok else FAILED
