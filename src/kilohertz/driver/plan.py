"""How a fixed-step run is made from what was asked for: `auto`, inlining, mixed mode, sub-steps; with the reasons."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from kilohertz.base import Diagnostic, ModelError
from kilohertz.ir.step import Kind
from kilohertz.passes import Inlining
from kilohertz.solvers import INDEX_1, METHODS, PAIRS, SOLVERS, Pair, RungeKutta

if TYPE_CHECKING:
    from kilohertz.driver.api import Model
    from kilohertz.simulate.stiffness import Reference

AUTO = "auto"
# pairs of mixed mode by the name of a half: an explicit one makes no state implicit unless told, an implicit one all
_PAIRS = {"euler": "imex1", "ieuler": "imex1", "rk2": "ars222", "sdirk2": "ars222", "rk3": "ars443", "sdirk3": "ars443"}
_PAIRS[AUTO] = "ars222"
_FEW_ROWS, _NUMBERS = 500, 4_000_000  # of the reference run: at least; in all rows of all variables
_TOLERANCE_OF_REFERENCE = 1e-7  # where CVODE manages it: fixed steps are measured against this run
_INDEX_1 = f"those that have: {', '.join(INDEX_1)}"


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked for.  `implicit` and `substeps` name states by patterns; `auto` in `implicit` splits by speed."""

    solver: str
    step: float | None
    inline: bool = False
    implicit: Sequence[str] = ()
    substeps: Mapping[str, int] = field(default_factory=dict)
    run: Mapping[str, Any] = field(default_factory=dict)  # start, stop, tolerance, settings of the reference run
    internal_steps: int | None = None  # of the whole model in a step; with `auto`: at most
    stepping: Mapping[str, Any] = field(default_factory=dict)  # fields of `Stepping` that are fixed
    told: Callable[[str], None] | None = None  # hears of work that takes its time
    index1: bool = False  # the unknowns of nonlinear loops are left to the method


@dataclass(frozen=True, slots=True)
class Plan:
    """What is run: the method, what the program is built with, fields of `Stepping`, and sentences that say why."""

    solver: str
    inlining: Inlining | None = None
    stepping: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def and_note(self, text: str) -> Plan:
        """The same with one more sentence."""
        return replace(self, notes=(*self.notes, text))


def make_plan(model: Model, request: Request) -> Plan:
    """Decide; a reference run is made only where something is to be decided from it."""
    return _Planner(model, request).run()


