"""What `check` found: numbers, and diagnostics where something is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kilohertz.base import Diagnostic, Severity

if TYPE_CHECKING:
    from kilohertz.semantics import Balance


@dataclass(frozen=True, slots=True)
class Report:
    """Scalar counts of a flattened model; `diagnostics` say why it cannot be solved, or warn."""

    name: str
    balance: Balance
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def ok(self) -> bool:
        """As many equations as unknowns, and each can be solved for one."""
        return self.balance.is_balanced and all(d.severity is not Severity.ERROR for d in self.diagnostics)

    @property
    def equations(self) -> int:
        """How many scalar equations there are."""
        return self.balance.n_equations

    @property
    def unknowns(self) -> int:
        """How many scalar unknowns there are."""
        return self.balance.n_unknowns

    def counts(self) -> dict[str, int]:
        """The numbers by their names, in the order they are shown."""
        return {
            "equations": self.balance.n_equations,
            "unknowns": self.balance.n_unknowns,
            "parameters": self.balance.n_parameters,
            "states_declared": self.balance.n_states_declared,
            "events": self.balance.n_events,
        }
