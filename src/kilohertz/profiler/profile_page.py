"""The page of a profile: cycles over time, the worst ones opened, blocks, loops, components, source with its cost.

Everything leads on: a cycle to its places, a place to its lines, a line back to its places.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath

import numpy as np

from kilohertz.pages import (
    Bars,
    Cell,
    Column,
    Curve,
    Facts,
    Fold,
    Heading,
    Icicle,
    Listing,
    ListingLine,
    Mark,
    Node,
    Page,
    Part,
    Plot,
    Prose,
    Table,
    Verdict,
)
from kilohertz.profiler.causes import Cause
from kilohertz.profiler.cycle_records import Profile
from kilohertz.profiler.first_line import headline
from kilohertz.profiler.places import Place
from kilohertz.profiler.views import Branch, Row, component_tree, cycle_numbers, cycle_tree, lines, rows

_BINS = 120


def profile_page(profile: Profile, causes: Sequence[Cause]) -> Page:
    """All parts; `causes` are those of the worst cycles, which are shown whole."""
    made = _Maker(profile, causes)
    about = profile.about
    words = [f"{about[k]}" for k in ("solver", "machine", "compiler") if about.get(k)]
    parts: list[Part] = [
        Verdict(not len(profile.misses), headline(profile, list(causes))),
        *made.facts(),
        *(made.cycles() if len(profile.records) else ()),
        *made.worst(),
        *made.trees(),
        *made.blocks(),
        *made.source(),
    ]
    return Page(profile.name, "; ".join(words), parts)


class _Maker:
    def __init__(self, profile: Profile, causes: Sequence[Cause]) -> None:
        self.profile, self.causes = profile, causes
        self.rows = rows(profile)
        self.titles = titles({line.file for p in profile.places for line in p.lines})
        self.x = profile.records["head"]["cycle"].astype(np.float64)
        self.listings = self._listings()

    # ----------------------------------------------------------------------------------------------------------- cycles

    def facts(self) -> list[Part]:
        numbers, p = cycle_numbers(self.profile), self.profile
        if not numbers:
            return []
        us = {name: f"{ns / 1e3:.2f} µs" for name, ns in numbers.items()}
        rows = [
            ("cycles", f"{len(p.records)}", "recorded"),
            ("median", us["p50"], "of the whole cycle, probes taken off"),
            ("p99", us["p99"], "99 % of the cycles took at most this"),
            ("p99.9", us["p999"], "99.9 % of the cycles took at most this"),
            ("worst", f"{p.cycle_ns.max() / 1e3:.2f} µs", "of all cycles"),
            ("in named places", f"{p.attributed:.1%}", "the rest of the time belongs to no place"),
            ("probes", f"{p.overhead_ns.mean() / 1e3:.2f} µs", "what timing itself costs a cycle; it is taken off"),
        ]
        if p.period_ns:
            rows.insert(1, ("missed", f"{len(p.misses)}", "cycles that ended after their deadline"))
        return [Facts(rows)]

    def cycles(self) -> list[Part]:
        p = self.profile
        us = p.cycle_ns / 1e3
        marks = [Mark("deadline", y=p.period_ns / 1e3)] if p.period_ns else []
        curves = [Curve("cycle", self.x, us)]
        if len(p.misses):
            curves.append(Curve("missed", self.x[p.misses], us[p.misses], dots=True, colour=4))
        if self.causes:
            at = [c.index for c in self.causes]
            curves.append(Curve("worst", self.x[at], us[at], dots=True, colour=1))
        some = us[p.counted]
        edges = np.linspace(some.min(), max(some.max(), some.min() * 1.0001 + 1e-6), _BINS + 1)
        counts = np.histogram(some, edges)[0]
        out = int((~p.counted).sum())
        note = f"{out} cycles in which the thread was preempted are not in it." if out else ""
        return [
            Heading("Cycles"),
            Plot("whole cycle", curves, "cycle", "µs", marks, axis="cycles", log_y=bool(us.min() > 0)),
            Bars("how many cycles took how long", edges, counts, "µs", "cycles", marks if p.misses.size else []),
            *([Prose(note)] if note else []),
        ]

    def worst(self) -> list[Part]:
        if not self.causes:
            return []
        columns = (Column("cycle", True), Column("time / µs", True, bar=True), Column("cause"), Column("what tells it"))
        cells = [
            (
                Cell(f"{c.cycle}", c.cycle, f"#cycle-{c.cycle}"),
                Cell(f"{c.ns / 1e3:.2f}", c.ns),
                Cell(c.kind),
                Cell(c.text),
            )
            for c in self.causes
        ]
        folds = [
            Fold(
                f"cycle {c.cycle}: {c.kind}, {c.ns / 1e3:.2f} µs",
                (Icicle(self._node(cycle_tree(self.profile, self.profile.own_ns[c.index]), 1e-3), "µs"),),
                is_open=c is self.causes[0],
                anchor=f"cycle-{c.cycle}",
            )
            for c in self.causes
        ]
        return [Heading("Worst cycles"), Table(columns, cells, can_filter=False), *folds]

    # ------------------------------------------------------------------------------------------------------------ trees

    def trees(self) -> list[Part]:
        means = np.array([s.mean for s in self.profile.statistics])
        return [
            Heading("Mean cycle"),
            Icicle(self._node(cycle_tree(self.profile, means), 1e-3), "µs"),
            Heading("Components"),
            Icicle(self._node(component_tree(self.profile), 1e-3), "µs"),
        ]

    def _node(self, branch: Branch, scale: float) -> Node:
        below = tuple(self._node(b, scale) for b in branch.below)
        link = self._card(branch.place) if branch.place >= 0 else ""
        return Node(branch.name, branch.ns * scale, below, "", link)

    # ----------------------------------------------------------------------------------------------------------- blocks

    def blocks(self) -> list[Part]:
        columns = (
            Column("place"),
            Column("kind"),
            Column("unknowns", True),
            Column("calls", True, "a cycle"),
            Column("iterations", True, "Newton iterations of a loop, passes of an event, a cycle"),
            Column("share / %", True, "of the mean cycle", bar=True),
            Column("mean / µs", True, "own time a cycle"),
            Column("p99 / µs", True),
            Column("max / µs", True),
            Column("line", hint="with the largest share"),
        )
        loops = [r for r in self.rows if r.place.loop is not None]
        rest = [r for r in self.rows if r.place.loop is None and (r.place.lines or r.place.unknowns)]
        parts: list[Part] = [Heading("Blocks, functions, phases"), Table(columns, [self._cells(r) for r in self.rows])]
        if loops:
            parts += [Heading("Loops"), *(self._loop(r) for r in loops)]
        if rest:
            parts += [Heading("Equations"), *(self._equations(r) for r in rest)]
        return parts

    def _cells(self, row: Row) -> Sequence[Cell]:
        place, s = row.place, row.numbers
        kind = f"{place.loop.kind} loop of {place.loop.size}" if place.loop else place.kind
        top = max(place.lines, key=lambda x: x.share) if place.lines else None
        line = Cell(f"{self.titles[top.file]}:{top.line}", link=self._line(top.file, top.line)) if top else Cell("")
        numbers = (s.calls, s.iterations, 100 * s.share, s.mean / 1e3, s.p99 / 1e3, s.max / 1e3)
        return (
            Cell(place.name, link=self._card(row.number)),
            Cell(kind + (f" ({place.phase})" if place.phase in ("directional", "inlined") else "")),
            Cell(f"{len(place.unknowns) or ''}", len(place.unknowns)),
            *(Cell(f"{n:.3g}" if n else "", n) for n in numbers),
            line,
        )

    def _card(self, number: int) -> str:
        place = self.profile.places[number]
        return f"#place-{number}" if place.loop is not None or place.lines or place.unknowns else ""

    def _loop(self, row: Row) -> Fold:
        place, s = row.place, row.numbers
        assert place.loop is not None
        iterations = self.profile.records["places"]["iterations"][:, row.number].astype(np.float64)
        torn = ", ".join(f"`{t}`" for t in place.loop.torn) or "nothing: it is settled by trying"
        facts = Facts(
            (
                ("unknowns", f"{place.loop.size}", "of the loop"),
                ("iterated on", f"{len(place.loop.torn) or '-'}", "unknowns after tearing"),
                ("iterations", f"{s.iterations:.2f}", "a cycle, all calls together"),
                ("calls", f"{s.calls:.3g}", "a cycle"),
                ("time", f"{s.mean / 1e3:.3f} µs", "own, mean of a cycle"),
                ("share", f"{s.share:.1%}", "of the mean cycle"),
                ("caps", f"{s.caps}", "how often the iteration was ended by its cap, in all"),
            )
        )
        parts: list[Part] = [facts, Prose(f"Iterated on: {torn}."), *self._about(place)]
        if iterations.any():
            curve = Curve("iterations", self.x, iterations, steps=True)
            parts.append(Plot("iterations over time", (curve,), "cycle", "a cycle", axis="cycles", height=180))
        title = f"`{place.name}`: {place.loop.kind}, {place.loop.size} unknowns, {s.share:.1%}"
        return Fold(title, parts, row is self.rows[0], f"place-{row.number}")

    def _equations(self, row: Row) -> Fold:
        title = f"`{row.place.name}`: {row.numbers.share:.1%}"
        return Fold(title, self._about(row.place), anchor=f"place-{row.number}")

    def _about(self, place: Place) -> list[Part]:
        columns = (
            Column("line"),
            Column("share of it / %", True, "by operations", bar=True),
            Column("component"),
            Column("text"),
        )
        cells = [
            (
                Cell(f"{self.titles[x.file]}:{x.line}", link=self._line(x.file, x.line)),
                Cell(f"{100 * x.share:.3g}", x.share),
                Cell(x.component),
                Cell(x.text),
            )
            for x in place.lines
        ]
        names = ", ".join(f"`{u}`" for u in place.unknowns[:40]) + (", ..." if len(place.unknowns) > 40 else "")
        table = [Table(columns, cells, can_filter=False, shown=40)] if cells else []
        return [*([Prose(f"Computes {names}.")] if names else []), *table]

    # ----------------------------------------------------------------------------------------------------------- source

    def source(self) -> list[Part]:
        if not self.listings:
            return []
        folds = [Fold(title, (listing,), is_open=i == 0) for i, (title, listing) in enumerate(self.listings.items())]
        return [Heading("Source"), *folds]

    def _line(self, file: str, line: int) -> str:
        listing = self.listings.get(self.titles[file])
        return listing.place(line) if listing is not None and line > 0 else ""

    def _listings(self) -> dict[str, Listing]:
        cost = {(s.file, s.line): s for s in lines(self.profile)}
        most = max((s.share for s in cost.values()), default=1.0)
        made: dict[str, tuple[float, Listing]] = {}
        for file, text in self.profile.listings.items():
            found = [
                ListingLine(
                    n,
                    words,
                    s.share / most if (s := cost.get((file, n))) else 0.0,
                    f"{s.ns / 1e3:.3f} µs {s.share:.1%}" if s else "",
                    self._card(max(s.places, key=self._mean)) if s else "",
                )
                for n, words in text.items()
            ]
            total = sum(s.ns for (f, _), s in cost.items() if f == file)
            made[self.titles[file]] = total, Listing(self.titles[file], found)
        return {title: listing for title, (_, listing) in sorted(made.items(), key=lambda entry: -entry[1][0])}

    def _mean(self, number: int) -> float:
        return self.profile.statistics[number].mean


def titles(files: Sequence[str] | set[str]) -> Mapping[str, str]:
    """The shortest end of each path that no other has."""
    found: dict[str, str] = {}
    for file in sorted(files):
        parts = PurePath(file).parts
        tails = ("/".join(parts[-n:]) for n in range(1, len(parts) + 1))
        found[file] = next(t for t in tails if not any(f != file and f.endswith("/" + t) for f in files))
    return found
