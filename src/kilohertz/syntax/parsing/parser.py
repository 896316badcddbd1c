"""From text to Tree: whole files, single expressions, annotations."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from kilohertz.base import Diagnostic, ModelError, Span
from kilohertz.syntax.parsing.cursor import MAX_DEPTH, Cursor, GivenUp, Unexpected
from kilohertz.syntax.parsing.lexer import COMMENT
from kilohertz.syntax.parsing.parse_class import class_definition
from kilohertz.syntax.parsing.parse_decl import CLASS_STARTS, class_modification
from kilohertz.syntax.parsing.parse_expr import expression
from kilohertz.syntax.tree import Argument, ClassDef, Expr, StoredDefinition

Node = TypeVar("Node")


def parse_text(
    text: str, file: str, within: tuple[str, ...] | None = None, keep_annotations: bool = False
) -> tuple[StoredDefinition, list[Diagnostic]]:
    """Parse one source file.  Never raises: what is wrong is in the diagnostics, what could be read in the tree.

    `within` is where the classes stand when the text has no within clause.  `keep_annotations` puts the text of all
    annotations into the tree, for a text that is in no file.
    """
    with paused_collector():
        p = Cursor(text, file)
        p.path = within or ()
        p.keep_annotations = keep_annotations
        result = StoredDefinition(file, None, ())
        try:
            _stored_definition(p, result)
        except GivenUp:
            pass
        except RecursionError:
            p.diagnostics.append(Diagnostic("P106", f"nested more than {MAX_DEPTH} levels deep", p.span()))
        _check_last_comment(p)
    p.diagnostics.sort(key=lambda d: d.span.start if d.span else 0)
    return result, p.diagnostics


def parse_expression(text: str, file: str = "<expression>", offset: int = 0) -> Expr:
    """Parse one expression; raises ModelError where it is none."""
    return _whole(Cursor(text, file, offset), expression)


def parse_arguments(text: str, file: str, offset: int = 0) -> tuple[Argument, ...]:
    """Parse the parenthesised arguments of a modification or annotation; raises ModelError."""
    return _whole(Cursor(text, file, offset), class_modification)


def _whole(p: Cursor, read: Callable[[Cursor], Node]) -> Node:
    try:
        node = read(p)
        if p.texts[p.i]:
            p.fail("the end of the text")
    except Unexpected as error:
        raise ModelError(error.diagnostic) from None
    except RecursionError:
        raise ModelError(Diagnostic("P106", f"nested more than {MAX_DEPTH} levels deep", p.span())) from None
    return node


def _stored_definition(p: Cursor, result: StoredDefinition) -> None:
    classes: list[ClassDef] = []
    final: list[bool] = []
    while p.texts[p.i]:
        first = p.i
        try:
            if p.texts[first] == "within" and not classes and result.within is None:
                p.i += 1
                result.within = p.path = () if p.texts[p.i] == ";" else p.name("the name of a package")
            else:
                is_final = p.texts[first] == "final"
                p.i += is_final
                if p.texts[p.i] not in CLASS_STARTS:
                    p.fail("a class (`model`, `block`, `record`, ...)")
                classes.append(class_definition(p))
                final.append(is_final)
                result.classes, result.final = tuple(classes), tuple(final)
                if p.unclosed:
                    return
            p.expect_semicolon()
        except Unexpected as error:
            p.depth = p.in_subscript = 0
            p.recover(error, first)
            _skip_to_class(p)


def _skip_to_class(p: Cursor) -> None:
    """After an error at the top: on to where a class definition begins, not to the `model` in a comment or `end`."""
    while p.texts[p.i] and p.texts[p.i] not in CLASS_STARTS and p.texts[p.i] != "final":
        p.i += 1


def _check_last_comment(p: Cursor) -> None:
    """Only the last comment of a text can be left open; it stands behind the last token."""
    for comment in re.finditer(COMMENT, p.tail):
        if comment[0].startswith("/*") and (len(comment[0]) < 4 or not comment[0].endswith("*/")):
            at = p.starts[-1] - len(p.tail) + comment.start()
            span = Span(p.file, at, at + 2)
            p.diagnostics.append(Diagnostic("P102", "a comment is not closed", span, "`*/` is missing"))


@contextmanager
def paused_collector() -> Iterator[None]:
    """Build a large tree without the garbage collector looking through it again and again.

    Trees have no cycles.  What was made meanwhile joins the oldest generation at once (freeze and unfreeze splice
    lists, they visit nothing); a caller's own `gc.freeze` is undone by this.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.unfreeze()
        gc.enable()
