"""`khz set`: change a running rig between two of its steps."""

from __future__ import annotations

import argparse

from kilohertz.cli.arguments import integer, setting

_EPILOG = """\
  khz set resistor.R=50                        the only rig that runs
  khz set --rig axis controller.k=3.5 --pause
  khz set 'gains[2]=4' 'limits={1, 2}'         an element, and a whole array, one element after the other
  khz set u=3 --override                       also where a device or a stimulus drives it; --release u ends it
What is given is done in this order: restore, release, values, snapshot, step, pause or resume, stop.
A model with external objects keeps its parameters. A snapshot holds everything but what external functions remember: it
is refused where one may (not declared `pure`, and given an external object, or `impure`); tables are `pure`."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("values", metavar="NAME=VALUE", type=_setting, nargs="*", help="a tunable parameter or an input")
    add("--rig", metavar="RIG", default="", help="the rig's name (default: the only one that runs)")
    add("--override", action="store_true", help="hold these against what drives them, until they are released")
    add("--release", metavar="SIGNAL", action="append", default=[], help="end an override, or any fault on it")
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--pause", action="store_true", help="stop stepping; time stands still")
    way.add_argument("--resume", action="store_true", help="go on")
    add("--step", metavar="N", type=_steps, help="make N steps, then pause")
    add("--snapshot", action="store_true", help="keep the state of all models inside the rig")
    add("--restore", action="store_true", help="go back to the snapshot")
    add("--stop", action="store_true", help="end the rig; it writes its report")


def _setting(text: str) -> tuple[str, str]:
    try:
        return setting(text)
    except argparse.ArgumentTypeError as wrong:
        hint = "" if "=" in text else f"; a rig is named by --rig {text}"
        raise argparse.ArgumentTypeError(f"{wrong}{hint}") from None


def _steps(text: str) -> int:
    number = integer(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"`{text}` is not 1 or more")
    return number


def run(arguments: argparse.Namespace) -> int:
    from kilohertz.realtime import attach

    with attach(arguments.rig) as live:
        if arguments.restore:
            live.restore()
        for name in arguments.release:
            live.release(name)
        for name, value in arguments.values:
            (live.override if arguments.override else live.set)(name, value)
        if arguments.snapshot:
            live.snapshot()
        if arguments.step is not None:
            live.step(arguments.step)
        if arguments.pause:
            live.pause()
        if arguments.resume:
            live.resume()
        state = live.state
        print(f"{live.name}: {state}, {live.time:.6g} s, {live.counts['missed']} missed")
        if arguments.stop:
            live.stop()
            print(f"{live.name}: stopped")
    return 0
