"""What a run in Python says aloud: each diagnostic that `khz simulate` prints is a warning of Python, too."""

from __future__ import annotations

import warnings
from collections.abc import Container, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from kilohertz.base import Diagnostic, ModelError, ModelWarning, Severity, render

if TYPE_CHECKING:
    from kilohertz.driver.api import Model
    from kilohertz.results import Result

_CALLER = 5  # whoever called `simulate`: behind `_warn`, a function here, `simulate` and its check of keywords


def tell(model: Model, settings: Container[str], of_run: Iterable[Diagnostic]) -> None:
    """What is noticed of a model is told by its first run, what a run had to cope with by each."""
    of_model = [w for w in model.warnings_with(settings) if w not in model.told]
    model.told.update(of_model)
    for warning in (*of_model, *of_run):
        _warn(model, [warning])


def mar(model: Model, result: Result, *, strict: bool) -> None:
    """Steps that failed and values that are no numbers: said in one warning, or refused."""
    if strict:
        raise ModelError(*(replace(d, severity=Severity.ERROR) for d in result.problems))
    _warn(model, result.problems)


def _warn(model: Model, said: Iterable[Diagnostic]) -> None:
    texts = (render(diagnostic, model.session.libraries.sources) for diagnostic in said)
    warnings.warn("\n".join(texts), ModelWarning, stacklevel=_CALLER)
