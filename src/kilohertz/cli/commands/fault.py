"""`khz fault`: faults on the signals of a running rig: plant, list, release."""

from __future__ import annotations

import argparse

_EPILOG = """\
  khz fault                                    the faults of the only rig that runs
  khz fault plant.u stuck 3                    hold an input at 3, whatever drives it
  khz fault plant.y noise 0.01 --lasts 2s      what others get of an output
  khz fault u offset 0.5 --when 'y > 2'        begins when the condition holds first
  khz fault --release u                        by signal or by name; alone: all
A fault of the same kind on the same signal takes the place of the one before."""


def configure(parser: argparse.ArgumentParser) -> None:
    from kilohertz.stimuli import FAULT_KEYS, FAULTS

    parser.epilog = _EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("signal", metavar="SIGNAL", nargs="?", default="", help="an input, or a signal that others read")
    kinds = "; ".join(f"{k.name}: {k.words}" for k in FAULTS.values())
    add("kind", metavar="KIND", nargs="?", default="", help=kinds)
    add("value", metavar="NUMBER", nargs="?", help="of the kind")
    for key in FAULT_KEYS.values():
        if key.live:
            add(f"--{key.name}", dest=f"key_{key.name}", metavar=key.kind.upper(), help=key.words.replace("`", ""))
    add("--release", metavar="WHICH", nargs="?", const="", help="end faults: by signal or name; without one all")
    add("--rig", metavar="RIG", default="", help="the rig's name (default: the only one that runs)")


def run(arguments: argparse.Namespace) -> int:
    from kilohertz.base import Diagnostic, ModelError, Note
    from kilohertz.realtime import attach
    from kilohertz.stimuli import FAULT_KEYS, FAULTS

    if arguments.signal and not arguments.kind:
        note = Note(f"`{arguments.signal}` is taken for a signal; a rig is named by `--rig {arguments.signal}`")
        raise ModelError(Diagnostic("R743", f"`kind` is missing: one of {', '.join(FAULTS)}", notes=(note,)))
    keys = {k: getattr(arguments, f"key_{k}") for k, key in FAULT_KEYS.items() if key.live}
    if keys["seed"] is not None and keys["seed"].isdigit():
        keys["seed"] = int(keys["seed"])
    with attach(arguments.rig) as live:
        if arguments.release is not None:
            print(f"{live.name}: {live.release(arguments.release)} released")
        if arguments.signal:
            live.fault(arguments.signal, arguments.kind, arguments.value, **keys)
        for fault in live.faults:
            print(f"{live.name}: {fault.as_text()}")
        if not live.faults:
            print(f"{live.name}: no faults")
    return 0
