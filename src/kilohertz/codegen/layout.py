"""The instance: which C expression stands for a variable of the Step form, and the struct that holds them all."""

from __future__ import annotations

from kilohertz.base import InternalError
from kilohertz.codegen.functions import FunctionTable
from kilohertz.codegen.writing.spelling import Names, comment
from kilohertz.codegen.writing.values import ArrayValue, TypeTable
from kilohertz.codegen.writing.writer import PRIMARY, TERNARY, Callee, Text, WriterCore
from kilohertz.ir import expr as x
from kilohertz.ir.step import DIRECTIONS, SLOPES, Kind, Step, StepVariable

DOUBLES = (
    *(Kind.PARAMETER, Kind.INPUT, Kind.STATE, Kind.DERIVATIVE, Kind.ALGEBRAIC, Kind.DISCRETE, Kind.PRE_DISCRETE),
    *(*SLOPES, Kind.BASE, Kind.GAMMA_H, Kind.RESIDUAL),
)
INTS = (Kind.INT_PARAMETER, Kind.INT_INPUT, Kind.INT_DISCRETE, Kind.PRE_INT_DISCRETE, Kind.RELATION)
STRINGS = (Kind.STRING_PARAMETER, Kind.STRING_DISCRETE, Kind.PRE_STRING_DISCRETE)
_SHADOWS = {  # areas indexed like another one
    Kind.DERIVATIVE: Kind.STATE,
    Kind.SEED: Kind.STATE,
    Kind.DERIVATIVE_DIRECTION: Kind.STATE,
    Kind.DERIVATIVE_SLOPE: Kind.STATE,
    Kind.BASE: Kind.STATE,
    Kind.RESIDUAL: Kind.RESIDUAL,  # by number
    Kind.PRE_DISCRETE: Kind.DISCRETE,
    Kind.PRE_INT_DISCRETE: Kind.INT_DISCRETE,
    Kind.PRE_STRING_DISCRETE: Kind.STRING_DISCRETE,
}
AREAS = tuple(Kind)
_INLINED = frozenset({Kind.BASE, Kind.GAMMA_H})
# kinds that only a phase needs which not every model has
_OF_FORM = _INLINED | {*DIRECTIONS, *SLOPES}
_MEMBERS = (  # of an instance, in order: element type and names
    ("khz_lanes ", (*(k.value for k in DIRECTIONS), "resting")),
    ("double ", (*(k.value for k in DOUBLES), "reinit_value")),
    ("double ", ("sample_start", "sample_interval")),  # times
    ("double ", ("nominal_y", "sizes", "memory", "parts")),
    ("khz_delay ", ("delays",)),
    ("khz_transport ", ("transports",)),
    ("int64_t ", ("sample_tick",)),
    ("char ", tuple(k.value for k in STRINGS)),
    ("void *", (Kind.OBJECT.value,)),
    ("int32_t ", (*(k.value for k in INTS), "reinit", "forced", "sample_now", "factored", "order")),
    ("_Alignas(16) unsigned char ", ("arena",)),
)


