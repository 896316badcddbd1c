"""Expressions as text: Modelica as far as it goes.

What is not Modelica: flat names stand as they are (`r1.p.v`, `r[2].i`, no quotes), classes have dotted names, and four
things have spellings of our own: `real(i)` turns an Integer into a Real, `item(f(x), 2)` is the second output of a
call, a subscript or field may follow any expression in parentheses, and the type of a function-valued input is
`function(Real u) -> (Real)`.  Records are constructed with named arguments, calls are positional.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from kilohertz.base import InternalError
from kilohertz.ir import expr as x
from kilohertz.ir.types import (
    BOOLEAN,
    INTEGER,
    REAL,
    STRING,
    EnumType,
    FunctionType,
    RecordType,
    TupleType,
    Type,
)

# -------------------------------------------------------------------------------------------------------- expressions

# How tightly an operator binds (MLS 3.2); an operand that binds less gets parentheses.
_LOOSE, _RANGE, _OR, _AND, _NOT, _RELATION, _ADD, _MUL, _POWER, _PRIMARY = range(10)
_LEVELS = {
    **dict.fromkeys(["or"], _OR),
    **dict.fromkeys(["and"], _AND),
    **dict.fromkeys(["<", "<=", ">", ">=", "==", "<>"], _RELATION),
    **dict.fromkeys(["+", "-", ".+", ".-"], _ADD),
    **dict.fromkeys(["*", "/", ".*", "./"], _MUL),
    **dict.fromkeys(["^", ".^"], _POWER),
}

_LARGE, _WORTH = 120, 6  # nodes of an expression whose parts get names, and of such a part
_NO_NAMES: Mapping[x.Expr, str] = {}

# A piece is text, or an expression with the level its place asks for.
_Piece = str | tuple[x.Expr, int]


def print_expr(e: x.Expr, names: Mapping[x.Expr, str] = _NO_NAMES) -> str:
    """An expression as text; works on a stack of its own, so any length will do.  Parts with a name are not shown."""
    out: list[str] = []
    stack: list[_Piece] = [(e, _LOOSE)]
    while stack:
        piece = stack.pop()
        if isinstance(piece, str):
            out.append(piece)
            continue
        node, needed = piece
        if node in names and node is not e:
            out.append(names[node])
            continue
        level, pieces = _PIECES[type(node)](node)
        if level < needed:
            pieces = ["(", *pieces, ")"]
        stack.extend(reversed(pieces))
    return "".join(out)


def print_shared(e: x.Expr) -> str:
    """A large expression with names for the parts that it has several times: `let($1 = a*b, $1 + sin($1))`.

    Written out, what symbolic processing shares may be longer than any memory.
    """
    order, uses, sizes = _shape(e)
    if sizes[e] <= _LARGE:
        return print_expr(e)
    shared = [n for n in order if uses[n] > 1 and sizes[n] >= _WORTH and n is not e]
    names = {n: f"${i}" for i, n in enumerate(shared, 1)}
    parts = [f"{names[n]} = {print_expr(n, names)}" for n in shared]
    return f"let({', '.join([*parts, print_expr(e, names)])})" if parts else print_expr(e)


def _shape(root: x.Expr) -> tuple[list[x.Expr], dict[x.Expr, int], dict[x.Expr, int]]:
    """The parts of an expression, operands first; how often each stands in others; how large each is written out."""
    order: list[x.Expr] = []
    uses: dict[x.Expr, int] = {root: 1}
    sizes: dict[x.Expr, int] = {}
    stack = [root]
    while stack:
        node = stack[-1]
        if node in sizes:
            stack.pop()
            continue
        children = node.children()
        missing = [c for c in children if c not in sizes]
        if missing:
            stack.extend(missing)
            continue
        stack.pop()
        sizes[node] = 1 + sum(sizes[c] for c in children)
        for c in children:
            uses[c] = uses.get(c, 0) + 1
        order.append(node)
    return order, uses, sizes


def _number(e: x.Real | x.Int) -> tuple[int, list[_Piece]]:
    text = repr(e.value)
    if text in ("inf", "-inf"):
        text = text.replace("inf", "1e999")
    return (_ADD if text.startswith("-") else _PRIMARY), [text]


def _unary(e: x.Unary) -> tuple[int, list[_Piece]]:
    if e.op == "not":
        return _NOT, ["not ", (e.operand, _RELATION)]
    bare = isinstance(e.operand, x.Real | x.Int)  # `-(1.0)` is an operation, `-1.0` a number
    return _ADD, ["-", "(" if bare else "", (e.operand, _MUL), ")" if bare else ""]


def _binary(e: x.Binary) -> tuple[int, list[_Piece]]:
    level = _LEVELS[e.op]
    if level == _POWER:
        return level, [(e.left, _PRIMARY), e.op, (e.right, _PRIMARY)]
    left = level + 1 if level == _RELATION else level
    space = "" if level == _MUL and not e.op.startswith(".") else " "
    return level, [(e.left, left), f"{space}{e.op}{space}", (e.right, level + 1)]


def _if(e: x.IfExp) -> tuple[int, list[_Piece]]:
    pieces: list[_Piece] = ["if ", (e.condition, _LOOSE), " then ", (e.then, _LOOSE)]
    rest = e.otherwise
    while isinstance(rest, x.IfExp):
        pieces += [" elseif ", (rest.condition, _LOOSE), " then ", (rest.then, _LOOSE)]
        rest = rest.otherwise
    return _LOOSE, [*pieces, " else ", (rest, _LOOSE)]


def _listed(items: Sequence[x.Expr]) -> list[_Piece]:
    pieces: list[_Piece] = []
    for k, item in enumerate(items):
        pieces += [", ", (item, _LOOSE)] if k else [(item, _LOOSE)]
    return pieces


def _called(name: str, args: Sequence[x.Expr]) -> tuple[int, list[_Piece]]:
    return _PRIMARY, [name, "(", *_listed(args), ")"]


def _named(name: str, args: Iterable[tuple[str, x.Expr]]) -> list[_Piece]:
    pieces: list[_Piece] = [name, "("]
    for k, (field, e) in enumerate(args):
        pieces += [", " if k else "", f"{field} = ", (e, _LOOSE)]
    return [*pieces, ")"]


def _array(e: x.Array) -> tuple[int, list[_Piece]]:
    if e.elements:
        return _PRIMARY, ["{", *_listed(e.elements), "}"]
    sizes = ", ".join(":" if n is None else str(n) for n in e.ty.dims)
    return _PRIMARY, [f"fill({_sample(e.ty)}, {sizes})"]


def _sample(ty: Type) -> str:
    """Some value that shows the type of an empty array."""
    if isinstance(ty.base, EnumType):
        return f"{ty.base.name}.{ty.base.literals[0]}"
    if isinstance(ty.base, RecordType):
        return f"{ty.base.name}()"
    samples = {REAL.base: "0.0", INTEGER.base: "0", BOOLEAN.base: "false", STRING.base: '""'}
    return samples[ty.base]


def _record(e: x.Record) -> tuple[int, list[_Piece]]:
    assert isinstance(e.ty.base, RecordType)
    names = [name for name, _ in e.ty.base.fields]
    return _PRIMARY, _named(e.ty.base.name, zip(names, e.fields, strict=True))


def _postfix(base: x.Expr) -> list[_Piece]:
    """What a subscript or field follows: a name as it is, anything else in parentheses."""
    return [(base, _PRIMARY)] if isinstance(base, x.Ref | x.Index | x.Field) else ["(", (base, _LOOSE), ")"]


def _index(e: x.Index) -> tuple[int, list[_Piece]]:
    base = _postfix(e.base)
    if isinstance(e.base, x.Index):
        base = ["(", *base, ")"]
    return _PRIMARY, [*base, "[", *_listed(e.subs), "]"]


def _range(e: x.Range) -> tuple[int, list[_Piece]]:
    parts = [e.first, e.last] if e.step is None else [e.first, e.step, e.last]
    pieces: list[_Piece] = []
    for k, part in enumerate(parts):
        pieces += [":", (part, _OR)] if k else [(part, _OR)]
    return _RANGE, pieces


def _comprehension(e: x.Comprehension) -> tuple[int, list[_Piece]]:
    pieces: list[_Piece] = [f"{e.op}(" if e.op else "{", (e.body, _LOOSE), " for "]
    for k, (name, over) in enumerate(e.iterators):
        pieces += [", " if k else "", f"{name} in ", (over, _LOOSE)]
    return _PRIMARY, [*pieces, ")" if e.op else "}"]


_PIECES: dict[type[x.Expr], Callable[[Any], tuple[int, list[_Piece]]]] = {
    x.Real: _number,
    x.Int: _number,
    x.Bool: lambda e: (_PRIMARY, ["true" if e.value else "false"]),
    x.Str: lambda e: (_PRIMARY, [quoted(e.value)]),
    x.Enum: lambda e: (_PRIMARY, [f"{e.enum.name}.{e.literal}"]),
    x.Ref: lambda e: (_PRIMARY, [e.name]),
    x.Colon: lambda e: (_PRIMARY, [":"]),
    x.Unary: _unary,
    x.Binary: _binary,
    x.IfExp: _if,
    x.Builtin: lambda e: _called(e.name, e.args),
    x.Call: lambda e: _called(e.function, e.args),
    x.Item: lambda e: (_PRIMARY, ["item(", (e.base, _LOOSE), f", {e.index + 1})"]),
    x.Array: _array,
    x.Record: _record,
    x.Field: lambda e: (_PRIMARY, [*_postfix(e.base), f".{e.name}"]),
    x.Index: _index,
    x.Range: _range,
    x.Comprehension: _comprehension,
    x.FunctionRef: lambda e: (_PRIMARY, _named(f"function {e.function}", e.bound)),
}


def quoted(text: str) -> str:
    """A string literal; escapes as in the language (MLS 2.4.6)."""
    escapes = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return '"' + "".join(escapes.get(c, c) for c in text) + '"'


def print_type(ty: Type) -> str:
    """A type as it stands in a declaration."""
    if isinstance(ty.base, FunctionType):
        inputs = ", ".join(f"{print_type(t)} {name}" for name, t in ty.base.inputs)
        outputs = ", ".join(print_type(t) for t in ty.base.outputs)
        return f"function({inputs}) -> ({outputs})"
    if isinstance(ty.base, TupleType):
        raise InternalError("a variable with the type of several outputs")
    return str(ty)
