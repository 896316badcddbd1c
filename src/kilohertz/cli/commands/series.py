"""`khz series`: many runs of a model and its variant, with thresholds."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kilohertz.cli.arguments import add_libraries, integer
from kilohertz.cli.progress import announce, watched_bar

if TYPE_CHECKING:
    from kilohertz.base import Announce
    from kilohertz.sweep import Report

_EPILOG = """\
The file says which parameters take which values, what is run and measured, and which values are exceptional:
docs/reference/series.md.  A series that was stopped goes on where it was when it is started again.
Exit codes: 0 all cases ran and none is exceptional, 1 some are, or the series could not be run, 2 wrong usage."""
_NEWS_EVERY = 10.0  # seconds, where nobody watches a bar


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog, parser.formatter_class = _EPILOG, argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("file", metavar="FILE.toml", type=Path, help="the series")
    add("-o", "--output", metavar="DIR", type=Path, help="folder of results (default: NAME.series beside the file)")
    add("-j", "--jobs", metavar="N", type=integer, help="processes (default: one for each core)")
    add("--scheduler", metavar="ADDRESS", default="", help="run the cases on this Dask cluster, tcp://host:8786")
    add("--fresh", action="store_true", help="begin anew: forget the results that are in the folder")
    add(
        "--page",
        metavar="F",
        type=Path,
        help="write a page with all cases, the exceptional ones drawn (HTML, one file)",
    )
    add("--json", action="store_true", help="print the report as JSON")
    add("-q", "--quiet", action="store_true", help="no progress")
    add_libraries(parser)


def run(arguments: argparse.Namespace) -> int:
    from kilohertz.cli.main import FAILED
    from kilohertz.driver import Session
    from kilohertz.driver.studies.series import default_folder, execute
    from kilohertz.results import check_place
    from kilohertz.sweep import Means, read_series

    if arguments.page is not None:
        check_place(arguments.page)
    read = read_series(arguments.file)
    series = replace(read, libraries=(*arguments.library, *read.libraries))
    folder = arguments.output or default_folder(series)
    means = Means(folder, arguments.jobs, arguments.scheduler, arguments.fresh)
    try:
        with shown_progress(series.name, arguments.quiet) as (announce, progress):
            report = execute(series, means, Session(series.libraries), progress, announce)
    except KeyboardInterrupt:
        print(f"khz: stopped; what is done is in {folder}, the same command goes on from there", file=sys.stderr)
        raise
    _show(report, arguments)
    return 0 if report.ok else FAILED


def _show(report: Report, arguments: argparse.Namespace) -> None:
    if arguments.json:
        import json

        from kilohertz.pages.page import finite

        print(json.dumps(finite(report.to_dict()), indent=2))
    else:
        print(report.as_text())
    if arguments.page is not None:
        from kilohertz.pages import write_page
        from kilohertz.sweep.series_page import page_of

        write_page(page_of(report), arguments.page)


Progress = Callable[[int, int, float], None]


@contextmanager
def shown_progress(name: str, quiet: bool) -> Iterator[tuple[Announce | None, Progress | None]]:
    """A bar with the time left where somebody watches, else a line now and then."""
    if quiet:
        yield None, None
        return

    with watched_bar() as bar:
        if bar is None:
            yield announce, _lines()
            return
        task = bar.add_task(name, total=None)

        def progress(done: int, total: int, left: float) -> None:
            words = f"{name}: {done} of {total} cases, {_duration(left)} left"
            bar.update(task, completed=done, total=total, description=words)

        yield announce, progress


def _lines() -> Progress:
    last = time.monotonic()

    def progress(done: int, total: int, left: float) -> None:
        nonlocal last
        if time.monotonic() - last >= _NEWS_EVERY:
            last = time.monotonic()
            announce(f"{done} of {total} cases, {_duration(left)} left")

    return progress


def _duration(seconds: float) -> str:
    if seconds == float("inf"):
        return "?"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
