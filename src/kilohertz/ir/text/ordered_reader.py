"""Reads an Ordered as `print_ordered` prints it, the Dae first; origins and costs are lost."""

from __future__ import annotations

from kilohertz.ir.dae import AnyEquation, CallEquation, Dae
from kilohertz.ir.expr import Ref
from kilohertz.ir.ordered import Component, Ordered, Row, System
from kilohertz.ir.step import Block
from kilohertz.ir.text.dae_reader import DaeReader
from kilohertz.ir.text.expr_reader import unquoted
from kilohertz.ir.text.step_reader import BlockReader


def read_ordered(text: str) -> Ordered | Dae:
    """An Ordered as printed; a Dae where nothing follows it."""
    reader = DaeReader(text)
    dae = reader.dae()
    out = _OrderedReader(reader).ordered(dae) if reader.e.peek("ordered") else dae
    reader.e.expect_end()
    return out


class _OrderedReader:
    def __init__(self, reader: DaeReader) -> None:
        self._reader = reader
        self.form, self.e, self.events = reader.form, reader.e, reader.events
        self.blocks = BlockReader(reader.events)
        self._equations: dict[
            tuple[object, ...], AnyEquation
        ] = {}  # one object for both systems and all rows of a call

    def ordered(self, dae: Dae) -> Ordered:
        self.form.head("ordered")
        functions = self.form.functions()
        while self.e.accept("local"):
            ty = self.form.type_()
            self.form.scope.variables[self.form.variable_name()] = ty
            self.e.expect(";")
        once = self.blocks.listed() if self.e.accept("once") else ()
        initial = self._system() if self.e.accept("initial") else None
        simplified = self._system() if self.e.accept("simplified") else None
        simulation = self._system() if self.e.accept("simulation") else None
        values: dict[str, float] = {}
        while self.e.accept("value"):
            name = self.form.variable_name()
            self.e.expect("=")
            values[name] = self._number()
            self.e.expect(";")
        notes: list[str] = []
        while self.e.accept("note"):
            notes.append(unquoted(self.e.take("string")))
            self.e.expect(";")
        self.form.end()
        return Ordered(dae, once, values, initial, simplified, simulation, {**dae.functions, **functions}, tuple(notes))

    def _number(self) -> float:
        sign = -1.0 if self.e.accept("-") else 1.0
        if self.e.peek("inf", "nan"):
            return sign * float(self.e.take("name"))
        text = self.e.take("number")
        return int(sign) * int(text) if text.isdigit() else sign * float(text)

    # ----------------------------------------------------------------------------------------------------- systems

    def _system(self) -> System:
        torn = self.e.accept("torn")
        blocks = self.blocks.listed() if torn else None
        components: list[Component] = []
        while self.e.tokens[self.e.at].kind == "number":
            components.append(self._component())
        checks: list[Block] = []
        while self.e.peek("check") and self.blocks.is_block():
            checks.append(self.blocks.block())
        return System(tuple(components), blocks, tuple(checks))

    def _component(self) -> Component:
        self.e.at += 1  # the number
        if not (self.e.peek("loop") and self.e.tokens[self.e.at + 1].text == ":"):
            unknown, row = self._row()
            return Component((row,), (unknown,))
        self.e.at += 2
        rows: list[tuple[Ref, Row]] = []
        while not (self.e.peek("end") and self.e.tokens[self.e.at + 1].text == ";"):
            rows.append(self._row())
        self.e.at += 2
        return Component(tuple(row for _, row in rows), tuple(unknown for unknown, _ in rows))

    def _row(self) -> tuple[Ref, Row]:
        """`x from equation;`, of a call with the result that the row stands for."""
        unknown = self.events.ref()
        self.e.expect("from")
        equation = self._shared(self._reader.equation())
        target: str | None = None
        if isinstance(equation, CallEquation):
            self.e.expect("as")
            target = self.form.variable_name()
        elif equation.directed and isinstance(equation.left, Ref):
            target = equation.left.name
        head = int(self.e.take("number")) if self.e.accept("after") else None
        invertible = self.e.accept("invertible")
        lead = self.form.variable_name() if self.e.accept("lead") else None
        self.e.expect(";")
        return unknown, Row(equation, target, head, invertible, lead)

    def _shared(self, e: AnyEquation) -> AnyEquation:
        parts = (e.targets, e.call, e.guard) if isinstance(e, CallEquation) else (e.left, e.right, e.directed)
        return self._equations.setdefault(parts, e)
