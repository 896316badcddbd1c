"""The whole way of a model, from text to a loaded program: which room does what, in which order.

Each stage takes the form the one before it made.  Rooms are imported when their stage runs: `khz check` needs no NumPy.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from kilohertz.base import Diagnostic, ModelError, Severity
from kilohertz.base.outside import asking
from kilohertz.base.progress import taking_time

if TYPE_CHECKING:
    from kilohertz.building import ModelUnits
    from kilohertz.driver.keeping import Keeping
    from kilohertz.ir.flat import Flat
    from kilohertz.ir.step import Step
    from kilohertz.passes.contract import Log
    from kilohertz.semantics import Balance
    from kilohertz.simulate import Program
    from kilohertz.syntax.library import Libraries


VERIFY = False  # of a model that nobody told otherwise; the tests set it


@dataclass(slots=True)
class Work:
    """A model on its way: the forms made so far, warnings, and the seconds each stage took."""

    libraries: Libraries
    name: str
    flat: Flat | None = None
    balance: Balance | None = None
    step: Step | None = None
    built: ModelUnits | None = None
    soon: ModelUnits | None = None  # the same for solvers that ask for a Jacobian seldom
    program: Program | None = None
    warnings: list[Diagnostic] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    _log: Log | None = None
    verify: bool = field(default_factory=lambda: VERIFY)  # check every form between passes
    keeping: Keeping | None = None  # made when the first form is asked for
    tear_on: tuple[str, ...] = ()  # unknowns that loops are to be torn on

    @property
    def log(self) -> Log:
        """What the passes said; made when they run."""
        from kilohertz.passes.contract import Log

        if self._log is None:
            self._log = Log()
        return self._log


class Stage(NamedTuple):
    """A stage by the form it makes: a field of `Work`."""

    name: str
    makes: str
    run: Callable[[Work], Any]


def _flatten(work: Work) -> Flat:
    from kilohertz.ir.sharing import release
    from kilohertz.semantics import flatten

    release()  # a compilation begins: what earlier ones left and nobody holds goes
    try:
        flat, warnings = flatten(work.libraries, work.name)
    except ModelError as error:
        versions = [d for d in work.libraries.diagnostics if d.code == "L302"]  # what is missing may be in another one
        raise ModelError(*error.diagnostics, *versions) from error
    work.warnings += warnings
    return flat


def _check(work: Work) -> Balance:
    from kilohertz.semantics import check

    assert work.flat is not None
    balance, diagnostics = check(work.flat)
    if any(d.severity is Severity.ERROR for d in diagnostics):
        raise ModelError(*diagnostics)
    work.warnings += diagnostics
    return balance


def _process(work: Work) -> Step:
    from kilohertz.driver.pipeline import selected
    from kilohertz.passes.contract import run_passes
    from kilohertz.passes.ordered.tear import Tear

    assert work.flat is not None
    step: Step = run_passes(selected(Tear(on=work.tear_on)), work.flat, work.log, verify=work.verify)
    work.warnings += work.log.warnings
    return step


def _generate(work: Work) -> ModelUnits:
    assert work.step is not None
    return keeping_of(work).units("step", work.step, is_last=False)


def _generate_soon(work: Work) -> ModelUnits:
    from kilohertz.codegen import Jacobians

    assert work.step is not None
    return keeping_of(work).units("step", work.step, jacobians=Jacobians.SELDOM, is_last=False)


def _build(work: Work) -> Program:
    from kilohertz.simulate import load_program

    assert work.built is not None
    with keeping_of(work).writing():
        return load_program(work.built)


STAGES = (
    Stage("flatten", "flat", _flatten),  # Tree to Flat
    Stage("check", "balance", _check),  # as many equations as unknowns, or the culprits by name
    Stage("process", "step", _process),  # Flat to Step: `PASSES` of `pipeline.py`
    Stage("generate", "built", _generate),  # Step to C
    Stage("build", "program", _build),  # C to a loaded library
)


_DOING = {
    "flatten": "reading and flattening",
    "check": "counting the equations of",
    "process": "sorting the equations of",
    "generate": "writing C for",
    "build": "building",
}


def run_to(form: str, work: Work, *, is_last: bool = True) -> None:
    """Run the stages that are still missing until `work` has a form; what an earlier process kept is not made again.

    What is made is kept; unless it `is_last`, once the next one is.
    """
    keeping = keeping_of(work)
    names = [stage.makes for stage in STAGES]
    last = at = names.index(form)
    while at >= 0 and getattr(work, names[at]) is None and not _recalled(names[at], work):
        at -= 1
    try:
        for stage in STAGES[at + 1 : last + 1]:
            _run(stage, work)
            keeping.made(getattr(work, stage.makes), work.warnings)
    finally:  # what was made until a stage failed, too
        if is_last:
            keeping.write()


def units_for_seldom_jacobians(work: Work) -> ModelUnits:
    """The C of a model for solvers with steps of their own: less of it, so it is compiled sooner.  Forms are still to
    be kept."""
    run_to("step", work, is_last=False)
    if work.soon is None:
        try:
            _run(Stage("generate", "soon", _generate_soon), work)
        except ModelError:
            keeping_of(work).write()
            raise
    assert work.soon is not None
    return work.soon


def soon(work: Work) -> Program:
    """The program for such solvers that is there soonest."""
    from kilohertz.simulate import load_soon

    units = units_for_seldom_jacobians(work)
    with keeping_of(work).writing():
        return load_soon(units)


def _run(stage: Stage, work: Work) -> None:
    started = time.perf_counter()
    with asking(work.libraries.outside), taking_time(f"{_DOING[stage.name]} {work.name}"):
        setattr(work, stage.makes, _without_collector(stage.run, work))
    work.seconds[stage.name] = time.perf_counter() - started


def whole_step(work: Work) -> Step:
    """The Step with the equations it was made from; where an earlier process made it and these are lost, worked out."""
    run_to("step", work)
    assert work.step is not None
    if work.step.dae is None:
        work.step.dae = keeping_of(work).equations()
    if work.step.dae is None:
        fresh = Work(work.libraries, work.name)
        keeping_of(fresh).recalls = False
        work.step.dae = whole_step(fresh).dae
    return work.step


def keeping_of(work: Work) -> Keeping:
    """Who keeps the forms of a model and brings back kept ones."""
    from kilohertz.driver.keeping import Keeping

    if work.keeping is None:
        work.keeping = Keeping(work.name, work.libraries, is_kept=not (work.verify or work.tear_on))
    return work.keeping


def _recalled(form: str, work: Work) -> bool:
    """Whether an earlier process kept the form, and it is taken over."""
    started = time.perf_counter()
    kept = keeping_of(work).recall(form)
    if kept is None:
        return False
    kept_form, said = kept
    setattr(work, form, kept_form)
    work.warnings += said
    work.seconds["recall"] = work.seconds.get("recall", 0.0) + time.perf_counter() - started
    return True


def _without_collector(job: Callable[[Work], Any], work: Work) -> Any:
    """Forms are large and almost free of cycles: looking for garbage in them costs up to half of the time."""
    if not gc.isenabled():
        return job(work)
    gc.disable()
    try:
        return job(work)
    finally:
        gc.enable()
