"""`khz import`: an FMU as a Modelica package, to be connected in a model."""

from __future__ import annotations

import argparse
from pathlib import Path

from kilohertz.cli.arguments import words

_EPILOG = """\
The package holds a model `FMU` with the FMU's inputs, outputs and parameters; the FMU lies unpacked beside it.

  khz import Motor.fmu -o Motor.mo
  khz import Motor.fmu --kind me --show 'rotor.*' -o Motor.mo"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("fmu", metavar="FMU", type=Path, help="file.fmu")
    add("-o", "--output", metavar="P.mo", type=Path, help="what to write (default: the file's name)")
    add("--kind", metavar="K", default="", help="cs or me (default: cs, where the FMU offers it)")
    add(
        "--show",
        metavar="P",
        type=words,
        default=(),
        help="local variables to show as outputs: all, names, patterns with *",
    )


def run(arguments: argparse.Namespace) -> int:
    from kilohertz.cli.main import show
    from kilohertz.driver import import_fmu

    wrapped = import_fmu(arguments.fmu, arguments.output, kind=arguments.kind, shown=arguments.show)
    p = wrapped.ports
    kind = {"cs": "Co-Simulation", "me": "Model Exchange"}[wrapped.kind]
    counts = f"{len(p.inputs)} inputs, {len(p.outputs)} outputs, {len(p.parameters) + len(p.texts)} parameters"
    print(f"{wrapped.path}: {wrapped.class_name} ({kind}), {counts}")
    show(p.left_out)
    return 0
