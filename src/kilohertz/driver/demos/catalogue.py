"""The bundled examples: what each shows, what it is compared with, what its picture has.

The scenario of an example is `library/demos/NAME.toml`, that of a further level of detail `NAME_LEVEL.toml` beside it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from kilohertz.base import Diagnostic, ModelError
from kilohertz.driver.locate import BUNDLED

DEFAULT = "hydraulic_axis"


@dataclass(frozen=True, slots=True)
class Curve:
    """A signal of the run: its words, the unit it is shown in, the factor to that."""

    signal: str
    name: str
    unit: str
    factor: float = 1.0
    compared: tuple[str, float] | None = None  # unit and factor of how far it is from CVODE's; None: it is not compared


@dataclass(frozen=True, slots=True)
class Panel:
    """Curves with one axis, over time or over another signal."""

    label: str
    curves: tuple[Curve, ...]
    over: Curve | None = None  # None: over time


@dataclass(frozen=True, slots=True)
class Level:
    """The same example in more or less detail."""

    words: str
    model: str
    tolerance: float  # of CVODE


@dataclass(frozen=True, slots=True)
class Example:
    """A bundled example."""

    name: str
    words: str  # one sentence
    model: str  # all of it in one model, for CVODE
    tolerance: float  # of CVODE
    panels: tuple[Panel, ...]
    next: tuple[str, ...]  # commands to go on with
    levels: tuple[Level, ...] = ()  # of detail, from 1 on; the first is the example as it stands

    @property
    def scenario(self) -> Path:
        return BUNDLED / "demos" / f"{self.name}.toml"

    @property
    def compared(self) -> tuple[Curve, ...]:
        return tuple(curve for panel in self.panels for curve in panel.curves if curve.compared is not None)

    def at(self, level: int) -> Example:
        """The example at a level of detail; its name, and so its scenario, has the number from 2 on."""
        if not 1 <= level <= max(1, len(self.levels)):
            those = f"levels 1 to {len(self.levels)}" if self.levels else "one level of detail"
            raise ModelError(Diagnostic("S202", f"the example `{self.name}` has no level {level}: it has {those}"))
        if level == 1:
            return self
        chosen = self.levels[level - 1]
        return replace(
            self,
            name=f"{self.name}_{level}",
            words=chosen.words,
            model=chosen.model,
            tolerance=chosen.tolerance,
            next=tuple(command.replace(self.model, chosen.model) for command in self.next),
            levels=(),
        )


def _held(signal: str, name: str, unit: str, factor: float = 1.0, off: tuple[str, float] | None = None) -> Curve:
    """A curve that is held against CVODE's, in the unit it is shown in unless `off` says another."""
    return Curve(signal, name, unit, factor, off if off is not None else (unit, factor))


def find(name: str, level: int = 1) -> Example:
    found = next((e for e in EXAMPLES if e.name == name), None)
    if found is None:
        names = ", ".join(f"`{e.name}`" for e in EXAMPLES)
        raise ModelError(Diagnostic("S202", f"there is no bundled example `{name}`; there are {names}"))
    return found.at(level)


def _lane_change(words: str, level: int, tolerance: float) -> Level:
    model = f"{_HANDLING}.LaneChange{level}"
    return Level(f"A car changes lanes at 80 km/h and back: {words}, 1 kHz.", model, tolerance)


_AXIS = "Kilohertz.Examples.HydraulicAxis"
_HANDLING = "Kilohertz.Examples.Handling"
_WHEELS = ("front left", "front right", "rear left", "rear right")
_CARS = (
    _lane_change("axles by tables, 40 states", 1, 1e-8),
    _lane_change("ideal linkages, 40 states", 2, 1e-8),
    _lane_change("bushings and rods without mass, 118 states", 3, 1e-6),
    _lane_change("bushings and rods with mass, 154 states", 4, 1e-6),
)

