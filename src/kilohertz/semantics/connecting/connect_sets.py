"""Connection sets and their equations (MLS 9.1, 9.2).

The elaborator expands every `connect` to pairs of leaves (primitive variables of the two connectors); here they become
sets and equations:

  potential   `a = b` for every connection that joins two sets: n - 1 equations for n members, as the user wrote them
  flow        `a + b - c = 0`, inside members positive, outside ones negative; alone as inside: `a = 0`
  parameter   an assertion of equality, no equation
  stream      no equation here: the sets are handed to `streams.py`

A member of a set is a variable *and* its side: the same connector is outside in its own component and inside one level
up, and takes part in two sets.  Arrays stay whole unless single elements of them are connected apart; then every array
joined with such a one is taken element by element.  Cost: near-linear in the number of leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from kilohertz.base import Diagnostic, Note, Origin
from kilohertz.graphs.unionfind import UnionFind
from kilohertz.ir.expr import TRUE, Binary, Builtin, Expr, Index, Int, Real, Ref, Str
from kilohertz.ir.flat import Assert, Equality
from kilohertz.ir.types import BOOLEAN, EnumType, RecordType, Type

POTENTIAL, FLOW, STREAM, PARAMETER = "potential", "flow", "stream", "parameter"

_CHAIN = 32  # longer sums become a tree of chains, so that nobody recurses deeply along them


@dataclass(frozen=True, slots=True)
class Leaf:
    """One primitive variable of a connector: a whole flat variable, or an element of one (then `ref` is an Index)."""

    name: str
    ty: Type
    kind: str  # POTENTIAL, FLOW, STREAM or PARAMETER
    ref: Expr
    causality: str = ""  # input or output: lets `two sources in one set` be found here; empty where it does not matter

    @staticmethod
    def of(name: str, ty: Type, kind: str, causality: str = "") -> Leaf:
        """The leaf of a whole flat variable."""
        return Leaf(name, ty, kind, Ref(name, ty), causality)


@dataclass(frozen=True, slots=True)
class Connection:
    """One connect between two scalar connectors: `left[i]` belongs to `right[i]`.  Outside as in MLS 9.1.2."""

    left: tuple[Leaf, ...]
    right: tuple[Leaf, ...]
    left_outside: bool
    right_outside: bool
    origin: Origin


@dataclass(frozen=True, slots=True)
class FlowLeaf:
    """A flow variable of some connector instance; zero unless some connection has it as an inside member.

    In a bus (`in_bus`) it may come from outside alone: then it is zero too unless it is connected as an outside member.
    """

    leaf: Leaf
    origin: Origin = Origin()  # where the connector is declared
    in_bus: bool = False


@dataclass(frozen=True, slots=True)
class Member:
    """A leaf in a connection set, and on which side of its connector the set lies."""

    leaf: Leaf
    outside: bool


@dataclass(frozen=True, slots=True)
class ConnectionSet:
    """Members in the order in which connections brought them in; the origin holds the spans of all of these."""

    members: tuple[Member, ...]
    origin: Origin


@dataclass(frozen=True, slots=True)
class ConnectResult:
    """What all connections of a model come to."""

    equations: list[Equality]
    asserts: list[Assert]
    stream_sets: tuple[ConnectionSet, ...]
    diagnostics: tuple[Diagnostic, ...]


def connection_equations(
    connections: Sequence[Connection],
    flow_leaves: Iterable[FlowLeaf],
    take_turns: Callable[[str, str], bool] = lambda a, b: False,
) -> ConnectResult:
    """Sets, equations and assertions of all connections of a model; deterministic in the order of its arguments.
    Two sources that `take_turns` (outputs of states of one state machine) may meet."""
    flow_leaves = list(flow_leaves)
    split = _arrays_to_split(connections, flow_leaves)
    sets = _Sets(take_turns)
    for connection in connections:
        sets.connect(connection, split)
    flows, streams = sets.collected()
    equations = sets.equations + [e for s in flows if (e := _flow_sum(s)) is not None]
    for flow in flow_leaves:
        for leaf in _elements(flow.leaf, split):
            connected = sets.has(leaf, outside=False) and (not flow.in_bus or sets.has(leaf, outside=True))
            if not connected and 0 not in leaf.ty.dims:
                equations.append(Equality(leaf.ref, zero(leaf.ty), flow.origin))
    return ConnectResult(equations, sets.asserts, tuple(streams), tuple(sets.diagnostics))


# ---------------------------------------------------------------------------------------------------- forming the sets


class _Sets:
    """Members numbered as they come, joined by union-find."""

    def __init__(self, take_turns: Callable[[str, str], bool]) -> None:
        self._take_turns = take_turns
        self.equations: list[Equality] = []
        self.asserts: list[Assert] = []
        self.diagnostics: list[Diagnostic] = []
        self._number: dict[tuple[_Key, bool], int] = {}
        self._members: list[Member] = []
        self._origins: list[list[Origin]] = []  # by member
        self._sets = UnionFind()
        self._sources: dict[int, tuple[Leaf, Origin]] = {}  # by set: its causal source

    def connect(self, connection: Connection, split: frozenset[str]) -> None:
        for left, right in zip(connection.left, connection.right, strict=True):
            problem = _mismatch(left, right, connection.origin)
            if problem is not None:
                self.diagnostics.append(problem)
                continue
            pairs = zip(_elements(left, split), _elements(right, split), strict=True)
            for a, b in pairs:
                self._join(a, b, connection)

    def _join(self, left: Leaf, right: Leaf, connection: Connection) -> None:
        origin = connection.origin
        a = self._member(left, connection.left_outside, origin)
        b = self._member(right, connection.right_outside, origin)
        sources = [s for s in (self._source(a, origin), self._source(b, origin)) if s is not None]
        if not self._sets.union(a, b):
            return
        if sources:
            self._sources[self._sets.find(a)] = sources[0]
        if 0 in left.ty.dims:
            return
        match left.kind:
            case "potential":
                if len(sources) == 2 and not self._take_turns(sources[0][0].name, sources[1][0].name):
                    self.diagnostics.append(_two_sources(sources[0], sources[1], origin))
                if _is_source(self._members[a]) and not _is_source(self._members[b]):
                    left, right = right, left
                self.equations.append(Equality(left.ref, right.ref, origin))
            case "parameter":
                self.asserts.append(_assert_equal(left, right, origin))
            case _:
                pass  # flow and stream sets are taken up when they are complete

    def _member(self, leaf: Leaf, outside: bool, origin: Origin) -> int:
        key = (_key(leaf), outside)
        number = self._number.get(key)
        if number is None:
            number = self._number[key] = self._sets.add()
            self._members.append(Member(leaf, outside))
            self._origins.append([origin])
        else:
            self._origins[number].append(origin)
        return number

    def _source(self, member: int, origin: Origin) -> tuple[Leaf, Origin] | None:
        if _is_source(self._members[member]):
            return self._sources.setdefault(self._sets.find(member), (self._members[member].leaf, origin))
        return self._sources.get(self._sets.find(member))

    def has(self, leaf: Leaf, outside: bool) -> bool:
        return (_key(leaf), outside) in self._number

    def collected(self) -> tuple[list[ConnectionSet], list[ConnectionSet]]:
        """The flow sets and the stream sets, each in order of first appearance."""
        flows: list[ConnectionSet] = []
        streams: list[ConnectionSet] = []
        for group in self._sets.groups():
            kind = self._members[group[0]].leaf.kind
            if kind in (FLOW, STREAM):
                origin = _joined([o for member in group for o in self._origins[member]])
                one = ConnectionSet(tuple(self._members[m] for m in group), origin)
                (flows if kind == FLOW else streams).append(one)
        return flows, streams


_Key = tuple[str, tuple[int, ...]]  # flat variable and literal subscripts


def _key(leaf: Leaf) -> _Key:
    match leaf.ref:
        case Index(Ref(base), subs) if all(isinstance(s, Int) for s in subs):
            return base, tuple(s.value for s in subs if isinstance(s, Int))
        case _:
            return leaf.name, ()


def _joined(origins: list[Origin]) -> Origin:
    spans = dict.fromkeys(span for origin in origins for span in origin.spans)
    return Origin(tuple(spans), origins[0].path, origins[0].passes)


def _is_source(member: Member) -> bool:
    """Does the value of a causal set come from here: an inside output or an outside input (MLS 9.3)."""
    return member.leaf.causality == ("input" if member.outside else "output")


# ----------------------------------------------------------------------------------------------------- arrays, elements


def _arrays_to_split(connections: Sequence[Connection], flow_leaves: list[FlowLeaf]) -> frozenset[str]:
    """Arrays that are connected both whole (or by rows) and by elements, and all arrays joined with them."""
    depths: dict[str, set[int]] = {}
    for leaf in (leaf for c in connections for side in (c.left, c.right) for leaf in side):
        base, subs = _key(leaf)
        if subs or leaf.ty.dims:
            depths.setdefault(base, set()).add(len(subs))
    for flow in flow_leaves:
        base, subs = _key(flow.leaf)
        if base in depths:
            depths[base].add(len(subs))
    mixed = [base for base, numbers in depths.items() if len(numbers) > 1]
    if not mixed:
        return frozenset()
    neighbours: dict[str, list[str]] = {}
    for connection in connections:
        for left, right in zip(connection.left, connection.right, strict=True):
            if left.ty.dims:
                a, b = _key(left)[0], _key(right)[0]
                neighbours.setdefault(a, []).append(b)
                neighbours.setdefault(b, []).append(a)
    split = set(mixed)
    while mixed:
        for base in neighbours.get(mixed.pop(), ()):
            if base not in split:
                split.add(base)
                mixed.append(base)
    return frozenset(split)


def _elements(leaf: Leaf, split: frozenset[str]) -> Iterator[Leaf]:
    """The leaf itself, or its scalar elements where its array has to be split."""
    base, subs = _key(leaf)
    if base not in split or not leaf.ty.dims:
        yield leaf
        return
    array = leaf.ref.base if isinstance(leaf.ref, Index) else leaf.ref
    scalar = leaf.ty.scalar()
    for rest in product(*(range(1, (d or 0) + 1) for d in leaf.ty.dims)):
        whole = subs + rest
        name = f"{base}[{', '.join(map(str, whole))}]"
        yield Leaf(name, scalar, leaf.kind, Index(array, tuple(map(Int, whole)), scalar), leaf.causality)


# ------------------------------------------------------------------------------------------------------------ equations


def zero(ty: Type) -> Expr:
    """Real zero of a shape."""
    if ty.is_scalar:
        return Real(0.0)
    return Builtin("fill", (Real(0.0), *(Int(d or 0) for d in ty.dims)), ty)


def long_sum(terms: Sequence[Expr]) -> Expr:
    """`a + b + ...` of one shape; a chain, or for many terms a shallow tree of chains."""
    level = list(terms)
    while len(level) > 1:
        level = [_chain(level[at : at + _CHAIN]) for at in range(0, len(level), _CHAIN)]
    return level[0]


def _chain(terms: Sequence[Expr]) -> Expr:
    total = terms[0]
    for term in terms[1:]:
        total = Binary("+", total, term, total.ty)
    return total


def _flow_sum(flows: ConnectionSet) -> Equality | None:
    """`inside - outside = 0`; only outside members: their plain sum, which says the same."""
    ty = flows.members[0].leaf.ty
    if 0 in ty.dims:
        return None
    inside = [m.leaf.ref for m in flows.members if not m.outside]
    outside = [m.leaf.ref for m in flows.members if m.outside]
    if not inside:
        inside, outside = outside, inside
    total = long_sum(inside)
    if len(outside) < _CHAIN:
        for term in outside:
            total = Binary("-", total, term, ty)
    else:
        total = Binary("-", total, long_sum(outside), ty)
    return Equality(total, zero(ty), flows.origin)


def _assert_equal(left: Leaf, right: Leaf, origin: Origin) -> Assert:
    every = frozenset((_key(left)[0], _key(right)[0]))
    tests: list[Expr] = [
        Binary("==", a.ref, b.ref, BOOLEAN)
        for a, b in zip(_elements(left, every), _elements(right, every), strict=True)
    ]
    while len(tests) > 1:
        joined: list[Expr] = [Binary("and", a, b, BOOLEAN) for a, b in zip(tests[::2], tests[1::2], strict=False)]
        tests = joined + tests[len(joined) * 2 :]
    condition = tests[0] if tests else TRUE
    return Assert(condition, Str(f"connected parameters {left.name} and {right.name} differ"), None, origin)


# ---------------------------------------------------------------------------------------------------------- diagnostics


def _mismatch(left: Leaf, right: Leaf, origin: Origin) -> Diagnostic | None:
    span = origin.spans[0] if origin.spans else None
    if left.kind != right.kind:
        text = f"`{left.name}` is a {left.kind} variable, but `{right.name}` a {right.kind} one"
        return Diagnostic("S451", text, span, "cannot be connected")
    same_base = left.ty.base == right.ty.base or _same_shape_base(left.ty, right.ty)
    if same_base and left.ty.dims == right.ty.dims:
        return None
    text = f"`{left.name}` has type {left.ty}, but `{right.name}` has type {right.ty}"
    return Diagnostic("S452", text, span, "cannot be connected")


def _same_shape_base(left: Type, right: Type) -> bool:
    """Types may be equal under two names: enumerations by their literals, records by their fields (MLS 6.3)."""
    match left.base, right.base:
        case EnumType(_, a), EnumType(_, b):
            return a == b
        case RecordType(_, a_fields), RecordType(_, b_fields):
            return a_fields == b_fields
        case _:
            return False


def _two_sources(first: tuple[Leaf, Origin], second: tuple[Leaf, Origin], origin: Origin) -> Diagnostic:
    span = origin.spans[0] if origin.spans else None
    text = f"`{first[0].name}` and `{second[0].name}` both set the value of one connection"
    notes = tuple(
        Note(f"`{leaf.name}` is connected here", o.spans[0]) for leaf, o in (first, second) if o.spans and o != origin
    )
    return Diagnostic("S453", text, span, "two sources meet here", notes)
