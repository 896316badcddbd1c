"""Reads a Step as `step_printer` prints it; origins and costs are lost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kilohertz.ir import step as s
from kilohertz.ir.dae import Sample, der_name, pre_name
from kilohertz.ir.expr import Expr, Ref, Unary
from kilohertz.ir.flat import CallEquation, Purpose, Terminate
from kilohertz.ir.text.dae_reader import EventReader
from kilohertz.ir.text.expr_reader import unquoted
from kilohertz.ir.text.flat_reader import FormReader
from kilohertz.ir.text.step_printer import USUAL_TYPES
from kilohertz.ir.types import REAL, Type

_KINDS = {k.value: k for k in s.Kind}
_PARTITIONS = {p.value: p for p in s.Partition}
_LISTS = ("once", "initial", "simplified", "blocks", "directional", "time_slope", "inlined")
_EVENTS = ("crossing", "time", "sample", "delay", "transport", "assert", "initially")
_FLAGS = ("fixed", "protected", "tunable")
_TEXTS = {"unit": "unit", "displayUnit": "display_unit"}


def read_step(text: str) -> s.Step:
    """A Step as printed."""
    return _StepReader(text).step()


class _StepReader:
    def __init__(self, text: str) -> None:
        self.form = FormReader(text, "step")
        self.e = self.form.e
        self.events = EventReader(self.form)
        self.blocks = BlockReader(self.events)

    def step(self) -> s.Step:
        name, description = self.form.head()
        step = s.Step(name, description=description)
        start = self.e.at
        while self.e.peek("function", "impure"):
            self.form.skip_function()
        self._areas(step, skim=True)
        self.e.at = start
        step.functions = self.form.functions()
        self._areas(step, skim=False)
        while not self.events.is_section("end"):
            self._section(step)
        self.form.end()
        self.e.expect_end()
        return step

    # ------------------------------------------------------------------------------------------------ variables

    def _areas(self, step: s.Step, *, skim: bool) -> None:
        """Variables area by area; the first time only their types, which expressions need."""
        while self.e.peek(*_KINDS) and self.e.tokens[self.e.at + 1].text == ":":
            kind = _KINDS[self.e.take("name")]
            self.e.expect(":")
            index = 0
            while not self.e.accept(";"):
                self.e.accept(",")
                if skim:
                    self._skim(kind)
                else:
                    self._variable(step, s.Slot(kind, index))
                index += 1

    def _typed_name(self, kind: s.Kind) -> tuple[str, Type]:
        """A name, with a type before it where that is not the usual one."""
        usual = USUAL_TYPES.get(kind, REAL)
        at = self.e.at
        name = self.form.variable_name()
        if self.e.tokens[self.e.at].kind != "name":
            return name, usual
        self.e.at = at
        ty = self.form.type_()
        return self.form.variable_name(), ty

    def _skim(self, kind: s.Kind) -> None:
        name, ty = self._typed_name(kind)
        known = self.form.scope.variables
        known[name] = ty
        if kind in s.TWINS:
            known[_twin(name, kind)] = ty
        depth = 0
        while depth or not self.e.peek(",", ";"):
            text = self.e.tokens[self.e.at].text if self.e.tokens[self.e.at].kind == "op" else ""
            depth += (text in ("(", "{", "[")) - (text in (")", "}", "]"))
            self.e.at += 1

    def _variable(self, step: s.Step, slot: s.Slot) -> None:
        name, ty = self._typed_name(slot.kind)
        words = self._attributes()
        description = self.form.description()
        v = step.variables[name] = s.StepVariable(name, ty, slot, description=description, **words)
        twin = s.TWINS.get(slot.kind)
        if twin is not None:
            start = None if slot.kind is s.Kind.STATE else v.start
            of_twin = _twin(name, slot.kind)
            place = s.Slot(twin, slot.index)
            variable = s.StepVariable(of_twin, ty, place, start, protected=v.protected, purpose=v.purpose, of=name)
            step.variables[of_twin] = variable

    def _attributes(self) -> dict[str, Any]:
        words: dict[str, Any] = {}
        if not self.e.accept("("):
            return words
        while not self.e.accept(")"):
            attribute = self.e.take("name")
            self.e.expect("=")
            if attribute in _FLAGS:
                words[attribute] = self.e.take("name") == "true"
            elif attribute in _TEXTS:
                words[_TEXTS[attribute]] = unquoted(self.e.take("string"))
            elif attribute == "causality":
                words[attribute] = self.e.take("name")
            elif attribute == "purpose":
                words[attribute] = Purpose(self.e.take("name"))
            else:
                words[attribute] = self.e.expression()
            self.e.accept(",")
        return words

    # ------------------------------------------------------------------------------------------------- sections

    def _section(self, step: s.Step) -> None:
        if self.e.peek("annotation"):
            self.form.experiment(step.experiment)
            return
        word = self.e.take("name")
        if word in _LISTS:
            setattr(step, word, self.blocks.listed())
        elif word == "event":
            while self.e.peek(*_EVENTS):
                self._event(step)
                self.e.expect(";")
        else:
            self._entry(word, step)
            self.e.expect(";")

    def _entry(self, word: str, step: s.Step) -> None:
        match word:
            case "alias":
                name = self.form.variable_name()
                step.aliases[name] = self._alias()
            case "algebraic":
                step.algebraic = self.blocks.refs()
            case "sum":
                seed, *terms = self.blocks.refs()
                step.sums = (*step.sums, s.Sum(seed, tuple(terms)))
            case "pattern":
                step.state_sparsity = self._pattern()
            case "without":
                self.e.expect("derivative")
                step.no_directional = unquoted(self.e.take("string"))
            case "note":
                step.notes = (*step.notes, unquoted(self.e.take("string")))
            case _:
                raise self.e.error("a section expected")

    def _alias(self) -> s.Alias:
        attributes: dict[str, Any] = {**self._attributes(), "description": self.form.description()}
        self.e.expect("is")
        value = self.e.expression()
        sign, target = (-1, value.operand) if isinstance(value, Unary) else (1, value)
        if isinstance(target, Ref):
            return s.Alias(target.name, sign, **attributes)
        return s.Alias(None, value=value, **attributes)

    def _pattern(self) -> tuple[tuple[int, ...], ...]:
        rows: list[tuple[int, ...]] = []
        while self.e.accept("("):
            row: list[int] = []
            while not self.e.accept(")"):
                row.append(int(self.e.take("number")) - 1)
                self.e.accept(",")
            rows.append(tuple(row))
            self.e.accept(",")
        return tuple(rows)

    def _event(self, step: s.Step) -> None:
        events = self.events
        match self.e.take("name"):
            case "crossing":
                index, relation = events.number(), self.e.expression()
                self.e.expect("by")
                function = self.e.expression()
                crossing = s.Crossing(index, relation, function, passing=self.e.accept("passing"))
                step.crossings = (*step.crossings, crossing)
            case "time":
                step.time_events = (*step.time_events, events.time_event())
            case "sample":
                step.samples = (*step.samples, Sample(*events.pair()))
            case "delay":
                step.delays = (*step.delays, events.delay())
            case "transport":
                step.transports = (*step.transports, events.transport())
            case "assert":
                step.asserts = (*step.asserts, events.assertion())
            case "initially":
                self.e.expect("assert")
                step.initial_asserts = (*step.initial_asserts, events.assertion())
            case _:
                raise self.e.error("an event expected")


def _twin(name: str, kind: s.Kind) -> str:
    return der_name(name) if kind is s.Kind.STATE else pre_name(name)


class BlockReader:
    """Blocks, each behind its number or what it is inside another."""

    def __init__(self, events: EventReader) -> None:
        self.events, self.e = events, events.e

    def listed(self) -> tuple[s.Block, ...]:
        """Blocks one after the other, by their numbers."""
        blocks: list[s.Block] = []
        while self.e.tokens[self.e.at].kind == "number":
            blocks.append(self.block())
        return tuple(blocks)

    def is_block(self) -> bool:
        """A partition stands behind the number, not the name of an unknown."""
        after = self.e.tokens[self.e.at + 1 : self.e.at + 3]
        return after[0].text in _PARTITIONS and after[1].text in (":", ",")

    def block(self) -> s.Block:
        """One block and its semicolon."""
        self.e.at += 1  # the number
        partition = _PARTITIONS[self.e.take("name")]
        if self.e.accept(":"):
            target = self.events.ref()
            self.e.expect(":=")
            return self._ended(s.Assignment(target, self.e.expression(), partition))
        self.e.expect(",")
        match self.e.take("name"):
            case "linear":
                return self._ended(self._linear(partition))
            case "nonlinear":
                return self._ended(self._nonlinear(partition))
            case "mixed":
                return self._ended(self._mixed(partition))
            case "call":
                self.e.expect(":")
                targets = self.events.outputs()
                call, guard = self.events.guarded_call()
                return self._ended(s.CallBlock(targets, call, partition, guard))
            case "when":
                return self._ended(self._when(partition))
            case _:
                raise self.e.error("a kind of block expected")

    def _ended(self, b: s.Block) -> s.Block:
        self.e.expect(";")
        return b

    def refs(self) -> tuple[Ref, ...]:
        """Variables between commas."""
        variables = [self.events.ref()]
        while self.e.accept(","):
            variables.append(self.events.ref())
        return tuple(variables)

    def _inner(self) -> s.Inner:
        b = self.block()
        assert not isinstance(b, s.MixedLoop | s.WhenBlock)
        return b

    def _place(self) -> tuple[int, int]:
        """`[row,column]`."""
        self.e.expect("[")
        row = int(self.e.take("number"))
        self.e.expect(",")
        column = int(self.e.take("number"))
        self.e.expect("]")
        return row - 1, column - 1

    def _value(self) -> Expr:
        """`= expression;`."""
        self.e.expect("=")
        value = self.e.expression()
        self.e.expect(";")
        return value

    def _linear(self, partition: s.Partition) -> s.LinearLoop:
        self.e.expect("(")
        moves = _PARTITIONS[self.e.take("name")]
        self.e.expect(")")
        self.e.expect("in")
        unknowns = self.refs()
        again = self.refs() if self.e.accept("again") else ()
        n_apart = int(self.e.take("number")) if self.e.accept("apart") else 0
        is_symmetric = bool(self.e.accept("symmetric"))
        pivots = self._places(":") if self.e.accept("along") else []
        if not pivots:
            self.e.expect(":")
        matrix: list[s.Entry] = []
        rhs: list[Expr] = []
        inner: list[s.Assignment] = []
        through: list[s.Assignment] = []
        residuals: list[Expr] = []
        while not self.e.accept("end"):
            if self.e.accept("residual"):
                residuals.append(self.e.expression())
                self.e.expect(";")
            elif self.e.accept("A"):
                matrix.append(s.Entry(*self._place(), self._value()))
            elif self.e.accept("b"):
                self.e.at += 3  # [i]
                rhs.append(self._value())
            else:
                blocks = through if self.e.peek("through") else inner
                b = self.block()
                assert isinstance(b, s.Assignment)
                blocks.append(b)
        parts = (unknowns, tuple(matrix), tuple(rhs), tuple(inner), partition, moves)
        loop = s.LinearLoop(*parts, again=again, n_apart=n_apart, symmetric=is_symmetric)
        return replace(loop, through=tuple(through), residuals=tuple(residuals), pivots=tuple(pivots))

    def _nonlinear(self, partition: s.Partition) -> s.NonlinearLoop:
        self.e.expect("in")
        unknowns = self.refs()
        self.e.expect(":")
        inner: list[s.Inner] = []
        residuals: list[Expr] = []
        rates: list[s.LinearLoop] = []
        jacobian: list[s.Entry] | None = []
        sparsity: list[tuple[int, int]] | None = None
        while not self.e.accept("end"):
            if self.e.accept("residual"):
                residuals.append(self.e.expression())
                self.e.expect(";")
            elif self.e.accept("J") and jacobian is not None:
                jacobian.append(s.Entry(*self._place(), self._value()))
            elif self.e.peek("differences", "within"):
                jacobian = None if self.e.take("name") == "differences" else jacobian
                sparsity = self._places()
            elif self.e.peek("rate"):
                b = self.block()
                assert isinstance(b, s.LinearLoop)
                rates.append(b)
            else:
                inner.append(self._inner())
        entries = None if jacobian is None else tuple(jacobian)
        places = tuple((e.row, e.column) for e in entries or ()) if sparsity is None else tuple(sparsity)
        return s.NonlinearLoop(unknowns, tuple(inner), tuple(residuals), entries, places, partition, rates=tuple(rates))

    def _places(self, end: str = ";") -> list[tuple[int, int]]:
        places: list[tuple[int, int]] = []
        while not self.e.accept(end):
            self.e.accept(",")
            places.append(self._place())
        return places

    def _mixed(self, partition: s.Partition) -> s.MixedLoop:
        self.e.expect(":")
        parts: dict[str, list[s.Block]] = {"continuous": [], "discrete": []}
        while not self.e.accept("end"):
            parts[self.e.tokens[self.e.at].text].append(self.block())
        return s.MixedLoop(tuple(parts["continuous"]), tuple(parts["discrete"]), partition)

    def _when(self, partition: s.Partition) -> s.WhenBlock:
        guard = self.e.expression()
        self.e.expect("then")
        actions: list[s.Action] = []
        while not self.e.accept("end"):
            actions.append(self._action())
            self.e.expect(";")
        return s.WhenBlock(guard, tuple(actions), partition)

    def _action(self) -> s.Action:
        if self.e.accept("assert"):
            return self.events.assertion()
        if self.e.accept("reinit"):
            self.e.expect("(")
            target, value = self.e.until(")", self.e.expression)
            assert isinstance(target, Ref)
            return s.SetState(target, value)
        if self.e.accept("terminate"):
            self.e.expect("(")
            (message,) = self.e.until(")", self.e.expression)
            return Terminate(message)
        return CallEquation(self.e.expression())
