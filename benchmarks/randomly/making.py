"""A random model out of random parts."""

from __future__ import annotations

import random
from collections.abc import Callable

from randomly import arrays, classes, connecting, deciding, deeper, events, libraries, mixed, programs, records, solving
from randomly.parts import Maker, Model, Part

Kind = Callable[[Maker, str], Part]
KINDS: dict[str, Kind] = {
    "functions": programs.functions,
    "arrays": arrays.arrays,
    "linear": solving.linear,
    "nonlinear": solving.nonlinear,
    "states": solving.states,
    "constraint": solving.second_order,
    "aliases": solving.aliases,
    "crossing": solving.crossing,
    "differentiated": solving.differentiated,
    "machine": events.machine,
    "turns": events.turns,
    "reset": events.reset,
    "delayed": events.delayed,
    "texts": events.texts,
    "clocked": events.clocked,
    "state machine": events.states_of_a_machine,
    "initially": events.initially,
    "loops of whens": events.loops_of_whens,
    "records": records.records,
    "operators": records.operators,
    "chain": classes.chain,
    "redeclared": classes.redeclared,
    "components": classes.components,
    "enumerations": classes.enumerations,
    "functionals": classes.functionals,
    "network": connecting.network,
    "streams": connecting.streams,
    "buses": connecting.buses,
    "frames": connecting.frames,
    "branches": mixed.branches,
    "state arrays": mixed.state_arrays,
    "sized": mixed.sized,
    "recorded": mixed.recorded,
    "clocked arrays": mixed.clocked_arrays,
    "others": mixed.others,
    "nested": deeper.nested,
    "events in loops": deeper.events_in_loops,
    "run-time sizes": deeper.run_time_sizes,
    "hierarchy": deeper.hierarchy,
    "strange names": deeper.strange_names,
    "decided": deciding.decided,
    "calls differentiated": deciding.calls_differentiated,
    "clocks of clocks": deciding.clocks_of_clocks,
    "delays compared": deciding.delays_compared,
    "resets": deciding.several_resets,
    "media": libraries.media,
    "mixing": libraries.mixing,
    "plugs": libraries.plugs,
    "external": libraries.external,
}
ONCE = ("state machine",)


def make(r: random.Random, seed: str, only: tuple[str, ...] = ()) -> Model:
    """The same for the same seed."""
    m, kinds = Maker(r), list(only or KINDS)
    parts = [solving.sources(m, "p0")]
    for k in range(1, r.randint(5, 9)):
        kind = r.choice(kinds)
        parts.append(KINDS[kind](m, f"p{k}"))
        if kind in ONCE and not only:
            kinds.remove(kind)
    return Model(seed, parts)
