"""Checks the contract that heads `ir/flat.py`; a breach is our mistake: an InternalError that says what and where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kilohertz.base import InternalError, Origin
from kilohertz.ir import flat as form
from kilohertz.ir.expr import (
    Array,
    Binary,
    Builtin,
    Call,
    Colon,
    Comprehension,
    Expr,
    Field,
    FunctionRef,
    IfExp,
    Index,
    Item,
    Range,
    Record,
    Ref,
    Unary,
)
from kilohertz.ir.make.access import indexed_dims
from kilohertz.ir.rules.result_types import binary_type
from kilohertz.ir.text.expr_printer import print_expr
from kilohertz.ir.traverse import walk
from kilohertz.ir.types import (
    BOOLEAN,
    CLOCK,
    INTEGER,
    REAL,
    STRING,
    ExternalObjectType,
    FunctionType,
    RecordType,
    TupleType,
    Type,
)

_RELATIONS = frozenset({"<", "<=", ">", ">=", "==", "<>"})
_TEXT_ATTRIBUTES = frozenset({"unit", "displayUnit", "quantity"})
_WHOLE = frozenset({"$tick", "$state"})  # conditions of whens around the equations of a partition, of a state


def verify_flat(flat: form.Flat) -> None:
    """Raise InternalError where a Flat breaks its contract."""
    names = {name: v.ty for name, v in flat.variables.items()}
    names["time"] = REAL
    model = _Verifier(names, flat, known_sizes=True)
    for name, v in flat.variables.items():
        model.variable(name, v)
    for section in (flat.initial_equations, flat.equations):
        model.equations(section, inside_when=False)
    steps = _Verifier(names, flat, known_sizes=False)  # slices and loops of an algorithm may vary in size
    for algorithm in (*flat.initial_algorithms, *flat.algorithms):
        steps.statements(algorithm.statements)
    for name, f in flat.functions.items():
        _verify_function(name, f, flat)


def _verify_function(name: str, f: form.Function, flat: form.Flat) -> None:
    if name != f.id:
        raise InternalError(f"function `{f.id}` is kept under the name `{name}`")
    declared = [*f.inputs, *f.outputs, *f.locals]
    names = {x.name: x.ty for x in declared}
    if len(names) != len(declared):
        raise InternalError(f"function `{name}` declares a name twice")
    verifier = _Verifier({**{n: v.ty for n, v in flat.variables.items()}, **names}, flat, known_sizes=False)
    verifier.owner = verifier.where = f"function {name}"
    for x in declared:
        if len(x.dims) > len(x.ty.dims):
            raise verifier.broken(f"`{x.name}` has {len(x.dims)} sizes for {len(x.ty.dims)} dimensions")
        for e in x.dims:
            if e is not None:
                verifier.expects(e, INTEGER)
        if x.default is not None:
            verifier.matches(x.ty, x.default, f"the default of `{x.name}`")
    verifier.statements(f.body)
    if f.external is not None:
        for e in (*f.external.args, *([] if f.external.result is None else [f.external.result])):
            verifier.expression(e)


class _Verifier:
    """Checks against known names; `where` says in which equation."""

    def __init__(self, names: Mapping[str, Type], flat: form.Flat, *, known_sizes: bool) -> None:
        self.names = dict(names)
        self.where = self.owner = ""
        self._flat = flat
        self._known_sizes = known_sizes
        self._checked: set[Expr] = set()

    def broken(self, what: str) -> InternalError:
        return InternalError(
            f"{self._flat.name}: {what} ({self.where})" if self.where else f"{self._flat.name}: {what}"
        )

    def at(self, origin: Origin, text: str) -> None:
        place = " ".join([*(f"{s.file}:{s.start}" for s in origin.spans[:1]), *([origin.path] if origin.path else [])])
        owner = f"{self.owner}, " if self.owner else ""
        self.where = f"{owner}{text}{' at ' + place if place else ''}"

    # ------------------------------------------------------------------------------------------------ variables

    def variable(self, name: str, v: form.Variable) -> None:
        self.at(v.origin, f"variable {name}")
        if v.name != name:
            raise self.broken(f"`{v.name}` is kept under the name `{name}`")
        if isinstance(v.ty.base, RecordType | TupleType | FunctionType):
            raise self.broken(f"of type {v.ty}, which is not primitive")
        if None in v.ty.dims:
            raise self.broken(f"a size of {v.ty} is not known")
        if v.variability not in (form.CONSTANT, form.PARAMETER, form.DISCRETE, form.CONTINUOUS):
            raise self.broken(f"variability `{v.variability}`")
        discrete = v.ty.base != REAL.base and not isinstance(v.ty.base, ExternalObjectType)
        if v.variability == form.CONTINUOUS and discrete:
            raise self.broken(f"continuous, but of type {v.ty}")
        if v.binding is not None:
            if v.variability not in (form.CONSTANT, form.PARAMETER) and not isinstance(v.ty.base, ExternalObjectType):
                raise self.broken("a binding on a variable; it should be an equation")
            self.matches(v.ty, v.binding, "the binding")
        for attribute, e in v.attributes.items():
            self._attribute(v, attribute, e)

    def _attribute(self, v: form.Variable, attribute: str, e: Expr) -> None:
        self.expression(e)
        if e.ty.dims and e.ty.dims != v.ty.dims:
            raise self.broken(f"attribute {attribute} of size {e.ty} on {v.ty}")
        if attribute in _TEXT_ATTRIBUTES:
            wanted = STRING.base
        elif attribute == "fixed":
            wanted = BOOLEAN.base
        elif attribute in ("start", "min", "max", "nominal"):
            wanted = v.ty.base
        else:
            return
        if e.ty.base != wanted:
            raise self.broken(f"attribute {attribute} of type {e.ty}")

    # ------------------------------------------------------------------------------------- equations, statements

    def equations(self, items: Iterable[form.Equation], *, inside_when: bool) -> None:
        for item in items:
            self.at(item.origin, type(item).__name__)
            match item:
                case form.Equality(left, right):
                    self._equality(left, right)
                case form.IfEquation(branches, otherwise):
                    for condition, body in branches:
                        self.expects(condition, BOOLEAN)
                        self.equations(body, inside_when=inside_when)
                    self.equations(otherwise, inside_when=inside_when)
                case form.WhenEquation(branches):
                    if inside_when:
                        raise self.broken("a when inside a when")
                    self._when_conditions([c for c, _ in branches])
                    for c, body in branches:  # those of a clocked partition or a state may have whens of their own
                        self.equations(body, inside_when=not (isinstance(c, Builtin) and c.name in _WHOLE))
                case form.Reinit() if not inside_when:
                    raise self.broken("reinit outside of a when")
                case form.Assert() | form.Terminate() | form.Reinit() | form.CallEquation():
                    self._effect(item)

    def statements(self, items: Iterable[form.Statement]) -> None:
        for item in items:
            self.at(item.origin, type(item).__name__)
            match item:
                case form.Assign(target, value):
                    self._equality(target, value)
                    self._assignable(target)
                case form.IfStatement(branches, otherwise):
                    for condition, body in branches:
                        self.expects(condition, BOOLEAN)
                        self.statements(body)
                    self.statements(otherwise)
                case form.ForStatement(name, over, body):
                    self._for(name, over, body)
                case form.WhileStatement(condition, body):
                    self.expects(condition, BOOLEAN)
                    self.statements(body)
                case form.WhenStatement(branches):
                    self._when_conditions([c for c, _ in branches])
                    for _, body in branches:
                        self.statements(body)
                case form.Assert() | form.Terminate() | form.Reinit() | form.CallEquation():
                    self._effect(item)
                case form.Break() | form.Return():
                    pass

    def _for(self, name: str, over: Expr, body: list[form.Statement]) -> None:
        self.expression(over)
        if len(over.ty.dims) != 1:
            raise self.broken(f"a loop over {over.ty}")
        hidden = self.names.get(name)
        self.names[name] = over.ty.element()
        self.statements(body)
        if hidden is None:
            del self.names[name]
        else:
            self.names[name] = hidden

    def _effect(self, item: form.Assert | form.Terminate | form.Reinit | form.CallEquation) -> None:
        match item:
            case form.Assert(condition, message, level):
                self.expects(condition, BOOLEAN)
                self.expects(message, STRING)
                if level is not None:
                    self.expression(level)
            case form.Terminate(message):
                self.expects(message, STRING)
            case form.Reinit(target, value):
                self._assignable(target)
                self._equality(target, value)
            case form.CallEquation(call):
                self.expression(call)
                if not isinstance(call, Call | Builtin):
                    raise self.broken("not a call")

    def _when_conditions(self, conditions: list[Expr]) -> None:
        for c in conditions:
            self.expression(c)
            if c.ty.base not in (BOOLEAN.base, CLOCK.base) or len(c.ty.dims) > 1:
                raise self.broken(f"a when condition of type {c.ty}")

    def _equality(self, left: Expr | form.TupleTarget, right: Expr) -> None:
        if isinstance(left, Expr):
            self.expression(left)
            self.matches(left.ty, right, "the right side")
            return
        self.expression(right)
        if not isinstance(right, Call) and not isinstance(right.ty.base, TupleType):
            raise self.broken(f"several left sides for a value of type {right.ty}")
        outputs = right.ty.base.elements if isinstance(right.ty.base, TupleType) else (right.ty,)
        if len(left.elements) > len(outputs):
            raise self.broken(f"{len(left.elements)} left sides for {len(outputs)} outputs")
        for e, ty in zip(left.elements, outputs, strict=False):
            if e is not None:
                self.expression(e)
                if not _agree(e.ty, ty) and not (ty.base == INTEGER.base and _agree(e.ty, Type(REAL.base, ty.dims))):
                    raise self.broken(f"`{_shown(e)}` of type {e.ty} for an output of type {ty}")

    def _assignable(self, target: Expr | form.TupleTarget) -> None:
        several = isinstance(target, form.TupleTarget)
        todo: list[Expr | None] = list(target.elements) if isinstance(target, form.TupleTarget) else [target]
        while todo:
            e = todo.pop()
            while isinstance(e, Index | Field):
                e = e.base
            if several and isinstance(e, Array | Record):
                todo += e.children()
            elif e is not None and not isinstance(e, Ref):
                raise self.broken(f"assignment to `{_shown(e)}`")

    # ---------------------------------------------------------------------------------------------- expressions

    def matches(self, ty: Type, e: Expr, what: str) -> None:
        """An expression of the given type."""
        self.expression(e)
        if not _agree(ty, e.ty):
            raise self.broken(f"{what} `{_shown(e)}` is of type {e.ty}, not {ty}")

    def expects(self, e: Expr, ty: Type) -> None:
        self.matches(ty, e, "the expression")

    def expression(self, e: Expr) -> None:
        """Every node: known names, and types that fit."""
        if e in self._checked:
            return
        bound = {name: r.ty.element() for c in walk(e) if isinstance(c, Comprehension) for name, r in c.iterators}
        for node in walk(e):
            if node not in self._checked:
                self._node(node, bound)
                if not bound:
                    self._checked.add(node)

    def _node(self, e: Expr, bound: Mapping[str, Type]) -> None:
        problem = self._problem(e, bound)
        if problem:
            raise self.broken(f"`{_shown(e)}`: {problem}")
        if self._known_sizes and None in e.ty.dims and not isinstance(e, Colon):
            raise self.broken(f"`{_shown(e)}`: a size of {e.ty} is not known")

    def _problem(self, e: Expr, bound: Mapping[str, Type]) -> str:
        match e:
            case Ref(name, ty):
                known = self.names.get(name) or bound.get(name)
                if known is None:  # clocks leave the variables when a model becomes scalar
                    return "" if ty.base == CLOCK.base else "is not a known name"
                return "" if _agree(known, ty) else f"is of type {known}, not {ty}"
            case Call(function, args, ty):
                return self._call_problem(function, args, ty)
            case FunctionRef(function):
                known_function = function in self._flat.functions or function in self.names
                return "" if known_function else f"no function `{function}`"
            case _:
                return _type_problem(e)

    def _call_problem(self, function: str, args: tuple[Expr, ...], ty: Type) -> str:
        held = self.names.get(function)
        if held is not None and isinstance(held.base, FunctionType):
            return ""
        f = self._flat.functions.get(function)
        if f is None:
            return f"no function `{function}`"
        if len(args) != len(f.inputs):
            return f"{len(args)} arguments for {len(f.inputs)} inputs"
        for x, a in zip(f.inputs, args, strict=True):
            if not _agree(x.ty, a.ty):
                return f"argument `{_shown(a)}` of type {a.ty} for the input {x.name} of type {x.ty}"
        outputs = tuple(x.ty for x in f.outputs)
        wanted = outputs[0] if len(outputs) == 1 else Type(TupleType(outputs))
        return "" if _agree(wanted, ty) else f"is of type {wanted}, not {ty}"


def _type_problem(e: Expr) -> str:
    """What is wrong with a node, its operands being right."""
    match e:
        case Unary(op, a):
            wrong = a.ty.base != BOOLEAN.base if op == "not" else a.ty.base not in (REAL.base, INTEGER.base)
            return f"`{op}` of {a.ty}" if wrong else ""
        case Binary(op, a, b, ty):
            return _binary_problem(op, a.ty, b.ty, ty)
        case IfExp(c, a, b):
            return "" if c.ty == BOOLEAN and _agree(a.ty, b.ty) else f"if {c.ty} then {a.ty} else {b.ty}"
        case Array(elements, ty) if elements:
            return next((f"an element of type {x.ty}" for x in elements if not _agree(x.ty, ty.element())), "")
        case Record(fields, ty):
            assert isinstance(ty.base, RecordType)
            if len(fields) != len(ty.base.fields):
                return f"{len(fields)} fields for {ty}"
            pairs = zip(fields, ty.base.fields, strict=True)
            return next((f"field {n} of type {x.ty}, not {t}" for x, (n, t) in pairs if not _agree(x.ty, t)), "")
        case Index(base, subs, ty):
            wanted = Type(base.ty.base, indexed_dims(base.ty, subs))
            bad = next((s for s in subs if s.ty.base != INTEGER.base or len(s.ty.dims) > 1), None)
            if bad is not None:
                return f"a subscript of type {bad.ty}"
            return "" if _agree(wanted, ty) else f"is of type {wanted}, not {ty}"
        case Range(first, step, last):
            same = first.ty == last.ty and (step is None or step.ty == first.ty)
            return "" if same and not first.ty.dims else "bounds of different types"
        case Item(base):
            return "" if isinstance(base, Call | Ref) else "not of a call"
        case _:
            return ""


def _binary_problem(op: str, a: Type, b: Type, ty: Type) -> str:
    if a.base != b.base and not (op == "^" and a.dims):
        return f"operands of types {a} and {b}"
    if op in ("/", "^", "./", ".^") and a.base != REAL.base:
        return f"`{op}` of {a}"
    if not _shapes_fit(op, a, b):
        return f"`{op}` of {a} and {b}"
    wanted = binary_type(op, a, b)
    return "" if _agree(wanted, ty) else f"is of type {wanted}, not {ty}"


def _shapes_fit(op: str, a: Type, b: Type) -> bool:
    """Which shapes each operator takes: the head of `expr.py`."""
    if op in _RELATIONS or op == "/":
        return not a.dims and not b.dims
    if op == "^":
        return not b.dims and (not a.dims or (len(a.dims) == 2 and b == INTEGER))
    if op == "*":
        inner = (a.dims[-1:], b.dims[:1])
        return bool(a.dims) == bool(b.dims) and (None in inner[0] + inner[1] or inner[0] == inner[1])
    if op in ("+", "-", "and", "or"):
        return _agree(a, b)
    return not a.dims or not b.dims or _agree(a, b)


def _agree(a: Type, b: Type) -> bool:
    """One type, as far as sizes are known."""
    if a is b:
        return True
    if isinstance(a.base, TupleType) and isinstance(b.base, TupleType):
        pairs = zip(a.base.elements, b.base.elements, strict=False)
        return len(a.base.elements) == len(b.base.elements) and all(_agree(x, y) for x, y in pairs)
    if isinstance(a.base, FunctionType) or isinstance(b.base, FunctionType):
        return isinstance(a.base, FunctionType) and isinstance(b.base, FunctionType)
    same = a.base == b.base or _same_record(a, b)
    return (
        same
        and len(a.dims) == len(b.dims)
        and all(x is None or y is None or x == y for x, y in zip(a.dims, b.dims, strict=True))
    )


def _same_record(a: Type, b: Type) -> bool:
    """Records of one shape are compatible whatever they are called (MLS 6.4)."""
    if not (isinstance(a.base, RecordType) and isinstance(b.base, RecordType)):
        return False
    pairs = zip(a.base.fields, b.base.fields, strict=False)
    return len(a.base.fields) == len(b.base.fields) and all(n == m and _agree(x, y) for (n, x), (m, y) in pairs)


def _shown(e: Expr) -> str:
    text = print_expr(e)
    return text if len(text) <= 100 else text[:97] + "..."
