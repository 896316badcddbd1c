"""`khz build`: a real-time executable with its cost bound and C source."""

from __future__ import annotations

import argparse
from pathlib import Path

from kilohertz.cli.arguments import add_model, not_there_yet, positive_seconds


def configure(parser: argparse.ArgumentParser) -> None:
    add_model(parser)
    parser.add_argument("--solver", required=True, metavar="S", help="fixed-step method: euler, rk4, lie, ...")
    parser.add_argument("--step", required=True, metavar="H", type=positive_seconds, help="step size, e.g. 1ms")
    parser.add_argument("--target", metavar="T", help="cross target, e.g. aarch64-linux-gnu")
    parser.add_argument("-o", "--output", metavar="DIR", type=Path, help="where to write")


def run(arguments: argparse.Namespace) -> int:
    raise not_there_yet("building a real-time executable", "`khz simulate` runs the model off-line")
