"""What the C headers define, read from them: constants, sizes, structures.

The headers are the one definition (docs/decisions/0018-one-definition.md); nothing of them is typed again in Python.
The reader knows the plain C that they are written in: enumerations, structures of numbers, arrays, pointers and other
structures, macros that are a formula.  What it took from the text is held against the compiler at load: `layout.py`.
"""

from __future__ import annotations

import ast
import ctypes
import operator
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any

from kilohertz.base import InternalError
from kilohertz.runtime.source_files import device_headers, headers, task_headers

_COMMENT = re.compile(r"/\*.*?\*/", re.S)
_DEFINITION = re.compile(  # at the beginning of a line, as clang-format leaves it
    r"^(?:typedef\s+)?(?:enum\s*\w*\s*\{(?P<enum>[^{}]*)\}|struct\s+(?P<struct>\w+)\s*\{(?P<body>[^{}]*)\})"
    r"|^typedef\s+[\w *]+\(\*(?P<function>\w+)\)\(",
    re.M,
)
_FORMULA = re.compile(r"^#define\s+(\w+)\(([\w, ]+)\)[ \t]+(\S.*)$", re.M)
_DECLARATION = re.compile(r"(?:const |struct )*(\w+)\s*(.*)", re.S)
_DECLARATOR = re.compile(r"(\**)\s*(?:const )?(\w+)((?:\[\w*\])*)")
_OPERATIONS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
_NUMBERS: dict[str, Any] = {
    "char": ctypes.c_char,
    "double": ctypes.c_double,
    "float": ctypes.c_float,
    "int": ctypes.c_int,
    "int32_t": ctypes.c_int32,
    "int64_t": ctypes.c_int64,
    "size_t": ctypes.c_size_t,
    "uint16_t": ctypes.c_uint16,
    "uint32_t": ctypes.c_uint32,
    "uint64_t": ctypes.c_uint64,
}


@dataclass(frozen=True, slots=True)
class Definitions:
    """Headers as text, by what they define."""

    constants: Mapping[str, str]  # expressions
    structures: Mapping[str, str]  # bodies
    functions: frozenset[str]  # types of pointers to functions
    formulas: Mapping[str, tuple[tuple[str, ...], str]]  # parameters, expression
    values: dict[str, int] = field(default_factory=dict, compare=False)  # of constants that were asked for

    def constant(self, name: str) -> int:
        """The value of an enumerator."""
        if name not in self.constants:
            raise InternalError(f"no header defines {name}")
        if name not in self.values:
            self.values[name] = self._evaluate(self.constants[name], {})
        return self.values[name]

    def family(self, prefix: str) -> dict[str, int]:
        """The enumerators of a prefix by their words: KHZ_EVENTS_CATCH_UP of KHZ_EVENTS_ is catch_up."""
        members = {word_of(n.removeprefix(prefix)): self.constant(n) for n in self.constants if n.startswith(prefix)}
        if not members:
            raise InternalError(f"no header defines {prefix}*")
        return members

    def formula(self, name: str, *values: int) -> int:
        """A macro with parameters, such as the room that a loop of n unknowns needs."""
        if name not in self.formulas:
            raise InternalError(f"no header defines {name}(...)")
        parameters, text = self.formulas[name]
        return self._evaluate(text, dict(zip(parameters, values, strict=True)))

    def _evaluate(self, text: str, names: Mapping[str, int]) -> int:
        try:
            return self._value(ast.parse(text, mode="eval").body, names)
        except SyntaxError:
            raise InternalError(f"not a constant of a header: {text}") from None

    def _value(self, e: ast.expr, names: Mapping[str, int]) -> int:
        match e:
            case ast.Constant(value=int(value)):
                return value
            case ast.Name(id=name):
                return names[name] if name in names else self.constant(name)
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return -self._value(inner, names)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
                return int(_OPERATIONS[type(op)](self._value(left, names), self._value(right, names)))
            case ast.Call(func=ast.Name(id=name), args=args):
                return self.formula(name, *(self._value(a, names) for a in args))
        raise InternalError(f"not a constant of a header: {ast.unparse(e)}")

    def fields(self, structure: str, types: Mapping[str, Any] | None = None) -> list[tuple[str, Any]]:
        """`_fields_` of a ctypes structure; `types` has classes of one's own for some types of C."""
        if structure not in self.structures:
            raise InternalError(f"no header defines struct {structure}")
        known = {**_NUMBERS, **dict.fromkeys(self.functions, ctypes.c_void_p), **(types or {})}
        texts = filter(None, (text.strip() for text in self.structures[structure].split(";")))
        return [field for text in texts for field in self._declared(text, known)]

    def structure(self, name: str) -> type[ctypes.Structure]:
        """A structure as its fields alone."""
        return type(name, (ctypes.Structure,), {"_fields_": self.fields(name)})

    def _declared(self, text: str, known: dict[str, Any]) -> list[tuple[str, Any]]:
        function = re.match(r"[\w\s*]*\(\*(\w+)\)", text)
        if function:
            return [(function[1], ctypes.c_void_p)]
        declaration = _DECLARATION.fullmatch(
            re.sub(r"\b(?:_Atomic|KHZ_ATOMIC)\b\s*(?:\((\w+)\))?", r"\1 ", text).strip()
        )
        declarators = [_DECLARATOR.fullmatch(d.strip()) for d in declaration[2].split(",")] if declaration else [None]
        if (
            declaration
            and declaration[1] not in known
            and declaration[1] in self.structures
            and "*" not in declaration[2]
        ):
            known[declaration[1]] = self.structure(declaration[1])
        out: list[tuple[str, Any]] = []
        for d in declarators:
            if declaration is None or d is None or not (d[1] or declaration[1] in known):
                raise InternalError(f"not a declaration that Python can share: {text}")
            kind = ctypes.c_void_p if d[1] else known[declaration[1]]
            for length in reversed(re.findall(r"\[(\w*)\]", d[3])):
                kind = kind * (int(length) if length.isdigit() else self.constant(length) if length else 0)
            out.append((d[2], kind))
        return out


