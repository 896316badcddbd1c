"""What a pass is: a name, the facts it needs, gives and breaks, and a function of the model; and the log of its run."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from kilohertz.base import InternalError
from kilohertz.passes.count import count

if TYPE_CHECKING:
    from kilohertz.ir.dae import Dae
    from kilohertz.passes.dae.reduction import Reduction


class Fact(Enum):
    """What holds of a model after a pass; the order of the list is checked from these."""

    FLAT = "the form is Flat"
    SCALAR = "every variable and equation is scalar"
    DAE = "the form is Dae: variables by kind, events explicit"
    NO_ZERO_TERMS = "no term is multiplied by a computed parameter that is zero"
    ALIAS_FREE = "no equation says only that two unknowns are equal or one is constant"
    USED = "every result of a call is read"
    REVEALED = "no constraint between states is hidden in several sums"
    INDEX_1 = "every highest derivative can be solved for; the states are chosen"
    STEP = "the form is Step: ordered blocks"


@dataclass(frozen=True, slots=True)
class Size:
    """Scalar equations and unknowns; None where the form has none that could be counted."""

    equations: int
    unknowns: int


@dataclass(frozen=True, slots=True)
class Record:
    """One run of one pass."""

    name: str
    seconds: float
    before: Size | None
    after: Size | None


@dataclass(slots=True)
class Log:
    """What the passes said while they ran."""

    records: list[Record] = field(default_factory=list)
    reduction: Reduction | None = None  # what index reduction did
    dae: Dae | None = None  # what the blocks were assembled from: inlining starts here again

    @property
    def seconds(self) -> dict[str, float]:
        """What each pass took, by name; a pass that runs twice is added up."""
        found: dict[str, float] = {}
        for r in self.records:
            found[r.name] = found.get(r.name, 0.0) + r.seconds
        return found


class Pass(Protocol):
    """A function of its input.  Options are fields, so that a list of passes prints as what it does."""

    name: ClassVar[str]
    needs: ClassVar[frozenset[Fact]]
    gives: ClassVar[frozenset[Fact]]
    breaks: ClassVar[frozenset[Fact]]

    def run(self, model: Any, log: Log) -> Any: ...


def in_order(*passes: Pass, given: Iterable[Fact] = (Fact.FLAT,)) -> tuple[Pass, ...]:
    """The passes, once it is checked that each finds the facts it needs."""
    facts = set(given)
    for p in passes:
        missing = sorted(f.name for f in p.needs - facts)
        if missing:
            raise InternalError(f"pass {p.name} needs {', '.join(missing)}, which no earlier pass leaves standing")
        facts -= p.breaks
        facts |= p.gives
    return passes


def run_passes(passes: Iterable[Pass], model: Any, log: Log) -> Any:
    """One after the other; the log gets each pass's time and what it did to the counts."""
    before = None
    for p in passes:
        started = time.perf_counter()
        model = p.run(model, log)
        seconds = time.perf_counter() - started
        counted = count(model)
        after = None if counted is None else Size(*counted)
        log.records.append(Record(p.name, seconds, before, after))
        before = after
    return model
