"""`khz demo`: the main job on a bundled example, with no other set-up."""

from __future__ import annotations

import argparse
from pathlib import Path

from kilohertz.cli.arguments import positive_seconds
from kilohertz.cli.commands.run import shown_progress

_EPILOG = """\
A hydraulic axis (differential cylinder, lines, 4/3 valve) under its position controller, two compiled models, at 1 kHz.
The folder then holds the scenario (`khz run FOLDER/hydraulic_axis.toml` runs it again), what was recorded, the picture,
and the executable with its C source."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("--duration", metavar="T", type=positive_seconds, default=10.0, help="how long to run (default 10 s)")
    add("--fast", action="store_true", help="as fast as possible instead of in real time")
    add("-o", "--output", metavar="FOLDER", type=Path, default=Path("khz-demo"), help="default: khz-demo")


def run(arguments: argparse.Namespace) -> int:
    from kilohertz.driver.axis_demo import demo

    print("A hydraulic axis under its position controller: two models, 1 kHz.", flush=True)
    with shown_progress("hydraulic_axis", arguments.duration) as (announce, progress):
        done = demo(
            arguments.output, duration=arguments.duration, fast=arguments.fast, announce=announce, progress=progress
        )
    print(done.as_text())
    print(f"picture: {done.picture}\nNext:")
    print(f"  khz run {arguments.output}/hydraulic_axis.toml --solver lie")
    print("  khz analyse Kilohertz.Examples.HydraulicAxis.Plant")
    print("  khz simulate Kilohertz.Examples.HydraulicAxis.OpenLoop -o result.csv")
    return 0 if done.report.ok else 1
