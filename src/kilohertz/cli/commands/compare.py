"""`khz compare`: is a result still right?"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kilohertz.base import Diagnostic, ModelError
from kilohertz.cli.arguments import (
    add_inputs,
    add_libraries,
    add_set,
    add_step_settings,
    inputs,
    seconds,
    step_settings,
)
from kilohertz.cli.progress import announce
from kilohertz.results import check_place, endings

if TYPE_CHECKING:
    from kilohertz.compare import Wanted
    from kilohertz.driver.comparing import Definition

_EXAMPLES = """\
examples:
  khz compare run.csv reference.mat --tolerance 0.01      two result files
  khz compare plant.csv Plant.mo --input plant.csv --interpolation recorded
                                                          a recording against its model, driven by the same inputs
  khz compare Servo.mo --solver rk4 --step 1ms            a fixed step against CVODE, the same model
  khz compare servo.mat Servo.mo --solver rk4 --step 1ms  a recording against the same steps off-line
  khz compare variant.toml --page report.html --junit r.xml
                                                          sides, names, tolerances: docs/reference/compare.md
The exit code is 0 where every signal passes, 1 where one does not."""

_OTHER = ("tolerance",)  # of the tube here; that of the solver stands in a comparison.toml


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog, parser.formatter_class = _EXAMPLES, argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    kinds = f"a result ({endings()}) or a model"
    add("a", metavar="A", help=f"{kinds} to be judged, or a comparison.toml that says all")
    add("b", metavar="B", nargs="?", help="the reference, likewise (default: A itself, simulated by CVODE)")
    add_libraries(parser)
    add(
        "--signals",
        metavar="P",
        action="append",
        help="a name, a pattern or a file of names; those must be there; may be repeated",
    )
    add("--tolerance", metavar="X", type=float, help="size of the tube (default 0.002)")
    add("--rms", metavar="X", type=float, help="also require this root mean square error")
    add("--symmetric", action="store_true", default=None, help="also ask that the result follows every peak")
    add(
        "--stop",
        metavar="T",
        type=seconds,
        help="stop time of models; files are cut there (default: as the other)",
    )
    add_inputs(parser)
    add("--json", action="store_true", help="print all numbers as JSON")
    add("--junit", metavar="F", type=Path, help="write the verdicts as JUnit XML")
    add("--page", metavar="F", type=Path, help="write plots of both sides: a page, .html, or a picture, .png or .svg")
    add_set(parser, "a parameter of A, where it is a model, else of B; settings of the step likewise")
    add_step_settings(parser, _OTHER)


def run(arguments: argparse.Namespace) -> int:
    from kilohertz.cli.main import FAILED
    from kilohertz.compare.reports import as_json, as_junit, as_text
    from kilohertz.driver.comparing import run_definition
    from kilohertz.driver.comparing.comparison_page import page_of
    from kilohertz.pages import check_page, save

    if arguments.page is not None:
        check_page(arguments.page)
    for file in (arguments.junit, arguments.page):
        if file is not None:
            check_place(file)
    definition = _definition(arguments)
    outcome = run_definition(definition, announce=announce if sys.stderr.isatty() else None)
    verdict, explained = outcome.verdict, (outcome.why, outcome.notes)
    print(as_json(verdict, *explained) if arguments.json else as_text(verdict, *explained))
    if arguments.junit is not None:
        _write(arguments.junit, as_junit(verdict, definition.name, *explained))
    if arguments.page is not None:
        save(page_of(outcome), arguments.page)
    return 0 if verdict.ok else FAILED


def _definition(arguments: argparse.Namespace) -> Definition:
    from kilohertz.driver.comparing import Side, definition_of_sides, read_definition
    from kilohertz.solvers import StepSettings

    if arguments.a.endswith(".toml"):
        _no_second_word(arguments)
        read = read_definition(arguments.a)
        return replace(read, libraries=(*arguments.library, *read.libraries))
    stepping, values = StepSettings.of(**step_settings(arguments, _OTHER)), dict(arguments.settings)
    driven = tuple(inputs(arguments) or ())
    result, reference = (Side(s, stop=arguments.stop, inputs=driven) for s in (arguments.a, arguments.b or arguments.a))
    if result.is_file and arguments.b is None:
        raise ModelError(Diagnostic("R743", f"what is `{arguments.a}` compared with?  Name a reference"))
    if not result.is_file:
        result = replace(result, settings=values, stepping=stepping)
    elif not reference.is_file:
        reference = replace(reference, settings=values, stepping=stepping)
    elif stepping.given or values:
        what = ", ".join((*sorted(stepping.given), *values))
        raise ModelError(Diagnostic("R723", f"`{what}` is for a model, and both sides are files"))
    return definition_of_sides(result, reference, _wanted(arguments), arguments.library)


def _no_second_word(arguments: argparse.Namespace) -> None:
    """A file says all: what is given besides would be dropped."""
    beside = ("b", "signals", "tolerance", "rms", "symmetric", "stop", "settings", "input")
    if step_settings(arguments, _OTHER) or any(getattr(arguments, name) for name in beside):
        raise ModelError(Diagnostic("R723", f"`{arguments.a}` says what is compared; nothing is given beside it"))


def _wanted(arguments: argparse.Namespace) -> Wanted:
    from kilohertz.compare import Bars, Wanted

    values = {name: getattr(arguments, name) for name in ("tolerance", "rms", "symmetric")}
    bars = Bars(**{name: value for name, value in values.items() if value is not None})
    return Wanted(bars, only=[name for text in arguments.signals or () for name in _names(text)])


def _names(text: str) -> list[str]:
    """A name or a pattern; or, where there is such a file, a name in each line."""
    file = Path(text)
    if not file.is_file():
        return [text]
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise ModelError(Diagnostic("R701", f"cannot read `{file}`: {error.strerror}")) from error
    return [line.strip() for line in lines if line.strip()]


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ModelError(Diagnostic("R702", f"cannot write `{file}`: {error.strerror}")) from error
