"""Reads expressions as `expr_printer` prints them.

Names need their types: a `Scope` holds those of variables, functions, enumerations and records.  A printed name such
as `r[2].p.v` is the longest known one; what follows it are subscripts and fields.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from kilohertz.base import Dotted, InternalError
from kilohertz.ir import expr as x
from kilohertz.ir import make
from kilohertz.ir.builtins import REDUCTIONS, builtin_type
from kilohertz.ir.make.access import indexed_dims
from kilohertz.ir.rules.result_types import binary_type
from kilohertz.ir.types import BOOLEAN, EnumType, FunctionType, RecordType, TupleType, Type


class ReadError(ValueError):
    """The text is not what the printer writes."""


class Token(NamedTuple):
    kind: str  # name, number, string, op, end
    text: str
    line: int


_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n]+|//[^\n]*)
      | (?P<number>\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)
      | (?P<name>[A-Za-z_$][A-Za-z0-9_$#]*|'(?:[^'\\]|\\.)*')
      | (?P<string>"(?:[^"\\]|\\.)*")
      | (?P<op>:=|->|<=|>=|==|<>|\.[-+*/^]|[-+*/^<>=(){}\[\],;:.])""",
    re.VERBOSE | re.DOTALL,
)
_CONDITIONS = ("$when", "$tick")  # of a scalar Flat: a when's condition, the tick of a partition
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


def tokens(text: str) -> list[Token]:
    """The tokens of a text, an `end` last."""
    cut: list[Token] = []
    at, line = 0, 1
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ReadError(f"line {line}: unexpected {text[at]!r}")
        kind, piece = match.lastgroup or "", match.group()
        if kind != "space":
            cut.append(Token(kind, piece, line))
        line += piece.count("\n")
        at = match.end()
    cut.append(Token("end", "", line))
    return cut


def unquoted(text: str) -> str:
    """What a string literal stands for."""
    return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m.group(1), m.group(1)), text[1:-1], flags=re.DOTALL)


@dataclass(slots=True)
class Scope:
    """What names mean."""

    variables: dict[str, Type] = field(default_factory=dict)
    functions: Mapping[str, FunctionType] = field(default_factory=dict)
    enums: dict[str, EnumType] = field(default_factory=dict)
    records: dict[str, RecordType] = field(default_factory=dict)

    def with_variables(self, more: Mapping[str, Type]) -> Scope:
        """The scope inside something that declares more names."""
        return Scope({**self.variables, **more}, self.functions, self.enums, self.records)


def read_expr(text: str, scope: Scope | Mapping[str, Type] | None = None) -> x.Expr:
    """One expression; `scope` may be just the types of its variables."""
    known = scope if isinstance(scope, Scope) else Scope(dict(scope or {}))
    reader = ExprReader(tokens(text), known)
    e = reader.expression()
    reader.expect_end()
    return e


