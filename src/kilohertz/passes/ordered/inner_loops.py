"""Which unknowns of a joined loop are truly iterated on, and which systems are solved for given values of them.

After the formulas of a stage are joined with the equations nearly everything is one nonlinear loop.  Most of it is
linear once a few unknowns are known: a motor's circuit for a given speed, the accelerations of a piston for a given one
of the crank.  These parts become loops inside the loop, and Newton's method is left with the few.

  1. With all states known the loop falls apart as in a step without inlining; nonlinear parts of that are the model's
     own (a closed kinematic loop) and stay as they are.  Then states are taken back, each with its formula: first those
     that close no loop (an angle that follows from its speed), then those whose loop is linear.  What is left is one
     choice: the rest of the states, each checked by its formula.
  2. Linear loops whose matrix moves with these states are opened (of a mechanism: solving for accelerations), what is
     closed counts as one equation for each of its unknowns, and the whole is torn as usual.
  3. Guesses are taken back, each with a residual, where the loop which this closes is linear; the smallest loops first.

Of 1 and 3 the one with fewer guesses is taken, at equal numbers 3: it has explicit assignments (inverse dynamics) where
1 solves a large system.  Cost: 1 takes a search of the graph for each state, 3 one for each pair of a guess and a
residual that depends on it, at most MOST_TESTS.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from kilohertz.graphs import FREE, maximum_matching, strong_components
from kilohertz.passes.ordered.guesses import Torn

MOST_TESTS = 4000
LIMITS = (30, 120, 1_000_000)  # sizes of loops that are closed, in this order


class Loop(Protocol):
    """What is asked of the equations of a loop."""

    def is_sound(self, row: int, column: int) -> bool:
        """The row may compute the unknown: its coefficient, if there is one, is not zero in some mode."""

    def is_solvable(self, row: int, column: int) -> bool:
        """The row gives the unknown by an assignment."""

    def is_linear(self, rows: Sequence[int], columns: Iterable[int]) -> bool:
        """The rows are linear in the unknowns, the others known."""

    def is_regular(self, rows: Sequence[int], columns: Sequence[int]) -> bool:
        """The linear rows give the unknowns where the model starts, as far as that is known."""

    def is_steady(self, rows: Sequence[int], columns: Iterable[int]) -> bool:
        """The coefficients of these unknowns contain no unknown of the loop."""

    def torn(self, rows: list[list[int]], forced: dict[int, int]) -> Torn:
        """Guesses for the loop with these columns in its rows."""


@dataclass(frozen=True, slots=True)
class Split:
    """Columns guessed, rows left as residuals, and the rows that are solved together, in order, with their columns."""

    guessed: tuple[int, ...]
    residuals: tuple[int, ...]
    parts: tuple[tuple[tuple[int, int], ...], ...]


def split(
    loop: Loop, rows: list[list[int]], forced: dict[int, int], heads: dict[int, int], formulas: dict[int, int]
) -> Split | None:
    """The best choice; None where the loop does not fall apart.

    `rows` lists the unknowns of each equation, `forced` rows that compute one unknown only, `heads` those that need
    another row (results of a call); `formulas` maps the columns of states to the rows of their formulas.
    """
    graph = _Graph(loop, rows, forced, heads)
    by_states = _by_states(graph, formulas)
    if by_states is None:
        return None
    opened = _opened(graph, by_states)
    return opened if opened is not None and len(opened.guessed) <= len(by_states.guessed) else by_states


@dataclass(slots=True)
class _Graph:
    """Equations and unknowns, and a matching of those that are not guessed."""

    loop: Loop
    rows: list[list[int]]
    forced: dict[int, int]
    heads: dict[int, int]
    row_of: list[int] = field(default_factory=list)  # by column; FREE: guessed
    column_of: list[int] = field(default_factory=list)  # by row; FREE: a residual
    uses: list[list[int]] = field(default_factory=list)  # by column: the rows that contain it
    follows: dict[int, list[int]] = field(default_factory=dict)  # by head: rows of its call
    sound: dict[int, list[int]] = field(default_factory=dict)  # by row: what it may compute, once asked

    def __post_init__(self) -> None:
        n = len(self.rows)
        self.row_of, self.column_of, self.uses = [FREE] * n, [FREE] * n, [[] for _ in range(n)]
        for i, row in enumerate(self.rows):
            for c in row:
                self.uses[c].append(i)
        for i, head in self.heads.items():
            self.follows.setdefault(head, []).append(i)

    def edges(self, i: int, only_sound: bool = True) -> list[int]:
        """The unknowns a row may compute."""
        if i in self.forced:
            return [self.forced[i]]
        if not only_sound:
            return self.rows[i]
        sound = self.sound.get(i)
        if sound is None:
            sound = self.sound[i] = [c for c in self.rows[i] if self.loop.is_sound(i, c)]
        return sound

    def match(self, rows: Sequence[int], columns: Sequence[int]) -> bool:
        """Match these; soundly where that is possible."""
        place = {c: k for k, c in enumerate(columns)}
        for only_sound in (True, False):
            matching = maximum_matching(
                [[place[c] for c in self.edges(i, only_sound) if c in place] for i in rows], len(columns)
            )
            if matching.is_perfect:
                for i, k in zip(rows, matching.column_of, strict=True):
                    self.pair(i, columns[k])
                return True
        return False

    def pair(self, row: int, column: int) -> None:
        self.column_of[row], self.row_of[column] = column, row

    def needs(self, i: int) -> list[int]:
        """Rows whose results a row reads."""
        computed = self.column_of[i]
        read = [self.row_of[c] for c in self.rows[i] if c != computed and self.row_of[c] != FREE]
        return [*read, self.heads[i]] if i in self.heads else read

    def needed_by(self, i: int) -> list[int]:
        readers = [k for k in self.uses[self.column_of[i]] if k != i and self.column_of[k] != FREE]
        return [*readers, *(k for k in self.follows.get(i, ()) if self.column_of[k] != FREE)]

    def component(self, i: int) -> list[int]:
        """The rows that must be solved together with this one."""
        ahead = _reached(i, self.needs)
        return sorted(k for k in _reached(i, self.needed_by) if k in ahead)

    def components(self, rows: Iterable[int]) -> list[list[int]]:
        """Those that these rows are in."""
        found: list[list[int]] = []
        seen: set[int] = set()
        for i in rows:
            if i not in seen:
                found.append(self.component(i))
                seen.update(found[-1])
        return found

    def is_good(self, rows: Sequence[int]) -> bool:
        """An assignment, or a linear loop."""
        if len(rows) == 1:
            (i,) = rows
            return i in self.forced or self.loop.is_solvable(i, self.column_of[i])
        return self.loop.is_linear(rows, [self.column_of[i] for i in rows])

    def is_regular(self, rows: Sequence[int]) -> bool:
        """A loop of these rows has a solution where the model starts."""
        return len(rows) == 1 or self.loop.is_regular(rows, [self.column_of[i] for i in rows])

    def result(self) -> Split:
        """The present state as an answer."""
        numbers = [i for i, c in enumerate(self.column_of) if c != FREE]
        place = {i: k for k, i in enumerate(numbers)}
        components = strong_components([[place[k] for k in self.needs(i)] for i in numbers])
        parts = tuple(tuple((numbers[k], self.column_of[numbers[k]]) for k in members) for members in components)
        guessed = tuple(c for c, i in enumerate(self.row_of) if i == FREE)
        return Split(guessed, tuple(i for i, c in enumerate(self.column_of) if c == FREE), parts)


def _reached(first: int, following: Callable[[int], list[int]]) -> set[int]:
    reached = {first}
    waiting = [first]
    while waiting:
        for k in following(waiting.pop()):
            if k not in reached:
                reached.add(k)
                waiting.append(k)
    return reached


def _by_states(graph: _Graph, formulas: dict[int, int]) -> Split | None:
    """Part 1: the states that must be guessed, each checked by its formula."""
    apart = set(formulas.values())
    rows = [i for i in range(len(graph.rows)) if i not in apart]
    if not graph.match(rows, [c for c in range(len(graph.rows)) if c not in formulas]):
        return None
    for may_close in (False, True):
        for column, row in formulas.items():
            if graph.row_of[column] != FREE:
                continue
            graph.pair(row, column)
            members = graph.component(row)
            closed = may_close and graph.is_good(members) and graph.is_regular(members)
            if not (len(members) == 1 or closed):
                graph.row_of[column] = graph.column_of[row] = FREE
    return graph.result()


def _opened(graph: _Graph, first: Split) -> Split | None:
    """Parts 2 and 3."""
    columns, forced = list(graph.rows), dict(graph.forced)
    for part in first.parts:
        members, inside = [i for i, _ in part], {c for _, c in part}
        if len(part) == 1 or (graph.is_good(members) and not graph.loop.is_steady(members, inside)):
            continue
        outside = dict.fromkeys(c for i in members for c in graph.rows[i] if c not in inside)
        for i, c in part:
            columns[i], forced[i] = [c, *outside], c
    torn = graph.loop.torn(columns, forced)
    if any(i in forced for i in torn.residuals):
        return None
    split = _Graph(graph.loop, graph.rows, forced, graph.heads, sound=graph.sound)
    for i, c in torn.sequence:
        split.pair(i, c)
    _take_back(split, torn)
    return split.result()


def _take_back(graph: _Graph, torn: Torn) -> None:
    """Part 3: close loops that are linear."""
    depends = _dependences(graph, torn)
    tests = 0
    for limit in LIMITS:
        for column in torn.guessed:
            if graph.row_of[column] != FREE:
                continue
            open_rows = [i for i in depends[column] if graph.column_of[i] == FREE]
            tests += len(open_rows)
            sizes = ((_closed(graph, row, column, keep=False), row) for row in open_rows)
            for _, row in sorted((size, row) for size, row in sizes if size is not None and size <= limit):
                if _closed(graph, row, column, keep=True) is not None:
                    break
            if tests > MOST_TESTS:
                return


def _dependences(graph: _Graph, torn: Torn) -> dict[int, list[int]]:
    """For each guess the residuals that depend on it."""
    masks = [0] * len(graph.rows)
    for k, c in enumerate(torn.guessed):
        masks[c] = 1 << k
    for members in graph.result().parts:
        mask = 0
        for i, computed in members:
            for c in graph.rows[i]:
                mask |= masks[c] if c != computed else 0
        for _, c in members:
            masks[c] |= mask
    residuals_of: dict[int, list[int]] = {c: [] for c in torn.guessed}
    for i in torn.residuals:
        mask = 0
        for c in graph.rows[i]:
            mask |= masks[c]
        for k, c in enumerate(torn.guessed):
            if mask >> k & 1:
                residuals_of[c].append(i)
    return residuals_of


def _closed(graph: _Graph, row: int, column: int, keep: bool) -> int | None:
    """Size of the loop that arises when a guess and a residual are taken back; None where that is no good.

    Whether it has a solution is asked of those to be kept alone: that costs more than all else.
    """
    path = _path(graph, row, column)
    if path is None:
        return None
    before = [(i, graph.column_of[i]) for i, _ in path]
    for i, c in path:
        graph.pair(i, c)
    loops = graph.components(i for i, _ in path)
    size = max(map(len, loops)) if all(map(graph.is_good, loops)) else None
    if size is not None and keep and not all(map(graph.is_regular, loops)):
        size = None
    if size is None or not keep:
        graph.row_of[column] = FREE
        for i, c in before:
            graph.column_of[i] = c
            if c != FREE:
                graph.row_of[c] = i
    return size


def _path(graph: _Graph, row: int, column: int) -> list[tuple[int, int]] | None:
    """Rows from this one to one that can compute the column, each with the unknown it gets: an augmenting path."""
    came: dict[int, tuple[int, int]] = {}  # by row: who takes its unknown away, and which
    waiting = [row]
    seen = {row}
    for i in waiting:
        for c in graph.edges(i):
            owner = graph.row_of[c]
            if c == column:
                path = [(i, c)]
                while path[0][0] != row:
                    path.insert(0, came[path[0][0]])
                return path
            if owner != FREE and owner not in seen:
                seen.add(owner)
                came[owner] = (i, c)
                waiting.append(owner)
    return None
