"""`khz build`: a real-time executable with its cost bound and C source."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from kilohertz.cli.arguments import (
    SET_HELP,
    add_inputs,
    add_march,
    add_model,
    add_set,
    add_step_settings,
    job_keywords,
    with_march,
)
from kilohertz.cli.progress import announce

_EPILOG = """\
The folder gets NAME (the executable; it needs no Python), NAME.scenario (what it reads at its start; every key can be
overridden on its command line as key=value), NAME.cost.json (the cost bound of a step) and src/ (all C, with
build.sh and CMakeLists.txt).

  khz build Kilohertz.Examples.RCCircuit --solver rk4 --step 1ms -o out && out/RCCircuit cycles=2000
  khz build scenario.toml --target aarch64-linux-musl -o arm"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add_model(parser, help="class name, file.mo, file.mo:Class, or a scenario.toml")
    parser.add_argument(
        "--target", metavar="T", default="", help="another machine, through zig: aarch64-linux-gnu, ..."
    )
    add_march(parser)
    parser.add_argument("-o", "--output", metavar="DIR", type=Path, help="where to write (default: the model's name)")
    add_set(parser, SET_HELP)
    add_inputs(parser)
    add_step_settings(parser)


def run(arguments: argparse.Namespace) -> int:
    from kilohertz.driver import open_job

    job = open_job(arguments.model, **job_keywords(arguments))
    built = replace(job, scenario=with_march(job.scenario, arguments.march)).build(
        folder=arguments.output or Path(job.scenario.name),
        target=arguments.target,
        announce=announce,
    )
    steps = ((t.model, t.stepping, word) for t, word in zip(built.scenario.tasks, built.steps, strict=True))
    tasks = ", ".join(
        f"{model} by {s.solver} every {s.period_ns * 1e-6:g} ms (step {word})" for model, s, word in steps
    )
    print(f"{built.executable}: {tasks}" + (f", for {built.target}" if built.target else ""))
    print(f"start it with: {built.executable} [key=value ...]")
    return 0
