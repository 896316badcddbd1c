"""What index reduction did: which equations it differentiated, between which states it chose, and why."""

from __future__ import annotations

from dataclasses import dataclass, field

from kilohertz.base import Diagnostic, ModelError, Note, Severity
from kilohertz.ir.dae import AnyEquation, Dae, DaeVariable, Role, Select, print_equation

FREE_STATE = "no constraint ties it"


@dataclass(frozen=True, slots=True)
class Differentiated:
    """An equation that was differentiated, as it was before; `order` 1 for the first derivative."""

    equation: AnyEquation
    order: int


@dataclass(frozen=True, slots=True)
class Choice:
    """Constraints among candidates: the dummies follow from the constraints, the kept stay states."""

    kept: tuple[DaeVariable, ...]
    dummies: tuple[DaeVariable, ...]
    integrals: tuple[str, ...] = ()  # for each of the kept what it is the derivative of, empty where nothing


@dataclass(slots=True)
class Reduction:
    """The whole account, in the order in which it happened."""

    differentiated: list[Differentiated] = field(default_factory=list)
    choices: list[Choice] = field(default_factory=list)
    dummies: list[str] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    chosen_in_run: dict[str, tuple[str, ...]] = field(default_factory=dict)  # a state: its candidates

    def reasons(self) -> dict[str, str]:
        """Why each state is one."""
        reason_of = dict.fromkeys(self.states, FREE_STATE)
        reason_of |= {s: f"one of {{{', '.join(names)}}}, chosen in the run" for s, names in self.chosen_in_run.items()}
        for choice in self.choices:
            for v, integral in zip(choice.kept, choice.integrals, strict=True):
                if v.name in reason_of:
                    reason_of[v.name] = _reason(v, choice.dummies)
                if reason_of.get(integral) == FREE_STATE:
                    reason_of[integral] = f"its derivative {v.name} is a state"
        return reason_of


def _reason(v: DaeVariable, dummies: tuple[DaeVariable, ...]) -> str:
    """The first point in which a kept candidate is ahead of those that lost: the order of `select_states`."""
    lost = max((d.select.value for d in dummies), default=0)
    if not dummies:
        return FREE_STATE
    losers = f"{', '.join(d.name for d in dummies[:3])}{', ...' if len(dummies) > 3 else ''}"
    over = f"over {losers}"
    if v.select.value > lost:
        named = v.select is not Select.DEFAULT
        return f"stateSelect={v.select.name.lower()} {over}" if named else f"{over}, which are to be avoided"
    if v.fixed and not all(d.fixed for d in dummies):
        return f"its start is fixed, {over}"
    if v.start is not None and any(d.start is None for d in dummies):
        return f"its start is given, {over}"
    return f"the constraints are better solved for {losers}"


def cannot_differentiate(e: AnyEquation, why: str) -> ModelError:
    """A constraint without derivative stops index reduction."""
    span = e.origin.spans[0] if e.origin.spans else None
    text = f"index reduction has to differentiate this equation, but {why} has no derivative"
    return ModelError(Diagnostic("B206", text, span, notes=(Note(print_equation(e)[:200]),)))


def tell_unheard(dae: Dae) -> None:
    """What is wanted as a state whatever happens, and is none.

    Of `never` nothing is told: seven examples of MSL have an orientation whose angles are differentiated and never to
    be states, and nothing else that is differentiated.
    """
    told = {d.message for d in dae.warnings}
    chosen_later = {name for one in dae.selections for name in one.candidates}
    for v in dae.variables.values():
        if v.select is Select.ALWAYS and v.role is Role.ALGEBRAIC and v.name not in chosen_later:
            warning = unheard(v)
            dae.warnings += [] if warning.message in told else [warning]


def unheard(v: DaeVariable) -> Diagnostic:
    """B213 of one variable."""
    text, span = f"{v.name} has stateSelect=always but is no state here", v.origin.spans[:1]
    return Diagnostic("B213", text, span[0] if span else None, severity=Severity.WARNING)
