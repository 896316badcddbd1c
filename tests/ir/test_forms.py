"""Texts of the forms: what is printed reads back the same; contracts that are broken are named."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import kilohertz
from kilohertz.base import InternalError
from kilohertz.driver.pipeline import selected
from kilohertz.ir import REAL, Ref, make
from kilohertz.ir.dae import Dae, Equation
from kilohertz.ir.expr import TIME, Builtin
from kilohertz.ir.ordered import Ordered, System
from kilohertz.ir.step import Assignment, Partition, Step
from kilohertz.ir.text.dae_reader import read_dae
from kilohertz.ir.text.expr_printer import print_expr, print_shared
from kilohertz.ir.text.expr_reader import ReadError, read_expr
from kilohertz.ir.text.forms import print_form, read_form
from kilohertz.ir.text.step_reader import read_step
from kilohertz.ir.ticks import ScalarFlat
from kilohertz.ir.verify import verify_form
from kilohertz.passes.contract import Log, label, run_passes
from kilohertz.passes.dae.lower_events import LowerEvents
from kilohertz.passes.flat.scalarise import Scalarise
from kilohertz.passes.step.inline_stage import InlineStage

SOURCE = Path(__file__).parent.parent / "simulate" / "inlined.mo"
MODELS = (
    *(f"Kilohertz.Examples.{n}" for n in ("BouncingBall", "DriveTrain", "RCCircuit")),
    *(f"{SOURCE}:Inlined.{n}" for n in ("Called", "Switched", "Star", "Cranks")),
)


CLOCKED = """
model Clocked
  Real x(start = 1, fixed = true), y(start = 0), z;
equation
  der(x) = -z;
  y = previous(y) + sample(x, Clock(1, 10));
  z = hold(subSample(y, 2));
end Clocked;
"""


def without_origins(text: str) -> str:
    return re.sub(r" // .*$", "", text, flags=re.MULTILINE)


@pytest.mark.parametrize("name", MODELS)
def test_every_form_on_the_way_reads_back(name: str) -> None:
    form, log = kilohertz.load(name).flatten(), Log()
    for p in selected(InlineStage()):
        form = p.run(form, log)
        verify_form(form)
        text = without_origins(print_form(form))
        assert without_origins(print_form(read_form(text))) == text, label(p)


@pytest.mark.parametrize("name", MODELS)
def test_an_ordered_that_was_read_goes_on_as_the_one_printed(name: str) -> None:
    """Text holds all that the passes after it need."""
    passes = selected(InlineStage())
    form: Any = kilohertz.load(name).flatten()
    for at, p in enumerate(passes):
        form = p.run(form, Log())
        if p.name in ("causalise", "tear"):
            again: Any = read_form(print_form(form))
            assert isinstance(again, Ordered)
            steps = [run_passes(passes[at + 1 :], x, Log()) for x in (form, again)]
            first, second = (without_origins(print_form(step)) for step in steps)
            assert first == second, label(p)


def test_clocks_are_read_back(tmp_path: Path) -> None:
    file = tmp_path / "clocked.mo"
    file.write_text(CLOCKED, encoding="utf-8")
    flat = kilohertz.load(str(file)).flatten()
    scalar = Scalarise().run(flat, Log())
    for form in (flat, scalar):
        text = without_origins(print_form(form))
        again = read_form(text)
        assert without_origins(print_form(again)) == text
    assert "partition 1 every 1/1 from 0/1 by " in print_form(flat)
    assert "tick 0 every 1/1 from 0/1 period " in print_form(scalar)
    assert isinstance(again, ScalarFlat) and again.ticks == scalar.ticks
    first, second = (LowerEvents().run(x, Log()) for x in (scalar, again))
    assert print_form(first) == print_form(second)


def test_shared_parts_of_a_large_expression_are_written_once() -> None:
    e = make.add(TIME, make.ONE)
    for _ in range(60):
        e = make.mul(Builtin("sin", (e,), REAL), e)
    text = print_shared(e)
    assert text.startswith("let($1 = ") and len(text) < 4000
    assert read_expr(text, {"time": REAL}) is e
    assert print_shared(TIME) == print_expr(TIME) == "time"


@pytest.mark.parametrize("text", ["table T\nend T;", "dae D\n  state Real x;\nfoo\nend D;", "step S\n  q: x;\nend S;"])
def test_what_no_printer_writes_is_refused(text: str) -> None:
    with pytest.raises(ReadError):
        read_form(text)


DAE = "dae D\n  state Real x;\n  discrete Boolean b;\nequation\n  der(x) = -x;\n  b := pre(b);\nend D;\n"
STEP = (
    "step S\n  x: x(start = 1.0);\n  w: y(start = 0.0);\nblocks\n  1 step: y := x;\n  2 step: der(x) := -y;\nend S;\n"
)


def dae(**changes: object) -> Dae:
    return replace(read_dae(DAE), **changes)  # type: ignore[arg-type]


def step(**changes: object) -> Step:
    return replace(read_step(STEP), **changes)  # type: ignore[arg-type]


def with_equation(e: Equation) -> Dae:
    d = read_dae(DAE)
    d.equations.append(e)
    return d


X, Y, GONE = Ref("x", REAL), Ref("y", REAL), Ref("gone", REAL)
(B, *_) = (v.ref for v in read_dae(DAE).variables.values() if v.name == "b")
BROKEN = {
    "an equation: gone is not declared": with_equation(Equation(X, GONE)),
    "an equation: der is left": with_equation(Equation(X, Builtin("der", (X,), REAL))),
    "an equation between Real and Boolean": with_equation(Equation(X, B)),
    "a directed equation that computes no variable": with_equation(Equation(make.neg(X), X, directed=True)),
    "is kept under the name z": dae(variables={"z": read_dae(DAE).variables["x"]}),
    "blocks: y is set twice": step(blocks=(Assignment(Y, X, Partition.STEP),) * 2),
    "blocks: block 1 reads y, which is set after it": step(blocks=read_step(STEP).blocks[::-1]),
    "blocks: gone has no slot": step(blocks=(Assignment(GONE, X, Partition.STEP),)),
    "blocks: gone is not declared": step(blocks=(Assignment(Y, GONE, Partition.STEP),)),
    "x without der": step(variables={n: v for n, v in read_step(STEP).variables.items() if n != "der(x)"}),
    "components are left beside their blocks": Ordered(
        read_dae(DAE),
        (),
        {},
        simulation=System(components=(None,), blocks=()),  # type: ignore[arg-type]
    ),
}


@pytest.mark.parametrize("message", list(BROKEN))
def test_a_breach_is_named(message: str) -> None:
    with pytest.raises(InternalError, match=re.escape(message)):
        verify_form(BROKEN[message])


def test_what_holds_is_let_through() -> None:
    verify_form(read_dae(DAE))
    verify_form(read_step(STEP))
