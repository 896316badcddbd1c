"""Why an evaluation ends without a value."""

from __future__ import annotations

from kilohertz.ir.rules.arithmetic import EvaluationError

__all__ = ["EvaluationError", "NotAssigned", "NotConstant"]


class NotConstant(Exception):
    """Something needed has no value here: a variable, an operator such as `pre`, an external function in C."""

    def __init__(self, name: str) -> None:
        super().__init__(f"`{name}` has no value here")
        self.name = name


class NotAssigned(EvaluationError):
    """The value is there but for a part that the function which gives it never assigns."""
