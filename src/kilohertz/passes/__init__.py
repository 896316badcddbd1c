"""Symbolic processing: Flat to Dae to Step, one pass a file."""

from __future__ import annotations

from kilohertz.ir.dae import Dae
from kilohertz.ir.flat import Flat
from kilohertz.ir.step import Step
from kilohertz.passes.dae.eliminate import eliminate
from kilohertz.passes.dae.prune import prune
from kilohertz.passes.dae.reduce_index import reduce_index
from kilohertz.passes.dae.split import split
from kilohertz.passes.dae.vanish import vanish
from kilohertz.passes.flat.scalarise import scalarise
from kilohertz.passes.step.assemble import assemble
from kilohertz.passes.step.inline import Inlining, inline


def make_dae(flat: Flat) -> Dae:
    """Flat to Dae, before any reduction."""
    return split(scalarise(flat))


def reduced_dae(flat: Flat) -> Dae:
    """Flat to a Dae of index one whose states are chosen."""
    dae = prune(eliminate(vanish(make_dae(flat))))
    dae, _ = reduce_index(dae)
    return eliminate(dae, states_chosen=True)


def compile_flat(flat: Flat, inlining: Inlining | None = None) -> Step:
    """Flat to Step with all passes in their order; with `inlining` also the blocks of an implicit stage."""
    dae = reduced_dae(flat)
    step = assemble(dae)
    return step if inlining is None else inline(dae, step, inlining)


__all__ = [
    "Inlining",
    "assemble",
    "compile_flat",
    "eliminate",
    "inline",
    "make_dae",
    "reduce_index",
    "reduced_dae",
    "scalarise",
    "split",
    "vanish",
]
