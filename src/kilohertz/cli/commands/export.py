"""`khz export`: a model as an FMU, or as C and CUDA for many instances; a scenario as a system of FMUs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from kilohertz.cli.arguments import (
    add_model,
    add_set,
    add_step_settings,
    compiled_model,
    integer,
    parameter_values,
    step_settings,
    words,
)
from kilohertz.cli.progress import announce

if TYPE_CHECKING:
    from kilohertz.driver import Model

_EPILOG = """\
Co-Simulation steps with the method that --solver and --step say (default: auto, 1 ms) and has the same bits as
`khz simulate` with that method.

  khz export Kilohertz.Examples.DriveTrain --solver rk4 --step 1ms -o DriveTrain.fmu
  khz export scenario.toml -o System.ssp
  khz export Motor.mo --solver rk4 --step 1ms --number single -o Motor.cu
  khz export Motor.mo --fmi 3 --kind cs --target x86_64-windows,aarch64-linux -o Motor.fmu"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add_model(parser, help="class name, file.mo, file.mo:Class, or a scenario.toml")
    add = parser.add_argument
    add_set(parser)
    add(
        "-o",
        "--output",
        metavar="F",
        type=Path,
        help="F.fmu, F.ssp of a scenario, or F.c or F.cu: steps of many instances (default: NAME.fmu)",
    )
    add("--fmi", metavar="V", type=integer, default=2, help="version of FMI: 2 or 3 (default: 2)")
    add("--kind", metavar="K", type=words, default=("me", "cs"), help="me, cs or me,cs (default: both)")
    add("--target", metavar="T", type=words, default=(), help="binaries for other machines too: x86_64-windows,...")
    add("--no-sources", action="store_true", help="binaries alone, without the C they are made from")
    add("--clocks", action="store_true", help="samples as periodic input clocks (--fmi 3)")
    add_step_settings(parser)


def run(arguments: argparse.Namespace) -> int:
    from kilohertz.base import Dotted, render
    from kilohertz.driver import export

    if arguments.model.endswith(".toml"):
        return _export_system(arguments)
    model = compiled_model(arguments)
    if arguments.output is not None and arguments.output.suffix in (".c", ".cu"):
        return _export_step(model, arguments)
    exported = export(
        model,
        arguments.output or Path(f"{Dotted.read(model.name).last}.fmu"),
        fmi=arguments.fmi,
        kinds=arguments.kind,
        targets=arguments.target,
        sources=not arguments.no_sources,
        clocks=arguments.clocks,
        announce=announce,
        **step_settings(arguments),
    )
    s = exported.contents.stepping
    kinds = ", ".join(exported.contents.kinds)
    machines = ", ".join(exported.platforms)
    print(f"{exported.path}: FMI {arguments.fmi} ({kinds}), {machines}, {exported.size / 1024:.0f} KiB")
    if "cs" in exported.contents.kinds:
        print(f"Co-Simulation: {s.solver}, steps of {s.period_ns * 1e-6:g} ms (step {exported.contents.own_step})")
    elif step_settings(arguments):
        given = ", ".join(f"--{name.replace('_', '-')}" for name in step_settings(arguments))
        print(f"Model Exchange makes no steps: {given} not used")
    for warning in (*model.warnings, *exported.warnings):
        print(render(warning, model.session.libraries.sources), file=sys.stderr)
    return 0


def _export_step(model: Model, arguments: argparse.Namespace) -> int:
    from kilohertz.base import Diagnostic, ModelError
    from kilohertz.driver import export_step

    of_fmus = (arguments.fmi, arguments.kind, arguments.target, arguments.no_sources, arguments.clocks)
    if of_fmus != (2, ("me", "cs"), (), False, False):
        raise ModelError(
            Diagnostic("R777", f"`{arguments.output}` is no FMU: --fmi, --kind, --target, ... are for those")
        )
    words = export_step(model, arguments.output, announce=announce, **step_settings(arguments))
    print(f"{arguments.output}: {words}, {arguments.output.stat().st_size / 1024:.0f} KiB")
    return 0


def _export_system(arguments: argparse.Namespace) -> int:
    from kilohertz.cli.main import show
    from kilohertz.driver import export_system, open_job

    values, stepping = parameter_values(arguments), step_settings(arguments)
    scenario = open_job(arguments.model, settings=values, libraries=arguments.library, **stepping).scenario
    written = export_system(
        scenario,
        arguments.output or Path(f"{scenario.name}.ssp"),
        fmi=arguments.fmi,
        targets=arguments.target,
        sources=not arguments.no_sources,
        announce=announce,
    )
    print(f"{written.path}: {', '.join(written.components)}, {written.n_connections} connections, ", end="")
    print(f"{written.size / 1024:.0f} KiB")
    show(written.warnings)
    return 0
