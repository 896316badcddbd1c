"""Expressions (MLS A.2.7).  Sums and products are read in a loop: a thousand terms need no thousand Python frames."""

from __future__ import annotations

from kilohertz.syntax.parsing.cursor import Cursor
from kilohertz.syntax.parsing.lexer import STRING, unescape
from kilohertz.syntax.precedence import LEVELS, NOT, OR, PRODUCT, RELATION, SIGNS, SUM, UNCHAINED
from kilohertz.syntax.tree import (
    Array,
    Binary,
    Boolean,
    Call,
    Colon,
    Comprehension,
    End,
    Expr,
    FieldOf,
    IfExp,
    Iterator,
    Matrix,
    Number,
    PartialCall,
    Range,
    Ref,
    String,
    Subscripted,
    Tuple,
    Unary,
)

_ENDS = frozenset({",", ")", ";", "}", "]", "=", "then", "loop", "for", "else", "elseif"})  # no expression goes on here
_REFERENCE_GOES_ON = frozenset({"(", "[", "."})
_BUILTIN_CALLS = frozenset({"der", "initial", "pure"})  # keywords that are called like functions


def expression(p: Cursor) -> Expr:
    """Any expression.  A single token followed by a delimiter, by far the most frequent one, is made at once."""
    i = p.i
    if p.texts[i + 1] in _ENDS:
        value = p.values[i]
        kind = type(value)
        if kind is tuple:
            p.i = i + 1
            return Ref(p.starts[i], p.ends[i], value)  # type: ignore[arg-type]  # the kind was just checked
        if kind is int or kind is float:
            p.i = i + 1
            return Number(p.starts[i], p.ends[i], value)  # type: ignore[arg-type]
        if kind is bool:
            p.i = i + 1
            return Boolean(p.starts[i], p.ends[i], value)  # type: ignore[arg-type]
    p.enter()
    result = _if_expression(p) if p.texts[i] == "if" else _simple(p)
    p.depth -= 1
    return result


def simple_expression(p: Cursor) -> Expr:
    """An expression that is no bare `if`: the left side of an equation."""
    p.enter()
    result = _simple(p)
    p.depth -= 1
    return result


def _simple(p: Cursor) -> Expr:
    first = p.i
    begin = _operation(p, OR)
    if p.texts[p.i] != ":":
        return begin
    p.i += 1
    step, last = None, _operation(p, OR)
    if p.texts[p.i] == ":":
        p.i += 1
        step, last = last, _operation(p, OR)
    return Range(p.starts[first], p.ends[p.i - 1], begin, step, last)


def _if_expression(p: Cursor) -> Expr:
    first = p.i
    branches = []
    while True:
        p.i += 1  # if, elseif
        condition = expression(p)
        p.expect("then")
        branches.append((condition, expression(p)))
        if p.texts[p.i] != "elseif":
            break
    p.expect("else")
    otherwise = expression(p)
    return IfExp(p.starts[first], p.ends[p.i - 1], tuple(branches), otherwise)


# ------------------------------------------------------------------------------------------------------------ operators


def _operation(p: Cursor, level: int) -> Expr:
    """Operands joined by operators that bind at least as tightly as `level`."""
    first = p.i
    text = p.texts[first]
    left: Expr
    if text in SIGNS:
        if level > SUM:
            p.stop("P109", f"`{text}` cannot follow an operator", "put the signed operand in parentheses")
        left = _unary(p, text, PRODUCT)
    elif text == "not":
        if level > NOT:
            p.stop("P109", "`not` cannot follow an operator that binds more tightly", "put it in parentheses")
        left = _unary(p, text, RELATION)
    else:
        left = primary(p)
    texts, starts, ends = p.texts, p.starts, p.ends
    unchained = 0
    while True:
        op = texts[p.i]
        binds = LEVELS.get(op, 0)
        if binds < level:
            return left
        if binds == unchained:
            p.stop("P109", f"`{op}` cannot be chained", "put one of the operations in parentheses")
        p.i += 1
        right = _operation(p, binds + 1)
        left = Binary(starts[first], ends[p.i - 1], op, left, right)
        unchained = binds if binds in UNCHAINED else 0


def _unary(p: Cursor, op: str, level: int) -> Unary:
    first = p.i
    p.i = first + 1
    operand = _operation(p, level)
    return Unary(p.starts[first], p.ends[p.i - 1], op, operand)


