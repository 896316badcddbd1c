"""What `check` found: numbers, and diagnostics where something is wrong."""

from __future__ import annotations

from dataclasses import dataclass

from kilohertz.base import Diagnostic


@dataclass(frozen=True, slots=True)
class Report:
    """Scalar counts of a flattened model; `diagnostics` say why it is not balanced, or warn."""

    name: str
    equations: int
    unknowns: int
    parameters: int
    states_declared: int
    events: int
    balanced: bool
    diagnostics: tuple[Diagnostic, ...] = ()

    def counts(self) -> dict[str, int]:
        """The numbers by their names, in the order they are shown."""
        return {
            "equations": self.equations,
            "unknowns": self.unknowns,
            "parameters": self.parameters,
            "states_declared": self.states_declared,
            "events": self.events,
        }
