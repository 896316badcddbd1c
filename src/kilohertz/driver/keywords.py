"""The settings of a step as keywords of the Python API: one decorator, so that every call takes all of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from kilohertz.base import near
from kilohertz.solvers import SETTINGS, Setting

P = ParamSpec("P")
R = TypeVar("R")


def takes_settings(*, offline: bool = False) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Show the fields of `StepSettings` in the signature and the docstring of a function that takes `**stepping`.

    Editors and `help` then see them one by one; `offline` has the defaults of off-line runs.
    """

    def shown(call: Callable[P, R]) -> Callable[P, R]:
        signature, text = inspect.signature(call), inspect.cleandoc(call.__doc__ or "")
        named = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        taken = [p.name for p in named]
        keywords = [_keyword(s, offline) for s in SETTINGS.values() if s.name not in taken]
        lines = [_line(s) for s in SETTINGS.values()]
        known = [*taken, *SETTINGS]

        @wraps(call)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            for name in kwargs:
                if name not in known:
                    raise TypeError(f"{call.__name__}() has no keyword `{name}`{near(name, known)}")
            return call(*args, **kwargs)

        checked.__doc__ = "\n".join([text, "", "Settings of the step (docs/reference/settings.md):", "", *lines])
        vars(checked)["__signature__"] = signature.replace(parameters=[*named, *keywords])
        vars(checked)["_written"] = signature, text
        return checked

    return shown


def as_written(call: Callable[..., Any]) -> tuple[inspect.Signature, str, bool]:
    """Signature and docstring without the settings, and whether it takes them."""
    written = getattr(call, "_written", None)
    if written is None:
        return inspect.signature(call), inspect.getdoc(call) or "", False
    return *written, True


def _keyword(s: Setting, offline: bool) -> inspect.Parameter:
    default = s.offline if offline and s.kind == "solver" else s.default
    return inspect.Parameter(s.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=type(s.default))


def _line(s: Setting) -> str:
    allowed = f"; {s.range}" if s.kind != "solver" else ""  # their names need the tables of all methods
    return f"    {s.name}: {s.help}{allowed}"
