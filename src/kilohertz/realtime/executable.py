"""From compiled models and a scenario to a folder with one executable, its flat scenario, cost bound and C source."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from kilohertz import runtime
from kilohertz.base import Diagnostic, ModelError
from kilohertz.building import (
    MARCH,
    PROBES,
    ModelUnits,
    linked_units,
    number_of,
    runtime_headers,
    runtime_units,
    write_tree,
)
from kilohertz.building.made_step import made_name, made_step, step_word
from kilohertz.codegen import CProgram, ModelSignal, model_signals, signals_source
from kilohertz.codegen.writing.spelling import comment, string
from kilohertz.ir.flat import Function
from kilohertz.ir.step import Kind, Step
from kilohertz.ir.types import ExternalObjectType
from kilohertz.realtime.scenario import Scenario
from kilohertz.realtime.scenario_text import flat_scenario, scenario_path
from kilohertz.solvers import StepSettings
from kilohertz.toolchain import (
    Source,
    Unit,
    build_executable,
    build_objects,
    cross_compiler,
    find_compiler,
)

LIBRARIES = ("-lpthread", "-lrt", "-ldl")


@dataclass(frozen=True, slots=True)
class ModelCode:
    """A model ready to be linked, and the cost bound of its step."""

    built: ModelUnits
    cost: Mapping[str, Any] = field(default_factory=dict)

    @property
    def step(self) -> Step:
        """What the model computes, in which order."""
        return self.built.step


@dataclass(frozen=True, slots=True)
class Built:
    """What was built and where it lies."""

    name: str
    folder: Path
    executable: Path
    scenario_file: Path
    scenario: Scenario
    codes: tuple[CProgram, ...]
    signals: tuple[tuple[ModelSignal, ...], ...]  # of each task
    models: tuple[ModelCode, ...]  # of each task
    target: str = ""
    notes: tuple[str, ...] = ()  # columns that drive nothing, inputs that nothing drives
    steps: tuple[str, ...] = ()  # of each task: `made for rk4`, or `generic: ` and why

    @property
    def build_id(self) -> str:
        """What tells it from another build: the C of its models."""
        texts = "".join(f.text for code in self.codes for f in code.files)
        return sha256(texts.encode()).hexdigest()[:16]


def build(scenario: Scenario, models: Sequence[ModelCode], folder: Path, target: str = "") -> Built:
    """Generate, compile and link the models of a scenario's tasks, in their order; everything comes to lie in `folder`.

    Two tasks with the same `ModelCode` share its code.
    """
    folder = folder.absolute()  # the task runs in it
    code = MARCH[scenario.march]
    if target and code.flags:
        raise ModelError(Diagnostic("C605", f"`march = {scenario.march}` is for this machine, not for `{target}`"))
    compiler = cross_compiler(target) if target else find_compiler()
    distinct = list({id(m.step): m for m in models}.values())
    numbers = [next(i for i, d in enumerate(distinct) if d.step is m.step) for m in models]
    signals = [model_signals(m.step) for m in distinct]
    of_tasks = [signals[i] for i in numbers]
    flat = flat_scenario(scenario, numbers, of_tasks)  # names are checked before anything is compiled
    built = _with_own_prefixes([m.built for m in distinct])
    drivers = tuple(dict.fromkeys(device.driver for device in scenario.devices))
    first = {i: t.stepping for i, t in reversed(list(zip(numbers, scenario.tasks, strict=True)))}
    words = [step_word(model, first[i], compiler) for i, model in enumerate(built)]
    made = [unit for i, model in enumerate(built) if (unit := made_step(model, first[i], compiler)) is not None]
    units, libraries = _units(built, signals, drivers, words)
    units = [replace(unit, flags=(*unit.flags, *code.flags)) for unit in units]
    if target and any("openblas" in word or "lapack" in word for word in libraries):
        raise ModelError(Diagnostic("C605", f"a model needs LAPACK, which is not there for the target `{target}`"))
    own_steps = [replace(unit, flags=(*unit.flags, *code.flags)) for unit in made]
    program = build_executable([*units, *own_steps], (*libraries, *LIBRARIES), compiler)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        executable = _place(program, folder / scenario.name)
        file = scenario_path(folder, scenario.name)
        file.write_text(flat.text, encoding="utf-8")
        flat.playback.write(folder)
        costs = {task.name: dict(m.cost) for task, m in zip(scenario.tasks, models, strict=True)}
        (folder / f"{scenario.name}.cost.json").write_text(json.dumps(costs, indent=2) + "\n", encoding="utf-8")
        headings = _headings(scenario, built, numbers)
        write_tree(folder / "src", scenario.name, units, compiler, (*libraries, *LIBRARIES), headings)
    except OSError as error:
        raise ModelError(Diagnostic("R702", f"cannot write to `{folder}`: {error.strerror}")) from error
    return Built(
        scenario.name,
        folder,
        executable,
        file,
        scenario,
        tuple(b.code for b in built),
        tuple(of_tasks),
        tuple(models),
        target,
        flat.notes,
        tuple(_task_step(words[i], t.stepping, first[i]) for i, t in zip(numbers, scenario.tasks, strict=True)),
    )


def _place(program: Path, target: Path) -> Path:
    """A copy that replaces one that may be running."""
    scratch = target.with_name(target.name + ".new")
    shutil.copyfile(program, scratch)
    scratch.chmod(0o755)
    scratch.replace(target)
    return target


def _with_own_prefixes(models: Sequence[ModelUnits]) -> list[ModelUnits]:
    """No two with the same symbols."""
    out: list[ModelUnits] = []
    for model in models:
        out.append(model.renamed({m.code.prefix for m in out}))
    return out


def _units(
    models: Sequence[ModelUnits],
    signals: Sequence[tuple[ModelSignal, ...]],
    drivers: tuple[str, ...],
    words: Sequence[str],
) -> tuple[list[Unit], tuple[str, ...]]:
    units, libraries = linked_units(models, offline=False)
    headers = _headers()
    units += (_signals_unit(model, of_model) for model, of_model in zip(models, signals, strict=True))
    units.append(Unit(_sources(runtime.device_sources(drivers)), headers, name="devices"))
    linked = Source("linked.c", _linked(models, signals, words))
    flags = (*(PROBES if any(model.has_probes for model in models) else ()), *number_of(models).flags)
    units.append(Unit((*_sources(runtime.task_sources()), linked), headers, flags=flags, name="task"))
    return units, libraries


def _task_step(word: str, own: StepSettings, first: StepSettings) -> str:
    """Which step a task has: a step is made for the first task of a model (`khz_stepper_word`)."""
    fits = word.startswith("generic") or own.c_values() == first.c_values()
    return word if fits else "generic: its settings are not those that a step was made for"


def _signals_unit(model: ModelUnits, signals: tuple[ModelSignal, ...]) -> Unit:
    table, header = signals_source(signals, model.code), model.code.header
    headers = (*_headers(), Source(header.name, header.text))
    return Unit((Source(table.name, table.text),), headers, flags=model.number.flags, name=model.units[0].name)


def compile_ahead(model: ModelUnits, scenario: Scenario) -> None:
    """Compile what an executable of the scenario has of a model whatever its steps are made with: for large models the
    table of its signals takes its time."""
    unit = _signals_unit(model, model_signals(model.step))
    build_objects([replace(unit, flags=(*unit.flags, *MARCH[scenario.march].flags))])


def _headers() -> tuple[Source, ...]:
    return (*runtime_headers(), *_sources(runtime.device_headers()), *_sources(runtime.task_headers()))


def task_units() -> list[Unit]:
    """What a task is made of beside its models and its scenario, with every driver."""
    headers = _headers()
    devices = Unit(_sources(runtime.device_sources()), headers, name="devices")
    return [*runtime_units(offline=False), devices, Unit(_sources(runtime.task_sources()), headers, name="task")]


def _sources(texts: Sequence[tuple[str, str]]) -> tuple[Source, ...]:
    return tuple(Source(name, text) for name, text in texts)


def _linked(models: Sequence[ModelUnits], signals: Sequence[tuple[ModelSignal, ...]], words: Sequence[str]) -> str:
    """The table of the models in this executable; `words` are those of their steps."""
    lines = ["/* The models in this executable.  Generated by Kilohertz. */", '#include "khz_thread.h"', ""]
    entries = []
    for model, of_model, word in zip(models, signals, words, strict=True):
        code, n_objects = model.code, len(list(model.step.of_kind(Kind.OBJECT)))
        hidden = len(_with_memory(model.step))
        timed = model.timed_getter if model.has_probes else "NULL"
        getters = [code.getter, *([timed] if model.has_probes else [])]
        lines += [f"extern const khz_model *{getter}(void);" for getter in getters]
        lines += [f"extern const khz_signal {code.prefix}signals[];"]
        made = made_name(model)
        if word.startswith("generic"):
            lines += [f"static const khz_made {made} = {{.word = {string(word)}}};"]
        else:
            lines += [f"extern const khz_made {made} __attribute__((weak)); /* NULL: linked without it */"]
        table = f"{code.getter}, {timed}, {code.prefix}signals, {len(of_model)}, {n_objects}, {hidden}, &{made}"
        entries.append(f"    {{{string(code.name)}, {table}}},")
    lines += ["", "const khz_linked_model khz_linked_models[] = {", *entries, "};"]
    return "\n".join([*lines, f"const int32_t khz_n_linked_models = {len(models)};", ""])


def _with_memory(step: Step) -> list[str]:
    """External functions that may remember something: declared impure, or given an external object and not `pure`."""
    objects = [v.ty.base for v in step.of_kind(Kind.OBJECT)]
    ends = {name for o in objects if isinstance(o, ExternalObjectType) for name in (o.constructor, o.destructor)}
    return [
        name
        for name, f in step.functions.items()
        if f.external is not None
        and name not in ends
        and (not f.pure or (_has_object(f) and not f.external.declared_pure))
    ]


def _has_object(f: Function) -> bool:
    return any(isinstance(v.ty.base, ExternalObjectType) for v in f.inputs)


def _headings(scenario: Scenario, models: Sequence[ModelUnits], numbers: Sequence[int]) -> dict[str, str]:
    """What a reader of a model's C should know first, by the folder of the model."""
    out = {}
    for i, model in enumerate(models):
        ways = [t.stepping for t, number in zip(scenario.tasks, numbers, strict=True) if number == i]
        steps = [f"{s.solver}{', inlined' * s.inline} with a step of {s.step * 1e3:g} ms" for s in ways]
        lines = [
            f"/* {comment(model.code.name)} by {'; '.join(steps)}.",
            f" * Call {model.code.getter}() for the model (khz_model.h); khz_stepper_init and khz_stepper_step",
            " * (khz_stepper.h) make its steps. */",
        ]
        out[model.units[0].name] = "\n".join(lines) + "\n"
    return out
