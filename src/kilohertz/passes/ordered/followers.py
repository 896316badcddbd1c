"""Rates that follow from a linear loop by a sum join it, where it is then torn on rates alone.

  loop of z6, z7, ...;  then a7 := z7 - z6         ->   loop of z6, z7, a7, ..., torn on a7 instead of z7

The acceleration of the last joint of a chain is not part of the loop that gives the others: a body's angular
acceleration stands there in its place.  With accelerations alone as guesses nothing else of the loop is computed in a
step.  Cost: linear; a loop that might be joined is torn twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kilohertz.ir import make
from kilohertz.ir.dae import Equation
from kilohertz.ir.expr import Real
from kilohertz.ir.ordered import Component
from kilohertz.passes.algebra import linear_coefficient
from kilohertz.passes.ordered.context import Context

_LEAST = 4  # guesses of a loop: smaller systems are solved where they stand


def joined_by_rates(
    components: Sequence[Component], context: Context, guessed: Callable[[Component], list[str] | None]
) -> list[Component]:
    """The components in order; `guessed` tells what a linear loop is torn on."""
    joined: dict[int, Component] = {}
    gone: set[int] = set()
    for k, followers in _followers(components, context).items():
        rows, unknowns = list(components[k].rows), list(components[k].unknowns)
        for j in followers:
            rows += components[j].rows
            unknowns += components[j].unknowns
        loop = Component(tuple(rows), tuple(unknowns))
        names = guessed(loop)
        if names is not None and len(names) >= _LEAST and all(map(context.is_rate, names)):
            joined[k] = loop
            gone.update(followers)
    return [joined.get(k, c) for k, c in enumerate(components) if k not in gone]


def _followers(components: Sequence[Component], context: Context) -> dict[int, list[int]]:
    """For each loop the components that may join it."""
    owner = {u.name: k for k, c in enumerate(components) for u in c.unknowns}
    followers: dict[int, list[int]] = {}
    for j, c in enumerate(components):
        e = c.rows[0].equation
        if len(c.rows) > 1 or not isinstance(e, Equation) or not context.is_rate(c.unknowns[0].name):
            continue
        rate = c.unknowns[0].name
        read = context.occurrence.names_of((e.left, e.right))
        last = max((owner[n] for n in read if n != rate and n in owner), default=-1)
        inside = [n for n in read if owner.get(n) == last]
        if last < 0 or len(components[last].rows) <= _LEAST or any(map(context.is_rate, inside)):
            continue
        residual = make.sub(e.left, e.right)
        factors = (linear_coefficient(residual, n) for n in (rate, *inside))
        if all(isinstance(a, Real) and a.value != 0.0 for a in factors):
            followers.setdefault(last, []).append(j)
    return followers
