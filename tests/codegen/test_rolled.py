"""Equal statements as one loop in C: found, written, and the bits of what is written out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kilohertz import load
from kilohertz.building import model_units
from kilohertz.codegen import Jacobians
from kilohertz.cost import Rolled, Shapes, cost_bound, stretches
from kilohertz.cost.rolled import _following, _repeated
from kilohertz.driver.pipeline import compile_flat
from kilohertz.ir import read_flat
from kilohertz.ir import step as s
from kilohertz.simulate import Program, load_program, simulate
from kilohertz.solvers import StepSettings
from kilohertz.toolchain import STRICT

SOURCE = Path(__file__).parent / "rolled.mo"
NEVER = 10**9


def roll_from(monkeypatch: pytest.MonkeyPatch, least: int) -> None:
    for where in ("LEAST", "LEAST_OFF_LINE"):
        monkeypatch.setattr(f"kilohertz.cost.rolled.{where}", least)


@pytest.fixture(scope="module", params=[Jacobians.SELDOM, Jacobians.OFTEN])
def both(request: pytest.FixtureRequest) -> tuple[Program, Program]:
    """The model in loops, and written out: directions one by one, or two at once."""
    step = load(str(SOURCE)).process()
    programs = []
    for least in (4, NEVER):
        with pytest.MonkeyPatch.context() as patch:
            roll_from(patch, least)
            programs.append(load_program(model_units(step, flags=STRICT, jacobians=request.param)))
    return programs[0], programs[1]


def text_of(program: Program) -> str:
    return "\n".join(file.text for file in program.code.files)


def test_loops_have_the_bits_of_what_is_written_out(both: tuple[Program, Program]) -> None:
    rolled, plain = both
    assert text_of(rolled).count("for (int32_t i") > 10
    assert re.search(r"z->xd_dir\[\w+ [^]]*i\]", text_of(rolled))
    assert "for (int32_t i" not in text_of(plain)
    for solver in ("cvode", "rk4", "ros34pw2", "sdirk2"):
        of_loops, other = (simulate(program, stepping=StepSettings(solver, 1e-2)) for program in both)
        assert list(of_loops) == list(other)
        assert len(of_loops.time) > 50
        for name in other:
            assert of_loops[name].tobytes() == other[name].tobytes(), (solver, name)


def test_statements_are_compared_in_time_that_grows_with_their_number() -> None:
    """Runs of equal statements that end just before they are often enough."""

    class Counted(int):
        n = 0

        def __eq__(self, other: object) -> bool:
            Counted.n += 1
            return int.__eq__(self, other)

        __hash__ = int.__hash__

    ids: list[int] = [Counted(k % 3 if k % 290 < 289 else 7) for k in range(5800)]
    following = _following([int(k) for k in ids])
    ends: dict[int, int] = {}
    found = [_repeated(ids, following, ends, at, 100) for at in range(len(ids) - 100)]
    assert found == [_repeated(ids, following, {}, at, 100) for at in range(len(ids) - 100)]
    Counted.n = 0
    ends.clear()
    for at in range(len(ids) - 100):
        _repeated(ids, following, ends, at, 100)
    assert Counted.n < 8 * len(ids)


@pytest.mark.parametrize("jacobians", [Jacobians.SELDOM, Jacobians.OFTEN])
def test_a_look_at_the_outermost_operations_leaves_no_loop_out(
    jacobians: Jacobians, monkeypatch: pytest.MonkeyPatch
) -> None:
    roll_from(monkeypatch, 4)
    step = load(str(SOURCE)).process()
    quick = model_units(step, jacobians=jacobians).code
    for module in ("rolled", "rolled_blocks"):
        monkeypatch.setattr(f"kilohertz.cost.{module}.may_repeat", lambda outlines, n, shapes: n >= shapes.least)
    assert quick.files == model_units(step, jacobians=jacobians).code.files


def test_every_block_keeps_its_number_and_its_function(both: tuple[Program, Program]) -> None:
    rolled, plain = (program.code.blocks for program in both)
    assert [b.number for b in rolled] == list(range(1, len(rolled) + 1))
    assert sorted((b.phase, b.unknowns) for b in rolled) == sorted((b.phase, b.unknowns) for b in plain)
    text = text_of(both[0])
    assert all(f"khz_status {b.function}(" in text for b in rolled)


CHAIN = """
model Chain
  parameter Real k = 2.0;
{variables}
equation
{equations}
end Chain;
"""


def chain(n: int, change: dict[int, str]) -> s.Step:
    """Equal equations but for some."""
    usual = "der(x{i}) = sin(time)*k - {i}.5*x{i}^2.0 + x{j};"
    text = CHAIN.format(
        variables="\n".join(f"  Real x{i}(start = {i}.0, fixed = true);" for i in range(n)),
        equations="\n".join("  " + change.get(i, usual).format(i=i, j=(i + 1) % n) for i in range(n)),
    )
    return compile_flat(read_flat(text))


def found(step: s.Step, blocks: tuple[s.Block, ...]) -> list[tuple[int, int]]:
    parts = stretches(blocks, Shapes(step.variables))
    return [(part.roll.size, part.roll.turns) for part in parts if isinstance(part, Rolled)]


def test_equal_blocks_are_found_between_others(monkeypatch: pytest.MonkeyPatch) -> None:
    roll_from(monkeypatch, 5)
    other = {7: "der(x7) = -x7;", 12: "der(x12) = sin(time)*k - 12.5*x12^3.0 + x13;"}  # another power: another shape
    step = chain(20, other)
    assert found(step, step.blocks) == [(1, 7), (1, 7)]
    roll_from(monkeypatch, 8)
    assert found(step, step.blocks) == []
    step = chain(20, dict.fromkeys(range(0, 20, 2), "der(x{i}) = -k*x{i};"))
    assert found(step, step.blocks) == [(2, 10)]


def test_a_loop_costs_its_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is the same in all of them once: the sine."""
    step = chain(20, {})
    roll_from(monkeypatch, NEVER)
    plain = cost_bound(step, StepSettings("rk4"))["regular"]
    roll_from(monkeypatch, 5)
    in_loops = cost_bound(step, StepSettings("rk4"))["regular"]
    assert in_loops["operations"] == plain["operations"]
    assert plain["instructions"] < in_loops["instructions"] < 2 * plain["instructions"]
