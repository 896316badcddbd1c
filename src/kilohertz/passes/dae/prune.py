"""prune: results of calls that nothing reads are dropped, and calls none of whose results are read.

  ($c0.y, $c0.i) := f(x)   with $c0.i unused   ->   ($c0.y, ) := f(x)

Only auxiliary variables go; what the user declared stays.  One sweep over all names,
again while something goes.  It never gives up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kilohertz.ir import traverse
from kilohertz.ir.dae import AnyEquation, CallEquation, Dae, Effect, Equation, Reinit, der_name
from kilohertz.ir.expr import Call, Expr, Ref
from kilohertz.ir.flat import Purpose
from kilohertz.passes.contract import Fact, Log, Pass
from kilohertz.passes.rewriting import copied


@dataclass(frozen=True, slots=True)
class Prune(Pass):
    """Results of calls that nothing reads are dropped."""

    name: ClassVar[str] = "prune"
    needs: ClassVar[frozenset[Fact]] = frozenset({Fact.DAE})
    gives: ClassVar[frozenset[Fact]] = frozenset({Fact.USED})

    def run(self, model: Dae, log: Log) -> Dae:
        return _pruned(model)


def _pruned(dae: Dae) -> Dae:
    out = copied(dae)
    outputs = _outputs(dae)
    while True:
        read = _read(out)
        read |= {name for name in outputs if der_name(name) in read}
        equations: list[AnyEquation] = []
        gone: list[str] = []
        for e in out.equations:
            kept = _kept(e, read, outputs, gone) if isinstance(e, CallEquation) else e
            if kept is not None:
                equations.append(kept)
        if not gone:
            return out
        out.equations = equations
        for name in gone:
            out.variables.pop(name, None)


def _kept(e: CallEquation, read: set[str], outputs: set[str], gone: list[str]) -> CallEquation | None:
    dropped = 0
    targets: list[tuple[Expr | None, ...]] = []
    for output in e.targets:
        row: list[Expr | None] = []
        for t in output:
            if isinstance(t, Ref) and t.name in outputs and t.name not in read:
                gone.append(t.name)
                row.append(None)
                dropped += 1
            else:
                row.append(t)
        targets.append(tuple(row))
    if not dropped:
        return e
    if all(t is None for o in targets for t in o):
        return None
    return CallEquation(tuple(targets), e.call, e.origin, e.guard)


def passed_on(dae: Dae) -> set[str]:
    """Results of calls that nothing but other calls reads."""
    outputs = _outputs(dae)
    if not outputs:
        return outputs
    rates = {der_name(name): name for name in outputs}
    seen: set[Expr] = set()
    stack = _roots(dae)
    while stack:
        e = stack.pop()
        if e in seen or isinstance(e, Call):
            continue
        seen.add(e)
        if isinstance(e, Ref):
            outputs.discard(rates.get(e.name, e.name))
        stack += e.children()
    return outputs - _with_other_names(dae)


def _outputs(dae: Dae) -> set[str]:
    return {v.name for v in dae.variables.values() if v.purpose is Purpose.OUTPUT}


def _read(dae: Dae) -> set[str]:
    names = _with_other_names(dae)
    seen: set[Expr] = set()
    for root in _roots(dae):
        if root in seen:
            continue
        seen.add(root)
        names.update(r.name for r in traverse.refs(root))
    return names


def _with_other_names(dae: Dae) -> set[str]:
    return {a.target for a in dae.aliases.values() if a.target is not None}


def _roots(dae: Dae) -> list[Expr]:
    """Every expression that reads something."""
    roots: list[Expr] = []
    for e in (*dae.equations, *dae.initial_equations):
        match e:
            case Equation():
                roots += [e.left, e.right]
            case CallEquation():
                roots.append(e.call)
                if e.guard is not None:
                    roots.append(e.guard)
    for w in dae.whens:
        roots.append(w.guard)
        for a in w.actions:
            match a:
                case Reinit():
                    roots += [a.target, a.value]
                case Effect():
                    roots += a.args
    roots += [x for a in dae.asserts for x in (a.condition, a.message)]
    roots += [t.at for t in dae.time_events] + [x for s in dae.samples for x in (s.start, s.interval)]
    roots += [x for d in dae.delays for x in (d.source, d.maximum)]
    roots += [x for t in dae.transports for x in t.recorded()]
    for v in (*dae.variables.values(), *(a.variable for a in dae.aliases.values())):
        roots += [x for x in (v.binding, v.start, v.nominal, v.min, v.max) if x is not None]
    return roots