EXAMPLES = (
    Example(
        "hydraulic_axis",
        "A hydraulic axis under its position controller: two models, 1 kHz.",
        f"{_AXIS}.Controlled",
        1e-9,
        (
            Panel(
                "position",
                (
                    Curve("controller.x_ref", "reference", "mm", 1e3),
                    _held("plant.x", "position", "mm", 1e3, ("um", 1e6)),
                ),
            ),
            Panel(
                "pressure",
                (_held("plant.p_a", "pressure a", "bar", 1e-5), _held("plant.p_b", "pressure b", "bar", 1e-5)),
            ),
            Panel("command", (_held("controller.u", "command", "V", 1.0, ("mV", 1e3)),)),
        ),
        (f"khz analyse {_AXIS}.Plant", f"khz simulate {_AXIS}.OpenLoop -o result.csv"),
    ),
    Example(
        "robot_arm",
        "An arm with seven joints and servos with play, its controller in a process of its own: 56 states, 1 kHz.",
        "Kilohertz.Examples.Robot.ClosedLoop",
        1e-6,
        (
            Panel("hand", tuple(_held(f"plant.hand[{i}]", f"hand {'xyz'[i - 1]}", "mm", 1e3) for i in (1, 2, 3))),
            Panel("current", tuple(Curve(f"plant.i[{i}]", f"joint {i}", "A") for i in range(1, 8))),
        ),
        ("khz analyse Kilohertz.Examples.Robot.Plant", "khz simulate Kilohertz.Examples.Robot.Elastic -o elastic.csv"),
    ),
    Example(
        "six_speeds",
        "A car with a six-speed automatic gearbox, explicit Euler at 1 kHz, as fast as it goes.",
        "Kilohertz.Examples.Car.SixSpeeds",
        1e-6,
        (
            Panel("speed", (Curve("profile.y", "profile", "m/s"), _held("car.v", "car", "m/s"))),
            Panel("shafts", (_held("engine.w", "engine", "rad/s"), Curve("gearbox.input_shaft.w", "turbine", "rad/s"))),
            Panel("gear", (Curve("shift.gear", "gear", ""),)),
        ),
        ("khz analyse Kilohertz.Examples.Car.SixSpeeds --solver euler --step 1ms",),
    ),
    Example(
        "y_drive",
        "A drive brings a beam to a moving leg, a cylinder presses it on: friction, contact, force control, 1 kHz.",
        "Kilohertz.Examples.YDrive",
        1e-8,
        (
            Panel(
                "position",
                (
                    _held("carriage.s", "carriage", "mm", 1e3),
                    _held("beam.s", "beam", "mm", 1e3),
                    Curve("leg.s", "leg", "mm", 1e3),
                ),
            ),
            Panel("force", (Curve("wanted.y", "wanted", "kN", 1e-3), _held("force.f", "force", "kN", 1e-3))),
        ),
        ("khz analyse Kilohertz.Examples.YDrive", "khz profile Kilohertz.Examples.YDrive"),
    ),
    Example(
        "car",
        _CARS[0].words,
        _CARS[0].model,
        _CARS[0].tolerance,
        (
            Panel(
                "to the left",
                (_held("car.chassis.y", "path", "m", 1.0, ("mm", 1e3)),),
                Curve("car.chassis.x", "along the road", "m"),
            ),
            Panel("acceleration", (_held("car.chassis.a_y", "to the left", "m/s2"),)),
            Panel("wheel load", tuple(Curve(f"car.load[{i}]", w, "kN", 1e-3) for i, w in enumerate(_WHEELS, start=1))),
        ),
        (f"khz analyse {_HANDLING}.LaneChange1", f"khz simulate {_HANDLING}.Track -o track.csv"),
        _CARS,
    ),
    Example(
        "saturating_inductors",
        "Two saturating inductors with a capacitor between them: two small nonlinear loops, 10 kHz.",
        "Kilohertz.Examples.SaturatingInductors.WithCapacitor",
        1e-9,
        (
            Panel("voltage", (_held("v_B", "v_B", "V"),)),
            Panel("current", (_held("first.i", "first", "A"), _held("second.i", "second", "A"))),
        ),
        ("khz profile Kilohertz.Examples.SaturatingInductors.Original",),
    ),
    Example(
        "thermal_resistors",
        "Two thermal resistors that change with their temperature, a capacity in place of a loop, 1 kHz.",
        "Kilohertz.Examples.ThermalResistors.WithCapacity",
        1e-9,
        (Panel("temperature", (_held("T_A", "between", "K"),)),),
        ("khz profile Kilohertz.Examples.ThermalResistors.Original",),
    ),
    Example(
        "bouncing_ball",
        "A bouncing ball whose impacts are located within steps of 10 ms.",
        "Kilohertz.Examples.BouncingBall",
        1e-10,
        (Panel("height", (_held("h", "height", "mm", 1e3),)), Panel("speed", (Curve("v", "speed", "m/s"),))),
        ("khz simulate Kilohertz.Examples.BouncingBall --solver ros4l --step 10ms --events none",),
    ),
)
