"""`khz simulate`: run a model off-line and write its trajectories."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from kilohertz.base import render
from kilohertz.cli.arguments import add_model, add_set, add_step_settings, seconds, step_settings
from kilohertz.results import check_output, endings, write

if TYPE_CHECKING:
    from kilohertz.results import Result


def configure(parser: argparse.ArgumentParser) -> None:
    add_model(parser)
    add = parser.add_argument
    add("--start", metavar="T", type=seconds, help="start time (default: experiment annotation, or 0)")
    add("--stop", metavar="T", type=seconds, help="stop time (default: experiment annotation, or start + 1)")
    add("--intervals", metavar="N", type=int, help="output intervals (default: experiment annotation, or 500)")
    add_set(parser, "a parameter")
    add("--record", metavar="R", default="all", help="all (default), outputs, or a pattern such as 'motor.*'")
    add("-o", "--output", metavar="F", type=Path, help=f"write F: {endings(to_write=True)}")
    add("-q", "--quiet", action="store_true", help="no progress bar and no summary")
    add_step_settings(parser)


def run(arguments: argparse.Namespace) -> int:
    from kilohertz.driver import load
    from kilohertz.simulate import Statistics

    if arguments.output is not None:
        check_output(arguments.output)
    started = time.perf_counter()
    model = load(arguments.model, arguments.library)
    statistics = Statistics()
    with progress_bar(model.name, arguments.quiet) as progress:
        result = model.simulate(
            start=arguments.start,
            stop=arguments.stop,
            intervals=arguments.intervals,
            settings=dict(arguments.settings),
            record=arguments.record,
            progress=progress,
            told=None if progress is None else lambda text: print(f"khz: {text}", file=sys.stderr),
            statistics=statistics,
            **step_settings(arguments),
        )
    if arguments.output is not None:
        write(arguments.output, result)
    if not arguments.quiet:
        for note in statistics.notes:
            print(note)
        print(_summary(result, time.perf_counter() - started))
    for warning in statistics.warnings:
        print(render(warning, model.session.libraries.sources), file=sys.stderr)
    return 1 if statistics.counts.get("held") else 0


def _summary(result: Result, elapsed: float) -> str:
    span = f"{result.time[0]:g} .. {result.time[-1]:g} s"
    return f"{result.name}: {span}, {len(result.time)} rows, {len(result.names)} signals, {elapsed:.2f} s"


@contextmanager
def progress_bar(name: str, quiet: bool) -> Iterator[Callable[[float], None] | None]:
    """A callback for the share done; None where nobody watches."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=1.0)
        yield lambda share: bar.update(task, completed=share)
