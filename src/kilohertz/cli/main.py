"""From arguments to an exit code: 0 fine, 1 the model or the run failed, 2 wrong usage; no traceback on the way."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from kilohertz import __version__
from kilohertz.base import Diagnostic, ModelError, ModelWarning, Severity, SourceMap, closest, near, render
from kilohertz.cli.progress import told_of_long_work

COMMANDS = {
    "check": "parse, flatten and count equations and unknowns",
    "flatten": "print the flat model: variables, equations, where they come from",
    "analyse": "states, loops before and after tearing, events, cost bound",
    "simulate": "run off-line with a variable-step solver or a fixed step",
    "build": "make a real-time executable, its cost bound and its C source",
    "export": "write a model as an FMU for other tools",
    "import": "write an FMU as a Modelica package",
    "run": "build and run in real time",
    "watch": "signals, times and misses of a running rig",
    "set": "change a running rig: signal=value, pause, step, snapshot, restore, stop",
    "fault": "plant faults on signals of a running rig, list and release them",
    "doctor": "what this machine grants a real-time task, and what to change",
    "profile": "run with timers on; where the time goes, by block, line and component",
    "compare": "a result, recording or model against a reference: verdict, errors, where they part",
    "series": "many runs of a model and its variant: cases from parameters, thresholds, results that are kept",
    "tune": "the cheapest settings of the step that are accurate enough",
    "plot": "signals of results over time, on a page",
    "library": "search, install, list, remove and lock Modelica libraries",
    "complete": "let the shell complete commands, options and class names",
    "demo": "the main job on a bundled example, no other set-up",
}
_EPILOG = """\
MODEL is a class found through --library, MODELICAPATH and `khz library`, or file.mo (its last class), file.mo:Class, or
file.fmu, or file.fmu:PATTERN with local variables of the FMU shown;
'MODEL(resistor(R = 50), x(start = 1))' is the same with modifiers compiled in.
Exit codes: 0 fine, 1 the model or the run failed, 2 wrong usage.  KHZ_DEBUG=1 shows tracebacks."""

FAILED, USAGE, INTERRUPTED = 1, 2, 130
_MOST_IN_USAGE = 12  # options


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    return guarded(lambda: _run(words))


def _run(words: list[str]) -> int:
    try:
        arguments = _parse(words)
        with told_of_long_work(quiet=getattr(arguments, "quiet", False)), _warnings_as_diagnostics():
            return int(arguments.run(arguments))
    except SystemExit as leaving:  # argparse: help, version, usage
        return leaving.code if isinstance(leaving.code, int) else USAGE


@contextmanager
def _warnings_as_diagnostics() -> Iterator[None]:
    """What a run in Python warns of is printed as any diagnostic is, without the place in our program."""
    with warnings.catch_warnings():
        warnings.simplefilter("default", ModelWarning)
        otherwise = warnings.showwarning

        def show_warning(message: Warning | str, category: type[Warning], *where: Any, **further: Any) -> None:
            if issubclass(category, ModelWarning):
                print(message, file=sys.stderr)
            else:
                otherwise(message, category, *where, **further)

        warnings.showwarning = show_warning
        yield


def guarded(job: Callable[[], int]) -> int:
    """Run a job; whatever goes wrong becomes a message and an exit code."""
    try:
        code = job()
        sys.stdout.flush()
        return code
    except ModelError as error:
        show(error.diagnostics)
        return FAILED
    except KeyboardInterrupt:
        print("khz: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # whoever read our output has left; keep Python from complaining again when it closes stdout
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if os.environ.get("KHZ_DEBUG"):
            raise
        print(f"khz: internal error: {type(error).__name__}: {error}", file=sys.stderr)
        print(
            "khz: this is a mistake in Kilohertz, not in your model; please report it with the model and the output of "
            "KHZ_DEBUG=1",
            file=sys.stderr,
        )
        return FAILED


def show(diagnostics: Sequence[Diagnostic]) -> None:
    """Print diagnostics to stderr, and how many errors there were when there were several."""
    sources = SourceMap()
    for diagnostic in diagnostics:
        print(render(diagnostic, sources), file=sys.stderr)
    n_errors = sum(d.severity is Severity.ERROR for d in diagnostics)
    if n_errors > 1:
        print(f"{n_errors} errors", file=sys.stderr)


def _parse(words: list[str]) -> argparse.Namespace:
    chosen = next((w for w in words if not w.startswith("-")), "")
    if chosen and chosen not in COMMANDS:
        print(f"khz: error: there is no command `{chosen}`{near(chosen, COMMANDS)}", file=sys.stderr)
        print("note: `khz --help` lists all", file=sys.stderr)
        raise SystemExit(USAGE)
    parser = _parser([chosen])  # only the command that runs is imported
    if not words:  # what there is, instead of what is missing
        parser.print_help(sys.stderr)
        raise SystemExit(USAGE)
    known, unknown = parser.parse_known_args(words)
    if unknown:
        known.parser.error("\n".join([f"unrecognized arguments: {' '.join(unknown)}", *_meant(known, unknown)]))
    return known


class _Parser(argparse.ArgumentParser):
    """What was wrong is all that is said: a usage of twenty lines above would hide it."""

    def format_help(self) -> str:
        """Where there are many options, the usage leaves them to the list below it."""
        if self.usage is None and len(self._get_optional_actions()) > _MOST_IN_USAGE:
            rest = (str(a.metavar) if a.nargs is None else f"[{a.metavar}]" for a in self._get_positional_actions())
            self.usage = f"%(prog)s [options] {' '.join(rest)}"
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"{self.prog}: error: {message}\nnote: `{self.prog} --help` tells how it is called\n")


def _meant(known: argparse.Namespace, unknown: Sequence[str]) -> list[str]:
    """What somebody may have meant by words that no command takes."""
    options = [option for action in known.parser._actions for option in action.option_strings]
    model = str(getattr(known, "model", ""))
    if not unknown[0].startswith("-"):  # one that follows an option would be its value
        return [f"note: a class in a file is `{model}:{unknown[0]}`"] if model.endswith(".mo") else []
    found = closest(unknown[0].partition("=")[0], options, 1)
    return [f"note: did you mean `{found[0]}`?"] if found else []


def whole_parser() -> argparse.ArgumentParser:
    """The command line with every option of every command."""
    return _parser(COMMANDS)


def _parser(complete: Collection[str]) -> argparse.ArgumentParser:
    parser = _Parser(
        prog="khz",
        description="Modelica models to hard real time.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"kilohertz {__version__}")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True, title="commands")
    for name, purpose in COMMANDS.items():
        sub = subparsers.add_parser(name, help=purpose, description=purpose[0].upper() + purpose[1:] + ".")
        if name in complete:
            module = importlib.import_module(f"kilohertz.cli.commands.{name}")
            module.configure(sub)
            sub.set_defaults(run=module.run, parser=sub)
    return parser
