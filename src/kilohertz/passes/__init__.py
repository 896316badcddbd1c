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


def make_dae(flat: Flat) -> Dae:
    """Flat to Dae, before any reduction."""
    return split(scalarise(flat))


def compile_flat(flat: Flat) -> Step:
    """Flat to Step with all passes in their order."""
    dae = prune(eliminate(vanish(make_dae(flat))))
    dae, _ = reduce_index(dae)
    return assemble(eliminate(dae, states_chosen=True))


__all__ = ["assemble", "compile_flat", "eliminate", "make_dae", "reduce_index", "scalarise", "split", "vanish"]
