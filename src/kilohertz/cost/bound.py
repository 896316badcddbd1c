"""The worst case of one period of the stepper, in numbers that are known before it runs.

Counts follow khz_cycle.c and the kernels line by line; a test holds what is measured against them.  `regular` is a
period without an event and without a failure, `event` one with the events that the algorithm can meet in it, settled
without a search and without a failure, `worst` one with everything that the settings allow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kilohertz.cost.kernels import Kernels
from kilohertz.cost.phases import Phases
from kilohertz.cost.prices import Cost, Count, calls, copy, dearest, moves, total
from kilohertz.cost.targets import Target, reference
from kilohertz.ir import step as s
from kilohertz.ir.stages import inlined_is_all, stage_roles
from kilohertz.ir.step import Kind, Partition, Step
from kilohertz.runtime import constant
from kilohertz.solvers import SOLVERS, Pair, Rosenbrock, RungeKutta, StepSettings

REGULAR, EVENT, WORST = "regular", "event", "worst"
# regular, with the Jacobian of an earlier step: the next one is not due, a part of it is made or its factors alone, it
# rests between events, or the loops of an inlined stage need no other
KEPT = "kept"
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
_FREE_PASSES, _PASS_TURNS = constant("KHZ_MIXED_PASSES"), constant("KHZ_MIXED_PASS")
_EVENT_NEWTON = constant("KHZ_EVENT_NEWTON")
_ITERATIONS, _STAGES, _TRIALS, _LOOPS = (
    constant(f"KHZ_SPARE_{name}") for name in ("ITERATIONS", "STAGES", "TRIALS", "LOOPS")
)
_STAGE_TRIALS = constant("KHZ_STAGE_TRIALS")
_HOLD = 2  # evaluations after a step that failed
_HELD_WITHOUT_EVENT = ("linear", "hermite")  # a period whose step failed looks for no event
_PERIOD = calls(620)  # what a period takes of an empty model
# of a relation: whether its function is below zero, within a band it may have; whether it stays in it (khz_rest.c)
_LOOK, _REST = 10, 8


@dataclass(frozen=True, slots=True)
class Work:
    """Calls of one period."""

    steps: int  # of the method
    rhs: int  # evaluations of the derivatives, those of all values and inlined stages included
    solved: int  # those of them in which nonlinear loops are solved: all, but for the index-1 form
    jacobians: int
    directional: int
    slopes: int  # derivatives with respect to time
    factorisations: int
    solves: int
    stage_newton: int  # simplified Newton iterations of the method's stages
    event_passes: int
    # of these right-hand sides
    looks: int = field(metadata={"internal": True})  # all values with loops solved, besides the ends of steps
    closed: int = field(metadata={"internal": True})  # stages with loops solved in the index-1 form
    inlined: int = field(metadata={"internal": True})
    events: int = field(metadata={"internal": True})
    turns: int = field(metadata={"internal": True})  # of mixed loops, beyond the first in each pass
    late: int = field(metadata={"internal": True})  # passes that are paid for with turns


def cost_bound(step: Step, stepping: StepSettings, target: Target | None = None) -> dict[str, Any]:
    """Bounds of one period as plain data, ready for JSON, with the Jacobian due in it.

    Instructions are those of the target, else of the reference.
    """
    return Bounds(step, target).of(stepping)


class Bounds:
    """Bounds of one model with many settings: what its phases take is counted once."""

    def __init__(self, step: Step, target: Target | None = None) -> None:
        self._step, self._target = step, target or reference()
        self._phases: dict[int, Phases] = {}  # by the cap of nonlinear loops

    def priced(self, target: Target) -> Bounds:
        """The same model with other prices; what was counted is not counted again."""
        other = Bounds(self._step, target)
        other._phases = self._phases
        return other

    def of(self, stepping: StepSettings) -> dict[str, Any]:
        """As `cost_bound`."""
        return _bound(self._period(stepping, stepping.loop_newton), self._target)

    def of_run(self, stepping: StepSettings, counts: Mapping[str, int], loop_iterations: int) -> float:
        """Instructions of a period on the average of a run: with the calls and iterations that it made, not with caps.

        `counts` are those of the stepper (`khz_step_counts`).
        """
        once, twice, thrice = (self._period(stepping, cap) for cap in (1, 2, 3))
        work, periods = once.called(counts), max(1, counts["steps"])
        case = KEPT if once.keeps_in_stage else REGULAR
        instructions = float(self._target.instructions(once.total(work, case, periods).regular))
        if once.n_loops:
            one, two, three = (float(self._target.instructions(p.loops.regular)) for p in (once, twice, thrice))
            n_solved = work.closed + work.looks if once.phases.is_open else work.inlined or work.rhs
            n_each = loop_iterations / once.n_loops
            second = min(n_each - n_solved, n_solved)
            instructions += (two - one) * second + (three - two) * max(0.0, n_each - 2 * n_solved)
        return instructions / periods

    def _period(self, stepping: StepSettings, cap: int) -> _Period:
        if cap not in self._phases:
            self._phases[cap] = Phases(self._step, cap)
        return _Period(self._phases[cap], stepping)


def _bound(period: _Period, target: Target) -> dict[str, Any]:
    step, stepping = period.step, period.stepping
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
        **({KEPT: period.bound(KEPT, times, target)} if period.keeps_jacobian else {}),
        "lu": {"n": n, "nnz": plan.n_entries if plan is not None else n * n, "dense": plan is None},
        "loops": {
            "nonlinear": sum(isinstance(b, s.NonlinearLoop) for b in blocks),
            "newton_cap": loop_cap,
            "newton_cap_in_events": _EVENT_NEWTON * loop_cap,
        },
        "caps": {
            "event_passes": stepping.event_cap,
            "stage_newton": stepping.newton,
            "located_events": stepping.events_per_step if stepping.events in _LOCATED else 1,
        },
        "operations_of": {
            name: {REGULAR: c.regular.operations, WORST: c.worst.operations} for name, c in period.per.items()
        },
        "unbounded": period.unbounded,
        "prices": target.to_dict(),
    }


class _Period:
    """A method on a model: how often what is called in a period, and what a call takes."""

    def __init__(self, phases: Phases, stepping: StepSettings) -> None:
        self.step, self.method, self.stepping = phases.step, SOLVERS[stepping.solver], stepping
        self.kernels = Kernels(phases.jacobian, phases.elimination, self.method, stepping.newton, stepping.inline)
        self.phases = phases
        self.per = phases.per | phases.directions(self.kernels.is_implicit)

    @property
    def unbounded(self) -> list[str]:
        """What has no bound, of all that was counted."""
        return self.phases.unbounded(self.kernels.is_implicit)

    def bound(self, case: str, times: int, target: Target) -> dict[str, int]:
        """Calls and costs of one kind of period with so many internal steps."""
        work = self.work(case)
        counted = self.total(work, case)
        cost = counted.worst if case == WORST else counted.regular
        fields = (f.name for f in Work.__dataclass_fields__.values() if not f.metadata.get("internal"))
        numbers = {name: times * int(getattr(work, name)) for name in fields}
        instructions = target.instructions(cost, is_regular=case in (REGULAR, KEPT))
        return numbers | {"operations": times * cost.operations, "instructions": times * instructions}

    # ---------------------------------------------------------------------------------------------------------- calls

    @property
    def keeps_jacobian(self) -> bool:
        """Whether there are regular periods in which none is evaluated."""
        rests = self.stepping.jacobian_every > 1 or (self.kernels.is_implicit and self.phases.jacobian_rests)
        return rests or self.keeps_in_stage

    @property
    def keeps_in_stage(self) -> bool:
        """An inlined stage solves loops by Jacobians of earlier ones."""
        loops = (b for b in self.step.inlined or () if isinstance(b, s.NonlinearLoop))
        return self.stepping.inline and any(b.jacobian is not None for b in loops)

    @property
    def _ends_in_stage(self) -> bool:
        """The last inlined stage leaves all that derivatives need at the end of the step."""
        if not self.stepping.inline or not isinstance(self.method, RungeKutta):
            return False
        return self.method.stiffly_accurate and inlined_is_all(self.step)

    @property
    def n_parts(self) -> int:
        """In which a Jacobian is made where it is spread over steps."""
        moves_on = self.kernels.is_implicit and not self.phases.jacobian_rests
        return self.stepping.jacobian_every - 1 if self.stepping.jacobian_spread and moves_on else 1

    @property
    def n_loops(self) -> int:
        """Nonlinear loops of a stage."""
        blocks = (self.step.inlined or ()) if self.stepping.inline else self.step.in_partition(Partition.STEP)
        return sum(isinstance(b, s.NonlinearLoop) for b in blocks)

    @property
    def loops(self) -> Count:
        """A stage with its loops solved."""
        return self.per["inlined_kept" if self.stepping.inline else "closed"]

    def called(self, counts: Mapping[str, int]) -> Work:
        """How often what was called in a whole run."""
        steps, jacobians = self.stepping.internal_steps * counts["steps"], counts["jacobians"]
        rosenbrock = isinstance(self.method, Rosenbrock)
        closed = counts["corrected"] * (self.kernels.stage_rhs(1) + 1) if self.phases.is_open else 0
        return Work(
            steps=steps,
            rhs=counts["rhs"],
            solved=closed if self.phases.is_open else counts["rhs"],
            jacobians=jacobians,
            directional=jacobians * self._directions if self.step.directional is not None else 0,
            slopes=jacobians * int(rosenbrock and self.step.directional is not None),
            factorisations=counts["factorisations"],
            solves=counts["solves"],
            stage_newton=0 if rosenbrock else counts["solves"],
            event_passes=counts["event_passes"],
            looks=0,
            closed=closed,
            inlined=self.stepping.inline * steps * self.kernels.stage_rhs(self.stepping.n_substeps),
            events=counts["state_events"] + counts["time_events"],
            turns=0,
            late=0,
        )

    def work(self, case: str) -> Work:
        """How often what is called."""
        symbolic = self.step.directional is not None
        implicit = self.kernels.is_implicit and case != KEPT
        rosenbrock = isinstance(self.method, Rosenbrock)
        in_part = int(case == KEPT and self.n_parts > 1)
        has_slope = rosenbrock and (implicit or in_part or self.stepping.jacobian_every == 1)  # where J rests, too
        each = _LOCATED.get(self.stepping.events, (0, 0, 0, 0))
        once = _CYCLES[self.stepping.events]
        steps, n_events, located, lost = (
            a + self.stepping.events_per_step * b for a, b in zip(once, each, strict=True)
        )
        is_regular = case in (REGULAR, KEPT)
        steps = 1 if is_regular else steps
        n_events = 0 if is_regular else n_events + int(self.phases.has_inputs)
        predicted = int(self.stepping.events.startswith("predict") and bool(self.step.crossings))
        held = steps * _HOLD
        lost = max(lost, held) if self.stepping.events in _HELD_WITHOUT_EVENT else lost + held
        looks = {REGULAR: 0, KEPT: 0, EVENT: located, WORST: lost}[case] + predicted + int(self._looks_at_inputs)
        jacobian = self._jacobian_rhs(case, symbolic, predicted) if implicit or has_slope else 0
        jacobian += 0 if symbolic else in_part * (self.kernels.colours // self.n_parts + 2)
        begins = int(self._starts_anew or case == WORST) + steps - 1
        closed = 0
        inlined = self.stepping.inline * self.kernels.stage_rhs(self.stepping.n_substeps)
        other = (0 if self.stepping.inline else self.kernels.stage_rhs(1)) + jacobian + self._correction
        twice = 1
        passes, late, turns = self._settling(case, n_events)
        rhs = steps * (1 + inlined + other) + looks + begins
        if self.phases.is_open and case == WORST:
            # z anew after a parameter or an input jumped; the step again with loops solved in its stages
            rhs += steps * (other + 3)
            looks, closed, twice = looks + 2 * steps, steps * (self.kernels.stage_rhs(1) + 1), 2
        if self._may_be_lost and case == WORST:  # the step again by a new Jacobian
            rhs, twice = rhs + steps * (other + 1), 2 * twice
        return Work(
            steps=steps,
            rhs=rhs,
            solved=looks + closed if self.phases.is_open else rhs,
            jacobians=twice * steps * int(implicit),
            directional=symbolic * (implicit * twice * steps * self._directions + in_part * self._directions_in_part),
            slopes=twice * steps * int(has_slope and symbolic),
            factorisations=twice * steps * int(implicit) + in_part,
            solves=twice * steps * self.kernels.solves,
            stage_newton=twice * steps * (0 if rosenbrock else self.kernels.solves),
            event_passes=passes + late + n_events * int(case == WORST),  # and one to undo a failed event
            looks=looks,
            closed=closed,
            inlined=steps * inlined,
            events=n_events,
            turns=turns,
            late=late,
        )

    @property
    def _directions(self) -> int:
        """Calls of `directional` in a Jacobian."""
        return -(-self.kernels.directions // self.phases.n_lanes)

    @property
    def _may_be_lost(self) -> bool:
        """Iterations by an old Jacobian may diverge."""
        is_iterated = self.kernels.is_implicit and not isinstance(self.method, Rosenbrock)
        return is_iterated and self.stepping.jacobian_every > 1

    @property
    def _directions_in_part(self) -> int:
        shared = self.phases.jacobian.n_shared(self.phases.n_lanes)
        return shared + -(-(self._directions - shared) // self.n_parts)

    @property
    def _starts_anew(self) -> bool:
        """The derivatives at the beginning of a step are not those of the end of the last one."""
        return self.phases.has_inputs or self.phases.is_open or bool(self.step.delays or self.step.transports)

    @property
    def _looks_at_inputs(self) -> bool:
        """New inputs may change relations: all values are looked at before the step."""
        return self.phases.has_inputs and bool(self.step.crossings or self.phases.n_discrete)

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

    def _settling(self, case: str, n_events: int) -> tuple[int, int, int]:
        """Passes of all events, those that take turns of mixed loops, and all turns (khz_run.c)."""
        each = self._passes(case) if n_events else 0
        if not n_events or not self.phases.turns:
            return n_events * each, 0, 0
        turns = self.stepping.mode_cap or s.mode_turns(self.step)
        late = min(n_events * max(0, each - _FREE_PASSES), turns // _PASS_TURNS)
        return n_events * min(each, _FREE_PASSES), late, turns

    def _passes(self, case: str) -> int:
        """Passes of an event iteration that are possible: it goes on while discrete values or states change.

        Where nothing reads `pre`, a second pass finds nothing new, or a sample that is over and then nothing new.  At
        worst a nonlinear loop without a solution gives another value in each; a mixed one starts from the mode it found
        before, or ends the event where it has no turns left.
        """
        if not self.phases.sets_states:
            if not self.phases.n_discrete and not self.phases.n_texts:
                return 1
            if not self.phases.reads_pre and not (case == WORST and self.phases.iterates):
                return min(3 if self.step.samples else 2, self.stepping.event_cap)
        return self.stepping.event_cap

    # ---------------------------------------------------------------------------------------------------------- costs

    def total(self, w: Work, case: str, periods: int = 1) -> Count:
        """The calls in one period or in several, and what the runtime does between them."""
        per, k, n_r = self.per, self.kernels, len(self.step.crossings)
        looks = 2 * periods + w.looks + 2 * w.steps + 3 * w.events  # at the end, and wherever all values were looked at
        if case in (REGULAR, KEPT):  # at the end of the step, twice where it may be located; copied for the next one
            looks = (1 if self.stepping.events == "none" else 2) * w.steps + 2 * w.looks + 3 * w.events
        parts = [
            per["rhs"].times(w.rhs - w.steps - w.looks - w.closed - w.inlined),
            per["closed"].times(w.closed),
            per["rest" if self._ends_in_stage and case in (REGULAR, KEPT) else "all"].times(w.steps),
            per["solved"].times(w.looks),
            per["inlined_kept" if case == KEPT else "inlined"].times(w.inlined),
            *self._renewals(w, case),
            per["time_slope"].times(w.slopes),
            per["event"].times(w.event_passes - w.late),
            per["asserts"].times(periods),
            (self.phases.crossings + moves(_LOOK * n_r).of_stepper(n_r)).times(looks),
            (copy(n_r) + moves(_REST * n_r)).of_stepper(n_r).times(periods if n_r else 0),
            k.solve.times(w.solves),
            k.stages(self.stepping.n_substeps).times(w.steps, 2 * w.steps),
            self._handling.times(w.events),
            self._searched(w, case),
            self._instants.times(periods + w.steps),
            _PERIOD.times(periods),
        ]
        if case == WORST:  # differences after a direction that has no value
            parts.append(k.differences.times(w.jacobians))
            parts.append(self.phases.nearest.times(w.events))  # where none agrees
        if case == WORST or w.events:  # what the period has for nonlinear loops
            iteration, trial = self.phases.spare
            n_iterations, n_trials = self.spare
            parts += [iteration.times(periods * n_iterations), trial.times(0, periods * n_trials)]
        return total(parts)

    def _renewals(self, w: Work, case: str) -> list[Count]:
        """Jacobians and factors; of one that is spread either a part or the factors."""
        k, per, slopes = self.kernels, self.per, int(isinstance(self.method, Rosenbrock))
        if case == KEPT and self.n_parts > 1:
            part = k.jacobian(w.directional, slopes, self.n_parts)
            part += self.phases.columns(self.n_parts) if w.directional else Count()
            return [dearest([part, k.factor])]
        return [
            per["directional"].times(w.jacobians if w.directional else 0),
            k.jacobian(self._directions if w.directional else 0, slopes).times(w.jacobians),
            k.factor.times(w.factorisations),
        ]

    @property
    def spare(self) -> tuple[int, int]:
        """Iterations and residuals that a period has for all nonlinear loops, beyond the usual (khz_cycle.c)."""
        m = self.method
        stages = m.n_stages * (self.stepping.newton if self.kernels.solves and not isinstance(m, Rosenbrock) else 1)
        stages *= self.stepping.n_substeps if isinstance(m, Pair) else 1
        loops = min(len(s.nonlinear_loops(self.step)), _LOOPS)
        caps = _ITERATIONS + -(-stages // _STAGES)
        return caps * self.stepping.loop_newton * loops, (_TRIALS + _STAGE_TRIALS * stages) * loops

    def _searched(self, w: Work, case: str) -> Count:
        """The turns of a period at the highest price: tried modes, late passes, detours of linear systems in a mode."""
        ways = [(turn, 1) for turn in self.phases.turns]
        ways += [(self.per["event"], _PASS_TURNS)] if w.late else []
        ways += self.phases.detours if case == WORST else []

        def most(costs: list[tuple[Cost, int]]) -> Cost:
            each, turns = max(costs, key=lambda way: way[0].instructions / way[1], default=(Cost(), 1))
            return each.times(w.turns).part(turns)

        return Count(most([(c.regular, t) for c, t in ways]), most([(c.worst, t) for c, t in ways]))

    @property
    def _handling(self) -> Count:
        """What an event takes besides its passes: values kept for the case that it fails, relations watched."""
        n_r = len(self.step.crossings)
        copies = copy(4 * self.kernels.n + 2 * self.phases.n_discrete + 4 * n_r + 400 * self.phases.n_texts)
        return copies + moves(80 * n_r + 90 * len(self.step.samples), 800) + self._recorded

    @property
    def _instants(self) -> Count:
        """Time events and samples that are due, and what delays and transport lines record."""
        step = self.step
        ticks = moves(45 * len(step.samples) + 15 * len(step.time_events), 40)
        return ticks + self.phases.instants + self._recorded

    @property
    def _recorded(self) -> Count:
        return moves(90 * len(self.step.delays) + 2000 * len(self.step.transports))
