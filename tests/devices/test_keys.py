"""The table of settings is what the drivers read, what the checks know and what the page documents."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kilohertz import runtime
from kilohertz.devices import DRIVERS, PORT_SETTINGS, SIGNAL_SETTINGS, Driver, check, check_signal

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "devices.md").read_text()
SOURCES = dict((*runtime.device_sources(), *runtime.device_headers()))
FILES = {
    "loopback": ("khz_loopback.c",),
    "udp": ("khz_udp.c", "khz_messenger.c"),
    "shm": ("khz_shm.c",),
    "tcp": ("khz_tcp.c", "khz_stream.c", "khz_messenger.c"),
    "serial": ("khz_serial.c", "khz_stream.c", "khz_messenger.c"),
    "modbus-server": ("khz_modbus_server.c", "khz_modbus.c"),
    "modbus-client": ("khz_modbus_client.c", "khz_modbus.c"),
    "can": ("khz_socketcan.c",),
    "comedi": ("khz_comedi.c",),
}


def read_keys(*names: str) -> set[str]:
    """Keys that C sources ask for."""
    text = "".join(SOURCES[name] for name in names)
    return set(re.findall(r'khz_config_(?:text|integer|real|flag)\(\s*c, "(\w+)"', text))


def test_the_drivers_are_those_of_the_table(drivers: ctypes.CDLL) -> None:
    drivers.khz_device_all.restype = ctypes.POINTER(ctypes.POINTER(ctypes.c_char_p))
    rows = drivers.khz_device_all()
    found: list[str] = []
    while rows[len(found)]:
        found.append(rows[len(found)].contents.value.decode())
    assert sorted(found) == sorted(DRIVERS) == sorted(FILES)


@pytest.mark.parametrize("driver", DRIVERS.values(), ids=list(DRIVERS))
def test_a_driver_reads_the_keys_of_the_table(driver: Driver) -> None:
    assert read_keys(*FILES[driver.name]) == {s.key for s in driver.settings}


@pytest.mark.parametrize("driver", DRIVERS.values(), ids=list(DRIVERS))
def test_defaults_are_accepted_and_documented(driver: Driver, open_port: Callable[..., Any]) -> None:
    own = {s.key: s.default for s in (*PORT_SETTINGS, *driver.settings) if s.default is not None}
    assert check(driver.name, own) == ()
    if "simulated" in own:
        port = open_port(driver.name, {**own, "simulated": True})
        assert port.status == 0, port.message
    section = PAGE.split(f"### `{driver.name}`")[1].split("\n### ")[0]
    missing = [
        s.key
        for s in driver.settings
        if f"`{s.key}`" not in section and f"`{s.key}`" not in PAGE.split("### Messages")[1]
    ]
    assert not missing


def test_ports_read_the_keys_of_the_table() -> None:
    text = SOURCES["khz_ports.c"]
    assert read_keys("khz_ports.c") - {"driver"} == {s.key for s in PORT_SETTINGS}
    signal = set(re.findall(r'khz_config_signal(?:_real)?\(c, direction, i, "(\w+)"', text))
    assert signal - {"name"} == {s.key for s in SIGNAL_SETTINGS}
    for s in (*PORT_SETTINGS, *SIGNAL_SETTINGS):
        assert f"`{s.key}`" in PAGE


@pytest.mark.parametrize(
    ("driver", "settings", "problem"),
    [
        ("pigeon", {}, ("driver", 'no driver "pigeon"')),
        ("udp", {"lokal": ":1"}, ("lokal", "did you mean `local`?")),
        ("udp", {"xyz": 1}, ("xyz", "unknown")),
        ("udp", {"crc": 1}, ("crc", "true or false")),
        ("udp", {"local": 5000}, ("local", "a text")),
        ("udp", {"endian": "middle"}, ("endian", "one of little, big")),
        ("udp", {"max_messages": 1.5}, ("max_messages", "whole number")),
        ("udp", {"max_messages": 0}, ("max_messages", "between 1 and 1024")),
        ("tcp", {"retry": True}, ("retry", "a number")),
        ("shm", {"timeout": -1}, ("timeout", "between 0")),
        ("loopback", {"on_loss": "panic"}, ("on_loss", "one of hold")),
    ],
)
def test_problems(driver: str, settings: dict[str, object], problem: tuple[str, str]) -> None:
    (found,) = check(driver, settings)
    assert found.key == problem[0] and problem[1] in found.message


def test_problems_of_signals() -> None:
    assert check_signal("udp", {"gain": 2, "delay": 3, "bits": 12, "low": -10.0, "high": 10}) == ()
    assert [p.key for p in check_signal("udp", {"address": "1"})] == ["address"]
    assert check_signal("can", {"address": "0x100:0|8@1+"}) == ()
    assert [p.key for p in check_signal("can", {"gain": "2", "bits": 33})] == ["gain", "bits"]
