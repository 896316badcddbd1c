"""Slow, obvious evaluation: constants while compiling, and what the fast code is tested against."""

from typing import TYPE_CHECKING

from kilohertz.base.lazy import on_demand
from kilohertz.interp.errors import EvaluationError, NotAssigned, NotConstant

if TYPE_CHECKING:
    from kilohertz.interp.context import Context
    from kilohertz.interp.evaluator import Evaluator
    from kilohertz.interp.values import ArrayValue, Env, FunctionValue, Value

__all__ = [
    "ArrayValue",
    "Context",
    "Env",
    "EvaluationError",
    "Evaluator",
    "FunctionValue",
    "NotAssigned",
    "NotConstant",
    "Value",
]

__getattr__ = on_demand(
    __name__,
    {
        "ArrayValue": "values",
        "Context": "context",
        "Env": "values",
        "Evaluator": "evaluator",
        "FunctionValue": "values",
        "Value": "values",
    },
)
