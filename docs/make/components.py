"""The index of our Modelica library, out of its source: `python docs/make/components.py` writes
docs/reference/components.md and a picture of each icon under docs/pictures/components.

Every class needs a description, every component documentation and an icon; `tests/library/test_walk.py` holds that, and
that page and pictures are what this script writes.
"""

from __future__ import annotations

import html
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from icons import svg
from kilohertz.driver.locate import BUNDLED
from kilohertz.syntax import annotation_args, annotation_entries, annotation_value
from kilohertz.syntax.library import Libraries, full_name
from kilohertz.syntax.tree import Argument, Body, ClassDef, Redeclaration, ShortBody
from kilohertz.syntax.tree_expr import String

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "components.md"
PICTURES = ROOT / "docs" / "pictures" / "components"
HEAD = """# Components

The library `Kilohertz` comes with the package: `Kilohertz.Rotational.Clutch` can be used in any model, with no other
library. A *choice* is a level of detail or a law that one `redeclare` exchanges:
`Kilohertz.Rotational.Clutch clutch(redeclare model Law = Kilohertz.Rotational.Friction.Smooth)`. Connectors have the
variables and units of those of the Modelica Standard Library (angle and torque, position and force, potential and
current, temperature and heat flow); `Adapters` join the two. `python docs/make/components.py`
writes this page from the library; do not edit it.
"""
_KINDS = ("model", "block")


def classes(libraries: Libraries, cls: ClassDef) -> Iterator[ClassDef]:
    """A class and all classes in it, in the order of the library."""
    yield cls
    if cls.kind == "package":
        for make in libraries.children(cls).values():
            yield from classes(libraries, make())


def library() -> tuple[Libraries, ClassDef]:
    """Our library alone, whatever else the machine has."""
    libraries = Libraries((BUNDLED,))
    top = libraries.top("Kilohertz")
    assert top is not None
    return libraries, top


def name_of(cls: ClassDef) -> str:
    return ".".join(full_name(cls))


def information(cls: ClassDef) -> str:
    """The documentation of a class, as HTML; "" where it has none."""
    value = annotation_value(annotation_args(cls.annotation, cls), "Documentation", "info")
    return value.value if isinstance(value, String) else ""


def is_component(cls: ClassDef) -> bool:
    """What a user puts into a model: it needs documentation and an icon."""
    return cls.kind in _KINDS and not cls.partial and "Examples" not in full_name(cls)


def is_example(cls: ClassDef) -> bool:
    args = annotation_args(cls.annotation, cls)
    return annotation_value(args, "experiment", "StopTime") is not None


@dataclass(frozen=True, slots=True)
class Choice:
    """What can be exchanged in a component, and for what: names of classes, each with its words."""

    name: str
    words: str
    offers: tuple[tuple[str, str], ...]


def choices(cls: ClassDef) -> Iterator[Choice]:
    """The replaceable classes of a component, with what their annotations offer."""
    for element in cls.body.elements if isinstance(cls.body, Body) else ():
        if isinstance(element, ClassDef) and element.replaceable:
            entries = annotation_entries(annotation_args(element.annotation, cls), "choices", "choice")
            offers = tuple(o for e in entries if e.modification for a in e.modification.args for o in _offer(a))
            if offers:
                yield Choice(element.name, element.comment, offers)


def _offer(argument: Argument) -> Iterator[tuple[str, str]]:
    element = argument.element if isinstance(argument, Redeclaration) else None
    if isinstance(element, ClassDef) and isinstance(element.body, ShortBody):
        yield ".".join(element.body.type.names).removeprefix("Kilohertz."), element.comment


def incomplete(libraries: Libraries, top: ClassDef) -> list[str]:
    """What is missing where."""
    found = []
    for cls in classes(libraries, top):
        if not cls.comment:
            found.append(f"{name_of(cls)}: no description")
        if is_component(cls) and not information(cls):
            found.append(f"{name_of(cls)}: no documentation")
        if is_component(cls) and not svg(libraries, cls):
            found.append(f"{name_of(cls)}: no icon")
        if is_component(cls):
            for choice in choices(cls):
                lost = [name for name, _ in choice.offers if libraries.find(("Kilohertz", *name.split("."))) is None]
                found += [f"{name_of(cls)}.{choice.name}: no such choice as {name}" for name in lost]
    return found


def pictures(libraries: Libraries, top: ClassDef) -> dict[str, str]:
    """Icons of the components, by the names of their files."""
    shown = [c for c in classes(libraries, top) if is_component(c) or c.kind == "connector"]
    drawn = {f"{name_of(c).removeprefix('Kilohertz.')}.svg": svg(libraries, c) for c in shown}
    return {file: text for file, text in drawn.items() if text}


def page(libraries: Libraries, top: ClassDef) -> str:
    lines, drawn = [HEAD], pictures(libraries, top)
    for room in libraries.children(top).values():
        cls = room()
        listed = [c for c in classes(libraries, cls) if is_component(c) or c.kind == "connector"]
        if listed and cls.kind == "package":
            lines += [f"## {cls.name}\n", f"{_plain(cls.comment)}.\n", "| | component | what it is |", "|---|---|---|"]
            lines += [_row(c, drawn) for c in listed] + [""]
    lines += ["## Examples\n", "Each has an experiment of its own: `khz simulate NAME`, `khz run NAME`.\n"]
    lines += ["| example | what it shows |", "|---|---|"]
    examples = [c for c in classes(libraries, top) if is_example(c)]
    lines += [f"| `{name_of(c)}` | {_plain(c.comment)}. {_prose(c)} |".replace(". |", ". |") for c in examples]
    return "\n".join(lines) + "\n"


def _row(cls: ClassDef, drawn: dict[str, str]) -> str:
    name = name_of(cls).removeprefix("Kilohertz.")
    picture = f"![{name}](../pictures/components/{name}.svg)" if f"{name}.svg" in drawn else ""
    words = " ".join([f"{_plain(cls.comment)}. {_prose(cls)}".strip(), *map(_offered, choices(cls))])
    return f"| {picture} | `{name}` | {words} |"


def _offered(choice: Choice) -> str:
    offers = ", ".join(f"`{name}` ({words[:1].lower()}{words[1:]})" for name, words in choice.offers)
    return f"*Choice* `{choice.name}`: {choice.words[:1].lower()}{choice.words[1:]}: {offers}."


def _plain(text: str) -> str:
    return text.replace("|", "\\|")


def _prose(cls: ClassDef) -> str:
    """The documentation of a class on one line of Markdown."""
    text = re.sub(r"<code>(.*?)</code>", r"`\1`", information(cls), flags=re.DOTALL)
    text = re.sub(r"<[^>]+>", " ", text)
    return _plain(html.unescape(" ".join(text.split())))


def main() -> int:
    libraries, top = library()
    missing = incomplete(libraries, top)
    PAGE.write_text(page(libraries, top), encoding="utf-8")
    PICTURES.mkdir(parents=True, exist_ok=True)
    drawn = pictures(libraries, top)
    for old in PICTURES.glob("*.svg"):
        if old.name not in drawn:
            old.unlink()
    for file, text in drawn.items():
        (PICTURES / file).write_text(text, encoding="utf-8")
    print("\n".join(missing) if missing else f"{len(drawn)} pictures")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
