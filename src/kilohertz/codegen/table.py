"""The model table in C: counts, offsets, patterns and phases, as khz_model.h describes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kilohertz.base import Origin
from kilohertz.codegen import names
from kilohertz.codegen.blocks import BlockInfo
from kilohertz.codegen.layout import AREAS, Layout
from kilohertz.codegen.plans import array, plan_lines, starts
from kilohertz.cost import state_elimination
from kilohertz.graphs import colour_columns
from kilohertz.ir import expr as x
from kilohertz.ir import step as s
from kilohertz.ir.step import Kind, Step, stage_roles
from kilohertz.runtime import family

_MEMBERS = (
    *("u", "ui", "x", "xd", "d", "pre_d", "m", "pre_m", "s", "pre_s", "r", "reinit", "reinit_value"),
    *("forced", "sample_now", "sample_tick", "sample_start", "sample_interval", "delays", "transports"),
    *("factored", "arena", "seed", "seed_time", "xd_dir", "base", "gamma_h", "res"),
)
_PHASES = ("once", "initial", "event", "step", "crossing", "output")
_SMALL = (
    *("tunables", "start", "asserts", "initial_asserts", "crossings", "time_events", "delay_sources"),
    "destroy",
)


def model_table(step: Step, layout: Layout, infos: Sequence[BlockInfo], where: Callable[[Origin], str]) -> list[str]:
    """Constant data of the model and the two functions that give it away."""
    counts = layout.counts
    homotopy = any(_contains(b, "homotopy") for b in step.initial)
    rows = state_pattern(step, counts[Kind.STATE] + len(step.algebraic))
    colours = colour_columns(rows, len(rows))
    plan = plan_lines("khz_lu_plan", rows, state_elimination(rows))
    roles = [family("KHZ_STAGE_")[role] for role in stage_roles(step)]
    optional = [(n, own) for n, own in (("directional", step.directional), ("inlined", step.inlined))]
    return [
        *_block_table(infos, where),
        *array("khz_jac_row", starts(rows)),
        *array("khz_jac_column", [j for row in rows for j in row]),
        *array("khz_jac_colour", colours),
        *(array("khz_stage_role", roles) if any(roles) else ()),
        *array("khz_transport_points", [len(t.points) for t in step.transports] or [0]),
        *plan,
        *_places(step),
        *_owners(step, infos, counts),
        "static const khz_model khz_this_model = {",
        "    .abi = KHZ_ABI,",
        f"    .name = {names.string(step.name)},",
        "    .size = sizeof(khz_instance),",
        f"    .n_x = {counts[Kind.STATE]}, .n_d = {counts[Kind.DISCRETE]}, .n_m = {counts[Kind.INT_DISCRETE]},",
        f"    .n_s = {counts[Kind.STRING_DISCRETE]}, .n_r = {len(step.crossings)},",
        f"    .n_samples = {len(step.samples)}, .n_time_events = {len(step.time_events)},",
        f"    .n_delays = {len(step.delays)}, .n_transports = {len(step.transports)},",
        f"    .n_recorded = {len(step.delays) + sum(len(t.recorded()) for t in step.transports)},",
        f"    .n_factored = {layout.factored}, .n_blocks = {len(infos)},",
        f"    .n_u = {counts[Kind.INPUT]}, .n_ui = {counts[Kind.INT_INPUT]},",
        f"    .n_colours = {max(colours, default=-1) + 1}, .n_z = {len(step.algebraic)}, .z_place = khz_z_place,",
        f"    .uses_homotopy = {int(homotopy)},",
        *(f"    .{k} = offsetof(khz_instance, {k})," for k in _MEMBERS),
        "    .nominal = offsetof(khz_instance, nominal_y),",
        "    .arena_size = sizeof(((khz_instance *)NULL)->arena),",
        "    .jac_row = khz_jac_row, .jac_column = khz_jac_column, .jac_colour = khz_jac_colour,",
        f"    .stage_role = {'khz_stage_role' if any(roles) else 'NULL'},",
        f"    .lu_plan = {'&khz_lu_plan' if plan else 'NULL'},",
        "    .transport_points = khz_transport_points,",
        "    .blocks = khz_blocks, .n_values = khz_n_values,",
        "    .w = offsetof(khz_instance, w), .value_place = khz_value_place, .value_block = khz_value_block,",
        "    .discrete_block = khz_discrete_block,",
        *(f"    .{name} = khz_phase_{name}," for name in _PHASES),
        *(f"    .{name} = {f'khz_phase_{name}' if own is not None else 'NULL'}," for name, own in optional),
        *(f"    .{name} = khz_{name}," for name in _SMALL),
        "};",
        "",
        *_exported(),
    ]


def state_pattern(step: Step, n: int) -> list[list[int]]:
    """The y each of F depends on, ascending (`ir/step.py`); all of them where nobody said."""
    if len(step.state_sparsity) != n:
        return [list(range(n)) for _ in range(n)]
    return [sorted(row) for row in step.state_sparsity]


def _places(step: Step) -> list[str]:
    """Where the algebraic unknowns of the index-1 form stand."""
    slots = [step.slot(z.name) for z in step.algebraic]
    entries = [f"    offsetof(khz_instance, {z.kind.value}) + {z.index} * sizeof(double)," for z in slots]
    return ["static const size_t khz_z_place[] = {", *(entries or ["    0,"]), "};", ""]


def _owners(step: Step, infos: Sequence[BlockInfo], counts: Mapping[Kind, int]) -> list[str]:
    """Whose a value is: tables for messages about faults (khz_model.h)."""
    places, blocks = [], []
    first, n = {}, 0
    for kind in (Kind.DISCRETE, Kind.INT_DISCRETE, Kind.STRING_DISCRETE, Kind.STATE):
        first[kind], n = n, n + counts[kind]
    discrete = [0] * n
    for info in infos:
        if info.phase != "block" or isinstance(info.block, s.MixedLoop):
            continue
        for slot in (step.slot(t.name) for t in s.targets(info.block)):
            if slot.kind in (Kind.ALGEBRAIC, Kind.DERIVATIVE) and info.block.partition is s.Partition.STEP:
                places.append(slot.index if slot.kind is Kind.ALGEBRAIC else -1 - slot.index)
                blocks.append(info.number)
            elif slot.kind in first:
                discrete[first[slot.kind] + slot.index] = info.number
        for action in info.block.actions if isinstance(info.block, s.WhenBlock) else ():
            if isinstance(action, s.SetState):
                discrete[first[Kind.STATE] + step.slot(action.target.name).index] = info.number
    return [
        f"enum {{ khz_n_values = {len(places)} }};",
        *array("khz_value_place", places),
        *array("khz_value_block", blocks),
        *array("khz_discrete_block", discrete),
    ]


def _block_table(infos: Sequence[BlockInfo], where: Callable[[Origin], str]) -> list[str]:
    lines = []
    for info in infos:
        unknowns, origin = names.string(", ".join(info.unknowns[:4])), names.string(where(info.origin)[2:])
        lines.append(f"    {{{unknowns}, {origin}, {len(info.unknowns)}, {info.cost}}},")
    return ["static const khz_block khz_blocks[] = {", *(lines or ['    {"", "", 0, 0},']), "};", ""]


def _exported() -> list[str]:
    return [
        "const khz_model *khz_get_model(void)",
        "{",
        "    return &khz_this_model;",
        "}",
        "",
        "size_t khz_area_offset(int32_t kind)",
        "{",
        f"    static const size_t offsets[{len(AREAS)}] = {{",
        *(f"        offsetof(khz_instance, {k.value})," for k in AREAS),
        "    };",
        "    return offsets[kind];",
        "}",
    ]


def _contains(block: s.Block, name: str) -> bool:
    seen: set[int] = set()
    stack = list(s.expressions(block))
    while stack:
        e = stack.pop()
        if id(e) not in seen:
            seen.add(id(e))
            if isinstance(e, x.Builtin) and e.name == name:
                return True
            stack.extend(e.children())
    return False
