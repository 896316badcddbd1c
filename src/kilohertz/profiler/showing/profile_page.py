"""The page of a profile: cycles over time, one of them opened, blocks, functions, loops, components, classes, source.

Everything leads on: a cycle to its places, a place to its lines, components, classes and cycles, and these back to it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kilohertz.pages import Facts, Heading, Icicle, Node, Page, Part, Verdict
from kilohertz.profiler.advice import Tried
from kilohertz.profiler.causes import Cause
from kilohertz.profiler.cycle_records import Profile
from kilohertz.profiler.first_line import headline
from kilohertz.profiler.showing.advice_part import advice_parts
from kilohertz.profiler.showing.cards import place_parts
from kilohertz.profiler.showing.cycles import cycle_parts
from kilohertz.profiler.showing.owners import owner_parts, source_parts
from kilohertz.profiler.showing.ways import Ways
from kilohertz.profiler.views import Branch, cycle_numbers, cycle_tree


def profile_page(profile: Profile, causes: Sequence[Cause], advice: Sequence[Tried] = ()) -> Page:
    """All parts; `causes` are those of the worst cycles, `advice` what was found and tried."""
    ways = Ways(profile, causes)
    words = [f"{profile.about[k]}" for k in ("solver", "machine", "compiler") if profile.about.get(k)]
    if "step" in profile.about and "solver" in profile.about:
        words[0] += f", every {profile.about['step'] * 1e3:g} ms"
    parts: list[Part] = [
        Verdict(not len(profile.misses), headline(profile, list(causes))),
        *_facts(profile),
        *cycle_parts(ways),
        *advice_parts(ways, advice),
        Heading("Mean cycle"),
        _mean(ways),
        *place_parts(ways),
        *owner_parts(ways),
        *source_parts(ways),
    ]
    return Page(profile.name, "; ".join(words), parts)


def _facts(p: Profile) -> list[Part]:
    numbers = cycle_numbers(p)
    if not numbers:
        return []
    us = {name: f"{ns / 1e3:.2f} µs" for name, ns in numbers.items()}
    facts = [
        (
            "cycles",
            f"{len(p.records)}",
            f"recorded: one in {p.every}, and all slow ones" if p.every > 1 else "recorded",
        ),
        ("median", us["p50"], "of the whole cycle, probes taken off"),
        ("p99", us["p99"], "99 % of the cycles took at most this"),
        ("p99.9", us["p999"], "99.9 % of the cycles took at most this"),
        ("worst", us["max"], "of all cycles that count"),
        ("in named places", f"{p.attributed:.1%}", "the rest of the time belongs to no place"),
        ("probes", f"{p.overhead_ns.mean() / 1e3:.2f} µs", "what timing itself costs a cycle; it is taken off"),
    ]
    if p.swept < 1.0:
        facts.append(("of a cycle", f"{p.swept:.0%}", "was gone over by windows; the rest is taken to be like it"))
    if p.period_ns:
        facts.insert(1, ("missed", f"{len(p.misses)}", "cycles that ended after their deadline"))
    return [Facts(facts)]


def _mean(ways: Ways) -> Icicle:
    means = np.array([s.mean for s in ways.profile.statistics])
    return Icicle(_node(ways, cycle_tree(ways.profile, means)), "µs")


def _node(ways: Ways, branch: Branch) -> Node:
    link = ways.place(branch.place) if branch.place >= 0 else ""
    return Node(branch.name, branch.ns / 1e3, tuple(_node(ways, b) for b in branch.below), "", link)
