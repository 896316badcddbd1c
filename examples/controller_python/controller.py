"""A position controller for a running task: receives position and velocity, sends a force.

python controller.py udp://127.0.0.1:5000 --local 127.0.0.1:5001
python controller.py shm:///khz
"""

from __future__ import annotations

import argparse

from kilohertz.devices import connect

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("address", nargs="?", default="udp://127.0.0.1:5000")
parser.add_argument("--local", default="127.0.0.1:5001", help="own address of a UDP link")
parser.add_argument("--target", type=float, default=0.5, help="position to hold")
arguments = parser.parse_args()

with connect(arguments.address, receive=2, send=1, local=arguments.local, timeout=60.0) as task:
    for message in task:  # ends once the task has been silent for the time-out
        position, velocity = message.values
        task.send([100.0 * (arguments.target - position) - 20.0 * velocity])
        task.timeout = 0.5  # it is there: from now on, silence means its end
    print(f"received {task.n_received}, sent {task.n_sent}")
