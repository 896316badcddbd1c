"""Real-time tasks that run while a test looks at them."""

from __future__ import annotations

import time

from kilohertz.realtime import Live, Running


def attached(running: Running) -> Live:
    """The live values of a task that has started, once it runs."""
    for _ in range(1000):
        live = running.live()
        if live is not None and live.state == "running":
            return live
        if live is not None:
            live.close()
        assert running.process.poll() is None, running.log.read_text()
        time.sleep(0.01)
    raise AssertionError("the task does not appear")
