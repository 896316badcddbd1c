"""Reads a Dae as `dae_printer` prints it; origins are lost."""

from __future__ import annotations

from typing import Any

from kilohertz.ir.dae import (
    AliasOf,
    AnyEquation,
    CallEquation,
    Crossing,
    Dae,
    DaeVariable,
    Delay,
    Effect,
    Equation,
    Reinit,
    Role,
    Sample,
    Select,
    Selection,
    TimeEvent,
    Transport,
    When,
    der_name,
    pre_name,
)
from kilohertz.ir.expr import Call, Expr, Ref, Unary
from kilohertz.ir.flat import Assert, Purpose
from kilohertz.ir.text.expr_reader import unquoted
from kilohertz.ir.text.flat_reader import FormReader
from kilohertz.ir.types import REAL

_ROLES = {r.value: r for r in Role}
_SELECTS = {s.name.lower(): s for s in Select}
_SECTIONS = ("initial", "equation", "event", "alias", "selection", "preferred", "note", "annotation", "end")
_RESERVED = ("equation", "annotation", "end")  # no variable has such a name
_FLAGS = {"fixed": "fixed", "typical": "typical_start"}
_TEXTS = {"unit": "unit", "displayUnit": "display_unit"}


def read_dae(text: str) -> Dae:
    """A Dae as printed."""
    reader = DaeReader(text)
    dae = reader.dae()
    reader.e.expect_end()
    return dae


class EventReader:
    """Targets of calls, asserts and transport lines: what Dae and Step have in common."""

    def __init__(self, form: FormReader) -> None:
        self.form, self.e = form, form.e

    def is_section(self, *words: str) -> bool:
        """One of these words begins something new; a variable of that name would be followed by an operator."""
        after = self.e.tokens[self.e.at + 1]
        return self.e.peek(*words) and (self.e.peek(*_RESERVED) or after.kind in ("name", "string"))

    def names(self) -> tuple[str, ...]:
        """Names up to a semicolon or a word."""
        listed = [self.form.variable_name()]
        while self.e.accept(","):
            listed.append(self.form.variable_name())
        return tuple(listed)

    def outputs(self) -> tuple[tuple[Ref | None, ...], ...]:
        """`(a, _), (b)` up to `:=`, which is read too."""
        calls: list[tuple[Ref | None, ...]] = []
        while not self.e.accept(":="):
            self.e.accept(",")
            self.e.expect("(")
            items: list[Ref | None] = []
            while not self.e.accept(")"):
                items.append(None if self.e.accept("_") else self.ref())
                self.e.accept(",")
            calls.append(tuple(items))
        return tuple(calls)

    def ref(self) -> Ref:
        """A variable."""
        e = self.e.primary()
        if not isinstance(e, Ref):
            raise self.e.error("a variable expected")
        return e

    def guarded_call(self) -> tuple[Call, Expr | None]:
        """A call, with a guard behind `when`."""
        call = self.e.expression()
        if not isinstance(call, Call):
            raise self.e.error("a call expected")
        return call, self.e.expression() if self.e.accept("when") else None

    def assertion(self) -> Assert:
        """After `assert`."""
        self.e.expect("(")
        parts = self.e.until(")", self.e.expression)
        return Assert(parts[0], parts[1], parts[2] if len(parts) > 2 else None)

    def pair(self) -> tuple[int, Expr, Expr]:
        """`index: first, second`."""
        index = self.number()
        first = self.e.expression()
        self.e.expect(",")
        return index, first, self.e.expression()

    def number(self) -> int:
        """An index and a colon."""
        index = int(self.e.take("number"))
        self.e.expect(":")
        return index

    def delay(self) -> Delay:
        """`index: source, longest delay`, and what it gives before the start."""
        index, source, maximum = self.pair()
        if not isinstance(source, Ref):
            raise self.e.error("a variable expected")
        past = self.e.expression() if self.e.accept(",") else None
        return Delay(index, source, maximum, past=past)

    def transport(self) -> Transport:
        """Sources, points, values."""
        index = self.number()
        parts = []
        for _ in range(3):
            self.e.accept(",")
            self.e.expect("(")
            parts.append(tuple(self.e.until(")", self.e.expression)))
        at_zero, at_one, position, direction = (r for r in parts[0] if isinstance(r, Ref))
        return Transport(index, (at_zero, at_one, position, direction), parts[1], parts[2])

    def time_event(self) -> TimeEvent:
        """After `time`."""
        self.e.expect("event")
        self.e.expect("at")
        return TimeEvent(self.e.expression())


