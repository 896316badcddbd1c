"""A series of runs of models: planned and built once, checked against what the models have, run, reported."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kilohertz.base import Announce, Diagnostic, ModelError, near
from kilohertz.sweep import (
    Job,
    Kit,
    Means,
    Measure,
    Report,
    Series,
    Side,
    Table,
    Wanted,
    make_cases,
    make_kit,
    run_series,
)
from kilohertz.sweep.series_definition import COUNTED, MODEL, TIMES

if TYPE_CHECKING:
    from kilohertz.driver.api import Model, Session
    from kilohertz.sweep.series_run import Progress


def execute(
    series: Series,
    means: Means,
    session: Session,
    progress: Progress | None = None,
    announce: Announce | None = None,
) -> Report:
    """Build what is run, run all cases that are not known, report."""
    cases = make_cases(series.cases)
    job = prepare(series, cases, session, announce or (lambda text: None))
    return Report(run_series(series, cases, job, _about(series, cases, job), means, progress))


def series_of_model(
    model: Model, variant: Model | None, series: Series, means: Means, progress: Progress | None
) -> Report:
    """The same for models that are here already."""
    for m in (model, variant):
        if m is not None:
            model.session.keep(m.name, m)
    return execute(series, means, model.session, progress)


def prepare(series: Series, cases: Table, session: Session, announce: Announce) -> Job:
    """Compile each side once and look up every name: what is wrong is told before the first case."""
    kits, curves = {}, {}
    for name, side in series.sides:
        announce(f"compiling {side.model}")
        try:
            model, values = session.kept(side.model).with_values(side.settings)
        except ModelError as error:
            raise ModelError(*(_located(series, d, name, cases) for d in error.diagnostics)) from error
        kits[name] = _kit(series, name, replace(side, settings=values), model, cases)
        curves[name] = _curves(series, name, kits[name])
    return Job(_digest(series, cases, kits), kits, series.measures, curves, series.keep, series.timeout)


def _kit(series: Series, name: str, side: Side, model: Model, cases: Table) -> Kit:
    from kilohertz.driver.plan import Experiment, make_plan
    from kilohertz.simulate import Inputs, offline
    from kilohertz.solvers.settings import in_doubles

    inputs = [Inputs(side.inputs, side.interpolation)] if side.inputs else []
    inputs += [Inputs(dict(side.formulas))] if side.formulas else []
    asked = in_doubles(offline(side.stepping), "cases of a series run")
    plan = make_plan(model, asked, Experiment(side.start, side.stop, side.settings, inputs or None))
    program = model.compile(plan.inlining, index1=plan.stepping.index1)
    parameters = [(side.rename.get(n, n), cases.texts.get(n) or cases.values[:, k]) for k, n in enumerate(cases.names)]
    unknown = [n for n in side.rename if n not in cases.names]
    if unknown:
        text = f"`{unknown[0]}` is renamed, and no parameter of the series is called so{near(unknown[0], cases.names)}"
        raise _placed(series, Diagnostic("R744", text), (name, "rename"))
    named = [n for m in series.measures if name in m.sides and m.signal for n in _names(series, m, m.expression(name))]
    wanted = Wanted(
        parameters,
        side.settings,
        tuple(dict.fromkeys([*named, *(series.record if name == MODEL else _there(model, series.record))])),
        side.start,
        side.stop,
        side.intervals,
        inputs,
    )
    try:
        kit = make_kit(program, plan.stepping, wanted, model.session.libraries.sources)
    except ModelError as error:
        raise ModelError(*(_located(series, d, name, cases) for d in error.diagnostics)) from error
    _check(series, name, kit)
    return kit


def _names(series: Series, m: Measure, expression: str) -> tuple[str, ...]:
    """What an expression reads."""
    from kilohertz.compare.signal_expressions import names_in

    try:
        return tuple(n for n in names_in(expression) if n != "time")
    except ModelError as error:
        text = f"`{expression}` is no expression: {error.diagnostics[0].message}"
        raise _placed(series, Diagnostic("R760", text), (*m.path, "signal")) from error


def _there(model: Model, record: Any) -> list[str]:
    """Of what is recorded of the model, what the variant has too."""
    from kilohertz.results import Selection

    step = model.process()
    names = [*step.variables, *step.aliases]
    out = []
    for pattern in record:
        selection = Selection((pattern,))
        if pattern in ("all", "outputs") or any(selection.takes(n, is_output=False) for n in names):
            out.append(pattern)
    return out


def _curves(series: Series, name: str, kit: Kit) -> list[str]:
    """Signals whose curves are kept: what is recorded, and what measures look at."""
    return [] if series.keep == "none" else list(kit.signals)


def _check(series: Series, name: str, kit: Kit) -> None:
    """What can be known to be wrong before a case is run."""
    for m in series.measures:
        if m.cost and m.of == name and not kit.stepping.is_fixed and m.cost not in (*TIMES, *COUNTED):
            known = ", ".join((*TIMES, *COUNTED))
            text = f"`{m.cost}` is counted by fixed-step solvers, not by `{kit.stepping.solver}`, which has {known}"
            raise _placed(series, Diagnostic("R742", text), (*m.path, "cost"))


def _located(series: Series, d: Diagnostic, side: str, cases: Table) -> Diagnostic:
    """The same with its place in the file of the series, where a name in it is at fault."""
    about = d.message.partition("`")[2].partition("`")[0]  # names after the first one are what it may have meant
    definition = dict(series.sides)[side]
    renamed = {here: name for name, here in definition.rename.items()}
    if about in cases.names:
        return _placed(series, d, ("parameters", about)).diagnostics[0]
    if about in definition.settings:
        return _placed(series, d, (side, "set", about)).diagnostics[0]
    if about in renamed:
        return _placed(series, d, (side, "rename", renamed[about])).diagnostics[0]
    for m in series.measures:
        if m.signal and about in _names(series, m, m.expression(side)):
            return _placed(series, d, (*m.path, "signal")).diagnostics[0]
    return _placed(series, d, (side,)).diagnostics[0]


def _placed(series: Series, d: Diagnostic, path: tuple[str | int, ...]) -> ModelError:
    from kilohertz.realtime.toml_lines import find_key

    span = find_key(series.file, series.text, path) if series.file else None
    return ModelError(d if span is None else replace(d, span=span))


def _digest(series: Series, cases: Table, kits: Mapping[str, Kit]) -> str:
    """What tells a series from another: what is run, with which values, and what is kept of it."""
    state = sha256(cases.values.tobytes())
    for side, kit in kits.items():
        shown = {f.name: getattr(kit, f.name) for f in fields(kit) if f.name != "library"}
        state.update(f"{side} {json.dumps(_plain(shown), sort_keys=True)}".encode())
    rest = [cases.names, cases.texts, series.measures, series.record, series.keep, series.timeout]
    state.update(json.dumps(_plain(rest)).encode())
    return state.hexdigest()[:32]


def _about(series: Series, cases: Table, job: Job) -> dict[str, Any]:
    from kilohertz import __version__
    from kilohertz.toolchain import find_compiler

    return {
        "digest": job.digest,
        "name": series.name,
        "cases": len(cases),
        "parameters": list(cases.names),
        "measures": [_plain(m) | {"title": m.title} for m in series.measures],
        "sides": {
            name: {"model": kit.name, "solver": kit.stepping.solver, "step": kit.stepping.step, "stop": kit.stop}
            for name, kit in job.kits.items()
        },
        "curves": {side: list(names) for side, names in job.curves.items()},
        "kilohertz": __version__,
        "compiler": find_compiler().version.partition("\n")[0],
    }


def _plain(value: Any) -> Any:
    """As JSON has it; the same for the same value."""
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value) if f.name != "path"}
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if hasattr(value, "tolist"):
        return value.tolist()
    return value


def default_folder(series: Series) -> Path:
    """Beside the file of the series."""
    return Path(series.file).parent / f"{series.name}.series" if series.file else Path(f"{series.name}.series")
