"""A car by hand: plane motion, roll about a fixed axis, four tyres.  Own equations, to hold models of cars against.

Seven states of motion, two of the hand wheel's low pass, one side force for each tyre; wheels roll freely, loads follow
from roll and side acceleration at once, travel of a wheel from roll alone.  No pitch, no wheel hop.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

G, WHEELBASE, TRACK, HUB = 9.81, 2.76, 1.5, 0.2997
BODY, BEHIND, HEIGHT = 1442.0, 1.371, 0.5057  # sprung mass, its distance behind the front axle, its height
CORNERS = (48.62, 51.05)  # mass of a wheel with its carrier: front, rear
ROLL_AXIS = (0.086, 0.114)  # its height at both axles
SPRING, BAR, RATIO = (29e3, 23e3), (12742.0, 9338.0), (0.9477, 1.0971)
DAMPER, BAR_TIME = 1950.0, 0.01  # mean slope of both directions; damping of a bar over its stiffness
TYRE, RELAX = 220e3, 180e3  # stiffness of a tyre: up, to the side
TOE, CAMBER = ((0.009471, 0.16017), (-0.05962, -0.45951)), (0.30631, 0.4195)
STEER = (-7.7501, 5.959)  # steer angle over shift of the rack
RACK, OMEGA, CAMBER_THRUST = -0.008, 30.0, 0.08


def parabola(at_one: float, at_two: float, q: float) -> float:
    """Through zero and both numbers."""
    return q * (2 * at_one - at_two / 2 - (at_one - at_two / 2) * q)


def side_force(load: float, slip: float) -> float:
    """Rill's curve by its five numbers, for slip across alone."""
    q = load / 3089.1
    slope, top, slide = parabola(65350, 117790, q), parabola(3423.1, 6094.4, q), parabola(2412.7, 3661.4, q)
    peak = 0.1269 + (0.1195 - 0.1269) * (q - 1)
    size = abs(slip)
    if size < peak:
        force = slope * size / (1 + size / peak * (size / peak + slope * peak / top - 2))
    else:
        b = min(1.0, (size - peak) / (1 - peak))
        force = top - (top - slide) * b * b * (3 - 2 * b)
    return math.copysign(force, slip)


def aligning(load: float, slip: float) -> float:
    """The lever of the side force about the vertical: Rill's offset, fading with slip."""
    q = load / 3089.1
    offset, fade = 0.107 + (0.1537 - 0.107) * (q - 1), 0.1347 + (0.1556 - 0.1347) * (q - 1)
    gone = min(1.0, abs(slip) / fade)
    return 2 * math.sqrt(0.318 * load / TYRE) * offset * (1 - 3 * gone**2 + 2 * gone**3)


@dataclass(frozen=True, slots=True)
class Axle:
    """What both wheels of an axle have in common."""

    x: float  # from the mass centre of the car
    static: float  # load of a wheel at rest
    stiffness: float  # of roll against the road, in Nm/rad
    damping: float
    transfer: float  # moment about the road for a side acceleration, without springs and bars
    travel: float  # of a wheel over roll and half the track: the rest is in the tyre


