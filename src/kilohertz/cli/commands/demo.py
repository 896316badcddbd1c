"""`khz demo`: the main job on a bundled example, with no other set-up."""

from __future__ import annotations

import argparse
from pathlib import Path

from kilohertz.cli.arguments import positive_seconds
from kilohertz.cli.commands.run import shown_progress

_EPILOG = """\
Without NAME: a hydraulic axis (differential cylinder, lines, 4/3 valve) under its position controller, two compiled
models, at 1 kHz.  The folder then holds the scenario (`khz run FOLDER/NAME.toml` runs it again), what was recorded, the
picture, and the executable with its C source."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("name", metavar="NAME", nargs="?", help="which example (default: the hydraulic axis); --list prints them")
    add("--list", action="store_true", help="print the examples, a sentence for each, and run none")
    add("--level", metavar="N", type=int, default=1, help="of detail, for examples that have some (car: 1 to 4)")
    add("--duration", metavar="T", type=positive_seconds, help="how long to run (default: as its scenario says)")
    add("--fast", action="store_true", help="as fast as possible instead of in real time")
    add("-o", "--output", metavar="FOLDER", type=Path, default=Path("khz-demo"), help="default: khz-demo")


def run(arguments: argparse.Namespace) -> int:
    from kilohertz.driver.demos import DEFAULT, EXAMPLES, demo, demo_scenario, find

    if arguments.list:
        print("\n".join(f"{e.name:22}{e.words}" for e in EXAMPLES))
        return 0
    name, level = arguments.name or DEFAULT, arguments.level
    example = find(name, level)
    duration = demo_scenario(arguments.output, name, arguments.duration, level=level).duration
    print(example.words, flush=True)
    with shown_progress(example.name, duration) as (announce, progress):
        done = demo(
            arguments.output,
            name,
            level=level,
            duration=duration,
            fast=arguments.fast,
            announce=announce,
            progress=progress,
        )
    print(done.as_text())
    print(f"picture: {done.picture}\nNext:")
    for command in (f"khz run {arguments.output}/{example.name}.toml --solver lie", *done.example.next):
        print(f"  {command}")
    others = [e.name for e in EXAMPLES if e.name != name]
    print(f"  khz demo NAME, with {', '.join(others[:-1])} or {others[-1]}")
    return 0 if done.report.ok else 1
