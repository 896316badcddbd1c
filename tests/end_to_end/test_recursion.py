"""Functions that call themselves: bounded while compiling and while running, and said which."""

from __future__ import annotations

from pathlib import Path

import pytest

import kilohertz
from kilohertz.base import ModelError

FUNCTIONS = """
  function alone input Real x; output Real y; algorithm y := alone(x) + 1; end alone;
  function first input Real x; output Real y; algorithm y := second(x) + 1; end first;
  function second input Real x; output Real y; algorithm y := if x > 0 then first(x) else 0; end second;
  function twice input Real x; output Real y; algorithm y := twice(x) + twice(x + 1); end twice;
  function fib input Integer n; output Integer y; algorithm y := if n < 2 then 1 else fib(n - 1) + fib(n - 2); end fib;
  function text input Integer n; output String s; algorithm s := text(n + 1) + "a"; end text;
  function longer input Real a[:]; output Real y; algorithm y := longer(cat(1, a, a)) + 1; end longer;
"""
# What is computed, and the functions that are named.
ENDLESS = {
    "alone(x)": "`M.alone`: calls that do not end",
    "first(x)": "`M.first`, `M.second` call each other without end",
    "twice(x)": "`M.twice`: calls that do not end",
    "fib(integer(99*x))": "`M.fib`: calls that do not end",
    'if text(integer(x)) == "a" then 1 else 0': "`M.text`: calls that do not end",
}


def model(tmp_path: Path, declarations: str) -> kilohertz.Model:
    file = tmp_path / "m.mo"
    file.write_text(f"model M{FUNCTIONS}  {declarations}\nend M;\n", encoding="utf-8")
    return kilohertz.load(file)


@pytest.mark.parametrize("value", ENDLESS)
def test_calls_without_an_end_end_the_run(tmp_path: Path, value: str) -> None:
    tried = model(tmp_path, f"Real x(start = 1, fixed = true); Real y = {value}; equation der(x) = -1;")
    with pytest.raises(ModelError) as refused:
        tried.simulate(stop=0.5)
    said = refused.value.diagnostics[0]
    assert said.code == "R716" and said.message.endswith(ENDLESS[value]) and said.span is not None


def test_arrays_of_endless_calls_run_out_of_room(tmp_path: Path) -> None:
    tried = model(tmp_path, "Real x(start = 1, fixed = true); Real y = longer({x}); equation der(x) = -1;")
    with pytest.raises(ModelError) as refused:
        tried.simulate(stop=0.5)
    assert refused.value.diagnostics[0].code == "R716"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("integer(alone(1))", "nested function calls, the last of `M.alone`"),
        ("integer(first(1))", "nested function calls, the last of `M.first`, `M.second`"),
        ("integer(twice(1))", "nested function calls, the last of `M.twice`"),
    ],
)
def test_calls_without_an_end_while_compiling(tmp_path: Path, value: str, text: str) -> None:
    with pytest.raises(ModelError) as refused:
        model(tmp_path, f"parameter Integer n = {value}; Real x[n] = fill(time, n);").check()
    assert text in refused.value.diagnostics[0].message


def test_calls_that_end_are_let_alone(tmp_path: Path) -> None:
    tried = model(
        tmp_path, "parameter Integer n = fib(4); Real x[n] = fill(time, n); Integer k = fib(integer(20*time));"
    )
    result = tried.simulate(stop=1)
    assert result["k"][-1] == 10946 and result["x[5]"][-1] == 1
