"""Scalar expressions, records and calls as C: the writer used for blocks and functions alike."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from kilohertz.base import InternalError
from kilohertz.codegen.writing import spelling
from kilohertz.codegen.writing.array_builtins import ArrayBuiltinWriter
from kilohertz.codegen.writing.placement import Scope
from kilohertz.codegen.writing.reductions import accumulate, of_none
from kilohertz.codegen.writing.values import ArrayValue, is_real, is_string, needs_room
from kilohertz.codegen.writing.writer import (
    AND,
    OR,
    PRIMARY,
    PRODUCT,
    RELATION,
    SUM,
    TERNARY,
    UNARY,
    Callee,
    Text,
    unsupported,
)
from kilohertz.ir import expr as x
from kilohertz.ir.builtins import BUILTINS, REDUCTIONS, same_as
from kilohertz.ir.expr import Expr
from kilohertz.ir.rules.function_record import Form
from kilohertz.ir.types import BOOLEAN, INTEGER, EnumType, RecordType, Type

_LONGEST = 300  # a longer scalar becomes a temporary
_C_RELATION = {"<": "<", "<=": "<=", ">": ">", ">=": ">=", "==": "==", "<>": "!="}
_INVERSE_ROOTS = {-0.5: "khz_inverse_root", -0.75: "khz_inverse_root_3"}  # powers that are slopes of roots
_FORMS = {  # how a spelling binds, and how its operands must
    Form.CALL: (PRIMARY, 0),
    Form.CAST: (UNARY, PRIMARY),
    Form.CHOICE: (TERNARY, PRIMARY),
}


class Writer(ArrayBuiltinWriter):
    """Writes the statements of one C function."""

    def scalar(self, e: Expr) -> Text:
        known = self.known(e)
        if known is not None:
            assert isinstance(known, str)
            self.take(e, known)
            return known, PRIMARY
        if self.is_shared(e) and not is_trivial(e):
            self.at_home(e, lambda: self._keep_scalar(e))
            return self.scalar(e)
        text, binds = self._scalar(e)
        if len(text) > _LONGEST and not isinstance(e, (x.Str, x.Ref)):
            return self.keep(e, text), PRIMARY
        return text, binds

    def _keep_scalar(self, e: Expr) -> None:
        text, _ = self._scalar(e)
        self.keep(e, text)

    def _scalar(self, e: Expr) -> Text:
        match e:
            case x.Binary():  # what there is most of comes first
                return self._binary(e)
            case x.Ref():
                variable = self.reference(e)
                assert isinstance(variable, str), e.name
                return variable, PRIMARY
            case x.Real(value):
                text = spelling.real(value)
                return text, UNARY if text[0] in "-(" else PRIMARY
            case x.Int(number):
                return spelling.integer(number), UNARY if number < 0 else PRIMARY
            case x.Bool(flag):
                return ("1" if flag else "0"), PRIMARY
            case x.Str(string):
                return spelling.string(string), PRIMARY
            case x.Enum(_, index):
                return f"{index} /* {spelling.comment(e.literal)} */", PRIMARY
            case x.Unary("-", operand):
                turned = self._turned(operand)
                if turned is not None:
                    return turned, SUM
                if e.ty == INTEGER and not isinstance(operand, x.Int):
                    return f"khz_neg_int({self.context}, {self.text(operand)})", PRIMARY
                return "-" + self.text(operand, PRIMARY), UNARY
            case x.Unary(_, operand):
                return "!" + self.text(operand, PRIMARY), UNARY
            case x.IfExp():
                return self._if(e)
            case x.Builtin():
                return self._builtin(e)
            case x.Call() | x.Item():
                result = self.call_result(e)
                assert isinstance(result, str)
                return result, PRIMARY
            case x.Index(base, subs):
                a = self.array(base)
                places = [self.position(s, d) for s, d in zip(subs, a.dims, strict=True)]
                return f"{a.pointer}[{self.offset(a, places)}]", PRIMARY
            case x.Field(base, name):
                return f"{self.record(base)}.{self.types.fields(name)}", PRIMARY
            case x.Comprehension():
                return self._reduction(e)
            case _:
                raise InternalError(f"not a scalar: {type(e).__name__}")

    # ------------------------------------------------------------------------------------------------------ operators

    def _binary(self, e: x.Binary) -> Text:
        op, left, right = e.op.lstrip("."), e.left, e.right
        if left.ty.dims:
            return self.dot(left, right), PRIMARY
        match op:
            case "+" if is_string(e.ty):
                return self.taking(f"khz_concat({self.context}, {self.text(left)}, {self.text(right)})"), PRIMARY
            case "+" | "-" | "*" if e.ty == INTEGER:
                return (
                    f"khz_{spelling.INTEGER_OPERATIONS[op]}_int({self.context}, {self.text(left)}, {self.text(right)})",
                    PRIMARY,
                )
            case "+":
                return self._sum(e)
            case "-":
                return f"{self.text(left, SUM)} - {self.text(right, PRODUCT)}", SUM
            case "*" | "/":
                return f"{self.text(left, PRODUCT)} {op} {self.text(right, UNARY)}", PRODUCT
            case "^":
                return self._power(left, right)
            case "and" | "or":
                return self._logical(e)
            case _ if is_string(left.ty):
                return f"khz_compare({self.text(left)}, {self.text(right)}) {_C_RELATION[op]} 0", RELATION
            case _:
                return f"{self.text(left, SUM)} {_C_RELATION[op]} {self.text(right, SUM)}", RELATION

    def _sum(self, e: x.Binary) -> Text:
        """A long left-leaning sum without going down Python's stack."""
        terms: list[Expr] = []
        node: Expr = e
        while isinstance(node, x.Binary) and node.op in ("+", ".+"):
            if node is not e and not self._is_one_sum(e, node):
                break
            terms.append(node.right)
            node = node.left
        parts, width = [self.text(node, SUM)], 0
        for term in reversed(terms):
            parts.append(self.text(term, PRODUCT))
            width += len(parts[-1])
            if width > _LONGEST:
                name, width = self.fresh(), 0
                self.put(f"const {self.ctype(e)} {name} = {' + '.join(parts)};")
                parts = [name]
        return " + ".join(parts), SUM if len(parts) > 1 else PRIMARY

    def _is_one_sum(self, e: Expr, part: Expr) -> bool:
        """Whether a sum that is the left side of another one is written together with it."""
        return not self.is_shared(part) and self.known(part) is None

    def _turned(self, e: Expr) -> str | None:
        """-(a - b) as b - a, and -(a - b + c) as b - a - c: the same to the last bit, without turning the sign."""
        if not isinstance(e, x.Binary) or self.is_shared(e) or self.known(e) is not None or e.ty == INTEGER:
            return None
        if e.op == "-":
            return f"{self.text(e.right, SUM)} - {self.text(e.left, PRODUCT)}"
        head = self._turned(e.left) if e.op == "+" else None
        return f"{head} - {self.text(e.right, PRODUCT)}" if head is not None else None

    def _power(self, base: Expr, exponent: Expr) -> Text:
        if isinstance(exponent, x.Builtin) and exponent.name == "real" and isinstance(exponent.args[0], x.Int):
            exponent = x.Real(float(exponent.args[0].value))
        if isinstance(exponent, x.Real) and exponent.value in (2.0, 3.0, 4.0):
            return f"khz_power{int(exponent.value)}({self.text(base)})", PRIMARY
        if isinstance(exponent, x.Real) and exponent.value == 1.0:
            return self.scalar(base)
        if isinstance(exponent, x.Real) and exponent.value in (0.5, 0.25):
            root = f"sqrt({self.text(base)})"
            return (root if exponent.value == 0.5 else f"sqrt({root})"), PRIMARY
        if isinstance(exponent, x.Real) and exponent.value in _INVERSE_ROOTS:
            return f"{_INVERSE_ROOTS[exponent.value]}({self.text(base)})", PRIMARY
        return f"pow({self.text(base)}, {self.text(exponent)})", PRIMARY

    def _logical(self, e: x.Binary) -> Text:
        left = self.text(e.left, UNARY)
        right, lines = self._branch(e, 1, e.right, UNARY)
        if not lines:
            return (f"{left} && {right}", AND) if e.op == "and" else (f"{left} || {right}", OR)
        name = self.fresh()
        self.put(f"int32_t {name} = {left};", f"if ({name if e.op == 'and' else '!' + name}) {{")
        self.put(*lines, f"    {name} = {right};", "}")
        return name, PRIMARY

    def _branch(self, owner: Expr, child: int, e: Expr, least: int) -> tuple[str, list[str]]:
        """Text of a guarded part, and the statements it needs before."""
        result: list[str] = []
        lines = self.inside(lambda: result.append(self.text(e, least)), self.inner_scope(owner, child))
        return result[0], lines

    def _if(self, e: x.IfExp) -> Text:
        condition = self.text(e.condition, RELATION)
        then, then_lines = self._branch(e, 1, e.then, RELATION)
        otherwise, else_lines = self._branch(e, 2, e.otherwise, TERNARY)
        if not then_lines and not else_lines:
            return f"{condition} ? {then} : {otherwise}", TERNARY
        name = self.fresh()
        self.put(f"{self.declared(e, name)};", f"if ({condition}) {{", *then_lines, f"    {name} = {then};")
        self.put("} else {", *else_lines, f"    {name} = {otherwise};", "}")
        return name, PRIMARY

    def _reduction(self, e: x.Comprehension) -> Text:
        total, ctype = self.fresh("s"), self.types.of(e.ty)
        ranges = [self.iterable(r) for _, r in e.iterators]
        self.put(f"{ctype} {total} = {of_none(e.op, e.ty)};")

        def body() -> None:
            text = self.text(e.body)
            name = self.fresh()
            self.put(f"const {ctype} {name} = {text};", accumulate(e.op, total, name, e.ty, self.context))

        self.iterate(list(zip(e.iterators, ranges, strict=True)), body, e)
        return total, PRIMARY

    # ------------------------------------------------------------------------------------------------------- built-ins

    def _builtin(self, e: x.Builtin) -> Text:
        special = self.host.builtin(self, e)
        if special is not None:
            return special
        args = e.args
        match e.name:
            case name if name in REDUCTIONS and args[0].ty.dims:
                return self.fold_array(e.name, args[0], e.ty)
            case "scalar":
                return f"{self.array(args[0]).pointer}[0]" if args[0].ty.dims else self.text(args[0], PRIMARY), PRIMARY
            case "size" if len(args) == 2:
                return self._size(args[0], args[1])
            case "ndims":
                return str(len(args[0].ty.dims)), PRIMARY
            case "String":
                return self._string(args), PRIMARY
            case name:
                same = same_as(e)
                if same is not None:
                    return self.scalar(same)
                spelled = self.spelling(e)
                if spelled is None:
                    raise unsupported(f"`{name}`")
                binds, operands = _FORMS[BUILTINS[name].form]
                return spelled([self.text(a, operands) for a in args]), binds

    def spelling(self, e: x.Builtin) -> Callable[[list[str]], str] | None:
        """How a function of scalars is spelled, given the texts of its arguments."""
        function, c = BUILTINS.get(e.name), self.context
        if function is None or not function.c:
            return None
        integers = bool(function.c_integers) and not any(is_real(a.ty) for a in e.args)
        template = function.c_integers if integers else function.c
        return lambda operands: template.format(*operands, c=c)

    def _size(self, array: Expr, dimension: Expr) -> Text:
        a = self.array(array)
        if isinstance(dimension, x.Int):
            return a.dims[dimension.value - 1], PRIMARY
        sizes = self.room((str(len(a.dims)),), INTEGER)
        self.put(*(f"{sizes.pointer}[{i}] = {d};" for i, d in enumerate(a.dims)))
        return f"{sizes.pointer}[{self.position(dimension, sizes.dims[0])}]", PRIMARY

    def _string(self, args: tuple[Expr, ...]) -> str:
        """String(x, ...): options by position as `interp` has them (MLS 3.7.1.1)."""
        first, c = args[0], self.context
        format_ = next((a for a in args[1:] if is_string(a.ty)), None)
        if format_ is not None:
            value = self.text(first) if is_real(first.ty) else f"(double){self.text(first, PRIMARY)}"
            return self.taking(f"khz_string_format({c}, {value}, {self.text(format_)})")
        numbers = [a for a in args[1:] if a.ty == INTEGER]
        left = next((self.text(a) for a in args[1:] if a.ty == BOOLEAN), "1")
        digits = self.text(numbers.pop(0)) if is_real(first.ty) and numbers else "6"
        text = self._plain_string(first, digits)
        return self.taking(f"khz_pad({c}, {text}, {self.text(numbers[0])}, {left})") if numbers else text

    def _plain_string(self, e: Expr, digits: str) -> str:
        c = self.context
        if isinstance(e.ty.base, EnumType):
            table, literals = self.fresh("k"), e.ty.base.literals
            texts = ", ".join(spelling.string(t) for t in literals)
            self.put(f"static const char *const {table}[{len(literals)}] = {{{texts}}};")
            return f"{table}[khz_index({c}, {self.text(e)}, {len(literals)})]"
        if e.ty == BOOLEAN:
            return f'({self.text(e, PRIMARY)} ? "true" : "false")'
        if e.ty == INTEGER:
            return self.taking(f"khz_string_int({c}, {self.text(e)})")
        return self.text(e) if is_string(e.ty) else self.taking(f"khz_string_real({c}, {self.text(e)}, {digits})")

    # --------------------------------------------------------------------------------------------------------- records

    def record(self, e: Expr) -> str:
        known = self.known(e)
        if known is None:
            if self.is_shared(e) and not isinstance(e, x.Ref):
                self.at_home(e, lambda: self._keep_record(e))
            else:
                self._keep_record(e)
            known = self.known(e)
        assert isinstance(known, str)
        return known

    def _keep_record(self, e: Expr) -> None:
        self.scope.values[id(e)] = self._record(e)

    def _record(self, e: Expr) -> str:
        match e:
            case x.Ref():
                value = self.reference(e)
                assert isinstance(value, str)
                return value
            case x.Record(fields):
                assert isinstance(e.ty.base, RecordType)
                name = self.fresh("r")
                self.put(f"{self.types.declare(e.ty, name)} = {{0}};")
                for (field, ty), part in zip(e.ty.base.fields, fields, strict=True):
                    self.store_field(name, field, ty, part)
                return name
            case x.IfExp(condition, then, otherwise):
                name = self.fresh("r")
                head = self.text(condition)
                self.put(f"{self.types.declare(e.ty, name)};")
                yes = self.inside(lambda: self.store(name, then), self.inner_scope(e, 1))
                no = self.inside(lambda: self.store(name, otherwise), self.inner_scope(e, 2))
                self.put(f"if ({head}) {{", *yes, "} else {", *no, "}")
                return name
            case x.Call() | x.Item():
                value = self.call_result(e)
                assert isinstance(value, str)
                return value
            case x.Index(base, subs):
                a = self.array(base)
                places = [self.position(s, d) for s, d in zip(subs, a.dims, strict=True)]
                return f"{a.pointer}[{self.offset(a, places)}]"
            case x.Field(base, name):
                return f"{self.record(base)}.{self.types.fields(name)}"
            case x.Builtin() if (same := same_as(e)) is not None:
                return self.record(same)
            case _:
                raise InternalError(f"not a record: {type(e).__name__}")

    def record_as(self, e: Expr, ty: Type) -> str:
        """A record as a value of a type that differs in what it says of sizes."""
        assert isinstance(ty.base, RecordType)
        if self.types.struct(ty.base) == self.types.of(e.ty):
            return self.record(e)
        name = self.fresh("r")
        self.put(f"{self.types.declare(ty, name)} = {{0}};")
        self.store_fields(name, ty.base, e)
        return name

    def store_fields(self, target: str, record: RecordType, value: Expr) -> None:
        """Field by field into a record of another struct."""
        for name, ty in record.fields:
            self.store_field(target, name, ty, x.Field(value, name))

    def store_field(self, record: str, name: str, ty: Type, value: Expr) -> None:
        """`record.name = value`; a field without a size of its own gets a copy in the arena."""
        if all(d is not None for d in ty.dims):
            target = f"{record}.{self.types.fields(name)}"
            if isinstance(ty.base, RecordType) and self.types.struct(ty.base) != self.types.of(value.ty.scalar()):
                self._store_records(target, ty.base, value)
            else:
                self.store(target, value)
            return
        array, a = self.types.field_array(record, name, ty), self.array(value)
        self.take_room(array.pointer, array.pointer, a.size, a.element)
        self.copy(array.pointer, a.pointer, a.size, a.element)
        self.put(*(f"{d} = {v};" for d, v in zip(array.dims, a.dims, strict=True) if not d.isdigit()))

    def _store_records(self, target: str, record: RecordType, value: Expr) -> None:
        """A record inside of one, or an array of them, into another struct."""
        dims = [d or 0 for d in value.ty.dims]
        for k, index in enumerate(product(*(range(1, d + 1) for d in dims))):
            part = x.Index(value, tuple(map(x.Int, index)), value.ty.scalar()) if dims else value
            self.store_fields(f"{target}[{k}]" if dims else target, record, part)

    def store(self, target: str, value: Expr) -> None:
        """`target = value` for a scalar, a record or a whole array whose storage `target` names."""
        if value.ty.dims:
            a = self.array(value)
            self.copy(target, a.pointer, a.size, a.element)
        else:
            self.put(f"{target} = {self.value(value)};")

    # ----------------------------------------------------------------------------------------------------------- calls

    def call_result(self, e: Expr) -> str | ArrayValue:
        """The value of a call, or of one output of it."""
        call, index = (e.base, e.index) if isinstance(e, x.Item) else (e, 0)
        assert isinstance(call, x.Call)
        return self.call_results(call)[index]

    def call_results(self, call: x.Call) -> list[str | ArrayValue]:
        """All outputs of a call; the call is written once."""
        known = self._known_results(call)
        if known is None:
            if self.is_shared(call):
                self.at_home(call, lambda: self._write_call(call), may_guard=False)
            else:
                self._write_call(call)
            known = self._known_results(call)
            assert known is not None
        return known

    def call_again(self, call: x.Call) -> list[str | ArrayValue]:
        """All outputs of a call that is made here, whatever was made before."""
        self._write_call(call)
        return self.scope.results[id(call)]

    def _known_results(self, call: x.Call) -> list[str | ArrayValue] | None:
        scope: Scope | None = self.scope
        while scope is not None:
            results = scope.results.get(id(call))
            if results is not None:
                return results
            scope = scope.parent
        return None

    def _write_call(self, call: x.Call) -> None:
        callee = self.host.callee(call)
        self.n_taking += any(needs_room(ty) for ty in callee.outputs)
        arguments = [self.context]
        for argument, ty in zip(callee.arguments, callee.inputs, strict=True):
            arguments += self._argument(argument, ty)
        if callee.returns:
            name = self.fresh()
            ty = callee.outputs[0]
            text = f"{callee.name}({', '.join(arguments)})"
            self.put(f"{'' if self.types.of(ty).endswith('*') else 'const '}{self.types.declare(ty, name)} = {text};")
            self.scope.results[id(call)] = [name]
            return
        results = [self._output(callee, k, call, arguments) for k in range(len(callee.outputs))]
        self.put(f"{callee.name}({', '.join(arguments)});")
        if any(needs_room(ty) for ty in callee.outputs):
            self.put(f"if (({self.context})->status != KHZ_OK) {{", f"    {self.leave}", "}")
        self.scope.results[id(call)] = results

    def _argument(self, e: Expr, ty: Type) -> list[str]:
        if ty.dims or e.ty.dims:
            a = self.array(e)
            self.must_fit(a.dims, tuple(size if d is None else str(d) for size, d in zip(a.dims, ty.dims, strict=True)))
            return [a.pointer, *(size for size, d in zip(a.dims, ty.dims, strict=True) if d is None)]
        if self.types.is_record(e.ty):
            return ["&" + self.record_as(e, ty)]
        return [self.text(e)]

    def _output(self, callee: Callee, k: int, call: x.Call, arguments: list[str]) -> str | ArrayValue:
        """Storage for an output, and what is passed for it."""
        ty = callee.outputs[k]
        if not ty.dims:
            name = self.fresh("r" if self.types.is_record(ty) else "t")
            self.put(f"{self.types.declare(ty, name)};")
            arguments.append("&" + name)
            return name
        if all(d is not None for d in ty.dims):
            room = self.room(tuple(str(d) for d in ty.dims), ty.scalar())
            arguments.append(room.pointer)
            return room
        name = self.fresh("a")
        sizes = tuple(str(d) if d is not None else self.fresh("n") for d in ty.dims)
        self.put(f"{self.types.declare(ty.scalar(), '*' + name)} = NULL;")
        free = [s for s, d in zip(sizes, ty.dims, strict=True) if d is None]
        self.put(*(f"int32_t {s} = 0;" for s in free))
        arguments += ["&" + name, *("&" + s for s in free)]
        return ArrayValue(name, sizes, ty.scalar())


def is_trivial(e: Expr) -> bool:
    """Not worth a temporary."""
    match e:
        case x.Real() | x.Int() | x.Bool() | x.Str() | x.Enum() | x.Ref():
            return True
        case x.Unary(_, operand) | x.Builtin("real", (operand,)):
            return isinstance(operand, (x.Ref, x.Real, x.Int))
        case x.Field(base, _):
            return isinstance(base, x.Ref)
        case _:
            return False
