"""Stream connectors: what inStream and actualStream stand for, and the equations of outside connectors (MLS 15).

In a connection set with inside members m_j and outside members c_k, what flows towards the inside member m_i mixes

                     Σ_{j≠i} w(-m_j.flow)·m_j.h  +  Σ_k w(c_k.flow)·inStream(c_k.h)
  inStream(m_i.h) =  --------------------------------------------------------------        w(v) = max(v, ε)
                     Σ_{j≠i} w(-m_j.flow)        +  Σ_k w(c_k.flow)

where ε keeps the quotient defined when nothing flows (MLS 15.2); the outflow of an outside member c_q is the same
mixture without c_q.  A member that can never feed the mixture (inside with flow.min >= 0, outside with flow.max <= 0)
has no term.  One term is its own value; two inside members see each other; a member alone sees itself.  inStream of an
outside member is that of the set one level up, where the same connector is inside; at the top level it is itself.

Stream arrays (`Xi_outflow[2]`) are mixed whole.  Expressions are made when asked for, once each.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kilohertz.base import InternalError
from kilohertz.ir.expr import Binary, Builtin, Expr, IfExp, Real, Unary
from kilohertz.ir.flat import Equality
from kilohertz.ir.types import BOOLEAN, REAL, Type
from kilohertz.semantics.connecting.connect_sets import ConnectionSet, Leaf, Member, long_sum, zero

FLOW_EPSILON = 1e-7  # the ε above, in units of the flow variable


@dataclass(frozen=True, slots=True)
class StreamVariable:
    """A stream variable of a connector instance, the one flow variable of that connector, and its bounds."""

    leaf: Leaf
    flow: Leaf
    flow_min: float = -math.inf
    flow_max: float = math.inf


class StreamTable:
    """inStream and actualStream of every stream variable of a model, by name; `equations` of the outside connectors."""

    def __init__(
        self,
        stream_sets: Iterable[ConnectionSet],
        variables: Mapping[str, StreamVariable],
        epsilon: float = FLOW_EPSILON,
    ) -> None:
        self._variables = variables
        self._epsilon = Real(epsilon)
        self._set_of: dict[str, ConnectionSet] = {}  # by inside member
        self._known: dict[str, Expr] = {}
        self._done: set[str] = set()
        sets = list(stream_sets)
        for one in sets:
            for member in one.members:
                if not member.outside:
                    self._set_of[member.leaf.name] = one
        self.equations: list[Equality] = [e for one in sets for e in self._outside_equations(one)]

    def in_stream(self, name: str) -> Expr:
        """What `inStream(name)` stands for."""
        pending = [name]
        while pending:  # first the outside members of its set, each one level further up
            want = pending[-1]
            if want not in self._known:
                self._known[want] = self._variable(want).leaf.ref  # what a connector that feeds itself would see
                missing = [m.leaf.name for m in self._outside_of(want) if m.leaf.name not in self._known]
                if missing:
                    pending += missing
                    continue
            pending.pop()
            if want not in self._done:
                self._done.add(want)
                self._known[want] = self._inside(want)
        return self._known[name]

    def actual_stream(self, name: str) -> Expr:
        """What `actualStream(name)` stands for: the value that passes the connector, by the sign of its flow."""
        variable = self._variable(name)
        inflow = Binary(">", variable.flow.ref, Real(0.0), BOOLEAN)
        return IfExp(inflow, self.in_stream(name), variable.leaf.ref)

    def _variable(self, name: str) -> StreamVariable:
        variable = self._variables.get(name)
        if variable is None:
            raise InternalError(f"stream variable {name} is not in the table")
        return variable

    def _outside_of(self, name: str) -> list[Member]:
        one = self._set_of.get(name)
        return [m for m in one.members if m.outside] if one is not None else []

    def _inside(self, name: str) -> Expr:
        variable = self._variable(name)
        ref = variable.leaf.ref
        if name not in self._set_of or 0 in variable.leaf.ty.dims:
            return ref
        others = [m for m in self._set_of[name].members if m.outside or m.leaf.name != name]
        if len(others) == 1:
            return self._value(others[0])
        return self._mixture(others, variable.leaf.ty) or ref

    def _outside_equations(self, one: ConnectionSet) -> list[Equality]:
        equations: list[Equality] = []
        for member in one.members:
            if not member.outside or 0 in member.leaf.ty.dims:
                continue
            others = [m for m in one.members if m is not member]
            if len(others) == 1:
                value = self._value(others[0])
            else:
                value = self._mixture(others, member.leaf.ty) or zero(member.leaf.ty)  # nothing ever leaves here
            equations.append(Equality(member.leaf.ref, value, one.origin.touched("stream")))
        return equations

    def _value(self, member: Member) -> Expr:
        return self.in_stream(member.leaf.name) if member.outside else member.leaf.ref

    def _mixture(self, members: list[Member], ty: Type) -> Expr | None:
        """The weighted mean of what the members may feed in; None where none ever does."""
        feeding = [m for m in members if self._may_feed(m)]
        if len(feeding) < 2:
            return self._value(feeding[0]) if feeding else None
        times, over = ("*", "/") if ty.is_scalar else (".*", "./")
        weights = [self._weight(m) for m in feeding]
        parts = [Binary(times, w, self._value(m), ty) for w, m in zip(weights, feeding, strict=True)]
        return Binary(over, long_sum(parts), long_sum(weights), ty)

    def _may_feed(self, member: Member) -> bool:
        variable = self._variable(member.leaf.name)
        return variable.flow_max > 0 if member.outside else variable.flow_min < 0

    def _weight(self, member: Member) -> Expr:
        flow = self._variable(member.leaf.name).flow.ref
        return Builtin("max", (flow if member.outside else Unary("-", flow), self._epsilon), REAL)
