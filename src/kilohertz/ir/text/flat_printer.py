"""Flat as text: Modelica as far as it goes (`text.expr_printer` says where it does not).

Types and functions come first, then the variables, then equations and algorithms.  A comment at the end of a line
says where it came from: `// file:line instance [passes]`.  `annotation(Evaluate = true)` marks a structural parameter.
Clocked partitions stand behind them
(`partition 1 every 2/1 from 0/1 by Clock(0.1) equations 3, 4 variables x;`), in a scalar Flat their ticks.
`flat_reader` reads all of it back except the origins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from kilohertz.base import Origin, SourceMap
from kilohertz.ir import flat as form
from kilohertz.ir.expr import Enum, Expr, IfExp
from kilohertz.ir.text.expr_printer import print_expr, print_type, quoted
from kilohertz.ir.ticks import ScalarFlat
from kilohertz.ir.traverse import flat_expressions, walk_all
from kilohertz.ir.types import REAL, Base, EnumType, ExternalObjectType, FunctionType, RecordType, TupleType, Type

_UNNAMED = (TupleType, FunctionType)

__all__ = ["print_declarations", "print_experiment", "print_expr", "print_flat", "print_function", "print_type"]


def print_flat(flat: form.Flat, sources: SourceMap | None = None) -> str:
    """The whole model; `sources` turns spans into line numbers."""
    p = _Printer(sources)
    p.line(f"model {flat.name}{_description(flat.description)}")
    types = (v.ty for v in flat.variables.values())
    p.lines += print_declarations(flat.functions, types, flat_expressions(flat), sources)
    _variables(p, flat.variables.values())
    _section(p, "initial equation", flat.initial_equations)
    _section(p, "equation", flat.equations)
    _algorithms(p, "initial algorithm", flat.initial_algorithms)
    _algorithms(p, "algorithm", flat.algorithms)
    p.indented((text, None) for text in _clocks(flat))
    experiment = print_experiment(flat.experiment)
    if experiment:
        p.indented([(f"annotation({experiment});", None)])
    p.line(f"end {flat.name};")
    return "\n".join(p.lines) + "\n"


def print_declarations(
    functions: Mapping[str, form.Function],
    types: Iterable[Type],
    roots: Iterable[Expr],
    sources: SourceMap | None = None,
) -> list[str]:
    """Lines for the types that occur in variables, functions and expressions, and for the functions."""
    p = _Printer(sources)
    p.indented((text, None) for text in _type_declarations(functions, types, roots))
    for function in functions.values():
        _function(p, function)
    return p.lines


def print_function(function: form.Function, sources: SourceMap | None = None) -> str:
    """One function."""
    p = _Printer(sources)
    _function(p, function)
    return "\n".join(line.removeprefix("  ") for line in p.lines) + "\n"


# --------------------------------------------------------------------------------------------- equations, statements


class _Printer:
    """Collects lines; `sources` gives the line numbers of origins."""

    def __init__(self, sources: SourceMap | None) -> None:
        self.lines: list[str] = []
        self._sources = sources
        self._depth = 0

    def line(self, text: str, origin: Origin | None = None) -> None:
        comment = "" if origin is None else self._comment(origin)
        self.lines.append("  " * self._depth + text + comment)

    def block(self, items: Iterable[Any]) -> None:
        self._depth += 1
        for item in items:
            _LINES[type(item)](self, item)
        self._depth -= 1

    def nested(self, items: Iterable[Any]) -> None:
        """A block inside something already indented by one."""
        self._depth += 1
        self.block(items)
        self._depth -= 1

    def indented(self, texts: Iterable[tuple[str, Origin | None]]) -> None:
        self._depth += 1
        for text, origin in texts:
            self.line(text, origin)
        self._depth -= 1

    def _comment(self, origin: Origin) -> str:
        words = [self._place(origin)] if origin.spans else []
        words += [origin.path] if origin.path else []
        words += [f"[{', '.join(origin.passes)}]"] if origin.passes else []
        return f" // {' '.join(words)}" if words else ""

    def _place(self, origin: Origin) -> str:
        span = origin.spans[0]
        position = None if self._sources is None else self._sources.position(span)
        return span.file if position is None else f"{span.file}:{position[0]}"

    def branches(self, keyword: str, branches: Sequence[tuple[Expr, Sequence[Any]]], origin: Origin) -> None:
        for k, (condition, body) in enumerate(branches):
            word = f"else{keyword}" if k else keyword
            self.line(f"{word} {print_expr(condition)} then", None if k else origin)
            self.block(body)


def _equality(p: _Printer, e: form.Equality) -> None:
    p.line(f"{_target(e.left)} = {print_expr(e.right)};", e.origin)


def _assign(p: _Printer, e: form.Assign) -> None:
    p.line(f"{_target(e.target)} := {print_expr(e.value)};", e.origin)


def _target(target: Expr | form.TupleTarget) -> str:
    if isinstance(target, Expr):
        # an equation that starts with `if` would read as an if-equation
        return f"({print_expr(target)})" if isinstance(target, IfExp) else print_expr(target)
    return "(" + ", ".join("" if e is None else print_expr(e) for e in target.elements) + ")"


def _conditional(p: _Printer, e: form.IfEquation | form.IfStatement) -> None:
    p.branches("if", e.branches, e.origin)
    if e.otherwise:
        p.line("else")
        p.block(e.otherwise)
    p.line("end if;")


def _when(p: _Printer, e: form.WhenEquation | form.WhenStatement) -> None:
    p.branches("when", e.branches, e.origin)
    p.line("end when;")


def _for(p: _Printer, e: form.ForStatement) -> None:
    p.line(f"for {e.name} in {print_expr(e.range)} loop", e.origin)
    p.block(e.body)
    p.line("end for;")


def _while(p: _Printer, e: form.WhileStatement) -> None:
    p.line(f"while {print_expr(e.condition)} loop", e.origin)
    p.block(e.body)
    p.line("end while;")


def _assert(p: _Printer, e: form.Assert) -> None:
    level = "" if e.level is None else f", {print_expr(e.level)}"
    p.line(f"assert({print_expr(e.condition)}, {print_expr(e.message)}{level});", e.origin)


_LINES: dict[type, Callable[[_Printer, Any], None]] = {
    form.Equality: _equality,
    form.Assign: _assign,
    form.IfEquation: _conditional,
    form.IfStatement: _conditional,
    form.WhenEquation: _when,
    form.WhenStatement: _when,
    form.ForStatement: _for,
    form.WhileStatement: _while,
    form.Assert: _assert,
    form.Terminate: lambda p, e: p.line(f"terminate({print_expr(e.message)});", e.origin),
    form.Reinit: lambda p, e: p.line(f"reinit({print_expr(e.target)}, {print_expr(e.value)});", e.origin),
    form.CallEquation: lambda p, e: p.line(f"{print_expr(e.call)};", e.origin),
    form.Break: lambda p, e: p.line("break;", e.origin),
    form.Return: lambda p, e: p.line("return;", e.origin),
}


# ------------------------------------------------------------------------------------------------------- declarations


def _description(text: str) -> str:
    return f" {quoted(text)}" if text else ""


def _section(p: _Printer, title: str, items: Sequence[Any]) -> None:
    if items:
        p.line(title)
        p.block(items)


def _algorithms(p: _Printer, title: str, algorithms: Sequence[form.Algorithm]) -> None:
    for algorithm in algorithms:
        p.line(title, algorithm.origin)
        p.block(algorithm.statements)


def _variables(p: _Printer, variables: Iterable[form.Variable]) -> None:
    protected = False
    for v in variables:
        if v.protected != protected:
            protected = v.protected
            p.line("protected" if protected else "public")
        p.indented([(_variable(v), v.origin)])


def _variable(v: form.Variable) -> str:
    usual = form.CONTINUOUS if v.ty.base == REAL.base else form.DISCRETE
    words = ["final"] if v.final else []
    words += [v.connection] if v.connection else []
    words += [v.variability] if v.variability != usual else []
    words += [v.causality] if v.causality else []
    attributes = ", ".join(f"{name} = {print_expr(e)}" for name, e in v.attributes.items())
    modified = f"({attributes})" if attributes else ""
    binding = "" if v.binding is None else f" = {print_expr(v.binding)}"
    said = ["Evaluate = true"] if v.structural else []
    said += [f"purpose = {v.purpose.value}"] if v.purpose is not form.Purpose.DECLARED else []
    annotation = f" annotation({', '.join(said)})" if said else ""
    declared = f"{v.name}{modified}{binding}{_description(v.description)}{annotation};"
    return " ".join([*words, print_type(v.ty), declared])


def _clocks(flat: form.Flat) -> Iterator[str]:
    """Clocked partitions, by the numbers of their equations and algorithms; of a scalar Flat its ticks."""
    # one continuous partition with everything in it goes without saying
    for c in flat.clocks if any(c.base is not None for c in flat.clocks) else ():
        base = "continuous" if c.base is None else str(c.base)
        parts = [f"partition {base}", *_ratio(c.factor, c.shift)]
        parts += [f"by {print_expr(c.clock)}"] if c.clock is not None else []
        parts += [f"solver {print_expr(c.solver)}"] if c.solver is not None else []
        parts += _list_of("equations", map(str, c.equations)) + _list_of("algorithms", map(str, c.algorithms))
        yield f"{' '.join([*parts, *_list_of('variables', c.variables)])};"
    for t in flat.ticks if isinstance(flat, ScalarFlat) else ():
        parts = [f"tick {t.key}", *_ratio(t.factor, t.shift)]
        known = (("period", t.period), ("condition", t.condition), ("first", t.start_interval))
        parts += [f"{word} {print_expr(e)}" for word, e in known if e is not None]
        parts += [f"solver {quoted(t.solver)}"] if t.solver else []
        yield f"{' '.join([*parts, *_list_of('variables', t.variables)])};"


def _ratio(factor: Fraction, shift: Fraction) -> list[str]:
    parts = (f"{f.numerator}/{f.denominator}" for f in (factor, shift))
    return [f"{word} {text}" for word, text in zip(("every", "from"), parts, strict=True)]


def _list_of(word: str, items: Iterable[str]) -> list[str]:
    text = ", ".join(items)
    return [f"{word} {text}"] if text else []


def print_experiment(e: form.Experiment) -> str:
    """The annotation, empty where nothing is given."""
    entries = [("StartTime", e.start), ("StopTime", e.stop), ("Interval", e.interval), ("Tolerance", e.tolerance)]
    settings = ", ".join(f"{name} = {value!r}" for name, value in entries if value is not None)
    return f"experiment({settings})" if settings else ""


# --------------------------------------------------------------------------------------------------------------- types


def _type_declarations(
    functions: Mapping[str, form.Function], types: Iterable[Type], roots: Iterable[Expr]
) -> list[str]:
    """Enumerations, records and external objects that occur, those needed by others first."""
    bases: dict[Base, None] = {}
    for ty in types:
        _collect(ty, bases)
    for f in functions.values():
        for local in (*f.inputs, *f.outputs, *f.locals):
            _collect(local.ty, bases)
    for e in walk_all(roots):
        if isinstance(e, Enum) or not isinstance(e.ty.base, TupleType):
            _collect(e.ty, bases)
    by_name = {base.name: base for base in sorted(bases, key=_known_sizes) if not isinstance(base, _UNNAMED)}
    kept = set(by_name.values())
    return [_declared(base) for base in bases if base in kept]


def _known_sizes(base: Base) -> int:
    """Inside functions a record may know fewer of its fields' sizes than elsewhere: declare it where most are known."""
    return sum(None not in ty.dims for _, ty in base.fields) if isinstance(base, RecordType) else 0


