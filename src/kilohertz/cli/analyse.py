"""`khz analyse`: what symbolic processing made of the model."""

from __future__ import annotations

import argparse

from kilohertz.cli.arguments import HELP_INDEX1, add_model, positive_seconds, substeps


def configure(parser: argparse.ArgumentParser) -> None:
    add_model(parser)
    help_inline = "also join an implicit stage with the equations: what is left to iterate on"
    parser.add_argument("--inline", action="store_true", help=help_inline)
    parser.add_argument("--index1", action="store_true", help=HELP_INDEX1)
    parser.add_argument("--solver", metavar="S", help="a fixed-step solver: print the cost bound of a period with it")
    parser.add_argument("--events", metavar="E", default="none", help="event algorithm of that bound (none)")
    help_located = "events located in one period by catch-up and exact (4)"
    parser.add_argument("--events-per-step", metavar="N", type=int, default=4, help=help_located)
    help_internal = "internal steps of the whole model per period in that bound (1)"
    parser.add_argument("--internal-steps", metavar="N", type=int, default=1, help=help_internal)
    help_implicit = "mixed mode: what a stage with these states implicit leaves; `auto` needs --step"
    parser.add_argument("--implicit", metavar="PATTERN", action="append", default=[], help=help_implicit)
    help_part = "mixed mode with N sub-steps for the states of a part of the model"
    parser.add_argument("--substeps", metavar="PATTERN=N", type=substeps, action="append", default=[], help=help_part)
    parser.add_argument("--step", metavar="H", type=positive_seconds, help="the step that `--implicit auto` is for")
    parser.add_argument("--json", action="store_true", help="print the analysis as JSON")


def run(arguments: argparse.Namespace) -> int:
    from kilohertz.driver import load
    from kilohertz.driver.api import Mixed
    from kilohertz.solvers import SOLVERS, Pair

    model = load(arguments.model, arguments.library)
    is_mixed = arguments.implicit or arguments.substeps or isinstance(SOLVERS.get(arguments.solver), Pair)
    analysis = model.analyse(
        arguments.inline,
        arguments.solver,
        arguments.index1,
        mixed=Mixed(arguments.implicit, dict(arguments.substeps), arguments.step) if is_mixed else None,
        events=arguments.events,
        events_per_step=arguments.events_per_step,
        internal_steps=arguments.internal_steps,
    )
    print(analysis.as_json() if arguments.json else analysis.as_text())
    return 0
