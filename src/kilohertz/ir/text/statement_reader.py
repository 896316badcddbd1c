"""Reads equations and statements as `flat_printer` prints them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kilohertz.ir import flat as f
from kilohertz.ir.expr import Expr
from kilohertz.ir.text.expr_reader import ExprReader

_CLOSING = ("end", "else", "elseif", "elsewhen", "initial", "equation", "algorithm", "annotation")


class StatementReader:
    """Blocks up to the word that closes them."""

    def __init__(self, e: ExprReader) -> None:
        self.e = e

    def equations(self) -> list[f.Equation]:
        """Equations up to the end of their block."""
        block: list[f.Equation] = []
        while not self._closed():
            block.append(self._equation())
        return block

    def statements(self) -> list[f.Statement]:
        """Statements up to the end of their block."""
        block: list[f.Statement] = []
        while not self._closed():
            block.append(self._statement())
        return block

    def _closed(self) -> bool:
        operator = self.e.peek("initial") and self.e.tokens[self.e.at + 1].text == "("  # initial()
        return (self.e.peek(*_CLOSING) and not operator) or self.e.at_clock()

    def _equation(self) -> f.Equation:
        if self.e.peek("if"):
            branches, otherwise = self._conditional(self.equations)
            return f.IfEquation(branches, otherwise)
        if self.e.peek("when"):
            return f.WhenEquation(self._when(self.equations))
        common = self._common()
        if common is not None:
            return common
        left = self._target("=")
        if self.e.accept("="):
            right = self.e.expression()
            self.e.expect(";")
            return f.Equality(left, right)
        return self._call(left)

    def _statement(self) -> f.Statement:
        if self.e.peek("if"):
            branches, otherwise = self._conditional(self.statements)
            return f.IfStatement(branches, otherwise)
        if self.e.peek("when"):
            return f.WhenStatement(self._when(self.statements))
        if self.e.accept("for"):
            return self._for()
        if self.e.accept("while"):
            condition = self.e.expression()
            return f.WhileStatement(condition, self._loop("while"))
        for word, kind in (("break", f.Break), ("return", f.Return)):
            if self.e.peek(word) and self.e.tokens[self.e.at + 1].text == ";":
                self.e.at += 2
                return kind()
        common = self._common()
        if common is not None:
            return common
        target = self._target(":=")
        if self.e.accept(":="):
            value = self.e.expression()
            self.e.expect(";")
            return f.Assign(target, value)
        return self._call(target)

    # --------------------------------------------------------------------------------------------------- pieces

    def _conditional(self, body: Callable[[], list[Any]]) -> tuple[list[tuple[Expr, list[Any]]], list[Any]]:
        branches = self._branches("if", "elseif", body)
        otherwise = body() if self.e.accept("else") else []
        self._end("if")
        return branches, otherwise

    def _branches(self, first: str, next_: str, body: Callable[[], list[Any]]) -> list[tuple[Expr, list[Any]]]:
        branches: list[tuple[Expr, list[Any]]] = []
        while self.e.accept(next_ if branches else first):
            condition = self.e.expression()
            self.e.expect("then")
            branches.append((condition, body()))
        return branches

    def _when(self, body: Callable[[], list[Any]]) -> list[tuple[Expr, list[Any]]]:
        branches = self._branches("when", "elsewhen", body)
        self._end("when")
        return branches

    def _for(self) -> f.ForStatement:
        name = self.e.take("name")
        self.e.expect("in")
        over = self.e.expression()
        outer = self.e.scope
        self.e.scope = outer.with_variables({name: over.ty.element()})
        body = self._loop("for")
        self.e.scope = outer
        return f.ForStatement(name, over, body)

    def _loop(self, word: str) -> list[f.Statement]:
        self.e.expect("loop")
        body = self.statements()
        self._end(word)
        return body

    def _end(self, word: str) -> None:
        self.e.expect("end")
        self.e.expect(word)
        self.e.expect(";")

    def _common(self) -> f.Assert | f.Terminate | f.Reinit | None:
        """assert, terminate, reinit; None, with nothing read, for anything else."""
        if self.e.tokens[self.e.at + 1].text != "(" or not self.e.peek("assert", "terminate", "reinit"):
            return None
        word = self.e.take("name")
        self.e.expect("(")
        args = self.e.until(")", self.e.expression)
        self.e.expect(";")
        if word == "assert":
            return f.Assert(args[0], args[1], args[2] if len(args) > 2 else None)
        return f.Terminate(args[0]) if word == "terminate" else f.Reinit(args[0], args[1])

    def _target(self, sign: str) -> Expr | f.TupleTarget:
        """A left-hand side: an expression, or `(a, , b)`."""
        if self.e.peek("(") and self._is_tuple(sign):
            self.e.expect("(")
            elements: list[Expr | None] = []
            while True:
                elements.append(None if self.e.peek(",", ")") else self.e.expression())
                if self.e.accept(")"):
                    return f.TupleTarget(tuple(elements))
                self.e.expect(",")
        return self.e.expression()

    def _is_tuple(self, sign: str) -> bool:
        """The parenthesis holds a comma of its own, or is closed right before the sign of a call of several outputs."""
        depth, commas = 0, 0
        for k in range(self.e.at, len(self.e.tokens)):
            text, kind = self.e.tokens[k].text, self.e.tokens[k].kind
            if kind != "op":
                continue
            depth += (text in "([{") - (text in ")]}")
            commas += depth == 1 and text == ","
            if depth == 0:
                alone = k <= self.e.at + 2 and self.e.tokens[k + 1].text == sign
                return commas > 0 or alone
        return False

    def _call(self, call: Expr | f.TupleTarget) -> f.CallEquation:
        if isinstance(call, f.TupleTarget):
            raise self.e.error("an equation expected")
        self.e.expect(";")
        return f.CallEquation(call)
