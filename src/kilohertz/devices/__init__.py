"""Talk to a running task from Python: a controller, a test bench, a logger.

    from kilohertz.devices import connect

    with connect("udp://127.0.0.1:5000", receive=2, send=1) as task:
        for message in task:
            position, velocity = message.values
            task.send([10.0 * (0.5 - position) - velocity])

The task's side of the link is a device of its scenario; docs/reference/devices.md has both.  `khz_client.h` in
`include_directory()` does the same from C.
"""

from kilohertz.devices.connect import connect, include_directory
from kilohertz.devices.keys import (
    DRIVERS,
    PORT_SETTINGS,
    SIGNAL_SETTINGS,
    Driver,
    Setting,
    SettingProblem,
    check,
    check_signal,
    durations,
)
from kilohertz.devices.link import Link, LinkError, Message
from kilohertz.devices.simulated import SimulatedLink
from kilohertz.devices.wire import Gate, pack, unpack

__all__ = [
    "DRIVERS",
    "PORT_SETTINGS",
    "SIGNAL_SETTINGS",
    "Driver",
    "Gate",
    "Link",
    "LinkError",
    "Message",
    "Setting",
    "SettingProblem",
    "SimulatedLink",
    "check",
    "check_signal",
    "connect",
    "durations",
    "include_directory",
    "pack",
    "unpack",
]
