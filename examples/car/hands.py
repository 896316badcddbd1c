"""Turns the hand wheel of a running car: to another lane, over UDP.

python hands.py udp://127.0.0.1:5020 --local 127.0.0.1:5021 --lane 3.5
"""

from __future__ import annotations

import argparse
import math

from kilohertz.devices import connect

PREVIEW, RATIO, WHEELBASE, UNDERSTEER = 0.7, 16.13, 2.76, 0.004  # s, -, m, s2/m: as `Vehicles.Drivers.Path` has them
BEGIN, END = 30.0, 70.0  # m along the road: the change of lanes


def angle(lane: float, x: float, y: float, yaw: float, v: float) -> float:
    """Of the hand wheel: to the circle that leads from here to where the path will be."""
    ahead = PREVIEW * max(v, 1.0)
    s = min(1.0, max(0.0, (x + ahead - BEGIN) / (END - BEGIN)))
    off = lane * s**3 * (10 - 15 * s + 6 * s**2) - y - ahead * math.sin(yaw)
    return RATIO * 2 * off / ahead**2 * (WHEELBASE + UNDERSTEER * v**2)


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("address", nargs="?", default="udp://127.0.0.1:5020")
parser.add_argument("--local", default="127.0.0.1:5021", help="own address of a UDP link")
parser.add_argument("--lane", type=float, default=3.5, help="where to go: metres to the left")
arguments = parser.parse_args()

with connect(arguments.address, receive=4, send=1, local=arguments.local, timeout=600.0) as car:
    for message in car:  # the first comes when the car is compiled; ends once it has been silent for the time-out
        car.send([angle(arguments.lane, *message.values)])
        car.timeout = 0.5  # it is there: from now on, silence means its end
    print(f"received {car.n_received}, sent {car.n_sent}")
