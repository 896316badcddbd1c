"""Rows of text from the digits of their numbers: by C where a compiled model is loaded in this process, else in Python.

Both ways give the same bytes; C takes a tenth of the time.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from io import BytesIO
from operator import itemgetter
from typing import Any

import numpy as np

from kilohertz.runtime import constant

_LONGEST = constant("KHZ_LONGEST_NUMBER")
_BYTES = 1 << 20  # at a time: what is copied again soon is still near the processor
_in_c: list[Any] = []  # the function of khz_rows_text.h, where a library has it


def offer(library: ctypes.CDLL) -> None:
    """A library with the runtime is loaded, for good."""
    if not _in_c:
        function, pointer, number = library.khz_rows_text, ctypes.c_void_p, ctypes.c_int32
        function.restype = ctypes.c_int64
        function.argtypes = [pointer, number, number, pointer, number, pointer, pointer, pointer]
        _in_c.append(function)


class ShownNumbers:
    """In rows of `n` numbers, those at `shown`, two or more, in their order."""

    def __init__(self, n: int, shown: Sequence[int]) -> None:
        self._n, self._shown = n, np.array(shown, np.int32)
        self._pick = itemgetter(*shown)

    def texts(self, digits: BytesIO, n_rows: int) -> Iterator[bytes | memoryview]:
        """Rows, some at a time, each valid until the next; of numbers that are ended by line feeds."""
        if _in_c:
            yield from self._by_c(digits, n_rows)
        else:
            yield from self._by_python(digits.getvalue())

    def _by_python(self, digits: bytes) -> Iterator[bytes]:
        numbers = digits.split(b"\n")
        for at in range(0, len(numbers) - 1, self._n):
            yield b",".join(self._pick(numbers[at : at + self._n])) + b"\n"

    def _by_c(self, digits: BytesIO, n_rows: int) -> Iterator[bytes | memoryview]:
        end = digits.tell()
        digits.write(bytes(_LONGEST))  # C reads that far behind the beginning of a number
        text, n_shown = np.frombuffer(digits.getbuffer(), np.uint8), len(self._shown)
        most = max(1, _BYTES // (_LONGEST * n_shown))
        places, rows = np.empty(self._n + 1, np.int32), np.empty((most * n_shown + 1) * _LONGEST, np.uint8)
        at, written = 0, ctypes.c_int64()
        for done in range(0, n_rows, most):
            taken = _in_c[0](
                text.ctypes.data + at,
                self._n,
                n_shown,
                self._shown.ctypes.data,
                min(most, n_rows - done),
                places.ctypes.data,
                rows.ctypes.data,
                ctypes.byref(written),
            )
            if taken < 0:  # a number with more digits than any has
                yield from self._by_python(text[at:end].tobytes())
                return
            at += taken
            yield rows[: written.value].data
