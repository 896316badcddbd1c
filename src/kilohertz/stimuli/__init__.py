"""Stimuli: formulas of time for inputs, the same in a scenario, off-line and in a periodic task."""

from kilohertz.stimuli.formula import Decision, Formula, formula_of
from kilohertz.stimuli.generators import GENERATORS, Generator
from kilohertz.stimuli.instants import breaks
from kilohertz.stimuli.stimulus_rows import check_rows

__all__ = ["GENERATORS", "Decision", "Formula", "Generator", "breaks", "check_rows", "formula_of"]
