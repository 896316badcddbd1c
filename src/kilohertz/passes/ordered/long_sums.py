"""Sums of many terms, of which few move with one unknown: the current of a source that feeds hundreds of branches.

  i = i1 + ... + i640, which i7 moves    ->  di = di7

Without this a loop of n unknowns with such an equation takes n*n terms to differentiate.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from kilohertz.ir import make
from kilohertz.ir.expr import Binary, Expr, Unary
from kilohertz.passes.algebra import Occurrence, linear_coefficient, simplify

_MANY = 16  # terms
_FEW = 2  # that move: with more, the order of additions counts


@dataclass(frozen=True, slots=True)
class Moving:
    """Those terms of a sum that move, and whether they are subtracted."""

    terms: tuple[tuple[bool, Expr], ...]

    def rate(self, differentiate: Callable[[Expr], Expr]) -> Expr:
        return self._total([differentiate(term) for _, term in self.terms])

    def coefficient(self, name: str) -> Expr | None:
        """Of a name that all other terms are free of; None where a term is not linear in it."""
        factors = [a for _, term in self.terms if (a := linear_coefficient(term, name)) is not None]
        return None if len(factors) < len(self.terms) else simplify(self._total(factors))

    def _total(self, parts: Sequence[Expr]) -> Expr:
        total: Expr = make.ZERO
        for (is_negative, _), part in zip(self.terms, parts, strict=True):
            total = make.sub(total, part) if is_negative else make.add(total, part)
        return total


@dataclass(frozen=True, slots=True)
class LongSum:
    """Terms in order, and by name those in which it stands."""

    terms: tuple[tuple[bool, Expr], ...]
    places: dict[str, list[int]]

    @classmethod
    def of(cls, e: Expr, occurrence: Occurrence) -> LongSum | None:
        """None where there are few."""
        terms: list[tuple[bool, Expr]] = []
        waiting = [(False, e)]
        while waiting:
            is_negative, part = waiting.pop()
            match part:
                case Binary("+" | "-" as op, left, right):
                    waiting += [(is_negative != (op == "-"), right), (is_negative, left)]
                case Unary("-", inside):
                    waiting.append((not is_negative, inside))
                case _:
                    terms.append((is_negative, part))
        if len(terms) < _MANY:
            return None
        places: dict[str, list[int]] = {}
        for k, (_, term) in enumerate(terms):
            for name in occurrence.names(term):
                places.setdefault(name, []).append(k)
        return cls(tuple(terms), places)

    def moving(self, names: Collection[str]) -> Moving | None:
        """What these names move; None where that is more than a few terms."""
        found: set[int] = set()
        for name in names:
            found.update(self.places.get(name, ()))
            if len(found) > _FEW:
                return None
        return Moving(tuple(self.terms[k] for k in sorted(found)))
