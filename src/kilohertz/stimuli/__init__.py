"""Stimuli: formulas of time for inputs, the same in a scenario, off-line and in a periodic task; faults on signals."""

from kilohertz.stimuli.faults import KEYS as FAULT_KEYS
from kilohertz.stimuli.faults import KINDS as FAULTS
from kilohertz.stimuli.faults import FaultKey, FaultKind, SignalFault, Trigger
from kilohertz.stimuli.formula import Decision, Formula, formula_of
from kilohertz.stimuli.generators import GENERATORS, Generator
from kilohertz.stimuli.instants import apart, breaks
from kilohertz.stimuli.stimulus_rows import check_rows, overridden

__all__ = [
    "FAULTS",
    "FAULT_KEYS",
    "GENERATORS",
    "Decision",
    "FaultKey",
    "FaultKind",
    "Formula",
    "Generator",
    "SignalFault",
    "Trigger",
    "apart",
    "breaks",
    "check_rows",
    "formula_of",
    "overridden",
]
