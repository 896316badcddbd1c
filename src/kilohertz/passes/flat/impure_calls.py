"""Impure calls, each made as often as it is written; part of scalarise.

Equal expressions are one object, so two calls of an impure function with the same arguments would be one.  Each gets a
variable of its own, set by a call that stands alone:

  when c then a = f(x) - f(x); end when;
  ->  when c then $part0 = f(x); $part1 = f(x); a = $part0 - $part1; end when;

and likewise in a statement of a function that has such a call twice.  What stands in a branch of an if-expression or
behind `and` and `or` stays there: it is not made in any case.  Calls in algorithms of a model are no matter of this:
those become functions (`outline.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace

from kilohertz.ir import traverse
from kilohertz.ir.expr import Binary, Call, Comprehension, Expr, IfExp, Item, Ref
from kilohertz.ir.flat import Assign, ForStatement, Function, IfStatement, Local, Statement, TupleTarget, WhileStatement
from kilohertz.ir.types import TupleType, Type
from kilohertz.passes.flat.calls import takes_object

Made = tuple[TupleTarget, Call]  # a call alone, and where its results go


def acts(e: Expr, functions: Mapping[str, Function]) -> bool:
    """A call that does something besides its results, which are several: it is made where the when acts only."""
    f = functions.get(e.function) if isinstance(e, Call) else None
    if f is None or not (e.ty.dims or isinstance(e.ty.base, TupleType)):
        return False
    return not f.pure or takes_object(f)


def has_impure(e: Expr, impure: Collection[str]) -> bool:
    """Whether an impure function is called in it."""
    return bool(impure) and any(isinstance(n, Call) and n.function in impure for n in traverse.walk(e))


def taken_apart(e: Expr, impure: Collection[str], variable: Callable[[Type], Ref]) -> tuple[list[Made], Expr]:
    """The impure calls of an expression in the order they are made, and the expression in terms of their results."""
    made: list[Made] = []

    def apart(node: Expr) -> Expr:
        if not has_impure(node, impure):
            return node
        match node:
            case Item(Call() as call, index) if call.function in impure:
                return result(call, index)
            case Call() if node.function in impure:
                return result(node, 0)
            case IfExp(condition, then, otherwise):
                return IfExp(apart(condition), then, otherwise)
            case Binary("and" | "or", left, right):
                return node.rebuilt((apart(left), right))
            case Comprehension():
                return node  # of a function: a loop that makes its calls
        return node.rebuilt(tuple(map(apart, node.children())))

    def result(call: Call, index: int) -> Expr:
        types = call.ty.base.elements if isinstance(call.ty.base, TupleType) else (call.ty,)
        ref = variable(types[index])
        places = tuple(ref if k == index else None for k in range(len(types)))
        made.append((TupleTarget(places), Call(call.function, tuple(map(apart, call.args)), call.ty)))
        return ref

    return made, apart(e)


def separated(f: Function, impure: Collection[str]) -> Function:
    """A function that makes every impure call of its statements."""
    locals_: list[Local] = []

    def variable(ty: Type) -> Ref:
        locals_.append(Local(f"$made{len(locals_)}", ty))
        return Ref(locals_[-1].name, ty)

    def statements(body: list[Statement]) -> Iterator[Statement]:
        for s in body:
            match s:
                case Assign(target, value) if _is_repeated(value, impure):
                    made, rest = taken_apart(value, impure, variable)
                    for place, call in made:
                        yield Assign(place, call, s.origin)
                    yield Assign(target, rest, s.origin)
                case IfStatement(branches, otherwise):
                    inside = [(c, list(statements(b))) for c, b in branches]
                    yield IfStatement(inside, list(statements(otherwise)), s.origin)
                case ForStatement() | WhileStatement():
                    yield replace(s, body=list(statements(s.body)))
                case _:
                    yield s

    body = list(statements(f.body))
    return replace(f, locals=[*f.locals, *locals_], body=body) if locals_ else f


def _is_repeated(e: Expr, impure: Collection[str]) -> bool:
    """Whether one impure call stands in it more than once."""
    if not has_impure(e, impure):
        return False
    places: Counter[Call] = Counter()
    stack = [e]
    while stack:
        node = stack.pop()
        if isinstance(node, Call) and node.function in impure:
            places[node] += 1
        if not isinstance(node, Comprehension):
            stack += [c for c in node.children() if has_impure(c, impure)]
    return any(n > 1 for n in places.values())
