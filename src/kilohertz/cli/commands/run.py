"""`khz run`: build and run in real time, watch over it, report."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kilohertz.base import Diagnostic, ModelError
from kilohertz.cli.arguments import (
    SET_HELP,
    add_inputs,
    add_march,
    add_model,
    add_set,
    add_step_settings,
    job_keywords,
    positive_seconds,
    turns,
    with_march,
)
from kilohertz.cli.progress import announce, watched_bar
from kilohertz.results import check_place, endings

if TYPE_CHECKING:
    from kilohertz.base import Announce
    from kilohertz.realtime import Live, Scenario
    from kilohertz.realtime.launch import Progress

_EPILOG = """\
  khz run Kilohertz.Examples.RCCircuit --duration 2s
  khz run scenario.toml -o result.mat
While it runs: `khz watch NAME`, `khz set --rig NAME signal=value`.  Ctrl-C ends the run and prints the report.
Exit codes: 0 it ended as it should, 1 it could not start, a policy stopped it, steps or assertions failed, a value was
not a number or the recording could not be written, 2 wrong usage."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add_model(parser, help="class name, file.mo, file.mo:Class, an FMU, a system of FMUs (SSP), or a scenario.toml")
    add = parser.add_argument
    add("--duration", metavar="T", type=positive_seconds, help="how long to run, e.g. 10s (default: until stopped)")
    add("--fast", action="store_true", help="as fast as possible instead of in real time")
    add("-o", "--output", metavar="F", type=Path, help=f"write what was recorded: {endings(to_write=True)}")
    add("--json", metavar="F", type=Path, help="write the report to F as JSON")
    add(
        "--profile",
        metavar="MODE",
        nargs="?",
        const="always",
        default="",
        help="where the time of its cycles goes: always (default; cheap), burst (all of it), off (until watch says so)",
    )
    add("--iterate", metavar="N", type=turns, help="turns in which values of tasks that need each other settle")
    add("--isolate", action="store_true", help="models may compute and wait: another system call ends the run")
    add_march(parser)
    add("--no-check", action="store_true", help="do not measure beforehand whether the period can be kept")
    add("-q", "--quiet", action="store_true", help="no progress and no report")
    add_set(parser, SET_HELP)
    add_inputs(parser)
    add_step_settings(parser)


def run(arguments: argparse.Namespace) -> int:
    from kilohertz.cli.main import show
    from kilohertz.driver import open_job

    job = open_job(
        arguments.model,
        duration=arguments.duration,
        profile=arguments.profile,
        iterate=arguments.iterate,
        **job_keywords(arguments),
    )
    scenario = _with_output(job.scenario, arguments)
    with shown_progress(scenario.name, scenario.duration, arguments.quiet) as (announce, progress):
        report = replace(job, scenario=scenario).run(announce=announce, progress=progress, check=not arguments.no_check)
    if not arguments.quiet:
        print(report.as_text())
        if report.recording is not None:
            named = "" if report.unwritten else scenario.recording.file
            print(f"  recording: {named or report.recording}")
        for file in report.profiles:
            print(f"  profile: {file}\n  {_first_line(file)}")
    show(report.unwritten)
    if arguments.json is not None:
        _write_json(arguments.json, report.data)
    return 0 if report.ok else 1


def _first_line(file: Path) -> str:
    from kilohertz.profiler import headline, read_profile, worst_causes

    profile = read_profile(file)
    return headline(profile, worst_causes(profile, max(1, len(profile.misses))))


def _with_output(scenario: Scenario, arguments: argparse.Namespace) -> Scenario:
    output: Path | None = arguments.output
    if arguments.json is not None:
        check_place(arguments.json)
    if output is not None:
        scenario = replace(scenario, recording=replace(scenario.recording, file=str(output)))
    if arguments.isolate:
        scenario = replace(scenario, realtime=replace(scenario.realtime, isolate=True))
    scenario = with_march(scenario, arguments.march)
    return replace(scenario, scale=None) if arguments.fast else scenario


def _write_json(path: Path, data: object) -> None:
    import json

    try:
        path.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise ModelError(Diagnostic("R702", f"cannot write `{path}`: {error.strerror}")) from error


@contextmanager
def shown_progress(
    name: str, duration: float, quiet: bool = False
) -> Iterator[tuple[Announce | None, Progress | None]]:
    """Lines on what is done, and a bar with the misses so far where somebody watches."""
    if quiet:
        yield None, None
        return

    with watched_bar() as bar:
        if bar is None:
            yield announce, None
            return
        task = bar.add_task("building", total=None if duration == float("inf") else duration)

        def progress(time: float, live: Live | None) -> None:
            missed = f", {live.counts['missed']} missed" if live is not None else ""
            bar.update(task, completed=time, description=f"{name} {time:.1f} s{missed}")

        yield lambda text: bar.console.print(f"khz: {text}", markup=False, highlight=False), progress
