"""Symbolic processing: Flat to Dae to Step, one pass a file; `driver/pipeline.py` has their order."""

from __future__ import annotations

from kilohertz.ir.dae import Dae
from kilohertz.ir.flat import Flat
from kilohertz.passes.dae.eliminate import eliminate
from kilohertz.passes.dae.hidden import reveal
from kilohertz.passes.dae.prune import prune
from kilohertz.passes.dae.reduce_index import reduce_index
from kilohertz.passes.dae.split import split
from kilohertz.passes.dae.vanish import vanish
from kilohertz.passes.flat.scalarise import scalarise
from kilohertz.passes.step.assemble import assemble
from kilohertz.passes.step.index1 import index1
from kilohertz.passes.step.inline import Inlining, inline


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
