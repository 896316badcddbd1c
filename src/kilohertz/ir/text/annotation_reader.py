"""Reads the annotations of functions as `flat_printer` prints them."""

from __future__ import annotations

from kilohertz.ir.flat import DerivativeOf, ExternalCall, Function
from kilohertz.ir.text.expr_reader import ExprReader, unquoted


class AnnotationReader:
    """What functions say about themselves."""

    def __init__(self, e: ExprReader) -> None:
        self.e = e

    def read_external(self, call: ExternalCall) -> None:
        """What to include and link."""
        fields = {
            "Include": "includes",
            "Library": "libraries",
            "IncludeDirectory": "include_directories",
            "LibraryDirectory": "library_directories",
            "SourceDirectory": "source_directories",
        }
        self.e.expect("(")
        while not self.e.accept(")"):
            name = self.e.take("name")
            self.e.expect("=")
            if name == "Pure":
                call.declared_pure = self.e.take("name") == "true"
                self.e.accept(",")
                continue
            self.e.expect("{")
            texts: list[str] = []
            while not self.e.accept("}"):
                texts.append(unquoted(self.e.take("string")))
                self.e.accept(",")
            setattr(call, fields[name], tuple(texts))
            self.e.accept(",")

    def read(self, f: Function) -> None:
        """Inlining, derivatives, inverses."""
        self.e.expect("(")
        while not self.e.accept(")"):
            name = self.e.take("name")
            if name == "derivative":
                f.derivatives.append(self._derivative())
            elif name == "inverse":
                f.inverses.append(self._inverse())
            elif name == "partialDerivative":
                f.partial_of = self._partial_derivative()
            else:
                self.e.expect("=")
                self._flag(f, name)
            self.e.accept(",")
        self.e.expect(";")

    def _flag(self, f: Function, name: str) -> None:
        if name == "smoothOrder":
            f.smooth_order = int(self.e.take("number"))
            return
        value = self.e.take("name") == "true"
        fields = {
            "Inline": "inline",
            "LateInline": "late_inline",
            "GenerateEvents": "generate_events",
            "RecordConstructor": "is_record_constructor",
        }
        setattr(f, fields[name], value)

    def _dotted(self) -> str:
        name = self.e.take("name")
        while self.e.accept("."):
            name += "." + self.e.take("name")
        return name

    def _derivative(self) -> DerivativeOf:
        order = 1
        lists: dict[str, list[str]] = {"noDerivative": [], "zeroDerivative": []}
        if self.e.accept("("):
            while not self.e.accept(")"):
                name = self.e.take("name")
                self.e.expect("=")
                if name == "order":
                    order = int(self.e.take("number"))
                else:
                    lists[name].append(self.e.take("name"))
                self.e.accept(",")
        self.e.expect("=")
        return DerivativeOf(self._dotted(), order, tuple(lists["noDerivative"]), tuple(lists["zeroDerivative"]))

    def _inverse(self) -> tuple[str, str, tuple[str, ...]]:
        self.e.expect("(")
        solved = self.e.take("name")
        self.e.expect("=")
        function = self._dotted()
        self.e.expect("(")
        args: list[str] = []
        while not self.e.accept(")"):
            args.append(self.e.take("name"))
            self.e.accept(",")
        self.e.expect(")")
        return solved, function, tuple(args)

    def _partial_derivative(self) -> tuple[str, ...]:
        self.e.expect("(")
        names = [self._dotted()]
        while not self.e.accept(")"):
            self.e.expect(",")
            names.append(self.e.take("name"))
        return tuple(names)
