"""The core of writing a C function: scopes, lines, temporaries; knows nothing of what expressions mean.

The writer works in scopes (see `placement`): a shared scalar becomes a `const` temporary in its home scope; an
if-expression is `c ? a : b` while its branches need no statements, else an `if`.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from kilohertz.base import Diagnostic, ModelError
from kilohertz.codegen.writing.placement import Home, Placement, Scope
from kilohertz.codegen.writing.values import ArrayValue, TypeTable, product
from kilohertz.ir import expr as x
from kilohertz.ir.expr import Expr
from kilohertz.ir.types import Type

STATUS = "return (khz_status)z->c.status;"
Text = tuple[str, int]  # C text and how tightly it binds
TERNARY, OR, AND, RELATION, SUM, PRODUCT, UNARY, PRIMARY = 1, 2, 3, 4, 6, 7, 8, 9
_MOST_ON_STACK = 2048  # elements; a larger temporary goes into the arena
_LOOP = re.compile(r"\s*(for|while|do)\b")


@dataclass(frozen=True, slots=True)
class Callee:
    """A C function: its name, the types of its inputs and outputs, and the arguments that remain to be passed."""

    name: str
    inputs: tuple[Type, ...]
    outputs: tuple[Type, ...]
    arguments: tuple[Expr, ...]
    returns: bool  # its one output is the C result


@dataclass(frozen=True, slots=True)
class Part:
    """Statements that become a function of their own: their scope, and the declarations of temporaries they take."""

    scope: Scope
    taken: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Definition:
    """A function or table of a C file."""

    lines: Sequence[str]
    is_local: bool = False  # `static`: what uses it follows in the same file


def compact(body: Iterable[str]) -> str:
    """What stands before the head of a function, by its lines: without loops it is compiled for its size."""
    return "" if any(map(_LOOP.match, body)) else "KHZ_COMPACT "


class Host(Protocol):
    """What a writer must be told from outside: variables, functions, operators of the model."""

    types: TypeTable

    def variable(self, ref: x.Ref) -> str | ArrayValue:
        """C text of a variable (an lvalue), or an array."""
        ...

    def callee(self, call: x.Call) -> Callee:
        """The C function for a call."""
        ...

    def builtin(self, writer: WriterCore, e: x.Builtin) -> Text | None:
        """Operators that only the host knows (sample, delay, ...); None: not one of them."""
        ...


class WriterCore(ABC):
    """Lines in scopes."""

    def __init__(self, host: Host, context: str, leave: str = STATUS) -> None:
        self.host, self.types, self.context = host, host.types, context
        self.leave = leave  # the statement that ends the C function where it cannot go on
        self.n_temporaries = 0
        self.n_taking = 0  # calls so far that leave room of the arena taken
        self.scope = Scope(None)
        self.placement = Placement((), self.scope)
        self.locals: dict[str, str | ArrayValue] = {}
        self.part: Part | None = None  # being written

    def plan(self, roots: Iterable[Expr], parts: Iterable[tuple[Scope, Iterable[Expr]]] = ()) -> None:
        """Decide where the shared parts of these expressions go; called before writing them in the present scope, or
        in the scopes of `parts` below it."""
        self.placement = Placement(roots, self.scope, parts)

    def put(self, *lines: str) -> None:
        self.scope.lines.extend(lines)

    def fresh(self, stem: str = "t") -> str:
        self.n_temporaries += 1
        return f"{stem}{self.n_temporaries}"

    def inside(self, body: Callable[[], None], scope: Scope | None = None) -> list[str]:
        """The lines of a body written in its own scope, indented."""
        outer = self.scope
        self.scope = scope if scope is not None and self._is_child(scope) else Scope(outer)
        body()
        lines = ["    " + line for line in self.scope.lines]
        self.scope = outer
        return lines

    def braces(self, head: str, body: Callable[[], None]) -> None:
        """`head { body }`."""
        lines = self.inside(body)
        self.put(head + " {", *lines, "}")

    def _is_child(self, scope: Scope) -> bool:
        return scope.parent is self.scope and not scope.lines

    # ---------------------------------------------------------------------------------------------- remembered values

    def known(self, e: Expr) -> object | None:
        """What was already computed for this node, in a scope around us."""
        scope: Scope | None = self.scope
        while scope is not None:
            value = scope.values.get(id(e))
            if value is not None:
                return value
            for case, name in scope.guarded.get(id(e), ()):
                if self.scope.case.is_in(case):
                    return name
            scope = scope.parent
        return None

    def take(self, e: Expr, name: str) -> None:
        """Note that a part with a function of its own needs a temporary from around it."""
        if self.part is None or not name.isidentifier():
            return
        scope: Scope | None = self.scope
        inner = []  # scopes from here up to that of the part
        while scope is not None and scope is not self.part.scope:
            inner.append(scope)
            scope = scope.parent
        if scope is not None and not any(id(e) in s.values or id(e) in s.guarded for s in (*inner, scope)):
            self.part.taken[name] = self.types.declare(e.ty, name)

    def is_shared(self, e: Expr) -> bool:
        return self.placement.is_shared(e, self.scope)

    def at_home(self, e: Expr, write: Callable[[], None], may_guard: bool = True) -> None:
        """Write in the planned scope of a shared node; in the present one where that is not around us, or where its
        home would have to guard what is not one number (all results of a call)."""
        outer, home = self.scope, self.placement.home_around(e, self.scope)
        if home is None or (home.blocks and not may_guard):
            write()
            return
        self.scope = home.scope
        if home.blocks:
            self._write_guarded(e, home, write)
        else:
            write()
        self.scope = outer

    def _write_guarded(self, e: Expr, home: Home, write: Callable[[], None]) -> None:
        """Write a scalar where the conditions of its case hold, for all scopes of this case."""
        name = self.fresh()

        def keep() -> None:
            write()
            self.put(f"{name} = {self.known(e)};")

        self.put(f"{self.declared(e, name)} = {{0}};")
        self._under(home.blocks, keep)
        self.scope.guarded.setdefault(id(e), []).append((home.case, name))

    def _under(self, blocks: Sequence[Scope], body: Callable[[], None]) -> None:
        if not blocks:
            body()
            return
        case = blocks[0].case
        assert case.condition is not None
        condition = self.text(case.condition, 0 if case.holds else PRIMARY)
        lines = self.inside(lambda: self._under(blocks[1:], body), blocks[0])
        self.put(f"if ({'' if case.holds else '!'}{condition}) {{", *lines, "}")

    def inner_scope(self, owner: Expr, child: int) -> Scope | None:
        """The planned scope of an operand of a node that is written here."""
        return self.placement.inner.get((id(owner), child, self.scope))

    def keep(self, e: Expr, text: str) -> str:
        """A scalar as a constant of the present scope."""
        if not text.isidentifier():
            name = self.fresh()
            ctype = self.ctype(e)
            self.put(f"{ctype}{name} = {text};" if ctype.endswith("*") else f"const {ctype} {name} = {text};")
            text = name
        self.scope.values[id(e)] = text
        return text

    def ctype(self, e: Expr) -> str:
        """The C type of a scalar."""
        return self.types.of(e.ty)

    def declared(self, e: Expr, name: str) -> str:
        """The declaration of a name for a scalar."""
        return self.types.declare(e.ty, name)

    def assigned(self, e: Expr) -> str:
        """C text of a scalar, as what is put into a variable."""
        return self.text(e)

    # ------------------------------------------------------------------------------------------------------- storage

    def room(self, dims: tuple[str, ...], element: Type) -> ArrayValue:
        """A new array: on the stack where its size is known and small, else in the arena."""
        name = self.fresh("a")
        size = product(dims)
        if size.isdigit() and int(size) <= _MOST_ON_STACK:
            self.put(f"{self.types.declare(element, name)}[{max(1, int(size))}];")
        else:
            self.take_room(self.types.declare(element, "*" + name), name, size, element)
        return ArrayValue(name, dims, element)

    def take_room(self, target: str, pointer: str, size: str, element: Type) -> None:
        """`target`, which declares or is `pointer`, to room in the arena; without room the function ends here."""
        if size.isdigit():
            self.types.note_room(int(size), element)
        ctype = self.types.of(element)
        cast = f"({ctype}*)" if ctype.endswith("*") else f"({ctype} *)"
        room = self.taking(f"khz_arena({self.context}, sizeof(*{pointer}) * (size_t)({size}))")
        self.put(f"{target} = {cast}{room};")
        self.put(f"if ({pointer} == NULL) {{", f"    {self.leave}", "}")

    def taking(self, call: str) -> str:
        """A call that takes room in the arena and leaves it taken."""
        self.n_taking += 1
        self.types.takes_room = True
        return call

    def length(self, text: str) -> str:
        """A dimension as a name or number, so that it can be used often."""
        if text.isdigit() or text.isidentifier():
            return text
        name = self.fresh("n")
        self.put(f"const int32_t {name} = {text};")
        return name

    def copy(self, target: str, source: str, size: str, element: Type) -> None:
        """memcpy of `size` elements."""
        if size == "0":
            return
        self.put(f"memmove({target}, {source}, sizeof({self.types.of(element).rstrip()}) * (size_t)({size}));")

    # --------------------------------------------------------------------------------------------------- to be provided

    @abstractmethod
    def scalar(self, e: Expr) -> Text: ...

    @abstractmethod
    def record(self, e: Expr) -> str: ...

    @abstractmethod
    def array(self, e: Expr) -> ArrayValue: ...

    def text(self, e: Expr, least: int = 0) -> str:
        """C text of a scalar, in parentheses where it binds less than `least`."""
        text, binds = self.scalar(e)
        return text if binds >= least else f"({text})"

    def value(self, e: Expr) -> str:
        """C text of one element: a scalar or a record."""
        return self.record(e) if self.types.is_record(e.ty) else self.text(e)


def unsupported(what: str) -> ModelError:
    """The diagnostic for what code generation cannot spell yet."""
    return ModelError(Diagnostic("C611", f"not supported in generated code: {what}"))
