"""Arrays of an FMU (FMI 3): elements that are alike in all but name and value become one variable.

A Step knows scalars alone: `u[1]`, `u[2]` are two of its variables.  They are one array where all elements are there,
share type, causality, variability, unit and limits, and are neither states, derivatives nor alike with something else
(then each has its place in the structure of the model by itself).  The value reference of an array stands for those
of its elements, in the order of FMI: the last subscript runs fastest.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kilohertz.fmi.exporting.variables import Variable

_ELEMENT = re.compile(r"(?!der\()(.*[^\]])\[(\d+(?:,\d+)*)\]")


@dataclass(frozen=True, slots=True)
class Array:
    """Several variables under one name and value reference."""

    name: str
    reference: int
    shape: tuple[int, ...]
    members: tuple[str, ...]  # names, in the order of FMI


def gathered(variables: Sequence[Variable], single: Iterable[str], first: int) -> tuple[Array, ...]:
    """The arrays, their references from `first` on; those of `single` stay by themselves."""
    alone = {*single, *(v.alias_of for v in variables), *(v.name for v in variables if v.alias_of)}
    names = {v.name for v in variables}
    found: dict[str, dict[tuple[int, ...], Variable]] = {}
    for v in variables:
        match = _ELEMENT.fullmatch(v.name)
        if match is not None and match[1] not in names:
            found.setdefault(match[1], {})[tuple(map(int, match[2].split(",")))] = v
    arrays: list[Array] = []
    for name, elements in found.items():
        shape = _shape(elements)
        members = list(elements.values())
        if shape and len({_likeness(v) for v in members}) == 1 and not any(v.name in alone for v in members):
            ordered = tuple(elements[place].name for place in sorted(elements))
            arrays.append(Array(name, first + len(arrays), shape, ordered))
    return tuple(arrays)


def _shape(places: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    """The extents where every element is there, else ()."""
    there = set(places)
    if len({len(place) for place in there}) != 1:
        return ()
    extents = tuple(max(along) for along in zip(*there, strict=True))
    every = itertools.product(*(range(1, n + 1) for n in extents))
    return extents if there == set(every) else ()


def _likeness(v: Variable) -> tuple[object, ...]:
    limits = (v.min, v.max, v.nominal, v.enumeration)
    return (v.type, v.causality, v.variability, v.unit, v.display_unit, v.description, *limits)
