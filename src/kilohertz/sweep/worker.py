"""A process that runs cases: `python -m kilohertz.sweep.worker FD`, with a connection as that file descriptor.

A process of its own and no fork: the parent may have threads, and a script that starts a series needs no `if __name__`.
"""

from __future__ import annotations

import os
import signal
import sys
from multiprocessing.connection import Connection

from kilohertz.base import ModelError
from kilohertz.sweep.batches import Worker


def serve(connection: Connection) -> None:
    """A job, then batches until the other side closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    try:
        try:
            worker = Worker(connection.recv())
        except ModelError as error:
            connection.send(error.diagnostics)
            return
        connection.send(None)
        while True:
            connection.send(worker.run(connection.recv()))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        os._exit(0)  # the parent has left, with or without a word


if __name__ == "__main__":
    serve(Connection(int(sys.argv[1])))
