"""Equal statements as one loop in C (see `cost.rolled`): places that are regular by their turn, others from tables.

What differs from turn to turn is a name of its own while the statements of a turn are written, so that they share what
they have in common in every turn; what is the same in all of them is computed before the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from kilohertz.codegen.layout import Layout
from kilohertz.codegen.plans import array
from kilohertz.codegen.writing import spelling
from kilohertz.codegen.writing.expressions import Writer, is_trivial
from kilohertz.codegen.writing.lanes import LaneWriter
from kilohertz.cost import Cell, Listed, Roll, Rolled, Shapes, rolls, steady
from kilohertz.ir import expr as x
from kilohertz.ir.expr import Expr
from kilohertz.ir.step import DIRECTIONS, Kind
from kilohertz.ir.traverse import map_expr

_IN_ROW = 8  # numbers of a table
TURN = "i"  # the number of a turn in C, from 0
Spell: TypeAlias = Callable[[int, Sequence[str], Sequence[Expr]], None]
_Column: TypeAlias = tuple[Kind | str | None, tuple[object, ...]]


@dataclass(frozen=True, slots=True)
class Line:
    """A statement of a list, and how it is put, given its places and the texts of what it computes; those of one form
    are put alike."""

    statement: Listed
    put: Callable[[Sequence[str], Sequence[str]], str]
    remark: str = ""
    is_rolled: bool = True


def resting_line(e: Expr, place: int) -> Line:
    """A number beside rates, for all directions."""
    one = Listed("resting", (("z->resting", place),), (e,))
    return Line(one, lambda at, texts: f"{at[0]} = khz_spread({texts[0]});")


def in_parts(
    lines: Sequence[Line], most: int, writer: Callable[[], Writer], layout: Layout, shapes: Shapes
) -> list[list[str]]:
    """Bodies of C functions that put all lines in order: equal ones rolled, of the others so many in each."""
    statements = [one.statement if one.is_rolled else None for one in lines]
    parts, at = [], 0
    for roll in rolls(statements, shapes):
        parts += _written_out(lines[at : roll.first], most, writer, layout)
        parts.append(_rolled(lines[roll.first : roll.end], roll, writer(), layout, shapes))
        at = roll.end
    return [*parts, *_written_out(lines[at:], most, writer, layout)]


def _rolled(lines: Sequence[Line], roll: Roll, w: Writer, layout: Layout, shapes: Shapes) -> list[str]:
    def put(k: int, places: Sequence[str], roots: Sequence[Expr]) -> None:
        line = lines[k]
        text = line.put(places, [w.text(e) for e in roots])
        w.put(*_remarked(text, f"{line.remark}, ..." if line.remark else ""))

    LoopWriter(w, layout, shapes).write([line.statement for line in lines], roll, put)
    return w.scope.lines


def _written_out(lines: Sequence[Line], most: int, writer: Callable[[], Writer], layout: Layout) -> list[list[str]]:
    parts = []
    for at in range(0, len(lines), most):
        part, w = lines[at : at + most], writer()
        w.plan(e for line in part for e in line.statement.roots)
        for line in part:
            places = [_place(layout, cell) for cell in line.statement.cells]
            w.put(*_remarked(line.put(places, [w.text(e) for e in line.statement.roots]), line.remark))
        parts.append(w.scope.lines)
    return parts


def _remarked(text: str, remark: str) -> list[str]:
    return (f"{text} /* {remark} */" if remark else text).split("\n")


def _place(layout: Layout, cell: Cell) -> str:
    area, index = cell
    if isinstance(area, Kind):
        return layout.spelled(area, layout.index(area, index))
    return f"{area}[{index}]" if area else str(index)


@dataclass(slots=True)
class LoopWriter:
    """Writes rolled statements into the function that a writer is at."""

    w: Writer
    layout: Layout
    shapes: Shapes
    _texts: dict[_Column, str] = field(default_factory=dict)  # of what stands at one place, turn by turn
    _names: dict[_Column, x.Ref] = field(default_factory=dict)  # its name in expressions

    def write(self, statements: Sequence[Listed], roll: Roll, spell: Spell) -> None:
        """A loop; `spell` puts one statement of a turn, given its number there, its places and its expressions."""
        w, size = self.w, roll.size
        cells = [[self._cell([one.cells[k] for one in statements[n::size]]) for k in range(len(statements[n].cells))]
                 for n in range(size)]  # fmt: skip
        roots = [self._roots(statements[n], roll.leaves[n::size]) for n in range(size)]
        before = [e for e in steady(statements, roll, self.shapes) if not is_trivial(e)]
        w.plan(before)
        for e in before:
            w.keep(e, w.text(e))

        def turn() -> None:
            w.plan(e for of_one in roots for e in of_one)
            for n in range(size):
                spell(n, cells[n], roots[n])

        w.braces(f"for (int32_t {TURN} = 0; {TURN} < {roll.turns}; {TURN}++)", turn)

    def _cell(self, cells: Sequence[Cell]) -> str:
        """A place that a statement names."""
        return self._text((cells[0][0], tuple(index for _, index in cells)))

    def _roots(self, first: Listed, leaves: Sequence[Sequence[Expr]]) -> list[Expr]:
        """The expressions of a statement with names for what differs."""
        named: dict[Expr, Expr] = {}
        for leaf, values in zip(leaves[0], zip(*leaves, strict=True), strict=True):
            column = self._column(values)
            if any(value is not leaf for value in values):
                named[leaf] = self._name(leaf, column)
            elif isinstance(leaf, x.Ref) and isinstance(column[0], str):
                self.w.locals[leaf.name] = self._text(column)
        memo: dict[Expr, Expr] = {}
        return [map_expr(root, lambda e: named.get(e, e), memo) for root in first.roots]

    def _column(self, leaves: Sequence[Expr]) -> _Column:
        """What stands where one turn has a variable or a number."""
        cells = [self.shapes.cell(leaf) for leaf in leaves if isinstance(leaf, x.Ref)]
        if not cells:
            return None, tuple(leaves)
        return cells[0][0] if cells[0] is not None else None, tuple(cell[1] for cell in cells if cell is not None)

    def _name(self, leaf: Expr, column: _Column) -> x.Ref:
        known = self._names.get(column)
        if known is None:
            moves = column[0] in DIRECTIONS
            known = self._names[column] = x.Ref(f"${'rate' if moves else 'turn'}{len(self._names)}", leaf.ty)
            self.w.locals[known.name] = self._text(column)
            if moves and isinstance(self.w, LaneWriter):
                self.w.moves(known.name)
        return known

    def _text(self, column: _Column) -> str:
        known = self._texts.get(column)
        if known is None:
            known = self._texts[column] = self._spelled(column)
        return known

    def _spelled(self, column: _Column) -> str:
        area, values = column
        if area is None:
            name = self.w.fresh("k")
            texts = [spelling.real(e.value) for e in values if isinstance(e, x.Real)]
            rows = (", ".join(texts[k : k + _IN_ROW]) for k in range(0, len(texts), _IN_ROW))
            self.w.put(f"static const double {name}[] = {{", *(f"    {row}," for row in rows), "};")
            return f"{name}[{TURN}]"
        places = [v for v in values if isinstance(v, int)]
        index = _regular(places, self.layout.index(area, places[0]) if isinstance(area, Kind) else str(places[0]))
        if index is None:
            name = self.w.fresh("k")
            self.w.put(*array(name, places)[:-1])
            index = f"{name}[{TURN}]"
        if isinstance(area, Kind):
            return self.layout.spelled(area, index)
        return f"{area}[{index}]" if area else index


def rolled_blocks(loop: LoopWriter, run: Rolled, heads: Sequence[str]) -> None:
    """A loop over assignments; a relation may be forced to stay as it is."""

    def put(k: int, places: Sequence[str], roots: Sequence[Expr]) -> None:
        w, (place, *forced) = loop.w, places
        w.put(f"/* {heads[k]}, ... */")
        text = w.assigned(roots[0])
        w.put(f"{place} = {forced[0]} ? {place} : ({text});" if forced else f"{place} = {text};")

    loop.write(run.statements, run.roll, put)


def _regular(places: Sequence[int], first: str) -> str | None:
    """A place as a function of its turn, where it has one without a table."""
    stride = places[1] - places[0]
    if stride == 0:
        return first if all(place == places[0] for place in places) else None
    if list(places) != list(range(places[0], places[0] + stride * len(places), stride)):
        return None
    factor = TURN if abs(stride) == 1 else f"{abs(stride)} * {TURN}"
    return factor if first == "0" and stride > 0 else f"{first} {'+' if stride > 0 else '-'} {factor}"
