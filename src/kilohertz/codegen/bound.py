"""The worst case of one period of the stepper, in numbers that are known before it runs.

Counts follow khz_cycle.c and the kernels line by line; a test holds what is measured against them.  `regular` is a
period without an event and without a failure, `worst` one with everything that the settings allow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kilohertz.codegen.operations import Count, Operations, both, factorisation, solution, total
from kilohertz.codegen.plans import state_elimination
from kilohertz.codegen.table import stage_roles
from kilohertz.graphs import colour_columns
from kilohertz.ir.step import Kind, NonlinearLoop, Partition, Step, targets
from kilohertz.solvers import SOLVERS, Pair, Rosenbrock, RungeKutta

# per period and event algorithm: (sub-)steps, events, further evaluations of all values
_CYCLES = {
    "none": (1, 1, 0),
    "mid": (3, 2, 0),
    "linear": (1, 1, 2),
    "catch-up": (1, 1, 0),
    "hermite": (1, 1, 6),
    "predict": (1, 1, 3),
    "predict-quadratic": (1, 1, 3),
    "exact": (1, 1, 0),
}
# what each event that is located costs besides
_LOCATED = {"catch-up": (1, 1, 2), "exact": (4, 1, 2)}
_HOLD = 2  # evaluations after a step that failed
INSTRUCTIONS_PER_OPERATION = 8  # loads, stores, addresses, branches around it; an elementary function: 20 operations


@dataclass(frozen=True, slots=True)
class Work:
    """Calls of one period."""

    steps: int  # of the method
    rhs: int  # evaluations of the derivatives, those of all values included
    solved: int  # those of them in which nonlinear loops are solved: all, but for the index-1 form
    jacobians: int
    directional: int
    factorisations: int
    solves: int
    stage_newton: int  # simplified Newton iterations of the method's stages
    event_passes: int


def cost_bound(
    step: Step,
    method: str,
    *,
    events: str = "none",
    newton: int = 2,
    loop_newton: int = 6,
    event_cap: int = 16,
    events_per_step: int = 4,
    jacobian_every: int = 1,
    input_mode: str = "held",
    inlined: bool = False,
    substeps: int = 0,
    internal_steps: int = 1,
) -> dict[str, Any]:
    """Bounds of one period as plain data, ready for JSON.

    `jacobian_every` and `input_mode` are taken for the sake of callers: in the worst period the Jacobian is due, and
    the inputs are extrapolated.
    """
    operations = Operations(step, loop_newton)
    shape = _Shape(step, method, newton, inlined, max(1, substeps))
    regular, worst = shape.regular, shape.worst(_cycle(events, events_per_step), event_cap)
    per = _per_call(operations, step, inlined, shape.is_implicit)
    flops = Count(shape.total(regular, per).regular, shape.total(worst, per).worst).times(internal_steps)
    loops = [b for b in (step.inlined or () if inlined else step.blocks) if isinstance(b, NonlinearLoop)]
    plan = state_elimination([list(r) for r in step.state_sparsity])
    n = shape.n
    return {
        "method": method,
        "events": events,
        "states": n - len(step.algebraic),
        "algebraic": len(step.algebraic),
        "internal_steps": internal_steps,
        "regular": _work(regular, internal_steps, flops.regular),
        "worst": _work(worst, internal_steps, flops.worst),
        "lu": {"n": n, "nnz": plan.n_entries if plan is not None else n * n, "dense": plan is None},
        "loops": {"nonlinear": len(loops), "newton_cap": loop_newton, "newton_cap_in_events": 4 * loop_newton},
        "caps": {
            "event_passes": event_cap,
            "stage_newton": newton,
            "located_events": events_per_step if events in _LOCATED else 1,
        },
        "operations_of": {name: {"regular": c.regular, "worst": c.worst} for name, c in per.items()},
        "unbounded": list(operations.unbounded),
    }


def _cycle(events: str, located: int) -> tuple[int, int, int]:
    """Steps, events and further evaluations of a period in which as many events are located as may be."""
    once, each = _CYCLES[events], _LOCATED.get(events, (0, 0, 0))
    steps, n_events, evaluations = (a + located * b for a, b in zip(once, each, strict=True))
    return steps, n_events, evaluations


def _work(w: Work, times: int, operations: int) -> dict[str, int]:
    calls = {name: times * getattr(w, name) for name in Work.__dataclass_fields__}
    return calls | {"operations": operations, "instructions": INSTRUCTIONS_PER_OPERATION * operations}


def _per_call(operations: Operations, step: Step, inlined: bool, implicit: bool) -> dict[str, Count]:
    """Operations of one call of each phase, copies and checks of the runtime included."""
    n = len(step.state_sparsity)
    parts = {p: operations.blocks(step.in_partition(p)) for p in Partition}
    is_open = bool(step.algebraic)
    in_stage = operations.blocks(step.in_partition(Partition.STEP), is_open=is_open)
    late = parts[Partition.CROSSING] + parts[Partition.OUTPUT]
    relations = operations.expressions(e for c in step.crossings for e in (c.relation, c.function))
    discrete = sum(len(step.of_kind(k)) for k in (Kind.DISCRETE, Kind.INT_DISCRETE))
    texts = len(step.of_kind(Kind.STRING_DISCRETE))
    looked = Count(0, 6 * sum(len(targets(b)) for b in step.in_partition(Partition.STEP)))  # for what is not finite
    extra = both(relations + 8 * len(step.crossings) + 20) + looked
    return {
        "rhs": in_stage + both(6 * n + 40),
        "all": in_stage + late + extra + both(6 * n + 60),
        "solved": parts[Partition.STEP] + late + extra + both(6 * n + 60),
        "event": operations.blocks(step.blocks, in_event=True) + both(12 * (discrete + n) + 600 * texts + 60) + extra,
        "directional": operations.blocks((implicit and step.directional) or ()) + both(4 * n + 20 + _entries(step)),
        "inlined": operations.blocks(step.inlined or ()) if inlined else Count(),
        "asserts": both(operations.statements(step.asserts, "an assertion")),
    }


def _entries(step: Step) -> int:
    return 4 * sum(map(len, step.state_sparsity))


class _Shape:
    """A method on a model: how often what is called."""

    def __init__(self, step: Step, method: str, newton: int, inlined: bool, substeps: int) -> None:
        self.step, self.method, self.newton, self.inlined = step, SOLVERS[method], newton, inlined
        self.substeps = substeps
        self.n = len(step.state_sparsity)
        rows = [list(r) for r in step.state_sparsity]
        self.colours = max(colour_columns(rows, self.n), default=-1) + 1 if rows else 0
        self.has_inputs = bool(step.of_kind(Kind.INPUT) or step.of_kind(Kind.INT_INPUT))
        self.plan = state_elimination(rows)

    @property
    def regular(self) -> Work:
        return self._work(_CYCLES["none"], 0, regular=True)

    def worst(self, cycle: tuple[int, int, int], event_cap: int) -> Work:
        return self._work(cycle, event_cap, regular=False)

    def _work(self, cycle: tuple[int, int, int], event_cap: int, regular: bool) -> Work:
        """Calls in one period; `rhs` counts evaluations of the derivatives and of all values alike."""
        steps, n_events, evaluations = cycle
        symbolic = self.step.directional is not None
        implicit = self.is_implicit
        stages = self.stage_rhs
        begin = 1
        jacobian = 0
        if implicit:
            jacobian = 1 if symbolic else self.colours + 2
            jacobian += 0 if symbolic and not self.has_inputs else int(isinstance(self.method, Rosenbrock))
        is_open = bool(self.step.algebraic)
        inputs = int(self.has_inputs)
        rhs = steps * (begin + stages + jacobian + 1 + (0 if regular else _HOLD)) + evaluations + inputs
        solved = steps * (0 if regular else _HOLD) + evaluations + inputs
        if is_open and not regular:
            # z anew after a parameter or an input jumped; the step again with loops solved in its stages
            rhs += steps * (1 + begin + 1 + jacobian + stages + 1)
            solved += steps * (1 + 1 + stages + 1)
            steps *= 2
        return Work(
            steps=cycle[0],
            rhs=rhs,
            solved=solved if is_open else rhs,
            jacobians=steps * int(implicit),
            directional=steps * (self.colours + 1) if implicit and symbolic else 0,
            factorisations=steps * int(implicit),
            solves=steps * self.solves,
            stage_newton=steps * (self.solves if not isinstance(self.method, Rosenbrock) else 0),
            event_passes=0 if regular else (n_events + inputs) * (event_cap + 1),  # and one to undo a failed event
        )

    @property
    def is_implicit(self) -> bool:
        """With a Jacobian and factors of its own."""
        m = self.method
        return not (self.inlined or isinstance(m, Pair) or (isinstance(m, RungeKutta) and m.is_explicit))

    @property
    def stage_rhs(self) -> int:
        """Evaluations in the stages beyond the one at the beginning of the step."""
        m = self.method
        if isinstance(m, Pair):
            return m.n_implicit * self.substeps + int(m.order > 1 and 2 in stage_roles(self.step))
        if isinstance(m, Rosenbrock) or m.is_explicit:
            return m.n_rhs - 1
        return m.n_implicit * (1 if self.inlined else self.newton)

    @property
    def solves(self) -> int:
        m = self.method
        if not self.is_implicit:
            return 0
        return m.n_stages if isinstance(m, Rosenbrock) else m.n_implicit * self.newton

    def total(self, w: Work, per: dict[str, Count]) -> Count:
        """Operations of a period: the calls, and the vectors of the method between them."""
        n, stages = self.n, self.method.n_stages
        vectors = w.rhs * 3 * n * (stages + 4) + w.steps * (60 * n + 400)
        stage = per["inlined"] if self.inlined else Count()
        inputs = 20 * len(self.step.of_kind(Kind.INPUT)) * w.rhs
        s = self.step
        kept = 40 * len(s.crossings) + 20 * len(s.time_events) + 50 * len(s.samples)
        kept += 90 * len(s.delays) + 250 * len(s.transports)
        return total(
            (
                (per["all"] + stage).times(w.rhs - w.solved),
                (per["solved"] + stage).times(w.solved),
                per["directional"].times(w.directional),
                per["event"].times(w.event_passes),
                per["asserts"],
                self._factor.times(w.factorisations),
                self._solve.times(w.solves),
                both(vectors + inputs + w.steps * kept),
                both(w.jacobians * (_entries(self.step) * (self.colours + 2) + 20 * n)),
            )
        )

    @property
    def _factor(self) -> Count:
        """Factors of I - h*gamma*J: planned, and at worst dense as well."""
        dense = factorisation(self.n).regular + 4 * self.n**2 + _entries(self.step)
        if self.plan is None:
            return both(dense)
        planned = 6 * self.plan.n_products + 12 * self.plan.n_entries + 20 * self.n
        return Count(planned, planned + dense)

    @property
    def _solve(self) -> Count:
        dense = solution(self.n).regular
        if self.plan is None:
            return both(dense)
        planned = 5 * self.plan.n_entries + 12 * self.n
        return Count(planned, max(planned, dense))
