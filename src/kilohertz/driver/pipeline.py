"""The compiler's table of contents: symbolic processing from Flat to Step, pass by pass.

The order is checked from facts when this file is read.  To add a pass, write its file and put it here.
"""

from __future__ import annotations

from kilohertz.base import Diagnostic, ModelError
from kilohertz.ir.flat import Flat
from kilohertz.ir.step import Step
from kilohertz.passes.contract import Log, Pass, in_order, label, run_passes
from kilohertz.passes.dae.drop_zero_terms import DropZeroTerms
from kilohertz.passes.dae.eliminate_aliases import EliminateAliases
from kilohertz.passes.dae.inline_told import InlineTold
from kilohertz.passes.dae.lower_events import LowerEvents
from kilohertz.passes.dae.prefer_states import PreferStates
from kilohertz.passes.dae.prune import Prune
from kilohertz.passes.dae.reduce_index import ReduceIndex
from kilohertz.passes.dae.reveal_constraints import RevealConstraints
from kilohertz.passes.flat.expand_partials import ExpandPartials
from kilohertz.passes.flat.guard_values import GuardValues
from kilohertz.passes.flat.scalarise import Scalarise
from kilohertz.passes.flat.settle_reversals import SettleReversals
from kilohertz.passes.ordered.causalise import Causalise
from kilohertz.passes.ordered.initialise import Initialise
from kilohertz.passes.ordered.order_parameters import OrderParameters
from kilohertz.passes.ordered.simplify_start import SimplifyStart
from kilohertz.passes.ordered.tear import Tear
from kilohertz.passes.step.differentiate import Differentiate
from kilohertz.passes.step.drop_unused_functions import DropUnusedFunctions
from kilohertz.passes.step.find_sparsity import FindSparsity
from kilohertz.passes.step.gather_sums import GatherSums
from kilohertz.passes.step.hoist import Hoist
from kilohertz.passes.step.inline_stage import InlineStage
from kilohertz.passes.step.lighten_modes import LightenModes
from kilohertz.passes.step.open_loops import OpenLoops
from kilohertz.passes.step.partition_blocks import PartitionBlocks
from kilohertz.passes.step.place import Place

PASSES = in_order(
    GuardValues(),  # Flat
    ExpandPartials(),
    Scalarise(),
    SettleReversals(),
    LowerEvents(),  # to Dae
    DropZeroTerms(),
    EliminateAliases(),
    Prune(),
    RevealConstraints(),
    PreferStates(),
    ReduceIndex(),
    InlineTold(),
    EliminateAliases(states_chosen=True),
    OrderParameters(),  # to Ordered
    Initialise(),
    SimplifyStart(),
    Causalise(),
    Tear(),
    Place(),  # to Step
    PartitionBlocks(),
    Hoist(),
    FindSparsity(),
    Differentiate(),
    GatherSums(),
    LightenModes(),
    DropUnusedFunctions(),
    InlineStage(),  # where settings ask for it
    OpenLoops(),  # where settings ask for it
)


def selected(*chosen: Pass) -> tuple[Pass, ...]:
    """The list with those of the optional passes that are chosen, each with its options."""
    by_name = {p.name: p for p in chosen}
    return tuple(by_name.get(p.name, p) for p in PASSES if not p.optional or p.name in by_name)


def further(step: Step, *chosen: Pass, verify: bool = False) -> Step:
    """A step that went through the list before, with optional passes besides."""
    continued: Step = run_passes(selected(*chosen)[len(selected()) :], step, Log(), verify=verify)
    return continued


def compile_flat(flat: Flat, *chosen: Pass) -> Step:
    """Flat to Step by the list, with the optional passes that are chosen; every form on the way is checked."""
    step: Step = run_passes(selected(*chosen), flat, Log(), verify=True)
    return step


def up_to(name: str) -> list[Pass]:
    """The passes up to the one with a label, of the optional ones only that; a wrong label is a ModelError."""
    before: list[Pass] = []
    for p in PASSES:
        if label(p) == name:
            return [*before, p]
        before += [] if p.optional else [p]
    names = ", ".join(label(p) for p in PASSES)
    raise ModelError(Diagnostic("R735", f"there is no pass `{name}`; passes are, in order: {names}"))


def print_after(flat: Flat, name: str, *, verify: bool = False) -> str:
    """The text of the form that a pass leaves."""
    from kilohertz.ir.text.forms import print_form

    return print_form(run_passes(up_to(name), flat, Log(), verify=verify), whole=False)
