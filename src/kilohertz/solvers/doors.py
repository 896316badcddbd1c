"""Texts that are generated from `StepSettings`: the C header, parameters of the Modelica block, the reference table.

Each stands between two marked lines of a file; `tests/solvers/test_doors.py` holds that they are as given here.
"""

from __future__ import annotations

from kilohertz.solvers.settings import C_FIELDS, SETTINGS, Setting

BEGIN, END = "generated from solvers/settings.py: begin", "generated from solvers/settings.py: end"


def between(text: str, generated: str) -> str:
    """The text with what stands between the two marked lines replaced."""
    head, begin, rest = text.partition(BEGIN)
    marker, _, body = rest.partition("\n")
    _, end, tail = body.partition(END)
    if not begin or not end:
        raise ValueError(f"there is no line `{BEGIN}` or `{END}`")
    last = body[: body.index(END)].rpartition("\n")[2]
    return f"{head}{begin}{marker}\n{generated}\n{last}{end}{tail}"


# ------------------------------------------------------------------------------------------------------------ Modelica

_TYPES = {
    "choice": "String",
    "solver": "String",
    "number": "Real",
    "count": "Integer",
    "flag": "Boolean",
    "time": "Units.Time",
}


def modelica_parameters() -> str:
    """Parameters of `Kilohertz.RealTime`; one that is left at its default asks for nothing."""
    return "\n".join(_parameter(s) for s in SETTINGS.values())


def _parameter(s: Setting) -> str:
    if s.kind in ("patterns", "counts"):
        words = f"{s.help}{'; texts such as motor=4' if s.kind == 'counts' else ''}"
        return f'  parameter String {s.name}[:] = fill("", 0) "{words}" annotation(Evaluate=true);'
    default = f'"{s.default}"' if isinstance(s.default, str) else str(s.default).lower()
    limits = f"(min={s.low:.12g}, max={s.high:.12g})" if s.kind in ("count", "number", "time") else ""
    words = f"{s.help} ({', '.join(s.choices)})" if s.kind == "choice" else s.help
    return f'  parameter {_TYPES[s.kind]} {s.name}{limits} = {default} "{words}" annotation(Evaluate=true);'


# ----------------------------------------------------------------------------------------------------------- Markdown


def reference_table() -> str:
    """The table of docs/reference/settings.md."""
    lines = ["| setting | default | range | solvers | meaning |", "|---|---|---|---|---|"]
    for s in SETTINGS.values():
        allowed = "a name, see below" if s.kind == "solver" else s.range.replace("|", "\\|")
        solvers = "fixed step" if s.fixed else "cvode, ida, auto" if s.variable else "all"
        lines.append(f"| `{s.name}` | {s.default_text} | {allowed} | {solvers} | {s.help} |")
    return "\n".join(lines)


# ------------------------------------------------------------------------------------------------------------------ C


def c_settings() -> str:
    """`khz_step_settings`, and the list that reads its fields, fills in their defaults and checks their ranges."""
    lines = ["/* How a model is stepped; zero means the default. */", "typedef struct khz_step_settings {"]
    for s in C_FIELDS:
        kind = "int64_t" if s.kind == "time" else "int32_t"
        lines += [f"    /* {_sentence(s)} */", f"    {kind} {s.c};"]
    lines += ["} khz_step_settings;", "", "/* X(field, default, least, largest) for each but method and period. */"]
    rows = [
        f"    X({s.c}, {', '.join(map(str, _c_range(s)))})" for s in C_FIELDS if s.kind != "time" and s.c != "method"
    ]
    return "\n".join([*lines, " \\\n".join(["#define KHZ_STEP_SETTINGS(X)", *rows])])


def _sentence(s: Setting) -> str:
    if s.kind == "time":
        return "of one call of khz_stepper_step"
    if s.kind == "solver":
        return 'khz_method_index("rk4")'
    enumeration = f"; KHZ_{s.c.removesuffix('_mode').upper()}_*" if s.choices else ""
    return f"{s.help}{enumeration}"


def _c_range(s: Setting) -> tuple[int, int, int]:
    match s.kind:
        case "choice":
            return s.choices.index(s.default), 0, len(s.choices) - 1
        case "flag":
            return int(s.default), 0, 1
        case "counts":
            return 1, 1, int(s.high)
        case _:
            return int(s.default), int(s.low), int(s.high)
