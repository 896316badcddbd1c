"""The pass list: its order follows from facts, and its log tells what each pass did."""

from __future__ import annotations

import pytest

import kilohertz
from kilohertz.base import InternalError
from kilohertz.driver.pipeline import PASSES
from kilohertz.driver.symbolic import Assemble, EliminateAliases, ReduceIndex, Scalarise, Split
from kilohertz.passes.contract import Fact, Log, in_order, run_passes


def test_the_list_ends_with_a_step() -> None:
    assert Fact.STEP in PASSES[-1].gives


def test_a_pass_that_does_not_find_what_it_needs_is_refused() -> None:
    with pytest.raises(InternalError, match="reduce-index needs ALIAS_FREE, DAE, REVEALED, USED"):
        in_order(Scalarise(), ReduceIndex())


def test_a_fact_that_a_pass_breaks_has_to_be_given_again() -> None:
    """Index reduction makes new aliases: without a second elimination there is nothing to assemble."""
    without = [p for p in PASSES if not (isinstance(p, EliminateAliases) and p.states_chosen)]
    with pytest.raises(InternalError, match="assemble needs ALIAS_FREE"):
        in_order(*without)


def test_every_order_of_two_neighbours_but_the_given_one_is_refused_or_harmless() -> None:
    for i in range(len(PASSES) - 1):
        swapped = [*PASSES[:i], PASSES[i + 1], PASSES[i], *PASSES[i + 2 :]]
        with pytest.raises(InternalError):
            in_order(*swapped)


def test_the_log_counts_before_and_after_each_pass() -> None:
    model = kilohertz.load("Kilohertz.Examples.DriveTrain")
    report, log = model.check(), Log()
    run_passes(PASSES, model.flatten(), log)
    records = {r.name: r for r in log.records}
    split = records["split"].after
    assert split is not None and split.unknowns == split.equations
    assert split.equations >= report.equations  # relations have become equations
    for before, after in zip(log.records[1:-1], log.records[2:], strict=True):
        assert after.before == before.after
        if after.after is not None:
            assert after.after.equations == after.after.unknowns, after
    eliminated = records["eliminate-aliases"]
    assert eliminated.after is not None and eliminated.after.unknowns < split.unknowns / 2
    assert set(log.seconds) == {p.name for p in PASSES}


def test_the_log_tells_what_index_reduction_did() -> None:
    """Two inertias and a gear: the constraint on the angles is differentiated twice, one inertia keeps its states."""
    log = Log()
    run_passes(PASSES, kilohertz.load("Kilohertz.Examples.DriveTrain").flatten(), log)
    assert log.reduction is not None
    assert sorted(d.order for d in log.reduction.differentiated if d.equation.origin.path == "gear") == [1, 2]
    reasons = log.reduction.reasons()
    assert reasons["rotor.w"] == "its start is fixed, over shaft.w"
    assert reasons["rotor.phi"] == "its derivative rotor.w is a state"
    assert reasons["load.w"] == "no constraint ties it"


def test_the_facts_of_a_pass_are_not_contradictory() -> None:
    for p in PASSES:
        assert not p.gives & p.breaks, p.name
    assert isinstance(PASSES[1], Split) and isinstance(PASSES[-1], Assemble)
