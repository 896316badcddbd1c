"""The model table in C: counts, offsets, patterns and phases, as khz_model.h describes them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from kilohertz.base import Origin
from kilohertz.codegen.colour_tables import around_lines, colour_tables
from kilohertz.codegen.layout import AREAS, Layout
from kilohertz.codegen.plans import array, plan_lines, pointer, starts
from kilohertz.codegen.reading import felt, stirring
from kilohertz.codegen.scattered_tables import Tables, scattered_lines
from kilohertz.codegen.writing import spelling
from kilohertz.codegen.writing.c_program import BlockInfo
from kilohertz.cost import ScatteredLoop, StateJacobian, jacobian_rests, state_elimination
from kilohertz.ir import expr as x
from kilohertz.ir import step as s
from kilohertz.ir.flat import Purpose
from kilohertz.ir.stages import inlined_is_all, stage_roles
from kilohertz.ir.step import Kind, Step
from kilohertz.ir.traverse import walk_all
from kilohertz.runtime import family

_OFFSETS = (  # members of khz_model that say where an area of the instance begins
    *("u", "ui", "x", "xd", "w", "d", "pre_d", "m", "pre_m", "s", "pre_s", "r", "reinit", "reinit_value"),
    *("forced", "sample_now", "sample_tick", "sample_start", "sample_interval", "delays", "transports"),
    *("factored", "arena", "seed", "xd_dir", "xd_slope", "base", "gamma_h", "res"),
)


@dataclass(frozen=True, slots=True)
class Linearised:
    """The Jacobian that a model gives, and how it is factorised."""

    jacobian: StateJacobian
    n_lanes: int  # directions that `directional` takes at once
    often: bool  # factors are written out, where they are not too long
    system: ScatteredLoop | None  # of one with unknowns of loops beside the states


@dataclass(frozen=True, slots=True)
class Door:
    """What is written elsewhere and found through the table: functions by their member of khz_model, areas of the
    instance, and the name of the function that gives the table away."""

    functions: Mapping[str, str]
    members: Collection[str]
    getter: str
    linearised: Linearised
    origins: Sequence[str]  # of places that failures and messages name by their number
    has_names: bool  # of blocks; where only Python runs the model, that has them


def model_table(
    step: Step, layout: Layout, infos: Sequence[BlockInfo], n_places: int, where: Callable[[Origin], str], door: Door
) -> list[str]:
    """Constant data of the model and the function that gives it away."""
    counts = layout.counts
    homotopy = _contains(step.initial, "homotopy")
    linearised = door.linearised
    rows = (jacobian := linearised.jacobian).rows
    dense = not door.has_names  # nobody reads it
    of_jacobian, members = _of_jacobian(linearised, step, dense)
    numbers = family("KHZ_STAGE_")
    roles = [numbers[role] for role in stage_roles(step)]
    owners, places_felt = _owners(step, infos, counts), _places_of(felt(step), step, counts)
    places_stirring = _places_of(stirring(step), step, counts)
    arrays = {
        "jac_row": starts(rows),
        "jac_column": [j for row in rows for j in row],
        "jac_colour": jacobian.colours,
        "stage_role": roles if any(roles) else [],
        "transport_points": [len(t.points) for t in step.transports],
        **owners.arrays(),
        "felt": places_felt or [],
        "stirring": places_stirring or [],
        "at_zero": [int(c.at_zero) for c in step.crossings],
    }
    tables = [name for name, values in arrays.items() if values]
    named = infos if door.has_names else ()
    others = (("z_place", step.algebraic), ("blocks", named), ("origins", door.origins))
    tables += [name for name, values in others if values]
    present = [k for k in _OFFSETS if k in door.members]
    return [
        *_block_table(named, where),
        *_origin_table(door.origins),
        *(line for name, values in arrays.items() if values for line in array(name, values, dense=dense)),
        *of_jacobian,
        *_places(step),
        *_areas(door.members),
        *_head(step, counts),
        f"    .n_factored = {layout.factored}, .n_blocks = {len(infos)}, .n_places = {n_places},",
        *members,
        f"    .n_z = {len(step.algebraic)}, .n_k = {len(rows) - counts[Kind.STATE] - len(step.algebraic)},",
        f"    .n_origins = {len(door.origins)},",
        f"    .n_lanes = {linearised.n_lanes}, .jacobian_rests = {int(jacobian_rests(step))},",
        f"    .inlined_is_all = {int(inlined_is_all(step))},",
        f"    .n_values = {len(owners.values)}, .n_step_values = {owners.n_step}, .n_views = {owners.n_views},",
        f"    .n_w = {_n_looked_at(step)},",
        f"    .uses_homotopy = {int(homotopy)}, .n_felt = {-1 if places_felt is None else len(places_felt)},",
        f"    .n_stirring = {-1 if places_stirring is None else len(places_stirring)},",
        *(f"    .{k} = offsetof(khz_instance, {k})," for k in present),
        *(["    .nominal = offsetof(khz_instance, nominal_y),"] if "nominal_y" in door.members else []),
        "    .arena_size = sizeof(((khz_instance *)NULL)->arena),",
        "    .areas = areas,",
        *(f"    .{name} = {pointer(name, dense and name in arrays)}," for name in tables),
        *(f"    .{member} = {function}," for member, function in door.functions.items()),
        "};",
        "",
        *_getter(door.getter),
    ]


def _of_jacobian(linearised: Linearised, step: Step, dense: bool) -> tuple[list[str], list[str]]:
    """Tables of its colours and of the factors of M - h*gamma*J, code around its directions; the members that find
    them."""
    jacobian, system = linearised.jacobian, linearised.system
    lines, members = colour_tables(jacobian, dense)
    if linearised.often and step.directional is not None:
        around, found = around_lines(jacobian, linearised.n_lanes)
        lines, members = [*lines, *around], [*members, *found]
    if system is not None:
        lines += scattered_lines(Tables("unfolded", system), dense, here=True)
        return lines, [*members, "    .unfolded = &unfolded,"]
    plan = plan_lines("lu_plan", jacobian.rows, state_elimination(jacobian.rows), often=linearised.often)
    return [*lines, *plan], [*members, "    .lu_plan = &lu_plan,"] if plan else members


def _head(step: Step, counts: Mapping[Kind, int]) -> list[str]:
    """How the table begins: whose it is, and how many of each there are."""
    return [
        "static const khz_model this_model = {",
        "    .abi = KHZ_ABI,",
        f"    .name = {spelling.string(step.name)},",
        "    .size = sizeof(khz_instance),",
        *_counts(step, counts),
    ]


def _getter(name: str) -> list[str]:
    """The function that gives the table away."""
    return [f"const khz_model *{name}(void)", "{", "    return &this_model;", "}"]


def _counts(step: Step, counts: Mapping[Kind, int]) -> list[str]:
    """How many of each there are in the model itself."""
    return [
        f"    .n_x = {counts[Kind.STATE]}, .n_d = {counts[Kind.DISCRETE]}, .n_m = {counts[Kind.INT_DISCRETE]},",
        f"    .n_s = {counts[Kind.STRING_DISCRETE]}, .n_r = {len(step.crossings)},",
        f"    .n_samples = {len(step.samples)}, .n_time_events = {len(step.time_events)},",
        f"    .n_delays = {len(step.delays)}, .n_transports = {len(step.transports)},",
        f"    .n_recorded = {len(step.delays) + sum(len(t.recorded()) for t in step.transports)},",
        f"    .n_u = {counts[Kind.INPUT]}, .n_ui = {counts[Kind.INT_INPUT]}, .mode_cap = {s.mode_turns(step)},",
        f"    .n_nonlinear = {len(s.nonlinear_loops(step))},",
    ]


def _places(step: Step) -> list[str]:
    """Where the algebraic unknowns of the index-1 form stand."""
    slots = [step.slot(z.name) for z in step.algebraic]
    entries = [f"    offsetof(khz_instance, {z.kind.value}) + {z.index} * sizeof(khz_real)," for z in slots]
    return ["static const size_t z_place[] = {", *entries, "};", ""] if entries else []


def _areas(members: Collection[str]) -> list[str]:
    """Where each kind of variable begins, for the off-line run; 0: the model has none of it."""
    entries = [f"    offsetof(khz_instance, {k.value})," if k.value in members else "    0," for k in AREAS]
    return ["static const size_t areas[] = {", *entries, "};", ""]


@dataclass(frozen=True, slots=True)
class _Owners:
    """Whose a value is, for messages about faults (khz_model.h): Reals with their blocks, those of a step first, views
    last."""

    values: tuple[tuple[int, int], ...]
    n_step: int
    n_views: int
    discrete: list[int]

    def arrays(self) -> dict[str, list[int]]:
        """The tables by their C names."""
        places, blocks = [place for place, _ in self.values], [block for _, block in self.values]
        return {"value_place": places, "value_block": blocks, "discrete_block": self.discrete}


def _is_passed(step: Step, name: str) -> bool:
    v = step.variables.get(name)
    return v is not None and v.purpose is Purpose.PASSED


def _n_looked_at(step: Step) -> int:
    """Values in w that must be numbers: the others, which come last, may be fields of records without a value."""
    return sum(v.slot.kind is Kind.ALGEBRAIC and v.purpose is not Purpose.PASSED for v in step.variables.values())


def _owners(step: Step, infos: Sequence[BlockInfo], counts: Mapping[Kind, int]) -> _Owners:
    of_step: list[tuple[int, int]] = []
    others: list[tuple[int, int]] = []
    views: list[tuple[int, int]] = []
    by_partition = {s.Partition.STEP: of_step, s.Partition.VIEW: views}
    first, n = {}, 0
    for kind in s.EVENT_ORDER:
        first[kind], n = n, n + counts[kind]
    discrete = [0] * n
    for info in infos:
        if info.phase != "block" or isinstance(info.block, s.MixedLoop):
            continue
        values = by_partition.get(info.block.partition, others)
        for slot in (step.slot(t.name) for t in s.targets(info.block) if not _is_passed(step, t.name)):
            if slot.kind in (Kind.ALGEBRAIC, Kind.DERIVATIVE):
                values.append((slot.index if slot.kind is Kind.ALGEBRAIC else -1 - slot.index, info.number))
            elif slot.kind in first:
                discrete[first[slot.kind] + slot.index] = info.number
        for action in info.block.actions if isinstance(info.block, s.WhenBlock) else ():
            if isinstance(action, s.SetState):
                discrete[first[Kind.STATE] + step.slot(action.target.name).index] = info.number
    return _Owners((*of_step, *others, *views), len(of_step), len(views), discrete)


def _places_of(names: list[str] | None, step: Step, counts: Mapping[Kind, int]) -> list[int] | None:
    """Positions of discrete values in d, then m, then r."""
    if names is None:
        return None
    first = {Kind.DISCRETE: 0, Kind.INT_DISCRETE: counts[Kind.DISCRETE]}
    first[Kind.RELATION] = first[Kind.INT_DISCRETE] + counts[Kind.INT_DISCRETE]
    return sorted(first[slot.kind] + slot.index for slot in map(step.slot, names))


def _block_table(infos: Sequence[BlockInfo], where: Callable[[Origin], str]) -> list[str]:
    lines = []
    for info in infos:
        unknowns, origin = spelling.string(", ".join(info.unknowns[:4])), spelling.string(where(info.origin))
        lines.append(f"    {{{unknowns}, {origin}, {len(info.unknowns)}, {info.cost}}},")
    return ["static const khz_block blocks[] = {", *lines, "};", ""] if infos else []


def _origin_table(origins: Sequence[str]) -> list[str]:
    lines = [f"    {spelling.string(origin)}," for origin in origins]
    return ["static const char *const origins[] = {", *lines, "};", ""] if origins else []


def _contains(blocks: Sequence[s.Block], name: str) -> bool:
    """Whether a function is called somewhere."""
    roots = (e for b in blocks for e in s.expressions(b))
    return any(type(e) is x.Builtin and e.name == name for e in walk_all(roots))
