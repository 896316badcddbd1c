"""Functions, from text to values.

In `functions.case` an expected line is `call = value`, `call ! error` or `call ? what has no value`.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from function_cases import function_cases, scope_of

from kilohertz.interp import ArrayValue, EvaluationError, Evaluator, NotConstant
from kilohertz.ir import FunctionType, Scope, read_expr, read_flat

CASES = function_cases()


def shown(value: Any) -> str:
    if isinstance(value, ArrayValue):
        return "[" + ", ".join(shown(x) for x in value.tolist()) + "]"
    if isinstance(value, list):
        return "[" + ", ".join(map(shown, value)) + "]"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(shown, value)) + ")"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {shown(x)}" for name, x in value.items()) + "}"
    return str(value)


@pytest.mark.parametrize(("name", "functions", "expected"), CASES, ids=[name for name, _, _ in CASES])
def test_functions(name: str, functions: str, expected: str) -> None:
    flat = read_flat(f"model M\n{functions}end M;")
    evaluator, scope = Evaluator(flat.functions, max_iterations=1000), scope_of(flat)
    for line in expected.strip().splitlines():
        match = re.fullmatch(r"(.*\)) ([=!?]) (.*)", line)
        assert match is not None, line
        call, kind, wanted = match.groups()
        e = read_expr(call, scope)
        if kind == "=":
            assert shown(evaluator.evaluate(e)) == wanted, call
            continue
        with pytest.raises(EvaluationError if kind == "!" else NotConstant, match=wanted):
            evaluator.evaluate(e)


def test_warnings_are_collected() -> None:
    flat = read_flat(
        """model M
        type AssertionLevel = enumeration(warning, error);
        function f
          input Real u;
          output Real y;
        algorithm
          assert(u > 0.0, "careful", AssertionLevel.warning);
          y := u;
        end f;
        end M;"""
    )
    evaluator = Evaluator(flat.functions)
    assert evaluator.call("f", -1.0) == -1.0
    assert evaluator.messages == ["careful"]


def test_functions_are_looked_up_when_called() -> None:
    asked: list[str] = []

    def find(name: str) -> Any:
        asked.append(name)
        raise KeyError(name)

    evaluator = Evaluator(find)
    e = read_expr("if b then f(1.0) else 2.0", Scope({"b": _boolean()}, {"f": FunctionType((), (_real(),))}))
    assert evaluator.evaluate(e, {"b": False}) == 2.0
    assert asked == []
    with pytest.raises(NotConstant, match=r"f\(\.\.\.\)"):
        evaluator.evaluate(e, {"b": True})


def _real() -> Any:
    from kilohertz.ir import REAL

    return REAL


def _boolean() -> Any:
    from kilohertz.ir import BOOLEAN

    return BOOLEAN


def test_an_error_leaves_the_evaluator_usable() -> None:
    flat = read_flat(f"model M\n{CASES[3][1]}end M;")
    evaluator = Evaluator(flat.functions)
    for _ in range(3):
        with pytest.raises(EvaluationError, match="nested function calls"):
            evaluator.call("factorial", 10**6)
        assert evaluator.call("factorial", 5) == 120


def test_an_algorithm_runs_on_given_values() -> None:
    flat = read_flat("model M\nReal x;\nReal y;\nalgorithm\nx := 2.0*y;\ny := x;\nend M;")
    values: dict[str, Any] = {"y": 3.0}
    Evaluator().run(flat.algorithms[0].statements, values)
    assert values == {"x": 6.0, "y": 6.0}
