"""Both sides brought together: trajectories, verdict, and where they part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kilohertz.base import Announce, Diagnostic, ModelError, Note
from kilohertz.compare import Verdict, compare
from kilohertz.driver.comparing.definition import Definition
from kilohertz.driver.comparing.sides import Side, Trajectory, trajectory

if TYPE_CHECKING:
    from kilohertz.driver.api import Session


@dataclass(frozen=True, slots=True)
class Outcome:
    """The verdict, both trajectories, and sentences that say where they part and why."""

    definition: Definition
    result: Trajectory
    reference: Trajectory
    verdict: Verdict
    why: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What was chosen for models, and what became of their inputs."""
        return tuple(dict.fromkeys((*self.result.notes, *self.reference.notes)))


def run_definition(definition: Definition, session: Session | None = None, announce: Announce | None = None) -> Outcome:
    """Read or simulate both sides and compare them.  `announce` hears what is being done."""
    from kilohertz.driver.api import Session
    from kilohertz.driver.comparing.why import why

    session = session or Session(definition.libraries)
    result, reference = _both(definition, session, announce or (lambda text: None))
    verdict = compare(result.result, reference.result, wanted=definition.wanted)
    if not verdict.signals:
        raise _nothing_in_common(verdict)
    known = result.model or reference.model
    sentences: tuple[str, ...] = ()
    if known is not None and not verdict.ok:
        is_result = result.model is not None
        sources = session.libraries.sources
        sentences = why(verdict, result.result, reference.result, known.process(), sources, is_result=is_result)
    return Outcome(definition, result, reference, verdict, sentences)


def _both(d: Definition, session: Session, announce: Announce) -> tuple[Trajectory, Trajectory]:
    """Files first: a model that says no time of its own is simulated over that of the file."""

    def of(side: Side) -> Trajectory:
        announce(f"{'reading' if side.is_file else 'simulating'} {side.name}")
        return trajectory(side, session)

    if d.result.is_file:
        first = of(d.result)
        return first, of(d.reference.filled(d.result, first.result))
    second = of(d.reference.filled(d.result, None))
    return of(d.result.filled(d.reference, second.result if d.reference.is_file else None)), second


def _nothing_in_common(verdict: Verdict) -> ModelError:
    mine, theirs = (names[:3] for names in (verdict.pairing.only_result, verdict.pairing.only_reference))
    notes = []
    if mine and theirs:
        notes = [Note(f"the result has {', '.join(mine)}, the reference {', '.join(theirs)}")]
    return ModelError(Diagnostic("R762", "the two sides have no signal in common", notes=tuple(notes)))