class DaeReader:
    """A Dae; something else may follow it."""

    def __init__(self, text: str) -> None:
        self.form = FormReader(text, "dae")
        self.e = self.form.e
        self.events = EventReader(self.form)

    def dae(self) -> Dae:
        """Up to its last line."""
        name, description = self.form.head()
        dae = Dae(name, description=description)
        self._skim()
        dae.functions = self.form.functions()
        while not self._is_section():
            v = self._variable()
            dae.variables[v.name] = v
            self.e.expect(";")
        while not self.events.is_section("end"):
            self._section(dae)
        self.form.end()
        return dae

    def _is_section(self) -> bool:
        return self.events.is_section(*_SECTIONS)

    def _skim(self) -> None:
        """Names and types of all variables, before any expression needs them."""
        start = self.e.at
        while self.e.peek("function", "impure"):
            self.form.skip_function()
        while not self._is_section():
            self._declare()
        while not self.events.is_section("end") or self.e.tokens[self.e.at + 1].text == "when":
            if self.events.is_section("alias"):
                self.e.expect("alias")
                self._declare()
            else:
                self.form.skip_to_semicolon()
        self.e.at = start

    def _declare(self) -> None:
        self._words()
        ty = self.form.type_()
        name = self.form.variable_name()
        known = self.form.scope.variables
        known[name] = known[pre_name(name)] = ty
        if ty == REAL:
            known[der_name(name)] = known[der_name(der_name(name))] = REAL
        self.form.skip_to_semicolon()

    def _words(self) -> tuple[Role | None, dict[str, Any]]:
        words: dict[str, Any] = {}
        role: Role | None = None
        while self.e.peek("protected", "final", "output", *_ROLES):
            word = self.e.take("name")
            if word in ("protected", "final"):
                words[word] = True
            elif role is None and word in _ROLES:
                role = _ROLES[word]
            else:
                words["causality"] = word
        if role is Role.INPUT:
            words["causality"] = "input"
        return role, words

    def _variable(self) -> DaeVariable:
        role, words = self._words()
        if role is None:
            raise self.e.error("the kind of a variable expected")
        ty = self.form.type_()
        name = self.form.variable_name()
        words["fixed"] = role in (Role.PARAMETER, Role.CONSTANT)
        if self.e.accept("("):
            while not self.e.accept(")"):
                self._attribute(words)
                self.e.accept(",")
        binding = self.e.expression() if self.e.accept("=") else None
        return DaeVariable(name, ty, role, binding, description=self.form.description(), **words)

    def _attribute(self, words: dict[str, Any]) -> None:
        attribute = self.e.take("name")
        self.e.expect("=")
        if attribute in _FLAGS:
            words[_FLAGS[attribute]] = self.e.take("name") == "true"
        elif attribute in _TEXTS:
            words[_TEXTS[attribute]] = unquoted(self.e.take("string"))
        elif attribute == "stateSelect":
            words["select"] = _SELECTS[self.e.take("name")]
        elif attribute == "purpose":
            words[attribute] = Purpose(self.e.take("name"))
        else:
            words[attribute] = self.e.expression()

    # ------------------------------------------------------------------------------------------------- sections

    def _section(self, dae: Dae) -> None:
        if self.e.peek("annotation"):
            self.form.experiment(dae.experiment)
            return
        word = self.e.take("name")
        if word == "initial":
            self.e.expect("equation")
            self._equations(dae.initial_equations)
        elif word == "equation":
            self._equations(dae.equations)
        elif word == "event":
            while not self._is_section():
                self._event(dae)
        else:
            self._entry(word, dae)
            self.e.expect(";")

    def _entry(self, word: str, dae: Dae) -> None:
        match word:
            case "alias":
                alias = self._alias()
                dae.aliases[alias.variable.name] = alias
            case "selection":
                states = self.events.names()
                self.e.expect("of")
                dae.selections.append(Selection(self.events.names(), states))
            case "preferred":
                dae.preferred = self.events.names()
            case "note":
                dae.notes.append(unquoted(self.e.take("string")))
            case _:
                raise self.e.error("a section expected")

    def _alias(self) -> AliasOf:
        v = self._variable()
        self.e.expect("is")
        value = self.e.expression()
        sign, target = (-1, value.operand) if isinstance(value, Unary) else (1, value)
        if isinstance(target, Ref):
            return AliasOf(v, target.name, sign)
        return AliasOf(v, None, 1, value)

    def _equations(self, into: list[AnyEquation]) -> None:
        while not self._is_section():
            into.append(self.equation())
            self.e.expect(";")

    def equation(self) -> AnyEquation:
        """One equation, up to its semicolon."""
        if self.e.peek("call") and self.e.tokens[self.e.at + 1].text == "(":
            self.e.expect("call")
            targets = self.events.outputs()
            call, guard = self.events.guarded_call()
            return CallEquation(targets, call, guard=guard)
        left = self.e.expression()
        directed = self.e.accept(":=")
        if not directed:
            self.e.expect("=")
        return Equation(left, self.e.expression(), directed=directed)

    def _event(self, dae: Dae) -> None:
        match self.e.take("name"):
            case "when":
                dae.whens.append(self._when())
            case "crossing":
                index, relation = self.events.number(), self.e.expression()
                dae.crossings.append(Crossing(index, relation, passing=self.e.accept("passing")))
            case "time":
                dae.time_events.append(self.events.time_event())
            case "sample":
                dae.samples.append(Sample(*self.events.pair()))
            case "delay":
                dae.delays.append(self.events.delay())
            case "transport":
                dae.transports.append(self.events.transport())
            case "assert":
                dae.asserts.append(self.events.assertion())
            case _:
                raise self.e.error("an event expected")
        self.e.expect(";")

    def _when(self) -> When:
        guard = self.e.expression()
        self.e.expect("then")
        actions: list[Reinit | Effect] = []
        while not self.e.accept("end"):
            actions.append(self._action())
            self.e.expect(";")
        self.e.expect("when")
        return When(guard, tuple(actions))

    def _action(self) -> Reinit | Effect:
        for word in ("reinit", "assert", "terminate"):
            if self.e.accept(word):
                self.e.expect("(")
                parts = self.e.until(")", self.e.expression)
                if word == "reinit" and isinstance(parts[0], Ref):
                    return Reinit(parts[0], parts[1])
                return Effect(word, tuple(parts))
        return Effect("call", (self.e.expression(),))
