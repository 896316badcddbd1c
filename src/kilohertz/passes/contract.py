"""What a pass is: a name, the facts it needs, gives and breaks, and a function of a form; and the log of its run."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from kilohertz.base import Diagnostic, InternalError
from kilohertz.passes.algebra import Occurrence
from kilohertz.passes.count import count

if TYPE_CHECKING:
    from kilohertz.passes.dae.index_reduction.reduction import Reduction


class Fact(Enum):
    """What holds of a model after a pass; the order of the list is checked from these."""

    FLAT = "the form is Flat"
    VALUES = "no function uses a scalar without a value"
    BODIES = "every function has a body, or is external"
    SCALAR = "every variable and equation is scalar"
    SETTLED = "what a flow of zero leaves open is told"
    DAE = "the form is Dae: variables by kind, events explicit"
    NO_ZERO_TERMS = "no term is multiplied by a computed parameter that is zero"
    ALIAS_FREE = "no equation says only that two unknowns are equal or one is constant"
    USED = "every result of a call is read"
    REVEALED = "no constraint between states is hidden in several sums"
    WISHES = "what is wanted as a state and may be one is a candidate"
    INDEX_1 = "every highest derivative can be solved for; the states are chosen"
    READS = "no call stands for what it reads and its derivatives for more"
    ORDERED = "the form is Ordered: parameters in order"
    INITIAL = "the initial system is in order"
    SIMPLIFIED = "what the initial system begins from is in order, where it is a large loop with homotopies"
    CAUSAL = "the simulated system is in order"
    TORN = "the systems are blocks"
    STEP = "the form is Step: blocks and a place for every variable"
    PARTITIONED = "every block is in its partition"
    HOISTED = "what parameters alone give is computed at events"
    SPARSITY = "the pattern of the state Jacobian is known"
    DIRECTIONAL = "the directional derivative is there, or why it is not"
    GATHERED = "long sums are apart from the rates that depend on them, where that pays"
    LIGHT = "mixed loops have what a search for a mode needs, where that is much less"
    CALLED = "every function is called"
    STAGE = "an implicit stage is joined with the equations"
    OPEN = "nonlinear loops are left to the method of integration"


NOTHING: frozenset[Fact] = frozenset()


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
    """What the passes said while they ran, and what they may remember for each other."""

    records: list[Record] = field(default_factory=list)
    warnings: list[Diagnostic] = field(default_factory=list)  # about the model, for the user
    reduction: Reduction | None = None  # what index reduction did
    occurrence: Occurrence = field(default_factory=Occurrence)  # a memo: no result depends on it

    @property
    def seconds(self) -> dict[str, float]:
        """What each pass took, by its label."""
        return {r.name: r.seconds for r in self.records}


class Pass(Protocol):
    """A function of its input.  Options are fields, so that a list of passes prints as what it does."""

    name: ClassVar[str]
    needs: ClassVar[frozenset[Fact]]
    gives: ClassVar[frozenset[Fact]]
    breaks: ClassVar[frozenset[Fact]] = NOTHING
    optional: ClassVar[bool] = False  # runs where settings ask for it

    def run(self, model: Any, log: Log) -> Any: ...


def label(p: Pass) -> str:
    """The name with the options that are not as usual: `eliminate-aliases{states-chosen}`."""
    switched_on = [f for f in fields(p) if getattr(p, f.name) != f.default and getattr(p, f.name) is True]  # type: ignore[arg-type]
    options = ", ".join(f.name.replace("_", "-") for f in switched_on)
    return f"{p.name}{{{options}}}" if options else p.name


def in_order(*passes: Pass, known: Iterable[Fact] = (Fact.FLAT,)) -> tuple[Pass, ...]:
    """The passes, once it is checked that each finds the facts it needs."""
    facts = set(known)
    for p in passes:
        missing = sorted(f.name for f in p.needs - facts)
        if missing:
            raise InternalError(f"pass {p.name} needs {', '.join(missing)}, which no earlier pass leaves standing")
        facts -= p.breaks
        facts |= p.gives
    return passes


def run_passes(passes: Iterable[Pass], model: Any, log: Log, *, verify: bool = False) -> Any:
    """One after the other; the log gets each pass's time and what it did to the counts.  `verify` checks every form."""
    before = None
    for p in passes:
        started = time.perf_counter()
        model = p.run(model, log)
        seconds = time.perf_counter() - started
        counted = count(model)
        after = None if counted is None else Size(*counted)
        log.records.append(Record(label(p), seconds, before, after))
        before = after
        if verify:
            verify_after(p, model)
    log.occurrence = Occurrence()
    return model


def verify_after(p: Pass, model: Any) -> None:
    """Check the contract of the form a pass left; a breach names the pass."""
    from kilohertz.ir.verify import verify_form

    try:
        verify_form(model)
    except InternalError as error:
        raise InternalError(f"after pass {label(p)}: {error}") from error
