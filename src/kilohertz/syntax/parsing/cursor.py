"""What all parsing functions share: the place in the token list, the errors found, and how to go on after one.

A parsing function takes the cursor, consumes tokens from `i` on and returns a node.  Where it cannot, it raises
`Unexpected`; the loops over elements, equations and statements catch it, note the diagnostic, skip to the next place
where a new item can start, and go on.

Codes: P101 something else was expected, P102 not closed (string, comment), P103 no Modelica character or number,
P104 `end` names another class, P105 a semicolon is missing, P106 nested too deeply, P107 a keyword as a name,
P108 `=` and `:=` confused, P109 operators that may not follow one another, P110 too many errors, P111 a positional
argument after a named one, P112 two annotations on one class (warning), P114 what means nothing behind a backslash
(warning).
"""

from __future__ import annotations

from typing import NoReturn

from kilohertz.base import Diagnostic, Severity, Span
from kilohertz.syntax.parsing.lexer import (
    ANNOTATION,
    BAD_CHARACTER,
    BAD_NAME,
    BAD_NUMBER,
    BAD_STRING,
    KEYWORDS,
    STRING,
    Tokens,
    unescape,
    unknown_escapes,
)

MAX_DEPTH = 120  # nested parentheses, classes, loops: some five Python frames each
MAX_ERRORS = 30  # in one file
BLOCKS = frozenset({"if", "for", "while", "when"})  # closed by `end if` and so on
_SECTIONS = frozenset({"equation", "algorithm", "public", "protected", ""})
_MEANT = {"!": "`not` negates, `<>` is unequal", "&": "it is written `and`", "|": "it is written `or`"}


