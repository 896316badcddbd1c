"""Modelica functions as C equal the interpreter: the cases of `interp`, compiled."""

from __future__ import annotations

import re
from typing import Any

import pytest
from function_cases import function_cases, scope_of

from kilohertz.interp import ArrayValue, Evaluator
from kilohertz.ir import Flat, read_expr, read_flat
from kilohertz.ir.expr import Call, Expr, Ref
from kilohertz.ir.step import CallBlock, Kind, Partition, Slot, Step, StepVariable
from kilohertz.ir.types import Primitive, RecordType, TupleType, Type
from kilohertz.simulate import Instance, build_program
from kilohertz.toolchain import STRICT

CASES = function_cases()
EXTERNAL = re.compile(r"external ")


def scalars(value: Any) -> list[Any]:
    """A value of the interpreter as scalars, row-major, record fields in order."""
    if isinstance(value, ArrayValue):
        return [s for x in value.data for s in scalars(x)]
    if isinstance(value, tuple):
        return [s for x in value for s in scalars(x)]
    if isinstance(value, dict):
        return [s for x in value.values() for s in scalars(x)]
    return [value]


def types_of(value: Any, ty: Type) -> list[Type]:
    if isinstance(value, ArrayValue):
        return [t for x in value.data for t in types_of(x, ty.scalar())]
    if isinstance(value, dict):
        assert isinstance(ty.base, RecordType)
        return [t for (_, f), x in zip(ty.base.fields, value.values(), strict=True) for t in types_of(x, f)]
    return [ty]


AREA = {"Real": Kind.ALGEBRAIC, "String": Kind.STRING_DISCRETE}


def step_of(calls: list[tuple[Call, Any]], flat: Flat) -> tuple[Step, list[list[str]]]:
    """A model that computes each call once, and the names of the scalars of each result."""
    step = Step("Functions", functions=dict(flat.functions))
    counts: dict[Kind, int] = {}
    results: list[list[str]] = []
    blocks = []
    for number, (call, value) in enumerate(calls):
        outputs = call.ty.base.elements if isinstance(call.ty.base, TupleType) else (call.ty,)
        values = value if isinstance(call.ty.base, TupleType) else (value,)
        targets, names = [], []
        for k, (ty, part) in enumerate(zip(outputs, values, strict=True)):
            refs = []
            for i, scalar in enumerate(types_of(part, ty)):
                name = f"y{number}_{k}_{i}"
                base = scalar.base
                kind = AREA.get(base.name, Kind.INT_DISCRETE) if isinstance(base, Primitive) else Kind.INT_DISCRETE
                step.variables[name] = StepVariable(name, scalar, Slot(kind, counts.get(kind, 0)))
                counts[kind] = counts.get(kind, 0) + 1
                refs.append(Ref(name, scalar))
                names.append(name)
            targets.append(tuple(refs))
        results.append(names)
        blocks.append(CallBlock(tuple(targets), call, Partition.EVENT))
    step.blocks = tuple(blocks)
    return step, results


@pytest.mark.parametrize(("name", "functions", "expected"), CASES, ids=[name for name, _, _ in CASES])
def test_c_equals_interp(name: str, functions: str, expected: str) -> None:
    if EXTERNAL.search(functions):
        pytest.skip("external functions need their libraries")
    flat = read_flat(f"model M\n{functions}end M;")
    scope, evaluator = scope_of(flat), Evaluator(flat.functions)
    calls: list[tuple[Call, Any]] = []
    for line in expected.strip().splitlines():
        match = re.fullmatch(r"(.*\)) = (.*)", line)
        e: Expr | None = read_expr(match.group(1), scope) if match is not None else None
        if isinstance(e, Call):
            calls.append((e, evaluator.evaluate(e)))
    if not calls:
        pytest.skip("nothing with a value")
    step, results = step_of(calls, flat)
    program = build_program(step, flags=STRICT)
    instance = Instance(program)
    assert instance.initialize(0.0) == 0, bytes(instance.context.message)
    for (call, value), names in zip(calls, results, strict=True):
        got = [instance.read(step.variables[n]) for n in names]
        assert got == pytest.approx(scalars(value), rel=1e-14) if names else True, call
