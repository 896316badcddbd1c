"""`khz tune`: the cheapest settings of the step that are accurate enough."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from kilohertz.cli.arguments import (
    add_inputs,
    add_model,
    add_set,
    add_step_settings,
    inputs,
    parameter_values,
    positive_seconds,
    seconds,
    step_settings,
)
from kilohertz.cli.progress import announce

_EPILOG = """\
  khz tune Servo.mo --step 1ms --deadline 200us --error 0.5% -o servo.toml --page servo.html
  khz run servo.toml
What is given of the settings is not varied.  The choice is remembered: `khz run MODEL` without a method takes it.
Exit codes: 0 the goal is met, 1 it is not, or the model failed, 2 wrong usage."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog, parser.formatter_class = _EPILOG, argparse.RawDescriptionHelpFormatter
    add_model(parser)
    add = parser.add_argument
    add("--error", metavar="E", type=_share, default=0.005, help="largest error of a signal's range (default 0.5%%)")
    add("--deadline", metavar="T", type=positive_seconds, help="what a regular period may take, e.g. 200us")
    add("--try-step", metavar="H", type=positive_seconds, action="append", help="a step to try; may be repeated")
    add(
        "--signals",
        metavar="P",
        action="append",
        default=[],
        help="a name or pattern to compare; may be repeated (default: all)",
    )
    add("--start", metavar="T", type=seconds, help="start time (default: experiment annotation, or 0)")
    add("--stop", metavar="T", type=seconds, help="stop time (default: experiment annotation, or start + 1)")
    add("-o", "--output", metavar="F.toml", type=Path, help="write the choice as a scenario for `khz run`")
    add("--page", metavar="F", type=Path, help="write a page with the front (HTML, one file)")
    add("--json", action="store_true", help="print all numbers as JSON")
    add("-q", "--quiet", action="store_true", help="no progress")
    add_set(parser)
    add_inputs(parser)
    add_step_settings(parser)


def run(arguments: argparse.Namespace) -> int:
    from kilohertz.cli.main import FAILED
    from kilohertz.driver import load
    from kilohertz.results import check_place

    for file in (arguments.output, arguments.page):
        if file is not None:
            check_place(file)
    model = load(arguments.model, arguments.library)
    values = parameter_values(arguments)
    tuned = model.tune(
        error=arguments.error,
        deadline=arguments.deadline,
        steps=arguments.try_step or (),
        signals=arguments.signals,
        start=arguments.start,
        stop=arguments.stop,
        settings=values,
        inputs=inputs(arguments),
        announce=None if arguments.quiet else announce,
        **step_settings(arguments),
    )
    if arguments.json:
        import json

        from kilohertz.pages.page import finite

        print(json.dumps(finite(tuned.to_dict()), indent=2))
    else:
        print(tuned.as_text())
    if arguments.output is not None:
        name, libraries = _named(arguments.model, arguments.output), tuple(map(_absolute, arguments.library))
        _write(arguments.output, tuned.scenario(name, libraries, values))
    if arguments.page is not None:
        from kilohertz.tuning.front_page import page_of

        _write(arguments.page, page_of(tuned).html())
    return 0 if tuned.ok else FAILED


def _share(text: str) -> float:
    """`0.5%` or `0.005`."""
    try:
        value = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"`{text}` is not a share of a range; write 0.5% or 0.005")
    return value


def _absolute(path: str) -> str:
    return str(Path(path).absolute())


def _named(model: str, scenario: Path) -> str:
    """A file is named as seen from the scenario."""
    file, colon, name = model.partition(":")
    if not file.endswith(".mo"):
        return model
    return f"{os.path.relpath(file, scenario.absolute().parent)}{colon}{name}"


def _write(file: Path, text: str) -> None:
    from kilohertz.base import Diagnostic, ModelError

    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ModelError(Diagnostic("R702", f"cannot write `{file}`: {error.strerror}")) from error
