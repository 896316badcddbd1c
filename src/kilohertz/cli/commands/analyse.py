"""`khz analyse`: what symbolic processing made of the model."""

from __future__ import annotations

import argparse
import sys

from kilohertz.base import render
from kilohertz.cli.arguments import add_model, add_set, add_step_settings, compiled_model, step_settings

_EPILOG = """\
With --inline also what is left to iterate on in an implicit stage, with --index1 what is left to the method, with
--implicit or --substeps what a stage of mixed mode leaves; with a fixed-step --solver also the cost bound of a period.

  khz analyse Kilohertz.Examples.RCCircuit --solver rk4 --events catch-up
  khz analyse Kilohertz.Examples.RCCircuit --after eliminate-aliases"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add_model(parser)
    add_set(parser)
    parser.add_argument("--json", action="store_true", help="print the analysis as JSON")
    parser.add_argument("--after", metavar="PASS", help="print the form as text after a pass, in place of the analysis")
    parser.add_argument("--verify", action="store_true", help="check the contract of every form between passes")
    add_step_settings(parser)


def run(arguments: argparse.Namespace) -> int:
    model = compiled_model(arguments)
    model.verify = arguments.verify
    if arguments.after is not None:
        print(model.form_after(arguments.after), end="")
        return 0
    analysis = model.analyse(**step_settings(arguments))
    print(analysis.as_json() if arguments.json else analysis.as_text())
    for warning in model.warnings:
        print(render(warning, model.session.libraries.sources), file=sys.stderr)
    return 0
