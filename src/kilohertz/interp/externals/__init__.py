"""External symbols that constant evaluation meets, by their C or FORTRAN name.

A symbol takes its arguments as in C (outputs hold None or the room made for them) and gives the result, or `Outputs`
with what it wrote by argument position, or a `Message` to show.  The tables load when first needed.
"""

from __future__ import annotations

from functools import cache

from kilohertz.interp.externals.protocol import Message, Outputs, Symbol

__all__ = ["Message", "Outputs", "Symbol", "find"]


def find(symbol: str) -> Symbol | None:
    """The Python stand-in for a symbol, or None for an unknown one."""
    return _symbols().get(symbol)


@cache
def _symbols() -> dict[str, Symbol]:
    from kilohertz.interp.externals import file_functions, lapack, random, strings

    return {**strings.SYMBOLS, **file_functions.SYMBOLS, **random.SYMBOLS, **lapack.SYMBOLS}
