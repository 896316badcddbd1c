"""A step that is made for one model and one method: the sources of the stepper once more, with these as constants.

The stepper reads sizes and coefficients from tables.  Compiled together with the tables and blocks of one model, for
one method and its settings, loops over states and stages are written out, coefficients stand in the code, and what the
model does not have (inputs, delays, events) is gone.  It is the same C, in which no sum is reordered, so a step has the
same bits; the stepper as it is makes the others: a start, an event from outside, a task with other settings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from kilohertz.building.c_units import QUICK, ModelUnits, runtime_headers
from kilohertz.codegen import CFile, runtime_sources
from kilohertz.codegen.writing.spelling import string
from kilohertz.solvers import SOLVERS, StepSettings
from kilohertz.toolchain import Compiler, Source, Unit

_WHOLE_LINES = 5000  # of a model's C: beyond, its blocks are taken as they are, and the compiler has little more to do
_MOST_LINES = 28_000  # beyond, the stepper is a hundredth of a step
_SHARED = frozenset({"khz_text.c"})  # with what changes outside of an instance: there is one
# Long code is compact here too, but not cold: gcc would take all for cold that is called from nowhere else.
_FLAGS = ("-O3", "-fwhole-program", "-fno-ipa-cp-clone", '-DKHZ_COMPACT=__attribute__((optimize("Os")))')
_STATIC = re.compile(r"^(?:KHZ_\w+ )?static [^=;(]*?\b(\w+)\(", re.MULTILINE)


def _statics(texts: Iterable[str]) -> set[str]:
    """Functions that a file has for itself: in one text with others they need names of their own."""
    return {name for text in texts for name in _STATIC.findall(text)}


def made_name(model: ModelUnits) -> str:
    """The C name of what is made: a `khz_made`."""
    return f"{model.code.prefix}made"


def why_generic(model: ModelUnits, compiler: Compiler) -> str:
    """Why no step is made for a model: it does not pay, or cannot be; empty where one is."""
    if compiler.family != "gcc":
        return f"{compiler.family} makes none for a method, gcc does"
    if model.has_probes:
        return "it is built with probes"
    if not set(QUICK).isdisjoint(model.units[0].flags):
        return "its C is not optimised"
    n_lines = _n_lines(model)
    return f"its C has {n_lines} lines, more than {_MOST_LINES}" if n_lines > _MOST_LINES else ""


def is_whole(model: ModelUnits) -> bool:
    """Whether a step that is made has the blocks of the model inside; those of larger models are called as they are."""
    return _n_lines(model) <= _WHOLE_LINES


def step_word(model: ModelUnits, settings: StepSettings, compiler: Compiler) -> str:
    """Which step a task with these settings has: `made for rk4`, or `generic: ` and why."""
    why = why_generic(model, compiler)
    blocks = "" if is_whole(model) else ", blocks as they are"
    number = model.number.word
    return (
        f"generic: {why}{number}"
        if why
        else f"made for {settings.solver}{', inlined' * settings.inline}{blocks}{number}"
    )


def _own(model: ModelUnits) -> list[CFile]:
    """What is computed in a step: not the start, and not functions, which may be shared."""
    functions = f"{model.code.prefix}functions"
    return [f for f in model.code.files if not f.is_initial and not f.name.startswith(functions)]


def _n_lines(model: ModelUnits) -> int:
    return sum(f.text.count("\n") for f in _own(model))


def made_settings(settings: StepSettings) -> str:
    """The settings as a constant of C."""
    values = settings.c_values()
    values["method"] = list(SOLVERS).index(str(values["method"]))
    values["period_ns"] = int(values["period_ns"]) // int(values["internal_steps"])
    return f"{{{', '.join(f'.{name} = {value}' for name, value in values.items())}}}"


def renamed_statics(runtime: Iterable[tuple[str, str]], own: Iterable[tuple[str, str]]) -> list[str]:
    """Functions of the model that are called like one of the runtime's."""
    return sorted(_statics(text for _, text in runtime) & _statics(text for _, text in own))


def made_step(model: ModelUnits, settings: StepSettings, compiler: Compiler) -> Unit | None:
    """The unit that defines it; None where there is none (`why_generic`)."""
    if why_generic(model, compiler):
        return None
    word = step_word(model, settings, compiler)
    runtime = [(name, text) for name, text in runtime_sources() if name not in _SHARED]
    tables = f"{model.code.prefix}model.c"
    own = [(f.name, f.text) for f in _own(model) if f.name == tables or is_whole(model)]
    lines = [
        "#define _GNU_SOURCE",
        f"#define KHZ_MADE_SETTINGS {made_settings(settings)}",
        *(f'#line 1 "{name}"\n{text}' for name, text in runtime),
        *(f"#define {name} model_{name}" for name in renamed_statics(runtime, own)),
        *(f'#line 1 "{name}"\n{text}' for name, text in own),
        "__attribute__((externally_visible))",
        f"const khz_made {made_name(model)} = {{KHZ_MADE_SETTINGS, khz_stepper_step, {string(word)}}};",
        "",
    ]
    headers = (*runtime_headers(), Source(model.code.header.name, model.code.header.text))
    return Unit(
        (Source("made.c", "\n".join(lines)),),
        headers,
        (),
        (*_FLAGS, *model.number.flags),
        f"{model.units[0].name}_made",
    )
