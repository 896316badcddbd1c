"""`khz complete`: let the shell complete commands, options, class names and parameters."""

from __future__ import annotations

import argparse

_EPILOG = """\
  eval "$(khz complete bash)"                        now, in this shell
  khz complete bash >> ~/.bash_completion            from now on"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog, parser.formatter_class = _EPILOG, argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "what",
        choices=("bash", "names", "parameters"),
        help="the script; or names of classes, or of parameters of the model on LINE, that begin with PREFIX",
    )
    parser.add_argument("prefix", metavar="PREFIX", nargs="?", default="")
    parser.add_argument("line", metavar="LINE", nargs="?", default="")


def run(arguments: argparse.Namespace) -> int:
    from kilohertz.cli.completion import names, parameters, script
    from kilohertz.cli.main import whole_parser

    if arguments.what == "bash":
        print(script(whole_parser()), end="")
        return 0
    if arguments.what == "parameters":
        print("\n".join(parameters(arguments.prefix, arguments.line, whole_parser())))
        return 0
    from kilohertz.driver import Session

    print("\n".join(names(arguments.prefix, Session().libraries)))
    return 0
