"""Golden cases: what each pass makes of a form, text in and text out; and the whole way from Flat to Step.

`<form>/<pass>.case` holds the cases of a pass: a Flat (`model`), a Dae (`dae`) or a Step (`step`) in, the form it makes
out, which must read back.  Where the pass takes another form, those before it bring the text there.
`// name{option}` in the first line asks for the pass with an option.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from kilohertz.base import ModelError
from kilohertz.driver.pipeline import PASSES, compile_flat
from kilohertz.ir import Flat, read_flat
from kilohertz.ir.dae import Dae
from kilohertz.ir.ordered import Ordered
from kilohertz.ir.step import Step
from kilohertz.ir.text.forms import Form, print_form, read_form
from kilohertz.ir.text.step_printer import print_step
from kilohertz.ir.verify import verify_form
from kilohertz.passes.contract import Fact, Log, Pass, label, run_passes

FORM: dict[type, Fact] = {Flat: Fact.FLAT, Dae: Fact.DAE, Ordered: Fact.ORDERED, Step: Fact.STEP}
FEWEST = 3  # cases of a pass


@pytest.mark.golden("step.case")
def test_step(case: Any) -> None:
    case.check(print_step(compile_flat(read_flat(case.text)), helpers=False))


def wanted(case: Any) -> Pass:
    named = re.match(r"// (\S+)\n", case.text)
    name = named[1] if named else case.file.stem.replace("_", "-")
    return next(p for p in PASSES if label(p) == name)


def passes_to(p: Pass, form: Form) -> list[Pass]:
    """The pass, and before it what brings the form to it."""
    own = next(fact for kind, fact in FORM.items() if isinstance(form, kind))
    if own in p.needs:
        return [p]
    end = PASSES.index(p)
    start = next(i for i, q in enumerate(PASSES) if own in q.breaks)
    return [q for q in PASSES[start:end] if not q.optional] + [p]


def reads_back(form: Form) -> bool:
    """What is printed is read as the same form, down to its text and its contract."""
    text = re.sub(r" // .*$", "", print_form(form), flags=re.MULTILINE)
    again = read_form(text)
    verify_form(again)
    return isinstance(form, type(again)) and re.sub(r" // .*$", "", print_form(again), flags=re.MULTILINE) == text


@pytest.mark.golden("*/*.case")
def test_pass(case: Any) -> None:
    form = read_form(case.text)
    try:
        made = run_passes(passes_to(wanted(case), form), form, Log(), verify=True)
        out = print_form(made, whole=False)
        assert reads_back(made)
    except ModelError as error:
        d = error.diagnostics[0]
        out = "\n".join([f"error[{d.code}]: {d.message}", *(f"note: {n.text}" for n in d.notes)])
    case.check(out)


@pytest.mark.parametrize("p", PASSES, ids=label)
def test_every_pass_has_cases(p: Pass) -> None:
    folder = type(p).__module__.split(".")[-2]
    file = Path(__file__).parent / folder / f"{p.name.replace('-', '_')}.case"
    assert file.read_text(encoding="utf-8").count("\n[case ") >= FEWEST
