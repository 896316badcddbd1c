"""open-loops: the unknowns of nonlinear loops become unknowns of the method of integration.

  der(x) = f(x, z);  F(x, z) = 0 solved for z      ->   M*y' = (f, F)(y),  y = (x, z),  M = diag(1, 0)

The blocks stay as they are; what changes is who finds z.  In a stage the method gives z, every loop of STEP (those
inside mixed loops too, whose relations rest there) runs its inner blocks once and leaves its residuals, and nothing is
iterated on.  At events and initially loops are solved.  The pattern of the Jacobian and the directional derivative are
made anew, over y.  Residuals are put in an order in which the diagonal of dF/dz has entries, for the static pivots.
Loops that only crossings or outputs need are not among them: they are solved once, at the end of a step.

E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, 1996, chapter VI.  Cost: linear, like `differentiate`.
Gives up where there is no such loop: the step stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from kilohertz.graphs import maximum_matching
from kilohertz.ir.expr import Ref
from kilohertz.ir.flat import Purpose
from kilohertz.ir.step import (
    DISCRETE_KINDS,
    Block,
    Kind,
    MixedLoop,
    NonlinearLoop,
    Partition,
    Slot,
    Step,
    StepVariable,
    targets,
    without_directional,
)
from kilohertz.ir.types import REAL
from kilohertz.passes.algebra import Occurrence
from kilohertz.passes.contract import Fact, Log, Pass
from kilohertz.passes.function_derivative import FunctionDerivatives
from kilohertz.passes.step.differentiate import differentiated, residual_name
from kilohertz.passes.step.drop_unused_functions import used_functions
from kilohertz.passes.step.find_sparsity import bits
from kilohertz.passes.step.gather_sums import gathered
from kilohertz.passes.step.partition_blocks import inputs


@dataclass(frozen=True, slots=True)
class OpenLoops(Pass):
    """The index-1 form: nonlinear loops of the derivatives are left to the method of integration."""

    name: ClassVar[str] = "open-loops"
    needs: ClassVar[frozenset[Fact]] = frozenset({Fact.STEP, Fact.PARTITIONED, Fact.DIRECTIONAL, Fact.CALLED})
    gives: ClassVar[frozenset[Fact]] = frozenset({Fact.OPEN})
    optional: ClassVar[bool] = True

    def run(self, model: Step, log: Log) -> Step:
        return _opened(model, log.occurrence)


def _opened(whole: Step, occurrence: Occurrence) -> Step:
    """Without nonlinear loops: unchanged."""
    plain = without_directional(whole)
    blocks = tuple(_arranged(b) if b.partition is Partition.STEP else b for b in plain.blocks)
    unknowns = tuple(u for loop in _open_loops(blocks) for u in loop.unknowns)
    if not unknowns:
        return whole
    variables = {**plain.variables, **_residuals(unknowns)}
    out = replace(plain, variables=variables, blocks=blocks, algebraic=unknowns, no_directional="")
    of_dae = {} if whole.dae is None else whole.dae.functions
    derivatives = FunctionDerivatives({**whole.functions, **of_dae})
    out = replace(out, state_sparsity=_pattern(out, occurrence))
    if whole.directional is not None or whole.no_directional:
        out = gathered(differentiated(out, derivatives, occurrence))
    return replace(out, functions=used_functions(derivatives.functions, out))


def _open_loops(blocks: Iterable[Block]) -> Iterator[NonlinearLoop]:
    """Nonlinear loops that are solved for the derivatives, in order."""
    for b in blocks:
        if b.partition is not Partition.STEP:
            continue
        if isinstance(b, NonlinearLoop):
            yield b
        elif isinstance(b, MixedLoop):
            yield from _open_loops(b.continuous)


def _residuals(unknowns: Iterable[Ref]) -> dict[str, StepVariable]:
    names = [residual_name(u.name) for u in unknowns]
    residuals = [
        StepVariable(n, REAL, Slot(Kind.RESIDUAL, i), protected=True, purpose=Purpose.MADE) for i, n in enumerate(names)
    ]
    return {v.name: v for v in residuals}


def _arranged(b: Block) -> Block:
    """The same block with the residuals of its loops in the order of the unknowns they are matched with."""
    if isinstance(b, MixedLoop):
        return replace(b, continuous=tuple(_arranged(x) for x in b.continuous))
    if not isinstance(b, NonlinearLoop):
        return b
    n = len(b.unknowns)
    rows: list[list[int]] = [[] for _ in range(n)]
    for row, column in b.sparsity:
        rows[row].append(column)
    row_of = maximum_matching(rows, n).row_of
    if any(row < 0 for row in row_of) or all(row == i for i, row in enumerate(row_of)):
        return b
    place = {row: column for column, row in enumerate(row_of)}
    return replace(
        b,
        residuals=tuple(b.residuals[row] for row in row_of),
        jacobian=None if b.jacobian is None else tuple(replace(e, row=place[e.row]) for e in b.jacobian),
        sparsity=tuple((place[row], column) for row, column in b.sparsity),
    )


def _pattern(out: Step, occurrence: Occurrence) -> tuple[tuple[int, ...], ...]:
    """For each derivative and residual the states and algebraic unknowns it may depend on."""
    n_x = len(out.of_kind(Kind.STATE))
    masks: dict[str, int] = {v.name: 1 << v.slot.index for v in out.of_kind(Kind.STATE)}
    bit_of = {u.name: 1 << (n_x + i) for i, u in enumerate(out.algebraic)}

    def reached(names: Iterable[str]) -> int:
        mask = 0
        for n in names:
            mask |= masks.get(n, 0)
        return mask

    def visit(b: Block) -> None:
        if isinstance(b, MixedLoop):
            for inner in b.continuous:
                visit(inner)
        elif isinstance(b, NonlinearLoop):
            masks.update({u.name: bit_of[u.name] for u in b.unknowns})
            for inner in b.inner:
                visit(inner)
            for u, residual in zip(b.unknowns, b.residuals, strict=True):
                masks[residual_name(u.name)] = reached(occurrence.names(residual))
        else:
            mask = reached(inputs(b, occurrence))
            for t in targets(b):
                if out.variables[t.name].slot.kind not in DISCRETE_KINDS:
                    masks[t.name] = masks.get(t.name, 0) | mask

    for b in out.in_partition(Partition.STEP):
        visit(b)
    rows = [v.name for v in out.of_kind(Kind.DERIVATIVE)] + [residual_name(u.name) for u in out.algebraic]
    return tuple(bits(masks.get(name, 0)) for name in rows)
