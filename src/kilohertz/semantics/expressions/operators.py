"""Operators on typed operands: numbers, Booleans, Strings, arrays, operator records (MLS 10.6, 14)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kilohertz.base import ModelError
from kilohertz.ir import make
from kilohertz.ir.expr import Binary, Builtin, Colon, Comprehension, Enum, Expr, Int, Ref, Str
from kilohertz.ir.types import BOOLEAN, INTEGER, EnumType, Primitive, RecordType, Type
from kilohertz.semantics.classes.modifiers import Ctx
from kilohertz.semantics.classes.nodes import ClassNode
from kilohertz.semantics.conversion import compatible
from kilohertz.semantics.expressions.bindings import is_of_digits
from kilohertz.syntax import tree

if TYPE_CHECKING:
    from kilohertz.semantics.expressions.elaborate import Elaborator

_RELATIONS = ("<", "<=", ">", ">=", "==", "<>")
_PRODUCTS = frozenset({"*", ".*", "/", "./"})
_OPERATOR_NAME = {".+": "+", ".-": "-", ".*": "*", "./": "/", ".^": "^"}


class Operators:
    """Checks operand types and builds the operation, or calls the record's own operator function."""

    def __init__(self, elaborator: Elaborator) -> None:
        self.elaborator = elaborator

    def unary(self, op: str, operand: Expr, node: Any, ctx: Ctx) -> Expr:
        if isinstance(operand.ty.base, RecordType):
            return (
                operand if op in ("+", ".+") else self._overloaded_unary(_OPERATOR_NAME.get(op, op), operand, node, ctx)
            )
        if op == "not":
            if operand.ty.base != BOOLEAN.base:
                raise self._mismatch("not", operand.ty, None, node, ctx)
            return make.not_(operand)
        if not _is_number(operand.ty):
            raise self._mismatch(op, operand.ty, None, node, ctx)
        return operand if op in ("+", ".+") else make.neg(operand)

    def binary(self, op: str, a: Expr, b: Expr, node: Any, ctx: Ctx) -> Expr:
        if isinstance(a.ty.base, RecordType) or isinstance(b.ty.base, RecordType):
            return self._overloaded(op, a, b, node, ctx)
        if op in ("and", "or"):
            if a.ty.base != BOOLEAN.base or b.ty.base != BOOLEAN.base or not _same_dims(a.ty, b.ty):
                raise self._mismatch(op, a.ty, b.ty, node, ctx)
            return make.and_(a, b) if op == "and" else make.or_(a, b)
        if op in _RELATIONS:
            return self._relation(op, a, b, node, ctx)
        if op in ("+", ".+") and _is_string(a.ty) and _is_string(b.ty):
            if op == ".+" or (a.ty.dims and _same_dims(a.ty, b.ty)):
                return self.elaborator.calls.builtins.arrays.elementwise(self._concatenated, a, b)
            return self._concatenated(a, b)
        if not _is_number(a.ty) or not _is_number(b.ty) or not _shapes_fit(op, a.ty, b.ty):
            raise self._mismatch(op, a.ty, b.ty, node, ctx)
        result = make.binary(op, a, b)
        if op in _PRODUCTS and isinstance(node, tree.Binary):
            sides = ((a, node.left), (b, node.right))
            if any(make.is_literal(e) and not is_of_digits(written) for e, written in sides):
                self.elaborator.world.rescaled.add(result)
        return result

    def _concatenated(self, a: Expr, b: Expr) -> Expr:
        if isinstance(a, Str) and isinstance(b, Str):
            return Str(a.value + b.value)
        return Binary("+", a, b, a.ty)

    def _relation(self, op: str, a: Expr, b: Expr, node: Any, ctx: Ctx) -> Expr:
        match a.ty.base, b.ty.base:
            case Primitive(x), Primitive(y) if (
                not a.ty.dims and not b.ty.dims and (x == y or {x, y} == {"Real", "Integer"})
            ):
                return make.relation(op, a, b)
            case EnumType() as one, EnumType() as other if not a.ty.dims and not b.ty.dims:
                if one == other:
                    return make.relation(op, a, b)
                if one.literals == other.literals:  # equivalent types (MLS 6.6)
                    return make.relation(op, _position(a), _position(b))
        raise self._mismatch(op, a.ty, b.ty, node, ctx)

    def _mismatch(self, op: str, a: Type, b: Type | None, node: Any, ctx: Ctx) -> ModelError:
        types = str(a) if b is None else f"{a} and {b}"
        return self.elaborator.error("S260", f"`{op}` cannot be applied to {types}", node, ctx)

    # ------------------------------------------------------------------------------------------------ operator records

    def _overloaded_unary(self, name: str, operand: Expr, node: Any, ctx: Ctx) -> Expr:
        if operand.ty.dims:
            return self._each(operand, lambda e: self._overloaded_unary(name, e, node, ctx))
        for function in self._candidates(name, operand.ty):
            header = self.elaborator.functions.header(function)
            if len(header.inputs) == 1:
                return self.elaborator.calls.apply(function, [operand], {}, node, ctx)
        raise self._mismatch(name, operand.ty, None, node, ctx)

    def _overloaded(self, op: str, a: Expr, b: Expr, node: Any, ctx: Ctx) -> Expr:
        name = _OPERATOR_NAME.get(op, op)
        elementwise = op != name and (a.ty.dims or b.ty.dims)
        call = None if elementwise else self._direct(name, a, b, node, ctx)
        if call is not None:
            return call
        if a.ty.dims or b.ty.dims:
            return self._arrays(op, name, a, b, node, ctx)
        for record, other, at in ((a, b, 1), (b, a, 0)):
            converted = self._converted(record.ty, other, node, ctx)
            if converted is not None:
                pair = (record, converted) if at == 1 else (converted, record)
                call = self._direct(name, *pair, node, ctx)
                if call is not None:
                    return call
        raise self._mismatch(op, a.ty, b.ty, node, ctx)

    def _direct(self, name: str, a: Expr, b: Expr, node: Any, ctx: Ctx) -> Expr | None:
        """The one function of the operator that takes both as they are (MLS 14.4)."""
        fitting: dict[int, tuple[ClassNode, Type, Type]] = {}  # by definition: records derived from one share it
        for function in [*self._candidates(name, a.ty), *self._candidates(name, b.ty)]:
            inputs = self.elaborator.functions.header(function).inputs
            if len(inputs) < 2 or any(x.default is None for x in inputs[2:]) or id(function.definition) in fitting:
                continue
            if compatible(a.ty, inputs[0].ty) and compatible(b.ty, inputs[1].ty):
                fitting[id(function.definition)] = (function, inputs[0].ty, inputs[1].ty)
        # another record with the same fields is not the record itself (MLS 6.4)
        same = [one for one in fitting.values() if self._is_of(a.ty, one[1]) and self._is_of(b.ty, one[2])]
        found = same or list(fitting.values())
        if len(found) > 1 and found[0][1:] == found[1][1:]:
            text = f"two functions of the operator `{name}` fit {found[0][1]} and {found[0][2]}"
            self.elaborator.world.refuse("S336", text, ctx.span(node))
        return self.elaborator.calls.apply(found[0][0], [a, b], {}, node, ctx) if found else None

    def _is_of(self, have: Type, want: Type) -> bool:
        """Whether a record is the one wanted, or one of both is derived from the other; true of what is no record."""
        if not (isinstance(have.base, RecordType) and isinstance(want.base, RecordType)):
            return True
        names = [ty.base.name for ty in (have, want) if isinstance(ty.base, RecordType)]
        nodes = [self.elaborator.types.record_nodes.get(name) for name in names]
        kin = [{name, *(node.ancestors if node is not None else ())} for name, node in zip(names, nodes, strict=True)]
        return names[0] in kin[1] or names[1] in kin[0]

    def _candidates(self, name: str, ty: Type) -> list[ClassNode]:
        """The functions of a record's operator `'name'`."""
        if not isinstance(ty.base, RecordType):
            return []
        node = self.elaborator.types.record_nodes.get(ty.base.name)
        if node is None:
            return []
        return operator_functions(node, name)

    def _converted(self, record: Type, other: Expr, node: Any, ctx: Ctx) -> Expr | None:
        """`other` turned into the record by one of its constructors with a single argument (MLS 14.4)."""
        if other.ty.base == record.base:
            return None
        for function in self._candidates("constructor", record):
            inputs = self.elaborator.functions.header(function).inputs
            needed = [x for x in inputs[1:] if x.default is None]
            if inputs and not needed and compatible(other.ty, inputs[0].ty):
                return self.elaborator.calls.apply(function, [other], {}, node, ctx)
        return None

    # ---------------------------------------------------------------------------------------------- arrays of records

    def _arrays(self, op: str, name: str, a: Expr, b: Expr, node: Any, ctx: Ctx) -> Expr:
        if op == "*" and a.ty.dims and b.ty.dims:
            if len(a.ty.dims) == 1 and len(b.ty.dims) == 1:  # a scalar product is left to the record (MLS 14.5)
                raise self._mismatch(op, a.ty, b.ty, node, ctx)
            return self._product(a, b, node, ctx)
        if not (self._candidates(name, a.ty) or self._candidates(name, b.ty)):
            raise self._mismatch(op, a.ty, b.ty, node, ctx)  # even if there are no elements
        if a.ty.dims and b.ty.dims:
            if not _same_dims(a.ty, b.ty):
                raise self._mismatch(op, a.ty, b.ty, node, ctx)
            return self._pairs(a, b, lambda x, y: self.binary(op, x, y, node, ctx))
        if a.ty.dims:
            return self._each(a, lambda x: self.binary(op, x, b, node, ctx))
        return self._each(b, lambda y: self.binary(op, a, y, node, ctx))

    def _each(self, a: Expr, f: Any) -> Expr:
        n = a.ty.dims[0]
        if n is None:
            return self._looped((a,), f)
        if n == 0:
            return a
        parts = [f(make.index(a, (Int(i),))) for i in range(1, n + 1)]
        return make.array(parts)

    def _pairs(self, a: Expr, b: Expr, f: Any) -> Expr:
        n = a.ty.dims[0]
        if n is None:
            n = b.ty.dims[0]
        if n is None:
            return self._looped((a, b), f)
        if n == 0:
            return a
        parts = [f(make.index(a, (Int(i),)), make.index(b, (Int(i),))) for i in range(1, n + 1)]
        return make.array(parts)

    def _looped(self, arrays: tuple[Expr, ...], f: Any) -> Expr:
        """Sizes not known before the call: a comprehension over the first dimension."""
        name = self.elaborator.functions.fresh("i")
        at = Ref(name, INTEGER)
        body = f(*(make.index(a, (at,)) for a in arrays))
        over = make.range_(Int(1), None, Builtin("size", (arrays[0], Int(1)), INTEGER))
        return Comprehension("", body, ((name, over),), body.ty.array_of(None))

    def _product(self, a: Expr, b: Expr, node: Any, ctx: Ctx) -> Expr:
        """Vector and matrix products by the record's own `*` and `+`."""
        inner = a.ty.dims[-1]
        if inner is None or b.ty.dims[0] != inner:
            raise self._mismatch("*", a.ty, b.ty, node, ctx)
        if len(a.ty.dims) == 2:
            rows = a.ty.dims[0]
            assert rows is not None
            return make.array([self._product(make.index(a, (Int(i),)), b, node, ctx) for i in range(1, rows + 1)])
        if len(b.ty.dims) == 2:
            columns = b.ty.dims[1]
            assert columns is not None
            return make.array(
                [self._product(a, make.index(b, (Colon(), Int(j))), node, ctx) for j in range(1, columns + 1)]
            )
        if inner == 0:
            return self._zero(a.ty, b.ty, node, ctx)
        terms = [
            self.binary("*", make.index(a, (Int(i),)), make.index(b, (Int(i),)), node, ctx) for i in range(1, inner + 1)
        ]
        total = terms[0]
        for term in terms[1:]:
            total = self.binary("+", total, term, node, ctx)
        return total

    def _zero(self, a: Type, b: Type, node: Any, ctx: Ctx) -> Expr:
        """The operator '0' of the element type, for empty products and sums (MLS 14.5)."""
        for ty in (a, b):
            for function in self._candidates("0", ty):
                return self.elaborator.calls.apply(function, [], {}, node, ctx)
        raise self.elaborator.error("S260", f"an empty product or sum of {a.scalar()} needs operator '0'", node, ctx)

    def total(self, array: Expr, node: Any, ctx: Ctx) -> Expr:
        """sum() over an array of operator records."""
        n = array.ty.dims[0]
        if n == 0:
            return self._zero(array.ty, array.ty, node, ctx)
        if not n:
            raise self.elaborator.error("S260", f"`sum` cannot be applied to {array.ty}", node, ctx)
        result = make.index(array, (Int(1),))
        for i in range(2, n + 1):
            result = self.binary("+", result, make.index(array, (Int(i),)), node, ctx)
        return result


