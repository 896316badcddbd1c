"""Comedi: the driver loads a libcomedi at its start; here one of ours stands in for a card."""

from __future__ import annotations

import ctypes.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kilohertz.toolchain import Source, Unit, build_shared

# 12 bits, two ranges, AO k wired to AI k, channel 7 broken: what the kernel's comedi_test driver is, without a kernel
LIBRARY = r"""
#include <stdlib.h>
#include <string.h>
#define EXPORT __attribute__((visibility("default")))
typedef struct { double min, max; unsigned unit; } comedi_range;
typedef struct { unsigned wires[8]; } comedi_t;
static comedi_range ranges[2] = {{-10.0, 10.0, 0}, {0.0, 5.0, 0}};
EXPORT int n_open = 0;
EXPORT comedi_t *comedi_open(const char *path)
{
    if (strcmp(path, "/dev/comedi0") != 0) return NULL;
    n_open++;
    return calloc(1, sizeof(comedi_t));
}
EXPORT int comedi_close(comedi_t *it) { free(it); n_open--; return 0; }
EXPORT unsigned comedi_get_maxdata(comedi_t *it, unsigned s, unsigned c)
{
    (void)it;
    return s < 2 && c < 8 ? 4095 : 0;
}
EXPORT comedi_range *comedi_get_range(comedi_t *it, unsigned s, unsigned c, unsigned r)
{
    (void)it;
    return s < 2 && c < 8 && r < 2 ? &ranges[r] : NULL;
}
EXPORT int comedi_data_read(comedi_t *it, unsigned s, unsigned c, unsigned r, unsigned a, unsigned *v)
{
    (void)r, (void)a;
    if (s != 0 || c == 7) return -1;
    *v = it->wires[c];
    return 1;
}
EXPORT int comedi_data_write(comedi_t *it, unsigned s, unsigned c, unsigned r, unsigned a, unsigned v)
{
    (void)r, (void)a;
    if (s != 1 || c == 7) return -1;
    it->wires[c] = v;
    return 1;
}
"""


@pytest.fixture(scope="module")
def library() -> Path:
    return build_shared([Unit((Source("comedi_stand_in.c", LIBRARY),))])


def test_values_in_volts(open_port: Callable[..., Any], library: Path) -> None:
    settings = {
        "receive.0.address": "0:2",
        "receive.1.address": "0:3:1",
        "send.0.address": "1:2",
        "send.1.address": "1:3:1:2",
    }
    port = open_port("comedi", settings, library=library, n_receive=2, n_send=2)
    assert port.status == 0, port.message
    n_open = ctypes.c_int.in_dll(ctypes.CDLL(str(library)), "n_open")
    assert n_open.value == 1
    port.receive()
    for volts, other in ((1.0, 2.0), (-10.0, 0.0), (10.0, 5.0), (99.0, -99.0)):
        assert port.send(volts, other) == port.FRESH
        flags, (a, b) = port.receive()
        assert flags == port.FRESH
        assert abs(a - min(volts, 10.0)) <= 10.0 / 4095 and abs(b - max(min(other, 5.0), 0.0)) <= 2.5 / 4095
    port.close()
    assert n_open.value == 0


def test_a_channel_that_fails(open_port: Callable[..., Any], library: Path) -> None:
    port = open_port(
        "comedi", {"receive.0.address": "0:7", "send.0.address": "1:7"}, library=library, n_receive=1, n_send=1
    )
    assert port.receive() == (0, [0.0]) and port.send(1.0) == 0
    assert port.counters["malformed"] == 1 and port.counters["refused"] == 1


@pytest.mark.parametrize("address", ["0:8", "0:0:2", "x", "0:1:0:0:0", "-1", "0:", "0:0:0:4", ""])
def test_channels_the_card_does_not_have(open_port: Callable[..., Any], library: Path, address: str) -> None:
    port = open_port("comedi", {"receive.0.address": address}, library=library, n_receive=1)
    assert "the card has no such channel" in port.message


def test_what_is_missing_is_said(open_port: Callable[..., Any], library: Path) -> None:
    assert "there is no libnothing.so" in open_port("comedi", library="libnothing.so").message
    assert "is no libcomedi" in open_port("comedi", library=ctypes.util.find_library("c")).message
    assert "cannot open card /dev/other" in open_port("comedi", library=library, path="/dev/other").message


def test_the_simulated_card(open_port: Callable[..., Any]) -> None:
    port = open_port("comedi", simulated=True, n_receive=2, n_send=2)
    port.receive()
    port.send(1.0, -20.0)
    _, (a, b) = port.receive()
    assert abs(a - 1.0) <= 10.0 / 65535 and b == -10.0 and a != 1.0


def test_the_real_library(open_port: Callable[..., Any]) -> None:
    """Its functions are found; a card is another matter."""
    name = ctypes.util.find_library("comedi")
    if name is None:
        pytest.skip("libcomedi is not installed (Debian: libcomedi0)")
    port = open_port("comedi", library=name, path="/dev/comedi-none")
    assert "cannot open card" in port.message
