"""Blocks of the Step form as C functions: runs of assignments and small linear loops together, other loops alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TypeAlias

from kilohertz.base import InternalError, Origin
from kilohertz.codegen.kept import Kept, room
from kilohertz.codegen.layout import Layout
from kilohertz.codegen.linear_plans import linear_plan_lines
from kilohertz.codegen.linear_systems import LinearSystem, Parts, is_long
from kilohertz.codegen.plain import PlainBlocks, with_instance
from kilohertz.codegen.plans import sparse_loop
from kilohertz.codegen.probes import Probes
from kilohertz.codegen.reading import Failures, Lasting, group_subject, head, is_scalar, is_system, loop_subject, system
from kilohertz.codegen.rolling import LoopWriter, in_parts, resting_line, rolled_blocks
from kilohertz.codegen.scattered_tables import Tables, scattered_lines
from kilohertz.codegen.writing.c_program import BlockInfo
from kilohertz.codegen.writing.expressions import Writer
from kilohertz.codegen.writing.lanes import LaneWriter
from kilohertz.codegen.writing.placement import Scope
from kilohertz.codegen.writing.spelling import LONGEST_NAME, Names
from kilohertz.codegen.writing.writer import STATUS, Definition, Part, compact
from kilohertz.cost import (
    IN_PLACE,
    LaneShapes,
    Moving,
    Rolled,
    Shapes,
    costly,
    is_large,
    linear_plan,
    loop_elimination,
    scattered,
    stretches,
)
from kilohertz.ir import step as s
from kilohertz.ir.expr import Expr, Ref
from kilohertz.runtime import formula

_NUMBERS = 600  # of those that stand beside rates, in one function
_SOLVING = frozenset({"block", "inlined"})  # phases whose factorisations are used again
STEP = s.Partition.STEP
_DIRECTIONS = frozenset({"directional", "time_slope"})  # phases that follow a step at the same point


Calls: TypeAlias = list[tuple[str, s.Partition]]  # of C functions, in order, with their partition


@dataclass(slots=True)
class BlockWriter:
    """Turns lists of blocks into C functions, numbering blocks through."""

    layout: Layout
    where: Callable[[Origin], str]
    places: Callable[[Origin], int]
    prefix: str  # of functions that other files call
    probes: Probes
    shapes: Shapes
    infos: list[BlockInfo] = field(default_factory=list)
    functions: list[Definition] = field(default_factory=list)  # written C functions and their tables, in order
    symbols: list[str] = field(default_factory=list)  # of those that other files call
    prototypes: list[str] = field(default_factory=list)
    reset: list[int] = field(default_factory=list)  # in `factored`: what an event makes stale besides its own blocks
    plain: PlainBlocks = field(init=False)
    _lasting: dict[str, Lasting] = field(init=False)  # by phase
    _moving: Moving = field(init=False)
    _lane_shapes: LaneShapes = field(init=False)
    _failures: Failures = field(default_factory=Failures)
    _numbers: dict[Expr, int] = field(default_factory=dict)  # beside rates, which all directions share, by place
    _names: Names = field(default_factory=lambda: Names(longest=LONGEST_NAME))  # of C functions
    _kept: Scope = field(default_factory=lambda: Scope(None))  # functions of states that stand in variables
    _solved: dict[tuple[Ref, ...], Kept] = field(default_factory=dict)  # by the unknowns of a loop of STEP

    def __post_init__(self) -> None:
        self.plain, step = PlainBlocks(self.layout, self.places), self.layout.step
        self._moving = Moving(step.variables.values())
        self._lasting = {"initial": Lasting.of_initial(step), "block": Lasting.of_events(step)}

    def phase(self, phase: str, blocks: Sequence[s.Block]) -> Calls:
        """Write a list of blocks; gives the calls of their C functions."""
        calls: Calls = []
        for run in stretches(blocks, self._shapes_here):
            if isinstance(run, Rolled):
                calls.append(self._rolled(phase, run))
            elif is_large(run[0]):
                calls.append((self._loop(phase, run[0]), run[0].partition))
            else:
                calls.append(self._group(phase, run))
        return calls

    def wide(self, phase: str, lists: Sequence[tuple[s.Block, ...]]) -> list[Calls]:
        """The same for rates in several directions at once, list by list."""
        self._numbers = self._moving.numbers(b for blocks in lists for b in blocks)
        self._lane_shapes = LaneShapes(self.layout.step.variables, self._moving, self._numbers)
        self.layout.resting = len(self._numbers)
        return [self._wide(phase, blocks) for blocks in lists]

    def _wide(self, phase: str, blocks: Sequence[s.Block]) -> Calls:
        calls: Calls = []
        for fits, together in groupby(blocks, self._moving.fits):
            if fits:
                self.layout.lane = None
                calls += self.phase(phase, list(together))
            else:
                self.layout.lane = "lane"
                calls += (self._lane_by_lane(phase, block) for block in together)
        self.layout.lane = "0"
        return calls

    def resting(self) -> Calls:
        """Functions for the numbers beside rates in the lists of `wide`."""
        lines = [resting_line(e, k) for e, k in self._numbers.items()]
        calls: Calls = []
        for body in in_parts(lines, _NUMBERS, lambda: self._writer("block", STEP), self.layout, self.shapes):
            symbol = self._define(self._name("directional", "prepare", "numbers"), body)
            calls.append((self._called(symbol), STEP))
        return calls

    def _lane_by_lane(self, phase: str, block: s.Block) -> tuple[str, s.Partition]:
        """A block that is written for one direction, run for all."""
        name = self._name(phase, "compute", group_subject([block], self.layout.step.variables))
        number = self._note(phase, block, self.prefix + name)
        w = self._writer(phase, block.partition)
        w.plan(s.expressions(block))
        with self._checked(w, phase, number, block):
            if isinstance(block, s.LinearLoop):
                self._linear(w, phase, number, block)
            else:
                self.plain.write(w, block)
        body = ["    " + line for line in w.scope.lines]
        head = [f"/* {self._head(number, block)} */", "for (int lane = 0; lane < KHZ_LANES; lane++) {"]
        return self._called(self._define(name, [*head, *body, "}"])), block.partition

    @property
    def _shapes_here(self) -> Shapes:
        return self.shapes if self.layout.lane is not None else self._lane_shapes

    @property
    def _lanes(self) -> str:
        """Ends the names of functions of the runtime that take several directions."""
        return "_lanes" if self.layout.lane is None else ""

    def _writer(self, phase: str, partition: s.Partition) -> Writer:
        """A writer that takes from variables what earlier blocks of a step put there."""
        host, w = self.layout, Writer(self.layout, "(&z->c)")
        if host.lane is None:
            w = LaneWriter(host, "(&z->c)", self._moving, self._numbers, host.numbers)
        if phase in ("block", *_DIRECTIONS) and partition is STEP:
            w.scope = Scope(self._kept)
        return w

    def _keep(self, phase: str, block: s.Block) -> None:
        """Remember variables that are costly functions of others: `c = cos(phi)`, and later cos(phi) is c."""
        if phase == "block" and block.partition is STEP:
            self._kept.values.update(self._costly(block))

    def _costly(self, block: s.Block) -> dict[int, str]:
        return {id(e): str(self.layout.variable(target)) for e, target in costly(block, self.layout.step.variables)}

    def _group(self, phase: str, run: list[s.Block]) -> tuple[str, s.Partition]:
        w = self._writer(phase, run[0].partition)
        apart = {id(b): Scope(w.scope) for b in run if self._is_apart(phase, b)}
        plain = [b for b in run if id(b) not in apart]
        if len(run) == 1 and not plain:
            return self._loop(phase, run[0]), run[0].partition
        name = self._name(phase, "compute", group_subject(plain or run, self.layout.step.variables))
        parts = [(apart[id(b)], system(b)) for b in run if id(b) in apart]
        w.plan((e for b in plain for e in s.expressions(b) if not isinstance(b, s.WhenBlock)), parts)
        for block in run:
            if id(block) in apart:
                self._system(w, phase, block, Part(apart[id(block)]))
                continue
            number = self._note(phase, block, self.prefix + name)
            w.put(f"/* {self._head(number, block)} */")
            with self._checked(w, phase, number, block):
                if isinstance(block, s.LinearLoop):
                    self._linear(w, phase, number, block)
                else:
                    self.plain.write(w, block)
            self._keep(phase, block)
        return self._called(self._define(name, w.scope.lines)), run[0].partition

    def _rolled(self, phase: str, run: Rolled) -> tuple[str, s.Partition]:
        """Equal blocks: a function with a loop over them."""
        name = self._name(phase, "compute", group_subject(run.first, self.layout.step.variables))
        numbers = [self._note(phase, block, self.prefix + name) for block in run.blocks]
        w = self._writer(phase, run.partition)
        heads = [self._head(number, block) for number, block in zip(numbers, run.first, strict=False)]
        w.put(f"/* blocks {numbers[0]} to {numbers[-1]}, {run.roll.size} in each of {run.roll.turns} turns */")
        rolled_blocks(LoopWriter(w, self.layout, self._shapes_here), run, heads)
        for block in run.blocks:
            self._keep(phase, block)
        return self._called(self._define(name, w.scope.lines)), run.partition

    @contextmanager
    def _checked(self, w: Writer, phase: str, number: int, block: s.Block) -> Iterator[None]:
        """Around the statements of a block that may fail: which one it is, and whether that counts at once."""
        fails = self._failures.may_fail(block)
        lasting = self._lasting.get(phase) if fails else None
        strict = lasting is not None and lasting.has(block)
        w.put(*([f"z->c.block = {number};"] if fails else []), *(["z->c.n_strict++;"] if strict else []))
        yield
        w.put(*(["z->c.n_strict--;"] if strict else []))

    def _is_apart(self, phase: str, block: s.Block) -> bool:
        """Whether a small linear loop among assignments gets a function of its own, which takes scalars from around it;
        a direction shares too much for that."""
        return is_system(block) and phase not in _DIRECTIONS and is_scalar(system(block))

    def _system(self, w: Writer, phase: str, block: s.Block, part: Part) -> None:
        """A small linear loop among assignments: a function that becomes part of its caller."""
        assert isinstance(block, s.LinearLoop)
        name = self._name(phase, "solve", loop_subject(block, self.layout.step.variables))
        number = self._note(phase, block, name)
        outer, w.scope, w.part = w.scope, part.scope, part
        w.put(f"/* {self._head(number, block)} */")
        with self._checked(w, phase, number, block):
            self._linear(w, phase, number, block)
        w.scope, w.part = outer, None
        head = f"static KHZ_INLINE khz_status {name}({', '.join(('khz_instance *z', *part.taken.values()))})"
        lines = [head, "{", *("    " + line for line in (*part.scope.lines, STATUS)), "}", ""]
        self.functions.append(Definition(lines, is_local=True))
        call = self._called(name, *part.taken, probe="KHZ_SOLVED")
        w.put(f"if ({call} != KHZ_OK) {{", f"    {STATUS}", "}")

    def _note(self, phase: str, block: s.Block, function: str) -> int:
        unknowns = tuple(t.name for t in s.targets(block))
        kind = type(block).__name__
        info = BlockInfo(len(self.infos) + 1, phase, kind, unknowns, block.origin, block.cost, block, function)
        self.infos.append(info)
        return info.number

    def _head(self, number: int, block: s.Block) -> str:
        return head(number, block, self.where(block.origin))

    def _name(self, phase: str, verb: str, subject: str) -> str:
        """A C function's name: `solve_axle_loop`, `initial_compute_spring_f`."""
        return self._names.another(subject, f"{'' if phase == 'block' else phase + '_'}{verb}_")

    def _called(self, symbol: str, *arguments: str, probe: str = "KHZ_TIMED") -> str:
        """The call of the function of a block, or of a run of blocks."""
        return self.probes.call(symbol, arguments, probe)

    def _define(self, name: str, body: list[str], result: str = STATUS, parameter: str = "") -> str:
        """A function that other files call; its C name."""
        symbol = self.prefix + name
        prototype = f"khz_status {symbol}(khz_instance *z{', ' if parameter else ''}{parameter})"
        self.symbols.append(symbol)
        self.prototypes.append(f"{compact(body)}{prototype};")
        tail = [f"    {result}"] if result else []
        self.functions.append(Definition([prototype, "{", *("    " + line for line in body), *tail, "}", ""]))
        return symbol

    # ----------------------------------------------------------------------------------------------------------- loops

    def _loop(self, phase: str, block: s.Block, inside: bool = False) -> str:
        """A function for a loop, and its call; `inside` another one, which asks how its unknowns move."""
        name = self._name(
            phase,
            "settle" if isinstance(block, s.MixedLoop) else "solve",
            loop_subject(block, self.layout.step.variables),
        )
        number = self._note(phase, block, self.prefix + name)
        head = f"/* {self._head(number, block)} */"
        match block:
            case s.LinearLoop():
                w = self._writer(phase, block.partition)
                w.put(head)
                parts = self._parts(phase, block)
                w.plan(s.expressions(block) if parts is None else ())
                with self._checked(w, phase, number, block):
                    self._linear(w, phase, number, block, parts)
                symbol = self._define(name, w.scope.lines)
            case s.NonlinearLoop():
                symbol = self._nonlinear(phase, name, head, number, block, inside)
            case s.MixedLoop():
                symbol = self._mixed(phase, name, head, number, block)
            case _:
                raise InternalError("not a loop")
        self._keep(phase, block)
        return self._called(symbol, probe="KHZ_SOLVED" if isinstance(block, s.LinearLoop) else "KHZ_ITERATED")

    def _parts(self, phase: str, block: s.LinearLoop) -> Parts | None:
        """How a long loop is written."""
        if not is_long(block):
            return None
        subject = loop_subject(block, self.layout.step.variables)

        def define(verb: str, parameter: str, body: list[str]) -> str:
            return self._define(self._name(phase, verb, subject), body, parameter=parameter)

        return Parts(lambda: self._writer(phase, block.partition), define, self._shapes_here)

    def _linear(self, w: Writer, phase: str, number: int, block: s.LinearLoop, parts: Parts | None = None) -> None:
        place, written = self.places(block.origin), LinearSystem(w, self.layout, self.plain, parts)
        if len(block.unknowns) == 1:
            a = w.text(block.matrix[0].value) if block.matrix else "0.0"
            b, function = w.assigned(block.rhs[0]), f"khz_quotient{self._lanes}"
            w.put(f"{self.layout.variable(block.unknowns[0])} = {function}(&z->c, {number}, {place}, {b}, {a});")
        else:
            self._matrix(w, phase, f"{number}, {place}", block, written)
        placement = w.placement
        if w.part is not None:  # what follows from the solution is not shared with what is around
            w.plan(inner.value for inner in block.inner)
        written.inner(block)
        w.placement = placement

    def _matrix(self, w: Writer, phase: str, at: str, block: s.LinearLoop, written: LinearSystem) -> None:
        """Matrix where it changed, right-hand side, solution."""
        n, layout = len(block.unknowns), self.layout
        solved_before = self._solved.get(block.again)
        kept = solved_before if solved_before is not None else self._planned_room(phase, block)
        fresh = kept.fresh(phase, block) if solved_before is None else "" if solved_before.stored else kept.is_stale
        if phase == "inlined" and solved_before is None and block.matrix_partition is s.Partition.EVENT:
            self.reset.append(kept.factored)
        in_place = n <= IN_PLACE and fresh == "1"  # solved where it stands, without memory
        if phase in _SOLVING and not block.again:
            self._solved.pop(block.unknowns, None)
            if not in_place:
                self._solved[block.unknowns] = replace(kept, stored=True)
        a, b = w.fresh("a"), w.fresh("b")
        room_of = f"double {a}[{n * n}] = {{0}};" if in_place else f"double *const {a} = z->memory + {kept.matrix};"
        w.put(*([room_of] if fresh else []))
        w.put(f"{'double' if layout.lane else 'khz_lanes'} {b}[{n}];")

        def fill() -> None:
            if not in_place:
                w.put(*([f"memset({a}, 0, sizeof(double) * {n * n});"] if kept.is_dense else []))
                w.put(f"z->factored[{kept.factored}] = 0;")
                w.put(*([f"{kept.stage} = z->gamma_h[0];"] if phase == "inlined" else []))
            written.matrix(block, kept, a)

        if fresh == "1":
            fill()
        elif fresh:
            w.put(f"if ({fresh}) {{", *w.inside(fill), "}")
        written.rhs(block, b)
        w.put(f"if ({kept.call(self._lanes, at, b, a if in_place else '')} != KHZ_OK) {{", f"    {w.leave}", "}")
        written.solution(block, b)

    def _planned_room(self, phase: str, block: s.LinearLoop) -> Kept:
        """Room for a linear loop; with the code that eliminates it, where that pays."""
        planned, system = linear_plan(block) if phase in _SOLVING else None, scattered(block)
        has_rates, often = self.layout.step.directional is not None, not self.shapes.is_off_line
        tables = None if system is None else Tables(self._shared(phase, "tables", "khz_scattered", block), system)
        plan = "" if planned is None else self._shared(phase, "plan", "khz_linear_plan", block)
        lines = [] if tables is None else scattered_lines(tables, not often)
        lines += [] if planned is None else linear_plan_lines(plan, planned, has_rates, often, tables)
        self.functions += [Definition(lines, is_local=True)] if lines else []  # what follows may need it
        return room(self.layout, len(block.unknowns), plan, planned, tables)

    def _shared(self, phase: str, what: str, kind: str, block: s.LinearLoop) -> str:
        """The name of data of a loop for all files."""
        symbol = self.prefix + self._name(phase, what, loop_subject(block, self.layout.step.variables))
        self.symbols.append(symbol)
        self.prototypes.append(f"extern const {kind} {symbol};")
        return symbol

    def _nonlinear(self, phase: str, name: str, head: str, number: int, block: s.NonlinearLoop, inside: bool) -> str:
        layout, n = self.layout, len(block.unknowns)
        memory, order, sizes = layout.memory, layout.order, 4 * sum(map(len, layout.loops))
        layout.memory += formula("KHZ_NONLINEAR_ROOM", n)
        layout.order += n
        layout.loops.append(block.unknowns)
        self._residual(phase, name, head, block)
        if block.jacobian is not None:
            self._jacobian(phase, name, number, block)
        jacobian = f"{name}_jacobian" if block.jacobian is not None else "NULL"
        lines = [head, f"double x[{n}];"]
        lines += [f"x[{i}] = {layout.variable(u)};" for i, u in enumerate(block.unknowns)]
        is_open = phase == "block" and block.unknowns[0] in layout.step.algebraic
        if is_open:  # in a stage of the index-1 form: the residuals, no solution
            at = layout.step.algebraic.index(block.unknowns[0])
            lines += ["if (z->c.is_open) {", f"    {name}_residual(z, x, z->res + {at});", f"    {STATUS}", "}"]
        places = f"z->sizes + {sizes}{sparse_loop(name, block, self)}, {self._kept_jacobian(phase, block, inside)}"
        call = f"khz_loop({n}, {name}_residual, {jacobian}, {places})"
        lines += [
            f"const khz_newton_problem problem = {call};",
            f"if (khz_nonlinear(&z->c, {number}, {self.places(block.origin)}, &problem, z, x, z->memory + {memory},"
            f" z->order + {order}) != KHZ_OK) {{",
            *(f"    {layout.variable(u)} = x[{i}];" for i, u in enumerate(block.unknowns)),
            "    return (khz_status)z->c.status;",
            "}",
        ]
        self._solved.pop(block.unknowns, None)
        if (inside and n > IN_PLACE) or (phase == "block" and layout.step.directional is not None and not is_open):
            kept = self._solved[block.unknowns] = room(layout, n)
            lines.append(f"z->factored[{kept.factored}] = 0;")
        return self._define(name, lines)

    def _kept_jacobian(self, phase: str, block: s.NonlinearLoop, inside: bool) -> str:
        """Where it is noted that a stage's loop has a Jacobian from before; it is of no use after an event."""
        if phase != "inlined" or inside or block.jacobian is None:
            return "NULL"
        self.reset.append(self.layout.factored)
        self.layout.factored += 1
        return f"&z->factored[{self.reset[-1]}]"

    def _residual(self, phase: str, name: str, head: str, block: s.NonlinearLoop) -> None:
        apart = {id(b): self._loop(phase, b, True) for b in block.inner if is_large(b)}
        w = Writer(self.layout, "(&z->c)", "return;")
        for i, u in enumerate(block.unknowns):
            w.put(f"{self.layout.variable(u)} = x[{i}];")
        w.plan([*(e for b in block.inner if id(b) not in apart for e in s.expressions(b)), *block.residuals])
        for inner in block.inner:
            if id(inner) in apart:
                w.put(f"if ({apart[id(inner)]} != KHZ_OK) {{", "    return;", "}")
            elif isinstance(inner, s.LinearLoop):
                self._linear(w, phase, self._note(phase, inner, f"{name}_residual"), inner)
            else:
                self.plain.write(w, inner)
        for i, residual in enumerate(block.residuals):
            text = w.text(residual)
            w.put(f"f[{i}] = {text};")
        self._callback(f"{name}_residual", ", const double *x, double *f", [head, *w.scope.lines])

    def _jacobian(self, phase: str, name: str, number: int, block: s.NonlinearLoop) -> None:
        assert block.jacobian is not None
        n = len(block.unknowns)
        w = Writer(self.layout, "(&z->c)", "return;")
        w.scope.values.update(self._costly(block))  # where the residuals were evaluated last
        w.put("(void)x;", *([] if loop_elimination(block) else [f"memset(jacobian, 0, sizeof(double) * {n * n});"]))
        w.plan([*(e for b in block.rates for e in s.expressions(b)), *(e.value for e in block.jacobian)])
        for rate in block.rates:
            self._linear(w, phase, number, rate)
        for entry in block.jacobian:
            text = w.text(entry.value)
            w.put(f"jacobian[{entry.row * n + entry.column}] = {text};")
        self._callback(f"{name}_jacobian", ", const double *x, double *jacobian", w.scope.lines)

    def _callback(self, name: str, parameters: str, body: list[str], result: str = "void") -> None:
        head = f"static {compact(body)}{result} {name}(void *instance{parameters})"
        self.functions.append(Definition(with_instance(head, body), is_local=True))

    def _mixed(self, phase: str, name: str, head: str, number: int, block: s.MixedLoop) -> str:
        layout = self.layout
        kept, self._kept = self._kept, Scope(self._kept)  # what the Reals leave is old where discrete values come first
        continuous = self.phase(phase, block.continuous)
        self._kept = kept
        relations = [b for b in block.discrete if isinstance(b, s.Assignment) and self._is_relation(b.target)]
        body = [line for call, _ in continuous for line in (f"if ({call} != KHZ_OK) {{", f"    {STATUS}", "}")]
        self._callback(f"{name}_continuous", "", [*body, STATUS], "khz_status")
        self._derive(phase, name, block, [b for b in block.discrete if b not in relations])
        w = Writer(layout, "(&z->c)", "return;")
        w.put("(void)value;", "(void)distance;")
        functions = {c.index: c.function for c in layout.step.crossings}
        at = [layout.step.slot(b.target.name).index for b in relations]
        w.plan([*(b.value for b in relations), *(functions[k] for k in at)])
        for i, b in enumerate(relations):
            value, distance = w.text(b.value), w.text(functions[at[i]])
            place, forced = layout.variable(b.target), self.plain.forced(b.target)
            w.put(f"value[{i}] = {forced} ? {place} : ({value});", f"distance[{i}] = {distance};")
        self._callback(f"{name}_evaluate", ", int32_t *value, double *distance", w.scope.lines)
        at_zero = {c.index: int(c.at_zero) for c in layout.step.crossings}
        indices, values = (", ".join(map(str, row)) or "0" for row in (at, [at_zero[k] for k in at]))
        own = "z->r, z->forced" if relations else "NULL, NULL"
        return self._define(
            name,
            [
                head,
                f"static const int32_t relation[] = {{{indices}}};",
                f"static const int32_t at_zero[] = {{{values}}};",
                f"static const khz_mixed_problem problem = {{{number}, {len(relations)}, relation, at_zero,"
                f" {name}_continuous, {name}_derive, {name}_evaluate}};",
                "if (z->c.phase == KHZ_PHASE_CONTINUOUS) {",
                f"    return {name}_continuous(z);",
                "}",
                f"return khz_mixed(&z->c, &problem, z, {own}, KHZ_MIXED_ROOM({len(at) or 1}));",
            ],
            "",
        )

    def _derive(self, phase: str, name: str, block: s.MixedLoop, steps: list[s.Block]) -> None:
        """Discrete values from relations and Reals, and whether they changed.  Those that Newton's method finds are the
        same where they are near, all others to the bit."""
        layout = self.layout
        solved = dict(self._solved)  # between events the matrices of the continuous part are used again
        calls = self.phase(phase, steps)
        self._solved = solved
        real = {t.name for b in block.continuous for t in s.targets(b)}
        iterated = {t.name for b in steps if isinstance(b, s.NonlinearLoop) for t in s.targets(b)}
        lines, same, near = [], [], []
        for i, t in enumerate(t for b in steps for t in s.targets(b) if t.name not in real):
            place = layout.variable(t)
            equal, is_near = f"{place} == old{i}", f"khz_is_near({place}, old{i})"
            lines.append(f"const {layout.types.of(t.ty)} old{i} = {place};")
            same.append(is_near if t.name in iterated else equal)
            near.append(is_near if layout.step.slot(t.name).kind is s.Kind.DISCRETE else equal)
        lines += [f"(void){call};" for call, _ in calls]
        lines.append(f"return {' && '.join(same)} ? 0 : {' && '.join(near)} ? 1 : 2;" if same else "return 0;")
        self._callback(f"{name}_derive", "", lines, "int")

    def _is_relation(self, target: Ref) -> bool:
        return self.layout.step.slot(target.name).kind is s.Kind.RELATION
