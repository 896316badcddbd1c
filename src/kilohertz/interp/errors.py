"""Why an evaluation ends without a value."""

from __future__ import annotations


class NotConstant(Exception):
    """Something needed has no value here: a variable, an operator such as `pre`, an external function in C."""

    def __init__(self, name: str) -> None:
        super().__init__(f"`{name}` has no value here")
        self.name = name


class EvaluationError(Exception):
    """The expression is wrong for these values: division by zero, subscript out of range, a failed assert, ...

    `calls` lists the functions it happened in, innermost first.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
        self.calls: list[str] = []

    def __str__(self) -> str:
        if not self.calls:
            return self.message
        shown = self.calls if len(self.calls) <= 6 else [*self.calls[:3], "...", *self.calls[-2:]]
        return f"{self.message} (in {', called by '.join(shown)})"


class NotAssigned(EvaluationError):
    """The value is there but for a part that the function which gives it never assigns."""
