"""The evaluator: expressions and function calls to values."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

from kilohertz.interp.compile import Code, Compiler
from kilohertz.interp.context import Context, Frame, resolver
from kilohertz.interp.errors import EvaluationError, NotAssigned, NotConstant
from kilohertz.interp.functions import FunctionCode
from kilohertz.interp.statements import Statements
from kilohertz.interp.values import Env, FunctionValue, Value, is_complete
from kilohertz.ir.expr import Expr
from kilohertz.ir.flat import Function, Statement

_MOST_CALLS = 1_000_000  # of functions in one evaluation
_DEEP = 1_000_000  # Python frames; they live on the heap, so this bounds memory, not the C stack


class Evaluator:
    """Evaluates expressions.  Keep one: what it compiled serves every later evaluation.

    `functions` finds a function by id (KeyError where there is none); `constants` gives names that function bodies
    use beside their own; `context` answers pre, initial, sample and the like.  Failed asserts of level warning and
    printed text are collected in `messages`.
    """

    def __init__(
        self,
        functions: Mapping[str, Function] | Callable[[str], Function] = {},  # noqa: B006  # never changed
        *,
        constants: Env = {},  # noqa: B006  # never changed
        context: Context | None = None,
        max_calls: int = 500,
        max_iterations: int = 1_000_000,
    ) -> None:
        self.messages: list[str] = []
        self._find = functions.__getitem__ if isinstance(functions, Mapping) else functions
        self._constants = resolver(constants)
        self._max_calls = max_calls
        self._open: list[str] = []  # functions whose calls are under way
        self._n_calls = 0  # since the outermost one
        self._prepared: dict[str, FunctionCode] = {}
        self._compiler = Compiler(self, context or Context())
        self._statements = Statements(self._compiler, max_iterations, self.messages.append)

    def evaluate(self, expr: Expr, env: Env = {}) -> Value:  # noqa: B006  # never changed
        """The value of an expression; NotConstant for a name not in `env`, EvaluationError where it goes wrong."""
        code = self._compiler.code(expr)
        constants = self._compiler.constants
        if expr in constants:
            return constants[expr]
        value = self._guarded(code, Frame(resolver(env)))
        if not is_complete(value):
            raise NotAssigned("a part of the value is never assigned")
        return value

    def call(self, function: str, *arguments: Value) -> Value:
        """The output of a function, or a tuple of its outputs."""
        target = self.target(function)
        return self._guarded(lambda _: target(list(arguments)), Frame(self._constants))

    def run(self, statements: list[Statement], values: dict[str, Value], env: Env = {}) -> None:  # noqa: B006
        """Carry out an algorithm; `values` holds its variables and is changed."""
        block = self._statements.block(statements)
        frame = Frame(resolver(env))
        frame.update(values)
        self._guarded(block, frame)
        values.update(frame)

    def _guarded(self, code: Code, frame: Frame) -> Value:
        try:
            return code(frame)
        except RecursionError:
            return self._deep(code, frame)
        except (ArithmeticError, TypeError, ValueError, KeyError) as error:
            raise _explained(error) from error

    def _deep(self, code: Code, frame: Frame) -> Value:
        """Once more with room for a deep expression or many calls."""
        self._open.clear()
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, _DEEP))
        try:
            return code(frame)
        except (ArithmeticError, TypeError, ValueError, KeyError) as error:
            raise _explained(error) from error
        finally:
            sys.setrecursionlimit(limit)

    # ------------------------------------------------------------------------------------------------------ calls

    def target(self, function: str) -> Callable[[list[Value]], Value]:
        """What to call for a function id; found and prepared at the first call."""

        def call(arguments: list[Value]) -> Value:
            code = self._prepared.get(function) or self._prepare(function)
            self._enter(function)
            try:
                return code.call(arguments)
            except EvaluationError as error:
                error.calls.append(function)
                raise
            except (ArithmeticError, TypeError, ValueError, KeyError) as error:
                raise _inside(_explained(error), function) from error
            finally:
                self._leave()

        return call

    def apply(self, function: FunctionValue, arguments: list[Value]) -> Value:
        """Call a function value with its open inputs."""
        code = self._prepared.get(function.function) or self._prepare(function.function)
        self._enter(function.function)
        try:
            return code.call_by_name(dict(function.bound), arguments)
        except EvaluationError as error:
            error.calls.append(function.function)
            raise
        finally:
            self._leave()

    def _enter(self, function: str) -> None:
        if not self._open:
            self._n_calls = 0
        self._n_calls += 1
        if len(self._open) >= self._max_calls:
            raise _too_deep([*self._open, function])
        if self._n_calls > _MOST_CALLS:
            raise EvaluationError(f"more than {_MOST_CALLS} function calls, the last of `{function}`")
        self._open.append(function)

    def _leave(self) -> None:
        if self._open:  # none where a deep evaluation began anew
            self._open.pop()

    def _prepare(self, function: str) -> FunctionCode:
        try:
            definition = self._find(function)
        except KeyError:
            raise NotConstant(f"{function}(...)") from None
        code = self._prepared[function] = FunctionCode(definition, self._statements, self._constants)
        return code


def _too_deep(calls: list[str]) -> EvaluationError:
    """Says which functions call each other: those since the last one was called before."""
    last = calls[-1]
    before = len(calls) - 2 - calls[-2::-1].index(last) if last in calls[:-1] else len(calls) - 2
    circle = ", ".join(f"`{name}`" for name in dict.fromkeys(calls[before:]))
    return EvaluationError(f"{len(calls)} nested function calls, the last of {circle}")


def _explained(error: Exception) -> Exception:
    """Python's complaint as one about the model."""
    if isinstance(error, ZeroDivisionError):
        return EvaluationError("division by zero")
    if isinstance(error, TypeError) and "NoneType" in str(error):
        return EvaluationError("a part of an array or record is used before it is assigned")
    if isinstance(error, ArithmeticError | ValueError):
        return EvaluationError(str(error))
    return error


def _inside(error: Exception, function: str) -> Exception:
    if isinstance(error, EvaluationError):
        error.calls.append(function)
    return error
