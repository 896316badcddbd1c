"""The API page, out of docstrings: `python docs/make/api.py` writes docs/reference/api.md.

A public name is one in `__all__` of the rooms below.  Each needs a docstring, and so do the public methods and
properties of a class; `tests/docs/test_api.py` holds both, and that the page is what this script writes.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import Any

from kilohertz.driver.keywords import as_written

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "api.md"
# in the order of the page; the rooms below these are for those who change Kilohertz, not for those who use it
ROOMS = (
    "kilohertz",
    "kilohertz.driver",
    "kilohertz.results",
    "kilohertz.compare",
    "kilohertz.simulate",
    "kilohertz.realtime",
    "kilohertz.devices",
    "kilohertz.solvers",
)
HEAD = """# API

The public names of each room, from their docstrings. [Use it from Python](../guides/use-from-python.md) shows the
common ones at work. `python docs/make/api.py` writes this page; do not edit it.
"""
LINE = 120
SHORT = 90  # of a method in a list


def members(cls: type) -> Iterator[tuple[str, Any]]:
    """Public methods and properties that a class defines itself, in order of definition."""
    for name, member in vars(cls).items():
        is_member = isinstance(member, (property, staticmethod, classmethod)) or inspect.isfunction(member)
        if is_member and not name.startswith("_"):
            yield name, member


def undocumented() -> list[str]:
    """Public names without a docstring."""
    found = []
    for room in ROOMS:
        module = importlib.import_module(room)
        for name in names(module):
            thing = getattr(module, name)
            if not _has_text(thing):
                found.append(f"{room}.{name}")
            if inspect.isclass(thing):
                found += [f"{room}.{name}.{m}" for m, member in members(thing) if not inspect.getdoc(member)]
    return found


def names(module: ModuleType) -> list[str]:
    """What a room offers: classes and functions in alphabetical order; plain data speaks for itself."""
    things = ((n, getattr(module, n)) for n in sorted(module.__all__))
    return [n for n, t in things if inspect.isclass(t) or inspect.isroutine(t)]


def _has_text(thing: Any) -> bool:
    """A docstring that somebody wrote: a dataclass makes itself one out of its signature."""
    text = inspect.getdoc(thing) or ""
    return bool(text) and not (dataclasses.is_dataclass(thing) and text.startswith(f"{_name(thing)}("))


def _name(thing: Any) -> str:
    return str(thing.__name__)


def page() -> str:
    """The whole page."""
    seen: set[int] = set()
    return "\n".join([HEAD, *(_room(importlib.import_module(room), seen) for room in ROOMS)])


def _room(module: ModuleType, seen: set[int]) -> str:
    """A room; what another one has shown already is not shown again."""
    text = inspect.getdoc(module) or ""
    parts = [f"## `{module.__name__}`\n", f"{text.splitlines()[0]}\n"]
    for name in names(module):
        thing = getattr(module, name)
        if id(thing) not in seen:
            seen.add(id(thing))
            parts.append(_class(name, thing) if inspect.isclass(thing) else _function(name, thing))
    return "\n".join(parts)


def _function(name: str, function: Callable[..., Any]) -> str:
    return f"### `{name}`\n\n{_code(name + _signature(function))}\n{_prose(function)}\n"


def _class(name: str, cls: type) -> str:
    parts = [f"### `{name}`\n", _prose(cls)]
    if issubclass(cls, Enum):
        parts.append("\n" + ", ".join(f"`{m.name}`" for m in cls) + "\n")
    elif dataclasses.is_dataclass(cls):
        fields = [f for f in dataclasses.fields(cls) if not f.name.startswith("_")]
        lines = [f"{f.name}: {_type(f.type)}{_default(f)}" for f in fields]
        parts += ["", _code("\n".join(lines))] if lines else []
    elif "__init__" in vars(cls):
        parts += ["", _code(name + _signature(vars(cls)["__init__"]))]
    for member, thing in members(cls):
        parts.append(_member(member, thing))
    return "\n".join(parts) + "\n"


def _member(name: str, member: Any) -> str:
    """One line for a property, its signature for a method."""
    if isinstance(member, property):
        kind = _type(inspect.signature(member.fget).return_annotation) if member.fget else ""
        return f"\n- **`{name}`**: `{kind}`. {_flow(member)}"
    function = member.__func__ if isinstance(member, (staticmethod, classmethod)) else member
    call = name + _signature(function)
    if len(call) <= SHORT:
        return f"\n- **`{call}`**  \n  {_flow(function)}"
    block = _code(call, SHORT).replace("\n", "\n  ")
    return f"\n- **`{name}`**  \n  {_flow(function)}\n\n  {block}"


def _signature(function: Callable[..., Any]) -> str:
    """As written, without self and without quotes around annotations."""
    signature, _, _ = as_written(function)
    kept = [p for n, p in signature.parameters.items() if n not in ("self", "cls")]
    text = str(signature.replace(parameters=kept))
    return re.sub(r"'([^']*)'", lambda m: m[1] if re.search(r"[\w\]]", m[1]) and _is_type(m[1]) else m[0], text)


def _is_type(text: str) -> bool:
    """Annotations are strings here; defaults that are strings stay quoted."""
    return bool(re.match(r"(?:[A-Z]|int|str|float|bool|bytes|dict|list|tuple|None|type|set|object)", text))


def _type(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def _default(field: dataclasses.Field[Any]) -> str:
    if field.default is not dataclasses.MISSING:
        return f" = {field.default!r}"
    return " = ..." if field.default_factory is not dataclasses.MISSING else ""


def _code(text: str, line: int = LINE) -> str:
    """A block; long signatures take a line for each argument."""
    lines = text.splitlines()
    if len(lines) == 1 and len(text) > line:
        head, _, rest = text.partition("(")
        body, _, tail = rest.rpartition(")")
        arguments = re.split(r", (?=\*{0,2}\w+(?:: | ?= ?|$)|\*, )", body)
        lines = [f"{head}(", *(f"    {a}," for a in arguments), f"){tail}"]
    return "```text\n" + "\n".join(lines) + "\n```"


def _prose(thing: Any) -> str:
    """A docstring; indented examples become blocks."""
    text = _text(thing)
    return re.sub(r"(?m)^((?: {4}.*\n?)+)", lambda m: f"```text\n{inspect.cleandoc(m[1])}\n```\n", text)


def _flow(thing: Any) -> str:
    """A docstring as one paragraph."""
    return " ".join(_text(thing).split())


def _text(thing: Any) -> str:
    """A docstring; where a call takes all settings of the step, a link instead of the list."""
    if not inspect.isfunction(thing):
        return inspect.getdoc(thing) or ""
    _, text, takes_settings = as_written(thing)
    return f"{text}\n\n`stepping`: the [settings of the step](settings.md)." if takes_settings else text


if __name__ == "__main__":
    missing = undocumented()
    for name in missing:
        print(f"no docstring: {name}", file=sys.stderr)
    PAGE.write_text(page(), encoding="utf-8")
    sys.exit(1 if missing else 0)
