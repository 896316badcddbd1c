"""What one call of each phase of a model takes; the same for every method and setting but the cap of its loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise

from kilohertz.cost.columns import columns
from kilohertz.cost.costly import costly
from kilohertz.cost.ends import ends
from kilohertz.cost.factors import state_elimination
from kilohertz.cost.jacobian import StateJacobian, jacobian_rests, state_jacobian
from kilohertz.cost.lanes import Moving, n_lanes
from kilohertz.cost.operations import Operations
from kilohertz.cost.prices import Cost, Count, calls, copy, dearest, moves, total
from kilohertz.cost.rolled import Listed
from kilohertz.cost.rolled_blocks import LaneShapes, stretches
from kilohertz.graphs import Elimination
from kilohertz.ir import step as s
from kilohertz.ir.expr import Ref
from kilohertz.ir.step import Kind, Partition, Step
from kilohertz.ir.traverse import walk_all

Blocks = tuple[s.Block, ...]
_PRE = (Kind.PRE_DISCRETE, Kind.PRE_INT_DISCRETE, Kind.PRE_STRING_DISCRETE)


@dataclass(frozen=True)
class Phases:
    """Counts of one model, each made when it is first asked for."""

    step: Step
    loop_newton: int

    @cached_property
    def _operations(self) -> Operations:
        return Operations(self.step, self.loop_newton)

    @cached_property
    def _rates(self) -> Operations:
        """Of directional derivatives, which only some methods take: apart, for what has no bound in them."""
        return Operations(self.step, self.loop_newton)

    def unbounded(self, is_implicit: bool) -> list[str]:
        """What has no bound, wherever it is called."""
        both = (self._operations, self._rates) if is_implicit else (self._operations,)
        return list(dict.fromkeys(what for operations in both for what in operations.unbounded))

    # ------------------------------------------------------------------------------------------------------------ facts

    @cached_property
    def jacobian(self) -> StateJacobian:
        return state_jacobian(self.step)

    @cached_property
    def jacobian_rests(self) -> bool:
        return jacobian_rests(self.step)

    @cached_property
    def n_lanes(self) -> int:
        return n_lanes(self.step, self.jacobian)

    @cached_property
    def elimination(self) -> Elimination | None:
        return state_elimination(self.jacobian.rows)

    @property
    def is_open(self) -> bool:
        """In the index-1 form."""
        return bool(self.step.algebraic)

    @cached_property
    def has_inputs(self) -> bool:
        return bool(self.step.of_kind(Kind.INPUT) or self.step.of_kind(Kind.INT_INPUT))

    @cached_property
    def n_discrete(self) -> int:
        return sum(len(self.step.of_kind(k)) for k in (Kind.DISCRETE, Kind.INT_DISCRETE))

    @cached_property
    def n_texts(self) -> int:
        return len(self.step.of_kind(Kind.STRING_DISCRETE))

    @cached_property
    def sets_states(self) -> bool:
        """At events."""
        inner = (i for b in self.step.blocks if isinstance(b, s.MixedLoop) for i in (*b.continuous, *b.discrete))
        acts = (a for b in (*self.step.blocks, *inner) if isinstance(b, s.WhenBlock) for a in b.actions)
        return any(isinstance(a, s.SetState) for a in acts)

    @cached_property
    def reads_pre(self) -> bool:
        names = {v.name for k in _PRE for v in self.step.of_kind(k)}
        roots = [e for b in self.step.blocks for e in s.expressions(b)]
        return bool(names) and any(isinstance(e, Ref) and e.name in names for e in walk_all(roots))

    @cached_property
    def iterates(self) -> bool:
        """There is a nonlinear loop: what it finds depends on where it starts."""
        inner = (i for b in self.step.blocks if isinstance(b, s.MixedLoop) for i in (*b.continuous, *b.discrete))
        return any(isinstance(b, s.NonlinearLoop) for b in (*self.step.blocks, *inner))

    # ----------------------------------------------------------------------------------------------------------- counts

    @cached_property
    def crossings(self) -> Count:
        relations = self.step.crossings
        statements = [Listed("crossing", (("g", c.index),), (c.relation, c.function)) for c in relations]
        looked_at = self._operations.listed(statements)
        return looked_at + moves(6.5 * len(relations), 20)

    @cached_property
    def turns(self) -> list[Count]:
        """One turn of each mixed loop."""
        return [self._operations.turn(b, self.is_open) for b in self._mixed_loops]

    @cached_property
    def nearest(self) -> Count:
        """The mode nearest to agreeing in all mixed loops, whatever its linear systems take."""
        return total(self._operations.turn(b, self.is_open, in_search=False) for b in self._mixed_loops)

    @cached_property
    def detours(self) -> list[tuple[Count, int]]:
        """Of linear systems in a turn, with the turns that each is paid for with."""
        return [detour for b in self._mixed_loops for detour in self._operations.detours(b)]

    @property
    def _mixed_loops(self) -> list[s.MixedLoop]:
        return [b for b in self.step.blocks if isinstance(b, s.MixedLoop)]

    @cached_property
    def spare(self) -> tuple[Count, Count]:
        """An iteration and a residual of a nonlinear loop that is one of those a period has to spare."""
        loops = s.nonlinear_loops(self.step)
        kinds = map(self._operations.iteration, loops), map(self._operations.trial, loops)
        iteration, trial = (max(kind, key=lambda c: c.worst.instructions, default=Count()) for kind in kinds)
        return iteration, trial

    @cached_property
    def instants(self) -> Count:
        """When the next time events are."""
        events = self.step.time_events
        return self._operations.listed([Listed("value", (("at", k),), (t.at,)) for k, t in enumerate(events)])

    def directions(self, is_implicit: bool) -> dict[str, Count]:
        """All derivatives along states of a Jacobian, and the one along time, where the method takes some."""
        if not is_implicit:
            return {"directional": self._around, "time_slope": self._around}
        return {"directional": self.columns(1), "time_slope": self._directions[2] + self._around}

    def columns(self, n_parts: int) -> Count:
        """The derivatives along states of the dearest of so many parts of a Jacobian (`part_of`, khz_jacobian.c)."""
        shared, calls, _ = self._directions
        n_own = len(calls) - self.jacobian.n_shared(self.n_lanes)
        shared, calls = total([shared, *calls[n_own:]]), calls[:n_own]
        ends = [len(calls) * k // n_parts for k in range(n_parts + 1)]
        return shared + dearest([total(calls[first:end]) for first, end in pairwise(ends)]) + self._around

    @property
    def _around(self) -> Count:
        """Each list of directions."""
        n = len(self.jacobian.rows)
        return moves(8 * n, 60).of_stepper(n)

    @cached_property
    def _directions(self) -> tuple[Count, list[Count], Count]:
        """What all calls for directions share, each of them, and the one along time."""
        in_step = self.step.in_partition(Partition.STEP)
        self._rates.kept = {e for b in in_step for e, _ in costly(b, self.step.variables)}
        lists, slope = columns(self.step, self.jacobian, self.n_lanes), self._rates.blocks(self.step.time_slope or ())
        if self.n_lanes == 1:
            return Count(), _of_each(lists, self._rates.blocks), slope
        moving = Moving(self.step.variables.values())
        numbers = moving.numbers(b for blocks in _apart(lists) for b in blocks)
        computed = [Listed("resting", (("z->resting", k),), (e,)) for e, k in numbers.items()]
        shared = self._rates.listed(computed) + moves(4 * len(numbers), 60)
        shapes = LaneShapes(self.step.variables, moving, numbers)
        self._rates.is_apart = lambda e, operand: operand in numbers and moving(e)
        rates = _of_each(lists, lambda blocks: self._in_lanes(blocks, moving, shapes))
        self._rates.is_apart = None
        return shared, rates, slope

    def _in_lanes(self, blocks: Blocks, moving: Moving, shapes: LaneShapes) -> Count:
        """A list for several directions: what fits together, the rest one by one."""
        counts: list[Count] = []
        for fits, together in groupby(blocks, moving.fits):
            members = list(together)
            parts = stretches(members, shapes) if fits else ([b] for b in members)
            counts += (self._rates.run(p, lambda b: moving.price(b, self._rates.block(b))) for p in parts)
        return total(counts)

    @cached_property
    def per(self) -> dict[str, Count]:
        """One call of each phase, copies and checks of the runtime included."""
        step, operations, n = self.step, self._operations, len(self.jacobian.rows)
        late_parts = map(operations.partition, (Partition.CROSSING, Partition.OUTPUT, Partition.VIEW))
        late = total(late_parts) + moves(8 * n, 280).of_stepper(n)
        event = operations.blocks(step.blocks, in_event=True)
        solved = operations.step_blocks() + calls(40)
        inputs = moves(25 * len(step.of_kind(Kind.INPUT)))
        stage = operations.step_blocks(self.is_open) + calls(40)
        operations.kept = set()
        late = late + copy(n).of_stepper(n) + inputs
        values = sum(len(s.targets(b)) for b in step.in_partition(Partition.STEP))
        n_values = len(step.of_kind(Kind.ALGEBRAIC)) + len(step.of_kind(Kind.DISCRETE))
        told = ends(step)
        looks = n_values if told is None else len(told) + len(step.of_kind(Kind.DISCRETE))
        late = late + Count(Cost(moves=2 * looks), Cost(moves=20 * (values + n_values)))  # is one not finite? which?
        called = (moves(4 * n + 10 * len(step.algebraic), 110) + copy(n).times(2)).of_stepper(n) + inputs
        staged = (moves(18 * n, 220) + copy(n)).of_stepper(n) + inputs
        kept = moves(24 * self.n_discrete + 2000 * self.n_texts + 12 * n, 100)
        return {
            "rhs": stage + called,
            "closed": solved + called,
            "all": stage + late,
            "solved": solved + late,
            "rest": late,
            "event": event + kept,
            "inlined": operations.stage(step.inlined or ()) + staged,
            "inlined_kept": operations.stage(step.inlined or (), kept=True) + staged,
            "asserts": operations.statements(step.asserts, "an assertion"),
        }


def _apart(lists: Sequence[Blocks]) -> list[Blocks]:
    """The lists that are not the same object: many calls may run one list."""
    return list({id(blocks): blocks for blocks in lists}.values())


def _of_each(lists: Sequence[Blocks], count: Callable[[Blocks], Count]) -> list[Count]:
    """Of each list; one that many calls run is counted once."""
    each = {id(blocks): count(blocks) for blocks in _apart(lists)}
    return [each[id(blocks)] for blocks in lists]