# ------------------------------------------------------------------------------------------------------------- operands


def primary(p: Cursor) -> Expr:
    """One operand."""
    i = p.i
    value = p.values[i]
    kind = type(value)
    if kind is tuple:
        follows = p.texts[i + 1]
        if follows not in _REFERENCE_GOES_ON:
            p.i = i + 1
            return Ref(p.starts[i], p.ends[i], value)  # type: ignore[arg-type]
        if follows == "(":
            p.i = i + 1
            return _call(p, i, Ref(p.starts[i], p.ends[i], value))  # type: ignore[arg-type]
        return _reference_or_call(p)
    if kind is int or kind is float:
        p.i = i + 1
        return Number(p.starts[i], p.ends[i], value)  # type: ignore[arg-type]
    return _other_primary(p, i)


def _other_primary(p: Cursor, i: int) -> Expr:
    text, value = p.texts[i], p.values[i]
    if text == "(":
        return _parenthesis(p)
    if text == "{":
        return _braces(p)
    if text == "[":
        return _matrix(p)
    if text == "." and type(p.values[i + 1]) is tuple:
        return _reference_or_call(p)
    if text in _BUILTIN_CALLS and p.texts[i + 1] == "(":
        p.i = i + 1
        return _call(p, i, Ref(p.starts[i], p.ends[i], (text,)))
    if value == STRING:
        p.i = i + 1
        if "\\" in text:
            p.check_escapes(i)
        return String(p.starts[i], p.ends[i], unescape(text))
    if value is True or value is False:
        p.i = i + 1
        return Boolean(p.starts[i], p.ends[i], value)
    if text == "end" and p.in_subscript:
        p.i = i + 1
        return End(p.starts[i], p.ends[i])
    return p.fail("an expression")


def _reference_or_call(p: Cursor) -> Expr:
    first = p.i
    reference = component_reference(p)
    return _call(p, first, reference) if p.texts[p.i] == "(" else reference


def component_reference(p: Cursor) -> Ref:
    """`.a.b[1].c`."""
    first = p.i
    absolute = p.texts[first] == "."
    if absolute:
        p.i = first + 1
    names = p.name()
    if p.texts[p.i] != "[":
        return Ref(p.starts[first], p.ends[p.i - 1], names, None, absolute)
    subs: list[tuple[Expr, ...]] = [()] * (len(names) - 1)
    subs.append(subscripts(p))
    while p.texts[p.i] == ".":
        p.i += 1
        more = p.name()
        names += more
        subs += [()] * (len(more) - 1)
        subs.append(subscripts(p) if p.texts[p.i] == "[" else ())
    return Ref(p.starts[first], p.ends[p.i - 1], names, tuple(subs), absolute)


def type_specifier(p: Cursor) -> Ref:
    """`.A.B`: a name without subscripts."""
    first = p.i
    absolute = p.texts[first] == "."
    if absolute:
        p.i = first + 1
    names = p.name("a type name")
    return Ref(p.starts[first], p.ends[p.i - 1], names, None, absolute)


def subscripts(p: Cursor) -> tuple[Expr, ...]:
    """`[i, :, 1:end]`."""
    p.expect("[")
    p.in_subscript += 1
    items: list[Expr] = []
    while True:
        i = p.i
        if p.texts[i] == ":" and p.texts[i + 1] in (",", "]"):
            p.i = i + 1
            items.append(Colon(p.starts[i], p.ends[i]))
        else:
            items.append(expression(p))
        if p.texts[p.i] != ",":
            break
        p.i += 1
    p.expect("]")
    p.in_subscript -= 1
    return tuple(items)


# ---------------------------------------------------------------------------------------------------------------- calls


def _call(p: Cursor, first: int, function: Ref) -> Call:
    args, named = call_arguments(p)
    return Call(p.starts[first], p.ends[p.i - 1], function, args, named)


