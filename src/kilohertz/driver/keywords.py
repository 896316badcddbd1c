"""The settings of a step as keywords of the Python API: one decorator, so that every call takes all of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from kilohertz.solvers import SETTINGS

P = ParamSpec("P")
R = TypeVar("R")


def takes_settings(call: Callable[P, R]) -> Callable[P, R]:
    """Show the fields of `StepSettings` in the signature and the docstring of a function that takes `**stepping`."""
    signature = inspect.signature(call)
    named = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    taken = {p.name for p in named}
    keywords = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=s.default, annotation=type(s.default).__name__)
        for name, s in SETTINGS.items()
        if name not in taken
    ]
    lines = [f"{name}: {s.help}" + (f"; {s.range}" if s.kind != "solver" else "") for name, s in SETTINGS.items()]
    head = inspect.cleandoc(call.__doc__ or "")
    call.__doc__ = "\n".join([head, "", "Settings of the step (docs/reference/settings.md):", "", *lines])
    vars(call)["__signature__"] = signature.replace(parameters=[*named, *keywords])
    return call