def _collect(ty: Type, bases: dict[Base, None]) -> None:
    base = ty.base
    if base in bases:
        return
    if isinstance(base, RecordType):
        for _, field in base.fields:
            _collect(field, bases)
    elif isinstance(base, FunctionType):
        for inner in (*(t for _, t in base.inputs), *base.outputs):
            _collect(inner, bases)
        return
    if isinstance(base, RecordType | EnumType | ExternalObjectType):
        bases[base] = None


def _declared(base: Base) -> str:
    if isinstance(base, EnumType):
        return f"type {base.name} = enumeration({', '.join(base.literals)});"
    if isinstance(base, RecordType):
        fields = " ".join(f"{print_type(t)} {name};" for name, t in base.fields)
        return f"record {base.name} {fields} end {base.name};"
    assert isinstance(base, ExternalObjectType)
    return f"class {base.name} extends ExternalObject({base.constructor}, {base.destructor}); end {base.name};"


# ----------------------------------------------------------------------------------------------------------- functions


def _function(p: _Printer, f: form.Function) -> None:
    p.indented([(f"{'' if f.pure else 'impure '}function {f.id}", f.origin)])
    p.indented((f"  {_local('input ', x)}", None) for x in f.inputs)
    p.indented((f"  {_local('output ', x)}", None) for x in f.outputs)
    if f.locals:
        p.indented([("protected", None)])
        p.indented((f"  {_local('', x)}", None) for x in f.locals)
    if f.external is not None:
        p.indented((text, None) for text in _external(f.external))
    elif f.body:
        p.indented([("algorithm", None)])
        p.nested(f.body)
    notes = _annotations(f)
    if notes:
        p.indented([(f"  annotation({', '.join(notes)});", None)])
    p.indented([(f"end {f.id};", None)])


