"""The worst case of one period of the stepper, in numbers that are known before it runs.

Counts follow khz_cycle.c and the kernels line by line; a test holds what is measured against them.  `regular` is a
period without an event and without a failure, `event` one with the events that the algorithm can meet in it, settled
without a search and without a failure, `worst` one with everything that the settings allow.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from kilohertz.cost.kernels import Kernels
from kilohertz.cost.operations import Operations
from kilohertz.cost.prices import Cost, Count, copy, moves, total
from kilohertz.cost.targets import Target, reference
from kilohertz.ir import step as s
from kilohertz.ir.expr import Expr, Ref
from kilohertz.ir.step import Kind, Partition, Step, stage_roles
from kilohertz.ir.traverse import walk_all
from kilohertz.solvers import SOLVERS, Pair, Rosenbrock, StepSettings

REGULAR, EVENT, WORST = "regular", "event", "worst"
KEPT = "kept"  # regular, with the Jacobian of an earlier step
# per period and algorithm: (sub-)steps, events, evaluations of all values that locate an event, and where that fails
_CYCLES = {
    "none": (1, 1, 0, 0),
    "mid": (3, 2, 0, 0),
    "linear": (1, 1, 1, 2),
    "catch-up": (1, 1, 0, 0),
    "hermite": (1, 1, 5, 6),
    "predict": (1, 1, 1, 2),
    "predict-quadratic": (1, 1, 1, 2),
    "exact": (1, 1, 0, 0),
}
# what each event that is located costs besides
_LOCATED = {"catch-up": (1, 1, 1, 2), "exact": (4, 1, 1, 2)}
_HOLD = 2  # evaluations after a step that failed
_PERIOD = moves(1300)  # what a period takes of an empty model


@dataclass(frozen=True, slots=True)
class Work:
    """Calls of one period."""

    steps: int  # of the method
    rhs: int  # evaluations of the derivatives, those of all values and inlined stages included
    solved: int  # those of them in which nonlinear loops are solved: all, but for the index-1 form
    jacobians: int
    directional: int
    factorisations: int
    solves: int
    stage_newton: int  # simplified Newton iterations of the method's stages
    event_passes: int
    # of these right-hand sides
    looks: int = field(metadata={"internal": True})  # all values with loops solved, besides the ends of steps
    closed: int = field(metadata={"internal": True})  # stages with loops solved in the index-1 form
    inlined: int = field(metadata={"internal": True})
    events: int = field(metadata={"internal": True})


def cost_bound(step: Step, stepping: StepSettings, target: Target | None = None) -> dict[str, Any]:
    """Bounds of one period as plain data, ready for JSON, with the Jacobian due in it.

    Instructions are those of the target, else of the reference.
    """
    target = target or reference()
    operations = Operations(step, stepping.loop_newton)
    period = _Period(step, stepping, operations)
    blocks = step.inlined or () if stepping.inline else step.blocks
    loop_cap, times = stepping.loop_newton, stepping.internal_steps
    n, plan = period.kernels.n, period.kernels.plan
    return {
        "method": stepping.solver,
        "events": stepping.events,
        "states": n - len(step.algebraic),
        "algebraic": len(step.algebraic),
        "internal_steps": times,
        **{case: period.bound(case, times, target) for case in (REGULAR, EVENT, WORST)},
        **({KEPT: period.bound(KEPT, times, target)} if stepping.jacobian_every > 1 else {}),
        "lu": {"n": n, "nnz": plan.n_entries if plan is not None else n * n, "dense": plan is None},
        "loops": {
            "nonlinear": sum(isinstance(b, s.NonlinearLoop) for b in blocks),
            "newton_cap": loop_cap,
            "newton_cap_in_events": 4 * loop_cap,
        },
        "caps": {
            "event_passes": stepping.event_cap,
            "stage_newton": stepping.newton,
            "located_events": stepping.events_per_step if stepping.events in _LOCATED else 1,
        },
        "operations_of": {
            name: {REGULAR: c.regular.operations, WORST: c.worst.operations} for name, c in period.per.items()
        },
        "unbounded": list(operations.unbounded),
        "prices": target.to_dict(),
    }


class _Period:
    """A method on a model: how often what is called in a period, and what a call takes."""

    def __init__(self, step: Step, stepping: StepSettings, operations: Operations) -> None:
        self.step, self.method, self.stepping = step, SOLVERS[stepping.solver], stepping
        self.kernels = Kernels(step, self.method, stepping.newton, stepping.inline)
        self.operations = operations
        self.is_open = bool(step.algebraic)
        self.has_inputs = bool(step.of_kind(Kind.INPUT) or step.of_kind(Kind.INT_INPUT))
        self.n_discrete = sum(len(step.of_kind(k)) for k in (Kind.DISCRETE, Kind.INT_DISCRETE))
        self.n_texts = len(step.of_kind(Kind.STRING_DISCRETE))
        self.crossings = operations.expressions(e for c in step.crossings for e in (c.relation, c.function))
        self.crossings = self.crossings + moves(20 * len(step.crossings) + 20)
        self.per = self._per_call()

    def bound(self, case: str, times: int, target: Target) -> dict[str, int]:
        """Calls and costs of one kind of period with so many internal steps."""
        work = self.work(case)
        counted = self._total(work, case)
        cost = counted.worst if case == WORST else counted.regular
        fields = (f.name for f in Work.__dataclass_fields__.values() if not f.metadata.get("internal"))
        calls = {name: times * int(getattr(work, name)) for name in fields}
        return calls | {"operations": times * cost.operations, "instructions": times * target.instructions(cost)}

    # ---------------------------------------------------------------------------------------------------------- calls

    def work(self, case: str) -> Work:
        """How often what is called."""
        symbolic = self.step.directional is not None
        implicit = self.kernels.is_implicit and case != KEPT
        each = _LOCATED.get(self.stepping.events, (0, 0, 0, 0))
        once = _CYCLES[self.stepping.events]
        steps, n_events, located, lost = (
            a + self.stepping.events_per_step * b for a, b in zip(once, each, strict=True)
        )
        is_regular = case in (REGULAR, KEPT)
        steps = 1 if is_regular else steps
        n_events = 0 if is_regular else n_events + int(self.has_inputs)
        predicted = int(self.stepping.events.startswith("predict") and bool(self.step.crossings))
        looks = {REGULAR: 0, KEPT: 0, EVENT: located, WORST: lost}[case] + predicted + int(self._looks_at_inputs)
        looks += steps * (_HOLD if case == WORST else 0)
        jacobian = self._jacobian_rhs(case, symbolic, predicted) if implicit else 0
        begins = int(self._starts_anew or case == WORST) + steps - 1
        closed = 0
        inlined = self.stepping.inline * self.kernels.stage_rhs(self.stepping.n_substeps)
        other = (0 if self.stepping.inline else self.kernels.stage_rhs(1)) + jacobian + self._correction
        rosenbrock = isinstance(self.method, Rosenbrock)
        twice = 1
        rhs = steps * (1 + inlined + other) + looks + begins
        if self.is_open and case == WORST:
            # z anew after a parameter or an input jumped; the step again with loops solved in its stages
            rhs += steps * (other + 3)
            looks, closed, twice = looks + 2 * steps, steps * (self.kernels.stage_rhs(1) + 1), 2
        return Work(
            steps=steps,
            rhs=rhs,
            solved=looks + closed if self.is_open else rhs,
            jacobians=twice * steps * int(implicit),
            directional=twice * steps * (self.kernels.colours + int(rosenbrock)) if implicit and symbolic else 0,
            factorisations=twice * steps * int(implicit),
            solves=twice * steps * self.kernels.solves,
            stage_newton=twice * steps * (0 if rosenbrock else self.kernels.solves),
            event_passes=n_events * (self._passes(case) + int(case == WORST)),  # and one to undo a failed event
            looks=looks,
            closed=closed,
            inlined=steps * inlined,
            events=n_events,
        )

    @property
    def _starts_anew(self) -> bool:
        """The derivatives at the beginning of a step are not those of the end of the last one."""
        return self.has_inputs or self.is_open or bool(self.step.delays or self.step.transports)

    @property
    def _looks_at_inputs(self) -> bool:
        """New inputs may change relations: all values are looked at before the step."""
        return self.has_inputs and bool(self.step.crossings or self.n_discrete)

    def _jacobian_rhs(self, case: str, symbolic: bool, predicted: int) -> int:
        """Right-hand sides for J and df/dt: by differences, or where the values are not those of the start."""
        moved = predicted + int(case == WORST)
        differences = self.kernels.colours + 1 if case == WORST or not symbolic else 0
        held = symbolic and (self.stepping.input_mode == "held" or not self.step.of_kind(Kind.INPUT))
        slope = int(isinstance(self.method, Rosenbrock) and (not held or case == WORST))
        return min(1, moved) + differences + 2 * slope

    @property
    def _correction(self) -> int:
        """Of the states outside the part with sub-steps, once a step."""
        return int(isinstance(self.method, Pair) and self.method.order > 1 and "held" in stage_roles(self.step))

    def _passes(self, case: str) -> int:
        """Passes of an event iteration that are possible: it goes on while discrete values or states change.

        Where nothing reads `pre`, a second pass finds nothing new, or a sample that is over and then nothing new.  At
        worst a loop without a solution gives another value in each.
        """
        acts = [a for b in _flat(self.step.blocks) if isinstance(b, s.WhenBlock) for a in b.actions]
        if not any(isinstance(a, s.SetState) for a in acts):
            if not self.n_discrete and not self.n_texts:
                return 1
            if not self._reads_pre and case != WORST:
                return min(3 if self.step.samples else 2, self.stepping.event_cap)
        return self.stepping.event_cap

    @property
    def _reads_pre(self) -> bool:
        kinds = (Kind.PRE_DISCRETE, Kind.PRE_INT_DISCRETE, Kind.PRE_STRING_DISCRETE)
        names = {v.name for k in kinds for v in self.step.of_kind(k)}
        roots = [e for b in self.step.blocks for e in s.expressions(b)]
        return bool(names) and _reads(roots, names)

    # ---------------------------------------------------------------------------------------------------------- costs

    def _per_call(self) -> dict[str, Count]:
        """One call of each phase, copies and checks of the runtime included."""
        step, operations, n = self.step, self.operations, self.kernels.n
        parts = {p: operations.blocks(step.in_partition(p)) + moves(40) for p in Partition}
        inputs = moves(25 * len(step.of_kind(Kind.INPUT)))
        stage = operations.blocks(step.in_partition(Partition.STEP), is_open=self.is_open) + moves(40)
        late = parts[Partition.CROSSING] + parts[Partition.OUTPUT] + moves(18 * n + 200) + copy(n) + inputs
        values = sum(len(s.targets(b)) for b in step.in_partition(Partition.STEP))
        n_values = len(step.of_kind(Kind.ALGEBRAIC)) + len(step.of_kind(Kind.DISCRETE))
        late = late + Count(Cost(moves=2 * n_values), Cost(moves=20 * (values + n_values)))  # is one not finite? which?
        called = moves(7 * n + 170 + 10 * len(step.algebraic)) + copy(n).times(2) + inputs
        kept = moves(24 * self.n_discrete + 2000 * self.n_texts + 12 * n + 100)
        directional = operations.blocks((self.kernels.is_implicit and step.directional) or ())
        return {
            "rhs": stage + called,
            "closed": parts[Partition.STEP] + called,
            "all": stage + late,
            "solved": parts[Partition.STEP] + late,
            "event": operations.blocks(step.blocks, in_event=True) + kept,
            "directional": directional + moves(8 * n + 60),
            "inlined": operations.stage(step.inlined or ()) + moves(18 * n + 220) + copy(n) + inputs,
            "asserts": operations.statements(step.asserts, "an assertion"),
        }

    def _total(self, w: Work, case: str) -> Count:
        """The calls, and what the runtime does between them."""
        per, k = self.per, self.kernels
        slopes = int(isinstance(self.method, Rosenbrock))
        looks = 2 + w.looks + 2 * w.steps + 2 * w.events  # at the end, and wherever all values were looked at
        parts = [
            per["rhs"].times(w.rhs - w.steps - w.looks - w.closed - w.inlined),
            per["closed"].times(w.closed),
            per["all"].times(w.steps),
            per["solved"].times(w.looks),
            per["inlined"].times(w.inlined),
            per["directional"].times(w.directional),
            per["event"].times(w.event_passes),
            per["asserts"],
            self.crossings.times(looks),
            k.jacobian(w.directional, slopes).times(w.jacobians),
            k.factor.times(w.factorisations),
            k.solve.times(w.solves),
            k.stages(self.stepping.n_substeps).times(w.steps, 2 * w.steps),
            self._handling.times(w.events),
            self._instants.times(1 + w.steps),
            _PERIOD,
        ]
        if case == WORST:  # differences after a direction that has no value
            parts.append(k.differences.times(w.jacobians))
        return total(parts)

    @property
    def _handling(self) -> Count:
        """What an event takes besides its passes: values kept for the case that it fails, relations watched."""
        n_r = len(self.step.crossings)
        copies = copy(4 * self.kernels.n + 2 * self.n_discrete + 4 * n_r + 400 * self.n_texts)
        return copies + moves(800 + 40 * n_r + 90 * len(self.step.samples)) + self._recorded

    @property
    def _instants(self) -> Count:
        """Time events and samples that are due, and what delays and transport lines record."""
        step = self.step
        ticks = moves(40 + 45 * len(step.samples) + 15 * len(step.time_events))
        return ticks + self.operations.expressions(t.at for t in step.time_events) + self._recorded

    @property
    def _recorded(self) -> Count:
        return moves(90 * len(self.step.delays) + 2000 * len(self.step.transports))


def _flat(blocks: tuple[s.Block, ...]) -> list[s.Block]:
    inner = [i for b in blocks if isinstance(b, s.MixedLoop) for i in (*b.continuous, *b.discrete)]
    return [*blocks, *inner]


def _reads(roots: list[Expr], names: set[str]) -> bool:
    """Is one of the names read in the expressions?"""
    return any(isinstance(e, Ref) and e.name in names for e in walk_all(roots))
