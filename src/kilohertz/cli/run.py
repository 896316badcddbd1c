"""`khz run`: build and run in real time."""

from __future__ import annotations

import argparse

from kilohertz.cli.arguments import add_model, not_there_yet, positive_seconds


def configure(parser: argparse.ArgumentParser) -> None:
    add_model(parser, help="a model, or a scenario.toml")
    parser.add_argument("--step", metavar="H", type=positive_seconds, help="step size, e.g. 1ms")
    parser.add_argument("--solver", metavar="S", help="fixed-step method: euler, rk4, lie, ...")
    parser.add_argument("--duration", metavar="T", type=positive_seconds, help="how long to run, e.g. 10s")


def run(arguments: argparse.Namespace) -> int:
    raise not_there_yet("running in real time", "`khz simulate` runs the model off-line")
