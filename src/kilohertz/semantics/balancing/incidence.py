"""Which scalar equation of a Flat model touches which scalar unknown: the structure behind the balance check.

Columns are the scalar elements of all unknowns; a variable and its derivative share a column.  Rows are scalar
equations:

  declaration, equality   one per element; element by element through elementwise operators, products, literal
                          subscripts and array constructors, all elements of an argument elsewhere (calls)
  discrete equality       (Boolean, Integer, ...) touches only the variable it is solved for: the side that is one
  if-equation             row by row the union of its branches
  when-equation           one row per variable it sets
  algorithm               one row per scalar of each variable it assigns, touching that and all it reads

What an equation cannot be solved for (arguments of pre, conditions, discrete unknowns in a Real equation) is left out.
Cost: proportional to the scalarised equations.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from kilohertz.base import InternalError, Origin
from kilohertz.ir.builtins import BUILTINS
from kilohertz.ir.expr import Array, Binary, Builtin, Colon, Expr, IfExp, Index, Int, Range, Record, Ref, Unary
from kilohertz.ir.flat import (
    CONSTANT,
    PARAMETER,
    Algorithm,
    Equality,
    Equation,
    Flat,
    IfEquation,
    TupleTarget,
    Variable,
    WhenEquation,
)
from kilohertz.ir.types import CLOCK, REAL, ExternalObjectType, FunctionType, RecordType, TupleType, Type
from kilohertz.semantics.balancing.equation_parts import assigned_variables, assignments

_HIDING = frozenset(f.name for f in BUILTINS.values() if f.hides)
_MIXING = frozenset(f.name for f in BUILTINS.values() if f.mixes)
_DENSE = 200_000  # entries an algorithm may bring in; above, its rows touch what they assign and nothing else
_TOO_DENSE = 20_000_000  # entries in all; above, the structure is not worth its memory


def scalar_size(ty: Type) -> int:
    """How many scalars a value of this type holds."""
    n = 1
    for d in ty.dims:
        if d is None:
            raise InternalError(f"the size of {ty} is not known")
        n *= d
    match ty.base:
        case RecordType(_, fields):
            return n * sum(scalar_size(t) for _, t in fields)
        case TupleType(elements):
            return n * sum(scalar_size(t) for t in elements)
        case ExternalObjectType() | FunctionType():
            return 0
        case _:
            return n


def is_unknown(variable: Variable) -> bool:
    """To be solved for: neither parameter nor constant, nor an input of the whole model, nor an external object."""
    if variable.variability in (PARAMETER, CONSTANT) or isinstance(variable.ty.base, ExternalObjectType):
        return False
    return variable.causality != "input" or variable.binding is not None


class Columns:
    """Numbers for the scalar elements of the unknowns."""

    def __init__(self, flat: Flat) -> None:
        self.unknowns = [v for v in flat.variables.values() if is_unknown(v)]
        self.offset: dict[str, int] = {}
        self.is_real = bytearray()
        self._starts: list[int] = []
        at = 0
        for variable in self.unknowns:
            n = scalar_size(variable.ty)
            self.offset[variable.name] = at
            self._starts.append(at)
            self.is_real += (b"\x01" if variable.ty.base == REAL.base else b"\x00") * n
            at += n
        self.n = at

    def variable(self, column: int) -> Variable:
        return self.unknowns[bisect_right(self._starts, column) - 1]

    def name(self, column: int) -> str:
        """`x`, or `x[2,1]` for an element."""
        variable = self.variable(column)
        rest = column - self.offset[variable.name]
        subs: list[str] = []
        for d in reversed(variable.ty.dims):
            rest, k = divmod(rest, d or 1)
            subs.append(str(k + 1))
        return f"{variable.name}[{','.join(reversed(subs))}]" if subs else variable.name

    def of_variable(self, name: str, ty: Type) -> range:
        start = self.offset.get(name)
        return range(0) if start is None else range(start, start + scalar_size(ty))

    def occurring(self, expressions: Iterable[Expr]) -> set[int]:
        """All columns that occur, by element where subscripts are literal."""
        offset = self.offset
        columns: set[int] = set()
        seen: set[Expr] = set()
        stack = list(expressions)
        while stack:
            e = stack.pop()
            if isinstance(e, Ref):
                start = offset.get(e.name)
                if start is not None:
                    if e.ty.dims:
                        columns.update(range(start, start + scalar_size(e.ty)))
                    else:
                        columns.add(start)
                continue
            if isinstance(e, Builtin) and e.name in _HIDING:
                continue
            if e in seen:
                continue
            seen.add(e)
            if isinstance(e, IfExp):
                stack += (e.then, e.otherwise)
                continue
            if isinstance(e, Index) and isinstance(e.base, Ref):
                start = offset.get(e.base.name)
                positions = _positions(e)
                if positions is not None:
                    if start is not None:
                        columns.update(start + p for p in positions)
                    continue
            stack += e.children()
        return columns


@dataclass(slots=True)
class System:
    """Rows of scalar equations over columns of scalar unknowns; each row knows whose it is."""

    columns: Columns
    rows: list[list[int]] = field(default_factory=list)
    owner_of: list[int] = field(default_factory=list)
    owners: list[Origin] = field(default_factory=list)
    uneven: list[tuple[IfEquation, list[int]]] = field(default_factory=list)  # branches of different counts
    complete: bool = True  # False where rows were left empty because the structure is too dense


def incidence(flat: Flat) -> System:
    """The structure of all equations, declarations with a binding and algorithms of a model."""
    system = System(Columns(flat))
    reader = _Reader(system)
    for variable in system.columns.unknowns:
        if variable.binding is not None:
            whole = Ref(variable.name, variable.ty)
            _add_rows(system, reader.equality(whole, variable.binding), variable.origin)
    for equation in flat.equations:
        _add_rows(system, reader.equation(equation), equation.origin)
    for algorithm in flat.algorithms:
        _add_rows(system, reader.algorithm(algorithm), algorithm.origin)
    return system


def _add_rows(system: System, rows: list[list[int]], origin: Origin) -> None:
    if rows:
        system.rows += rows
        system.owner_of += [len(system.owners)] * len(rows)
        system.owners.append(origin)


_Mapping: TypeAlias = Sequence[int] | None
# An expression, which of its elements are looked at (None: all, in order), and by which rows (None: all, in order).
_View: TypeAlias = tuple[Expr, _Mapping, _Mapping]


class _Reader:
    def __init__(self, system: System) -> None:
        self._system = system
        self._columns = system.columns
        self._entries = 0

    # ------------------------------------------------------------------------------------------------------- equations

    def equation(self, equation: Equation) -> list[list[int]]:
        match equation:
            case Equality(left, right):
                return self.equality(left, right)
            case IfEquation():
                return self._if(equation)
            case WhenEquation(branches):
                if branches and branches[0][0].ty.base == CLOCK.base:
                    return [row for e in branches[0][1] for row in self.equation(e)]
                return self._when(e for _, body in branches for e in body)
            case _:
                return []

    def equality(self, left: Expr | TupleTarget, right: Expr) -> list[list[int]]:
        if isinstance(left, TupleTarget):
            reads = self._columns.occurring((right,))
            return [row for e in left.elements if e is not None for row in self._rows([e], e.ty, reads)]
        if isinstance(left.ty.base, ExternalObjectType):
            return []  # the same object under another name
        ty = left.ty if None not in left.ty.dims else right.ty
        return self._rows([left, right], ty, set())

    def _rows(self, sides: list[Expr], ty: Type, more: set[int]) -> list[list[int]]:
        """Rows of an equality of the sides, `more` being touched by each."""
        if isinstance(ty.base, RecordType):
            return self._record_rows(sides, ty, ty.base, more)
        real = ty.base == REAL.base
        if not real and any(_is_variable(e) for e in sides):
            sides, more = [e for e in sides if _is_variable(e)], set()
        if not ty.dims:
            return [self._solvable(self._columns.occurring(sides) | more, real)]
        n = scalar_size(ty)
        rows: list[set[int]] = [set() for _ in range(n)]
        common = set(more)
        for side in sides:
            self._spread(side, rows, common)
        if not self._affordable(n * len(common)):
            common = set()
        return [self._solvable(row | common if common else row, real) for row in rows]

    def _record_rows(self, sides: list[Expr], ty: Type, base: RecordType, more: set[int]) -> list[list[int]]:
        """Element by element and field by field of the sides that show them; the others are touched everywhere."""
        shape = Array if ty.dims else Record
        shown = [e for e in sides if isinstance(e, shape)]
        hidden = more | self._columns.occurring(e for e in sides if not isinstance(e, shape))
        if not shown:
            n = scalar_size(ty)
            touched = sorted(hidden) if self._affordable(n * len(hidden)) else []
            return [touched[:] for _ in range(n)]
        if ty.dims:
            inner = [(k, ty.element()) for k in range(ty.dims[0] or 0)]
        else:
            inner = [(k, field_type) for k, (_, field_type) in enumerate(base.fields)]
        return [row for k, part in inner for row in self._rows([e.children()[k] for e in shown], part, hidden)]

    def _affordable(self, entries: int) -> bool:
        self._entries += entries
        if self._entries > _TOO_DENSE:
            self._system.complete = False
        return self._system.complete

    def _solvable(self, touched: set[int], real: bool) -> list[int]:
        is_real = self._columns.is_real
        return sorted(c for c in touched if is_real[c] == real)

    def _if(self, equation: IfEquation) -> list[list[int]]:
        bodies = [body for _, body in equation.branches] + [equation.otherwise]
        by_branch = [[row for e in body for row in self.equation(e)] for body in bodies]
        counts = [len(rows) for rows in by_branch]
        if len(set(counts)) > 1:
            self._system.uneven.append((equation, counts))
        return [
            sorted({c for rows in by_branch if k < len(rows) for c in rows[k]})  # as many as the longest branch has
            for k in range(max(counts))
        ]

    def _when(self, body: Iterable[Equation]) -> list[list[int]]:
        """One row per scalar that the branches set between them."""
        targets: dict[int, None] = {}
        rows: list[list[int]] = []
        pending = list(body)[::-1]
        while pending:
            match pending.pop():
                case Equality(left, right) as equality:
                    columns = self._targets(left)
                    if columns is None:
                        rows += self.equality(left, right)
                    elif not columns:
                        rows += [[] for _ in range(_size_of(equality))]
                    targets.update(dict.fromkeys(columns or ()))
                case IfEquation(branches, otherwise):
                    pending += [e for _, part in branches for e in part] + otherwise
                case _:
                    pass
        return rows + [[c] for c in targets]

    def _targets(self, left: Expr | TupleTarget) -> list[int] | None:
        """Columns of the variables on a left-hand side; None where it is more than variables."""
        parts = [e for e in left.elements if e is not None] if isinstance(left, TupleTarget) else [left]
        if not all(_is_variable(part) for part in parts):
            return None
        return sorted(self._columns.occurring(parts))

    # ------------------------------------------------------------------------------------------------------ algorithms

    def algorithm(self, algorithm: Algorithm) -> list[list[int]]:
        assigned: dict[int, None] = {}
        strange: dict[str, int] = {}  # assigned though no unknown: equations all the same
        reads: list[Expr] = []
        for target, value in assignments(algorithm.statements):
            reads.append(value)
            for name, ty in assigned_variables(target):
                columns = self._columns.of_variable(name, ty)
                assigned.update(dict.fromkeys(columns))
                if name not in self._columns.offset:
                    strange[name] = scalar_size(ty)
        read = self._columns.occurring(reads) - assigned.keys()
        more = self._solvable(read, True) if len(read) * len(assigned) <= _DENSE else []
        is_real = self._columns.is_real
        return [[c, *more] if is_real[c] else [c] for c in assigned] + [[] for _ in range(sum(strange.values()))]

    # ----------------------------------------------------------------------------------------------------- expressions

    def _spread(self, expression: Expr, rows: list[set[int]], common: set[int]) -> None:
        """Add the columns of an array-valued expression to the rows of its elements, or where it is not known which
        belong to which, to those of all (`common`)."""
        stack: list[_View] = [(expression, None, None)]
        seen: dict[tuple[Expr, int, int], _View] = {}  # keeps the views alive, so that their ids stay theirs
        while stack:
            view = stack.pop()
            e, mapping, only = view
            key = (e, id(mapping), id(only))
            if key in seen:
                continue
            seen[key] = view
            if isinstance(e, Builtin) and e.name in _HIDING:
                continue
            if isinstance(e, Ref) and e.ty.dims:
                self._spread_ref(e.name, mapping, only, rows)
                continue
            further = None if e.ty.is_scalar else _inside(e, mapping, only, len(rows))
            if further is not None:
                stack += further
            elif only is None:
                common |= self._columns.occurring((e,))
            else:
                touched = self._columns.occurring((e,))
                for row in only:
                    rows[row] |= touched

    def _spread_ref(self, name: str, mapping: _Mapping, only: _Mapping, rows: list[set[int]]) -> None:
        start = self._columns.offset.get(name)
        if start is None:
            return
        which = range(len(rows)) if only is None else only
        if mapping is None:
            for k, row in enumerate(which):
                rows[row].add(start + k)
        else:
            for k, row in enumerate(which):
                rows[row].add(start + mapping[k])


# -------------------------------------------------------------------------------------------- positions within arrays


def _inside(e: Expr, mapping: _Mapping, only: _Mapping, n_rows: int) -> Iterable[_View] | None:
    """What an array-valued expression looks at, element by element; None where that is not known."""
    match e:
        case Unary(_, operand):
            return [(operand, mapping, only)]
        case Binary("*", left, right) if left.ty.dims and right.ty.dims:
            return _product(left, right, mapping, only, n_rows)
        case Binary(op, left, right) if op != "^" or left.ty.is_scalar:
            return [(left, mapping, only), (right, mapping, only)]
        case IfExp(_, then, otherwise):
            return [(then, mapping, only), (otherwise, mapping, only)]
        case Builtin("transpose", (arg,)):
            return [(arg, _composed(_transposition(arg.ty), mapping), only)]
        case Builtin(name, args) if name not in _MIXING and all(a.ty.is_scalar or a.ty.dims == e.ty.dims for a in args):
            return [(a, mapping, only) for a in args]
        case Array(elements) if elements:
            return _by_element(elements, mapping, only, n_rows)
        case Index(base) if (positions := _positions(e)) is not None:
            return [(base, _composed(positions, mapping), only)]
        case _:
            return None


def _product(left: Expr, right: Expr, mapping: _Mapping, only: _Mapping, n_rows: int) -> list[_View]:
    """Matrix and vector products: each element looks at a row of the left and a column of the right."""
    inner = right.ty.dims[0] or 0
    width = (right.ty.dims[1] or 0) if len(right.ty.dims) == 2 else 1
    which: Sequence[int] = range(n_rows) if only is None else only
    rows: list[int] = []
    in_left: list[int] = []
    in_right: list[int] = []
    for k, row in enumerate(which):
        i, j = divmod(k if mapping is None else mapping[k], width)
        for m in range(inner):
            rows.append(row)
            in_left.append(i * inner + m)
            in_right.append(m * width + j)
    return [(left, in_left, rows), (right, in_right, rows)]


def _by_element(elements: tuple[Expr, ...], mapping: _Mapping, only: _Mapping, n_rows: int) -> Iterator[_View]:
    """The elements of an array constructor, each with the rows that look at it."""
    size = scalar_size(elements[0].ty)
    if size == 0:
        return
    which: Sequence[int] = range(n_rows) if only is None else only
    wanted: list[tuple[list[int], list[int]]] = [([], []) for _ in elements]  # positions inside, rows
    for k, row in enumerate(which):
        element, inside = divmod(k if mapping is None else mapping[k], size)
        wanted[element][0].append(inside)
        wanted[element][1].append(row)
    for e, (inside_of, rows) in zip(elements, wanted, strict=True):
        if rows:
            yield e, inside_of, rows


def _composed(inner: Sequence[int], outer: _Mapping) -> Sequence[int]:
    return inner if outer is None else [inner[k] for k in outer]


def _transposition(ty: Type) -> list[int]:
    n, m = ty.dims[0] or 0, ty.dims[1] or 0
    return [i * m + j for j in range(m) for i in range(n)]


def _positions(index: Index) -> list[int] | None:
    """For each element of the result its position in the base; None where a subscript is not known."""
    dims = index.base.ty.dims
    positions = [0]
    for k, d in enumerate(dims):
        if d is None:
            return None
        chosen = _chosen(index.subs[k], d) if k < len(index.subs) else range(d)
        if chosen is None:
            return None
        positions = [p * d + c for p in positions for c in chosen]
    return positions


def _chosen(sub: Expr, d: int) -> Sequence[int] | None:
    """What a subscript selects, counted from zero; None where it is not literal or lies outside."""
    match sub:
        case Int(value):
            values: Sequence[int] = (value - 1,)
        case Colon():
            return range(d)
        case Range(Int(first), None, Int(last)):
            values = range(first - 1, last)
        case Range(Int(first), Int(step), Int(last)) if step:
            values = range(first - 1, last if step > 0 else last - 2, step)
        case Array(elements) if all(isinstance(e, Int) for e in elements):
            values = [e.value - 1 for e in elements if isinstance(e, Int)]
        case _:
            return None
    return values if all(0 <= v < d for v in values) else None


# ------------------------------------------------------------------------------------------------------ variables


def _is_variable(e: Expr) -> bool:
    """A variable, an element or part of one, or an array or record of such."""
    match e:
        case Ref() | Index(Ref()):
            return True
        case Array(parts) | Record(parts):
            return all(_is_variable(part) for part in parts)
        case _:
            return False


def _size_of(equality: Equality) -> int:
    if isinstance(equality.left, TupleTarget):
        return sum(scalar_size(e.ty) for e in equality.left.elements if e is not None)
    return scalar_size(equality.left.ty)
