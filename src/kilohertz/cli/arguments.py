"""Arguments that several commands share."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from kilohertz.base import Diagnostic, ModelError, Note

HELP_INDEX1 = "index-1 form: the method keeps the unknowns of nonlinear loops, no loop is iterated on in a step"
_UNITS = {"": 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0}


def add_model(parser: argparse.ArgumentParser, help: str = "class name, file.mo or file.mo:Class") -> None:
    """MODEL and where to find libraries."""
    parser.add_argument("model", metavar="MODEL", help=help)
    parser.add_argument(
        "-L",
        "--library",
        metavar="DIR",
        action="append",
        default=[],
        help="a folder with libraries, or a library's own folder; may be repeated; comes before MODELICAPATH",
    )


def seconds(text: str) -> float:
    """A duration with an optional unit: 0.5, 1ms, 250us, 2min."""
    number = text.rstrip("abcdefghijklmnopqrstuvwxyzµ") if not text.endswith(("inf", "nan")) else text
    unit = text[len(number) :]
    try:
        if unit in _UNITS:
            return float(number) * _UNITS[unit]
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"`{text}` is not a time; write 0.5, 1ms, 250us or 2min")


def positive_seconds(text: str) -> float:
    """A duration above zero."""
    value = seconds(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"`{text}` is not above zero")
    return value


def setting(text: str) -> tuple[str, str]:
    """`name=value` for --set."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not value.strip():
        raise argparse.ArgumentTypeError(f"`{text}` is not of the form name=value")
    return name.strip(), value.strip()


def internal_steps(text: str) -> int:
    """A number of steps, at least 1."""
    if not text.strip().isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"`{text}` is not a number of steps; write 1, 2, 10")
    return int(text)


def add_internal_steps(add: Callable[..., object]) -> None:
    """The same words in every command that has fixed steps."""
    text = "N equal steps of the whole model in each step, inputs sampled once (1; auto: at most N, if not given 20)"
    add("--internal-steps", metavar="N", type=internal_steps, help=text)


def substeps(text: str) -> tuple[str, int]:
    """`pattern=N` for --substeps."""
    pattern, equals, count = text.rpartition("=")
    if not equals or not pattern.strip() or not count.strip().isdigit():
        raise argparse.ArgumentTypeError(f"`{text}` is not of the form pattern=number")
    return pattern.strip(), int(count)


def not_there_yet(what: str, instead: str = "") -> ModelError:
    """An honest answer for what this version cannot do."""
    notes = (Note(instead),) if instead else ()
    return ModelError(Diagnostic("R790", f"{what} is not part of this version yet", notes=notes))
