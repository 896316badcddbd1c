"""The pass list: its order follows from facts, and its log tells what each pass did."""

from __future__ import annotations

import importlib
import inspect

import pytest

import kilohertz
from kilohertz.base import InternalError, ModelError
from kilohertz.driver.pipeline import PASSES, further, selected, up_to
from kilohertz.ir import read_flat
from kilohertz.ir.dae import Dae
from kilohertz.ir.expr import Ref
from kilohertz.ir.types import REAL
from kilohertz.passes.contract import Fact, Log, in_order, label, run_passes
from kilohertz.passes.dae.eliminate_aliases import EliminateAliases
from kilohertz.passes.dae.prune import Prune
from kilohertz.passes.dae.reduce_index import ReduceIndex
from kilohertz.passes.flat.scalarise import Scalarise
from kilohertz.passes.step.inline_stage import InlineStage
from kilohertz.passes.step.open_loops import OpenLoops

HARMLESS = {  # neighbours that need nothing of each other
    ("simplify-start", "causalise"),
    ("hoist", "find-sparsity"),
    ("find-sparsity", "differentiate"),
    ("lighten-modes", "drop-unused-functions"),
    ("inline-stage", "open-loops"),
}


def test_without_optional_passes_the_list_ends_with_a_step() -> None:
    facts: set[Fact] = set()
    for p in selected():
        facts = (facts - p.breaks) | p.gives
    assert {Fact.STEP, Fact.PARTITIONED, Fact.SPARSITY, Fact.DIRECTIONAL, Fact.CALLED} <= facts
    assert [p.name for p in PASSES if p.optional] == ["inline-stage", "open-loops"]


@pytest.mark.parametrize("p", PASSES, ids=label)
def test_a_pass_has_one_name(p: object) -> None:
    """Class, file, folder and name agree, and the file says equations before and after, cost, and when it gives up."""
    name = type(p).__name__
    file = importlib.import_module(type(p).__module__)
    hyphened = "".join(f"-{c.lower()}" if c.isupper() else c for c in name).lstrip("-")
    assert getattr(p, "name") == hyphened == file.__name__.rpartition(".")[2].replace("_", "-")  # noqa: B009
    text = inspect.getdoc(file) or ""
    assert text.startswith(f"{hyphened}: ") and "->" in text
    assert any(word in text.lower() for word in ("cost", "linear", "sweep"))
    assert any(word in text.lower() for word in ("gives up", "give up", "never gives up", "left alone"))
    assert type(p).__doc__


def test_a_pass_that_does_not_find_what_it_needs_is_refused() -> None:
    with pytest.raises(InternalError, match="reduce-index needs ALIAS_FREE, DAE, REVEALED, USED, WISHES"):
        in_order(ReduceIndex())


def test_a_fact_that_a_pass_breaks_has_to_be_given_again() -> None:
    """Index reduction makes new aliases: without a second elimination nothing can be put in order."""
    without = [p for p in PASSES if not (isinstance(p, EliminateAliases) and p.states_chosen)]
    with pytest.raises(InternalError, match="order-parameters needs ALIAS_FREE"):
        in_order(*without)


@pytest.mark.parametrize("i", range(len(PASSES) - 1))
def test_two_neighbours_the_other_way_round_are_refused_or_harmless(i: int) -> None:
    swapped = [*PASSES[:i], PASSES[i + 1], PASSES[i], *PASSES[i + 2 :]]
    if (PASSES[i].name, PASSES[i + 1].name) in HARMLESS:
        in_order(*swapped)
        return
    with pytest.raises(InternalError):
        in_order(*swapped)


def test_the_log_counts_before_and_after_each_pass() -> None:
    model = kilohertz.load("Kilohertz.Examples.DriveTrain")
    report, log = model.check(), Log()
    run_passes(selected(), model.flatten(), log, verify=True)
    records = {r.name: r for r in log.records}
    lowered = records["lower-events"].after
    assert lowered is not None and lowered.unknowns == lowered.equations
    assert lowered.equations >= report.equations  # relations have become equations
    for before, after in zip(log.records[1:-1], log.records[2:], strict=True):
        assert after.before == before.after
        if after.after is not None and after.name != "hoist":
            assert after.after.equations == after.after.unknowns, after
    eliminated = records["eliminate-aliases"]
    assert eliminated.after is not None and eliminated.after.unknowns < lowered.unknowns / 2
    assert list(log.seconds) == [label(p) for p in selected()]
    assert "eliminate-aliases{states-chosen}" in log.seconds


def test_the_log_tells_what_index_reduction_did() -> None:
    """Two inertias and a gear: the constraint on the angles is differentiated twice, one inertia keeps its states."""
    log = Log()
    run_passes(selected(), kilohertz.load("Kilohertz.Examples.DriveTrain").flatten(), log)
    assert log.reduction is not None
    assert sorted(d.order for d in log.reduction.differentiated if d.equation.origin.path == "gear") == [1, 2]
    reasons = log.reduction.reasons()
    assert reasons["rotor.w"] == "its start is fixed, over shaft.w"
    assert reasons["rotor.phi"] == "its derivative rotor.w is a state"
    assert reasons["load.w"] == "no constraint ties it"


def test_the_facts_of_a_pass_are_not_contradictory() -> None:
    for p in PASSES:
        assert not p.gives & p.breaks, p.name


def test_optional_passes_go_on_from_a_step() -> None:
    text = "model M\n  Real x(start = 1.0);\nequation\n  der(x) = -x;\nend M;\n"
    step = run_passes(selected(), read_flat(text), Log())
    assert step.inlined is None
    assert further(step, InlineStage(), verify=True).inlined
    assert further(step, OpenLoops(), verify=True) == step  # no nonlinear loop
    assert [p.name for p in up_to("scalarise")] == ["guard-values", "expand-partials", "scalarise"]
    with pytest.raises(
        ModelError, match="there is no pass `assemble`; passes are, in order: guard-values, expand-partials"
    ):
        up_to("assemble")


class Forgetful(Prune):
    """A pass with a mistake: it forgets a variable."""

    def run(self, model: Dae, log: Log) -> Dae:
        model.equations.append(model.equations[0].__class__(Ref("gone", REAL), Ref("gone", REAL)))  # type: ignore[arg-type]
        return model


def test_a_form_that_breaks_its_contract_names_the_pass() -> None:
    text = "model M\n  Real x;\nequation\n  der(x) = -x;\nend M;\n"
    broken = [Forgetful() if isinstance(p, Prune) else p for p in selected()]
    with pytest.raises(InternalError, match="after pass prune: an equation: gone is not declared"):
        run_passes(broken, read_flat(text), Log(), verify=True)


def test_the_first_pass_takes_a_flat() -> None:
    assert in_order(*PASSES, known=(Fact.FLAT,)) == PASSES
    with pytest.raises(InternalError, match="guard-values needs FLAT"):
        in_order(*PASSES, known=(Fact.DAE,))
    assert isinstance(PASSES[2], Scalarise)