def word_of(name: str) -> str:
    """An enumerator as reports and scenarios have it."""
    return name.lower()


def read(*texts: str) -> Definitions:
    """What headers define."""
    constants: dict[str, str] = {}
    structures: dict[str, str] = {}
    functions: set[str] = set()
    formulas: dict[str, tuple[tuple[str, ...], str]] = {}
    for text in texts:
        plain = _COMMENT.sub(" ", text)
        formulas |= {m[1]: (tuple(p.strip() for p in m[2].split(",")), m[3]) for m in _FORMULA.finditer(plain)}
        plain = re.sub(r"^#.*(?:\\\n.*)*", "", plain, flags=re.M)
        for definition in _DEFINITION.finditer(plain):
            if definition["enum"] is not None:
                constants |= _enumerators(definition["enum"])
            elif definition["struct"]:
                structures[definition["struct"]] = definition["body"]
            else:
                functions.add(definition["function"])
    return Definitions(constants, structures, frozenset(functions), formulas)


def _enumerators(body: str) -> dict[str, str]:
    out: dict[str, str] = {}
    last = ""
    for entry in filter(None, (e.strip() for e in body.split(","))):
        name, _, value = (part.strip() for part in entry.partition("="))
        following = f"{last} + 1" if last else "0"
        out[name] = re.sub(r"\b(\d\w*?)[uU]\b", r"\1", value) if value else following
        last = name
    return out


@lru_cache(maxsize=1)
def shipped() -> Definitions:
    """Those of the runtime's own headers."""
    return read(*(text for group in (headers(), device_headers(), task_headers()) for _, text in group))


@cache
def constant(name: str) -> int:
    return shipped().constant(name)


def family(prefix: str) -> dict[str, int]:
    return shipped().family(prefix)


def words(prefix: str) -> tuple[str, ...]:
    """The enumerators 0, 1, 2, ... of a prefix as a user writes them: KHZ_EVENTS_CATCH_UP is catch-up."""
    members = family(prefix)
    if list(members.values()) != list(range(len(members))):
        raise InternalError(f"{prefix}* are not 0, 1, 2, ...: {members}")
    return tuple(word.replace("_", "-") for word in members)


@cache
def formula(name: str, *values: int) -> int:
    return shipped().formula(name, *values)


def fields(structure: str, types: Mapping[str, Any] | None = None) -> list[tuple[str, Any]]:
    return shipped().fields(structure, types)
