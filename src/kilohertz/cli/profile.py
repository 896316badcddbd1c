"""`khz profile`: where the time of a step goes."""

from __future__ import annotations

import argparse

from kilohertz.cli.arguments import add_model, not_there_yet


def configure(parser: argparse.ArgumentParser) -> None:
    add_model(parser, help="a model, or a scenario.toml")


def run(arguments: argparse.Namespace) -> int:
    raise not_there_yet("profiling")