def operator_functions(node: ClassNode, name: str) -> list[ClassNode]:
    """The functions of the operator `'name'` of a class: the operator itself or the functions inside it."""
    operator = node.member(f"'{name}'")
    if not isinstance(operator, ClassNode):
        return []
    if operator.kind in ("operator function", "function"):
        return [operator]
    return [
        inner for n, e in operator.table.items() if e.is_class and isinstance(inner := operator.member(n), ClassNode)
    ]


def _position(e: Expr) -> Expr:
    """The place of an enumeration value among its literals."""
    return Int(e.index) if isinstance(e, Enum) else Builtin("Integer", (e,), INTEGER)


def _is_number(ty: Type) -> bool:
    return isinstance(ty.base, Primitive) and ty.base.name in ("Real", "Integer")


def _is_string(ty: Type) -> bool:
    return isinstance(ty.base, Primitive) and ty.base.name == "String"


def _same_dims(a: Type, b: Type) -> bool:
    return len(a.dims) == len(b.dims) and all(
        x is None or y is None or x == y for x, y in zip(a.dims, b.dims, strict=True)
    )


def _shapes_fit(op: str, a: Type, b: Type) -> bool:
    x, y = a.dims, b.dims
    if op in ("+", "-"):
        return _same_dims(a, b)
    if op in (".+", ".-", ".*", "./", ".^"):
        return not x or not y or _same_dims(a, b)
    if op == "*":
        if not x or not y:
            return True
        return len(x) <= 2 and len(y) <= 2 and (x[-1] is None or y[0] is None or x[-1] == y[0])
    if op == "/":
        return not y
    is_square = len(x) == 2 and (None in x or x[0] == x[1])
    return not y and (not x or (is_square and b.base == INTEGER.base))  # MLS 10.6.8
