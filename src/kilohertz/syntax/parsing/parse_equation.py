"""Equations and statements (MLS A.2.6), and the lists of them with recovery after errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from kilohertz.base import Diagnostic, Note, Span
from kilohertz.syntax.parsing.cursor import BLOCKS, Cursor, Unexpected
from kilohertz.syntax.parsing.lexer import ANNOTATION
from kilohertz.syntax.parsing.parse_decl import annotation
from kilohertz.syntax.parsing.parse_expr import component_reference, expression, iterators, primary, simple_expression
from kilohertz.syntax.tree import (
    Assignment,
    Break,
    Call,
    CallEquation,
    CallStatement,
    Connect,
    Equality,
    Equation,
    Expr,
    ForEquation,
    ForStatement,
    IfEquation,
    IfStatement,
    Ref,
    Return,
    Statement,
    Tuple,
    WhenEquation,
    WhenStatement,
    WhileStatement,
)

Item = TypeVar("Item", Equation, Statement)
Items = Callable[[Cursor], tuple[Item, ...]]
Head = TypeVar("Head")
_Node = TypeVar("_Node")
_LIST_ENDS = frozenset(
    {"end", "else", "elseif", "elsewhen", "equation", "algorithm", "public", "protected", "external", "annotation", ""}
)


def equations(p: Cursor) -> tuple[Equation, ...]:
    """The equations up to `end`, `else` or the next section."""
    return _items(p, equation)


def statements(p: Cursor) -> tuple[Statement, ...]:
    """The statements up to `end`, `else` or the next section."""
    return _items(p, statement)


def _items(p: Cursor, read: Callable[[Cursor], Item]) -> tuple[Item, ...]:
    items: list[Item] = []
    texts = p.texts
    while True:
        first = p.i
        text = texts[first]
        if text in _LIST_ENDS or p.values[first] == ANNOTATION:
            if not _stray_end(p):
                return tuple(items)
            continue
        if text == "initial" and texts[first + 1] in ("equation", "algorithm"):
            return tuple(items)
        depth = p.depth
        try:
            items.append(read(p))
            p.expect_semicolon()
        except Unexpected as error:
            p.depth, p.in_subscript = depth, 0
            p.recover(error, first, ("else", "elseif", "elsewhen", "external", "initial"))


def _stray_end(p: Cursor) -> bool:
    """After an error, an `end if;` that closes nothing is stepped over in silence: its opening was the error."""
    if p.texts[p.i] != "end" or p.texts[p.i + 1] not in BLOCKS or p.blocks or not p.failed():
        return False
    p.i += 2
    if p.texts[p.i] == ";":
        p.i += 1
    return True


def _end(p: Cursor, keyword: str, first: int, after_else: int = 0) -> None:
    """Step over `end if` and the like; where it is missing, say where what it should close begins."""
    texts = p.texts
    if texts[p.i] == "end" and texts[p.i + 1] == keyword:
        p.i += 2
        return
    p.check_lexical()
    closing = f"`end {texts[p.i + 1]}`" if texts[p.i] == "end" else p.shown(p.i)
    notes = [Note(f"this `{keyword}` is not closed", Span(p.file, p.starts[first], p.ends[first]))]
    if after_else and texts[after_else] == "if":
        notes.append(Note("`else if` opens another `if` that has its own `end if`; `elseif` does not"))
    raise Unexpected(Diagnostic("P101", f"expected `end {keyword}`, found {closing}", p.span(), notes=tuple(notes)))


def _described(p: Cursor, first: int, node: Callable[..., _Node], *parts: Any) -> _Node:
    """A node of what was read since token `first`, with the description that follows it."""
    end = p.ends[p.i - 1]
    return node(p.starts[first], end, *parts, _description(p))


def _description(p: Cursor) -> str:
    comment = p.comment()
    if p.values[p.i] == ANNOTATION:
        p.i += 1
    elif p.texts[p.i] == "annotation":
        annotation(p)
    return comment


# ------------------------------------------------------------------------------------------------------------ equations


def equation(p: Cursor) -> Equation:
    """One equation with its description, without the semicolon."""
    text = p.texts[p.i]
    special = _EQUATIONS.get(text)
    if special is not None:
        return special(p)
    first = p.i
    left = simple_expression(p)
    if p.texts[p.i] == "=":
        p.i += 1
        right = expression(p)
        return _described(p, first, Equality, left, right)
    if p.texts[p.i] == ":=":
        p.stop("P108", "`:=` stands in an equation", "equations are written with `=`")
    if not isinstance(left, Call):
        p.fail("`=`")
    return _described(p, first, CallEquation, left)


def _connect(p: Cursor) -> Equation:
    first = p.i
    p.i = first + 1
    p.expect("(")
    left = component_reference(p)
    p.expect(",")
    right = component_reference(p)
    p.expect(")")
    return _described(p, first, Connect, left, right)


# ----------------------------------------------------------------------------------------------------------- statements


def statement(p: Cursor) -> Statement:
    """One statement with its description, without the semicolon."""
    special = _STATEMENTS.get(p.texts[p.i])
    if special is not None:
        return special(p)
    first = p.i
    target = primary(p)
    if isinstance(target, Call):
        return _described(p, first, CallStatement, target)
    if not isinstance(target, Ref | Tuple):
        p.i = first
        p.fail("a statement")
    if p.texts[p.i] == "=":
        p.stop("P108", "`=` stands in a statement", "algorithms are written with `:=`")
    p.expect(":=")
    value = expression(p)
    return _described(p, first, Assignment, target, value)


def _break(p: Cursor) -> Statement:
    first = p.i
    p.i = first + 1
    return _described(p, first, Break)


def _return(p: Cursor) -> Statement:
    first = p.i
    p.i = first + 1
    return _described(p, first, Return)


# ---------------------------------------------------------------------------------------------- shared by both families


def _conditional(node: Callable[..., Item], keyword: str, again: str, read: Items[Item]) -> Callable[[Cursor], Item]:
    """Reads an `if` or a `when`."""

    def conditional(p: Cursor) -> Item:
        first = p.i
        branches, otherwise = _branches(p, keyword, again, read)
        return _described(p, first, node, branches, *((otherwise,) if keyword == "if" else ()))

    return conditional


def _repeated(
    node: Callable[..., Item], keyword: str, head: Callable[[Cursor], Head], read: Items[Item]
) -> Callable[[Cursor], Item]:
    """Reads a `for` or a `while`."""

    def repeated(p: Cursor) -> Item:
        first = p.i
        said, body = _loop(p, keyword, head, read)
        return _described(p, first, node, said, body)

    return repeated


def _branches(
    p: Cursor, keyword: str, again: str, read: Items[Item]
) -> tuple[tuple[tuple[Expr, tuple[Item, ...]], ...], tuple[Item, ...]]:
    """`if c then ... elseif d then ... else ... end if`, or the same with when (which has no else)."""
    first = p.i
    p.enter()
    p.blocks += 1
    broken: Unexpected | None = None
    try:
        branches: list[tuple[Expr, tuple[Item, ...]]] = []
        while True:
            p.i += 1  # if, elseif
            condition, error = _head(p, expression, "then")
            broken = broken or error
            items = read(p)
            if condition is not None:
                branches.append((condition, items))
            if p.texts[p.i] != again:
                break
        otherwise: tuple[Item, ...] = ()
        after_else = 0
        if p.texts[p.i] == "else" and keyword == "if":
            after_else = p.i = p.i + 1
            otherwise = read(p)
        _end(p, keyword, first, after_else)
    finally:
        p.depth -= 1
        p.blocks -= 1
    if broken is not None:
        raise broken
    return tuple(branches), otherwise


def _loop(p: Cursor, keyword: str, head: Callable[[Cursor], Head], read: Items[Item]) -> tuple[Head, tuple[Item, ...]]:
    """`for i in r loop ... end for` or `while c loop ... end while`: what the head says, and the body."""
    first = p.i
    p.enter()
    p.blocks += 1
    try:
        p.i += 1  # for, while
        said, broken = _head(p, head, "loop")
        body = read(p)
        _end(p, keyword, first)
    finally:
        p.depth -= 1
        p.blocks -= 1
    if said is None:
        assert broken is not None
        raise broken
    return said, body


def _head(p: Cursor, read: Callable[[Cursor], Head], closing: str) -> tuple[Head | None, Unexpected | None]:
    """The head of a branch or loop up to its closing word.

    An error in it does not spread: the body is read all the same, and the whole is given up at its end.
    """
    depth = p.depth
    try:
        said = read(p)
        p.expect(closing)
    except Unexpected as error:
        p.depth, p.in_subscript = depth, 0
        p.skip_header(error, closing)
        return None, error
    return said, None


_EQUATIONS: dict[str, Callable[[Cursor], Equation]] = {
    "if": _conditional(IfEquation, "if", "elseif", equations),
    "for": _repeated(ForEquation, "for", iterators, equations),
    "when": _conditional(WhenEquation, "when", "elsewhen", equations),
    "connect": _connect,
}
_STATEMENTS: dict[str, Callable[[Cursor], Statement]] = {
    "if": _conditional(IfStatement, "if", "elseif", statements),
    "for": _repeated(ForStatement, "for", iterators, statements),
    "while": _repeated(WhileStatement, "while", expression, statements),
    "when": _conditional(WhenStatement, "when", "elsewhen", statements),
    "break": _break,
    "return": _return,
}
