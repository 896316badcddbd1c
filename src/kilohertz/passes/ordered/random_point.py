"""Numbers with which a matrix is tried when a model is translated."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

from kilohertz.ir.expr import Expr
from kilohertz.ir.traverse import refs
from kilohertz.passes.numeric import Numeric


class RandomPoint:
    """Numbers for all that a matrix depends on: parameters as they are, the rest at random in a range."""

    def __init__(
        self,
        sources: Mapping[str, Expr],
        values: Mapping[str, float],
        k: int,
        between: tuple[float, float] = (0.3, 1.7),
    ) -> None:
        self._sources, self._known, self._k = sources, values, k
        self._least, self._range = between[0], between[1] - between[0]
        self._values: dict[str, float] = {}
        self._numeric = Numeric(self._values)

    def __call__(self, e: Expr) -> float | None:
        stack = [(r.name, False) for r in refs(e)]
        while stack:
            name, is_ready = stack.pop()
            if name in self._values:
                continue
            source = self._sources.get(name)
            if name in self._known:
                self._values[name] = self._known[name]
            elif source is None or (is_ready and self._numeric(source) is None):
                self._values[name] = self._least + self._range * zlib.crc32(f"{name}#{self._k}".encode()) / 2**32
            elif is_ready:
                self._values[name] = self._numeric(source) or 0.0
            else:
                stack.append((name, True))
                stack += [(r.name, False) for r in refs(source)]
        return self._numeric(e)
