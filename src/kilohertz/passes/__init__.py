"""Symbolic processing: Flat to Dae to Ordered to Step, one pass a file; `driver/pipeline.py` has their order."""

from kilohertz.passes.step.inline_stage import Inlining

__all__ = ["Inlining"]