def call_arguments(p: Cursor) -> tuple[tuple[Expr, ...], tuple[tuple[str, Expr], ...]]:
    """`(a, b, name = c)` or `(a for i in r)`."""
    p.expect("(")
    texts, values = p.texts, p.values
    args: list[Expr] = []
    named: list[tuple[str, Expr]] = []
    if texts[p.i] == ")":
        p.i += 1
        return (), ()
    while True:
        i = p.i
        if texts[i + 1] == "=" and type(values[i]) is tuple:
            named.append(_named_argument(p))
        elif named:
            p.stop("P111", "a positional argument cannot follow a named one")
        else:
            argument = _partial_call(p) if texts[i] == "function" else expression(p)
            if texts[p.i] == "for" and not args:
                args.append(_comprehension(p, i, argument))
                break
            args.append(argument)
        if texts[p.i] != ",":
            break
        p.i += 1
    p.expect(")")
    return tuple(args), tuple(named)


def _named_argument(p: Cursor) -> tuple[str, Expr]:
    name = p.identifier("an argument name")
    p.i += 1  # =
    return name, _partial_call(p) if p.texts[p.i] == "function" else expression(p)


def _partial_call(p: Cursor) -> PartialCall:
    first = p.i
    p.i = first + 1
    function = type_specifier(p)
    p.expect("(")
    named: list[tuple[str, Expr]] = []
    while p.texts[p.i] != ")":
        if named:
            p.expect(",")
        if p.texts[p.i + 1] != "=":
            p.fail("a named argument")
        p.enter()
        named.append(_named_argument(p))
        p.depth -= 1
    p.i += 1
    return PartialCall(p.starts[first], p.ends[p.i - 1], function, tuple(named))


def _comprehension(p: Cursor, first: int, body: Expr) -> Comprehension:
    p.i += 1  # for
    ranges = iterators(p)
    return Comprehension(p.starts[first], p.ends[p.i - 1], body, ranges, False)


def iterators(p: Cursor) -> tuple[Iterator, ...]:
    """`i in 1:n, j`."""
    items: list[Iterator] = []
    while True:
        first = p.i
        name = p.identifier("an iterator name")
        values = None
        if p.texts[p.i] == "in":
            p.i += 1
            values = expression(p)
        items.append(Iterator(p.starts[first], p.ends[p.i - 1], name, values))
        if p.texts[p.i] != ",":
            return tuple(items)
        p.i += 1


# ------------------------------------------------------------------------------------------------------------- brackets


def _parenthesis(p: Cursor) -> Expr:
    first = p.i
    p.i = first + 1
    elements = _output_list(p)
    p.expect(")")
    inner: Expr
    if len(elements) == 1 and elements[0] is not None:
        inner = elements[0]
    else:
        inner = Tuple(p.starts[first], p.ends[p.i - 1], elements)
    if p.texts[p.i] == "[":
        subs = subscripts(p)
        return Subscripted(p.starts[first], p.ends[p.i - 1], inner, subs)
    if p.texts[p.i] == ".":
        p.i += 1
        name = p.identifier("a field name")
        return FieldOf(p.starts[first], p.ends[p.i - 1], inner, name)
    return inner


def _output_list(p: Cursor) -> tuple[Expr | None, ...]:
    if p.texts[p.i] == ")":
        return ()
    elements: list[Expr | None] = []
    while True:
        elements.append(None if p.texts[p.i] in (",", ")") else expression(p))
        if p.texts[p.i] != ",":
            return tuple(elements)
        p.i += 1


def _braces(p: Cursor) -> Expr:
    first = p.i
    p.i = first + 1
    if p.texts[p.i] == "}":
        p.i += 1
        return Array(p.starts[first], p.ends[p.i - 1], ())
    element = expression(p)
    if p.texts[p.i] == "for":
        p.i += 1
        ranges = iterators(p)
        p.expect("}")
        return Comprehension(p.starts[first], p.ends[p.i - 1], element, ranges, True)
    elements = [element]
    while p.texts[p.i] == ",":
        p.i += 1
        elements.append(expression(p))
    p.expect("}")
    return Array(p.starts[first], p.ends[p.i - 1], tuple(elements))


def _matrix(p: Cursor) -> Matrix:
    first = p.i
    rows: list[tuple[Expr, ...]] = []
    while True:
        p.i += 1  # [ or ;
        row = [expression(p)]
        while p.texts[p.i] == ",":
            p.i += 1
            row.append(expression(p))
        rows.append(tuple(row))
        if p.texts[p.i] != ";":
            break
    p.expect("]")
    return Matrix(p.starts[first], p.ends[p.i - 1], tuple(rows))