class TwoTrack:
    """Integrated by Runge and Kutta's fourth order; `hands(t)` is the angle asked for at the hand wheel."""

    def __init__(self, hands: Callable[[float], float], speed: float) -> None:
        self.hands, self.speed = hands, speed
        self.mass = BODY + 2 * sum(CORNERS)
        self.behind = (BODY * BEHIND + 2 * CORNERS[1] * WHEELBASE) / self.mass
        places = (self.behind, self.behind - WHEELBASE)
        self.yaw_inertia = 2768 + BODY * (BEHIND - self.behind) ** 2
        self.yaw_inertia += sum(2 * m * (x * x + TRACK**2 / 4) for m, x in zip(CORNERS, places, strict=True))
        axis = ROLL_AXIS[0] + (ROLL_AXIS[1] - ROLL_AXIS[0]) * BEHIND / WHEELBASE
        self.lever = HEIGHT - axis
        self.roll_inertia = 572 + BODY * self.lever**2
        shares = (WHEELBASE - BEHIND) / WHEELBASE, BEHIND / WHEELBASE
        self.axles = tuple(self._axle(k, places[k], shares[k]) for k in (0, 1))

    def _axle(self, k: int, x: float, share: float) -> Axle:
        springs = SPRING[k] * RATIO[k] ** 2 * TRACK**2 / 2 + BAR[k] * TRACK**2
        tyres = TYRE * TRACK**2 / 2
        stiffness = springs * tyres / (springs + tyres)
        damping = (DAMPER * RATIO[k] ** 2 * TRACK**2 / 2 + BAR_TIME * BAR[k] * TRACK**2) * (stiffness / springs) ** 2
        transfer = BODY * share * ROLL_AXIS[k] + 2 * CORNERS[k] * HUB
        static = self.mass * G / 2 * (WHEELBASE - self.behind if k == 0 else self.behind) / WHEELBASE
        return Axle(x, static, stiffness, damping, transfer, stiffness / springs)

    def rates(self, t: float, q: np.ndarray) -> tuple[np.ndarray, float]:
        """Derivatives of all states, and the side acceleration of the body's mass centre."""
        _, yaw, vx, vy, turn, roll, roll_rate, hand, hand_rate = q[:9].tolist()
        across = float(np.sum(q[9:])) / self.mass  # side acceleration as far as loads are concerned
        forces, moment, slips = [], 0.0, []
        for k, axle in enumerate(self.axles):
            leaning = axle.stiffness * roll + axle.damping * roll_rate + axle.transfer * across
            for i, side in enumerate((1, -1)):
                load = max(1.0, axle.static - side * leaning / TRACK)
                z = -side * roll * axle.travel * TRACK / 2
                rack = RACK * hand if k == 0 else 0.0
                delta = side * z * (TOE[k][0] + z * TOE[k][1]) + rack * (STEER[0] + side * STEER[1] * rack)
                wx, wy = vx - side * turn * TRACK / 2, vy + turn * axle.x
                rolling = wx * math.cos(delta) + wy * math.sin(delta)
                sliding = wy * math.cos(delta) - wx * math.sin(delta)
                slip = -sliding / rolling - CAMBER_THRUST * (roll + side * z * CAMBER[k])
                steady = side_force(load, slip)
                length = steady / slip / RELAX if abs(slip) > 1e-9 else parabola(65350, 117790, load / 3089.1) / RELAX
                now = float(q[9 + 2 * k + i])
                slips.append(rolling / length * (steady - now))
                forces.append((now * math.cos(delta), now * math.sin(delta)))
                moment += now * math.cos(delta) * axle.x + side * now * math.sin(delta) * TRACK / 2
                moment -= now * aligning(load, slip)
        side_sum = sum(f for f, _ in forces)
        stiff = sum(a.stiffness for a in self.axles)
        damp = sum(a.damping for a in self.axles)
        leaned = (BODY * G * self.lever - stiff) * roll - damp * roll_rate
        # m a - BODY lever roll'' = side_sum;  inertia roll'' = BODY lever a + leaned
        coupling = BODY * self.lever
        a = (side_sum * self.roll_inertia + coupling * leaned) / (self.mass * self.roll_inertia - coupling**2)
        roll_acc = (coupling * a + leaned) / self.roll_inertia
        drag = 0.5 * 1.2 * 0.66 * vx * vx / self.mass + 0.01 * G + sum(f for _, f in forces) / self.mass
        hand_acc = OMEGA**2 * (self.hands(t) - hand) - 2 * OMEGA * hand_rate
        motion = [vx * math.sin(yaw) + vy * math.cos(yaw), turn, vy * turn - drag, a - vx * turn]
        motion += [moment / self.yaw_inertia, roll_rate, roll_acc, hand_rate, hand_acc]
        return np.array([*motion, *slips]), a - self.lever * roll_acc

    def run(self, stop: float, step: float = 2e-3) -> dict[str, np.ndarray]:
        """Time, place to the left, side acceleration, yaw rate, roll, speed."""
        q = np.zeros(13)
        q[2] = self.speed
        rows = []
        for n in range(round(stop / step) + 1):
            t = n * step
            first, a = self.rates(t, q)
            rows.append((t, q[0], a, q[4], q[5], q[2]))
            second = self.rates(t + step / 2, q + step / 2 * first)[0]
            third = self.rates(t + step / 2, q + step / 2 * second)[0]
            fourth = self.rates(t + step, q + step * third)[0]
            q = q + step / 6 * (first + 2 * second + 2 * third + fourth)
        return dict(zip(("time", "y", "a_y", "yaw_rate", "roll", "v_x"), np.array(rows).T, strict=True))
