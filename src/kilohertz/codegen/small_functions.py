"""Functions that the model table names (khz_model.h): phases and small ones: start values, samples, crossings"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kilohertz.base import Origin
from kilohertz.codegen.block_functions import Calls
from kilohertz.codegen.functions import FunctionTable
from kilohertz.codegen.layout import STRINGS, Layout
from kilohertz.codegen.plain import with_instance
from kilohertz.codegen.rolling import Line, in_parts
from kilohertz.codegen.writing.expressions import Writer
from kilohertz.codegen.writing.statements import StatementWriter
from kilohertz.codegen.writing.values import default_start
from kilohertz.codegen.writing.writer import STATUS
from kilohertz.cost import Listed, Shapes, ends
from kilohertz.ir import step as s
from kilohertz.ir.expr import Expr, Int, Real, Ref, Str
from kilohertz.ir.flat import Assert
from kilohertz.ir.step import HELPERS, Kind, StepVariable
from kilohertz.ir.traverse import refs
from kilohertz.ir.types import REAL, ExternalObjectType

_STARTS = 50  # start values that one function sets: compilers take more than linear time for thousands of stores
_CHECKS = 200  # assertions of one function, for the same reason
_VALUES = 1000  # numbers that one function gives: what they share is computed once
_BEFORE = (Kind.PRE_DISCRETE, Kind.PRE_INT_DISCRETE, Kind.PRE_STRING_DISCRETE)


class _Kind(NamedTuple):
    """Result and parameters of functions of the model table, and the runtime's own for an empty body."""

    result: str
    parameters: str
    empty: str


_STATUS = _Kind("khz_status", "void *instance", "khz_no_blocks")
_ACTION = _Kind("void", "void *instance", "khz_no_action")


