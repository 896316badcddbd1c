"""`khz build`: a real-time executable with its cost bound and C source."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from kilohertz.cli.arguments import HELP_INDEX1, add_internal_steps, add_model, positive_seconds

_EPILOG = """\
The folder gets NAME (the executable; it needs no Python), NAME.scenario (what it reads at its start; every key can be
overridden on its command line as key=value), NAME.cost.json (the cost bound of a step) and src/ (all C, with build.sh).

  khz build Kilohertz.Examples.RCCircuit --solver rk4 --step 1ms -o out && out/RCCircuit cycles=2000
  khz build scenario.toml --target aarch64-linux-musl -o arm"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add_model(parser, help="class name, file.mo, file.mo:Class, or a scenario.toml")
    parser.add_argument(
        "--solver", metavar="S", help="fixed-step method: euler, rk4, ... (default: the scenario's, or auto)"
    )
    parser.add_argument(
        "--step", metavar="H", type=positive_seconds, help="step size (default: the scenario's, or 1ms)"
    )
    add_internal_steps(parser.add_argument)
    parser.add_argument("--index1", action="store_true", help=HELP_INDEX1)
    parser.add_argument(
        "--target", metavar="T", default="", help="another machine, through zig: aarch64-linux-gnu, ..."
    )
    parser.add_argument("-o", "--output", metavar="DIR", type=Path, help="where to write (default: the model's name)")


def run(arguments: argparse.Namespace) -> int:
    from kilohertz.driver.realtime import build
    from kilohertz.driver.tasks import open_scenario

    session, scenario = open_scenario(
        arguments.model,
        step=arguments.step,
        solver=arguments.solver,
        internal_steps=arguments.internal_steps,
        libraries=arguments.library,
    )
    if arguments.index1:
        scenario = replace(scenario, tasks=tuple(replace(t, index1=True) for t in scenario.tasks))
    built = build(
        session,
        scenario,
        folder=arguments.output or Path(scenario.name),
        target=arguments.target,
        told=lambda text: print(f"khz: {text}", file=sys.stderr),
    )
    tasks = ", ".join(f"{t.model} by {t.solver} every {t.period_ns * 1e-6:g} ms" for t in scenario.tasks)
    print(f"{built.executable}: {tasks}" + (f", for {built.target}" if built.target else ""))
    print(f"start it with: {built.executable} [key=value ...]")
    return 0
