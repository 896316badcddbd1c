"""Rules of the language that a model can break although its meaning would be clear, one function each, by chapter.

What needs only the text of a class is looked at when the model is flat (`classes`, `inheritance`, `functions`); what
needs an instance while it is met (`components`, `scoping`); what needs the flat model reads one `Survey` of it.  All
of it ends in `World.record`.
"""

from kilohertz.semantics.rules.assignability import (
    check_algorithms,
    check_function,
    check_outputs,
    check_pre,
    check_reinits,
    check_values,
)
from kilohertz.semantics.rules.classes import check_classes
from kilohertz.semantics.rules.conditions import check_conditions
from kilohertz.semantics.rules.inheritance import check_bases, check_twice
from kilohertz.semantics.rules.inverses import false_inverses
from kilohertz.semantics.rules.limits import check_limits
from kilohertz.semantics.rules.never_set import check_parts
from kilohertz.semantics.rules.prefixes import check_component
from kilohertz.semantics.rules.redeclarations import Redeclared, check_redeclarations, check_replaceable
from kilohertz.semantics.rules.scoping import check_outer
from kilohertz.semantics.rules.survey import Survey
from kilohertz.semantics.rules.unit_agreement import check_units
from kilohertz.semantics.rules.variability import check_variability

__all__ = [
    "Redeclared",
    "Survey",
    "check_algorithms",
    "check_bases",
    "check_classes",
    "check_component",
    "check_conditions",
    "check_function",
    "check_limits",
    "check_outer",
    "check_outputs",
    "check_parts",
    "check_pre",
    "check_redeclarations",
    "check_reinits",
    "check_replaceable",
    "check_twice",
    "check_units",
    "check_values",
    "check_variability",
    "false_inverses",
]
