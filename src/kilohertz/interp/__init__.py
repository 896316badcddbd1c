"""Slow, obvious evaluation: constants while compiling, and what the fast code is tested against."""

from kilohertz.interp.context import Context
from kilohertz.interp.errors import EvaluationError, NotAssigned, NotConstant
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
