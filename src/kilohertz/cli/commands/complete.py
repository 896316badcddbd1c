"""`khz complete`: let the shell complete commands, options and class names."""

from __future__ import annotations

import argparse

_EPILOG = """\
  eval "$(khz complete bash)"                        now, in this shell
  khz complete bash >> ~/.bash_completion            from now on"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog, parser.formatter_class = _EPILOG, argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "what", choices=("bash", "names"), help="the script; or names of classes that begin with PREFIX"
    )
    parser.add_argument("prefix", metavar="PREFIX", nargs="?", default="")


def run(arguments: argparse.Namespace) -> int:
    from kilohertz.cli.completion import names, script

    if arguments.what == "bash":
        from kilohertz.cli.main import whole_parser

        print(script(whole_parser()), end="")
        return 0
    from kilohertz.driver import Session

    print("\n".join(names(arguments.prefix, Session().libraries)))
    return 0
