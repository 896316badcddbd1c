"""The Python API: `kilohertz.load(...)`, then each job in a call."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kilohertz.base import Diagnostic, ModelError
from kilohertz.driver.locate import locate, search_path
from kilohertz.driver.report import Report
from kilohertz.syntax.library import Libraries

if TYPE_CHECKING:
    from kilohertz.ir.flat import Flat
    from kilohertz.results import Result


def load(model: str, libraries: Iterable[str | Path] = ()) -> Model:
    """Find a model: a class name, `file.mo` (its last class) or `file.mo:Class`.

    Libraries are looked for in `libraries`, in MODELICAPATH and in our own; nothing is flattened yet.
    """
    return Session(libraries).model(model)


class Session:
    """Libraries that several models share: each source file is read once."""

    def __init__(self, libraries: Iterable[str | Path] = ()) -> None:
        self.libraries = Libraries(search_path(libraries))

    def model(self, model: str) -> Model:
        """A model by what the user calls it."""
        cls = locate(model, self.libraries)
        return Model(".".join((*cls.within, cls.name)), self)

    def experiments(self, packages: Iterable[str]) -> list[str]:
        """Full names of all classes in these packages that have an experiment annotation."""
        from kilohertz.driver.experiments import experiments

        return experiments(self.libraries, packages)


class Model:
    """A model that was found; what is worked out about it is kept."""

    def __init__(self, name: str, session: Session) -> None:
        self.name = name
        self.session = session
        self._flat: Flat | None = None

    def flatten(self) -> Flat:
        """The model without classes: variables, equations, functions."""
        if self._flat is None:
            flatten = _room("semantics", "flatten", "flattening")
            self._flat = flatten(self.session.libraries, self.name)
        assert self._flat is not None
        return self._flat

    def flat_text(self, origins: bool = True) -> str:
        """The flat model as readable Modelica."""
        from kilohertz.ir.printer import print_flat

        return print_flat(self.flatten(), self.session.libraries.sources if origins else None)

    def check(self) -> Report:
        """Count scalar equations and unknowns; diagnostics name the culprits where they differ."""
        from kilohertz.semantics.balance import check

        balance, diagnostics = check(self.flatten())
        return Report(self.name, balance, (*self.session.libraries.diagnostics, *diagnostics))

    def compile(self) -> Any:
        """Process the equations symbolically, generate C and compile it."""
        raise ModelError(_absent("compiling"))

    def analyse(self) -> Any:
        """What symbolic processing made of the model."""
        raise ModelError(_absent("symbolic analysis"))

    def simulate(
        self,
        *,
        start: float | None = None,
        stop: float | None = None,
        solver: str = "cvode",
        step: float | None = None,
        tolerance: float | None = None,
        intervals: int | None = None,
        settings: Mapping[str, float | str] | None = None,
        record: str | Sequence[str] = "all",
        progress: Callable[[float], None] | None = None,
    ) -> Result:
        """Run off-line; what is not given comes from the experiment annotation."""
        raise ModelError(_absent("simulation"))


def _room(module: str, name: str, what: str) -> Callable[..., Any]:
    """A function of a room that is being built; where it is not there yet, say so."""
    try:
        found: Callable[..., Any] = getattr(importlib.import_module(f"kilohertz.{module}"), name)
    except (ModuleNotFoundError, AttributeError):
        raise ModelError(_absent(what)) from None
    return found


def _absent(what: str) -> Diagnostic:
    return Diagnostic("R790", f"{what} is not part of this version yet")
