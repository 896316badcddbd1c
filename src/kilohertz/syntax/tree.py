"""The Tree: Modelica source as it was written (MLS 3.6, appendix A).

Contract: nothing is looked up, nothing is evaluated; every node knows its characters [`start`, `end`) in the file of
its class (`ClassDef.file`).  Comments are dropped; annotations are kept as text and parsed on demand.
Nodes are plain slotted classes, not frozen ones: they are made by the million and a frozen dataclass costs three times
as much to build.  Nobody changes them after parsing.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator as Iteration
from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, TypeAlias

from kilohertz.base import Span
from kilohertz.syntax.tree_expr import (
    Array as Array,
)
from kilohertz.syntax.tree_expr import (
    Binary as Binary,
)
from kilohertz.syntax.tree_expr import (
    Boolean as Boolean,
)
from kilohertz.syntax.tree_expr import (
    Call as Call,
)
from kilohertz.syntax.tree_expr import (
    Colon as Colon,
)
from kilohertz.syntax.tree_expr import (
    Comprehension as Comprehension,
)
from kilohertz.syntax.tree_expr import (
    End as End,
)
from kilohertz.syntax.tree_expr import (
    Expr as Expr,
)
from kilohertz.syntax.tree_expr import (
    FieldOf as FieldOf,
)
from kilohertz.syntax.tree_expr import (
    IfExp as IfExp,
)
from kilohertz.syntax.tree_expr import (
    Iterator as Iterator,
)
from kilohertz.syntax.tree_expr import (
    Matrix as Matrix,
)
from kilohertz.syntax.tree_expr import (
    Number as Number,
)
from kilohertz.syntax.tree_expr import (
    PartialCall as PartialCall,
)
from kilohertz.syntax.tree_expr import (
    Range as Range,
)
from kilohertz.syntax.tree_expr import (
    Ref as Ref,
)
from kilohertz.syntax.tree_expr import (
    String as String,
)
from kilohertz.syntax.tree_expr import (
    Subscripted as Subscripted,
)
from kilohertz.syntax.tree_expr import (
    Tuple as Tuple,
)
from kilohertz.syntax.tree_expr import (
    Unary as Unary,
)

# ------------------------------------------------------------------------------------------- modifications, annotations


@dataclass(slots=True, eq=False)
class Annotation:
    """`annotation(...)`, unparsed: the characters between and including the parentheses.

    `text` is kept when the parser saw that more than graphics may be in it, so that a cached tree needs no source;
    otherwise it is None and the source file has it at [start, end).
    """

    start: int
    end: int
    text: str | None = None


@dataclass(slots=True, eq=False)
class Modification:
    """`(args) = binding`; either part may be absent.  `:=` counts as `=`.

    `= break` (MLS 7.2.7) has the binding `Ref` to the keyword `break`, which no other reference can name.
    """

    start: int
    end: int
    args: tuple[Argument, ...] = ()
    binding: Expr | None = None


@dataclass(slots=True, eq=False)
class ElementModification:
    """`each final a.b(...) = e`."""

    start: int
    end: int
    names: tuple[str, ...]
    modification: Modification | None
    each: bool = False
    final: bool = False
    comment: str = ""


@dataclass(slots=True, eq=False)
class Redeclaration:
    """`redeclare`/`replaceable` inside a modification: a component (exactly one) or a (short) class definition.

    The element carries the same `redeclare`, `replaceable` and `final`.
    """

    start: int
    end: int
    element: Component | ClassDef
    redeclare: bool = True
    replaceable: bool = False
    each: bool = False
    final: bool = False


Argument: TypeAlias = ElementModification | Redeclaration

# ------------------------------------------------------------------------------------------------------------- elements


@dataclass(slots=True, eq=False)
class Constraint:
    """`constrainedby T(mod)`."""

    start: int
    end: int
    type: Ref
    modification: Modification | None


@dataclass(slots=True, eq=False)
class Import:
    """`import a.b;` (alias b), `import c = a.b;`, `import a.b.*;` (star), `import a.b.{c, d};` (names)."""

    start: int
    end: int
    path: tuple[str, ...]
    alias: str | None = None  # set for the first two forms
    star: bool = False
    names: tuple[str, ...] = ()
    protected: bool = False


@dataclass(slots=True, eq=False)
class Extends:
    start: int
    end: int
    type: Ref
    modification: Modification | None
    annotation: Annotation | None = None
    protected: bool = False
    breaks: tuple[str | Connect, ...] = ()  # `break a, break connect(b, c)` among the arguments (MLS 7.4)


@dataclass(slots=True, eq=False)
class Component:
    """One declared component; a clause `Real x, y[3]` gives two that share type and prefixes.

    `dims` are the declaration's own subscripts followed by those of the clause (`Real[3] y[2]` has dims (2, 3)).
    """

    start: int  # of the declaration (name)
    end: int
    name: str
    type: Ref
    dims: tuple[Expr, ...] = ()
    modification: Modification | None = None
    condition: Expr | None = None
    variability: str = ""  # "", discrete, parameter, constant
    causality: str = ""  # "", input, output
    connection: str = ""  # "", flow, stream
    protected: bool = False
    final: bool = False
    inner: bool = False
    outer: bool = False
    redeclare: bool = False
    replaceable: bool = False
    constraint: Constraint | None = None
    comment: str = ""
    annotation: Annotation | None = None


@dataclass(slots=True, eq=False)
class External:
    """`external "C" result = name(args) annotation(...)`."""

    start: int
    end: int
    language: str  # "C" where not given
    result: Ref | None
    name: str | None  # None: the name of the class
    args: tuple[Expr, ...]
    annotation: Annotation | None


@dataclass(slots=True, eq=False)
class Section:
    """One `equation` or `algorithm` section; `items` are Equations or Statements accordingly."""

    start: int
    end: int
    initial: bool
    algorithm: bool
    items: tuple[Equation | Statement, ...]


@dataclass(slots=True, eq=False)
class Body:
    """A long class: elements in order, sections in order.

    For `model extends A(mod) ... end A` the class's own name is A and `extends` holds the modification.
    """

    elements: tuple[Element, ...]
    sections: tuple[Section, ...]
    external: External | None = None
    extends: Modification | None = None
    is_extension: bool = False  # written `class extends Name`


@dataclass(slots=True, eq=False)
class ShortBody:
    """`type A = input B[3](mod)`."""

    type: Ref
    dims: tuple[Expr, ...] = ()
    modification: Modification | None = None
    causality: str = ""


@dataclass(slots=True, eq=False)
class EnumBody:
    """`type E = enumeration(a, b)`; `open` for `enumeration(:)`.  Literals with their descriptions."""

    literals: tuple[tuple[str, str], ...]
    open: bool = False


@dataclass(slots=True, eq=False)
class DerBody:
    """`function f_x = der(f, x, y)`."""

    function: Ref
    variables: tuple[str, ...]


@dataclass(slots=True, eq=False)
class ClassDef:
    start: int
    end: int
    name: str
    kind: str  # class model block connector record type package function operator, operator record, operator function
    body: Body | ShortBody | EnumBody | DerBody
    file: str = ""  # set on every class, nested ones included
    within: tuple[str, ...] = ()  # full name of the enclosing class; () at the top
    comment: str = ""
    annotation: Annotation | None = None
    partial: bool = False
    encapsulated: bool = False
    expandable: bool = False
    purity: str = ""  # "", pure, impure
    protected: bool = False
    final: bool = False
    inner: bool = False
    outer: bool = False
    redeclare: bool = False
    replaceable: bool = False
    constraint: Constraint | None = None
    name_start: int = 0  # of the identifier, for carets
    lazy: Callable[[], Body | ShortBody | EnumBody | DerBody] | None = field(default=None, repr=False)  # see below

    @property
    def name_span(self) -> Span:
        """Where its name stands."""
        return Span(self.file, self.name_start, self.name_start + len(self.name))

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            """A class from the cache reads its body on first use: then `body` is an empty slot and `lazy` fills it."""
            if name != "body" or self.lazy is None:
                raise AttributeError(name)
            self.body = self.lazy()
            self.lazy = None
            return self.body


Element: TypeAlias = Import | Extends | Component | ClassDef

# ------------------------------------------------------------------------------------------------------------ equations


@dataclass(slots=True, eq=False)
class Equality:
    start: int
    end: int
    left: Expr
    right: Expr
    comment: str = ""


@dataclass(slots=True, eq=False)
class Connect:
    start: int
    end: int
    left: Ref
    right: Ref
    comment: str = ""


@dataclass(slots=True, eq=False)
class CallEquation:
    """assert, terminate, reinit, Connections.branch, or a function without outputs."""

    start: int
    end: int
    call: Call
    comment: str = ""


@dataclass(slots=True, eq=False)
class IfEquation:
    start: int
    end: int
    branches: tuple[tuple[Expr, tuple[Equation, ...]], ...]
    otherwise: tuple[Equation, ...]
    comment: str = ""


@dataclass(slots=True, eq=False)
class ForEquation:
    start: int
    end: int
    iterators: tuple[Iterator, ...]
    body: tuple[Equation, ...]
    comment: str = ""


@dataclass(slots=True, eq=False)
class WhenEquation:
    start: int
    end: int
    branches: tuple[tuple[Expr, tuple[Equation, ...]], ...]
    comment: str = ""


Equation: TypeAlias = Equality | Connect | CallEquation | IfEquation | ForEquation | WhenEquation

# ----------------------------------------------------------------------------------------------------------- statements


@dataclass(slots=True, eq=False)
class Assignment:
    """`a[i] := e` or `(a, , b) := f(x)`."""

    start: int
    end: int
    target: Ref | Tuple
    value: Expr
    comment: str = ""


@dataclass(slots=True, eq=False)
class CallStatement:
    start: int
    end: int
    call: Call
    comment: str = ""


@dataclass(slots=True, eq=False)
class IfStatement:
    start: int
    end: int
    branches: tuple[tuple[Expr, tuple[Statement, ...]], ...]
    otherwise: tuple[Statement, ...]
    comment: str = ""


@dataclass(slots=True, eq=False)
class ForStatement:
    start: int
    end: int
    iterators: tuple[Iterator, ...]
    body: tuple[Statement, ...]
    comment: str = ""


@dataclass(slots=True, eq=False)
class WhileStatement:
    start: int
    end: int
    condition: Expr
    body: tuple[Statement, ...]
    comment: str = ""


@dataclass(slots=True, eq=False)
class WhenStatement:
    start: int
    end: int
    branches: tuple[tuple[Expr, tuple[Statement, ...]], ...]
    comment: str = ""


@dataclass(slots=True, eq=False)
class Break:
    start: int
    end: int
    comment: str = ""


@dataclass(slots=True, eq=False)
class Return:
    start: int
    end: int
    comment: str = ""


Statement: TypeAlias = (
    Assignment | CallStatement | IfStatement | ForStatement | WhileStatement | WhenStatement | Break | Return
)


@dataclass(slots=True, eq=False)
class StoredDefinition:
    """One source file: `within` and its classes."""

    file: str
    within: tuple[str, ...] | None  # None: no within clause; () for `within ;`
    classes: tuple[ClassDef, ...]
    final: tuple[bool, ...] = field(default=())  # per class


def refs(node: object) -> Iteration[Ref]:
    """All references in a piece of tree, subscripts and arguments included."""
    stack = [node]
    while stack:
        at = stack.pop()
        if isinstance(at, tuple):
            stack.extend(reversed(at))
        elif is_dataclass(at):
            if isinstance(at, Ref):
                yield at
            stack.extend(getattr(at, f.name) for f in reversed(fields(at)))
