"""`python -m kilohertz` is `khz`."""

import gc
import sys

from kilohertz.cli import main

_SELDOM = (100_000, 20, 100)  # objects more, collections of the young ones: forms are large and almost free of cycles


def khz() -> int:
    """The command as a process: its exit code."""
    gc.set_threshold(*_SELDOM)
    code = main()
    gc.freeze()  # all goes with the process: nobody need look for cycles first
    return code


if __name__ == "__main__":
    sys.exit(khz())
