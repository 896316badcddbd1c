"""The command line: request in, one driver call, rendering out.  One command, one file."""

from kilohertz.cli.main import main

__all__ = ["main"]
