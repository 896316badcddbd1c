"""Functions as values (MLS 12.4.2): handed over as arguments, some of their inputs bound, called through an input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kilohertz.ir import traverse
from kilohertz.ir.expr import Call, Expr, FunctionRef, Ref
from kilohertz.ir.flat import Function, Local
from kilohertz.ir.types import FunctionType, TupleType, Type
from kilohertz.semantics.classes.modifiers import Ctx
from kilohertz.semantics.conversion import coerce, compatible
from kilohertz.semantics.wording import counted
from kilohertz.syntax import tree

if TYPE_CHECKING:
    from kilohertz.semantics.expressions.elaborate import Elaborator


class FunctionValues:
    """Elaborates functions that are handed over, and calls of them."""

    def __init__(self, elaborator: Elaborator) -> None:
        self.elaborator = elaborator
        self._headers: dict[str, Function] = {}  # of functions that are handed over

    def value(self, node: tree.Expr, ctx: Ctx) -> Expr:
        """`f`, or `function f(k = 1)`: a function of a class, or one that an input holds."""
        ref = node.function if isinstance(node, tree.PartialCall) else node
        assert isinstance(ref, tree.Ref)
        if ctx.locals is not None and ref.names[0] in ctx.locals:
            held = ctx.locals[ref.names[0]]
            if not isinstance(held, Ref) or not isinstance(held.ty.base, FunctionType):
                return held
            return self._bound(held.name, held.name, held.ty.base, node, ctx) or held
        function = ctx.view.lookup_class(ref, "function")
        header = self.elaborator.functions.header(function)
        self._headers[header.id] = header
        ty = FunctionType(tuple((x.name, x.ty) for x in header.inputs), tuple(x.ty for x in header.outputs))
        return self._bound(header.id, function.full_name, ty, node, ctx) or FunctionRef(header.id, (), Type(ty))

    def _bound(self, id: str, name: str, ty: FunctionType, node: tree.Expr, ctx: Ctx) -> FunctionRef | None:
        """A function some of whose inputs `node` gives values; None where it gives none."""
        types = dict(ty.inputs)
        bound: dict[str, Expr] = {}
        for input_, value in node.named if isinstance(node, tree.PartialCall) else ():
            if input_ not in types:
                raise self.elaborator.error("S271", f"`{name}` has no input `{input_}`", node, ctx)
            wanted = types[input_]
            names_function = isinstance(wanted.base, FunctionType) and isinstance(value, tree.Ref | tree.PartialCall)
            given = self.value(value, ctx) if names_function else self.elaborator.expr(value, ctx)
            bound[input_] = coerce(given, wanted)
            if not names_function and not compatible(bound[input_].ty, wanted):
                text = f"`{input_}` of `{name}` is {wanted}, not {given.ty}"
                raise self.elaborator.error("S270", text, value, ctx)
        return _with_inputs(id, ty, bound) if bound else None

    def argument(self, wanted: Local, node: tree.Expr, ctx: Ctx) -> Expr | str:
        """The function for an input that takes one, or what is wrong with it.

        What it has besides the inputs it is called with must have defaults; those are bound here.
        """
        function = self.value(node, ctx)
        given, asked = function.ty.base, wanted.ty.base
        if not isinstance(asked, FunctionType):
            return f"needs a value for `{wanted.name}`, not a function"
        if not isinstance(given, FunctionType):
            return f"needs a function for `{wanted.name}`"
        called_with = {name for name, _ in asked.inputs}
        if not called_with <= {name for name, _ in given.inputs}:  # other names: by position
            called_with = {name for name, _ in given.inputs[: len(called_with)]}
        further = [name for name, _ in given.inputs if name not in called_with]
        defaults = self._defaults(function)
        missing = [name for name in further if name not in defaults]
        if missing or len(called_with) < len(asked.inputs):
            needs = counted(len(given.inputs) - len(further) + len(missing), "input")
            return f"calls `{wanted.name}` with {counted(len(asked.inputs), 'input')}; the function given has {needs}"
        if len(given.outputs) < len(asked.outputs):
            return f"needs {counted(len(asked.outputs), 'output')} of the function for `{wanted.name}`"
        wrong = _other_types(given, asked, called_with)
        if wrong:
            return f"{wrong} of the function for `{wanted.name}`"
        if not isinstance(function, FunctionRef) or not further:
            return function
        return _with_inputs(function.function, given, {n: defaults[n] for n in further}, function.bound)

    def _defaults(self, function: Expr) -> dict[str, Expr]:
        """Those that do not use other inputs of the function."""
        header = self._headers.get(function.function) if isinstance(function, FunctionRef) else None
        inputs = header.inputs if header is not None else []
        return {x.name: x.default for x in inputs if x.default is not None and not traverse.refs(x.default)}

    def call(self, function: Expr, node: tree.Call, ctx: Ctx) -> Expr:
        """The call of a function that an input holds."""
        base = function.ty.base
        if not isinstance(function, Ref) or not isinstance(base, FunctionType):
            raise self.elaborator.error("S272", f"`{'.'.join(node.function.names)}` is not a function", node, ctx)
        given = [self.elaborator.expr(a, ctx) for a in node.args]
        named = {n: self.elaborator.expr(a, ctx) for n, a in node.named}
        left = [name for name, _ in base.inputs[len(given) :]]
        if len(given) > len(base.inputs) or set(left) != set(named):
            inputs = ", ".join(name for name, _ in base.inputs)
            message = f"`{function.name}` is called with its inputs {inputs}, not with others"
            raise self.elaborator.error("S270", message, node, ctx)
        given += [named[name] for name in left]
        coerced = tuple(coerce(a, t) for a, (_, t) in zip(given, base.inputs, strict=True))
        ty = base.outputs[0] if len(base.outputs) == 1 else Type(TupleType(base.outputs))
        return Call(function.name, coerced, ty)


def _other_types(given: FunctionType, asked: FunctionType, called_with: set[str]) -> str:
    """What does not fit where a function is called like another; by the names of inputs, or else by position."""
    inputs = dict(asked.inputs)
    called = [x for x in given.inputs if x[0] in called_with]
    for (name, ty), (_, by_position) in zip(called, asked.inputs, strict=True):
        handed_over = inputs.get(name, by_position)
        if not compatible(handed_over, ty):
            return f"has {handed_over} for the input `{name}`, which is {ty},"
    for ty, wanted in zip(given.outputs, asked.outputs, strict=False):
        if not compatible(ty, wanted):
            return f"needs {wanted}, not {ty}, as a result"
    return ""


def _with_inputs(
    function: str, ty: FunctionType, bound: dict[str, Expr], before: tuple[tuple[str, Expr], ...] = ()
) -> FunctionRef:
    open_ = tuple((name, t) for name, t in ty.inputs if name not in bound)
    return FunctionRef(function, (*before, *bound.items()), Type(FunctionType(open_, ty.outputs)))
