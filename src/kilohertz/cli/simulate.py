"""`khz simulate`: run a model off-line and write its trajectories."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from kilohertz.base import Diagnostic, ModelError
from kilohertz.cli.arguments import add_model, positive_seconds, seconds, setting

if TYPE_CHECKING:
    from kilohertz.results import Result


def configure(parser: argparse.ArgumentParser) -> None:
    add_model(parser)
    add = parser.add_argument
    add("--start", metavar="T", type=seconds, help="start time (default: experiment annotation, or 0)")
    add("--stop", metavar="T", type=seconds, help="stop time (default: experiment annotation, or start + 1)")
    add("--solver", metavar="S", default="cvode", help="cvode (default), ida, euler, rk4, ...")
    add("--step", metavar="H", type=positive_seconds, help="step of a fixed-step solver, e.g. 1ms")
    add("--tolerance", metavar="X", type=float, help="relative tolerance (default: experiment annotation, or 1e-6)")
    add("--intervals", metavar="N", type=int, help="output intervals (default: experiment annotation, or 500)")
    add("--set", metavar="NAME=VALUE", type=setting, action="append", default=[], dest="settings", help="a parameter")
    add("--record", metavar="R", default="all", help="all (default), outputs, or a pattern such as 'motor.*'")
    add("-o", "--output", metavar="F", type=Path, help="write F.csv or F.mat")
    add("-q", "--quiet", action="store_true", help="no progress bar and no summary")


def run(arguments: argparse.Namespace) -> int:
    from kilohertz.driver import load

    _check_output(arguments.output)
    started = time.perf_counter()
    model = load(arguments.model, arguments.library)
    with _progress_bar(model.name, arguments.quiet) as progress:
        result = model.simulate(
            start=arguments.start,
            stop=arguments.stop,
            solver=arguments.solver,
            step=arguments.step,
            tolerance=arguments.tolerance,
            intervals=arguments.intervals,
            settings=dict(arguments.settings),
            record=arguments.record,
            progress=progress,
        )
    if arguments.output is not None:
        _write(arguments.output, result)
    if not arguments.quiet:
        print(_summary(result, time.perf_counter() - started))
    return 0


def _check_output(path: Path | None) -> None:
    """Refuse a wrong ending before an hour of simulation, not after."""
    if path is not None and path.suffix.lower() not in (".csv", ".mat"):
        raise ModelError(Diagnostic("R704", f"no result format is called `{path.suffix}`; use .csv or .mat"))
    if path is not None and not path.absolute().parent.is_dir():
        raise ModelError(Diagnostic("R702", f"cannot write `{path}`: there is no such folder"))


def _write(path: Path, result: Result) -> None:
    from kilohertz.results import write

    try:
        write(path, result)
    except OSError as error:
        raise ModelError(Diagnostic("R702", f"cannot write `{path}`: {error.strerror}")) from error


def _summary(result: Result, elapsed: float) -> str:
    span = f"{result.time[0]:g} .. {result.time[-1]:g} s"
    return f"{result.name}: {span}, {len(result.time)} rows, {len(result.names)} signals, {elapsed:.2f} s"


@contextmanager
def _progress_bar(name: str, quiet: bool) -> Iterator[Callable[[float], None] | None]:
    """A callback for the share done; None where nobody watches."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=1.0)
        yield lambda share: bar.update(task, completed=share)
