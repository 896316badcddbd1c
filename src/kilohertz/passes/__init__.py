"""Symbolic processing: Flat to Dae to Step, one pass a file; `driver/pipeline.py` has their order."""

from __future__ import annotations

from kilohertz.ir.dae import Dae
from kilohertz.ir.flat import Flat
from kilohertz.passes.dae.drop_zero_terms import vanish
from kilohertz.passes.dae.eliminate_aliases import eliminate
from kilohertz.passes.dae.lower_events import split
from kilohertz.passes.dae.prune import prune
from kilohertz.passes.dae.reduce_index import reduce_index
from kilohertz.passes.dae.reveal_constraints import reveal
from kilohertz.passes.flat.scalarise import scalarise
from kilohertz.passes.step.assemble import assemble
from kilohertz.passes.step.inline_stage import Inlining, inline
from kilohertz.passes.step.open_loops import index1


def make_dae(flat: Flat) -> Dae:
    """Flat to Dae, before any reduction."""
    return split(scalarise(flat))


__all__ = [
    "Inlining",
    "assemble",
    "eliminate",
    "index1",
    "inline",
    "make_dae",
    "prune",
    "reduce_index",
    "reveal",
    "scalarise",
    "split",
    "vanish",
]
