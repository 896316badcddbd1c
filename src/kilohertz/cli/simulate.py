"""`khz simulate`: run a model off-line and write its trajectories."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kilohertz.base import render
from kilohertz.cli.arguments import (
    HELP_INDEX1,
    add_internal_steps,
    add_model,
    positive_seconds,
    seconds,
    setting,
    substeps,
)
from kilohertz.results import check_output, endings, write
from kilohertz.solvers import SOLVERS

if TYPE_CHECKING:
    from kilohertz.results import Result


def configure(parser: argparse.ArgumentParser) -> None:
    add_model(parser)
    add = parser.add_argument
    add("--start", metavar="T", type=seconds, help="start time (default: experiment annotation, or 0)")
    add("--stop", metavar="T", type=seconds, help="stop time (default: experiment annotation, or start + 1)")
    add("--solver", metavar="S", default="cvode", help=f"cvode (default), ida; fixed step: auto, {', '.join(SOLVERS)}")
    add("--step", metavar="H", type=positive_seconds, help="step of a fixed-step solver, e.g. 1ms")
    _configure_stepping(parser)
    add("--tolerance", metavar="X", type=float, help="relative tolerance (default: experiment annotation, or 1e-6)")
    add("--intervals", metavar="N", type=int, help="output intervals (default: experiment annotation, or 500)")
    add("--set", metavar="NAME=VALUE", type=setting, action="append", default=[], dest="settings", help="a parameter")
    add("--record", metavar="R", default="all", help="all (default), outputs, or a pattern such as 'motor.*'")
    add("-o", "--output", metavar="F", type=Path, help=f"write F: {endings(to_write=True)}")
    add("-q", "--quiet", action="store_true", help="no progress bar and no summary")


def _configure_stepping(parser: argparse.ArgumentParser) -> None:
    """What a fixed-step solver does besides; the work per step is bounded with each of them."""
    add = parser.add_argument_group("fixed-step solvers").add_argument
    known = "none (at its end, default), mid, linear, catch-up, exact, hermite, predict, predict-quadratic"
    add("--events", metavar="E", help=f"where a state event inside a step is handled: {known}")
    add("--newton", metavar="N", type=int, help="Newton iterations per stage of a diagonally implicit method (2)")
    add("--loop-newton", metavar="N", type=int, help="cap of Newton iterations in each loop of the model (6)")
    add("--event-cap", metavar="N", type=int, help="cap of passes of an event iteration (16)")
    add("--events-per-step", metavar="N", type=int, help="events located in one step by catch-up and exact (4)")
    add("--jacobian-every", metavar="K", type=int, help="renew the Jacobian every K-th step (1)")
    add("--input-mode", metavar="M", help="inputs over a step: held (default), linear, quadratic")
    add_internal_steps(add)
    add("--inline", action="store_true", help="join implicit stages with the equations of the model")
    add("--index1", action="store_true", help=HELP_INDEX1)
    mixed = "mixed mode (imex1, ars222, ars443): these states implicit, the others explicit; `auto` takes the fast ones"
    add("--implicit", metavar="PATTERN", action="append", default=[], help=mixed)
    help_part = "N sub-steps for the states of a part of the model (imex1, ars222)"
    add("--substeps", metavar="PATTERN=N", type=substeps, action="append", default=[], help=help_part)


def _stepping(arguments: argparse.Namespace) -> dict[str, Any]:
    names = ("events", "newton", "loop_newton", "event_cap", "events_per_step", "jacobian_every", "input_mode")
    given = {name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None}
    return {
        **given,
        "internal_steps": arguments.internal_steps,
        "inline": arguments.inline,
        "index1": arguments.index1,
        "implicit": arguments.implicit,
        "substeps": dict(arguments.substeps),
    }


def run(arguments: argparse.Namespace) -> int:
    from kilohertz.driver import load
    from kilohertz.simulate import Statistics

    if arguments.output is not None:
        check_output(arguments.output)
    started = time.perf_counter()
    model = load(arguments.model, arguments.library)
    statistics = Statistics()
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
            told=None if progress is None else lambda text: print(f"khz: {text}", file=sys.stderr),
            statistics=statistics,
            **_stepping(arguments),
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
