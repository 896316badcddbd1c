"""`khz simulate`: run a model off-line and write its trajectories."""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from kilohertz.base import Diagnostic, ModelError, ModelWarning, render
from kilohertz.cli.arguments import (
    add_inputs,
    add_model,
    add_set,
    add_step_settings,
    inputs,
    seconds,
    step_settings,
    turns,
)
from kilohertz.cli.progress import announce, watched_bar
from kilohertz.results import check_output, endings, write

if TYPE_CHECKING:
    from kilohertz.results import Result
    from kilohertz.simulate import Statistics


def configure(parser: argparse.ArgumentParser) -> None:
    add_model(parser, help="class name, file.mo, file.mo:Class, an FMU, or a system of FMUs (SSP)")
    add = parser.add_argument
    add("--start", metavar="T", type=seconds, help="start time (default: experiment annotation, or 0)")
    add("--stop", metavar="T", type=seconds, help="stop time (default: experiment annotation, or start + 1)")
    add("--intervals", metavar="N", type=int, help="output intervals (default: experiment annotation, or 500)")
    add_set(parser)
    add_inputs(parser)
    record = "all (default), outputs, a name or a pattern such as 'motor.*'; may be repeated"
    add("--record", metavar="R", action="append", help=record)
    add("-o", "--output", metavar="F", type=Path, help=f"write F: {endings(to_write=True)}")
    add("--isolate", action="store_true", help="an FMU may compute and read; no files, connections, programs")
    add("--iterate", metavar="N", type=turns, help="turns in which algebraic loops of a system of FMUs settle")
    add("-q", "--quiet", action="store_true", help="no progress bar and no summary")
    add_step_settings(parser)


def run(arguments: argparse.Namespace) -> int:
    from kilohertz.driver import is_fmu, is_system, load
    from kilohertz.simulate import Statistics

    if arguments.output is not None:
        check_output(arguments.output)
    started = time.perf_counter()
    if is_fmu(arguments.model):
        return _run_fmu(arguments, started)
    if arguments.isolate:
        raise ModelError(Diagnostic("R815", "`--isolate` is for an FMU that is run off-line"))
    if is_system(arguments.model):
        return _run_system(arguments, started)
    if arguments.iterate is not None:
        raise ModelError(Diagnostic("R723", "`--iterate` is for a system of FMUs, or for `khz run`"))
    model, values = load(arguments.model, arguments.library).with_values(dict(arguments.settings))
    statistics = Statistics()
    with progress_bar(model.name, arguments.quiet) as progress, _kept_on_failure(arguments.output, statistics):
        warnings.simplefilter("ignore", ModelWarning)  # printed below
        result = model.simulate(
            start=arguments.start,
            stop=arguments.stop,
            intervals=arguments.intervals,
            settings=values,
            inputs=inputs(arguments),
            record=arguments.record or "all",
            progress=progress,
            announce=None if progress is None else announce,
            statistics=statistics,
            **step_settings(arguments),
        )
    if arguments.output is not None:
        write(arguments.output, result)
    if not arguments.quiet:
        for line in (*statistics.notes, *statistics.messages):
            print(line)
        print(_summary(result, time.perf_counter() - started))
    for warning in (*model.warnings_with(values), *statistics.warnings):
        print(render(warning, model.session.libraries.sources), file=sys.stderr)
    return 0 if result.ok else 1


def _run_fmu(arguments: argparse.Namespace, started: float) -> int:
    from kilohertz.cli.main import show
    from kilohertz.driver import simulate_fmu

    with _kept_on_failure(arguments.output):
        result = simulate_fmu(
            arguments.model,
            start=arguments.start,
            stop=arguments.stop,
            intervals=arguments.intervals,
            settings=dict(arguments.settings),
            inputs=inputs(arguments),
            record=arguments.record or "all",
            isolate=arguments.isolate,
            **step_settings(arguments),
        )
    if arguments.output is not None:
        write(arguments.output, result)
    if not arguments.quiet:
        print(_summary(result, time.perf_counter() - started))
    show(result.problems)
    return 0 if result.ok else 1


def _run_system(arguments: argparse.Namespace, started: float) -> int:
    from kilohertz.driver import simulate_system

    if arguments.intervals is not None:
        raise ModelError(Diagnostic("R723", "`intervals` is not for a system of FMUs: it has a row for each step"))
    report = simulate_system(
        arguments.model,
        start=arguments.start,
        stop=arguments.stop,
        settings=dict(arguments.settings),
        inputs=inputs(arguments),
        record=arguments.record or "all",
        iterate=arguments.iterate or 0,
        announce=None if arguments.quiet else announce,
        **step_settings(arguments),
    )
    if arguments.output is not None and report.recording is not None:
        write(arguments.output, report.result)
    if not arguments.quiet and report.recording is not None:
        print(_summary(report.result, time.perf_counter() - started))
    if not report.ok:
        print(report.as_text())
    return 0 if report.ok else 1


def _summary(result: Result, elapsed: float) -> str:
    span = f"{result.time[0]:g} .. {result.time[-1]:g} s"
    return f"{result.name}: {span}, {len(result.time)} rows, {len(result.names)} signals, {elapsed:.2f} s"


@contextmanager
def _kept_on_failure(output: Path | None, statistics: Statistics | None = None) -> Iterator[None]:
    """What was recorded before a failure or Ctrl-C is written, and said to be a part; what the model said is shown."""
    from kilohertz.simulate import RunFailed, RunInterrupted

    try:
        with warnings.catch_warnings():
            yield
    except (RunFailed, RunInterrupted) as stopped:
        partial = stopped.partial
        if output is not None and len(partial.time):
            write(output, partial)
            until = f"{len(partial.time)} rows, until {partial.time[-1]:g} s"
            announce(f"{output} holds a part of the run: {until}")
        for line in statistics.messages if statistics is not None else ():
            print(line)
        raise


@contextmanager
def progress_bar(name: str, quiet: bool) -> Iterator[Callable[[float], None] | None]:
    """A callback for the share done; None where nobody watches."""
    if quiet:
        yield None
        return
    with watched_bar() as bar:
        if bar is None:
            yield None
            return
        task = bar.add_task(name, total=1.0)
        yield lambda share: bar.update(task, completed=share)