class Unexpected(Exception):
    """The text does not follow the grammar at one place; caught by the nearest list of items."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class Cursor:
    """A place in a token list.  `path` is the full name of the class being read."""

    __slots__ = (
        "blocks",
        "depth",
        "diagnostics",
        "ends",
        "file",
        "i",
        "in_subscript",
        "keep_annotations",
        "offset",
        "open",
        "path",
        "source",
        "starts",
        "tail",
        "texts",
        "unclosed",
        "values",
    )

    def __init__(self, source: str, file: str, offset: int = 0) -> None:
        tokens = Tokens(source, offset)
        self.source = source
        self.offset = offset
        self.texts = tokens.texts
        self.values = tokens.values
        self.starts = tokens.starts
        self.ends = tokens.ends
        self.tail = tokens.tail
        self.file = file
        self.i = 0
        self.depth = 0
        self.blocks = 0  # open if, for, while, when
        self.in_subscript = 0
        self.path: tuple[str, ...] = ()
        self.open: list[str] = []  # names of the classes being read, for recovery
        self.keep_annotations = False  # all of them, not only what the compiler may ask for
        self.unclosed = False  # the last class ended without its `end Name`
        self.diagnostics: list[Diagnostic] = []

    # ---------------------------------------------------------------------------------------------------------- tokens

    def accept(self, text: str) -> bool:
        """Step over a token where it is this one."""
        if self.texts[self.i] != text:
            return False
        self.i += 1
        return True

    def expect(self, text: str) -> None:
        """Step over one given token."""
        if self.texts[self.i] != text:
            self.fail(f"`{text}`")
        self.i += 1

    def expect_semicolon(self) -> None:
        """Step over `;`; a missing one is reported behind the last token, where it belongs."""
        i = self.i
        if self.texts[i] == ";":
            self.i = i + 1
            return
        self.check_lexical()
        end = self.ends[i - 1] if i else self.starts[0]
        span = Span(self.file, end, end + 1)
        raise Unexpected(Diagnostic("P105", f"expected `;` before {self.shown(i)}", span, "`;` is missing here"))

    def identifier(self, what: str = "a name") -> str:
        """One undotted name."""
        value = self.values[self.i]
        if type(value) is not tuple or len(value) != 1:
            self.fail(what)
        self.i += 1
        return value[0]

    def name(self, what: str = "a name") -> tuple[str, ...]:
        """A dotted name; blanks around the dots are allowed though nobody writes them."""
        value = self.values[self.i]
        if type(value) is not tuple:
            self.fail(what)
        self.i += 1
        while self.texts[self.i] == "." and type(self.values[self.i + 1]) is tuple:
            more = self.values[self.i + 1]
            assert type(more) is tuple
            value += more
            self.i += 2
        return value

    def comment(self) -> str:
        """An optional description string: `"a" + "b"`."""
        i = self.i
        if self.values[i] != STRING:
            return ""
        text = unescape(self.texts[i])
        i += 1
        while self.texts[i] == "+" and self.values[i + 1] == STRING:
            text += unescape(self.texts[i + 1])
            i += 2
        self.i = i
        return text

    # ---------------------------------------------------------------------------------------------------------- errors

    def enter(self) -> None:
        """Go one level deeper; the one who entered takes `depth` back."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.stop("P106", f"nested more than {MAX_DEPTH} levels deep")

    def shown(self, i: int) -> str:
        """A token as a message names it."""
        text = self.texts[i]
        if not text:
            return "the end of the text"
        if self.values[i] == ANNOTATION:
            return "`annotation`"
        return f"`{text}`" if len(text) <= 40 and "\n" not in text else f"`{text.splitlines()[0][:37]}...`"

    def span(self, first: int | None = None) -> Span:
        """The characters of the current token, or from token `first` to the last one read."""
        if first is None:
            at = self.i
            if not self.texts[at] and at > 0:  # the end of the text: right behind the last token
                return Span(self.file, self.ends[at - 1], self.ends[at - 1] + 1)
            return Span(self.file, self.starts[at], max(self.ends[at], self.starts[at] + 1))
        return Span(self.file, self.starts[first], self.ends[max(first, self.i - 1)])

    def stop(self, code: str, message: str, label: str = "") -> NoReturn:
        """Give up on this item with a message about the current token."""
        raise Unexpected(Diagnostic(code, message, self.span(), label))

    def fail(self, expected: str) -> NoReturn:
        """Give up on this item: something else was expected here."""
        self.check_lexical()
        text = self.texts[self.i]
        if text in KEYWORDS and expected.endswith("name"):
            self.stop("P107", f"expected {expected}, found the keyword `{text}`")
        label = "powers are written with `^`" if self.i and self.texts[self.i - 1] == text == "*" else ""
        self.stop("P101", f"expected {expected}, found {self.shown(self.i)}", label)

    def check_lexical(self) -> None:
        """A token that is no Modelica at all is the better message."""
        value, text = self.values[self.i], self.texts[self.i]
        if value == BAD_STRING:
            self.stop("P102", "a string is not closed", 'the closing `"` is missing')
        if value == BAD_NAME:
            keyword = next(part for part in text.split(".") if part in KEYWORDS)
            self.stop("P107", f"the keyword `{keyword}` cannot be part of a name")
        if value == BAD_NUMBER:
            self.stop("P103", "this number is too large to be represented")
        if value == BAD_CHARACTER:
            self.stop("P103", f"the character `{text}` has no meaning in Modelica", _MEANT.get(text, ""))

    def report(self, error: Unexpected) -> None:
        """Note an error; one place is reported once."""
        new = error.diagnostic
        if any(d.span == new.span for d in self.diagnostics):
            return
        self.diagnostics.append(new)
        if new.code == "P106":
            raise GivenUp
        if len(self.diagnostics) >= MAX_ERRORS:
            self.diagnostics.append(Diagnostic("P110", f"{MAX_ERRORS} errors; there may be more", self.span()))
            raise GivenUp

    def warn(self, code: str, message: str, span: Span) -> None:
        """Note something dubious that does not stop the job."""
        self.diagnostics.append(Diagnostic(code, message, span, severity=Severity.WARNING))

    def check_escapes(self, i: int) -> None:
        """Note what means nothing behind a backslash of a string that is a value; in descriptions nobody reads it."""
        for at in unknown_escapes(self.texts[i]):
            written = self.texts[i][at : at + 2]
            first = self.starts[i] + at
            span = Span(self.file, first, first + len(written))
            self.warn("P114", f"`{written}` means nothing in a string; it is taken as it stands", span)

    def failed(self) -> bool:
        """Has any error been found so far?"""
        return any(d.severity is Severity.ERROR for d in self.diagnostics)

    def recover(self, error: Unexpected, first: int, stops: tuple[str, ...] = ()) -> None:
        """Note the error and skip the rest of the item that began at token `first`.

        Stops past `;`, or before what opens or closes a list of items.  Where only a semicolon is missing and a new
        line follows, nothing is skipped.
        """
        self.report(error)
        texts, values = self.texts, self.values
        i = self.i
        if error.diagnostic.code == "P105" and first < i and self._starts_line(i):
            return
        while texts[i] not in _SECTIONS and texts[i] not in stops:
            if texts[i] == ";":
                i += 1
                break
            if texts[i] == "end" and (texts[i + 1] in BLOCKS or type(values[i + 1]) is tuple):
                break
            i += 1
        self.i = i if i > first or not texts[i] else first + 1

    def _starts_line(self, i: int) -> bool:
        """Is this token a word at the beginning of a line?"""
        between = self.source[self.ends[i - 1] - self.offset : self.starts[i] - self.offset]
        return "\n" in between and (type(self.values[i]) is tuple or self.texts[i] in KEYWORDS)

    def skip_header(self, error: Unexpected, closing: str) -> None:
        """Note an error in the head of a loop or branch and go on behind its `loop` or `then`, if that is there."""
        self.report(error)
        texts = self.texts
        i = self.i
        while texts[i] != closing:
            if texts[i] in _SECTIONS or texts[i] in (";", "end", "else"):
                raise error
            i += 1
        self.i = i + 1


class GivenUp(Exception):
    """The text is so deep or so wrong that further messages help nobody."""
