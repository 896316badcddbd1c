"""What holds at the first tick of a clocked partition with states (MLS 16.8.2: initial conditions are used there).

  der(x) = v;  v = 2*x - u;  v(start = 0, fixed = true)     ->   at the first tick v = 0, and x follows from it

As in the initial system of a model (`initialise`): initial equations, then fixed starts, each where it finds an
unknown; states that are still open have their start values.  What finds none is checked at that tick.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kilohertz.base import InternalError
from kilohertz.graphs import maximum_matching
from kilohertz.ir.dae import Dae, Equation, Role, pre_name
from kilohertz.ir.expr import Ref
from kilohertz.ir.types import REAL
from kilohertz.passes.algebra import Occurrence
from kilohertz.passes.dae.lowering.reduce_partition import Partition
from kilohertz.passes.flat.algorithms import default_start
from kilohertz.passes.ordered.solving_order import candidates, incidence, names_in, rows_of


@dataclass(slots=True)
class FirstTick:
    """`given`: by state what holds in place of its start value; `spare`: what has to hold besides."""

    given: dict[str, Equation] = field(default_factory=dict)
    spare: list[Equation] = field(default_factory=list)


def first_tick(dae: Dae, part: Partition, members: Sequence[str], occurrence: Occurrence) -> FirstTick:
    """Which equations give states at the first tick, and which are too many."""
    initial = list(_initial_equations(part))
    fixed = list(_fixed_starts(dae, part, members, occurrence))
    said = [*initial, *fixed]
    own_state = {id(e): e.left.name for e in fixed if isinstance(e.left, Ref) and e.left.name in part.slopes}
    if len(own_state) == len(said):
        return FirstTick()
    index = {n: i for i, n in enumerate(members)}
    rows = rows_of([*part.equations, *said])
    graph = [candidates(r, c, index) for r, c in zip(rows, incidence(rows, index, occurrence), strict=True)]
    taken = graph[: len(rows) - len(said)]
    found = FirstTick()
    given: list[Equation] = []
    held: set[str] = set()
    for e, row in zip(said, graph[len(taken) :], strict=True):
        if not _join(row, taken, len(index)):
            found.spare.append(e)
        elif id(e) in own_state:
            held.add(own_state[id(e)])
        else:
            given.append(e)
    free = [x for x in part.slopes if x not in held and not _join([index[x]], taken, len(index))]
    if len(free) != len(given):
        raise InternalError("what holds at the first tick does not give its states")
    found.given = dict(zip(free, given, strict=True))
    return found


def _initial_equations(part: Partition) -> Iterator[Equation]:
    """Each of them once: a class may say again what its base class says (algorithms set what is there before)."""
    said: set[frozenset[object]] = set()
    for e in (e for e in part.starts if isinstance(e, Equation)):
        sides: frozenset[object] = frozenset((e.left, e.right))
        if sides not in said:
            said.add(sides)
            yield e


def _fixed_starts(dae: Dae, part: Partition, members: Sequence[str], occurrence: Occurrence) -> Iterator[Equation]:
    """Not of what is computed in one place alone, nor of what `previous` is asked of: that is where its start goes."""
    named = {n for e in part.equations for n in names_in(e, occurrence)}
    directed = {e.left for e in part.equations if isinstance(e, Equation) and e.directed}
    for name in members:
        v = dae.variables[name]
        if not v.fixed or v.ty != REAL or v.role is Role.INPUT:
            continue
        if name in part.slopes or (v.ref not in directed and pre_name(name) not in named):
            yield Equation(v.ref, v.start if v.start is not None else default_start(v.ty), v.origin)


def _join(row: list[int], taken: list[list[int]], n_unknowns: int) -> bool:
    """Add a row where it leaves the system solvable."""
    taken.append(row)
    if maximum_matching(taken, n_unknowns).size == len(taken):
        return True
    taken.pop()
    return False
