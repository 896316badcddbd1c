"""Blocks that are no loops, as C statements: assignments, calls, what happens at events."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from kilohertz.base import InternalError, Origin
from kilohertz.codegen.layout import DOUBLES, STRINGS, Layout
from kilohertz.codegen.writing.expressions import Writer
from kilohertz.codegen.writing.statements import StatementWriter
from kilohertz.codegen.writing.values import ArrayValue
from kilohertz.codegen.writing.writer import STATUS, unsupported
from kilohertz.ir import step as s
from kilohertz.ir.expr import Expr, Ref
from kilohertz.ir.flat import Assert, CallEquation, Terminate
from kilohertz.ir.types import REAL, ExternalObjectType, RecordType, TupleType, Type

Output = TypeVar("Output", str | ArrayValue, ArrayValue)

_MANY = 16  # numbers of an array that are copied at once: a line each takes the C compiler quadratic time
_INSTANCE = re.compile(r"\bz\b")


def with_instance(head: str, body: Sequence[str]) -> list[str]:
    """A C function that is given its instance as `void *instance`."""
    if any(map(_INSTANCE.search, body)):
        body = ["khz_instance *const z = (khz_instance *)instance;", *body]
    elif not any("instance" in line for line in body):
        body = ["(void)instance;", *body]
    return [head, "{", *("    " + line for line in body), "}", ""]


@dataclass(frozen=True, slots=True)
class PlainBlocks:
    """Writes blocks into the function that a writer is at."""

    layout: Layout
    places: Callable[[Origin], int]

    def write(self, w: Writer, block: s.Block) -> None:
        """The statements of a block that is no loop."""
        match block:
            case s.Assignment(target, value) if isinstance(target.ty.base, ExternalObjectType):
                place, text = self.layout.variable(target), w.text(value)
                w.put(f"if ({place} == NULL) {{")  # made once, however often the initial system is gone through
                w.put(f"    {place} = {text};")
                w.put("}")
            case s.Assignment(target, value):
                self.assign(w, target, value)
            case s.CallBlock():
                self._call(w, block)
            case s.WhenBlock():
                self._when(w, block)
            case _:
                raise InternalError(f"{type(block).__name__} is not a plain block")

    def assign(self, w: Writer, target: Ref, value: Expr) -> None:
        """`target := value`."""
        self._set(w, target, w.assigned(value))

    def _set(self, w: Writer, target: Ref, text: str) -> None:
        kind = self.layout.step.variables[target.name].slot.kind
        if kind in STRINGS:
            w.put(f"khz_set_text(&z->c, {self.layout.variable(target)}, {text});")
        elif kind is s.Kind.RELATION:
            place = self.layout.variable(target)
            w.put(f"{place} = {self.forced(target)} ? {place} : ({text});")
        else:
            w.put(f"{self.layout.variable(target)} = {text};")

    def forced(self, target: Ref) -> str:
        """Not 0 while a stepper holds an event that it located between two steps."""
        return f"z->forced[{self.layout.step.slot(target.name).index}]"

    def _call(self, w: Writer, block: s.CallBlock) -> None:
        def effect() -> None:
            callee = self.layout.callee(block.call)
            is_pure = self.layout.step.functions[block.call.function].pure
            results = w.call_results(block.call) if is_pure else w.call_again(block.call)
            whole = block.call.ty
            wanted = whole.base.elements if isinstance(whole.base, TupleType) else (whole,)
            for targets, value, ty, sized in zip(block.targets, results, callee.outputs, wanted, strict=False):
                value = self._sized(w, value, len(targets))
                if isinstance(value, ArrayValue) and self._is_one_area(targets, value.element):
                    self._set_all(w, targets, value)
                    continue
                texts = self._flattened(w, value, ty, sized)
                for target, text in zip(targets, texts, strict=True):
                    if target is not None:
                        self._set(w, target, text)

        if block.guard is None:
            effect()
            return
        head = w.text(block.guard)

        def keep() -> None:
            for t in s.targets(block):
                self._set(w, t, self._pre(t))

        w.put(f"if ({head}) {{", *w.inside(effect), "} else {", *w.inside(keep), "}")

    def _is_one_area(self, targets: Sequence[Ref | None], element: Type) -> bool:
        """Whether many numbers stand side by side in the instance, in order."""
        if len(targets) < _MANY or element.base != REAL.base:
            return False
        slots = [self.layout.step.slot(t.name) for t in targets if t is not None]
        if len(slots) < len(targets):
            return False  # some are not wanted
        first = slots[0]
        places = [(first.kind, first.index + k) for k in range(len(targets))]
        return first.kind in DOUBLES and [(p.kind, p.index) for p in slots] == places

    def _set_all(self, w: Writer, targets: Sequence[Ref | None], value: ArrayValue) -> None:
        assert targets[0] is not None
        place = self.layout.variable(targets[0])
        w.put(f"memcpy(&{place}, {value.pointer}, sizeof(double) * {len(targets)});")

    def _sized(self, w: Writer, value: Output, count: int) -> Output:
        """An output whose size the function decides, checked against the number of its targets."""
        if isinstance(value, str) or value.is_fixed:
            return value
        w.put(f"if (khz_expect_size(&z->c, {value.size}, {count}) != KHZ_OK) {{", f"    {STATUS}", "}")
        return ArrayValue(value.pointer, (str(count),), value.element)

    def _flattened(self, w: Writer, value: str | ArrayValue, ty: Type, wanted: Type) -> list[str]:
        """The scalars of a call's output, row-major, record fields in order; `wanted`: the same type with all sizes."""
        if isinstance(value, ArrayValue):
            of_one, inner = ty.scalar(), wanted.scalar()
            count = int(value.size)
            return [t for k in range(count) for t in self._flattened(w, f"{value.pointer}[{k}]", of_one, inner)]
        if not isinstance(ty.base, RecordType):
            return [value]
        sizes = dict(wanted.base.fields) if isinstance(wanted.base, RecordType) else {}
        out: list[str] = []
        for name, field_type in ty.base.fields:
            sized = sizes.get(name, field_type)
            if None in sized.dims:
                raise unsupported(f"a variable for field `{name}`, whose size is not known")
            if field_type.dims:
                array = w.types.field_array(value, name, field_type)
                array = self._sized(w, array, math.prod(d or 0 for d in sized.dims))
                out += self._flattened(w, array, field_type, sized)
            else:
                out += self._flattened(w, f"{value}.{w.types.fields(name)}", field_type, sized)
        return out

    def _pre(self, target: Ref) -> str:
        name = f"pre({target.name})"
        pre = self.layout.step.variables.get(name)
        return self.layout.place(pre) if pre is not None else str(self.layout.variable(target))

    def _when(self, w: Writer, block: s.WhenBlock) -> None:
        placement = w.placement
        w.plan((block.guard,))
        head = w.text(block.guard)

        def acts() -> None:
            statements = StatementWriter(w, self.places)
            for action in block.actions:
                match action:
                    case s.SetState(target, value):
                        w.plan((value,))
                        index = self.layout.step.slot(target.name).index
                        w.put(f"z->reinit_value[{index}] = {w.text(value)};", f"z->reinit[{index}] = 1;")
                    case Assert() | Terminate() | CallEquation():
                        statements.statement(action)

        w.put(f"if ({head}) {{", *w.inside(acts), "}")
        w.placement = placement