class Layout:
    """Places of variables; the host of every writer outside functions."""

    def __init__(self, step: Step, functions: FunctionTable) -> None:
        self.step, self.functions = step, functions
        self.types: TypeTable = functions.types
        self.counts = dict.fromkeys(Kind, 0)
        for v in step.variables.values():
            self.counts[v.slot.kind] = max(self.counts[v.slot.kind], v.slot.index + 1)
        for shadow, kind in _SHADOWS.items():
            self.counts[shadow] = max(self.counts[shadow], self.counts[kind])
        self._names = Names("V_")
        self._index: dict[tuple[Kind, int], str] = {}
        self._asked: set[tuple[Kind, int]] = set()  # of these, what was written so far
        for v in sorted(step.variables.values(), key=_slot_order):
            if v.slot.kind not in _SHADOWS and v.slot.kind is not Kind.RELATION:
                self._index[v.slot.kind, v.slot.index] = self._names(v.name)
        self._places: dict[str, str] = {}  # of variables by name, as they were asked for
        self.memory = 0  # doubles of loop memory handed out so far
        self.order = 0  # integers
        self.factored = 0
        self.parts = 0  # slopes of long sums
        self.resting = 0  # numbers that all directions of a Jacobian share
        self.loops: list[tuple[x.Ref, ...]] = []  # unknowns of each nonlinear loop
        self.lane: str | None = "0"  # of several directions the one that rates are spelled for; None: all, as vectors

    def numbers(self, n: int) -> int:
        """Where n doubles of loop memory begin that are handed out now."""
        self.memory += n
        return self.memory - n

    def variable(self, ref: x.Ref) -> str | ArrayValue:
        if ref.name == "time":
            return "z->c.time"
        known = self._places.get(ref.name)
        if known is not None:
            return known
        v = self.step.variables.get(ref.name)
        if v is None:
            raise InternalError(f"{ref.name} has no slot")
        place = self.place(v)
        if v.slot.kind not in DIRECTIONS:  # which are spelled for one lane or another
            self._places[ref.name] = place
        return place

    def place(self, v: StepVariable) -> str:
        """`z->w[V_inertia_a]`."""
        return self.spelled(v.slot.kind, self.index(v.slot.kind, v.slot.index))

    def index(self, kind: Kind, index: int) -> str:
        """A place in an area by its name, where it has one."""
        key = _SHADOWS.get(kind, kind), index
        self._asked.add(key)
        return self._index.get(key) or str(index)

    def spelled(self, kind: Kind, index: str) -> str:
        """What stands at a place."""
        lane = f"[{self.lane}]" if kind in DIRECTIONS and self.lane is not None else ""
        return f"z->{kind.value}[{index}]{lane}"

    def callee(self, call: x.Call) -> Callee:
        return self.functions.callee(call)

    def builtin(self, writer: WriterCore, e: x.Builtin) -> Text | None:
        match e.name:
            case "sample":
                assert isinstance(e.args[0], x.Int)
                return f"z->sample_now[{e.args[0].value}]", PRIMARY
            case "terminal":
                return "(z->c.phase == KHZ_PHASE_TERMINAL)", PRIMARY
            case "initial":
                return "(z->c.phase == KHZ_PHASE_INITIAL)", PRIMARY
            case "delay" | "past" | "part" | "pace":
                return self._delayed(writer, e), PRIMARY
            case "transport":
                return self._transported(writer, e), PRIMARY
            case "homotopy":
                actual, simple = writer.text(e.args[0], PRIMARY), writer.text(e.args[1], PRIMARY)
                mixed = f"z->c.lambda * {actual} + (1.0 - z->c.lambda) * {simple}"
                ends = f"z->c.lambda == 1.0 ? {actual} : z->c.lambda == 0.0 ? {simple}"  # the other may have no value
                return f"{ends} : {mixed}", TERNARY
            case _:
                return None

    def _delayed(self, writer: WriterCore, e: x.Builtin) -> str:
        index, time, *present = e.args
        assert isinstance(index, x.Int)
        delay, line = self.step.delays[index.value], f"&z->delays[{index.value}]"
        at = f"z->c.time - {writer.text(time, PRIMARY)}"
        if e.name in ("part", "pace"):
            value, past = f"khz_delay_{e.name}({line}, z->c.time, {at})", "0.0"
        elif e.name == "delay" and not present:
            value, past = f"khz_delay_held(&z->c, {line}, {writer.text(delay.source)}, {at})", ""
        else:
            now = writer.text(present[0]) if present else "0.0"
            value, past = f"khz_delay_value({line}, z->c.time, {now}, {at})", ""
        if delay.past is None or e.name == "pace":
            return value
        return f"khz_delay_since({line}, z->c.time, {past or writer.text(delay.past)}, {value}, {at})"

    def _transported(self, writer: WriterCore, e: x.Builtin) -> str:
        index, end, position, *present = e.args
        assert isinstance(index, x.Int) and isinstance(end, x.Int)
        initial = writer.text(self.step.transports[index.value].values[-end.value])
        label = f"{end.value}.0 - {writer.text(position, PRIMARY)}"
        line = f"&z->transports[{index.value}], {label}, {initial}"
        if not present:
            return f"khz_transport_value({line})"
        now = ", ".join(writer.text(part) for part in (position, *present))
        return f"khz_transport_present({line}, {now})"

    # ------------------------------------------------------------------------------------------------------ as C text

    def enumerators(self, every: bool) -> list[str]:
        """Positions of the variables in their areas, with their Modelica names: of `every` one, or those in use."""
        lines = ["/* Positions of the variables in their areas. */"]
        named: dict[Kind, list[tuple[int, str]]] = {kind: [] for kind in Kind}
        for (kind, index), name in self._index.items():
            if every or (kind, index) in self._asked:
                named[kind].append((index, name))
        for kind, entries in named.items():
            if not entries:
                continue
            by_slot = {v.slot.index: v for v in self.step.of_kind(kind)}
            lines.append(f"enum {{ /* {kind.value}: {kind.name.lower().replace('_', ' ')} */")
            lines += [f"    {name} = {index}, {_remark(by_slot[index])}" for index, name in sorted(entries)]
            lines.append("};")
        return lines

    def members(self, arena: int) -> dict[str, str]:
        """The declarations of an instance after its context, by name; what the model has none of is left out."""
        step, counts = self.step, self.counts
        sizes = {k.value: counts[k] for k in Kind if k not in _OF_FORM or self._has_form(k)}
        sizes |= {k.value: 1 for k in (Kind.GAMMA_H,) if k.value in sizes}  # set by the runtime
        n_x, n_samples = counts[Kind.STATE], len(step.samples)
        sizes |= {"reinit_value": n_x, "reinit": n_x, "nominal_y": n_x + len(step.algebraic)}
        sizes |= dict.fromkeys(("sample_start", "sample_interval", "sample_tick", "sample_now"), n_samples)
        sizes |= {"sizes": 4 * sum(map(len, self.loops)), "memory": self.memory, "resting": self.resting}
        sizes |= {"parts": self.parts}
        sizes |= {"delays": len(step.delays), "transports": len(step.transports)}
        sizes |= {"res": len(step.algebraic), "forced": max(counts[Kind.RELATION], len(step.crossings))}
        sizes |= {"factored": self.factored, "order": self.order, "arena": arena}
        texts = {k.value for k in STRINGS}
        return {
            name: f"{ctype}{name}[{sizes[name]}]{'[KHZ_TEXT_SIZE]' if name in texts else ''};"
            for ctype, group in _MEMBERS
            for name in group
            if sizes.get(name)
        }

    def _has_form(self, kind: Kind) -> bool:
        return (self.step.inlined if kind in _INLINED else self.step.directional) is not None


def _slot_order(v: StepVariable) -> tuple[int, int]:
    return AREAS.index(v.slot.kind), v.slot.index


def _remark(v: StepVariable) -> str:
    unit = f" [{v.unit}]" if v.unit else ""
    return f"/* {comment(v.name)}{comment(unit)} */"
