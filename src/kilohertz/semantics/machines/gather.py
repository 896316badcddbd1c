"""What a model says of its state machines: `initialState`, `transition`, `activeState`, `outer output` (MLS 17.1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kilohertz.base import Origin
from kilohertz.ir.expr import Expr, Ref
from kilohertz.ir.types import BOOLEAN
from kilohertz.semantics.classes.modifiers import Ctx
from kilohertz.semantics.instances import Comp, CompArray
from kilohertz.syntax import tree

if TYPE_CHECKING:
    from kilohertz.semantics.expressions.elaborate import Elaborator

STATEMENTS = ("transition", "initialState")
_OPTIONS = ("immediate", "reset", "synchronize", "priority")


@dataclass(frozen=True, slots=True)
class Transition:
    """From the state with one path to that with another; `scope`: the component that says so."""

    scope: str
    source: str
    target: str
    condition: Expr
    origin: Origin
    immediate: bool = True
    reset: bool = True
    synchronize: bool = False
    priority: int = 1


@dataclass(frozen=True, slots=True)
class OuterOutput:
    """A component sets `variable`, which is declared outside of it; `own`: the variable that is inner for its parts."""

    component: str
    variable: str
    own: str | None


def active_name(state: str) -> str:
    """The variable that says whether a state is active."""
    return f"{state}.$active"


class Machines:
    """Collects what the equations and declarations of a model say."""

    def __init__(self, elaborator: Elaborator) -> None:
        self.elaborator = elaborator
        self.transitions: list[Transition] = []
        self.initial: dict[str, tuple[str, Origin]] = {}  # by state: the component that says so, and where
        self.asked: dict[str, Origin] = {}  # states that activeState asks for
        self.outputs: list[OuterOutput] = []
        self.states: dict[str, None] = {}

    def says(self, call: tree.Call, ctx: Ctx) -> bool:
        """`transition` or `initialState`, unless the model has a function of that name."""
        return call.function.names[0] in STATEMENTS and ctx.view.lookup(call.function.names[0]) is None

    def statement(self, call: tree.Call, ctx: Ctx, origin: Origin) -> None:
        assert ctx.inst is not None
        if call.function.names[0] == "initialState":
            self.initial[self._state(call, 0, ctx).path] = ctx.inst.path, origin
            return
        source, target = self._state(call, 0, ctx), self._state(call, 1, ctx)
        named = dict(call.named)
        condition = call.args[2] if len(call.args) > 2 else named.pop("condition", None)
        if condition is None or not set(named) <= set(_OPTIONS):
            text = "transition(from, to, condition, immediate, reset, synchronize, priority) is what can be said"
            raise self.elaborator.error("S475", text, call, ctx)
        options = dict(zip(_OPTIONS, call.args[3:], strict=False)) | named
        flags = {n: bool(self._constant(options[n], n, ctx)) for n in _OPTIONS[:3] if n in options}
        priority = self._constant(options["priority"], "priority", ctx) if "priority" in options else 1
        expr = self.elaborator.expr(condition, ctx)
        if expr.ty != BOOLEAN or not isinstance(priority, int) or priority < 1:
            raise self.elaborator.error("S475", "a transition needs a Boolean condition and a priority >= 1", call, ctx)
        transition = Transition(ctx.inst.path, source.path, target.path, expr, origin, priority=priority, **flags)
        self.transitions.append(transition)

    def note_states(self, items: Iterable[object], ctx: Ctx) -> None:
        """Which blocks are states, before anything else is known of them."""
        for item in items:
            if isinstance(item, tree.CallEquation) and self.says(item.call, ctx):
                for k in range(2 if item.call.function.names[0] == "transition" else 1):
                    self.states[self._state(item.call, k, ctx).path] = None

    def take_turns(self, one: str, other: str) -> bool:
        """Two variables of states that are never active together, as far as that they stand side by side tells."""
        a, b = (self._state_around(self.elaborator.evaluation.variables.get(name)) for name in (one, other))
        return a is not None and b is not None and a is not b and a.parent is b.parent

    def _state_around(self, comp: Comp | None) -> Comp | None:
        while comp is not None and comp.path not in self.states:
            comp = comp.parent
        return comp

    def active(self, call: tree.Call, ctx: Ctx) -> Ref:
        """activeState(state)."""
        state = self._state(call, 0, ctx)
        self.asked.setdefault(state.path, Origin((ctx.span(call),)))
        return Ref(active_name(state.path), BOOLEAN)

    def outer_output(self, comp: Comp, name: str, decl: tree.Component) -> None:
        """`outer output` in a component: more than one of them may set one variable."""
        inner = comp.child(name)
        if not isinstance(inner, Comp) or not inner.is_primitive:
            return
        variable = comp.inner_child(name) if decl.inner else None
        self.outputs.append(OuterOutput(comp.path, inner.path, variable.path if isinstance(variable, Comp) else None))

    def _constant(self, node: tree.Expr, name: str, ctx: Ctx) -> bool | int:
        value = self.elaborator.evaluation.constant(node, ctx, f"`{name}` of a transition")
        assert isinstance(value, bool | int)
        return value

    def _state(self, call: tree.Call, k: int, ctx: Ctx) -> Comp:
        """The block instance that an argument names."""
        node = call.args[k] if k < len(call.args) else None
        if not isinstance(node, tree.Ref) or ctx.inst is None:
            raise self.elaborator.error("S475", f"`{call.function.names[0]}` needs the name of a block", call, ctx)
        at: Comp | CompArray | None = ctx.inst
        for i, name in enumerate(node.names):
            if not isinstance(at, Comp) or not at.has(name):
                raise self.elaborator.error("S475", f"there is no block `{'.'.join(node.names)}` here", node, ctx)
            at = at.child(name)
            if isinstance(at, CompArray):
                subs = node.subs[i] if node.subs is not None else ()
                chosen = list(self.elaborator.graph.ends.selected(at, subs, node, ctx))
                at = chosen[0] if len(chosen) == 1 else None
        if not isinstance(at, Comp) or at.is_primitive:
            raise self.elaborator.error("S475", f"`{'.'.join(node.names)}` is no block", node, ctx)
        return at