def _local(prefix: str, x: form.Local) -> str:
    written = [x.dims[k] if k < len(x.dims) else None for k in range(len(x.ty.dims))]
    sizes = [
        print_expr(e) if e is not None else ":" if n is None else str(n)
        for e, n in zip(written, x.ty.dims, strict=True)
    ]
    ty = print_type(x.ty.scalar()) + (f"[{', '.join(sizes)}]" if sizes else "")
    default = "" if x.default is None else f" = {print_expr(x.default)}"
    return f"{prefix}{ty} {x.name}{default}{_description(x.description)};"


def _external(call: form.ExternalCall) -> list[str]:
    result = "" if call.result is None else f"{print_expr(call.result)} = "
    args = ", ".join(print_expr(e) for e in call.args)
    lists = [
        ("Include", call.includes),
        ("Library", call.libraries),
        ("IncludeDirectory", call.include_directories),
        ("LibraryDirectory", call.library_directories),
        ("SourceDirectory", call.source_directories),
    ]
    notes = [f"{name} = {{{', '.join(map(quoted, texts))}}}" for name, texts in lists if texts]
    notes += ["Pure = true"] if call.declared_pure else []
    annotation = f" annotation({', '.join(notes)})" if notes else ""
    return [f"external {quoted(call.language)} {result}{call.symbol}({args}){annotation};"]


def _annotations(f: form.Function) -> list[str]:
    notes = [] if f.inline is None else [f"Inline = {_truth(f.inline)}"]
    notes += ["LateInline = true"] if f.late_inline else []
    notes += [] if f.smooth_order is None else [f"smoothOrder = {f.smooth_order}"]
    notes += ["GenerateEvents = true"] if f.generate_events else []
    notes += ["RecordConstructor = true"] if f.is_record_constructor else []
    notes += [_derivative(d) for d in f.derivatives]
    notes += [f"inverse({x} = {g}({', '.join(args)}))" for x, g, args in f.inverses]
    notes += [f"partialDerivative({', '.join(f.partial_of)})"] if f.partial_of else []
    return notes


def _derivative(d: form.DerivativeOf) -> str:
    options = [f"order = {d.order}"] if d.order != 1 else []
    options += [f"noDerivative = {name}" for name in d.no_derivative]
    options += [f"zeroDerivative = {name}" for name in d.zero_derivative]
    return f"derivative{'(' + ', '.join(options) + ')' if options else ''} = {d.function}"


def _truth(value: bool) -> str:
    return "true" if value else "false"
