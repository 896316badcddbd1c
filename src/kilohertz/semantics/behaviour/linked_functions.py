"""Functions that another one names as its derivative or inverse (MLS 12.7.1, 12.8)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kilohertz.ir.flat import DerivativeOf, Function, Inverse
from kilohertz.semantics.classes.nodes import ClassNode
from kilohertz.semantics.wording import counted
from kilohertz.syntax import annotation_entries, tree

Entries = tuple[tree.Argument, ...]
_LEFT_OUT = ("noDerivative", "zeroDerivative")
_FUNCTIONS = ("function", "operator function")


def derivatives(function: Function, node: ClassNode, entries: Entries) -> Iterator[tuple[ClassNode, DerivativeOf]]:
    """What the `derivative` annotations of a function name; wrong ones are refused."""
    for entry in annotation_entries(entries, "derivative"):
        mod = entry.modification
        written = mod.binding if mod is not None else None
        target = node.view.lookup_path(written) if isinstance(written, tree.Ref) else None
        if mod is None or not isinstance(target, ClassNode) or target.kind not in _FUNCTIONS:
            _refuse(f"the `derivative` of `{function.id}` names no function", node)
            continue
        order, none, zero = _conditions(mod, function, node)
        yield target, DerivativeOf(target.full_name, order, none, zero)


def _conditions(
    mod: tree.Modification, function: Function, node: ClassNode
) -> tuple[int, tuple[str, ...], tuple[str, ...]]:
    """The order that a `derivative` annotation tells, and the inputs that it leaves out: no name stands twice."""
    order: int | None = None
    left_out: dict[str, list[str]] = {name: [] for name in _LEFT_OUT}
    for arg in mod.args:
        if not isinstance(arg, tree.ElementModification) or arg.modification is None:
            continue
        name, value = arg.names[0], arg.modification.binding
        if name == "order":
            if order is not None:
                _refuse(f"a derivative of `{function.id}` has two values of `order`", node)
            order = _order(value, function, node)
        elif name in left_out and not isinstance(value, tree.Ref):
            _refuse(f"`{name}` of a derivative of `{function.id}` names no input", node)
        elif name in left_out and isinstance(value, tree.Ref):
            _check_input(value.names[0], function, node, f"`{name}`")
            if any(value.names[0] in names for names in left_out.values()):
                _refuse(f"a derivative of `{function.id}` leaves `{value.names[0]}` out twice", node)
            left_out[name].append(value.names[0])
    none, zero = (tuple(left_out[name]) for name in _LEFT_OUT)
    return order or 1, none, zero


def inverses(
    function: Function, node: ClassNode, entries: Entries, header: Callable[[ClassNode], Function]
) -> Iterator[tuple[ClassNode, Inverse]]:
    """What the `inverse` annotations of a function name; wrong ones are refused."""
    for entry in annotation_entries(entries, "inverse"):
        for arg in entry.modification.args if entry.modification is not None else ():
            if not isinstance(arg, tree.ElementModification) or arg.modification is None:
                continue
            call = arg.modification.binding
            target = node.view.lookup_path(call.function) if isinstance(call, tree.Call) else None
            if not isinstance(call, tree.Call) or not isinstance(target, ClassNode):
                continue
            _check_input(arg.names[0], function, node, "`inverse`")
            if len(function.outputs) != 1:
                n = counted(len(function.outputs), "output")
                _refuse(f"`{function.id}` has {n}; a function with an inverse has one", node)
            named = dict(call.named)
            args = [*call.args, *(named.get(x.name) for x in header(target).inputs[len(call.args) :])]
            names = tuple(a.names[0] for a in args if isinstance(a, tree.Ref))
            yield target, (arg.names[0], target.full_name, names)


def _order(value: tree.Expr | None, function: Function, node: ClassNode) -> int:
    if isinstance(value, tree.Number) and value.value == int(value.value) >= 1:
        return int(value.value)
    _refuse(f"the `order` of a derivative of `{function.id}` is no positive whole number", node)
    return 1


def _check_input(name: str, function: Function, node: ClassNode, word: str) -> None:
    if all(x.name != name for x in function.inputs):
        _refuse(f"{word} names `{name}`, which is no input of `{function.id}`", node)


def _refuse(text: str, node: ClassNode) -> None:
    node.world.refuse("S347", text, node.definition.name_span)
