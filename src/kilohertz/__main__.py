"""`python -m kilohertz` is `khz`."""

import gc
import sys

from kilohertz.cli import main

_LASTING = ("run", "watch", "series", "tune", "compare", "demo")  # they go on for long, or take one model after another
_SELDOM = (100_000, 20, 100)  # objects more, collections of the young ones: forms are large and almost free of cycles


def khz() -> int:
    """The command as a process: its exit code."""
    if any(word in _LASTING for word in sys.argv[1:]):
        gc.set_threshold(*_SELDOM)
    else:
        gc.disable()  # one model, then all goes with the process
    code = main()
    gc.freeze()  # nobody need look for cycles first
    return code


if __name__ == "__main__":
    sys.exit(khz())
