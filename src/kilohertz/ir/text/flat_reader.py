"""Reads a Flat as `flat_printer` prints it; origins, which stand in comments, are lost."""

from __future__ import annotations

from kilohertz.ir.expr import Expr, Int
from kilohertz.ir.flat import (
    CONSTANT,
    CONTINUOUS,
    DISCRETE,
    PARAMETER,
    Algorithm,
    Experiment,
    ExternalCall,
    Flat,
    Function,
    Local,
    Purpose,
    Variable,
)
from kilohertz.ir.text.annotation_reader import AnnotationReader
from kilohertz.ir.text.clock_reader import read_clocks
from kilohertz.ir.text.expr_reader import ExprReader, ReadError, Scope, read_expr, tokens, unquoted
from kilohertz.ir.text.statement_reader import StatementReader
from kilohertz.ir.types import (
    BOOLEAN,
    CLOCK,
    INTEGER,
    REAL,
    STRING,
    EnumType,
    ExternalObjectType,
    FunctionType,
    RecordType,
    Type,
)

__all__ = ["ReadError", "Scope", "read_expr", "read_flat", "read_function"]

_PRIMITIVES = {str(t): t for t in (REAL, INTEGER, BOOLEAN, STRING, CLOCK)}


def read_flat(text: str) -> Flat:
    """A model as printed."""
    return FormReader(text, "model").model()


def read_function(text: str, scope: Scope | None = None) -> Function:
    """One function as printed; `scope` knows the functions and types it uses."""
    reader = FormReader(text, "model")
    if scope is not None:
        reader.scope.functions = {**scope.functions, **reader.scope.functions}
        reader.scope.enums.update(scope.enums)
        reader.scope.records.update(scope.records)
    return reader.function()


