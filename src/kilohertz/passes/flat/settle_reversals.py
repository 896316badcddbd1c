"""settle-reversals: what `semiLinear` leaves open where nothing flows gets one meaningful value (MLS 3.7.4).

  x = 0;  y = 0;  y = semiLinear(x, a, b)                       ->   x = 0;  y = 0;  a = b
  y = semiLinear(x, a, s);  y = semiLinear(x, s, b)             ->   s = noEvent(if x >= 0 then a else b);
                                                                     y = semiLinear(x, a, b)
  y = semiLinear(x, a, b);  z = semiLinear(-x, b, a)            ->   y = semiLinear(x, a, b);  z = -y

An open port has no flow, and what it would carry is not determined; neither is it between two ports of one connection
in the instant when their flow turns round.  The second rule holds for chains of any length, whose inner links are
variables; the third finds chains through parts that store nothing.  Which variables are zero, or another one with or
without a minus, is found from sums of variables alone: each is looked at again when two of its variables are one, or
one is zero.  `semiLinear(-x, a, b)` is `-semiLinear(x, b, a)`.  Cost: linear in the equations, nothing in models
without `semiLinear`.  Gives up on chains that branch or end in themselves: they stay.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

from kilohertz.base import Origin
from kilohertz.ir import make
from kilohertz.ir.expr import Binary, Builtin, Expr, Ref, Unary
from kilohertz.ir.flat import CONTINUOUS, Equality, Equation, Flat
from kilohertz.ir.types import BOOLEAN, REAL
from kilohertz.passes.contract import Fact, Log, Pass

_MOST_NAMES = 64  # of a sum that is looked at


@dataclass(frozen=True, slots=True)
class SettleReversals(Pass):
    """Values that a flow of zero leaves open are told by the other side."""

    name: ClassVar[str] = "settle-reversals"
    needs: ClassVar[frozenset[Fact]] = frozenset({Fact.FLAT, Fact.SCALAR})
    gives: ClassVar[frozenset[Fact]] = frozenset({Fact.SETTLED})

    def run(self, model: Flat, log: Log) -> Flat:
        if not any(_semi_linear(e) for e in model.equations if isinstance(e, Equality)):
            return model
        names = _Names(model)
        equations = list(model.equations)
        _join_equal(names, equations)
        chains: dict[tuple[str, int, str], list[_Link]] = {}
        for link in _links(names, equations):
            if names.is_zero(link.flow) and (link.carried == "" or names.is_zero(link.carried)):
                equations[link.at] = Equality(link.positive, link.negative, link.origin)
            elif link.carried:
                chains.setdefault((link.carried, link.sign, link.flow), []).append(link)
        for links in chains.values():
            _settle(links, names, equations)
        return replace(model, equations=equations)


class _Link(NamedTuple):
    """`sign * carried = semiLinear(flow, positive, negative)`, an equation at `at`; carried is `""` for zero."""

    at: int
    sign: int
    carried: str
    flow: str
    positive: Expr
    negative: Expr
    origin: Origin


def _semi_linear(e: Equality) -> tuple[int, Builtin, Expr] | None:
    """Sign and call where one side is `semiLinear` or its negative; the other side."""
    if not isinstance(e.left, Expr):
        return None
    for side, other in ((e.right, e.left), (e.left, e.right)):
        inner, sign = _signed(side)
        if isinstance(inner, Builtin) and inner.name == "semiLinear":
            return sign, inner, other
    return None


def _signed(e: Expr) -> tuple[Expr, int]:
    sign = 1
    while isinstance(e, Unary) and e.op == "-":
        e, sign = e.operand, -sign
    return e, sign


def _links(names: _Names, equations: list[Equation]) -> list[_Link]:
    pairs = enumerate(equations)
    return [link for at, e in pairs if isinstance(e, Equality) and (link := _link(at, e, names)) is not None]


def _join_equal(names: _Names, equations: list[Equation]) -> None:
    """Two sides of a part that stores nothing carry the same: the second equation says so without `semiLinear`."""
    seen: dict[tuple[str, Expr, Expr], _Link] = {}
    for link in _links(names, equations):
        first = seen.setdefault((link.flow, names.key(link.positive), names.key(link.negative)), link)
        if first is link or not (link.carried and first.carried) or link.carried == first.carried:
            continue
        sign = first.sign * link.sign
        other = Ref(first.carried, REAL)
        equations[link.at] = Equality(Ref(link.carried, REAL), other if sign > 0 else make.neg(other), link.origin)
        names.add({link.carried: 1, first.carried: -sign})


def _link(at: int, equation: Equality, names: _Names) -> _Link | None:
    found = _semi_linear(equation)
    if found is None:
        return None
    sign, call, other = found
    flow, turned = _signed(call.args[0])
    carried, minus = _signed(other)
    if not isinstance(flow, Ref) or not (isinstance(carried, Ref) or make.is_zero(carried)):
        return None
    root, sign_of_flow = names.root(flow.name)
    positive, negative = call.args[1:]
    sign *= minus
    if turned * sign_of_flow < 0:
        positive, negative, sign = negative, positive, -sign
    name = ""
    if isinstance(carried, Ref):
        name, sign_of_carried = names.root(carried.name)
        sign *= sign_of_carried
    return _Link(at, sign, name, root, positive, negative, equation.origin)


def _settle(links: list[_Link], names: _Names, equations: list[Equation]) -> None:
    """Bring the links of one flow into a chain; the first carries all, the others tell the values between."""
    by_start = {names.key(link.positive): link for link in links}
    ends = {names.key(link.negative) for link in links}
    starts = [k for k in by_start if k not in ends]
    if len(links) < 2 or len(by_start) < len(links) or len(ends) < len(links) or len(starts) != 1:
        return
    chain = [by_start[starts[0]]]
    while (following := by_start.get(names.key(chain[-1].negative))) is not None:
        chain.append(following)
    inner = [link.negative for link in chain[:-1]]
    if len(chain) < len(links) or not all(isinstance(e, Ref) and names.is_variable(e.name) for e in inner):
        return
    first, last = chain[0], chain[-1]
    flow = Ref(first.flow, REAL)
    forward = Binary(">=", flow, make.ZERO, BOOLEAN)
    value: Expr = Builtin("noEvent", (make.if_(forward, first.positive, last.negative),), REAL)
    carried = Ref(first.carried, REAL)
    whole = Builtin("semiLinear", (flow, first.positive, last.negative), REAL)
    equations[first.at] = Equality(carried if first.sign > 0 else make.neg(carried), whole, first.origin)
    for link, name in zip(chain[1:], inner, strict=True):
        equations[link.at] = Equality(name, value, link.origin)
        value = name


class _Names:
    """Variables that sums of variables make zero, equal or opposite: disjoint sets with signs."""

    def __init__(self, flat: Flat) -> None:
        self._variables = flat.variables
        self._parent: dict[str, tuple[str, int]] = {}
        self._members: dict[str, list[str]] = {}
        self._zero: set[str] = set()
        self._sums: list[dict[str, int]] = []
        self._uses: dict[str, list[int]] = {}
        for e in flat.equations:
            terms = self._sum(e) if isinstance(e, Equality) else None
            if terms is not None:
                self.add(terms)

    def add(self, terms: dict[str, int]) -> None:
        """One more sum that is zero, and what follows from it."""
        for name in terms:
            self._uses.setdefault(name, []).append(len(self._sums))
        self._sums.append(terms)
        todo = [len(self._sums) - 1]
        while todo:
            changed = self._look(self._sums[todo.pop()])
            todo += [k for name in changed for k in self._uses.get(name, ())]

    def root(self, name: str) -> tuple[str, int]:
        sign = 1
        while name in self._parent:
            name, s = self._parent[name]
            sign *= s
        return name, sign

    def is_zero(self, name: str) -> bool:
        return self.root(name)[0] in self._zero

    def is_variable(self, name: str) -> bool:
        v = self._variables.get(name)
        return v is not None and v.variability == CONTINUOUS and v.ty == REAL and v.causality != "input"

    def key(self, e: Expr) -> Expr:
        """The expression, by the root of its set where it is a variable: links of a chain meet there."""
        if not isinstance(e, Ref):
            return e
        name, sign = self.root(e.name)
        return Ref(name, REAL) if sign > 0 else make.neg(Ref(name, REAL))

    def _sum(self, e: Equality) -> dict[str, int] | None:
        """Variables with 1 or -1 where the equation says that their sum is zero."""
        if not isinstance(e.left, Expr) or e.left.ty != REAL:
            return None
        terms: dict[str, int] = {}
        stack = [(e.left, 1), (e.right, -1)]
        while stack:
            x, sign = stack.pop()
            match x:
                case Ref(name) if self.is_variable(name):
                    terms[name] = terms.get(name, 0) + sign
                case Unary("-", operand):
                    stack.append((operand, -sign))
                case Binary("+" | "-" as op, left, right):
                    stack += ((left, sign), (right, sign if op == "+" else -sign))
                case _ if not make.is_zero(x):
                    return None
            if len(terms) > _MOST_NAMES:
                return None
        return terms

    def _look(self, terms: dict[str, int]) -> Iterable[str]:
        """What is new by this sum: the members of the sets that it changed."""
        left: dict[str, int] = {}
        for name, factor in terms.items():
            root, sign = self.root(name)
            if root not in self._zero:
                left[root] = left.get(root, 0) + sign * factor
        left = {root: factor for root, factor in left.items() if factor}
        if len(left) == 1:
            (root,) = left
            self._zero.add(root)
            return self._of(root)
        if len(left) == 2 and len({abs(f) for f in left.values()}) == 1:
            a, b = sorted(left, key=lambda root: len(self._of(root)))
            self._parent[a] = (b, -1 if left[a] == left[b] else 1)
            moved = self._of(a)
            self._members[b] = [*self._of(b), *moved]
            return moved
        return ()

    def _of(self, root: str) -> list[str]:
        return self._members.get(root, [root])
