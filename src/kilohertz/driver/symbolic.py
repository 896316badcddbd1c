"""The passes from Flat to Step as objects with facts; the work is done in `kilohertz.passes`.

Rooms are imported when a pass runs: listing the passes costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from kilohertz.passes.contract import Fact, Log

if TYPE_CHECKING:
    from kilohertz.ir.dae import Dae
    from kilohertz.ir.flat import Flat
    from kilohertz.ir.step import Step
    from kilohertz.passes.flat.ticks import ScalarFlat

_NOTHING: frozenset[Fact] = frozenset()


@dataclass(frozen=True, slots=True)
class Scalarise:
    """Arrays, records and loops become scalars; small functions are written out where they are called."""

    name: ClassVar[str] = "scalarise"
    needs: ClassVar[frozenset[Fact]] = frozenset({Fact.FLAT})
    gives: ClassVar[frozenset[Fact]] = frozenset({Fact.SCALAR})
    breaks: ClassVar[frozenset[Fact]] = _NOTHING

    def run(self, model: Flat, log: Log) -> ScalarFlat:
        from kilohertz.passes import scalarise

        return scalarise(model)


@dataclass(frozen=True, slots=True)
class Split:
    """Variables by kind; when-equations, relations and samples become explicit."""

    name: ClassVar[str] = "split"
    needs: ClassVar[frozenset[Fact]] = frozenset({Fact.FLAT, Fact.SCALAR})
    gives: ClassVar[frozenset[Fact]] = frozenset({Fact.DAE})
    breaks: ClassVar[frozenset[Fact]] = frozenset({Fact.FLAT})

    def run(self, model: ScalarFlat, log: Log) -> Dae:
        from kilohertz.passes import split

        return split(model)


@dataclass(frozen=True, slots=True)
class DropZeroTerms:
    """What a computed parameter that is zero multiplies is not there, structurally."""

    name: ClassVar[str] = "drop-zero-terms"
    needs: ClassVar[frozenset[Fact]] = frozenset({Fact.DAE})
    gives: ClassVar[frozenset[Fact]] = frozenset({Fact.NO_ZERO_TERMS})
    breaks: ClassVar[frozenset[Fact]] = frozenset({Fact.ALIAS_FREE})

    def run(self, model: Dae, log: Log) -> Dae:
        from kilohertz.passes import vanish

        return vanish(model)


@dataclass(frozen=True, slots=True)
class EliminateAliases:
    """Unknowns that equal another, its negative or a constant leave the system."""

    name: ClassVar[str] = "eliminate-aliases"
    needs: ClassVar[frozenset[Fact]] = frozenset({Fact.DAE, Fact.NO_ZERO_TERMS})
    gives: ClassVar[frozenset[Fact]] = frozenset({Fact.ALIAS_FREE})
    breaks: ClassVar[frozenset[Fact]] = frozenset({Fact.USED})
    states_chosen: bool = False  # after index reduction: a state stays, even where it equals something

    def run(self, model: Dae, log: Log) -> Dae:
        from kilohertz.passes import eliminate

        return eliminate(model, states_chosen=self.states_chosen)


@dataclass(frozen=True, slots=True)
class RevealConstraints:
    """Constraints between states that are hidden in several sums become equations."""

    name: ClassVar[str] = "reveal-constraints"
    needs: ClassVar[frozenset[Fact]] = frozenset({Fact.DAE, Fact.ALIAS_FREE, Fact.USED})
    gives: ClassVar[frozenset[Fact]] = frozenset({Fact.REVEALED})
    breaks: ClassVar[frozenset[Fact]] = _NOTHING

    def run(self, model: Dae, log: Log) -> Dae:
        from kilohertz.passes import reveal

        return reveal(model)


@dataclass(frozen=True, slots=True)
class Prune:
    """Results of calls that nothing reads are dropped."""

    name: ClassVar[str] = "prune"
    needs: ClassVar[frozenset[Fact]] = frozenset({Fact.DAE})
    gives: ClassVar[frozenset[Fact]] = frozenset({Fact.USED})
    breaks: ClassVar[frozenset[Fact]] = _NOTHING

    def run(self, model: Dae, log: Log) -> Dae:
        from kilohertz.passes import prune

        return prune(model)


@dataclass(frozen=True, slots=True)
class ReduceIndex:
    """Hidden constraints are differentiated until every highest derivative can be solved for; states are chosen."""

    name: ClassVar[str] = "reduce-index"
    needs: ClassVar[frozenset[Fact]] = frozenset({Fact.DAE, Fact.ALIAS_FREE, Fact.USED, Fact.REVEALED})
    gives: ClassVar[frozenset[Fact]] = frozenset({Fact.INDEX_1})
    breaks: ClassVar[frozenset[Fact]] = frozenset({Fact.ALIAS_FREE, Fact.USED})

    def run(self, model: Dae, log: Log) -> Dae:
        from kilohertz.passes import reduce_index

        reduced, log.reduction = reduce_index(model)
        return reduced


@dataclass(frozen=True, slots=True)
class Assemble:
    """Matching, order, tearing, partitions, the initial system: ordered blocks and a place for every variable."""

    name: ClassVar[str] = "assemble"
    needs: ClassVar[frozenset[Fact]] = frozenset({Fact.DAE, Fact.INDEX_1, Fact.ALIAS_FREE})
    gives: ClassVar[frozenset[Fact]] = frozenset({Fact.STEP})
    breaks: ClassVar[frozenset[Fact]] = frozenset({Fact.DAE})

    def run(self, model: Dae, log: Log) -> Step:
        from kilohertz.passes import assemble

        log.dae = model
        return assemble(model)
