"""From classes to types: primitives, enumerations, records, external objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kilohertz.base import Diagnostic, ModelError
from kilohertz.interp import EvaluationError, NotConstant
from kilohertz.ir.types import (
    Base,
    EnumType,
    ExternalObjectType,
    FunctionType,
    Primitive,
    RecordType,
    Type,
)
from kilohertz.semantics.classes.modifiers import Ctx
from kilohertz.semantics.classes.nodes import ClassNode, Element
from kilohertz.syntax import tree

if TYPE_CHECKING:
    from kilohertz.semantics.expressions.elaborate import Elaborator


class Types:
    """Types of classes, kept per class."""

    def __init__(self, elaborator: Elaborator) -> None:
        self.elaborator = elaborator
        self._enums: dict[int, EnumType] = {}
        self.record_nodes: dict[str, ClassNode] = {}  # by record name: where its operators are found

    def primitive(self, node: ClassNode) -> Base | None:
        """The base of a class derived from a predefined type, an enumeration or ExternalObject; else None."""
        if "primitive" not in node.memo:
            node.memo["primitive"] = self._primitive(node)
        return node.memo["primitive"]  # type: ignore[return-value]

    def _primitive(self, node: ClassNode) -> Base | None:
        node.table  # noqa: B018
        if node.builtin:
            return Primitive(node.builtin)
        if node.enum is not None:
            return self.enum(node.enum)
        if node.is_external_object:
            return ExternalObjectType(node.full_name, f"{node.full_name}.constructor", f"{node.full_name}.destructor")
        return None

    def enum(self, definition: tree.ClassDef) -> EnumType:
        known = self._enums.get(id(definition))
        if known is None:
            assert isinstance(definition.body, tree.EnumBody)
            name = ".".join((*definition.within, definition.name))
            known = EnumType(name, tuple(literal for literal, _ in definition.body.literals))
            self._enums[id(definition)] = known
        return known

    def of_class(self, node: ClassNode) -> Type:
        """The type of a value of this class (sizes that are not known before a call are None)."""
        if "type" not in node.memo:
            dims: list[int | None] = []
            node.table  # noqa: B018  (finds the dimensions of base classes)
            for exprs, view in node.class_dims:
                dims += [self.size(d, Ctx(view)) for d in exprs]
            base = self.primitive(node)
            if base is None:
                base = self.function(node) if node.kind in ("function", "operator function") else self.record(node)
            node.memo["type"] = Type(base, tuple(dims))
        return node.memo["type"]  # type: ignore[return-value]

    def size(self, expr: tree.Expr, ctx: Ctx) -> int | None:
        """A dimension if it can be known now."""
        if isinstance(expr, tree.Colon):
            return None
        try:
            return self.elaborator.evaluation.dimension(expr, ctx)
        except (NotConstant, EvaluationError):
            return None
        except ModelError as error:
            if all(d.code in ("S230", "S232", "S234", "S235", "S236", "S237", "S238") for d in error.diagnostics):
                return None
            raise

    def record(self, node: ClassNode) -> RecordType:
        """A record by its fields; also a connector or model where one is used as a value."""
        if "record" not in node.memo:
            fields = tuple((name, self._field(node, e)) for name, e in node.table.items() if not e.is_class)
            record = RecordType(node.full_name, fields)
            node.memo["record"] = record
            self.record_nodes[node.full_name] = node
        return node.memo["record"]  # type: ignore[return-value]

    def _field(self, node: ClassNode, element: Element) -> Type:
        decl, view = element.component, element.view
        for mod in element.chain:
            if mod.spec.redeclare is not None and isinstance(mod.spec.redeclare.element, tree.Component):
                decl, view = mod.spec.redeclare.element, mod.ctx.view
                break
        inner = view.lookup_class(decl.type)
        if inner is node:
            raise ModelError(Diagnostic("S211", f"`{node.written_name}` contains itself", element.span))
        dims = [None if self._uses_fields(d, node) else self.size(d, Ctx(view)) for d in decl.dims]
        return self.of_class(inner.specialised(element.chain) if element.chain else inner).array_of(*dims)

    def _uses_fields(self, dim: tree.Expr, node: ClassNode) -> bool:
        """A size that depends on another field is known only of a value, not of the type."""
        for ref in tree.refs(dim):
            element = node.table.get(ref.names[0])
            if element is not None and not element.is_class and element.component.variability != "constant":
                return True
        return False

    def function(self, node: ClassNode) -> FunctionType:
        header = self.elaborator.functions.header(node)
        inputs = tuple((x.name, x.ty) for x in header.inputs)
        return FunctionType(inputs, tuple(x.ty for x in header.outputs))
