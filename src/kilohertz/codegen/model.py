"""A whole model as C: one header, files of functions and blocks, and the table that ties them together."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from kilohertz.base import Origin, SourceMap, short_name
from kilohertz.codegen.block_functions import BlockWriter
from kilohertz.codegen.colour_tables import n_parts
from kilohertz.codegen.external import prototype_of_external
from kilohertz.codegen.functions import CFunction, FunctionTable
from kilohertz.codegen.layout import Layout
from kilohertz.codegen.model_table import Door, Linearised, model_table
from kilohertz.codegen.plain import with_instance
from kilohertz.codegen.probes import Probes
from kilohertz.codegen.small_functions import SmallFunctions, TableFunctions
from kilohertz.codegen.writing import spelling
from kilohertz.codegen.writing.c_program import CFile, CProgram, Jacobians, SingleExternals, getter_of
from kilohertz.codegen.writing.values import TypeTable
from kilohertz.codegen.writing.writer import Definition
from kilohertz.cost import Shapes, columns, n_lanes, state_jacobian, unfolded
from kilohertz.ir.flat import Purpose
from kilohertz.ir.step import Partition, Step, without_directional

_LINES_PER_FILE = 6000
_HEADER_LINES_PER_LINE = 4  # of a file: each file reads the header, which grows with the model
_LINES_APART = 2000  # of what runs at the start alone, from which on it has files of its own
_DEEP = 200_000  # frames: a condition of thousands of parts; Python's own calls need no C stack
_ARENA_NONE = 16  # bytes: no array of length 0
_ARENA_PLAIN, _ARENA_FUNCTIONS = 1 << 16, 1 << 22  # besides what arrays of known sizes take
_ARENA_MOST = 1 << 30  # for those; a function that needs more fails (R716)
INCLUDES = (
    '#include "khz_base.h"',
    '#include "khz_loops.h"',
    '#include "khz_math.h"',
    '#include "khz_model.h"',
    '#include "khz_planned.h"',
    '#include "khz_turns.h"',
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
        self.often, self.has_names = jacobians is Jacobians.OFTEN, jacobians is not Jacobians.SELDOM
        self.unfolded = unfolded(step) if jacobians is Jacobians.SELDOM else None
        step = step if self.unfolded is None else self.unfolded.step
        self.jacobian = state_jacobian(step) if self.unfolded is None else self.unfolded.jacobian
        self.step, self.sources, self.prefix = step, sources, prefix
        self._places: dict[Origin, int] = {}
        self._where: dict[Origin, str] = {}
        self.types = TypeTable()
        self.probes = Probes()
        self.functions = FunctionTable(step.functions, self.types, self.place, self.where, prefix, self.probes)
        self.layout = Layout(step, self.functions)
        self.shapes = Shapes(step.variables, is_off_line=not self.has_names)
        self.blocks = BlockWriter(self.layout, self.where, self.place, prefix, self.probes, self.shapes)
        self._initial: list[Definition] = []  # what runs at the start and has files of its own

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
        initial = blocks.phase("initial", step.initial)
        simplified = None if step.simplified is None else blocks.phase("simplified", step.simplified)
        n_apart = len(blocks.functions)
        if sum(len(f.lines) for f in blocks.functions) < _LINES_APART:
            n_apart = 0
        self._initial += blocks.functions[:n_apart]
        every = blocks.phase("block", step.blocks)
        table = TableFunctions()
        lanes = self._directions(table)
        optional = [("time_slope", step.time_slope), ("inlined", step.inlined)]
        optional_calls = {name: blocks.phase(name, of_phase) for name, of_phase in optional if of_phase is not None}
        SmallFunctions(self.layout, self.functions, self.place, self.where, self.shapes, self._starting).write(table)
        table.phase("once", once)
        table.phase("initial", initial)
        if simplified is not None:
            table.phase("simplified", simplified)
        table.phase("event", every, blocks.reset)
        for part in (Partition.STEP, Partition.CROSSING, Partition.OUTPUT, Partition.VIEW):
            table.phase(part.name.lower(), [c for c in every if c[1] is part])
        for name, calls in optional_calls.items():
            table.phase(name, calls)
        self.functions.write_all()
        members = self.layout.members(self._arena())
        origins = [self.where(origin) for origin in self._places]
        system = None if self.unfolded is None else self.unfolded.system
        jacobian = Linearised(self.jacobian, lanes, self.often, system)
        door = Door(table.functions, members, getter_of(prefix), jacobian, origins, self.has_names)
        tables = [*table.lines, *model_table(step, self.layout, blocks.infos, self.probes.n_places, self.where, door)]
        inner = [f for f in self.functions.written if f.external is None]
        foreign = [f for f in self.functions.written if f.external is not None]
        header = self._header(members)
        files = self._files(len(header), inner, n_apart, tables)
        return CProgram(
            step.name,
            prefix,
            CFile(f"{prefix}model.h", _text(header)),
            files,
            self._external_file([line for f in foreign for line in f.lines]) if foreign else None,
            self._in_singles(foreign),
            tuple(f.external for f in foreign if f.external is not None),
            tuple(blocks.infos),
            (*(f.symbol for f in inner), *blocks.symbols, getter_of(prefix)),
            tuple(self.probes.blocks),
            tuple(self.probes.functions),
            tuple(self._places),
            dict(self.layout.counts),
            frozenset(n for n, v in step.variables.items() if v.purpose is not Purpose.DECLARED),
            tuple(step.crossings),
            step.views(),
        )

    def _files(
        self, n_header: int, inner: Sequence[CFunction], n_apart: int, tables: Sequence[str]
    ) -> tuple[CFile, ...]:
        """Functions, blocks and tables, in files that are long enough for a header of so many lines."""
        prefix, about = self.prefix, spelling.comment(self.step.name)
        most = max(_LINES_PER_FILE, n_header // _HEADER_LINES_PER_LINE)
        include = f'#include "{prefix}model.h"'
        head = [f"/* {about}: Modelica functions.  Generated by Kilohertz. */", include, ""]
        files = _split(CFile(f"{prefix}functions", ""), most, head, [Definition(f.lines) for f in inner])
        head = [f"/* {about}: blocks of equations, phase by phase.  Generated by Kilohertz. */", include, ""]
        files += _split(CFile(f"{prefix}initial", "", is_initial=True), most, head, self._initial)
        blocks = self.blocks.functions[n_apart:]
        files += _split(CFile(f"{prefix}blocks", "", is_straight=True), most, head, blocks)
        head = [f"/* {about}: start values, phases and the model table.  Generated by Kilohertz. */", include, ""]
        return (*files, CFile(f"{prefix}model.c", _text([*head, *tables]), is_straight=True))

    def _arena(self) -> int:
        """Bytes for temporaries: arrays and texts of blocks and functions, what external code asks for."""
        if not self.types.takes_room and all(f.external is None for f in self.functions.written):
            return _ARENA_NONE
        return (_ARENA_FUNCTIONS if self.functions.written else _ARENA_PLAIN) + min(self.types.room, _ARENA_MOST)

    def _starting(self, name: str, parts: list[list[str]]) -> list[list[str]]:
        """Parts of a function that sets start values: calls of those in the files of what runs at the start alone,
        where there is much of it."""
        if not self._initial and sum(map(len, parts)) < _LINES_APART:
            return parts
        return [[f"{self._apart(f'{name}_{i}', body)}(instance);" for i, body in enumerate(parts, 1)]]

    def _apart(self, name: str, body: list[str]) -> str:
        """A function in the files of what runs at the start alone; its C name."""
        symbol = self.prefix + name
        head = f"void {symbol}(void *instance)"
        self.blocks.symbols.append(symbol)
        self.blocks.prototypes.append(head + ";")
        self._initial.append(Definition(with_instance(head, body)))
        return symbol

    def _directions(self, table: TableFunctions) -> int:
        """Functions for the directions of a Jacobian, call by call; gives how many each takes at once."""
        jacobian = self.jacobian
        self.layout.parts = n_parts(jacobian)
        lanes = n_lanes(self.step, jacobian, self.often)
        lists = columns(self.step, jacobian, lanes, narrow=self.often)
        distinct = list(dict.fromkeys({id(one): one for one in lists}.values()))  # to hash a long list takes its time
        if lanes > 1:
            calls = self.blocks.wide("directional", distinct)
        else:
            calls = [self.blocks.phase("directional", one) for one in distinct]
        if lists:
            table.phase("resting", self.blocks.resting())
            table.phases("directional", calls, [distinct.index(one) for one in lists])
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
            *self.layout.enumerators(self.has_names),
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

    def _in_singles(self, foreign: Sequence[CFunction]) -> SingleExternals:
        """The same for a model in singles."""
        doors = [(f, f.door) for f in foreign if f.door is not None]
        without = sorted({f.external.symbol for f in foreign if f.door is None and f.external is not None})
        if not doors or without:
            return SingleExternals(without=tuple(without))
        file = self._external_file(['#include "khz_wide.h"', "", *(line for _, door in doors for line in door.lines)])
        prototypes = ((_text([f.prototype + ";"]), _text([door.prototype + ";"])) for f, door in doors)
        return SingleExternals(file, tuple(prototypes))

    def _external_file(self, wrappers: Sequence[str]) -> CFile:
        """Wrappers of external functions, with the texts of their Include annotations, each once."""
        foreign = [f for f in self.functions.written if f.external is not None]
        includes: dict[str, None] = {}
        declarations: dict[str, str] = {}  # by symbol, of those that no Include of another function declares
        included = {f.external.symbol for f in foreign if f.external is not None and f.external.includes}
        for f in foreign:
            assert f.external is not None
            for text in f.external.includes:
                includes.setdefault(text.strip())
            if f.external.symbol not in included and f.external.language != "builtin":
                prototype = prototype_of_external(self.step.functions[f.id], self.types)
                declarations.setdefault(f.external.symbol, prototype)
        header = f'#include "{self.prefix}model.h"'
        lines = [
            f"/* {spelling.comment(self.step.name)}: calls of external functions.  Generated by Kilohertz. */",
            header,
        ]
        if includes:  # other tools have these in front of an Include, and many an Include relies on them
            lines += [f"#include <{name}.h>" for name in ("math", "stdio", "stdlib", "string")]
        lines += ['#include "ModelicaUtilities.h"', *includes, ""]  # as they stand in the model
        ours = _text([*declarations.values(), "", *wrappers])
        return CFile(f"{self.prefix}external.c", "\n".join(lines) + "\n" + ours)


def _split(like: CFile, most: int, head: Sequence[str], definitions: Sequence[Definition]) -> list[CFile]:
    """Definitions over several files like one, with so many lines, so that the C compiler stays linear and works in
    parallel."""
    files: list[CFile] = []
    lines: list[str] = []

    def flush() -> None:
        if lines:
            files.append(replace(like, name=f"{like.name}_{len(files) + 1}.c", text=_text([*head, *lines])))
            lines.clear()

    for i, definition in enumerate(definitions):
        if len(lines) > most and not definitions[i - 1].is_local:
            flush()
        lines.extend(definition.lines)
    flush()
    return files


def _text(lines: Iterable[str]) -> str:
    return "\n".join(part for line in lines for part in spelling.wrapped(line)) + "\n"
