"""Arguments that several commands share."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kilohertz import base
from kilohertz.runtime import constant
from kilohertz.solvers import SETTINGS, Setting

if TYPE_CHECKING:
    from kilohertz.driver import Model
    from kilohertz.realtime import Scenario
    from kilohertz.simulate import Inputs

VALUE_HELP = "a parameter, an array `v={1, 2}`, a start value `x.start=1`"
SET_HELP = "a parameter or the start of an input; of several tasks: task.name=value"


def words(text: str) -> tuple[str, ...]:
    """Words with commas between them."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def add_model(parser: argparse.ArgumentParser, help: str = "class name, file.mo or file.mo:Class") -> None:
    """MODEL and where to find libraries."""
    parser.add_argument("model", metavar="MODEL", help=help)
    add_libraries(parser)


def add_libraries(parser: argparse.ArgumentParser) -> None:
    """Where to find libraries."""
    parser.add_argument(
        "-L",
        "--library",
        metavar="DIR",
        action="append",
        default=[],
        help="a folder with libraries, or a library's own folder; may be repeated; comes before MODELICAPATH",
    )


def add_march(parser: argparse.ArgumentParser) -> None:
    """For which processors an executable is compiled."""
    from kilohertz.building import MARCH

    told = "portable code (default), native for processors like this one (same bits), fma also with other bits"
    parser.add_argument("--march", choices=tuple(MARCH), help=told)


def with_march(scenario: Scenario, march: str | None) -> Scenario:
    """The scenario with what was asked for."""
    return replace(scenario, march=march) if march is not None else scenario


def add_step_settings(parser: argparse.ArgumentParser, but: Collection[str] = ()) -> None:
    """How the model is stepped: the same options in every command that steps one (`solvers/settings.py`).

    `but`: names that mean something else in this command.
    """
    group = parser.add_argument_group("settings of the step")
    for name, setting in SETTINGS.items():
        if name in but:
            continue
        option, words = f"--{name.replace('_', '-')}", _help(setting)
        match setting.kind:
            case "flag":
                group.add_argument(option, action=argparse.BooleanOptionalAction, default=None, help=words)
            case "patterns" | "counts":
                group.add_argument(option, metavar=_metavar(setting), action="append", help=words)
            case _:
                group.add_argument(option, metavar=_metavar(setting), type=_TYPES[setting.kind], help=words)


def step_settings(arguments: argparse.Namespace, but: Collection[str] = ()) -> dict[str, Any]:
    """What was given of them, as keywords of the Python API."""
    values = {name: getattr(arguments, name) for name in SETTINGS if name not in but}
    return {name: value for name, value in values.items() if value is not None}


def _help(s: Setting) -> str:
    """The sentence, what it may be, the default."""
    allowed = s.range if s.kind in ("solver", "choice", "count", "number") else ""
    default = f"default: {s.default_text}" if s.default_text and s.kind != "flag" else ""
    more = "; ".join(part for part in (allowed, default) if part)
    return f"{s.help} ({more})" if more else s.help


def _metavar(s: Setting) -> str:
    return {"counts": "PATTERN=N", "patterns": "PATTERN", "count": "N", "time": "H", "number": "X"}.get(s.kind, "NAME")


def seconds(text: str) -> float:
    """A duration with an optional unit: 0.5, 1ms, 250us, 2min."""
    try:
        return base.seconds(float(text) if text in ("inf", "nan") else text)
    except ValueError:
        hint = "; 1 kHz is a step of 1ms" if text.lower().endswith("hz") else ""
        raise argparse.ArgumentTypeError(f"`{text}` is not a time; write 0.5, 1ms, 250us or 2min{hint}") from None


def integer(text: str) -> int:
    """A whole number."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"`{text}` is not an integer; write 1, 2, 10") from None


def turns(text: str) -> int:
    """How often something is iterated at most."""
    value = integer(text)
    if not 0 <= value <= constant("KHZ_MOST_TURNS"):
        raise argparse.ArgumentTypeError(f"`{text}` is not between 0 and {constant('KHZ_MOST_TURNS')}")
    return value


_TYPES: dict[str, Callable[[str], Any]] = {
    "solver": str,
    "choice": str,
    "count": integer,
    "number": float,
    "time": seconds,
}


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


def parameter_values(arguments: argparse.Namespace) -> dict[str, float | str]:
    """What `--set` gave; what a text means (`5 kg`, a literal) the variable of the model says."""
    return dict(arguments.settings)


def compiled_model(arguments: argparse.Namespace) -> Model:
    """MODEL, with what `--set` gave compiled in."""
    from kilohertz.driver import compiled_with, load

    return compiled_with(load(arguments.model, arguments.library), parameter_values(arguments))


def job_keywords(arguments: argparse.Namespace) -> dict[str, Any]:
    """What a task is opened with: values, inputs, libraries, settings of the step."""
    values = {"settings": parameter_values(arguments), "inputs": inputs(arguments)}
    return {**values, "libraries": arguments.library, **step_settings(arguments)}


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """Inputs over time of models that are simulated."""
    from kilohertz.results import endings  # numpy: not for commands without inputs
    from kilohertz.runtime import words

    ways = words("KHZ_STIMULUS_")
    more = "or one input by a formula, 'u=sine(frequency = 2)'; may be repeated"
    add = parser.add_argument
    add("--input", metavar="F|U=FORMULA", action="append", help=f"a file of inputs over time ({endings()}), {more}")
    add("--interpolation", metavar="WAY", default=ways[0], choices=ways, help=f"between rows: {', '.join(ways)}")


def inputs(arguments: argparse.Namespace) -> list[Inputs] | None:
    """What --input says, in the words of the Python API."""
    from kilohertz.simulate import Inputs

    given: list[Inputs] = []
    for text in arguments.input or ():
        name, equals, formula = text.partition("=")
        if not equals or Path(text).exists():
            given.append(Inputs(Path(text), arguments.interpolation))
        else:
            given.append(Inputs({name.strip(): formula.strip()}))
    return given or None


def add_set(parser: argparse.ArgumentParser, help: str = VALUE_HELP) -> None:
    """--set, which may be repeated."""
    parser.add_argument(
        "--set", metavar="NAME=VALUE", type=setting, action="append", default=[], dest="settings", help=help
    )
