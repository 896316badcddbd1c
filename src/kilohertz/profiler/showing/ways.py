"""Where things stand on the page of a profile: places, lines, components, classes, cycles, and the links to them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import PurePath

from kilohertz.base import short_name
from kilohertz.base.dotted import Dotted
from kilohertz.pages import Cell, Listing, ListingLine
from kilohertz.profiler.causes import Cause
from kilohertz.profiler.cycle_records import Profile
from kilohertz.profiler.places import Line, Place
from kilohertz.profiler.shares import callers
from kilohertz.profiler.views import lines

_FEW = 4  # links in a cell of a table


class Ways:
    """Of one profile."""

    def __init__(self, profile: Profile, causes: Sequence[Cause]) -> None:
        self.profile, self.causes = profile, causes
        self.titles = titles({line.file for p in profile.places for line in p.lines})
        self.listings = self._listings()

    @cached_property
    def callers(self) -> dict[int, dict[int, float]]:
        """Of each function the blocks that call it."""
        return callers(self.profile)

    @cached_property
    def functions(self) -> dict[tuple[str, str], int]:
        """Functions by model and name."""
        places = enumerate(self.profile.places)
        return {(p.unit, p.name): i for i, p in places if p.kind == "function" and self.took(i)}

    def took(self, number: int) -> bool:
        """Whether a place took any time."""
        return self.profile.statistics[number].mean > 0

    # ------------------------------------------------------------------------------------------------------------ links

    def place(self, number: int) -> str:
        """The card of a place; empty where it has none."""
        place = self.profile.places[number]
        has_card = place.kind in ("loop", "equations", "function") and self.took(number)
        return f"#place-{number}" if has_card else ""

    def place_link(self, number: int) -> tuple[str, str]:
        """Its name, and the way to its card."""
        return self.profile.places[number].name, self.place(number)

    def line(self, file: str, line: int) -> str:
        """A line of the source at the end of the page."""
        listing = self.listings.get(self.titles[file])
        return listing.place(line) if listing is not None and line > 0 else ""

    def line_cell(self, of: Place) -> Cell:
        """The line with the largest share."""
        top = max(of.lines, key=lambda x: x.share) if of.lines else None
        return Cell(f"{self.titles[top.file]}:{top.line}", link=self.line(top.file, top.line)) if top else Cell("")

    def component_links(self, of: Iterable[Line]) -> list[tuple[str, str]]:
        """The components of lines, each once, in the order of their shares."""
        return [(name or "(top)", component(name)) for name in _by_share(of, lambda x: x.component)]

    def class_links(self, of: Iterable[Line]) -> list[tuple[str, str]]:
        """Their classes, likewise."""
        return [(Dotted.read(name).last, class_(name)) for name in _by_share(of, lambda x: x.in_class) if name]

    def cycle_links(self, number: int) -> list[tuple[str, str]]:
        """The worst cycles that took long because of a place."""
        return [(f"{c.cycle}", f"#cycle-{c.cycle}") for c in self.causes if c.place == number]

    def places_cell(self, numbers: Iterable[int]) -> Cell:
        """The costliest of some places."""
        some = sorted((i for i in numbers if self.place(i)), key=lambda i: -self.profile.statistics[i].mean)
        rest = f"and {len(some) - _FEW} more:" if len(some) > _FEW else ""
        return Cell(rest, "", links=[self.place_link(i) for i in some[:_FEW]])

    # ----------------------------------------------------------------------------------------------------------- source

    def _listings(self) -> dict[str, Listing]:
        cost = {(s.file, s.line): s for s in lines(self.profile)}
        most = max((s.share for s in cost.values()), default=1.0)
        made: dict[str, tuple[float, Listing]] = {}
        for file, text in self.profile.listings.items():
            texts = [
                ListingLine(
                    n,
                    words,
                    s.share / most if (s := cost.get((file, n))) else 0.0,
                    f"{s.ns / 1e3:.3f} µs {s.share:.1%}" if s else "",
                    self.place(max(s.places, key=lambda i: self.profile.statistics[i].mean)) if s else "",
                )
                for n, words in text.items()
            ]
            total = sum(s.ns for (f, _), s in cost.items() if f == file)
            made[self.titles[file]] = total, Listing(self.titles[file], texts)
        return {title: listing for title, (_, listing) in sorted(made.items(), key=lambda entry: -entry[1][0])}


def component(name: str) -> str:
    """The row of a component."""
    return f"#component-{anchor(name)}"


def class_(name: str) -> str:
    """The row of a class."""
    return f"#class-{anchor(name)}"


def anchor(name: str) -> str:
    """A name as a part of an address: every other character by its number, so that two names stay two."""
    return re.sub(r"[^\w.]", lambda texts: f"-{ord(texts[0]):x}-", name) or "top"


def _by_share(of: Iterable[Line], key: Callable[[Line], str]) -> list[str]:
    sums: dict[str, float] = {}
    for line in of:
        name = key(line)
        sums[name] = sums.get(name, 0.0) + line.share
    return sorted(sums, key=lambda name: -sums[name])


def titles(files: Sequence[str] | set[str]) -> Mapping[str, str]:
    """The shortest end of each path that no other has, and that says something."""
    texts: dict[str, str] = {}
    for file in sorted(files):
        parts = PurePath(file).parts
        tails = ("/".join(parts[-n:]) for n in range(1 + short_name(file).count("/"), len(parts) + 1))
        texts[file] = next(t for t in tails if not any(f != file and f.endswith("/" + t) for f in files))
    return texts
