"""Both sides brought together: trajectories, verdict, and where they part."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kilohertz.base import Announce, Diagnostic, ModelError, Note
from kilohertz.compare import Verdict, compare, judged
from kilohertz.compare.reports import few
from kilohertz.driver.comparing.definition import Definition
from kilohertz.driver.comparing.sides import Side, Trajectory, trajectory

if TYPE_CHECKING:
    from kilohertz.driver.api import Session

_TIGHTER = 0.01  # times the tolerance of a reference that is asked whether it is sure


@dataclass(frozen=True, slots=True)
class Outcome:
    """The verdict, both trajectories, and sentences that say where they part and why.

    `doubtful` are signals that fail and have no reference worth the name: at a smaller tolerance it fails itself.
    """

    definition: Definition
    result: Trajectory
    reference: Trajectory
    verdict: Verdict
    why: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What was chosen for models, and what became of their inputs."""
        return tuple(dict.fromkeys((*self.result.notes, *self.reference.notes)))


def run_definition(definition: Definition, session: Session | None = None, announce: Announce | None = None) -> Outcome:
    """Read or simulate both sides and compare them.  `announce` hears what is being done."""
    from kilohertz.driver.api import Session
    from kilohertz.driver.comparing.why import why

    session, announce = session or Session(definition.libraries), announce or (lambda text: None)
    result, reference = _both(definition, session, announce)
    verdict = compare(result.result, reference.result, wanted=definition.wanted)
    if not verdict.signals:
        raise _nothing_in_common(verdict)
    known = result.model or reference.model
    if known is None or verdict.ok:
        return Outcome(definition, result, reference, verdict)
    doubtful = _doubtful(verdict, reference, definition, session, announce)
    sources, is_result = session.libraries.sources, result.model is not None
    reasons = why(verdict, result.result, reference.result, known.process(), sources, is_result=is_result)
    if doubtful:
        reasons = (_about(doubtful, verdict), *reasons)
    return Outcome(definition, result, reference, verdict, reasons, doubtful)


def _doubtful(
    verdict: Verdict, reference: Trajectory, d: Definition, session: Session, announce: Announce
) -> tuple[str, ...]:
    """Signals that fail, and on which the reference at a smaller tolerance fails by the same bars."""
    if not reference.is_by_tolerance or not verdict.failed:
        return ()
    side = reference.tighter(_TIGHTER)
    announce(f"simulating {side.name} at a tolerance of {side.stepping.tolerance:g}: is the reference sure?")
    try:
        again = trajectory(side, session).result
    except ModelError:
        return ()  # nothing is known of how sure it is
    failed = {s.name for s in verdict.failed}
    with_itself = [
        replace(p, result=p.reference, sign=1, result_unit=p.reference_unit)
        for p in verdict.pairing.pairs
        if p.name in failed
    ]
    unsure = {s.name for s in judged(with_itself, again, reference.result, d.wanted) if not s.ok}
    return tuple(s.name for s in verdict.worst_first if s.name in unsure)


def _about(doubtful: tuple[str, ...], verdict: Verdict) -> str:
    failed, n = len(verdict.failed), len(doubtful)
    which = "all" if n == failed else f"{n} of"
    return (
        f"{which} {failed} signals that fail have no sure reference: at a hundredth of its tolerance it fails "
        f"them too, {few(doubtful)}"
    )


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
