"""What a when-equation sets and does (MLS 8.3.5).

  when c then v = e; reinit(x, f); end when;   ->   v := if g then e else pre(v);   when g: reinit(x, f)

Branches after the first act only where no earlier one does.  Used for the continuous part, where g is the edge of c,
and for clocked partitions, where it is that from the last tick to this one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from kilohertz.base import Diagnostic, ModelError, Note, Origin, Span
from kilohertz.ir import make
from kilohertz.ir.dae import CallEquation, Effect, Equation, Reinit, When, pre_name
from kilohertz.ir.expr import FALSE, TRUE, Array, Call, Expr, Record, Ref
from kilohertz.ir.flat import Assert, Equality, IfEquation, TupleTarget, WhenEquation
from kilohertz.ir.flat import CallEquation as FlatCall
from kilohertz.ir.flat import Equation as FlatEquation
from kilohertz.ir.flat import Reinit as FlatReinit
from kilohertz.ir.flat import Terminate as FlatTerminate

Lower = Callable[[Expr, Origin, bool], Expr]  # with events, or without


@dataclass(slots=True)
class Whens:
    """Lowers when-equations; `equations` and `whens` take what they become."""

    lower: Lower
    equations: list[Equation | CallEquation] = field(default_factory=list)
    whens: list[When] = field(default_factory=list)
    reinitialised: dict[str, Origin] = field(default_factory=dict)  # in which when-equation

    def add(self, e: WhenEquation) -> None:
        taken: Expr = FALSE
        for name in {name for _, body in e.branches for name in _reinitialised(body)}:
            self._claim(name, e.origin)
        values: dict[str, tuple[Ref, Expr, Origin]] = {}
        for condition, body in e.branches:
            guard = self.lower(condition, e.origin, True)
            here = make.and_(guard, make.not_(taken)) if taken is not FALSE else guard
            actions = self._body(body, here, TRUE, values)
            if actions:
                self.whens.append(When(here, tuple(actions), e.origin))
            taken = make.or_(taken, guard)
        for ref, value, origin in values.values():
            self.equations.append(Equation(ref, value, origin, directed=True))

    def _claim(self, name: str, origin: Origin) -> None:
        """A state is set anew by one when-equation only (MLS 8.3.6): of two at one instant nobody knows the last."""
        first = self.reinitialised.setdefault(name, origin)
        if first is not origin:
            said = Diagnostic("B108", f"`{name}` is reinitialised by two when-equations", _span(origin))
            raise ModelError(replace(said, notes=(Note("the other one", _span(first)),)))

    def effect(self, e: Assert | FlatTerminate | FlatCall) -> Effect:
        def lower(x: Expr) -> Expr:
            return self.lower(x, e.origin, False)

        match e:
            case Assert():
                level = () if e.level is None else (e.level,)
                return Effect("assert", (lower(e.condition), lower(e.message), *level), e.origin)
            case FlatTerminate():
                return Effect("terminate", (lower(e.message),), e.origin)
            case FlatCall():
                return Effect("call", (lower(e.call),), e.origin)

    def _body(
        self, body: list[FlatEquation], guard: Expr, condition_around: Expr, values: dict[str, tuple[Ref, Expr, Origin]]
    ) -> list[Reinit | Effect]:
        actions: list[Reinit | Effect] = []
        active = make.and_(guard, condition_around)
        for e in body:
            match e:
                case Equality():
                    self._guarded(e, active, values)
                case IfEquation():
                    outside: Expr = condition_around
                    for c, branch in e.branches:
                        condition = self.lower(c, e.origin, False)
                        actions += self._body(branch, guard, make.and_(outside, condition), values)
                        outside = make.and_(outside, make.not_(condition))
                    actions += self._body(e.otherwise, guard, outside, values)
                case FlatReinit():
                    value = self.lower(e.value, e.origin, False)
                    assert isinstance(e.target, Ref)
                    if condition_around is not TRUE:
                        self.whens.append(When(active, (Reinit(e.target, value, e.origin),), e.origin))
                    else:
                        actions.append(Reinit(e.target, value, e.origin))
                case Assert() | FlatTerminate() | FlatCall():
                    if condition_around is not TRUE:
                        self.whens.append(When(active, (self.effect(e),), e.origin))
                    else:
                        actions.append(self.effect(e))
                case WhenEquation():
                    raise misplaced("a when inside a when", e.origin)
        return actions

    def _guarded(self, e: Equality, active: Expr, values: dict[str, tuple[Ref, Expr, Origin]]) -> None:
        if isinstance(e.left, TupleTarget):
            call = call_equation(e.left, self.lower(e.right, e.origin, False), e.origin)
            self.equations.append(replace(call, guard=active))
            return
        left, right = e.left, e.right
        if not isinstance(left, Ref) and isinstance(right, Ref):
            left, right = right, left
        if not isinstance(left, Ref):
            raise misplaced("an equation in a when must have a variable on its left side", e.origin)
        value = self.lower(right, e.origin, False)
        before = values[left.name][1] if left.name in values else Ref(pre_name(left.name), left.ty)
        values[left.name] = (left, make.if_(active, value, before), e.origin)


def _reinitialised(body: list[FlatEquation]) -> Iterator[str]:
    for e in body:
        if isinstance(e, FlatReinit):
            assert isinstance(e.target, Ref)
            yield e.target.name
        elif isinstance(e, IfEquation):
            for branch in (*(b for _, b in e.branches), e.otherwise):
                yield from _reinitialised(branch)


def call_equation(target: TupleTarget, call: Expr, origin: Origin) -> CallEquation:
    """The results of a call, scalar by scalar."""
    assert isinstance(call, Call)
    return CallEquation(tuple(tuple(scalars(t)) if t is not None else () for t in target.elements), call, origin)


def scalars(e: Expr) -> list[Ref]:
    """The variables that a target consists of."""
    if isinstance(e, (Array, Record)):
        return [s for c in e.children() for s in scalars(c)]
    assert isinstance(e, Ref)
    return [e]


def misplaced(text: str, origin: Origin) -> ModelError:
    """What has no meaning where it stands."""
    return ModelError(Diagnostic("B103", text, _span(origin)))


def _span(origin: Origin) -> Span | None:
    return origin.spans[0] if origin.spans else None