class ExprReader:
    """Recursive descent; long sums, products, conjunctions and elseif chains are loops."""

    def __init__(self, tokens: list[Token], scope: Scope) -> None:
        self.tokens = tokens
        self.at = 0
        self.scope = scope
        self._shared: dict[str, x.Expr] = {}

    # --------------------------------------------------------------------------------------------------- tokens

    def peek(self, *texts: str) -> bool:
        """The next token is one of these (never a string's content)."""
        token = self.tokens[self.at]
        return token.kind != "string" and token.text in texts

    def accept(self, text: str) -> bool:
        if self.peek(text):
            self.at += 1
            return True
        return False

    def expect(self, text: str) -> None:
        if not self.accept(text):
            raise self.error(f"`{text}` expected")

    def take(self, kind: str) -> str:
        token = self.tokens[self.at]
        if token.kind != kind:
            raise self.error(f"a {kind} expected")
        self.at += 1
        return token.text

    def at_clock(self) -> bool:
        """A clocked partition or a tick of a scalar Flat begins here: no variable is followed by a number."""
        after = self.tokens[min(self.at + 1, len(self.tokens) - 1)]
        return self.peek("partition", "tick") and (after.kind == "number" or after.text == "continuous")

    def expect_end(self) -> None:
        if self.tokens[self.at].kind != "end":
            raise self.error("nothing more expected")

    def error(self, message: str) -> ReadError:
        token = self.tokens[self.at]
        return ReadError(f"line {token.line}: {message}, not `{token.text}`")

    # ------------------------------------------------------------------------------------------------ operators

    def expression(self) -> x.Expr:
        if self.peek("if"):
            return self._if()
        first = self._logical_or()
        if not self.accept(":"):
            return first
        second = self._logical_or()
        if not self.accept(":"):
            return make.range_(first, None, second)
        return make.range_(first, second, self._logical_or())

    def _if(self) -> x.Expr:
        branches: list[tuple[x.Expr, x.Expr]] = []
        while self.accept("if" if not branches else "elseif"):
            condition = self.expression()
            self.expect("then")
            branches.append((condition, self.expression()))
        self.expect("else")
        result = self.expression()
        for condition, then in reversed(branches):
            result = x.IfExp(condition, then, result)
        return result

    def _left_to_right(self, operand: Callable[[], x.Expr], *ops: str) -> x.Expr:
        result = operand()
        while self.peek(*ops):
            op = self.tokens[self.at].text
            self.at += 1
            right = operand()
            result = x.Binary(op, result, right, binary_type(op, result.ty, right.ty))
        return result

    def _logical_or(self) -> x.Expr:
        return self._left_to_right(self._logical_and, "or")

    def _logical_and(self) -> x.Expr:
        return self._left_to_right(self._negation, "and")

    def _negation(self) -> x.Expr:
        return x.Unary("not", self._relation()) if self.accept("not") else self._relation()

    def _relation(self) -> x.Expr:
        left = self._sum()
        if not self.peek("<", "<=", ">", ">=", "==", "<>"):
            return left
        op = self.tokens[self.at].text
        self.at += 1
        right = self._sum()
        return x.Binary(op, left, right, binary_type(op, left.ty, right.ty))

    def _sum(self) -> x.Expr:
        if not self.accept("-"):
            return self._continued_sum(self._product())
        number = self.tokens[self.at].kind == "number"
        start = self.at
        term = self._product()
        if number and self.at == start + 1:  # a bare number: its sign belongs to it
            return self._continued_sum(make.neg(term))
        return self._continued_sum(x.Unary("-", term))

    def _continued_sum(self, first: x.Expr) -> x.Expr:
        waiting = [first]
        return self._left_to_right(lambda: waiting.pop() if waiting else self._product(), "+", "-", ".+", ".-")

    def _product(self) -> x.Expr:
        return self._left_to_right(self._power, "*", "/", ".*", "./")

    def _power(self) -> x.Expr:
        base = self.primary()
        if not self.peek("^", ".^"):
            return base
        op = self.tokens[self.at].text
        self.at += 1
        exponent = self.primary()
        return x.Binary(op, base, exponent, binary_type(op, base.ty, exponent.ty))

    # ------------------------------------------------------------------------------------------------ primaries

    def primary(self) -> x.Expr:
        """A number, name, call or anything in brackets."""
        token = self.tokens[self.at]
        if token.kind == "number":
            self.at += 1
            return x.Int(int(token.text)) if token.text.isdigit() else x.Real(float(token.text))
        if token.kind == "string":
            self.at += 1
            return x.Str(unquoted(token.text))
        if token.kind == "name":
            return self._postfix(self._named())
        if self.accept("("):
            inner = self.expression()
            self.expect(")")
            return self._postfix(inner)
        if self.accept("{"):
            return self._postfix(self._array())
        raise self.error("an expression expected")

    def _postfix(self, base: x.Expr) -> x.Expr:
        while self.peek("[", "."):
            if self.accept("."):
                base = x.Field(base, self.take("name"))
                continue
            self.expect("[")
            subs = self.until("]", self._subscript)
            base = x.Index(base, tuple(subs), Type(base.ty.base, indexed_dims(base.ty, tuple(subs))))
        return base

    def _subscript(self) -> x.Expr:
        if self.peek(":") and self.tokens[self.at + 1].text in (",", "]"):
            self.at += 1
            return x.Colon()
        return self.expression()

    def until(self, close: str, part: Callable[[], x.Expr]) -> list[x.Expr]:
        """Parts between commas up to a closing bracket."""
        parts: list[x.Expr] = []
        while not self.accept(close):
            if parts:
                self.expect(",")
            parts.append(part())
        return parts

    def _array(self) -> x.Expr:
        comprehension = self._comprehension("", "}")
        if comprehension is not None:
            return comprehension
        elements = self.until("}", self.expression)
        if not elements:
            raise self.error("an element expected")
        return x.Array(tuple(elements), elements[0].ty.array_of(len(elements)))

    def _comprehension(self, op: str, close: str) -> x.Expr | None:
        """`body for i in r, ...` up to the bracket; None, with nothing read, where there is no `for`.

        The iterators' types are needed for the body, so they are read first.
        """
        start, loop = self.at, self._find_for()
        if loop is None:
            return None
        self.at = loop
        iterators: list[tuple[str, x.Expr]] = []
        while self.accept("for" if not iterators else ","):
            name = self.take("name")
            self.expect("in")
            iterators.append((name, self.expression()))
        self.expect(close)
        end, outer = self.at, self.scope
        self.at = start
        self.scope = outer.with_variables({name: over.ty.element() for name, over in iterators})
        body = self.expression()
        self.expect("for")
        self.at, self.scope = end, outer
        sizes = [over.ty.dims[0] for _, over in reversed(iterators)]
        return x.Comprehension(op, body, tuple(iterators), body.ty if op else body.ty.array_of(*sizes))

    def _find_for(self) -> int | None:
        """Where this bracket's own `for` stands."""
        depth = 0
        for k in range(self.at, len(self.tokens)):
            token = self.tokens[k]
            if token.kind == "op" and token.text in "([{":
                depth += 1
            elif token.kind == "op" and token.text in ")]}":
                depth -= 1
            elif depth == 0 and token.kind == "name" and token.text == "for":
                return k
            if depth < 0 or (depth == 0 and token.text == ","):
                return None
        return None

    # ---------------------------------------------------------------------------------------------------- names

    def _named(self) -> x.Expr:
        if self.accept("true"):
            return x.TRUE
        if self.accept("false"):
            return x.FALSE
        if self.accept("function"):
            return self._function_ref()
        if self.tokens[self.at].text in self._shared:
            self.at += 1
            return self._shared[self.tokens[self.at - 1].text]
        if self.peek("let") and self.tokens[self.at + 1].text == "(":
            return self._let()
        wrapped = self._wrapped()
        if wrapped is not None:
            return wrapped
        prefixes = self._prefixes()
        for text, after in reversed(prefixes):
            if text in self.scope.variables and self.tokens[after].text != "(":
                self.at = after
                return x.Ref(text, self.scope.variables[text])
            name = Dotted.read(text)
            owner, literal = str(name.owner), name.last
            if owner in self.scope.enums and literal in self.scope.enums[owner].literals:
                self.at = after
                enum = self.scope.enums[owner]
                return x.Enum(enum, enum.literals.index(literal) + 1)
            if self.tokens[after].text == "(":
                self.at = after + 1
                return self._called(text)
        raise self.error("a known name expected")

    def _let(self) -> x.Expr:
        """`let($1 = a*b, $1 + sin($1))`: parts that stand in an expression several times."""
        outer, self._shared = self._shared, {}
        self.at += 2
        while self.tokens[self.at + 1].text == "=":
            name = self.take("name")
            self.expect("=")
            self._shared[name] = self.expression()
            self.expect(",")
        result = self.expression()
        self.expect(")")
        self._shared = outer
        return result

    def _wrapped(self) -> x.Expr | None:
        """A name with another in brackets: `der(x)` and `pre(b)` of the forms where they are variables, `$D(f)(x)`."""
        if self.tokens[self.at + 1].text != "(":
            return None
        text, after = self.bracketed()
        if text in self.scope.variables:
            self.at = after
            return x.Ref(text, self.scope.variables[text])
        if self.tokens[after].text == "(" and text in self.scope.functions:
            self.at = after + 1
            return self._called(text)
        return None

    def bracketed(self) -> tuple[str, int]:
        """The text from here to the bracket that closes the next one, and the position after it."""
        depth, k, pieces = 0, self.at, []
        while self.tokens[k].kind != "end":
            pieces.append(self.tokens[k].text)
            depth += (pieces[-1] == "(") - (pieces[-1] == ")")
            k += 1
            if depth == 0 and pieces[-1] == ")":
                break
        return "".join(pieces), k

    def _prefixes(self) -> list[tuple[str, int]]:
        """Texts a name starting here may have, with the position after each; the shortest first."""
        text, k = self.tokens[self.at].text, self.at + 1
        texts = [(text, k)]
        while True:
            if self.tokens[k].text == "." and self.tokens[k + 1].kind == "name":
                text, k = f"{text}.{self.tokens[k + 1].text}", k + 2
            elif self.tokens[k].text == "[" and (subscript := self._literal_subscript(k)):
                text, k = text + subscript[0], subscript[1]
            else:
                return texts
            texts.append((text, k))

    def _literal_subscript(self, k: int) -> tuple[str, int] | None:
        pieces = []
        while self.tokens[k].text != "]":
            if self.tokens[k].kind == "end" or not re.fullmatch(r"[\[\],-]|\d+", self.tokens[k].text):
                return None
            pieces.append(self.tokens[k].text)
            k += 1
        return "".join(pieces) + "]", k + 1

    def _called(self, name: str) -> x.Expr:
        if name in self.scope.records and (self.peek(")") or self.tokens[self.at + 1].text == "="):
            return self._record(self.scope.records[name])
        if name in REDUCTIONS:
            reduction = self._comprehension(name, ")")
            if reduction is not None:
                return reduction
        if name == "fill" and (empty := self._empty_array()) is not None:
            return empty
        args = tuple(self.until(")", self._subscript))
        if name in _CONDITIONS:
            return x.Builtin(name, args, BOOLEAN)
        if name == "item":
            assert isinstance(args[1], x.Int)
            return x.Item(args[0], args[1].value - 1)
        signature = self._signature(name)
        if signature is not None:
            outputs = signature.outputs
            return x.Call(name, args, outputs[0] if len(outputs) == 1 else Type(TupleType(outputs)))
        if name in self.scope.enums:
            return x.Builtin(name, args, Type(self.scope.enums[name]))
        try:
            return x.Builtin(name, args, builtin_type(name, args))
        except InternalError as error:
            raise self.error(f"{error}; something else expected") from error

    def _signature(self, name: str) -> FunctionType | None:
        held = self.scope.variables.get(name)
        if held is not None and isinstance(held.base, FunctionType):
            return held.base
        return self.scope.functions.get(name)

    def _record(self, base: RecordType) -> x.Expr:
        values = dict(self._named_values())
        if not values and base.fields:
            return x.Record((), Type(base))  # only shows the type of an empty array
        return x.Record(tuple(values[name] for name, _ in base.fields), Type(base))

    def _named_values(self) -> list[tuple[str, x.Expr]]:
        pairs: list[tuple[str, x.Expr]] = []
        while not self.accept(")"):
            if pairs:
                self.expect(",")
            name = self.take("name")
            self.expect("=")
            pairs.append((name, self.expression()))
        return pairs

    def _empty_array(self) -> x.Expr | None:
        """`fill(sample, 0, 3)` with a zero among literal sizes is an array without elements."""
        start = self.at
        args = self.until(")", self._subscript)
        sizes = [e.value if isinstance(e, x.Int) else None for e in args[1:]]
        if 0 in sizes and all(isinstance(e, x.Int | x.Colon) for e in args[1:]):
            return x.Array((), args[0].ty.array_of(*sizes))
        self.at = start
        return None

    def _function_ref(self) -> x.Expr:
        name = next((t for t, after in reversed(self._prefixes()) if self.tokens[after].text == "("), None)
        signature = None if name is None else self._signature(name)
        if name is None or signature is None:
            raise self.error("a function expected")
        while not self.accept("("):
            self.at += 1
        bound = tuple(self._named_values())
        names = {n for n, _ in bound}
        open_inputs = tuple(i for i in signature.inputs if i[0] not in names)
        return x.FunctionRef(name, bound, Type(FunctionType(open_inputs, signature.outputs)))