class _Planner:
    def __init__(self, model: Model, request: Request) -> None:
        self._model, self._r = model, request
        self._notes: list[str] = []

    def run(self) -> Plan:
        plan = self._method()
        return self._index1(plan) if self._r.index1 else plan

    def _method(self) -> Plan:
        wanted = self._r.implicit or self._r.substeps or (self._r.inline and self._r.solver == "euler")
        if wanted or isinstance(SOLVERS.get(self._r.solver), Pair):
            return self._mixed()
        if self._r.solver == AUTO:
            return self._auto()
        if self._r.inline:
            return Plan(self._r.solver, Inlining(), {"inlined": True, **self._internal()})
        return Plan(self._r.solver, None, self._internal())

    def _internal(self) -> dict[str, int]:
        return {} if self._r.internal_steps is None else {"internal_steps": self._r.internal_steps}

    def _index1(self, plan: Plan) -> Plan:
        """The same with the unknowns of nonlinear loops left to the method, where it and the model allow it."""
        if plan.inlining is not None and self._r.solver == AUTO and not self._r.inline:
            stepping = {k: v for k, v in plan.stepping.items() if k != "inlined"}
            plan = replace(plan, inlining=None, stepping=stepping).and_note("index-1 form in place of inlined stages")
        if plan.inlining is not None:
            raise ModelError(Diagnostic("R738", "the index-1 form and inlined stages exclude each other"))
        method = METHODS.get(plan.solver)
        if method is None:
            raise ModelError(Diagnostic("R738", f"solver `{plan.solver}` has no index-1 form; {_INDEX_1}"))
        if method.index1_order < method.order and self._r.solver == AUTO:
            return plan.and_note(f"{plan.solver} has no index-1 form: loops are solved in each stage")
        if not self._model.index1().algebraic:
            return plan.and_note("index-1 form: no nonlinear loop leads to the derivatives")
        own: dict[str, Any] = {"index1": True}
        if isinstance(method, RungeKutta):
            own["newton"] = max(2, method.index1_newton)
        return replace(plan, stepping={**own, **plan.stepping})

    def _reference(self) -> Reference:
        from kilohertz.simulate.run import experiment_times
        from kilohertz.simulate.stiffness import reference_run

        program = self._model.compile()
        run = dict(self._r.run)
        start, stop = experiment_times(program, run.get("start"), run.get("stop"))
        most = max(_FEW_ROWS, _NUMBERS // max(1, len(program.step.variables)))
        rows = _rows(stop - start, self._r.step or stop - start, most)
        given = run.pop("tolerance", None)
        tight = _TOLERANCE_OF_REFERENCE if given is None else min(given, _TOLERANCE_OF_REFERENCE)
        try:
            return reference_run(program, intervals=rows, tolerance=tight, **run)
        except ModelError:
            return reference_run(program, intervals=rows, tolerance=given, **run)

    def _needs_step(self) -> float:
        if self._r.step is None or not self._r.step > 0:
            raise ModelError(Diagnostic("R723", f"solver `{self._r.solver}` needs a step greater than zero"))
        return self._r.step

    # ------------------------------------------------------------------------------------------------------------ auto

    def _auto(self) -> Plan:
        from kilohertz.simulate.trial import MOST_INTERNAL_STEPS, Task, choose_by_trial

        step, most = self._needs_step(), self._r.internal_steps
        try:
            reference = self._reference()
        except ModelError as error:
            why = f"the reference run failed ({error.diagnostics[0].message}); an L-stable method is safe"
            return Plan("ros3prl", None, {}, (f"auto takes ros3prl: {why}",))
        task = Task(
            self._model.compile(),
            reference,
            step,
            inlined=lambda: self._model.compile(Inlining()),
            must_inline=self._r.inline,
            most_internal_steps=MOST_INTERNAL_STEPS if most is None else most,
            settings=self._r.run.get("settings") or {},
            stepping=self._r.stepping,
            told=self._r.told,
        )
        found = choose_by_trial(task)
        c, text = found.candidate, f"auto takes {found.candidate.title(step)}: {found.reason}"
        return Plan(c.solver, Inlining() if c.inlined else None, c.stepping, (text,))

    # ----------------------------------------------------------------------------------------------------------- mixed

    def _mixed(self) -> Plan:
        pair = self._pair()
        states = [v.name for v in self._model.process().of_kind(Kind.STATE)]
        part, count = self._part(states)
        implicit = self._implicit(pair, states, part)
        self._notes.append(_told(pair.implicit.title, implicit, states))
        self._notes.append(_told(pair.explicit.title, frozenset(part or states) - implicit, states))
        inlining = Inlining(implicit, part)
        stepping = {"inlined": True, "substeps": count, **self._internal()}
        return Plan(pair.name, inlining, stepping, tuple(self._notes))

    def _pair(self) -> Pair:
        """The pair of methods that was asked for, by its own name or by that of a half."""
        found = SOLVERS.get(_PAIRS.get(self._r.solver, self._r.solver))
        if not isinstance(found, Pair):
            known = ", ".join((*(p.name for p in PAIRS), *_PAIRS))
            text = f"mixed mode and sub-steps need a pair of methods: one of {known}, not {self._r.solver}"
            raise ModelError(Diagnostic("R723", text))
        if self._r.substeps and found.order > 2:
            raise ModelError(Diagnostic("R723", f"sub-steps are of order 2 at most: ars222, not {self._r.solver}"))
        return found

    def _part(self, states: Sequence[str]) -> tuple[frozenset[str] | None, int]:
        counts = set(self._r.substeps.values())
        if not counts:
            return None, 1
        if len(counts) > 1 or min(counts) < 1:
            raise ModelError(Diagnostic("R723", "sub-steps need one number, at least 1, for all patterns"))
        part, (count,) = self._matching(states, list(self._r.substeps)), counts
        rest = "goes on linearly meanwhile" + (", then by the trapezoidal rule" if self._pair().order > 1 else "")
        self._notes.append(f"{count} sub-steps for {_listed(part, states)}; the rest {rest}")
        return part, count

    def _implicit(self, pair: Pair, states: Sequence[str], part: frozenset[str] | None) -> frozenset[str]:
        inside = frozenset(states) if part is None else part
        given = self._r.implicit or ([AUTO] if self._r.solver in (pair.name, AUTO) else [])
        patterns = [p for p in given if p != AUTO]
        found = self._matching(states, patterns) if patterns else frozenset()
        if AUTO in given:
            found |= self._fast(pair, max(1, *self._r.substeps.values()) if self._r.substeps else 1)
        if not given and not _is_explicit(self._r.solver):
            found = inside
        if not found <= inside:
            outside = ", ".join(sorted(found - inside))
            raise ModelError(Diagnostic("R723", f"implicit states must belong to the part with sub-steps: {outside}"))
        return found

    def _fast(self, pair: Pair, substeps: int) -> frozenset[str]:
        from kilohertz.simulate.choose import split_states

        split = split_states(self._reference(), self._needs_step() / substeps, pair.explicit)
        self._notes.append(split.reason)
        return split.implicit

    def _matching(self, states: Sequence[str], patterns: Sequence[str]) -> frozenset[str]:
        from kilohertz.simulate.choose import states_like

        for pattern in patterns:
            if not states_like(states, [pattern]):
                some = ", ".join(states[:8]) + (", ..." if len(states) > 8 else "")
                raise ModelError(Diagnostic("R733", f"no state is called like `{pattern}`; states are {some}"))
        return states_like(states, patterns)


def _is_explicit(solver: str) -> bool:
    method = SOLVERS.get(solver)
    return isinstance(method, RungeKutta) and method.is_explicit


def _rows(span: float, step: float, most: int) -> int:
    """Rows of the reference run: one at the end of each step, or of every k-th where they would be too many."""
    steps = max(1, round(span / step))
    every = -(-steps // most)
    fitting = next((k for k in range(every, 2 * every) if steps % k == 0), every)
    return max(1, round(steps / fitting)) if steps >= 50 else _FEW_ROWS


def _told(method: str, names: frozenset[str], states: Sequence[str]) -> str:
    return f"{method} for {_listed(names, states)}"


def _listed(names: frozenset[str], states: Sequence[str], most: int = 6) -> str:
    if len(names) == len(states):
        return f"all {len(states)} states"
    shown = [s for s in states if s in names]
    if not shown:
        return "no state"
    return f"{len(shown)} of {len(states)} states: " + ", ".join(shown[:most]) + (", ..." if len(shown) > most else "")
