"""ModelicaRandom.c: the generators whose state is passed along (Vigna 2014); the hidden one has no constant value."""

from __future__ import annotations

from kilohertz.interp.externals.protocol import Outputs, Symbol
from kilohertz.interp.values import ArrayValue, Value

_MASK = (1 << 64) - 1


def _words(state: list[int]) -> list[int]:
    """64-bit words from pairs of 32-bit Integers, the low one first."""
    halves = [x & 0xFFFFFFFF for x in state]
    return [low | high << 32 for low, high in zip(halves[0::2], halves[1::2], strict=True)]


def _signed(x: int, bits: int) -> int:
    return x - (1 << bits) if x >> (bits - 1) else x


def _state(words: list[int], *rest: int) -> ArrayValue:
    data = [_signed(half, 32) for w in words for half in (w & 0xFFFFFFFF, w >> 32)]
    return ArrayValue((len(data) + len(rest),), [*data, *rest])


def _uniform(word: int) -> float:
    return _signed(word, 64) * 5.42101086242752217004e-20 + 0.5


def _xorshift64star(args: list[Value]) -> Outputs:
    (x,) = _words(args[0].data)
    x ^= x >> 12
    x ^= x << 25 & _MASK
    x ^= x >> 27
    x = x * 2685821657736338717 & _MASK
    return Outputs({1: _state([x]), 2: _uniform(x)})


def _xorshift128plus(args: list[Value]) -> Outputs:
    s1, s0 = _words(args[0].data)
    s1 ^= s1 << 23 & _MASK
    fresh = ((s1 ^ s0 ^ (s1 >> 17) ^ (s0 >> 26)) + s0) & _MASK
    return Outputs({1: _state([s0, fresh]), 2: _uniform(fresh)})


def _xorshift1024star(args: list[Value]) -> Outputs:
    words, p = _words(args[0].data[:32]), args[0].data[32] & 15
    s0 = words[p]
    p = (p + 1) & 15
    s1 = words[p]
    s1 ^= s1 << 31 & _MASK
    s1 ^= s1 >> 11
    s0 ^= s0 >> 30
    words[p] = s0 ^ s1
    return Outputs({1: _state(words, p), 2: _uniform(words[p] * 1181783497276652981 & _MASK)})


SYMBOLS: dict[str, Symbol] = {
    "ModelicaRandom_xorshift64star": _xorshift64star,
    "ModelicaRandom_xorshift128plus": _xorshift128plus,
    "ModelicaRandom_xorshift1024star": _xorshift1024star,
}
