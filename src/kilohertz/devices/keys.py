"""What a device of a scenario may be told: one table for checks, messages and documentation.

The drivers themselves read the same keys (runtime/devices); a test holds both together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

Kind = Literal["text", "integer", "real", "seconds", "flag", "choice"]


@dataclass(frozen=True, slots=True)
class Setting:
    """One key: its kind, range, default and meaning."""

    key: str
    kind: Kind
    default: str | int | float | bool | None
    meaning: str
    low: float = -math.inf
    high: float = math.inf
    choices: tuple[str, ...] = ()

    def problem(self, value: object) -> str | None:
        """Why a value will not do; None where it will."""
        match self.kind:
            case "flag":
                return None if isinstance(value, bool) else "true or false is needed"
            case "text":
                return None if isinstance(value, str) else "a text is needed"
            case "choice":
                return None if value in self.choices else f"one of {', '.join(self.choices)} is needed"
            case "integer" if not isinstance(value, int) or isinstance(value, bool):
                return "a whole number is needed"
            case "real" | "seconds" if not isinstance(value, int | float) or isinstance(value, bool):
                return "a number is needed"
            case _:
                number = float(value) if isinstance(value, int | float) else math.nan
                return None if self.low <= number <= self.high else f"must be between {self.low:g} and {self.high:g}"


@dataclass(frozen=True, slots=True)
class Driver:
    """A driver: its name, what it is, its own settings and whether signals need an address."""

    name: str
    meaning: str
    settings: tuple[Setting, ...]
    address: str | None = None  # what `address` of a signal means; None: signals have none


@dataclass(frozen=True, slots=True)
class SettingProblem:
    """A key of a device that will not do."""

    key: str
    message: str
    is_unknown: bool = False  # there is no such key


PORT_SETTINGS = (
    Setting(
        "on_loss",
        "choice",
        "hold",
        "what the model gets once nothing came for `timeout`",
        choices=("hold", "default", "safe", "stop"),
    ),
    Setting("timeout", "seconds", 0.0, "seconds without a message after which the link is lost; 0: never", 0.0, 1e8),
)
SIGNAL_SETTINGS = (
    Setting("gain", "real", 1.0, "factor"),
    Setting("offset", "real", 0.0, "added after the factor"),
    Setting("min", "real", None, "saturation, after gain and offset"),
    Setting("max", "real", None, "saturation, after gain and offset"),
    Setting("bits", "integer", 0, "resolution of the converter; 0: none", 0, 32),
    Setting("low", "real", None, "lower end of the converter; `min` where it is not given"),
    Setting("high", "real", None, "upper end of the converter; `max` where it is not given"),
    Setting("delay", "integer", 0, "cycles", 0, 65536),
    Setting("default", "real", 0.0, "value before the first message, and after a loss under `default`"),
    Setting(
        "safe",
        "real",
        None,
        "value after a loss under `safe`, or sent while outputs are safe; `default` where it is not given",
    ),
)

_SIMULATED = Setting("simulated", "flag", False, "no wire: a peer in the task's own process answers")
_RESTART = Setting(
    "restart_after", "seconds", 0.1, "seconds of silence after which another session may take over", 0.0, 1e8
)
_MOST = Setting("max_messages", "integer", 16, "messages read in a cycle at most; the newest good one counts", 1, 1024)

_WORDS = Setting("words", "choice", "big", "order of the registers of one value", choices=("big", "little"))
_MODBUS_ADDRESS = "`register:type`, type one of i16, u16, i32, u32, f32, f64; without one, f32 from register 0 on"


def _messenger(crc: bool) -> tuple[Setting, ...]:
    return (
        Setting("endian", "choice", "little", "byte order of what is sent", choices=("little", "big")),
        Setting("crc", "flag", crc, "messages end with a CRC; those without one are malformed"),
        _RESTART,
        _MOST,
        _SIMULATED,
        Setting("sim_delay", "integer", 0, "cycles the simulated peer lets pass", 0, 32),
        Setting("sim_drop_every", "integer", 0, "the simulated peer loses every k-th message", 0, 2**31 - 1),
        Setting("sim_corrupt_every", "integer", 0, "the simulated peer spoils every k-th message", 0, 2**31 - 1),
        Setting("sim_repeat_every", "integer", 0, "the simulated peer sends every k-th message twice", 0, 2**31 - 1),
    )


DRIVERS = {
    d.name: d
    for d in (
        Driver(
            "loopback",
            "simulated: gives back what was sent, in the next cycle",
            (
                Setting("every", "integer", 1, "a message comes back every so many cycles", 1),
                Setting("cut_from", "integer", None, "cycle from which nothing comes back", 0),
                Setting("cut_until", "integer", None, "cycle from which messages come back again", 0),
            ),
        ),
        Driver(
            "udp",
            "messages in UDP datagrams",
            (
                Setting("local", "text", ":0", "address to bind; loopback unless it names another one"),
                Setting("remote", "text", "", "the peer; without it, whoever sent the last good message"),
                Setting("any_source", "flag", False, "messages from other addresses than the peer's count too"),
                *_messenger(crc=False),
            ),
        ),
        Driver(
            "shm",
            "POSIX shared memory",
            (
                Setting("segment", "text", "/khz", "name of the segment, in /dev/shm"),
                Setting("peer", "flag", False, "this task is the other end of a segment that another task makes"),
                _RESTART,
                _SIMULATED,
            ),
        ),
        Driver(
            "tcp",
            "messages in a TCP stream",
            (
                Setting("listen", "text", "", "address on which the task waits for its peer"),
                Setting("remote", "text", "", "or: the peer that the task connects to"),
                Setting("retry", "seconds", 0.5, "seconds between two attempts to connect", 0.001, 1e8),
                *_messenger(crc=False),
            ),
        ),
        Driver(
            "serial",
            "messages on a serial line",
            (
                Setting("path", "text", "", "the line, such as /dev/ttyUSB0"),
                Setting("baud", "integer", 115200, "bits per second", 1200, 4000000),
                *_messenger(crc=True),
            ),
        ),
        Driver(
            "modbus-server",
            "Modbus TCP, the task as server of a PLC",
            (
                Setting("listen", "text", ":502", "address; loopback unless it names another one"),
                Setting("max_messages", "integer", 16, "requests answered in a cycle at most", 1, 1024),
                _WORDS,
                _SIMULATED,
            ),
            _MODBUS_ADDRESS,
        ),
        Driver(
            "modbus-client",
            "Modbus TCP, the task as client of a PLC, through a bridge thread",
            (
                Setting("remote", "text", ":502", "the PLC"),
                Setting("unit", "integer", 1, "unit identifier", 0, 255),
                Setting(
                    "poll",
                    "seconds",
                    0.01,
                    "seconds between two turns: outputs are written, then inputs read",
                    0.0,
                    1e5,
                ),
                Setting("read", "choice", "holding", "which registers the inputs are", choices=("holding", "input")),
                Setting("answer_within", "seconds", 0.5, "seconds after which an answer counts as lost", 0.001, 1e5),
                _WORDS,
                _SIMULATED,
            ),
            _MODBUS_ADDRESS,
        ),
        Driver(
            "can",
            "SocketCAN",
            (
                Setting("interface", "text", "can0", "network interface of the bus"),
                Setting("every", "integer", 1, "frames are sent every so many cycles", 1, 2**31 - 1),
                Setting("max_messages", "integer", 64, "frames read in a cycle at most", 1, 1024),
                _SIMULATED,
            ),
            "`identifier:start|length@order kind` as in DBC files, such as `0x100:16|12@1-`",
        ),
        Driver(
            "comedi",
            "measuring cards through libcomedi, which is loaded when the task starts",
            (
                Setting("path", "text", "/dev/comedi0", "the card"),
                Setting("library", "text", "libcomedi.so.0", "file name of libcomedi"),
                _SIMULATED,
            ),
            "`subdevice:channel:range:reference`; what is left out is 0, subdevice 0 for inputs and 1 for outputs",
        ),
    )
}


def check(driver: str, settings: Mapping[str, object]) -> tuple[SettingProblem, ...]:
    """What is wrong with a device's own settings (without its signals): unknown keys, wrong kinds, ranges."""
    if driver not in DRIVERS:
        return (SettingProblem("driver", f'there is no driver "{driver}"; there are {", ".join(DRIVERS)}'),)
    return _checked(settings, (*PORT_SETTINGS, *DRIVERS[driver].settings))


def durations(driver: str) -> frozenset[str]:
    """Keys of a device that are seconds."""
    known = (*PORT_SETTINGS, *(DRIVERS[driver].settings if driver in DRIVERS else ()))
    return frozenset(s.key for s in known if s.kind == "seconds")


def check_signal(driver: str, settings: Mapping[str, object]) -> tuple[SettingProblem, ...]:
    """What is wrong with the settings of one signal, its name apart."""
    known: tuple[Setting, ...] = SIGNAL_SETTINGS
    address = DRIVERS[driver].address if driver in DRIVERS else None
    if address is not None:
        known = (*known, Setting("address", "text", None, address))
    return _checked(settings, known)


def _checked(settings: Mapping[str, object], known: tuple[Setting, ...]) -> tuple[SettingProblem, ...]:
    by_key = {s.key: s for s in known}
    problems = []
    for key, value in settings.items():
        if key not in by_key:
            near = get_close_matches(key, by_key, 1)
            problems.append(SettingProblem(key, f"unknown; did you mean `{near[0]}`?" if near else "unknown", True))
        elif (why := by_key[key].problem(value)) is not None:
            problems.append(SettingProblem(key, why))
    return tuple(problems)
