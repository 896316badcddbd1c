"""`khz flatten`: the flat model as readable Modelica."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from kilohertz.cli.arguments import add_model, add_set, compiled_model


def configure(parser: argparse.ArgumentParser) -> None:
    add_model(parser)
    add_set(parser)
    parser.add_argument("-o", "--output", metavar="F", type=Path, help="write to a file instead of the terminal")


def run(arguments: argparse.Namespace) -> int:
    text = compiled_model(arguments).flat_text()
    if arguments.output is None:
        sys.stdout.write(text)
    else:
        write_text(arguments.output, text)
    return 0


def write_text(path: Path, text: str) -> None:
    """Write a file; where that fails it is the user's path, not our mistake."""
    from kilohertz.base import Diagnostic, ModelError

    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ModelError(Diagnostic("R702", f"cannot write `{path}`: {error.strerror}")) from error