class FormReader:
    """Declarations in their order; expressions wait until all names are declared."""

    def __init__(self, text: str, word: str) -> None:
        """`word` begins the text of the form."""
        self._word = word
        self.scope = Scope({"time": REAL})
        self.r = StatementReader(ExprReader(tokens(text), self.scope))
        self.e = self.r.e
        self._objects: dict[str, ExternalObjectType] = {}
        self._scan_signatures()

    def model(self) -> Flat:
        name, description = self.head()
        flat = Flat(name, description=description)
        self._skim_variables()
        flat.functions = self.functions()
        self._variables(flat)
        self._sections(flat)
        flat = read_clocks(self.e, self.variable_name, flat)
        self.experiment(flat.experiment)
        self.end()
        self.e.expect_end()
        return flat

    # ------------------------------------------------------------------------------------- what the forms share

    def head(self, word: str = "") -> tuple[str, str]:
        """Name and description behind the word of the form, or another; types are declared after them."""
        self.e.expect(word or self._word)
        name, description = self.dotted(), self.description()
        while self._type_declaration():
            pass
        return name, description

    def functions(self) -> dict[str, Function]:
        """Functions by name."""
        by_name: dict[str, Function] = {}
        while self.e.peek("function", "impure"):
            function = self.function()
            by_name[function.id] = function
        return by_name

    def end(self) -> None:
        """The last line."""
        self.e.expect("end")
        self.dotted()
        self.e.expect(";")

    def _sections(self, flat: Flat) -> None:
        while self.e.peek("initial", "equation", "algorithm"):
            initial = self.e.accept("initial")
            if self.e.accept("equation"):
                (flat.initial_equations if initial else flat.equations).extend(self.r.equations())
                continue
            self.e.expect("algorithm")
            algorithms = flat.initial_algorithms if initial else flat.algorithms
            algorithms.append(Algorithm(self.r.statements()))

    def experiment(self, experiment: Experiment) -> None:
        """The annotation, where there is one."""
        if not self.e.accept("annotation"):
            return
        self.e.expect("(")
        self.e.expect("experiment")
        self.e.expect("(")
        fields = {"StartTime": "start", "StopTime": "stop", "Interval": "interval", "Tolerance": "tolerance"}
        while not self.e.accept(")"):
            name = self.e.take("name")
            self.e.expect("=")
            sign = -1.0 if self.e.accept("-") else 1.0
            setattr(experiment, fields[name], sign * float(self.e.take("number")))
            self.e.accept(",")
        self.e.expect(")")
        self.e.expect(";")

    # ---------------------------------------------------------------------------------------------------- names

    def dotted(self) -> str:
        """Idents and dots; of a derivative `$D(f)`."""
        if self.e.tokens[self.e.at + 1].text == "(" and self.e.peek("$D"):
            text, self.e.at = self.e.bracketed()
            return text
        name = self.e.take("name")
        while self.e.accept("."):
            name += "." + self.e.take("name")
        return name

    def variable_name(self) -> str:
        """A flat name: idents, dots and literal subscripts; or `der(x)` and the like, where no attribute follows."""
        after = self.e.tokens[self.e.at + 1 : self.e.at + 4]
        if len(after) == 3 and after[0].text == "(" and after[2].text != "=":
            name, self.e.at = self.e.bracketed()
            return name
        name = self.e.take("name")
        while self.e.peek(".", "["):
            if self.e.accept("."):
                name += "." + self.e.take("name")
                continue
            while not name.endswith("]") or self.e.peek("["):
                name += self.e.tokens[self.e.at].text
                self.e.at += 1
        return name

    def description(self) -> str:
        """A string behind a declaration."""
        if self.e.tokens[self.e.at].kind != "string":
            return ""
        return unquoted(self.e.take("string"))

    # ---------------------------------------------------------------------------------------------------- types

    def _type_declaration(self) -> bool:
        if self.e.accept("type"):
            name = self.dotted()
            for word in ("=", "enumeration", "("):
                self.e.expect(word)
            literals = [self.e.take("name")]
            while self.e.accept(","):
                literals.append(self.e.take("name"))
            self.e.expect(")")
            self.scope.enums[name] = EnumType(name, tuple(literals))
        elif self.e.accept("record"):
            name = self.dotted()
            self.scope.records[name] = RecordType(name, tuple(self._fields()))
            self.dotted()
        elif self.e.accept("class"):
            self._object()
        else:
            return False
        self.e.expect(";")
        return True

    def _fields(self) -> list[tuple[str, Type]]:
        fields: list[tuple[str, Type]] = []
        while not self.e.accept("end"):
            ty = self.type_()
            fields.append((self.e.take("name"), ty))
            self.e.expect(";")
        return fields

    def _object(self) -> None:
        name = self.dotted()
        for word in ("extends", "ExternalObject", "("):
            self.e.expect(word)
        constructor = self.dotted()
        self.e.expect(",")
        self._objects[name] = ExternalObjectType(name, constructor, self.dotted())
        for word in (")", ";", "end"):
            self.e.expect(word)
        self.dotted()

    def _base(self) -> Type:
        if self.e.accept("function"):
            return Type(self._function_type())
        name = self.dotted()
        base = self.scope.enums.get(name) or self.scope.records.get(name) or self._objects.get(name)
        if base is not None:
            return Type(base)
        if name not in _PRIMITIVES:
            raise self.e.error(f"`{name}` is not a known type; `{name}`")
        return _PRIMITIVES[name]

    def _function_type(self) -> FunctionType:
        self.e.expect("(")
        inputs: list[tuple[str, Type]] = []
        while not self.e.accept(")"):
            ty = self.type_()
            inputs.append((self.e.take("name"), ty))
            self.e.accept(",")
        self.e.expect("->")
        self.e.expect("(")
        outputs: list[Type] = []
        while not self.e.accept(")"):
            outputs.append(self.type_())
            self.e.accept(",")
        return FunctionType(tuple(inputs), tuple(outputs))

    def type_(self) -> Type:
        """A type with literal sizes or colons."""
        base = self._base()
        return base.array_of(*self._literal_dims()) if self.e.accept("[") else base

    def _literal_dims(self) -> list[int | None]:
        dims: list[int | None] = []
        while not self.e.accept("]"):
            dims.append(None if self.e.accept(":") else int(self.e.take("number")))
            self.e.accept(",")
        return dims

    # ------------------------------------------------------------------------------------------------ variables

    def _skim_variables(self) -> None:
        """Names and types of the model's variables, before any expression needs them."""
        start = self.e.at
        while self.e.peek("function", "impure"):
            self.skip_function()
        while not self.e.peek("initial", "equation", "algorithm", "annotation", "end") and not self.e.at_clock():
            if self.e.accept("protected") or self.e.accept("public"):
                continue
            self._prefixes()
            ty = self.type_()
            self.scope.variables[self.variable_name()] = ty
            self.skip_to_semicolon()
        self.e.at = start

    def _prefixes(self) -> list[str]:
        words = []
        while self.e.peek("final", "flow", "stream", CONSTANT, PARAMETER, DISCRETE, CONTINUOUS, "input", "output"):
            words.append(self.e.take("name"))
        return words

    def skip_to_semicolon(self) -> None:
        """Go on behind the next one."""
        while not self.e.peek(";"):
            self.e.at += 1
        self.e.at += 1

    def _variables(self, flat: Flat) -> None:
        protected = False
        while not self.e.peek("initial", "equation", "algorithm", "annotation", "end") and not self.e.at_clock():
            if self.e.peek("protected", "public"):
                protected = self.e.take("name") == "protected"
                continue
            variable = self._variable()
            variable.protected = protected
            flat.variables[variable.name] = variable

    def _variable(self) -> Variable:
        words = self._prefixes()
        ty = self.type_()
        v = Variable(self.variable_name(), ty, CONTINUOUS if ty.base == REAL.base else DISCRETE)
        v.final = "final" in words
        v.variability = next((w for w in words if w in (CONSTANT, PARAMETER, DISCRETE, CONTINUOUS)), v.variability)
        v.causality = next((w for w in words if w in ("input", "output")), "")
        v.connection = next((w for w in words if w in ("flow", "stream")), "")
        if self.e.accept("("):
            while not self.e.accept(")"):
                name = self.e.take("name")
                self.e.expect("=")
                v.attributes[name] = self.e.expression()
                self.e.accept(",")
        if self.e.accept("="):
            v.binding = self.e.expression()
        v.description = self.description()
        if self.e.accept("annotation"):
            self._variable_annotation(v)
        self.e.expect(";")
        return v

    def _variable_annotation(self, v: Variable) -> None:
        self.e.expect("(")
        while not self.e.accept(")"):
            if self.e.accept("Evaluate"):
                self.e.expect("=")
                self.e.expect("true")
                v.structural = True
            else:
                self.e.expect("purpose")
                self.e.expect("=")
                v.purpose = Purpose(self.e.take("name"))
            self.e.accept(",")

    # ------------------------------------------------------------------------------------------------ functions

    def _scan_signatures(self) -> None:
        """Signatures of all functions first: they may call one another.  Types are declared before them."""
        if not self.e.peek(self._word):
            return
        start = self.e.at
        self.head()
        signatures: dict[str, FunctionType] = {}
        while self.e.peek("function", "impure"):
            begin = self.e.at
            name, inputs, outputs = self._signature()
            signatures[name] = FunctionType(tuple(inputs), tuple(outputs))
            self.e.at = begin
            self.skip_function()
        self.scope.functions = signatures
        self.e.at = start

    def _signature(self) -> tuple[str, list[tuple[str, Type]], list[Type]]:
        self.e.accept("impure")
        self.e.expect("function")
        name = self.dotted()
        inputs: list[tuple[str, Type]] = []
        outputs: list[Type] = []
        while self.e.peek("input", "output"):
            word = self.e.take("name")
            ty = self._open_type()
            local = self.e.take("name")
            if word == "input":
                inputs.append((local, ty))
            else:
                outputs.append(ty)
            self.skip_to_semicolon()
        return name, inputs, outputs

    def _open_type(self) -> Type:
        """A type whose sizes may be expressions, which are skipped."""
        base = self._base()
        if not self.e.accept("["):
            return base
        dims: list[int | None] = []
        depth, begin = 0, self.e.at
        while True:
            token = self.e.tokens[self.e.at]
            if depth == 0 and token.text in (",", "]"):
                only = self.e.tokens[begin] if self.e.at == begin + 1 else None
                dims.append(int(only.text) if only is not None and only.kind == "number" else None)
                begin = self.e.at + 1
            depth += (token.text in "([{") - (token.text in ")]}") if token.kind == "op" else 0
            self.e.at += 1
            if depth < 0:
                return base.array_of(*dims)

    def skip_function(self) -> None:
        """Go on behind a function."""
        self.e.accept("impure")
        self.e.expect("function")
        name = self.dotted()
        while True:
            self.e.at += 1
            if self.e.peek("end"):
                back = self.e.at
                self.e.at += 1
                if not self.e.peek("if", "for", "while", "when") and self.dotted() == name:
                    self.e.expect(";")
                    return
                self.e.at = back

    def function(self) -> Function:
        """One function."""
        begin = self.e.at
        names = self._local_types()
        self.e.at = begin
        pure = not self.e.accept("impure")
        self.e.expect("function")
        f = Function(self.dotted(), [], [], [], [], pure=pure)
        outer, self.e.scope = self.e.scope, self.scope.with_variables(names)
        while self.e.peek("input", "output"):
            word = self.e.take("name")
            (f.inputs if word == "input" else f.outputs).append(self._local())
        if self.e.accept("protected"):
            while not self.e.peek("algorithm", "external", "annotation", "end"):
                f.locals.append(self._local())
        if self.e.accept("external"):
            f.external = self._external()
        elif self.e.accept("algorithm"):
            f.body = self.r.statements()
        if self.e.accept("annotation"):
            AnnotationReader(self.e).read(f)
        self.e.expect("end")
        self.dotted()
        self.e.expect(";")
        self.e.scope = outer
        return f

    def _local_types(self) -> dict[str, Type]:
        self._signature_head()
        names: dict[str, Type] = {}
        while not self.e.peek("algorithm", "external", "annotation", "end"):
            if self.e.accept("protected"):
                continue
            if self.e.peek("input", "output"):
                self.e.take("name")
            ty = self._open_type()
            names[self.e.take("name")] = ty
            self.skip_to_semicolon()
        return names

    def _signature_head(self) -> None:
        self.e.accept("impure")
        self.e.expect("function")
        self.dotted()

    def _local(self) -> Local:
        base = self._base()
        sizes: list[Expr | None] = []
        if self.e.accept("["):
            while not self.e.accept("]"):
                sizes.append(None if self.e.accept(":") else self.e.expression())
                self.e.accept(",")
        dims = tuple(s.value if isinstance(s, Int) else None for s in sizes)
        x = Local(self.e.take("name"), base.array_of(*dims) if dims else base)
        if any(s is not None and not isinstance(s, Int) for s in sizes):
            x.dims = tuple(sizes)
        x.default = self.e.expression() if self.e.accept("=") else None
        x.description = self.description()
        self.e.expect(";")
        return x

    def _external(self) -> ExternalCall:
        language = unquoted(self.e.take("string"))
        result = None
        if self.e.tokens[self.e.at + 1].text != "(":
            result = self.e.primary()
            self.e.expect("=")
        symbol = self.e.take("name")
        self.e.expect("(")
        call = ExternalCall(language, symbol, tuple(self.e.until(")", self.e.expression)), result)
        if self.e.accept("annotation"):
            AnnotationReader(self.e).read_external(call)
        self.e.expect(";")
        return call
