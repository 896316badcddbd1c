"""A whole model as C: one header, files of functions and blocks, and the table that ties them together."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from kilohertz.base import Origin, SourceMap, short_name
from kilohertz.codegen.block_functions import BlockWriter, Calls
from kilohertz.codegen.external import prototype_of_external
from kilohertz.codegen.functions import FunctionTable
from kilohertz.codegen.layout import STRINGS, Layout
from kilohertz.codegen.model_table import Door, model_table
from kilohertz.codegen.plain import with_instance
from kilohertz.codegen.probes import Probes
from kilohertz.codegen.writing import spelling
from kilohertz.codegen.writing.c_program import CFile, CProgram, Jacobians, getter_of
from kilohertz.codegen.writing.expressions import Writer
from kilohertz.codegen.writing.statements import StatementWriter
from kilohertz.codegen.writing.values import TypeTable, default_start
from kilohertz.codegen.writing.writer import STATUS, Definition
from kilohertz.cost import columns, n_lanes, state_jacobian
from kilohertz.ir import step as s
from kilohertz.ir.expr import Expr, Ref
from kilohertz.ir.flat import Assert, Purpose
from kilohertz.ir.step import HELPERS, Kind, Partition, Step, StepVariable, without_directional
from kilohertz.ir.types import ExternalObjectType

_LINES_PER_FILE = 6000
_LINES_APART = 2000  # of what runs at the start alone, from which on it has files of its own
_DEEP = 200_000  # frames: a condition of thousands of parts; Python's own calls need no C stack
_STARTS_PER_FUNCTION = 50
_ARENA_PLAIN, _ARENA_FUNCTIONS = 1 << 16, 1 << 22  # bytes, besides what arrays of known sizes take
_ARENA_MOST = 1 << 30  # for those; a function that needs more fails (R716)
INCLUDES = (
    '#include "khz_base.h"',
    '#include "khz_loops.h"',
    '#include "khz_math.h"',
    '#include "khz_model.h"',
    '#include "khz_planned.h"',
    '#include "khz_probe.h"',
    '#include "khz_text.h"',
)


def generate(
    step: Step, sources: SourceMap | None = None, *, prefix: str = "", jacobians: Jacobians = Jacobians.OFTEN
) -> CProgram:
    """Step to C text.  The same step gives the same bytes.

    Every external symbol and every file name begins with `prefix` (default: the last part of the model's name).
    With Jacobians asked for `NEVER` the code is about half as long.  Between `OFTEN` and `SELDOM` the sign of a zero
    may differ, nothing else.
    """
    if jacobians is Jacobians.NEVER and step.directional is not None:
        step = without_directional(step)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _DEEP))
    try:
        return _Generator(step, sources, prefix or spelling.model_prefix(step.name), jacobians).program()
    finally:
        sys.setrecursionlimit(limit)


class _Generator:
    def __init__(self, step: Step, sources: SourceMap | None, prefix: str, jacobians: Jacobians) -> None:
        self.step, self.sources, self.prefix = step, sources, prefix
        self.often = jacobians is Jacobians.OFTEN
        self._places: dict[Origin, int] = {}
        self._where: dict[Origin, str] = {}
        self.types = TypeTable()
        self.probes = Probes()
        self.functions = FunctionTable(step.functions, self.types, self.place, self.where, prefix, self.probes)
        self.layout = Layout(step, self.functions)
        self.blocks = BlockWriter(self.layout, self.where, self.place, prefix, self.probes)
        self._initial: list[Definition] = []  # what runs at the start alone and has files of its own

    def place(self, origin: Origin) -> int:
        return self._places.setdefault(origin, len(self._places))

    def where(self, origin: Origin) -> str:
        """`motor.mo:41 (axle.clutch)`; file names as `short_name` has them."""
        known = self._where.get(origin)
        if known is None:
            known = self._where[origin] = self._worded(origin)
        return known

    def _worded(self, origin: Origin) -> str:
        parts = []
        for span in origin.spans[:3]:
            position = self.sources.position(span) if self.sources is not None else None
            line = f":{position[0]}" if position is not None else ""
            parts.append(short_name(span.file) + line)
        text = ", ".join(parts) + (f" ({origin.path})" if origin.path else "")
        return spelling.comment(text.strip())

    def program(self) -> CProgram:
        step, blocks, prefix = self.step, self.blocks, self.prefix
        once = blocks.phase("once", step.once)
        n_once = len(blocks.functions)
        initial = blocks.phase("initial", step.initial)
        apart = slice(n_once, len(blocks.functions))
        if sum(len(f.lines) for f in blocks.functions[apart]) < _LINES_APART:
            apart = slice(0, 0)
        self._initial += blocks.functions[apart]
        every = blocks.phase("block", step.blocks)
        table = _Table()
        lanes = self._directions(table)
        optional = [("time_slope", step.time_slope), ("inlined", step.inlined)]
        optional_calls = {name: blocks.phase(name, of_phase) for name, of_phase in optional if of_phase is not None}
        self._small_functions(table)
        table.phase("once", once)
        table.phase("initial", initial)
        table.phase("event", every, blocks.reset)
        for part in (Partition.STEP, Partition.CROSSING, Partition.OUTPUT):
            table.phase(part.name.lower(), [c for c in every if c[1] is part])
        for name, calls in optional_calls.items():
            table.phase(name, calls)
        self.functions.write_all()
        arena = _ARENA_FUNCTIONS if self.functions.written else _ARENA_PLAIN
        members = self.layout.members(arena + min(self.types.room, _ARENA_MOST))
        origins = [self.where(origin) for origin in self._places]
        door = Door(table.functions, members, getter_of(prefix), lanes, origins, self.often)
        tables = [*table.lines, *model_table(step, self.layout, blocks.infos, self.probes.n_places, self.where, door)]
        inner = [f for f in self.functions.written if f.external is None]
        foreign = [f for f in self.functions.written if f.external is not None]
        include = f'#include "{prefix}model.h"'
        about = spelling.comment(step.name)
        head = [f"/* {about}: Modelica functions.  Generated by Kilohertz. */", include, ""]
        files = _split(f"{prefix}functions", head, [Definition(f.lines) for f in inner])
        head = [f"/* {about}: blocks of equations, phase by phase.  Generated by Kilohertz. */", include, ""]
        files += _split(f"{prefix}initial", head, self._initial, is_initial=True)
        files += _split(f"{prefix}blocks", head, [*blocks.functions[: apart.start], *blocks.functions[apart.stop :]])
        head = [f"/* {about}: start values, phases and the model table.  Generated by Kilohertz. */", include, ""]
        files.append(CFile(f"{prefix}model.c", _text([*head, *tables])))
        return CProgram(
            step.name,
            prefix,
            CFile(f"{prefix}model.h", _text(self._header(members))),
            tuple(files),
            self._external_file() if foreign else None,
            tuple(f.external for f in foreign if f.external is not None),
            tuple(blocks.infos),
            (*(f.symbol for f in inner), *blocks.symbols, getter_of(prefix)),
            tuple(self.probes.blocks),
            tuple(self.probes.functions),
            tuple(self._places),
            dict(self.layout.counts),
            frozenset(n for n, v in step.variables.items() if v.purpose is not Purpose.DECLARED),
            tuple(step.crossings),
        )

    def _directions(self, table: _Table) -> int:
        """Functions for the directions of a Jacobian, call by call; gives how many each takes at once."""
        jacobian = state_jacobian(self.step)
        lanes = n_lanes(self.step, jacobian) if self.often else 1
        lists = columns(self.step, jacobian, lanes, narrow=self.often)
        distinct = list(dict.fromkeys(lists))
        if lanes > 1:
            calls = self.blocks.wide("directional", distinct)
        else:
            calls = {one: self.blocks.phase("directional", one) for one in distinct}
        if lists:
            table.phase("resting", self.blocks.resting())
            table.phases("directional", [calls[one] for one in distinct], [distinct.index(one) for one in lists])
        return lanes

    # --------------------------------------------------------------------------------------------------------- header

    def _header(self, members: Mapping[str, str]) -> list[str]:
        prototypes = [f.prototype + ";" for f in self.functions.written]
        guard = f"{self.prefix}MODEL_H"
        return [
            f"/* {spelling.comment(self.step.name)}: variables, the instance, functions.  Generated by Kilohertz. */",
            f"#ifndef {guard}",
            f"#define {guard}",
            "",
            *INCLUDES,
            "",
            *self.layout.enumerators(),
            "",
            "typedef struct khz_instance {",
            "    khz_context c;",
            *(f"    {line}" for line in members.values()),
            "} khz_instance;",
            "",
            *self.types.definitions,
            *prototypes,
            *self.blocks.prototypes,
            f"KHZ_EXPORT const khz_model *{getter_of(self.prefix)}(void);",
            "",
            "#endif",
        ]

    def _external_file(self) -> CFile:
        """Wrappers of external functions, with the texts of their Include annotations, each once."""
        foreign = [f for f in self.functions.written if f.external is not None]
        includes: dict[str, None] = {}
        declarations: dict[str, None] = {}
        for f in foreign:
            assert f.external is not None
            for text in f.external.includes:
                includes.setdefault(text.strip())
            if not f.external.includes and f.external.language != "builtin":
                declarations.setdefault(prototype_of_external(self.step.functions[f.id], self.types))
        header = f'#include "{self.prefix}model.h"'
        lines = [
            f"/* {spelling.comment(self.step.name)}: calls of external functions.  Generated by Kilohertz. */",
            header,
        ]
        lines += ['#include "ModelicaUtilities.h"', *includes, ""]  # as they stand in the model
        ours = _text([*declarations, "", *(line for f in foreign for line in f.lines)])
        return CFile(f"{self.prefix}external.c", "\n".join(lines) + "\n" + ours)

    # ------------------------------------------------------------------------------------------------ small functions

    def _small_functions(self, table: _Table) -> None:
        step = self.step
        tunable = [v for v in step.variables.values() if v.tunable or _is_free_input(v)]
        computed = {t.name for b in step.once for t in s.targets(b)} | {v.name for v in tunable}
        left_out = HELPERS | {Kind.OBJECT}
        recorded = [*(d.source for d in step.delays), *(e for t in step.transports for e in t.recorded())]
        untouched = [v for v in step.variables.values() if v.name not in computed and v.slot.kind not in left_out]
        self._start_functions(table, "tunables", tunable, [])
        self._start_functions(table, "start", untouched, self._nominals())
        table.action("samples", "set_samples", self._samples())
        table.action("destroy", "destroy_objects", self._destructors())
        table.checks("asserts", self._asserts(step.asserts))
        table.checks("initial_asserts", self._asserts(step.initial_asserts))
        table.values("crossings", "g", self._crossings())
        table.values("time_events", "at", self._list("at", (e.at for e in step.time_events)))
        table.values("delay_sources", "value", self._list("value", recorded))

    def _writer(self, leave: str = "return;") -> Writer:
        return Writer(self.layout, "(&z->c)", leave)

    def _start_functions(self, table: _Table, name: str, variables: Sequence[StepVariable], after: list[str]) -> None:
        """Start values in parts: compilers take more than linear time for thousands of stores in one function."""
        n = _STARTS_PER_FUNCTION
        parts = [self._starts(variables[i : i + n]) for i in range(0, len(variables), n)]
        if self._initial or sum(map(len, parts)) >= _LINES_APART:
            parts = [[f"{self._apart(f'set_{name}_{i}', body)}(instance);" for i, body in enumerate(parts, 1)]]
        elif len(parts) > 1:
            for i, body in enumerate(parts, 1):
                table.lines += with_instance(f"KHZ_NOINLINE static void set_{name}_{i}(void *instance)", body)
            parts = [[f"set_{name}_{i}(instance);" for i in range(1, len(parts) + 1)]]
        table.action(name, f"set_{name}", [*(line for part in parts for line in part), *after])

    def _apart(self, name: str, body: list[str]) -> str:
        """A function in the files of what runs at the start alone; its C name."""
        symbol = self.prefix + name
        head = f"void {symbol}(void *instance)"
        self.blocks.symbols.append(symbol)
        self.blocks.prototypes.append(head + ";")
        self._initial.append(Definition(with_instance(head, body)))
        return symbol

    def _starts(self, variables: Sequence[StepVariable]) -> list[str]:
        w = self._writer()
        starts: list[tuple[StepVariable, Expr | None]] = []
        for v in variables:
            start = v.start
            if v.slot.kind in (Kind.PRE_DISCRETE, Kind.PRE_INT_DISCRETE, Kind.PRE_STRING_DISCRETE) and start is None:
                declared = self.step.variables.get(v.of)
                start = declared.start if declared is not None else None
            starts.append((v, start))
        w.plan(e for _, e in starts if e is not None)
        for v, start in starts:
            text = default_start(v.ty) if start is None else w.text(start)
            if v.slot.kind in STRINGS:
                w.put(f"khz_set_text(&z->c, {self.layout.place(v)}, {text});")
            else:
                w.put(f"{self.layout.place(v)} = {text};")
        return w.scope.lines

    def _nominals(self) -> list[str]:
        w = self._writer()
        at = 0
        for unknowns in self.layout.loops:
            iterated = [self.step.variables[u.name] for u in unknowns]
            sizes = [f"khz_nominal({self._nominal(w, v)})" for v in iterated]
            sizes += [self._attribute(w, v.min, "-INFINITY") for v in iterated]
            sizes += [self._attribute(w, v.max, "INFINITY") for v in iterated]
            sizes += [self._attribute(w, v.start, "NAN") for v in iterated]
            w.put(*(f"z->sizes[{at + i}] = {text};" for i, text in enumerate(sizes)))
            at += len(sizes)
        for v in self.step.of_kind(Kind.STATE):
            w.put(f"z->nominal_y[{v.slot.index}] = khz_nominal({self._nominal(w, v)});")
        for i, ref in enumerate(self.step.algebraic, self.layout.counts[Kind.STATE]):
            w.put(f"z->nominal_y[{i}] = khz_nominal({self._nominal(w, self.step.variables[ref.name])});")
        lines = w.scope.lines
        if w.n_temporaries == 0:
            return lines
        return ["{", *(f"    {line}" for line in lines), "}"]  # temporaries beside those of the start values

    def _nominal(self, w: Writer, v: StepVariable) -> str:
        return self._attribute(w, v.nominal, "1.0")

    def _attribute(self, w: Writer, e: Expr | None, otherwise: str) -> str:
        if e is None:
            return otherwise
        w.plan((e,))
        return w.text(e)

    def _samples(self) -> list[str]:
        w = self._writer()
        for sample in self.step.samples:
            w.plan((sample.start, sample.interval))
            start, interval = w.text(sample.start), w.text(sample.interval)
            kept = f"z->sample_start[{sample.index}]", f"z->sample_interval[{sample.index}]"
            w.put(f"{kept[0]} = {start};", f"{kept[1]} = {interval};")
            w.put(f"khz_check_sample(&z->c, {self.place(sample.origin)}, {kept[0]}, {kept[1]});")
        return w.scope.lines

    def _asserts(self, asserts: Iterable[Assert]) -> list[str]:
        w = self._writer(STATUS)
        statements = StatementWriter(w, self.place)
        for one in asserts:
            statements.statement(one)
        return w.scope.lines

    def _crossings(self) -> list[str]:
        """g > 0 while the relation is as buffered, < 0 where it differs: never 0, so that no crossing is missed."""
        w = self._writer()
        w.plan(e for c in self.step.crossings for e in (c.relation, c.function))
        for c in self.step.crossings:
            relation, function = w.text(c.relation), w.text(c.function)
            w.put(f"g[{c.index}] = khz_crossing(({relation}) == z->r[{c.index}], {function});{self._remark(c.origin)}")
        return w.scope.lines

    def _remark(self, origin: Origin) -> str:
        text = self.where(origin)
        return f" /* {text} */" if text else ""

    def _list(self, target: str, expressions: Iterable[Expr]) -> list[str]:
        w = self._writer()
        roots = list(expressions)
        w.plan(roots)
        for i, e in enumerate(roots):
            text = w.text(e)
            w.put(f"{target}[{i}] = {text};")
        return w.scope.lines

    def _destructors(self) -> list[str]:
        """Each object once, however many variables hold it."""
        lines = []
        objects = self.step.of_kind(Kind.OBJECT)
        for v in objects:
            assert isinstance(v.ty.base, ExternalObjectType)
            name = self.functions.request(v.ty.base.destructor) if v.ty.base.destructor in self.step.functions else None
            if name is not None:
                place = self.layout.place(v)
                forget = f"khz_forget(z->{Kind.OBJECT.value}, {len(objects)}, {place});"
                lines += [f"if ({place} != NULL) {{", f"    {name}(&z->c, {place});", f"    {forget}", "}"]
        return lines


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


class _Kind(NamedTuple):
    """Result and parameters of functions of the model table, and the runtime's own for an empty body."""

    result: str
    parameters: str
    empty: str


_STATUS = _Kind("khz_status", "void *instance", "khz_no_blocks")
_ACTION = _Kind("void", "void *instance", "khz_no_action")


class _Table:
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

    def action(self, member: str, name: str, body: list[str]) -> None:
        """A function that sets something."""
        self._define(member, name, _ACTION, body)

    def checks(self, member: str, body: list[str]) -> None:
        """A function that gives the status."""
        ended = [*body, "return (khz_status)z->c.status;"] if body else []
        self._define(member, f"check_{member}", _STATUS, ended)

    def values(self, member: str, into: str, body: list[str]) -> None:
        """A function that fills an array."""
        kind = _Kind("void", f"void *instance, double *{into}", "khz_no_values")
        self._define(member, f"get_{member}", kind, body)

    def _define(self, member: str, name: str, kind: _Kind, body: list[str]) -> None:
        if not body:
            self.functions[member] = kind.empty
            return
        self.functions[member] = name
        self.lines += with_instance(f"static {kind.result} {name}({kind.parameters})", body)


def _split(stem: str, head: Sequence[str], definitions: Sequence[Definition], is_initial: bool = False) -> list[CFile]:
    """Definitions over several files, so that the C compiler stays linear and works in parallel."""
    files: list[CFile] = []
    lines: list[str] = []

    def flush() -> None:
        if lines:
            files.append(CFile(f"{stem}_{len(files) + 1}.c", _text([*head, *lines]), is_initial))
            lines.clear()

    for i, definition in enumerate(definitions):
        if len(lines) > _LINES_PER_FILE and not definitions[i - 1].is_local:
            flush()
        lines.extend(definition.lines)
    flush()
    return files


def _text(lines: Iterable[str]) -> str:
    return "\n".join(part for line in lines for part in spelling.wrapped(line)) + "\n"