class TableFunctions:
    """Functions of the model table: their C, and their names by member; those with nothing to do are the runtime's."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.functions: dict[str, str] = {}

    def phase(self, member: str, calls: Calls, reset: Sequence[int] = (), name: str = "") -> None:
        """The function that runs a phase; `reset` are factorisations that do not outlive it."""
        body = [f"z->factored[{k}] = 0;" for k in reset]
        for call, _ in calls:
            body += [f"if ((status = {call}) != KHZ_OK) {{", "    return status;", "}"]
        lines = ["khz_status status = KHZ_OK;", *body, "return status;"] if body else []
        self._define(member, name or f"run_{member}", _STATUS, lines)

    def phases(self, member: str, lists: Sequence[Calls], order: Sequence[int]) -> None:
        """A table of functions, in some order, each of which runs a list of calls."""
        names = []
        for k, calls in enumerate(lists):
            self.phase(member, calls, name=f"run_{member}_{k + 1}" if len(lists) > 1 else f"run_{member}")
            names.append(self.functions.pop(member))
        entries = ", ".join(names[k] for k in order)
        self.lines += [f"static const khz_phase_fn {member}[] = {{{entries}}};", ""]
        self.functions[member] = member

    def actions(self, member: str, name: str, parts: Sequence[Sequence[str]], after: Sequence[str] = ()) -> None:
        """A function that sets something, in several parts where it is long; `after` follows them."""
        self._define(member, name, _ACTION, [*self._parts(name, _ACTION, "instance", parts), *after])

    def checks(self, member: str, parts: Sequence[Sequence[str]]) -> None:
        """A function that gives the status, in several parts where it is long: what leaves one leaves all."""
        name = f"check_{member}"
        body = [line for part in parts for line in part]
        if len(parts) > 1:
            body = ["khz_status status = KHZ_OK;"]
            for k, part in enumerate(parts, 1):
                head = f"KHZ_NOINLINE static khz_status {name}_{k}(void *instance)"
                self.lines += with_instance(head, [*part, "return KHZ_OK;"])
                body += [f"if ((status = {name}_{k}(instance)) != KHZ_OK) {{", "    return status;", "}"]
        self._define(member, name, _STATUS, [*body, "return (khz_status)z->c.status;"] if body else [])

    def values(self, member: str, into: str, parts: Sequence[Sequence[str]], empty: str = "khz_no_values") -> None:
        """A function that fills an array, in several parts where it is long."""
        kind = _Kind("void", f"void *instance, double *{into}", empty)
        name = f"get_{member}"
        self._define(member, name, kind, self._parts(name, kind, f"instance, {into}", parts))

    def sum(self, member: str, terms: Sequence[str]) -> None:
        """A function that adds numbers up: four sums, which do not wait for one another; no terms, no function."""
        if not terms:
            return
        lines = [f"double s{k} = {terms[k] if k < len(terms) else '0.0'};" for k in range(4)]
        lines += [f"s{k % 4} += {term};" for k, term in enumerate(terms) if k >= 4]
        name = f"sum_of_{member}"
        self._define(member, name, _Kind("double", "void *instance", ""), [*lines, "return (s0 + s1) + (s2 + s3);"])

    def _parts(self, name: str, kind: _Kind, arguments: str, parts: Sequence[Sequence[str]]) -> list[str]:
        """The body of one part, or calls of functions for several."""
        if len(parts) <= 1:
            return [line for part in parts for line in part]
        for k, body in enumerate(parts, 1):
            self.lines += with_instance(f"KHZ_NOINLINE static {kind.result} {name}_{k}({kind.parameters})", body)
        return [f"{name}_{k}({arguments});" for k in range(1, len(parts) + 1)]

    def _define(self, member: str, name: str, kind: _Kind, body: Sequence[str]) -> None:
        if not body:
            self.functions[member] = kind.empty
            return
        self.functions[member] = name
        self.lines += with_instance(f"static {kind.result} {name}({kind.parameters})", body)


@dataclass(frozen=True, slots=True)
class SmallFunctions:
    """Writes them for one model."""

    layout: Layout
    functions: FunctionTable
    place: Callable[[Origin], int]
    where: Callable[[Origin], str]
    shapes: Shapes
    starting: Callable[[str, list[list[str]]], list[list[str]]]  # puts parts of start values elsewhere

    def write(self, table: TableFunctions) -> None:
        """All of them into the table."""
        step = self.layout.step
        tunable = [v for v in step.variables.values() if v.tunable or _is_free_input(v)]
        computed = {t.name for b in step.once for t in s.targets(b)} | {v.name for v in tunable}
        left_out = HELPERS | {Kind.OBJECT}
        recorded = [*(d.source for d in step.delays), *(e for t in step.transports for e in t.recorded())]
        untouched = [v for v in step.variables.values() if v.name not in computed and v.slot.kind not in left_out]
        set_here = self.starting("set_tunables", self._parts(map(self._start, tunable), _STARTS))
        table.actions("tunables", "set_tunables", set_here)
        started = (*map(self._start, untouched), *self._nominals())
        table.actions("start", "set_start", self.starting("set_start", self._parts(started, _STARTS)), self._sizes())
        late = self._late()
        table.actions("late_start", "set_late_start", self._parts(map(self._start, late), _STARTS), self._again(late))
        table.actions("samples", "set_samples", self._parts(self._samples(), _STARTS))
        table.actions("destroy", "destroy_objects", [], self._destructors())
        table.checks("asserts", self._asserts(step.asserts))
        table.checks("initial_asserts", self._asserts(step.initial_asserts))
        table.values("crossings", "g", self._parts(self._crossings(), _VALUES))
        table.values("time_events", "at", self._list("at", (e.at for e in step.time_events)), "khz_no_instants")
        table.values("delay_sources", "value", self._list("value", recorded))
        table.sum("ends", [self.layout.place(v) for v in ends(step) or ()])

    def _writer(self, leave: str = "return;") -> Writer:
        return Writer(self.layout, "(&z->c)", leave)

    def _parts(self, lines: Iterable[Line], most: int) -> list[list[str]]:
        return in_parts(list(lines), most, self._writer, self.layout, self.shapes)

    def _start(self, v: StepVariable) -> Line:
        start = v.start
        if v.slot.kind in _BEFORE and start is None:
            declared = self.layout.step.variables.get(v.of)
            start = declared.start if declared is not None else None
        value = _default(v) if start is None else start
        one = Listed("start", ((v.slot.kind, v.slot.index),), (value,))
        if v.slot.kind in STRINGS:
            return Line(one, lambda at, texts: f"khz_set_text(&z->c, {at[0]}, {texts[0]});", is_rolled=False)
        return Line(one, lambda at, texts: f"{at[0]} = {texts[0]};")

    def _nominals(self) -> Iterator[Line]:
        """Usual sizes of what a method of integration keeps."""
        step = self.layout.step
        kept = [*step.of_kind(Kind.STATE), *(step.variables[ref.name] for ref in step.algebraic)]
        for k, v in enumerate(kept):
            nominal = Real(1.0) if v.nominal is None else v.nominal
            one = Listed("nominal", (("z->nominal_y", k),), (nominal,))
            yield Line(one, lambda at, texts: f"{at[0]} = khz_nominal({texts[0]});")

    def _sizes(self) -> list[str]:
        """Of the unknowns of nonlinear loops: nominal values, limits, start values."""
        w = self._writer()
        at = 0
        for unknowns in self.layout.loops:
            iterated = [self.layout.step.variables[u.name] for u in unknowns]
            sizes = [f"khz_nominal({self._attribute(w, v.nominal, '1.0')})" for v in iterated]
            sizes += [self._attribute(w, v.min, "-INFINITY") for v in iterated]
            sizes += [self._attribute(w, v.max, "INFINITY") for v in iterated]
            sizes += [self._attribute(w, v.start, "NAN") for v in iterated]
            w.put(*(f"z->sizes[{at + i}] = {text};" for i, text in enumerate(sizes)))
            at += len(sizes)
        lines = w.scope.lines
        if w.n_temporaries == 0:
            return lines
        return ["{", *(f"    {line}" for line in lines), "}"]  # temporaries beside those of the start values

    def _late(self) -> list[StepVariable]:
        """Unknowns of nonlinear loops whose start hangs on what the initial equations give."""
        step = self.layout.step
        given = {t.name for b in step.initial for t in s.targets(b)}
        iterated = dict.fromkeys(u.name for unknowns in self.layout.loops for u in unknowns)
        variables = [step.variables[name] for name in iterated]
        return [v for v in variables if v.start is not None and any(r.name in given for r in refs(v.start))]

    def _again(self, late: Sequence[StepVariable]) -> list[str]:
        """Start values of these in the sizes of nonlinear loops: as they were just set."""
        places = {v.name: self.layout.place(v) for v in late}
        lines = []
        at = 0
        for unknowns in self.layout.loops:
            n = len(unknowns)
            named = [(i, places[u.name]) for i, u in enumerate(unknowns) if u.name in places]
            lines += [f"z->sizes[{at + 3 * n + i}] = {place};" for i, place in named]
            at += 4 * n
        return lines

    def _attribute(self, w: Writer, e: Expr | None, otherwise: str) -> str:
        if e is None:
            return otherwise
        w.plan((e,))
        return w.text(e)

    def _samples(self) -> Iterator[Line]:
        for sample in self.layout.step.samples:
            k, origin = sample.index, self.place(sample.origin)
            cells = (("z->sample_start", k), ("z->sample_interval", k), ("", origin))
            yield Line(Listed("sample", cells, (sample.start, sample.interval)), _sampled)

    def _asserts(self, asserts: Sequence[Assert]) -> list[list[str]]:
        parts = []
        for first in range(0, len(asserts), _CHECKS):
            w = self._writer(STATUS)
            statements = StatementWriter(w, self.place)
            for one in asserts[first : first + _CHECKS]:
                statements.statement(one)
            parts.append(w.scope.lines)
        return parts

    def _crossings(self) -> Iterator[Line]:
        """g > 0 while the relation is as buffered, < 0 where it differs: never 0, so that no crossing is missed."""
        for c in self.layout.step.crossings:
            own = () if c.passing else ((Kind.RELATION, c.index),)
            one = Listed("crossing", (("g", c.index), *own), (c.relation, c.function))
            yield Line(one, _passed if c.passing else _crossed, self.where(c.origin))

    def _list(self, target: str, expressions: Iterable[Expr]) -> list[list[str]]:
        values = (Listed("value", ((target, k),), (e,)) for k, e in enumerate(expressions))
        return self._parts((Line(one, lambda at, texts: f"{at[0]} = {texts[0]};") for one in values), _VALUES)

    def _destructors(self) -> list[str]:
        """Each object once, however many variables hold it."""
        lines = []
        step = self.layout.step
        objects = step.of_kind(Kind.OBJECT)
        for v in objects:
            assert isinstance(v.ty.base, ExternalObjectType)
            name = self.functions.request(v.ty.base.destructor) if v.ty.base.destructor in step.functions else None
            if name is not None:
                place = self.layout.place(v)
                forget = f"khz_forget(z->{Kind.OBJECT.value}, {len(objects)}, {place});"
                lines += [f"if ({place} != NULL) {{", f"    {name}(&z->c, {place});", f"    {forget}", "}"]
        return lines


def _crossed(at: Sequence[str], texts: Sequence[str]) -> str:
    return f"{at[0]} = khz_crossing(({texts[0]}) == {at[1]}, {texts[1]});"


def _passed(at: Sequence[str], texts: Sequence[str]) -> str:
    return f"{at[0]} = khz_crossing(!({texts[0]}), {texts[1]});"


def _sampled(at: Sequence[str], texts: Sequence[str]) -> str:
    start, interval, place = at
    return f"{start} = {texts[0]};\n{interval} = {texts[1]};\nkhz_check_sample(&z->c, {place}, {start}, {interval});"


def _default(v: StepVariable) -> Expr:
    """The start value of a variable that has none."""
    if v.slot.kind in STRINGS:
        return Str("")
    return Real(0.0) if v.ty.base == REAL.base else Int(int(default_start(v.ty)))


def _is_free_input(v: StepVariable) -> bool:
    """An input whose start needs no other value: set with the parameters, so that what is given before the initial
    equations is still there when they are solved."""
    if v.slot.kind not in (Kind.INPUT, Kind.INT_INPUT):
        return False
    stack = [v.start] if v.start is not None else []
    while stack:
        e = stack.pop()
        if isinstance(e, Ref):
            return False
        stack.extend(e.children())
    return True
